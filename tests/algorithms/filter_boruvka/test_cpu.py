"""filter-boruvka in the shape of a CPU, beyond the contract: windows, segments, long chains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, FilterBoruvkaOptions, Forest, Graph
from clmst.algorithms.filter_boruvka import cpu
from tests.forests import assert_same_forest

WINDOWS: tuple[tuple[float, ...], ...] = ((), (1.0,), (0.25, 0.5, 1.5), (0.1, 0.2, 0.4, 0.8, 1.6))


def solve(graph: Graph, device: Device, *, maximum: bool = False, **options: Any) -> Forest:
    function = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    return function(graph, device=device, options=FilterBoruvkaOptions(shape="cpu", **options))


def crowd(dtype: str = "i4", n: int = 3000, degree: int = 10) -> Graph:
    """Return a graph with ties, loops, parallel edges and lone vertices, over several segments."""
    rng = np.random.default_rng(n)
    u, v = rng.integers(0, n, (2, n * degree // 2))
    v[-20:] = u[-20:]
    u[:20], v[:20] = u[20:40], v[20:40]
    w = rng.integers(0, 120, u.size).astype(dtype)
    if dtype == "f8":  # few leading words, so that trailing ones decide, and few of those
        w = rng.choice([-3.5, 0.0, 1.0, 1e300], u.size)
        w += np.spacing(w) * rng.integers(0, 40, u.size)
    return Graph.from_edges(u, v, w, n_vertices=n + 5)


def check(graph: Graph, device: Device, *, maximum: bool = False, **options: Any) -> None:
    """Assert that a graph gets its forest, stored one way and both ways."""
    expected = clmst.kruskal(graph, maximum=maximum)
    for stored in (graph, graph.symmetrised()):
        assert_same_forest(solve(stored, device, maximum=maximum, **options), expected)


@pytest.mark.parametrize("targets", WINDOWS, ids=str)
def test_windows(any_device: Device, targets: tuple[float, ...]) -> None:
    """However edges are cut into windows, and components joined over several, it is the same."""
    check(crowd(), any_device, targets=targets)
    for stored in (crowd(), crowd().symmetrised()):
        sizes = solve(stored, any_device, targets=targets).stats["worklist_sizes"]
        assert len(sizes) == len(targets) + 1


@pytest.mark.parametrize("maximum", [False, True])
def test_windows_of_wide_weights(device: Device, maximum: bool) -> None:
    """Ends of windows are keys in full, and slots where keys tie."""
    check(crowd("f8"), device, maximum=maximum, targets=(0.5, 1.5))


def test_windows_cut_equal_weights(any_device: Device) -> None:
    """Ties are cut by slot, so that a window has its share of them."""
    graph = crowd().symmetrised()
    for weight in (np.uint32(0), np.uint32(2**32 - 1)):
        equal = graph.replace(weights=np.full(graph.n_slots, weight))
        for maximum in (False, True):
            forest = solve(equal, any_device, targets=(1.0,), maximum=maximum)
            assert_same_forest(forest, clmst.kruskal(equal, maximum=maximum))
            assert len(forest.stats["worklist_sizes"]) == 2


@pytest.mark.parametrize("targets", [(1.0,), (0.5, 1.5)], ids=str)
def test_largest_component_is_marked_or_not(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, targets: tuple[float, ...]
) -> None:
    """Bits leave out the edges within a large component; of small ones alone, hardly any."""
    monkeypatch.setattr(cpu, "_MARKED_FROM", 0)
    check(crowd(), any_device, targets=targets)
    check(crowd(n=70, degree=8), any_device, targets=targets)
    rng = np.random.default_rng(1)
    groups = 10 * rng.integers(0, 300, (9000, 1))  # of ten vertices, none of them in the lead
    u, v = (groups + rng.integers(0, 10, (9000, 2))).T
    apart = Graph.from_edges(u, v, rng.integers(0, 99, u.size).astype("i4"), n_vertices=3000)
    check(apart, any_device, targets=targets)


def test_first_window_has_about_the_edges_it_aims_at(any_device: Device) -> None:
    """And few edges of the others join two components that light ones left."""
    graph = crowd(n=4000)
    light, heavy = solve(graph, any_device, targets=(1.5,)).stats["worklist_sizes"]
    assert light[0] == pytest.approx(1.5 * graph.n_vertices, rel=0.15)
    assert heavy[0] < (graph.n_edges - light[0]) / 4


def test_seeds_change_the_windows_but_not_the_forest(any_device: Device) -> None:
    graph, firsts = crowd(), set()
    expected = clmst.kruskal(graph)
    for seed in (0, 1, 7, 2**32 - 1):
        forest = solve(graph, any_device, targets=(1.0,), seed=seed)
        assert_same_forest(forest, expected)
        firsts.add(forest.stats["worklist_sizes"][0][0])
    assert len(firsts) > 1


@pytest.mark.parametrize("targets", [(1.0,), (0.25, 1.5)], ids=str)
def test_segments_that_turn_out_too_small(
    device: Device, monkeypatch: pytest.MonkeyPatch, targets: tuple[float, ...]
) -> None:
    """In whichever phase one overflows, nothing is written behind it, and all is done again."""
    monkeypatch.setattr(cpu, "_MIN_SEGMENT", 100)
    graph = crowd()
    for share in (0.0, 0.2, 0.4):
        monkeypatch.setattr(cpu, "_CAPACITY", share)
        check(graph, device, targets=targets)
    monkeypatch.setattr(cpu, "_CAPACITY", 1.0)
    few = solve(graph, device, targets=targets).stats["launches"]
    monkeypatch.setattr(cpu.CpuRun, "_stride", _hardly_any_capacity)
    cramped = solve(graph, device, targets=targets)
    assert_same_forest(cramped, clmst.kruskal(graph))
    assert cramped.stats["launches"] > few


def _hardly_any_capacity(run: Any) -> int:
    return -(-run.graph.n_slots // run.segments) if run.full_capacity else 7


@pytest.mark.parametrize("weights", ["rising", "falling", "equal"])
def test_long_chains(any_device: Device, weights: str) -> None:
    """A way of 2**16 vertices is gone once by each work-item, not once by each vertex on it."""
    n = 1 << 16
    w = {"rising": np.arange(n - 1), "falling": np.arange(n - 1)[::-1], "equal": np.ones(n - 1)}
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), w[weights].astype(np.int32))
    for stored in (graph, graph.symmetrised()):
        forest = solve(stored, any_device)
        np.testing.assert_array_equal(forest.edge_ids, np.arange(n - 1))
        assert forest.stats["launches"] < 100


def test_rows_over_several_segments(device: Device) -> None:
    """A hub's row is parted among many work-items, and rows without slots are around it."""
    n, hub = 60_001, 20_000
    others = np.delete(np.arange(n), hub)
    w = np.random.default_rng(0).integers(0, 1000, 2 * others.size)
    graph = Graph.from_edges(
        np.concatenate([np.full(others.size, hub), others]),
        np.concatenate([others, np.roll(others, 1)]),
        w,
        n_vertices=n + 9000,
    )
    check(graph, device)
    check(graph, device, targets=(0.5,))


def test_no_slots_and_no_edges(any_device: Device) -> None:
    for n in (0, 1, 5):
        empty = Graph.from_edges([], [], np.array([], np.int32), n_vertices=n)
        assert solve(empty, any_device).n_edges == 0
    loops = Graph.from_csr([0, 1, 2], [0, 1], [3, 4])
    assert solve(loops, any_device).n_edges == 0
