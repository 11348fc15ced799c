"""filter-boruvka in the shape of a GPU, beyond the contract.

Launches of work-groups that wait for one another run in ``tests/test_oclgrind.py``: CPU compilers
do not get through their kernels.
"""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import (
    Device,
    EclOptions,
    FilterBoruvkaOptions,
    Forest,
    Graph,
    InvalidArgumentError,
    UnsupportedDeviceError,
)
from clmst.algorithms.filter_boruvka.plan import Plan
from clmst.algorithms.filter_boruvka.record import RECORD
from clmst.algorithms.filter_boruvka.solve import solve as solve_in_shape
from clmst.core.weight_keys import encode
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from tests.forests import assert_same_forest
from tests.variants import Variant, extreme_variants, variants

# Every width of weights is a build, so tests that need many of them run in few variants; `device`
# runs in all of them. NATIVE: devices with their own settings. SHAPES: these, and the shape of a
# GPU's kernels. EXTREMES: the best device with its own settings, and one without any capability.
NATIVE = [v for v in variants() if "-" not in v.name]
SHAPES = NATIVE + [v for v in variants() if v.name.endswith("gpu-shape")]
EXTREMES = extreme_variants()

shapes = pytest.mark.parametrize("variant", SHAPES, ids=lambda v: v.name)
extremes = pytest.mark.parametrize("variant", EXTREMES, ids=lambda v: v.name)

GPU = FilterBoruvkaOptions(shape="gpu")
NARROW = np.dtype(np.int32)
WINDOWS: tuple[tuple[float, ...], ...] = ((), (1.0,), (0.25, 0.5, 1.5))


def solve(
    graph: Any,
    device: Device | None,
    options: FilterBoruvkaOptions | None = None,
    *,
    maximum: bool = False,
    profile: bool = False,
) -> Forest:
    function = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    options = replace(options or GPU, shape="gpu")
    return function(graph, device=device, options=options, profile=profile)


def check(
    graph: Graph,
    device: Device,
    options: FilterBoruvkaOptions | None = None,
    *,
    maximum: bool = False,
) -> None:
    """Assert that a graph gets its forest, stored one way and both ways."""
    expected = clmst.kruskal(graph, maximum=maximum)
    for stored in (graph, graph.symmetrised()):
        assert_same_forest(solve(stored, device, options, maximum=maximum), expected)


# ---------------------------------------------------------------------------- graphs


def weights_of(dtype: np.dtype[Any], m: int) -> np.ndarray[Any, Any]:
    """Return weights with many ties; those of 64 bits cannot be narrowed."""
    rng = np.random.default_rng(m)
    if dtype == np.float64:
        # Few leading words, so that trailing ones decide, and few of those, so that ids do.
        leading = rng.choice([-3.5, 0.0, 1.0, 1e300], m)
        return np.asarray(leading + np.spacing(leading) * rng.integers(0, 40, m))
    if dtype == np.int64:
        return np.asarray(rng.integers(-4, 4, m) * (1 << 32) + rng.integers(-9, 9, m))
    return rng.integers(0, 120, m).astype(dtype)


