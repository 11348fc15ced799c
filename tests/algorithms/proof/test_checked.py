"""``verify=True``: what a caller gets is proved, on the device or on the host; wrong is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, InvalidForestError
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import Solution
from clmst.core.errors import DeviceWarning
from clmst.runtime.launcher import Launcher
from tests.algorithms.proof.test_prove import REFUSES
from tests.faults.injection import inject, launches
from tests.helpers.forests import random_graph, solve
from tests.helpers.kernel_sources import changed
from tests.helpers.records import registered
from tests.helpers.wrong_families import WrongFamilies

Array = Any
Damage = Callable[[Array, Array], None]


GRAPH = random_graph(400, 2000, 90, seed=9, apart=5)


def damaged_forests(damage: Damage) -> AbstractContextManager[Any]:
    """Let every algorithm flag other edges than it found; `damage` gets flags and edge slots."""

    def wrong(solve: Any) -> Any:
        def solved(graph: Any, launch: Launcher, **keywords: Any) -> Solution:
            solution: Solution = solve(graph, launch, **keywords)
            launch.queue.finish()
            flags = solution.in_forest.to_host()
            damage(flags, solution.graph.graph.edge_slots)
            solution.in_forest.write(flags)
            return solution

        return solved

    return registered(*ALGORITHMS, wrap=wrong)


def leave_one_out(flags: Array, edges: Array) -> None:
    flags[edges[np.flatnonzero(flags[edges])[7]]] = 0


def add_one(flags: Array, edges: Array) -> None:
    flags[edges[np.flatnonzero(flags[edges] == 0)[7]]] = 1


def exchange(flags: Array, edges: Array) -> None:
    leave_one_out(flags, edges)
    add_one(flags, edges)


DAMAGES: dict[str, tuple[Damage, str]] = {
    "an edge left out": (leave_one_out, "of the graph joins two trees of the forest"),
    "an edge more": (add_one, "closes a cycle in the forest"),
    "an edge for another": (exchange, "edge id"),
}
damages = pytest.mark.parametrize(("damage", "message"), DAMAGES.values(), ids=list(DAMAGES))


POINTS = clmst.Points(np.random.default_rng(0).random((40, 2)))
MATRIX = clmst.DenseGraph(np.abs(np.subtract.outer(np.arange(30.0), np.arange(30.0))))


@pytest.mark.parametrize("graph", [GRAPH, POINTS, MATRIX], ids=["graph", "points", "matrix"])
@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("keep", [False, True], ids=["host", "kept"])
def test_a_proved_forest_tells_so(graph: Any, keep: bool, maximum: bool) -> None:
    proved = solve(graph, None, maximum=maximum, keep_on_device=keep, verify=True)
    reported = proved.stats["proof"]
    assert reported["where"] == "device"
    assert reported["by"] == clmst.get_device().description
    assert reported["ms"] > 0
    assert "proof" not in solve(graph, None, maximum=maximum).stats


@damages
@pytest.mark.parametrize("algorithm", ["filter-boruvka", "ecl"])
def test_a_wrong_forest_is_not_returned(algorithm: str, damage: Damage, message: str) -> None:
    clmst.minimum_spanning_forest(GRAPH, algorithm=algorithm)  # the self-test comes before
    with damaged_forests(damage):
        wrong = clmst.minimum_spanning_forest(GRAPH, algorithm=algorithm)
        assert not wrong.verify(GRAPH)
        with pytest.raises(InvalidForestError, match=message) as raised:
            clmst.minimum_spanning_forest(GRAPH, algorithm=algorithm, verify=True)
    assert str(raised.value).startswith(f"the forest that {algorithm} on ")
    first = wrong.verify(GRAPH).problems[0]
    assert first in str(raised.value)


@damages
def test_repeated_solves(damage: Damage, message: str) -> None:
    weights = np.random.default_rng(1).integers(0, 50, GRAPH.n_input)
    with clmst.RepeatedSolver(GRAPH, algorithm="filter-boruvka", warm_start=False) as solver:
        assert solver.solve(weights, verify=True).stats["proof"]["where"] == "device"
        assert solver.update([3], [1000], verify=True).stats["proof"]["where"] == "device"
        for forest in solver.solve_many([weights, weights[::-1]], verify=True):
            assert forest.stats["proof"]["where"] == "device"
        # The number of edges is remembered from the round before, so an edge that was left out
        # lets the list end with what its memory held before: an edge that closes a cycle, or one
        # that stands in the list already.
        wrong = f"gave is wrong: .*({message}|cycle|edge id)"
        with damaged_forests(damage):
            with pytest.raises(InvalidForestError, match=wrong):
                solver.solve(weights, verify=True)
            solver.solve(weights)
            with pytest.raises(InvalidForestError, match=wrong):
                solver.update([3], [1000], verify=True)
            with pytest.raises(InvalidForestError, match=wrong):
                list(solver.solve_many([weights], verify=True))


def shortened(forest: DeviceForest) -> DeviceForest:
    return replace(forest, n_edges=forest.n_edges - 1)


def test_several_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no device has all weights the host proves; one that does all by itself does that."""
    weights = np.random.default_rng(1).integers(0, 50, GRAPH.n_input)
    device = clmst.get_device()
    ways: Any = (("split", "host"), ("cores", "device"))  # the graph lacks a dense part
    for strategy, where in ways:
        devices = [device, device.forcing_off("int64-atomics")]
        with clmst.RepeatedSolver(GRAPH, devices=devices, strategy=strategy) as solver:
            for forest in (
                solver.solve(weights, verify=True),
                solver.update([5, 8], [99, 0], verify=True),
                *solver.solve_many([weights], verify=True),
            ):
                assert forest.stats["proof"]["where"] == where
            with monkeypatch.context() as broken:
                worker = type(solver._rounds.opened())
                right = worker.solve_staged
                broken.setattr(
                    worker,
                    "solve_staged",
                    lambda *given, **more: shortened(right(*given, **more)),  # noqa: B023
                )
                with pytest.raises(InvalidForestError, match="joins two trees of the forest"):
                    solver.solve(weights, verify=True)


