"""Several devices at one solve: the forest is the oracle's, whoever does what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import (
    Device,
    Graph,
    RepeatedSolver,
)
from clmst.algorithms.parts.shares import by_speed, ends_of_parts, shares_of
from tests.faults.injection import inject
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.repeated.device_sets import DENSE, STRATEGIES, clustered_graph, every_device_set
from tests.repeated.rounds import (
    check,
    in_canonical_order,
    random_graph,
    refused,
    sorted_graph,
)
from tests.repeated.test_memory import nothing_is_built, turns

both = pytest.mark.parametrize("strategy", STRATEGIES)
every_order = pytest.mark.parametrize(
    "make", [clustered_graph, lambda: in_canonical_order(clustered_graph())], ids=["any", "sorted"]
)


@pytest.fixture(scope="module", autouse=True)
def _small_ranges() -> Iterator[None]:
    """Let graphs of a few edges be shared out, and small cliques be dense, too."""
    with bounds(range_step=64, dense_part_from=DENSE):
        yield


# ------------------------------------------------------------------------- the forest


@every_device_set("two")
@both
@every_order
@pytest.mark.parametrize("maximum", [False, True])
def test_parts(devices: list[Device], strategy: Any, make: Any, maximum: bool) -> None:
    solver = RepeatedSolver(make(), devices=devices, strategy=strategy, maximum=maximum)
    forest = check(solver, np.random.default_rng(1).integers(0, 9, solver.n_edges))
    assert forest.stats["strategy"] == strategy
    parts = forest.stats["devices"]
    assert {part["device"] for part in parts} == {device.description for device in devices}
    assert sum(part["edges"] for part in parts) == solver._listed.n_slots
    if strategy == "cores":
        dense = next(part for part in parts if "dense" in part["algorithms"])
        assert dense["vertices"] < 150
        assert dense["edges"] >= 40 * 39 // 2


@every_device_set("two")
def test_parts_of_cores(devices: list[Device]) -> None:
    """Cliques apart are matrices apart."""
    u, v = np.triu_indices(60, 1)
    ring = np.arange(120)
    u, v = np.concatenate([u, u + 60, ring]), np.concatenate([v, v + 60, ring + 120])
    solver = RepeatedSolver(Graph.from_edges(u, v), devices=devices, strategy="cores")
    forest = check(solver, np.random.default_rng(0).random(solver.n_edges))
    (dense,) = [one for one in forest.stats["devices"] if "dense" in one["algorithms"]]
    assert (dense["algorithms"], dense["vertices"]) == (["dense"] * 2, 120)


@every_device_set("two", "copying")
@both
def test_labels_matrices_and_strategies(devices: list[Device], strategy: Any) -> None:
    graph = random_graph(4, 9).replace(vertex_labels=tuple("abcdefghi"))
    with RepeatedSolver(graph, devices=devices, strategy=strategy) as solver:
        assert solver.solve(np.ones(9)).vertex_labels == tuple("abcdefghi")
    dense = np.triu(np.random.default_rng(0).integers(0, 3, (60, 60)), 1)
    A = sparse.csr_array(dense + dense.T)
    with RepeatedSolver(A, devices=devices, strategy=strategy) as solver:
        forest = check(solver, solver.weights_of(2 * A))
        once = clmst.minimum_spanning_forest(A, device=devices[0])
        np.testing.assert_array_equal(forest.edges, once.edges)


# -------------------------------------------------------------------------- bad input


@every_device_set("two")
def test_devices_and_strategies_that_make_no_sense(devices: list[Device]) -> None:
    graph, first = random_graph(), devices[0]
    for given, strategy, rule in (
        ([], None, "devices is empty; name one at least"),
        ([first, first.with_policy(first.policy)], None, "is among the devices twice"),
        (devices, "both", "no strategy is called 'both'; there are 'split'"),
        (first, "split", "'split' is for several devices, and there is"),
        ([first], "cores", "'cores' is for several devices"),
        (7, None, "device is 7; it must be"),
    ):
        assert rule in refused(RepeatedSolver, graph, devices=given, strategy=strategy)
    assert RepeatedSolver(graph, device=first).device is first
    assert "give one of the two" in refused(RepeatedSolver, graph, device=first, devices=devices)
    assert "it must be None, a name" in refused(RepeatedSolver, graph, device=devices)
    resident = clmst.to_device(graph, devices[0].forcing_off("lanes"))
    assert "which is not among the devices" in refused(RepeatedSolver, resident, devices=devices)
    resident = clmst.to_device(graph, devices[1])
    solver = RepeatedSolver(resident, devices=devices, strategy="split")
    check(solver, np.arange(1500)[::-1])
    assert RepeatedSolver(resident).device is devices[1]


# --------------------------------------------------------------- rounds, threads, times


@every_device_set("copying", "two")
@both
def test_no_memory_and_no_program_from_the_second_round_on(
    devices: list[Device], strategy: Any
) -> None:
    """Updates are rounds, too."""
    solver = RepeatedSolver(
        clustered_graph((80,), n=3000, m=9000), devices=devices, strategy=strategy
    )
    turn, rounds = turns(solver)
    for k in range(12):
        turn(k)
    list(solver.solve_many(rounds))
    before = [device._pool.managed_bytes for device in devices]
    with nothing_is_built(devices[0]), nothing_is_built(devices[1]):
        for k in range(60):
            turn(k)
        list(solver.solve_many(rounds * 5))
    assert [device._pool.managed_bytes for device in devices] == before


@every_device_set("two")
def test_devices_work_at_the_same_time(devices: list[Device]) -> None:
    """By the host's clock, and by the devices' own, brought onto it.

    In some round, that is: where cores are wanted by others, a thread may get none for as long as
    the other device works.
    """
    solver = RepeatedSolver(sorted_graph(50_000, 1_500_000), devices=devices, strategy="split")
    weights = np.random.default_rng(3).random(solver.n_edges, dtype=np.float32)
    solver.solve(weights)
    most = [-1.0, -1.0]
    for _ in range(20):
        stats = solver.solve(weights, profile=True).stats
        first, second = stats["devices"]
        assert min(first["wait_ms"], second["wait_ms"]) >= 0
        for part in (first, second):
            steps = part["upload_ms"] + part["solve_ms"] + part["send_ms"]
            assert steps == pytest.approx(part["ended_ms"] - part["began_ms"])
            assert part["profile"]
            assert part["ended_ms"] <= stats["last_pass"]["began_ms"]
            assert part["began_ms"] - 2 < part["kernels_began_ms"] < part["kernels_ended_ms"]
            assert part["kernels_ended_ms"] < part["ended_ms"] + 2
        assert "parts_merge_list" in stats["last_pass"]["profile"]
        assert stats["last_pass"]["edges"] == first["forest_edges"] + second["forest_edges"]
        assert stats["times"]["prepare"] > 0
        for k, clock in enumerate(("", "kernels_")):
            begin, end = f"{clock}began_ms", f"{clock}ended_ms"
            overlap = min(first[end], second[end]) - max(first[begin], second[begin])
            longest = min(one[end] - one[begin] for one in (first, second))
            most[k] = max(most[k], overlap / longest)
        if min(most) > 0.5:
            break
    assert min(most) > 0.5


# ------------------------------------------------------------------------ dense parts


@every_device_set("two")
def test_no_dense_part_at_all(devices: list[Device]) -> None:
    """One device does all then."""
    path = np.arange(100)
    for graph in (Graph.from_edges(path, path + 1), Graph.from_edges([], [])):
        solver = RepeatedSolver(graph, devices=devices, strategy="cores")
        assert "strategy" not in check(solver, np.arange(graph.n_edges)[::-1]).stats


@every_device_set("two")
def test_half_of_all_pairs_are_dense(devices: list[Device]) -> None:
    """The paper's rule, from 256 vertices on. Few edges between dense parts do not unite them."""
    with bounds(dense_part_from=256):
        for density, size, n_dense in ((0.6, 256, 2), (0.4, 256, 0), (0.9, 200, 0)):
            graph = clmst.generate(
                "clustered", n=1500, clusters=2, cluster_size=size, density=density, edge_factor=1
            )
            solver = RepeatedSolver(graph, devices=devices, strategy="cores")
            parts = check(solver, np.arange(solver.n_edges)[::-1]).stats.get("devices", [])
            dense = [one for one in parts if "dense" in one["algorithms"]]
            assert [one["vertices"] for one in dense] == ([n_dense * 256] if n_dense else [])