@cache
def crowd(dtype: np.dtype[Any] = NARROW, n: int = 900, degree: int = 10) -> Graph:
    """Return a graph with ties, loops, parallel edges and lone vertices."""
    rng = np.random.default_rng(n)
    u, v = rng.integers(0, n, (2, n * degree // 2))
    v[-20:] = u[-20:]
    u[:20], v[:20] = u[20:40], v[20:40]
    return Graph.from_edges(u, v, weights_of(dtype, u.size), n_vertices=n + 5)


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
    """Return how many slots a tile has (TILE_SLOTS of cl/algorithms/filter_boruvka/tiles.cl)."""
    return policy.work_group_size * policy.slots_per_item


def test_crowds_are_what_the_tests_need() -> None:
    """Loops, parallel edges, wide weights that stay wide, and degrees that ask for a filter."""
    graph = crowd()
    u, v, *_ = graph.edges()
    assert len(set(zip(u.tolist(), v.tolist(), strict=True))) < graph.n_edges < graph.n_input
    assert graph.n_slots * 2 > 9 * graph.n_vertices
    for dtype, bits in ((np.uint8, 8), (np.int16, 16), (np.float64, 64), (np.int64, 64)):
        assert encode(crowd(np.dtype(dtype)).weights).bits.dtype.itemsize * 8 == bits


# --------------------------------------------------------------------------- windows


@pytest.mark.parametrize("targets", WINDOWS, ids=str)
def test_windows(device: Device, targets: tuple[float, ...]) -> None:
    """However edges are cut into windows, the forest is the same."""
    options = FilterBoruvkaOptions(targets=targets)
    check(crowd(), device, options)
    for stored in (crowd(), crowd().symmetrised()):
        sizes = solve(stored, device, options).stats["worklist_sizes"]
        assert len(sizes) == len(targets) + 1


@pytest.mark.parametrize(
    ("dtype", "variant"),
    [
        pytest.param(dtype, variant, id=f"{dtype}-{variant.name}")
        for dtype, variants in (("u1", NATIVE), ("i2", NATIVE), ("i8", NATIVE), ("f8", SHAPES))
        for variant in variants
    ],
)
def test_windows_of_every_width(dtype: str, variant: Variant) -> None:
    """Ends of windows are keys in full, and slots where keys tie."""
    options = FilterBoruvkaOptions(targets=(0.5, 1.5))
    check(crowd(np.dtype(dtype)), variant.device, options, maximum=dtype in ("u1", "f8"))


def test_windows_cut_equal_weights(any_device: Device) -> None:
    """Ties are cut by slot, so that a window has its share of them."""
    graph = crowd().symmetrised()
    for weight in (np.uint32(0), np.uint32(2**32 - 1)):
        equal = graph.replace(weights=np.full(graph.n_slots, weight))
        for maximum in (False, True):
            forest = solve(equal, any_device, FilterBoruvkaOptions(targets=(1.0,)), maximum=maximum)
            assert_same_forest(forest, clmst.kruskal(equal, maximum=maximum))
            assert len(forest.stats["worklist_sizes"]) == 2


def test_seeds_change_the_windows_but_not_the_forest(any_device: Device) -> None:
    graph = crowd()
    expected, firsts = clmst.kruskal(graph), set()
    for seed in (0, 1, 7, 2**32 - 1):
        forest = solve(graph, any_device, FilterBoruvkaOptions(targets=(1.0,), seed=seed))
        assert_same_forest(forest, expected)
        firsts.add(forest.stats["worklist_sizes"][0][0])
    assert len(firsts) > 1


def test_first_window_has_about_the_edges_it_aims_at(any_device: Device) -> None:
    """And few edges of the others join two components that light ones left."""
    graph = crowd(n=4000)
    light, heavy = solve(graph, any_device, FilterBoruvkaOptions(targets=(1.5,))).stats[
        "worklist_sizes"
    ]
    assert light[0] == pytest.approx(1.5 * graph.n_vertices, rel=0.15)
    assert heavy[0] < (graph.n_edges - light[0]) / 4


def test_policy_decides_where_no_targets_are_given(any_device: Device) -> None:
    """From its degree on there are two windows, unless the first would have nearly all edges."""
    for degree, target, phases in ((11.0, 1.0, 1), (9.0, 1.0, 2), (9.0, 4.5, 1)):
        policy = replace(any_device.policy, filter_degree=degree, filter_target=target)
        device = any_device.with_policy(policy)
        for stored in (crowd(), crowd().symmetrised()):
            assert len(solve(stored, device).stats["worklist_sizes"]) == phases


# ----------------------------------------------------------------------- rows, tiles


@shapes
def test_second_window_where_the_first_leaves_many_edges(variant: Variant) -> None:
    """The light edges of a random graph join half of its vertices, those of a star's all."""
    device = variant.device.with_policy(replace(variant.device.policy, probe_edges=0))
    scattered = clmst.generate("random", n=3000, average_degree=64)
    u, v = np.triu_indices(300, 1)
    star = Graph.from_edges(u, v, np.where(u == 0, v, 1000 + 7919 * np.arange(u.size) % 10007))
    for graph, n_windows in ((scattered, 3), (star, 2)):
        expected = clmst.kruskal(graph)
        for stored in (graph, graph.symmetrised()):
            forest = solve(stored, device)
            assert_same_forest(forest, expected)
            assert len(forest.stats["worklist_sizes"]) == n_windows


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
    for options in (None, FilterBoruvkaOptions(targets=(0.5,))):
        check(graph, device, options)


@extremes
@pytest.mark.parametrize("before", [0, 1])
def test_many_rows_without_slots(variant: Variant, before: int) -> None:
    """More of them in a row than a tile goes through one by one, at the ends and between."""
    tile = tile_of(variant.device.policy)
    empty = np.zeros(17 * tile + 3, int)
    lengths = np.concatenate([empty, [tile - before], empty, [tile, 3], empty])
    check(by_rows(lengths, 7), variant.device)
    graph = by_rows(lengths, 7)
    padded = Graph.from_edges(*graph.edges()[:3], n_vertices=graph.n_vertices + empty.size)
    check(padded, variant.device)


def test_hub_of_many_tiles(device: Device) -> None:
    """One row over ten tiles and a bit, its lightest slot in any of them."""
    n = 10 * tile_of(device.policy) + 7
    for lightest in (1, n // 2, n - 1):
        weights = np.full(n - 1, 5)
        weights[lightest - 1] = -1
        hub = n // 3  # others on both sides: lower and upper slots in one row
        others = np.delete(np.arange(n), hub)
        ring = np.roll(others, 1)
        graph = Graph.from_edges(
            np.concatenate([np.full(n - 1, hub), others]),
            np.concatenate([others, ring]),
            np.concatenate([weights, np.full(n - 1, 4)]),
        )
        forest = solve(graph.symmetrised(), device)
        assert_same_forest(forest, clmst.kruskal(graph))


def test_parallel_edges_of_equal_weight(device: Device) -> None:
    """A vertex takes the lower slot of one; its upper one must be that of the same edge."""
    rng = np.random.default_rng(8)
    u, v = rng.integers(0, 30, (2, 3000))
    for weights in (np.zeros(3000, int), rng.integers(0, 2, 3000)):
        check(Graph.from_edges(u, v, weights, n_vertices=31), device)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_both_directions_of_no_edge(device: Device, n: int) -> None:
    """There is no tile that could say of any row that it has no slots."""
    stored = Graph.from_edges([], [], np.array([], np.int32), n_vertices=n).symmetrised()
    assert solve(stored, device).n_edges == 0


@pytest.mark.parametrize("weights", ["rising", "falling", "equal"])
@shapes
def test_long_chains_with_short_steps(variant: Variant, weights: str) -> None:
    """Ways of 2**16 vertices, followed two at a time, must not take 2**15 launches."""
    n = 1 << 16
    w = {"rising": np.arange(n - 1), "falling": np.arange(n - 1)[::-1], "equal": np.ones(n - 1)}
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), w[weights].astype(np.int32))
    device = variant.device.with_policy(replace(variant.device.policy, chase=2))
    for stored in (graph, graph.symmetrised()):
        forest = solve(stored, device, FilterBoruvkaOptions(launches="separate"))
        np.testing.assert_array_equal(forest.edge_ids, np.arange(n - 1))
        assert forest.stats["launches"] < 150


# ---------------------------------------------------------------------- plans, memory


def plans_of(graph: DeviceGraph) -> list[Plan]:
    return [plan for plan in graph.plans.values() if isinstance(plan, Plan)]


def test_worklists_that_turn_out_too_small(any_device: Device) -> None:
    """Nearly all edges of a clique outlive the first round: the solve is done again with room."""
    graph = clique(256).symmetrised()
    expected = clmst.kruskal(graph)
    resident = clmst.to_device(graph, any_device)
    options = FilterBoruvkaOptions(targets=())
    first = solve(resident, None, options)
    assert_same_forest(first, expected)
    (plan,) = plans_of(resident)
    assert plan.capacities == (graph.n_edges, graph.n_edges)
    again = solve(resident, None, options)
    assert_same_forest(again, expected)
    assert plans_of(resident) == [plan]
    assert again.stats["launches"] < first.stats["launches"]


def test_memory_of_a_plan_that_overflowed_is_free_for_the_next(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a graph near the limit of a device's memory, both do not fit."""
    in_use: list[int] = []
    allocate = Plan._allocate

    def note(self: Plan, graph: DeviceGraph, *, full_capacity: bool) -> None:
        in_use.append(graph.device._pool.active_bytes)
        allocate(self, graph, full_capacity=full_capacity)

    resident = clmst.to_device(clique(256).symmetrised(), any_device)
    options = FilterBoruvkaOptions(targets=())
    clmst.minimum_spanning_forest(clique(4), device=any_device, options=options)  # kernels tested
    monkeypatch.setattr(Plan, "_allocate", note)
    solve(resident, None, options)
    assert len(in_use) == 2
    assert in_use[1] <= in_use[0]


@pytest.mark.parametrize("capacities", [(0, 0), (64, 1 << 20), (1 << 20, 64)], ids=str)
@pytest.mark.parametrize("targets", [(), (1.0,)], ids=str)
def test_every_overflow_is_seen(
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
    capacities: tuple[int, int],
    targets: tuple[float, ...],
) -> None:
    """Whichever list has too little room, in whichever phase: nothing is written behind it."""
    monkeypatch.setattr(Plan, "_capacities", lambda *_: capacities)
    graph = crowd()
    for stored in (graph, graph.symmetrised()):
        resident = clmst.to_device(stored, device)
        forest = solve(resident, None, FilterBoruvkaOptions(targets=targets))
        assert_same_forest(forest, clmst.kruskal(graph))
        assert plans_of(resident)[0].capacities == (resident.edge_bound,) * 2


@extremes
def test_plan_is_kept_with_the_graph(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second solve allocates nothing and builds nothing; another kind of solve has its own."""
    device = variant.device
    graph = clmst.to_device(crowd().symmetrised(), device)
    asked: list[int] = []
    allocate = Device.allocate

    def count(self: Device, n_bytes: int) -> Any:
        asked.append(n_bytes)
        return allocate(self, n_bytes)

    monkeypatch.setattr(Device, "allocate", count)

    def flags(*, maximum: bool) -> np.ndarray[Any, Any]:
        launch = Launcher(device, device.queue)
        solution = solve_in_shape(graph, launch, maximum=maximum, options=GPU)
        return solution.in_forest.to_host()

    first = flags(maximum=False)
    assert asked
    (plan,) = plans_of(graph)
    asked.clear()
    np.testing.assert_array_equal(flags(maximum=False), first)
    assert (asked, plans_of(graph)) == ([], [plan])
    assert (flags(maximum=True) != first).any()
    assert asked
    assert len(plans_of(graph)) == 2
    solve(graph, None, FilterBoruvkaOptions(seed=5))
    assert len(plans_of(graph)) == 3


def test_earlier_forest_survives_the_next_solve(any_device: Device) -> None:
    """The flags belong to the plan; a forest must not."""
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
    solve(graph, None)
    plan = weakref.ref(plans_of(graph)[0])
    assert plan() is not None
    gc.disable()
    try:
        del graph
        assert plan() is None
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
    """The graph included: within 40 bytes an edge and 40 a vertex."""
    graph = FAMILIES[family]()
    graph = graph.replace(weights=graph.weights.astype(np.int32)).symmetrised()
    for targets in (None, ()):
        options = FilterBoruvkaOptions(targets=targets)
        forest = solve(graph, variant.device, options)
        assert_same_forest(forest, clmst.kruskal(graph))
        bound = 40 * graph.n_edges + 40 * graph.n_vertices + (1 << 16)
        # Without a filter, dense graphs overflow lists that keep to it.
        if targets is None or family not in ("clique", "random"):
            assert forest.stats["device_bytes"] <= bound


# ---------------------------------------------------------------- stats, and bad input


def test_arguments_that_are_set_once(any_device: Device) -> None:
    """From the third solve on a kernel has its arguments; other graphs must not get them."""
    options = FilterBoruvkaOptions(launches="resident", targets=(1.0,))
    graphs = [crowd().symmetrised(), crowd(n=700), crowd("f8").symmetrised()]
    expected = [clmst.kruskal(graph) for graph in graphs]
    resident = [clmst.to_device(graph, any_device) for graph in graphs]
    for turn in range(5):
        for graph, right in zip(resident, expected, strict=True):
            assert_same_forest(solve(graph, None, options, profile=turn == 4), right)
    assert all(plan._presets for graph in resident for plan in plans_of(graph))


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
    pocl = [v.device for v in variants() if "Portable" in v.device.platform]
    if not pocl:
        pytest.skip("PoCL is not installed")
    for device in pocl:
        with pytest.raises(
            UnsupportedDeviceError, match=f"launches is '{launches}', .* must be 'auto' or 'sep"
        ):
            solve(crowd(), device, FilterBoruvkaOptions(launches=launches))
        assert_same_forest(solve(crowd(), device, FilterBoruvkaOptions()), clmst.kruskal(crowd()))


def test_stats(device: Device) -> None:
    """What a solve tells must fit together."""
    graph = crowd()
    for stored in (graph, graph.symmetrised()):
        stats = solve(
            stored, device, FilterBoruvkaOptions(targets=(1.0,), launches="separate")
        ).stats
        assert stats["algorithm"] == "filter-boruvka"
        assert stats["launches_as"] == "separate"
        sizes = stats["worklist_sizes"]
        assert stats["rounds"] == sum(map(len, sizes)) > 2
        for phase in sizes:
            assert phase == sorted(phase, reverse=True)
            assert phase[-1] > 0
        assert sum(phase[0] for phase in sizes) <= stored.n_slots
        assert stats["device_bytes"] > 8 * stored.n_slots + 4 * stored.n_vertices


def test_profile_times_its_kernels(any_device: Device) -> None:
    options = FilterBoruvkaOptions(launches="separate")
    profile = solve(crowd().symmetrised(), any_device, options, profile=True).stats["profile"]
    assert {"filter_boruvka_take_minima_and_list", "filter_boruvka_hook"} <= profile.keys()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"launches": "all"},
            "launches is 'all'; it must be one of 'auto', 'resident', 'mixed', 'separate'",
        ),
        (
            {"targets": (1.0, 2.0, 3.0, 4.0)},
            "there are 4 targets; at most 3 can be given, unless shape is 'cpu'",
        ),
        ({"targets": (2.0, 1.0)}, "targets are (2.0, 1.0); they must be positive and rise"),
        ({"targets": (1.0, 1.0)}, "targets are (1.0, 1.0); they must be positive and rise"),
        ({"targets": (0.0,)}, "targets are (0.0,); they must be positive and rise"),
        ({"targets": (-1.0,)}, "targets are (-1.0,); they must be positive and rise"),
        ({"targets": (float("nan"),)}, "targets are (nan,); they must be positive and rise"),
        ({"seed": -1}, "seed is -1; it must be 0 to 4294967295"),
        ({"seed": 1 << 32}, "seed is 4294967296; it must be 0 to 4294967295"),
    ],
)
def test_options_that_mean_nothing(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^{re.escape(words)}$"):
        FilterBoruvkaOptions(**arguments)


def test_options_of_another_algorithm(any_device: Device) -> None:
    message = "options is a EclOptions; 'filter-boruvka' takes a FilterBoruvkaOptions"
    with pytest.raises(InvalidArgumentError, match=message):
        clmst.minimum_spanning_forest(
            crowd(), algorithm="filter-boruvka", device=any_device, options=EclOptions()
        )


def test_more_vertices_than_links_can_name(any_device: Device) -> None:
    """Nothing may be allocated or launched for such a graph."""
    graph: Any = SimpleNamespace(n_vertices=(1 << 30) + 1)
    message = r"the graph has 1073741825 vertices; 'filter-boruvka' takes at most 1073741824"
    with pytest.raises(InvalidArgumentError, match=message):
        solve_in_shape(graph, Launcher(any_device, any_device.queue), maximum=False)


def variant_on_gpu(policy: Policy, **changed: Any) -> Any:
    """Return the programs that solve a graph on a GPU whose work-groups may wait."""
    fence = SimpleNamespace(has_device_fence=changed.pop("fence", True))
    policy = replace(policy, resident_groups_per_compute_unit=changed.pop("resident", 2))
    may_wait = changed.pop("groups_may_wait", True)
    device = SimpleNamespace(policy=policy, groups_may_wait=may_wait, capabilities=fence)
    graph: Any = SimpleNamespace(
        device=device, **{"n_slots": 1000, "average_degree": 2.0, **changed}
    )
    assert RECORD.variant_of is not None
    return RECORD.variant_of(graph)


def test_variants_are_the_programs_that_a_graph_needs(any_device: Device) -> None:
    policy = replace(any_device.policy, resident_slots=5000, filter_degree=5.5)

    def named(**changed: Any) -> str:
        return variant_on_gpu(policy, **changed)[0]  # type: ignore[no-any-return]

    assert named() == "one launch, one window"
    assert named(average_degree=5.5) == "one launch"
    assert named(n_slots=5001) == named(n_slots=5001, average_degree=9.0) == "many launches"
    for without in ({"fence": False}, {"resident": 0}, {"groups_may_wait": False}):
        assert variant_on_gpu(policy, **without) is None


def test_options_of_variants_hold_for_all_graphs(any_device: Device) -> None:
    """One window means one window; else there is another if the graph has enough edges for it."""
    policy = replace(any_device.policy, resident_slots=5000)
    for degree, one_window in ((2.0, True), (9.0, False)):
        _, options = variant_on_gpu(policy, average_degree=degree)
        for n_chords in (0, 8):
            plan = kept_plan(ring_with_chords(n_chords), any_device, options)
            assert plan.one_window == one_window
            assert plan.n_phases == (1 if one_window or n_chords == 0 else 2)


def ring_with_chords(n_chords: int, n: int = 40) -> Graph:
    ends = np.tile(np.arange(n), 1 + n_chords)
    steps = np.repeat(np.arange(1, n_chords + 2), n)
    return Graph.from_edges(ends, (ends + steps) % n, (ends * 7 + steps * 13) % 50).symmetrised()


def kept_plan(graph: Graph, device: Device, options: FilterBoruvkaOptions) -> Plan:
    resident = DeviceGraph.upload(graph, device)
    solve(resident, device, options)
    (plan,) = (one for one in resident.plans.values() if isinstance(one, Plan))
    return plan
