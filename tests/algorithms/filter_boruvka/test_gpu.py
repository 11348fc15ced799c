"""filter-boruvka in the shape of a GPU, beyond the contract.

Launches of work-groups that wait for one another run in ``tests/whole/test_oclgrind.py``: CPU
compilers do not get through their kernels.
"""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, FilterBoruvkaOptions, Graph, UnsupportedDeviceError
from clmst.algorithms.filter_boruvka import RECORD, RESIDENT_SLOTS
from clmst.algorithms.filter_boruvka.solve import solve as solve_in_shape
from clmst.algorithms.filter_boruvka.workspace import Workspace
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from tests.faults.injection import inject
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest, assert_solved, crowd, random_graph, solve
from tests.helpers.launched import launches
from tests.helpers.peak import peak_of
from tests.helpers.variants import (
    GPU_SHAPE,
    Variant,
    each_of,
    extreme_variants,
    native_variants,
    shaped_variants,
)

shapes = each_of(shaped_variants())
extremes = each_of(extreme_variants())

GPU = FilterBoruvkaOptions(shape="gpu")


def gpu(**more: Any) -> dict[str, Any]:
    return {"options": FilterBoruvkaOptions(shape="gpu", **more)}


# ---------------------------------------------------------------------------- graphs


def clique(n: int) -> Graph:
    u, v = np.triu_indices(n, 1)
    return Graph.from_edges(u, v, np.random.default_rng(n).integers(0, 1000, u.size))


def by_rows(lengths: np.ndarray[Any, Any], n_leaves: int) -> Graph:
    """Return a graph whose first vertices have rows of these lengths, stored either way.

    Leaves have lists of rows that they are in; nobody else links to the first vertices.
    """
    rng = np.random.default_rng(lengths.size)
    u = np.repeat(np.arange(lengths.size), lengths)
    v = lengths.size + rng.integers(0, n_leaves, u.size)
    return Graph.from_edges(u, v, rng.integers(0, 50, u.size), lengths.size + n_leaves)


def tile_of(policy: Policy) -> int:
    """Return the slots of a tile (TILE_SLOTS of cl/algorithms/filter_boruvka/tiles.cl)."""
    return policy.work_group_size * policy.slots_per_item


# ------------------------------------------------------------------------- equal leading words


@shapes
@pytest.mark.parametrize("n_values", [1, 3, 1 << 20])
@pytest.mark.parametrize(("n", "m"), [(2000, 9000), (40, 30_000)], ids=["many", "few"])
def test_weights_that_differ_in_their_last_bits(
    variant: Variant, n: int, m: int, n_values: int
) -> None:
    """The first 32 bits of all keys are equal: a minimum by these takes any edge of them."""
    rng = np.random.default_rng(n_values)
    u, v = rng.integers(0, n, (2, m))
    last_bits = rng.integers(0, n_values, m)
    for weights in (1 + last_bits * 2.0**-52, last_bits - 2**62):
        assert_solved(Graph.from_edges(u, v, weights, n), variant.device, **gpu())


# ------------------------------------------------------------------- windows, rows, tiles


def test_policy_decides_where_no_targets_are_given(any_device: Device) -> None:
    """From its degree on there are two windows, unless the first would have nearly all edges."""
    for degree, target, phases in ((11.0, 1.0, 1), (9.0, 1.0, 2), (9.0, 4.5, 1)):
        policy = replace(
            any_device.policy,
            filter_degree=degree,
            dense_degree=degree,
            dense_filter_target=target,
            filter_edges=0,
        )
        device = any_device.with_policy(policy)
        for stored in (crowd(), crowd().symmetrised()):
            assert len(solve(stored, device, **gpu()).stats["worklist_sizes"]) == phases


def test_rows_that_end_where_tiles_do(device: Device) -> None:
    """Rows of a tile, of several, of one slot more or less; rows without slots among them."""
    tile = tile_of(device.policy)
    around = [0, 0, 0, tile, 0, tile, 0, 0, 2 * tile, tile - 1, 0, 1, tile + 1, tile - 1, 0, 0, 1]
    within = [2, tile - 4, 3 * tile - 1, 2, 0, tile - 1]
    lengths = np.array([*around, *within, *([1] * (2 * tile)), 0, 0])
    graph = by_rows(lengths, 3 * tile)
    stored = graph.symmetrised()
    assert np.diff(stored.indptr)[: lengths.size].tolist() == lengths.tolist()
    ends = np.flatnonzero((stored.indptr[1:] % tile == 0) & (np.diff(stored.indptr) > 0))
    assert ends.size >= 6
    for targets in (None, (0.5,)):
        assert_solved(graph, device, **gpu(targets=targets))