def proved_by_the_host(device: Device, reason: str) -> None:
    """Check that the host proves where the device does not, and says why."""
    forest = clmst.minimum_spanning_forest(GRAPH, device=device, verify=True)
    reported = forest.stats["proof"]
    assert reported["where"] == "host"
    assert re.match(reason, reported["reason"])
    assert forest.verify(GRAPH)


@pytest.mark.usefixtures("in_steps")
def test_a_device_without_memory_for_a_proof(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    clmst.minimum_spanning_forest(GRAPH, device=any_device, verify=True)
    allocations = inject(monkeypatch, "allocate", any_device)
    clmst.minimum_spanning_forest(GRAPH, device=any_device, keep_on_device=True)
    allocations.arm(allocations.count)  # the first one behind the solve
    proved_by_the_host(any_device, r"\d+ bytes more are needed than .* has left")


def test_a_device_that_refuses_what_is_right(any_device: Device, tmp_path: Path) -> None:
    device = Device(any_device.cl_device, _trusted=True)
    words = "proofs of this device cannot be relied on"
    with changed(tmp_path, REFUSES), pytest.warns(DeviceWarning, match=words):
        proved_by_the_host(device, "the device took the forest for w")


def test_a_device_that_is_not_trusted_with_proofs(any_device: Device, wrong: WrongFamilies) -> None:
    wrong.names = {"proof"}
    untrusted = "the device has not passed the self-test of proofs: 3 edges came out wrong"
    proved_by_the_host(Device(any_device.cl_device), untrusted)


@pytest.mark.usefixtures("in_steps")
def test_weights_come_from_the_host(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a kernel gathers behind the proof is not proved, so it is not used."""
    graph = GRAPH.replace(weights=GRAPH.weights.astype(np.float32))  # as wide where it is copied
    # Kernels that bring weights: two for devices that copy, one that writes to host's arrays.
    brings = launches("forest_gather_weights", "forest_pack", "forest_write_out")
    inject(monkeypatch, "kernel").let_fail(brings, AssertionError("a kernel brings the weights"))
    assert clmst.minimum_spanning_forest(graph, device=any_device, verify=True).verify(graph)
    with pytest.raises(AssertionError, match="a kernel brings"):
        clmst.minimum_spanning_forest(graph, device=any_device)
