"""Every forest says which way it went: ``stats["route"]``."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device, route
from clmst.algorithms.registry import ALGORITHMS
from clmst.explanation import explain_stream
from clmst.scale.partitions import PartitionJob, finish, merge, take_partition
from clmst.scale.schedule import LaneStep
from tests.helpers.bounds import bounds
from tests.helpers.caches import resolving_anew


def told(forest: Any) -> dict[str, str]:
    """Return the way that a forest reports.

    Fails unless JSON can hold it and the router knows it.
    """
    said: dict[str, str] = forest.stats["route"]
    assert json.loads(json.dumps(said)) == said
    assert set(said) == {"record", "variant", "because"}
    assert said["record"] in route.RECORDS
    return said


def matrix(n: int = 30, weight: float | None = None) -> Any:
    """Return the upper triangle of a complete graph."""
    cells = np.triu(np.random.default_rng(0).random((n, n)), 1)
    found = sparse.csr_array(cells)
    if weight is not None:
        found.data[:] = weight
    return found


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - {"dense"}))
def test_algorithms_are_steps(any_device: Device, algorithm: str) -> None:
    forest = clmst.minimum_spanning_forest(matrix(), algorithm=algorithm, device=any_device)
    said = told(forest)
    assert (said["record"], said["variant"]) == (route.STEPS, algorithm)
    assert f"the call gives {algorithm}" in said["because"]


def test_auto_in_steps(any_device: Device, in_steps: None) -> None:
    forest = clmst.minimum_spanning_forest(matrix(), device=any_device)
    said = told(forest)
    assert (said["record"], said["variant"]) == (route.STEPS, forest.stats["algorithm"])
    assert said["because"].startswith("30 vertices, 435 slots; ")
    kept = clmst.minimum_spanning_forest(matrix(), device=any_device, keep_on_device=True)
    assert told(kept) == told(kept.to_host()) == said


def test_behind_the_check_of_a_matrix(any_device: Device, in_steps: None) -> None:
    with bounds(checked_from=1):
        assert told(clmst.minimum_spanning_forest(matrix(), device=any_device))


def test_small_and_equal(any_device: Device) -> None:
    facts = any_device.facts
    small = told(clmst.minimum_spanning_forest(matrix(), device=any_device))
    assert small["record"] == (route.SMALL if facts.serial else route.STEPS)
    equal = told(clmst.minimum_spanning_forest(matrix(weight=1.0), device=any_device))
    in_place = facts.alone and facts.host_arrays == "shared"
    assert (equal["record"] == route.EQUAL) == in_place


@pytest.mark.parametrize("given", [matrix(), matrix().toarray() + matrix().toarray().T])
def test_on_the_host(given: Any) -> None:
    with resolving_anew(None), pytest.warns(clmst.DeviceWarning):
        said = told(clmst.minimum_spanning_forest(given))
    assert (said["record"], said["because"]) == (route.HOST, "there is no device")


@pytest.mark.parametrize(("n", "d"), [(40, 2), (3000, 2), (300, 20), (40, 400)])
def test_points(any_device: Device, n: int, d: int) -> None:
    points = clmst.Points(np.random.default_rng(1).random((n, d)))
    said = told(clmst.minimum_spanning_forest(points, device=any_device))
    assert said["record"] in (route.PRIM_POINTS, route.BOXES, route.TILES, route.ROWS)
    dense = told(clmst.minimum_spanning_forest(points, device=any_device, algorithm="dense"))
    assert dense["record"] == (route.TILES if d > 3 else route.ROWS)
    widest = told(clmst.maximum_spanning_forest(points, device=any_device))
    assert widest["record"] == route.ROWS


def test_parts_on_several_devices(any_device: Device) -> None:
    """One device, with and without a capability, stands for two."""
    graph = clmst.Graph.from_scipy(matrix())
    devices = [any_device, any_device.forcing_off("int64-atomics")]
    said = told(clmst.minimum_spanning_forest(graph, devices=devices))
    assert said["record"] == route.DEVICES
    assert said["because"].startswith("435 edges on 2 devices")


N, SHORT = 600, 30_000  # vertices of a stream; a limit in bytes that leaves only passes


def edges_of(m: int) -> tuple[Any, Any, Any]:
    """Return `m` random edges among `N` vertices, and their weights."""
    u, step, w = np.random.default_rng(4).random((3, m))
    u = (u * N).astype(int)
    return u, (u + 1 + (step * (N - 1)).astype(int)) % N, w


def test_streams(any_device: Device) -> None:
    """A stream reports where its edges were kept. Passes report that the memory is short."""
    chunks = [edges_of(3000)] * 2
    few = clmst.stream_minimum_spanning_forest(chunks, N, device=any_device)
    assert told(few)["record"] == route.REDUCED_ON_HOST
    assert told(few)["because"].startswith("6,000 edges so far")
    with bounds(stream_opens_from=3000):
        many = clmst.stream_minimum_spanning_forest(chunks, N, device=any_device)
    assert told(many)["record"] == (
        route.REDUCED if many.stats["edges_on_device"] else route.REDUCED_ON_HOST
    )
    with pytest.warns(clmst.StreamedWarning):
        short = clmst.stream_minimum_spanning_forest(
            chunks, N, device=any_device, memory_limit=SHORT
        )
    assert (short.stats["passes"] > 1) == (told(short)["record"] == route.PASSES)


@pytest.mark.parametrize("n_edges", [0, 40])
def test_partitions(n_edges: int) -> None:
    job = PartitionJob.checked(
        n_vertices=N, columns=None, edge_id=None, device=None, memory_limit=None, maximum=False
    )
    steps = [LaneStep(number=number, to_come=0) for number in range(min(2, n_edges))]
    taken = [take_partition(edges_of(n_edges), step, job) for step in steps]
    forest = finish(merge(taken, job) if taken else None, job, "two tasks")
    said = told(forest)
    assert said["record"] == route.PARTITIONS
    assert said["because"] == f"{2 * n_edges} edges in {len(steps)} partitions of the caller"


@pytest.mark.parametrize("limit", [None, 200_000, SHORT])
def test_a_stream_is_explained_as_it_goes(any_device: Device, limit: int | None) -> None:
    graph = clmst.Graph.from_edges(*edges_of(6000), n_vertices=N)
    how: dict[str, Any] = {"device": any_device, "memory_limit": limit}
    for opens_from in (1, route.LIMITS.stream_on_device):
        with bounds(stream_opens_from=opens_from), warnings.catch_warnings():
            warnings.simplefilter("ignore", clmst.StreamedWarning)
            said = told(clmst.stream_minimum_spanning_forest(graph, **how))
            explained = explain_stream(graph, **how)
        assert explained.way.record == said["record"]
        assert explained.facts["n_new"] == 6000
