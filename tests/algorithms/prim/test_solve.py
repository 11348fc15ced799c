"""Prim's algorithm: its order, its bounded launches, its trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Graph, PrimOptions
from clmst.algorithms.prim import solve as prim_solve
from clmst.algorithms.prim.solve import rows_of
from clmst.core.weight_keys import encode
from clmst.runtime.launcher import Launcher
from tests.algorithms.test_options import many_components
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_forests, assert_same_forest, random_graph, solve

queues = pytest.mark.parametrize("queue", ["heap", "array"])


def star(n: int) -> Graph:
    """Return a star, whose hub has a row of n - 1 slots, each edge twice."""
    leaves = np.tile(np.arange(1, n), 2)
    weights = np.random.default_rng(2).integers(0, 99, leaves.size)
    return Graph.from_edges(np.zeros(leaves.size, int), leaves, weights)


def test_patches_are_the_components(any_device: Device) -> None:
    """Apart, every component has a worker; together, one has them all."""
    graph = many_components()
    apart = solve(graph, any_device, options=PrimOptions(components="apart"))
    together = solve(graph, any_device, options=PrimOptions(components="together"))
    assert apart.stats["patches"] == apart.n_components == clmst.kruskal(graph).n_components
    assert together.stats["patches"] == 1


def test_components_are_looked_for_where_workers_are_many(device: Device) -> None:
    """Small graphs, and few cores, do without."""
    few = device.policy.work_group_size == 1 and device.capabilities.compute_units < 8
    n = prim_solve.APART_VERTICES
    for size, apart in ((n - 1, False), (n, not few)):
        u = np.arange(0, size - 1, 2)
        graph = Graph.from_edges(u, u + 1, np.ones(u.size), n_vertices=size)
        forest = solve(graph, device, options=PrimOptions())
        assert forest.stats["patches"] == (forest.n_components if apart else 1)


def test_queue_is_chosen_by_shape(device: Device) -> None:
    """A work-group looks at few vertices at once; a lone work-item has a heap."""
    shared = "array" if device.policy.work_group_size > 1 else "heap"
    u = np.arange(50)
    tree = Graph.from_edges(u, u + 1, u)
    assert solve(tree, device, options=PrimOptions()).stats["queue"] == shared
    n = prim_solve.ARRAY_VERTICES + 1
    large = Graph.from_edges(u, u + 1, u, n_vertices=n)
    assert solve(large, device, options=PrimOptions()).stats["queue"] == "heap"
    parallel = Graph.from_edges(np.zeros(1000, int), np.ones(1000, int), np.arange(1000))
    assert solve(parallel, device, options=PrimOptions()).stats["queue"] == "heap"


# ------------------------------------------------------------------------------- order


GREATEST = np.array([0, 2**64 - 1], np.uint64)


@queues
@pytest.mark.parametrize(
    ("n", "weights"),
    [
        (60, np.zeros(1, np.int32)),
        (60, np.array([0.0, -0.0])),
        (60, GREATEST[1:]),
        (50, GREATEST),
        (50, np.array([0, 2**32 - 1], np.uint32)),
        (6, np.arange(3)),
    ],
    ids=["zero", "both zeros", "greatest", "64 bits", "32 bits", "parallel edges"],
)
def test_ties_go_by_edge_id(device: Device, queue: Any, n: int, weights: np.ndarray) -> None:
    """Keys that stand for vertices in no tree, and in one, are weights like any other."""
    graph = random_graph(n, 600, weights, seed=8, apart=2)
    assert_forests(graph, device, options=PrimOptions(queue=queue))


# ---------------------------------------------------------------------------- launches


@pytest.mark.parametrize("steps", [1, 30, 1000])
@pytest.mark.parametrize("components", ["apart", "together"])
@queues
def test_launches_are_bounded(device: Device, queue: Any, components: Any, steps: int) -> None:
    """Work goes on where the launch before left off, in a row as well; workers keep their own."""
    graph = many_components(blocks=4)
    with bounds(prim_steps=steps):
        forest = solve(graph, device, options=PrimOptions(queue=queue, components=components))
    assert_same_forest(forest, clmst.kruskal(graph))
    assert forest.stats["growing_launches"] > (1 if steps < 1000 else 0)


def test_a_launch_ends_in_the_middle_of_a_row(any_device: Device) -> None:
    """Else a hub would have a launch for as long as its row is."""
    graph, steps = star(2000), 100
    with bounds(prim_steps=steps):
        forest = solve(graph, any_device, options=PrimOptions(queue="heap"))
    assert_same_forest(forest, clmst.kruskal(graph))
    slots, taken = 2 * graph.n_edges, graph.n_vertices
    assert slots / steps <= forest.stats["growing_launches"] <= 2 + (slots + 17 * taken) / steps


def test_a_small_solve_is_a_few_launches(any_device: Device) -> None:
    """Whether a launch was enough is known before: nothing is read back but what gathers."""
    graph = many_components().symmetrised()
    options = PrimOptions(queue="heap", components="together")
    forest = solve(graph, any_device, options=options, profile=True)
    assert forest.stats["growing_launches"] == 1
    profile = forest.stats["profile"]
    assert {name for name in profile if name.startswith("prim")} == {
        "prim_initialise", "prim_heap_grow", "prim_mark_edges",
    }  # fmt: skip
    assert profile["(read back)"].launches == 1
    assert list(forest.stats["phases"]) == ["plant trees", "grow trees", "mark edges"]


# -------------------------------------------------------------------------- the trees


@pytest.mark.parametrize("dtype", [np.bool_, np.uint16, np.int32, np.float64], ids=str)
def test_mirrored_rows_are_those_of_the_host(device: Device, dtype: type) -> None:
    """Loops apart, which the host leaves out: sorted, and parallel edges in their order."""
    rng = np.random.default_rng(13)
    u, v = rng.integers(0, 40, (2, 300))
    u, v = u[u != v], v[u != v]
    graph = Graph.from_edges(u, v, rng.integers(0, 2, u.size).astype(dtype), n_vertices=45)
    resident = clmst.to_device(graph, device)
    with device.lock:
        rows_of(resident, Launcher(device, device.queue), maximum=False)
        (kept,) = resident.derived.values()
        indptr, indices, weights = (array.to_host() for array in kept)
    expected = graph.symmetrised()
    np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(indices, expected.indices)
    np.testing.assert_array_equal(weights, encode(expected.weights).bits)


def test_mirrored_rows_are_kept_with_the_graph(any_device: Device) -> None:
    """A graph that stores its edges once is mirrored for the first solve only."""
    graph = many_components()
    resident = clmst.to_device(graph, any_device)
    for maximum, mirrored in ((False, True), (True, False)):
        forest = solve(resident, None, maximum=maximum, algorithm="prim", profile=True)
        assert_same_forest(forest, clmst.kruskal(graph, maximum=maximum))
        assert ("mirror rows" in forest.stats["phases"]) == mirrored