def test_the_quickest_device_has_most_edges_and_the_last_pass(any_device: Device) -> None:
    """A GPU before a CPU; the bus to a device with memory of its own counts, too."""
    cpu, gpu = (with_capabilities(any_device, kind=kind) for kind in ("cpu", "gpu"))
    assert by_speed([cpu, gpu]) == [gpu, cpu]
    assert shares_of([gpu, gpu]) == [0.5, 0.5]
    assert sum(shares_of([gpu, cpu, cpu], 4)) == pytest.approx(1)
    far = with_capabilities(gpu, host_arrays="copied")
    assert shares_of([far, cpu])[0] > shares_of([far, cpu], 4)[0] > 0.95
    ends = ends_of_parts([gpu] * 4)
    assert ends == pytest.approx([0.2125, 0.45, 0.7125])  # rows that come first lead everywhere
    assert ends_of_parts([gpu]) == []


# --------------------------------------------------------------------------- failures


@every_device_set("two", "copying")
@both
@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("lost", [False, True])
def test_a_device_that_fails_is_named(
    devices: list[Device], strategy: Any, index: int, monkeypatch: pytest.MonkeyPatch, *, lost: bool
) -> None:
    """The round ends by an error. The next one is as good as ever, unless the device was lost."""
    solver = RepeatedSolver(clustered_graph(), devices=devices, strategy=strategy)
    weights = np.random.default_rng(7).integers(0, 200, solver.n_edges).astype("f4")
    check(solver, weights)
    fault = inject(monkeypatch, "copy", devices[index])
    calls: list[Callable[[], object]] = [
        lambda: solver.solve(weights),
        lambda: next(solver.solve_many([weights])),
        lambda: solver.update([4], [1]),
    ]
    for call in calls:
        if not lost:
            check(solver, weights)
        fault.arm(0, lost=lost)
        with pytest.raises(clmst.ClmstError) as caught:
            call()
        fault.disarm()
        if lost:
            break
        assert devices[index].description in str(caught.value)
    if lost and devices[index].times_renewed:
        with pytest.raises(clmst.DeviceError, match="make another one to solve again"):
            solver.solve(weights)
    else:
        check(solver, weights)
