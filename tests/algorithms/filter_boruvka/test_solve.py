"""filter-boruvka in both shapes: windows, long chains, second tries, and the names that it had."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, FilterBoruvkaOptions, Graph
from clmst.algorithms.filter_boruvka.workspace import POINTER_STEPS
from clmst.core.weight_keys import encode
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest, assert_solved, crowd, solve
from tests.helpers.variants import GPU_SHAPE, Variant, native_variants, shaped_variants

GRAPH = clmst.generate("grid", rows=20, columns=20, seed=1)
EXPECTED = clmst.kruskal(GRAPH)
CPU = FilterBoruvkaOptions(shape="cpu")
WIDTHS = (*((one, native_variants()) for one in ("u1", "i2", "i8")), ("f8", shaped_variants()))

each_shape = pytest.mark.parametrize("shape", ["cpu", "gpu"])


def in_shape(shape: Any, **more: Any) -> dict[str, Any]:
    return {"options": FilterBoruvkaOptions(shape=shape, **more)}


# ------------------------------------------------------------------------------- windows


def test_crowds_are_what_the_tests_need() -> None:
    """Loops, parallel edges, wide weights that stay wide, and degrees that ask for a filter."""
    graph = crowd()
    u, v, *_ = graph.edges()
    assert len(set(zip(u.tolist(), v.tolist(), strict=True))) < graph.n_edges < graph.n_input
    assert graph.n_slots * 2 > 9 * graph.n_vertices
    for dtype, bits in (("u1", 8), ("i2", 16), ("f8", 64), ("i8", 64)):
        assert encode(crowd(dtype=dtype).weights).bits.dtype.itemsize * 8 == bits


@pytest.mark.parametrize(
    ("shape", "targets"),
    [
        ("gpu", ()),
        ("gpu", (1.0,)),
        ("gpu", (0.25, 0.5, 1.5)),
        ("cpu", ()),
        ("cpu", (1.0,)),
        ("cpu", (0.1, 0.2, 0.4, 0.8, 1.6)),
    ],
    ids=str,
)
def test_windows(device: Device, shape: str, targets: tuple[float, ...]) -> None:
    """However edges are cut into windows, the forest is the same."""
    graph = crowd(n=3000 if shape == "cpu" else 900)  # of several segments
    how = in_shape(shape, targets=targets)
    assert_solved(graph, device, **how)
    for stored in (graph, graph.symmetrised()):
        assert len(solve(stored, device, **how).stats["worklist_sizes"]) == len(targets) + 1


@pytest.mark.parametrize(
    ("dtype", "variant"),
    [pytest.param(w, v, id=f"{w}-{v.name}") for w, several in WIDTHS for v in several],
)
@each_shape
def test_windows_of_every_width(shape: str, dtype: str, variant: Variant) -> None:
    """Ends of windows are keys in full, and slots where keys tie."""
    how = in_shape(shape, targets=(0.5, 1.5))
    assert_solved(crowd(dtype=dtype), variant.device, maximum=dtype in ("u1", "f8"), **how)


@each_shape
def test_windows_cut_equal_weights(any_device: Device, shape: str) -> None:
    """Ties are cut by slot, so that a window has its share of them."""
    graph = crowd().symmetrised()
    for weight in (np.uint32(0), np.uint32(2**32 - 1)):
        equal = graph.replace(weights=np.full(graph.n_slots, weight))
        for maximum in (False, True):
            forest = solve(equal, any_device, maximum=maximum, **in_shape(shape, targets=(1.0,)))
            assert_same_forest(forest, clmst.kruskal(equal, maximum=maximum))
            assert len(forest.stats["worklist_sizes"]) == 2


@each_shape
def test_seeds_change_the_windows_but_not_the_forest(any_device: Device, shape: str) -> None:
    """The first window has about the edges aimed at; few others join what light ones left."""
    graph, firsts = crowd(n=4000), set()
    expected = clmst.kruskal(graph)
    for seed in (0, 1, 7, 2**32 - 1):
        forest = solve(graph, any_device, **in_shape(shape, targets=(1.5,), seed=seed))
        assert_same_forest(forest, expected)
        light, heavy = forest.stats["worklist_sizes"]
        assert light[0] == pytest.approx(1.5 * graph.n_vertices, rel=0.15)
        assert heavy[0] < 0.4 * (graph.n_edges - light[0])
        firsts.add(light[0])
    assert len(firsts) > 1


@bounds(marked_from=0)
@pytest.mark.parametrize("targets", [(1.0,), (0.5, 1.5)], ids=str)
def test_largest_component_is_marked_or_not(any_device: Device, targets: tuple[float, ...]) -> None:
    """Bits leave out the edges within a large component; of small ones alone, hardly any."""
    rng = np.random.default_rng(1)
    groups = 10 * rng.integers(0, 300, (9000, 1))  # of ten vertices, none of them in the lead
    u, v = (groups + rng.integers(0, 10, (9000, 2))).T
    apart = Graph.from_edges(u, v, rng.integers(0, 99, u.size).astype("i4"), n_vertices=3000)
    for graph in (crowd(n=3000), crowd(n=70, degree=8), apart):
        assert_solved(graph, any_device, **in_shape("cpu", targets=targets))


@pytest.mark.parametrize("targets", [(1.0,), (0.25, 1.5)], ids=str)
def test_segments_that_turn_out_too_small(device: Device, targets: tuple[float, ...]) -> None:
    """In whichever phase one overflows, nothing is written behind it, and all is done again."""
    graph, how = crowd(n=3000).symmetrised(), in_shape("cpu", targets=targets)
    expected = clmst.kruskal(graph)
    few = solve(graph, device, **how).stats["launches"]
    for capacity in (7, 200, 1000):
        with bounds(segment_capacity=lambda *_, k=capacity: k):
            forest = solve(graph, device, **how)
        assert_same_forest(forest, expected)
        assert capacity > 7 or forest.stats["launches"] > few


@pytest.mark.parametrize("weights", ["rising", "falling", "equal"])
@each_shape
def test_long_chains(device: Device, shape: str, weights: str) -> None:
    """Ways of 2**16 vertices, followed two at a time or at once, must not take 2**15 launches."""
    n = 1 << 16
    w = {"rising": np.arange(n - 1), "falling": np.arange(n - 1)[::-1], "equal": np.ones(n - 1)}
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), w[weights].astype(np.int32))
    device = device.with_policy(device.policy.with_constants({POINTER_STEPS: 2}))
    how = in_shape(shape, launches="separate" if shape == "gpu" else "auto")
    for stored in (graph, graph.symmetrised()):
        forest = solve(stored, device, **how)
        np.testing.assert_array_equal(forest.edge_ids, np.arange(n - 1))
        assert forest.stats["launches"] < 150


@each_shape
def test_row_of_a_hub(device: Device, shape: str) -> None:
    """It goes over many tiles or segments, its lightest slot in any of them.

    Lower and upper slots are in one row, and rows without slots are around it.
    """
    tile = device.policy.work_group_size * device.policy.slots_per_item
    n = 60_001 if shape == "cpu" else 10 * tile + 7
    others = np.delete(np.arange(n), hub := n // 3)
    u = np.concatenate([np.full(others.size, hub), others])
    v = np.concatenate([others, np.roll(others, 1)])
    w = np.random.default_rng(0).integers(0, 1000, u.size)
    for lightest, targets in ((0, None), (n // 2, (0.5,)), (n - 2, None)):
        w[lightest] = -1
        graph = Graph.from_edges(u, v, w, n_vertices=n + 9000)
        assert_solved(graph, device, **in_shape(shape, targets=targets))


# -------------------------------------------------------------------------------- shapes


def shape_of(device: Device, **arguments: Any) -> str:
    """Return the shape of a solve, which is right."""
    forest = solve(GRAPH, device, **arguments)
    assert_same_forest(forest, EXPECTED)
    assert forest.stats["algorithm"] == "filter-boruvka"
    return str(forest.stats["shape"])


def test_shape(any_device: Device) -> None:
    """It goes by the options, else by the size of work-groups."""
    assert shape_of(any_device, options=FilterBoruvkaOptions(launches="separate")) == "gpu"
    own = "cpu" if any_device.policy.work_group_size == 1 else "gpu"
    assert shape_of(any_device, algorithm="filter-boruvka") == own
    serial = any_device.with_policy(replace(any_device.policy, work_group_size=1))
    assert shape_of(serial, algorithm="filter-boruvka") == "cpu"
    shaped = any_device.with_policy(GPU_SHAPE)
    assert shape_of(shaped, algorithm="filter-boruvka") == "gpu"
    for shape in ("cpu", "gpu"):
        assert shape_of(shaped, **in_shape(shape)) == shape


@pytest.mark.parametrize("shape", ["auto", "cpu", "gpu"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_no_slots(any_device: Device, shape: str, n: int) -> None:
    """Both shapes tell the same of nothing, whichever directions are stored."""
    empty = Graph.from_edges([], [], np.array([], np.int32), n_vertices=n)
    for stored in (empty, empty.symmetrised()):
        forest = solve(stored, any_device, **in_shape(shape))
        assert (forest.n_edges, forest.stats["rounds"]) == (0, 0)
