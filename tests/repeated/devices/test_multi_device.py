"""Several devices at one solve: the forest is the oracle's, whoever does what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
from clmst.algorithms.parts.costs import Costs
from clmst.core import topology
from clmst.repeated.strategies import Choice
from tests.algorithms.parts.test_costs import CPU, GPU
from tests.bounds import bounds
from tests.launched import launches
from tests.repeated.device_sets import clustered_graph, every_device_set
from tests.repeated.rounds import (
    check,
    in_canonical_order,
    random_graph,
    refused,
    sorted_graph,
)
from tests.repeated.test_memory import nothing_is_built, turns

pytestmark = pytest.mark.filterwarnings("error::clmst.DeviceWarning")

both = pytest.mark.parametrize("strategy", ["split", "cores"])
every_order = pytest.mark.parametrize(
    "make", [clustered_graph, lambda: in_canonical_order(clustered_graph())], ids=["any", "sorted"]
)


@pytest.fixture(scope="module", autouse=True)
def _small_ranges() -> Iterator[None]:
    """Let graphs of a few edges be shared out, too."""
    with bounds(range_step=64):
        yield


# ------------------------------------------------------------------------- the forest


@every_device_set("two")
@both
@every_order
@pytest.mark.parametrize("maximum", [False, True])
def test_parts(devices: list[Device], strategy: str, make: Any, maximum: bool) -> None:
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
    """Cliques apart are matrices apart where cells in vain cost more than another solve."""
    u, v = np.triu_indices(60, 1)
    ring = np.arange(120)
    u, v = np.concatenate([u, u + 60, ring]), np.concatenate([v, v + 60, ring + 120])
    solver = RepeatedSolver(Graph.from_edges(u, v), devices=devices, strategy="cores")
    forest = check(solver, np.random.default_rng(0).random(solver.n_edges))
    (dense,) = [one for one in forest.stats["devices"] if "dense" in one["algorithms"]]
    assert (dense["algorithms"], dense["vertices"]) == (["dense"] * 2, 120)


@every_device_set("two", "copying")
@pytest.mark.parametrize("strategy", ["alone", "auto", "split", "cores"])
def test_labels_matrices_and_strategies(devices: list[Device], strategy: str) -> None:
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
        ([], "auto", "devices is empty; name one at least"),
        ([first, first.with_policy(first.policy)], "auto", "is among the devices twice"),
        (devices, "both", "no strategy is called 'both'; there are 'auto'"),
        (first, "split", "'split' is for several devices, and there is"),
        ([first], "cores", "'cores' is for several devices"),
        (7, "auto", "device is 7; it must be"),
    ):
        assert rule in refused(RepeatedSolver, graph, devices=given, strategy=strategy)
    assert RepeatedSolver(graph, device=first).device is first
    assert "give one of the two" in refused(RepeatedSolver, graph, device=first, devices=devices)
    assert "it must be None, a name" in refused(RepeatedSolver, graph, device=devices)
    resident = clmst.to_device(graph, devices[0].forcing_off("lanes"))
    assert "which is none of the devices" in refused(RepeatedSolver, resident, devices=devices)
    resident = clmst.to_device(graph, devices[1])
    solver = RepeatedSolver(resident, devices=devices, strategy="split")
    check(solver, np.arange(1500)[::-1])
    assert RepeatedSolver(resident, strategy="alone").device is devices[1]


# --------------------------------------------------------------- rounds, threads, times


@every_device_set("copying", "two")
@both
def test_no_memory_and_no_program_from_the_second_round_on(
    devices: list[Device], strategy: str
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


# ------------------------------------------------------------------ the choice of a strategy


def plan_of(devices: list[Device], graph: Graph, strategy: str, costs: list[Costs]) -> Any:
    choice = Choice(topology.edges_once(graph), devices, algorithm="auto", options=None)
    choice.costs = costs
    return choice.plan(strategy)


@every_device_set("two")
def test_what_auto_chooses(devices: list[Device]) -> None:
    """By costs alone; core numbers are found only where degrees do not rule dense parts out.

    Devices are so slow that the overhead of a merge is nothing beside them.
    """
    free = Costs(
        solve_ms=0, edge_ns=1e6, vertex_ns=1e3, cell_ns=1e7, upload_ns=0, download_ns=0, host=False
    )
    many = Graph.from_edges(*np.random.default_rng(0).integers(0, 50, (2, 20000)))
    plan = plan_of(devices, many, "auto", [free, free])
    assert plan.strategy == "split"
    assert [len(one.parts) for one in plan.assignments] == [1, 1]
    assert plan_of(devices, many, "auto", [free, replace(free, solve_ms=99e3)]).strategy == "alone"
    on_host = replace(free, host=True)
    plan = plan_of(devices, many, "auto", [on_host, replace(on_host, edge_ns=5e5)])
    assert (plan.strategy, plan.device) == ("alone", devices[1])
    assert plan_of(devices, many, "auto", [free, on_host]).strategy == "split"
    road = clustered_graph((), n=3000, m=4000)
    with launches() as launched:
        assert plan_of(devices, road, "auto", [free, free]).strategy == "alone"
    assert not launched
    cheap = replace(free, cell_ns=30e3)
    cliques = clustered_graph((80, 60, 50))
    with launches() as launched:
        plan = plan_of(devices, cliques, "auto", [cheap, cheap])
    assert plan.strategy == "cores"
    assert any("k_core" in kernel for kernel in launched)
    assert sorted(one.algorithm for one in plan.assignments) == ["auto", "dense"]
    dear = replace(free, cell_ns=499e3)
    with launches() as launched:
        assert plan_of(devices, road, "auto", [dear, dear]).strategy == "alone"
    assert not launched


@every_device_set("two")
def test_no_dense_part_at_all(devices: list[Device]) -> None:
    """One device does all then, whatever was asked for."""
    path = np.arange(100)
    graph = Graph.from_edges(path, path + 1)
    dear = [replace(GPU, cell_ns=1.0)] * 2
    assert plan_of(devices, graph, "cores", dear).strategy == "alone"
    assert plan_of(devices, Graph.from_edges([], []), "cores", [GPU, GPU]).strategy == "alone"
    assert plan_of(devices, graph, "alone", [CPU, GPU]).device is devices[1]


@every_device_set("two")
def test_half_of_all_pairs_are_dense_for_who_wants_cores(devices: list[Device]) -> None:
    """The paper's rule, where the model expects no gain of a matrix; "auto" goes by the model."""
    dear = [replace(GPU, cell_ns=1e3 * GPU.edge_ns)] * 2
    for density, size, strategy in ((0.6, 256, "cores"), (0.4, 256, "alone"), (0.9, 200, "alone")):
        graph = clmst.generate(
            "clustered", n=1500, clusters=2, cluster_size=size, density=density, edge_factor=1
        )
        plan = plan_of(devices, graph, "cores", dear)
        assert plan.strategy == strategy
        assert plan_of(devices, graph, "auto", dear).strategy != "cores"
    dense = [one for one in plan_of(
        devices, clmst.generate("clustered", n=1500, clusters=2, cluster_size=256), "cores", dear
    ).assignments if one.algorithm == "dense"]  # fmt: skip
    assert len(dense) == 1
    assert dense[0].parts[0].graph.n_vertices >= 256