@extremes
@pytest.mark.parametrize("before", [0, 1])
def test_many_rows_without_slots(variant: Variant, before: int) -> None:
    """More of them in a row than a tile goes through one by one, at the ends and between."""
    tile = tile_of(variant.device.policy)
    empty = np.zeros(17 * tile + 3, int)
    lengths = np.concatenate([empty, [tile - before], empty, [tile, 3], empty])
    assert_solved(by_rows(lengths, 7), variant.device, **gpu())
    graph = by_rows(lengths, 7)
    padded = Graph.from_edges(*graph.edges()[:3], n_vertices=graph.n_vertices + empty.size)
    assert_solved(padded, variant.device, **gpu())


def test_parallel_edges_of_equal_weight(device: Device) -> None:
    """A vertex takes the lower slot of an edge, and its upper slot must belong to the same edge."""
    for n_weights in (1, 2):
        assert_solved(random_graph(30, 3000, n_weights, apart=1), device, **gpu())


# ---------------------------------------------------------------------- plans, memory


def workspaces_of(graph: Any) -> list[Workspace]:
    return [workspace for workspace in graph.plans.values() if isinstance(workspace, Workspace)]


def test_worklists_that_turn_out_too_small(any_device: Device) -> None:
    """Nearly all edges of a clique outlive the first round: all is done again with room, once.

    The memory of the first workspace is free for the next: near a device's limit both do not fit.
    """
    graph = clique(256).symmetrised()
    resident = clmst.to_device(graph, any_device)
    with peak_of(any_device) as peak:
        first = solve(resident, None, **gpu(targets=()))
    (workspace,) = workspaces_of(resident)
    assert workspace.capacities == (graph.n_edges, graph.n_edges)
    assert peak.most - peak.before < first.stats["device_bytes"]
    again = solve(resident, None, **gpu(targets=()))
    for forest in (first, again):
        assert_same_forest(forest, clmst.kruskal(graph))
    assert workspaces_of(resident) == [workspace]
    assert again.stats["launches"] < first.stats["launches"]


def test_worklists_have_all_edges_where_light_ones_do_not_go_first(any_device: Device) -> None:
    """As in small dense graphs on GPUs: else each of them would be solved twice."""
    graph = clique(256).symmetrised()
    device = any_device.with_policy(replace(any_device.policy, filter_edges=graph.n_edges + 1))
    with launches() as launched:
        forest = solve(graph, device, **gpu())
    begun = ("filter_boruvka_prepare", "filter_boruvka_resident_solve")
    assert sum(one.endswith(begun) for one in launched) == 1
    assert_same_forest(forest, clmst.kruskal(graph))


@pytest.mark.parametrize("capacities", [(0, 0), (64, 1 << 20), (1 << 20, 64)], ids=str)
@pytest.mark.parametrize("targets", [(), (1.0,)], ids=str)
def test_every_overflow_is_seen(
    device: Device, capacities: tuple[int, int], targets: tuple[float, ...]
) -> None:
    """Whichever list has too little room, in whichever phase: nothing is written behind it."""
    graph = crowd()
    for stored in (graph, graph.symmetrised()):
        resident = clmst.to_device(stored, device)
        with bounds(worklist_capacities=lambda *_, **__: capacities):
            forest = solve(resident, None, **gpu(targets=targets))
        assert_same_forest(forest, clmst.kruskal(graph))
        assert workspaces_of(resident)[0].capacities == (resident.edge_bound,) * 2


