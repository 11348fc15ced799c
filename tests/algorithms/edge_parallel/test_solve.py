"""edge-parallel beyond the contract: disjoint sets, schedules, its lock, what it tells."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given

import clmst
from clmst import Device, EdgeParallelOptions, Forest, Graph
from clmst.algorithms.edge_parallel import Schedule, UnionFind
from clmst.algorithms.edge_parallel import solve as edge_parallel
from clmst.core.errors import UnsupportedDeviceError
from clmst.runtime.launcher import Launcher
from tests.helpers import forests
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest, assert_solved, crowd
from tests.helpers.strategies import graphs
from tests.helpers.variants import Variant, extreme_variants, variants_elsewhere

UNION_FINDS = get_args(UnionFind)
sets = pytest.mark.parametrize("union_find", UNION_FINDS)
# The usual sets have the contract's tests.
other_sets = pytest.mark.parametrize("union_find", UNION_FINDS[1:])
# Every specialisation is a build, so what needs many of them runs in few variants.
EXTREMES = extreme_variants()
SHAPES = [v for v in variants_elsewhere() if "-" not in v.name or v.name.endswith("gpu-shape")]
WORDS = [(v, "i4") for v in variants_elsewhere()] + [(v, "f8") for v in EXTREMES]


def solve(graph: Any, device: Device, union_find: UnionFind, *, profile: bool = False) -> Forest:
    options = EdgeParallelOptions(union_find=union_find)
    return forests.solve(graph, device, options=options, profile=profile)


@other_sets
@pytest.mark.parametrize("variant", variants_elsewhere(), ids=lambda variant: variant.name)
@given(graph=graphs(dtypes=[np.dtype(np.int32)]))
def test_any_graph(variant: Variant, union_find: UnionFind, graph: Graph) -> None:
    forest = solve(graph, variant.device, union_find)
    assert_same_forest(forest, clmst.kruskal(graph))
    # None without slots; else each merges something, but for the last one.
    assert forest.stats["rounds"] <= (forest.n_edges + 1 if graph.n_slots else 0)


@other_sets
@pytest.mark.parametrize(
    ("variant", "dtype"),
    [pytest.param(v, w, id=f"{v.name}-{w}") for v, w in WORDS],
)
def test_words_and_layouts(variant: Variant, union_find: UnionFind, dtype: str) -> None:
    options = EdgeParallelOptions(union_find=union_find)
    assert_solved(crowd(400, 15, dtype), variant.device, options=options)


@pytest.mark.parametrize("schedule", get_args(Schedule)[1:])
@pytest.mark.parametrize(
    ("variant", "dtype"),
    [pytest.param(v, w, id=f"{v.name}-{w}") for v, w in WORDS],
)
def test_schedules(variant: Variant, schedule: Schedule, dtype: str) -> None:
    """Every edge must be taken exactly once or more, whatever the number of edges is.

    An edge that no work-group takes is missing in the forest if it is a bridge, as in a path. The
    counter of a later pass or round must begin at 0 again.
    """
    options = EdgeParallelOptions(schedule=schedule)
    assert_solved(crowd(400, 15, dtype), variant.device, options=options)
    for n in (2, 3, 255, 257, 4097):
        path = Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.arange(n - 1).astype(dtype))
        assert_solved(path, variant.device, options=options)


@sets
def test_many_merges_at_once(device: Device, union_find: UnionFind) -> None:
    """Paths, whose supervertices merge in long chains while all of them look for their roots.

    A merge that is lost to a race leaves out an edge. A merge that is done twice gives a wrong
    count.
    """
    n = 1 << 12 if union_find == "locked" else 1 << 15
    rng = np.random.default_rng(2)
    for weights in (np.arange(n - 1), rng.permutation(n - 1), np.zeros(n - 1)):
        names = rng.permutation(n)
        resident = clmst.to_device(
            Graph.from_edges(names[:-1], names[1:], weights.astype(np.float32)), device
        )
        for _ in range(3):
            forest = solve(resident, device, union_find)
            assert forest.n_edges == n - 1 == sum(forest.stats["merged"])


@sets
def test_many_edges_at_few_roots(any_device: Device, union_find: UnionFind) -> None:
    """Nearly all edges ask for the same two roots, and compress the same paths."""
    n, m = 3000, 12000 if union_find == "locked" else 100_000
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, n // 2, (2, m))
    u, v = np.concatenate([[u, v], [u + n // 2, v + n // 2], [[0], [n - 1]]], axis=1)
    halves = Graph.from_edges(u, v, np.append(rng.integers(0, 9, 2 * m), 99))
    expected = clmst.kruskal(halves)
    for _ in range(3):
        assert_same_forest(solve(halves, any_device, union_find), expected)


@sets
def test_what_it_tells(any_device: Device, union_find: UnionFind) -> None:
    """Rounds at least halve what has an edge, and the last one merges nothing."""
    graph = crowd(500, 16)
    forest = solve(graph, any_device, union_find, profile=True)
    merged, n = forest.stats["merged"], graph.n_vertices
    assert forest.stats["algorithm"] == "edge-parallel"
    assert forest.stats["rounds"] == len(merged)
    assert merged[-1] == 0 not in merged[:-1]
    assert n - sum(merged) == forest.n_components
    left = n - forest.n_components - np.cumsum([0, *merged])  # all merges are still to come
    assert all(2 * after <= before for before, after in pairwise(left.tolist()))
    phases = forest.stats["phases"]
    assert [*phases] == ["list edges", "reset", "find", "contract"]
    assert phases["reset"].launches == phases["contract"].launches == len(merged)
    assert phases["find"].launches % len(merged) == 0


def test_edges_are_listed_once(any_device: Device) -> None:
    resident = clmst.to_device(crowd(100), any_device)
    solves = [solve(resident, any_device, "atomic-half", profile=True) for _ in range(2)]
    assert ["list edges" in forest.stats["phases"] for forest in solves] == [True, False]
    assert_same_forest(solves[1], solves[0])


@pytest.mark.parametrize("variant", SHAPES, ids=lambda variant: variant.name)
@bounds(lock_looks=1 << 21)  # enough for a thread that is not scheduled for some milliseconds
def test_lock_that_nobody_gives_back(variant: Variant) -> None:
    """Work-items that wait in vain must end the solve, not wait for ever."""
    device = variant.device
    graph = clmst.to_device(crowd(300, 14), device)
    launch, options = Launcher(device, device.queue), EdgeParallelOptions(union_find="locked")
    run = edge_parallel.EdgeParallelRun(graph, launch, maximum=False, options=options)
    run.begin()
    run.reset()
    run.find()
    run.contract(0)
    assert run.read_merged(0) > 0
    launch.write(run.state.memory, np.ones(1, np.uint32))  # held
    run.find()
    run.contract(1)
    with pytest.raises(UnsupportedDeviceError, match="2097152 times at the same taken lock"):
        run.read_merged(1)
