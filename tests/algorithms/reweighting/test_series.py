"""What topology settles: pendant trees, chains, cycles; and solves by what is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clmst
from clmst import Device, DeviceArray, FilterBoruvkaOptions, RepeatedSolver
from clmst.algorithms.filter_boruvka.workspace import Candidates
from clmst.algorithms.reweighting.series import SeriesContraction, contract_series
from clmst.core.graph import Graph
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher
from tests.helpers.bounds import bounds
from tests.helpers.strategies import examples
from tests.repeated.rounds import check, every_device

Array = Any

# Only the shape of a GPU solves the remaining edges.
GPU = FilterBoruvkaOptions(shape="gpu")
on_every_device = pytest.mark.parametrize("variant", every_device())


def resident(graph: Graph, device: Device) -> DeviceGraph:
    """Return a graph that stores each edge once on a device, with the row of each slot."""
    return replace(DeviceGraph.upload(graph, device), rows=device.upload(graph.rows))


def contract(graph: Graph, device: Device) -> Candidates:
    return contract_series(resident(graph, device), Launcher(device, device.queue))


def bits_of(candidates: Candidates, m: int, device: Device) -> Array:
    """Return which slots are in the forest but for the heaviest of chains."""
    words = np.empty(-(-m // 32), np.uint32)
    Launcher(device, device.queue).read(candidates.kept, words)
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:m].astype(bool)


def with_chains(rng: np.random.Generator, n: int, m: int, longest: int) -> Graph:
    """Return a graph of random chains between random vertices, and of trees that hang from it."""
    u, v, count = [], [], n
    for a, b in rng.integers(0, n, (m, 2)).tolist():
        inner = list(range(count, count + int(rng.integers(0, longest))))
        count += len(inner)
        way = [a, *inner, b]
        u += way[:-1]
        v += way[1:]
    for leaf in range(count, count + n):
        u.append(int(rng.integers(0, leaf)))
        v.append(leaf)
    order = rng.permutation(count + n)
    weights = rng.integers(0, 50, len(u)).astype(np.float32)
    return Graph.from_edges(order[u], order[v], weights, n_vertices=count + n)


@on_every_device
def test_what_is_left(variant: Device) -> None:
    """A square with a way across of three edges, a tail of two, and a triangle of its own."""
    u = [0, 1, 2, 3, 0, 4, 5, 3, 6, 8, 9, 10]
    v = [1, 2, 3, 0, 4, 5, 2, 6, 7, 9, 10, 8]
    graph = Graph.from_edges(u, v, np.arange(12.0, dtype=np.float32))
    left = contract(graph, variant)
    assert left.starts is not None
    lengths = np.diff(left.starts.to_host())
    # Between 0 and 2: over 1, over 3, over 4 and 5; and the triangle, which leads nowhere.
    assert sorted(lengths.tolist()) == [2, 2, 3, 3]
    assert left.n_vertices == 2
    ends = left.ends.to_host().view(np.uint32).reshape(-1, 2)
    assert sorted(np.sort(ends, axis=1).tolist()) == [[0, 0], [0, 1], [0, 1], [0, 1]]
    assert bits_of(left, graph.n_slots, variant).all()


@pytest.fixture
def eager() -> Iterator[None]:
    """Let small graphs be contracted as large ones are."""
    with bounds(series_from=1):
        yield


@pytest.mark.usefixtures("eager")
@on_every_device
@pytest.mark.parametrize("maximum", [False, True])
def test_rounds_by_chains(variant: Device, maximum: bool) -> None:
    """Rounds of several dtypes from host and device, and updates."""
    rng = np.random.default_rng(2)
    graph = with_chains(rng, 60, 90, 6)
    solver = RepeatedSolver(graph, devices=variant, options=GPU, maximum=maximum)
    for dtype in ("f4", "f8", "i4", "i8"):
        weights = rng.integers(0, 1000, solver.n_edges).astype(dtype)
        forest = check(solver, weights)
        assert forest.stats["series_contraction"]["edges"] < 0.7 * solver.n_edges
        check(solver, weights, solver.solve(DeviceArray.from_host(weights, variant)))
        weights[:40] = 7
        check(solver, weights, solver.update(np.arange(40), weights[:40]))


@examples(share=4 / 3)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.tuples(st.integers(1, 30), st.integers(0, 45)),
    longest=st.integers(1, 6),
)
def test_any_graph(seed: int, size: tuple[int, int], longest: int) -> None:
    """Loops, parallel chains, cycles that nothing leads to, many equal weights."""
    graph, device = with_chains(np.random.default_rng(seed), *size, longest), clmst.get_device()
    if graph.n_slots:
        chains = SeriesContraction(maximum=False, always=True)
        found = chains.solve(resident(graph, device), Launcher(device, device.queue))
        assert found is not None
        assert graph.edge_ids is not None
        ids = graph.edge_ids[np.flatnonzero(found.in_forest.to_host())]
        np.testing.assert_array_equal(ids, clmst.kruskal(graph).edge_ids)


def test_not_where_few_are_left_out(any_device: Device) -> None:
    """It is left out for small graphs, for few chains, and if options or algorithms are given."""
    rng = np.random.default_rng(3)
    few = with_chains(rng, 60, 90, 6)
    weights = rng.random(few.n_input)

    def is_by_chains(graph: Graph, **options: Any) -> bool:
        with RepeatedSolver(graph, devices=any_device, **options) as solver:
            forest = solver.solve(np.resize(weights, solver.n_edges))
        return "series_contraction" in forest.stats

    assert not is_by_chains(few, options=GPU)
    dense = Graph.from_edges(*rng.integers(0, 40, (2, 300)))
    grid = clmst.generate("grid", rows=30, columns=30, seed=1)
    with bounds(series_from=1):
        assert is_by_chains(few, options=GPU)
        assert not is_by_chains(few, algorithm="ecl")
        assert not is_by_chains(few, options=FilterBoruvkaOptions(targets=()))
        assert not is_by_chains(dense, options=GPU)
        assert not is_by_chains(grid, options=GPU)