@extremes
def test_plan_is_kept_with_the_graph(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second solve allocates nothing and builds nothing; another kind of solve has its own."""
    device = variant.device
    graph = clmst.to_device(crowd().symmetrised(), device)
    asked = inject(monkeypatch, "allocate", device)

    def flags(*, maximum: bool) -> np.ndarray[Any, Any]:
        launch = Launcher(device, device.queue)
        solution = solve_in_shape(graph, launch, maximum=maximum, options=GPU)
        return solution.in_forest.to_host()

    first = flags(maximum=False)
    assert asked.count
    (workspace,) = workspaces_of(graph)
    asked.count = 0
    np.testing.assert_array_equal(flags(maximum=False), first)
    assert (asked.count, workspaces_of(graph)) == (0, [workspace])
    assert (flags(maximum=True) != first).any()
    assert asked.count
    assert len(workspaces_of(graph)) == 2
    solve(graph, None, **gpu(seed=5))
    assert len(workspaces_of(graph)) == 3


def test_earlier_forest_survives_the_next_solve(any_device: Device) -> None:
    """The flags belong to the workspace; a forest must not."""
    graph = clmst.to_device(crowd(), any_device)
    options: dict[str, Any] = {"options": GPU, "keep_on_device": True}
    kept = clmst.minimum_spanning_forest(graph, **options)
    for _ in range(2):
        clmst.maximum_spanning_forest(graph, **options)
        clmst.minimum_spanning_forest(graph, **options)
    assert_same_forest(kept.to_host(), clmst.kruskal(crowd()))


def test_memory_goes_with_the_graph(any_device: Device) -> None:
    """Gigabytes on a GPU must not wait for Python's collector, which knows nothing of them."""
    graph = clmst.to_device(crowd().symmetrised(), any_device)
    solve(graph, None, **gpu())
    workspace = weakref.ref(workspaces_of(graph)[0])
    assert workspace() is not None
    gc.disable()
    try:
        del graph
        assert workspace() is None
    finally:
        gc.enable()


FAMILIES: dict[str, Callable[[], Graph]] = {
    "grid": lambda: clmst.generate("grid", rows=150, columns=150),
    "random": lambda: clmst.generate("random", n=20000, average_degree=8),
    "road": lambda: clmst.generate("road", n=20000),
    "star": lambda: clmst.generate("star", n=20000),
    "clique": lambda: clique(300),
}


@pytest.mark.parametrize("family", FAMILIES)
@shapes
def test_memory_is_bounded(variant: Variant, family: str) -> None:
    """The graph included: within 40 bytes an edge and 40 a vertex, where light edges go first."""
    device = variant.device.with_policy(replace(variant.device.policy, filter_edges=0))
    graph = FAMILIES[family]()
    graph = graph.replace(weights=graph.weights.astype(np.int32)).symmetrised()
    for targets in (None, ()):
        forest = solve(graph, device, **gpu(targets=targets))
        assert_same_forest(forest, clmst.kruskal(graph))
        bound = 40 * graph.n_edges + 40 * graph.n_vertices + (1 << 16)
        # Without a filter, dense graphs overflow lists that keep to it.
        if targets is None or family not in ("clique", "random"):
            assert forest.stats["device_bytes"] <= bound


# ---------------------------------------------------------------- stats, and bad input


def test_arguments_that_are_set_once(any_device: Device) -> None:
    """From the third solve on a kernel has its arguments; other graphs must not get them."""
    how = gpu(launches="resident", targets=(1.0,))
    graphs = [crowd().symmetrised(), crowd(n=700), crowd(dtype="f8").symmetrised()]
    expected = [clmst.kruskal(graph) for graph in graphs]
    resident = [clmst.to_device(graph, any_device) for graph in graphs]
    for turn in range(5):
        for graph, right in zip(resident, expected, strict=True):
            assert_same_forest(solve(graph, None, **how, profile=turn == 4), right)
    assert all(workspace._presets for graph in resident for workspace in workspaces_of(graph))


def test_arguments_that_are_set_follow_the_weights(any_device: Device) -> None:
    """Weights of the round before may be gone when a kernel still has them."""
    options, graph = (
        FilterBoruvkaOptions(launches="resident"),
        clmst.generate("grid", rows=30, columns=30),
    )
    rng = np.random.default_rng(5)
    with clmst.RepeatedSolver(graph, devices=any_device, options=options) as solver:
        for turn in range(6):
            weights = rng.integers(0, 99, solver.n_edges).astype("i4")
            given = DeviceArray.from_host(weights, any_device) if turn % 2 else weights
            u, v = solver.edges.T
            other = Graph.from_edges(u, v, weights, n_vertices=graph.n_vertices)
            assert solver.solve(given).total_weight == clmst.kruskal(other).total_weight


@pytest.mark.parametrize("launches", ["resident", "mixed"])
def test_launches_that_a_compiler_fails_on_are_refused(launches: Any) -> None:
    """PoCL would end the process, or never come back: it is not even asked to build them."""
    pocl = [v.device for v in native_variants() if "Portable" in v.device.platform]
    if not pocl:
        pytest.skip("PoCL is not installed")
    for device in pocl:
        with pytest.raises(
            UnsupportedDeviceError, match=f"launches is '{launches}', .* must be 'auto' or 'sep"
        ):
            solve(crowd(), device, **gpu(launches=launches))
        assert_same_forest(solve(crowd(), device, **gpu()), clmst.kruskal(crowd()))


def test_stats(device: Device) -> None:
    """What a solve tells must fit together."""
    graph = crowd()
    for stored in (graph, graph.symmetrised()):
        stats = solve(stored, device, **gpu(targets=(1.0,), launches="separate")).stats
        assert stats["algorithm"] == "filter-boruvka"
        assert stats["launches_as"] == "separate"
        sizes = stats["worklist_sizes"]
        assert stats["rounds"] == sum(map(len, sizes)) > 2
        for phase in sizes:
            assert phase == sorted(phase, reverse=True)
            assert phase[-1] > 0
        assert sum(phase[0] for phase in sizes) <= stored.n_slots
        assert stats["device_bytes"] > 8 * stored.n_slots + 4 * stored.n_vertices


def variant_on_gpu(policy: Policy, **changed: Any) -> Any:
    """Return the programs that solve a graph on a GPU whose work-groups may wait."""
    fence = SimpleNamespace(has_device_fence=changed.pop("fence", True))
    policy = replace(policy, resident_groups_per_compute_unit=changed.pop("resident", 2))
    may_wait = changed.pop("groups_may_wait", True)
    device = SimpleNamespace(policy=policy, groups_may_wait=may_wait, capabilities=fence)
    graph: Any = SimpleNamespace(
        device=device,
        **{"n_slots": 1000, "edge_bound": 800, "average_degree": 2.0, **changed},
    )
    assert RECORD.variant_of is not None
    return RECORD.variant_of(graph)


def test_variants_are_the_programs_that_a_graph_needs(any_device: Device) -> None:
    policy = replace(
        any_device.policy.with_constants({RESIDENT_SLOTS: 5000}),
        filter_degree=5.5, dense_degree=12.0, filter_edges=100,
    )  # fmt: skip

    def named(**changed: Any) -> str:
        return variant_on_gpu(policy, **changed)[0]  # type: ignore[no-any-return]

    assert named() == "one launch, one window"
    assert named(average_degree=5.5) == named(average_degree=12.0, edge_bound=100) == "one launch"
    assert named(average_degree=11.9, edge_bound=399) == "one launch, one window"
    assert named(average_degree=12.0, edge_bound=99) == "one launch, one window"
    assert named(n_slots=5001) == named(n_slots=5001, average_degree=9.0) == "many launches"
    for without in ({"fence": False}, {"resident": 0}, {"groups_may_wait": False}):
        assert variant_on_gpu(policy, **without) is None


def test_options_of_variants_hold_for_all_graphs(any_device: Device) -> None:
    """One window means one window; else there is another if the graph has enough edges for it."""
    policy = replace(any_device.policy, filter_edges=0).with_constants({RESIDENT_SLOTS: 5000})
    for degree, one_window in ((2.0, True), (9.0, False)):
        _, options = variant_on_gpu(policy, average_degree=degree)
        for n_chords in (0, 8):
            workspace = kept_workspace(ring_with_chords(n_chords), any_device, options)
            assert workspace.one_window == one_window
            assert workspace.n_phases == (1 if one_window or n_chords == 0 else 2)


def ring_with_chords(n_chords: int, n: int = 40) -> Graph:
    ends = np.tile(np.arange(n), 1 + n_chords)
    steps = np.repeat(np.arange(1, n_chords + 2), n)
    return Graph.from_edges(ends, (ends + steps) % n, (ends * 7 + steps * 13) % 50).symmetrised()


def kept_workspace(graph: Graph, device: Device, options: FilterBoruvkaOptions) -> Workspace:
    resident = clmst.to_device(graph, device)
    solve(resident, None, options=replace(options, shape="gpu"))
    (workspace,) = workspaces_of(resident)
    return workspace


def test_a_way_of_all_vertices_is_not_gone_step_by_step(any_device: Device) -> None:
    """A path with weights that fall: 160 times a path of random ones where edges go along it."""
    n, random = 20_000, np.random.default_rng(0)
    vertices = random.permutation(n)
    spent = {}
    for name, weights in (("random", random.permutation(n - 1)), ("falling", np.arange(n, 1, -1))):
        graph = Graph.from_edges(vertices[:-1], vertices[1:], weights).symmetrised()
        resident = clmst.to_device(graph, any_device.with_policy(GPU_SHAPE))
        options = FilterBoruvkaOptions(shape="gpu")
        solve(resident, None, options=options)
        times = []
        for _ in range(5):
            begun = time.process_time()
            solve(resident, None, options=options)
            times.append(time.process_time() - begun)
        spent[name] = min(times)
    assert spent["falling"] < 20 * spent["random"]
