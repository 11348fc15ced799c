"""The oracle against exhaustive search, NetworkX and its own definition."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core import kruskal as kruskal_module
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from tests.strategies import (
    LAYOUTS,
    WEIGHT_DTYPES,
    EdgeArrays,
    edge_arrays,
    graphs,
    special_weights,
)

both = pytest.mark.parametrize("maximum", [False, True])


def ranked_edges(graph: Graph, *, maximum: bool) -> list[tuple[int, int, int]]:
    """Return (u, v, canonical number), the best edge first, by Python's exact comparison."""
    u, v, w, _ = (x.tolist() for x in graph.edges())
    sign = -1 if maximum else 1
    numbers = sorted(range(len(u)), key=lambda k: (sign * w[k], k))
    return [(u[k], v[k], k) for k in numbers]


def exhaustive(graph: Graph, *, maximum: bool) -> list[int]:
    """Return the canonical numbers of the best of all spanning forests, by trying every one.

    With 2**rank as weights no two sets of edges tie, and the least sum is the unique forest.
    """
    ranked = ranked_edges(graph, maximum=maximum)
    whole = nx.empty_graph(graph.n_vertices)
    whole.add_edges_from((u, v) for u, v, _ in ranked)
    size = graph.n_vertices - nx.number_connected_components(whole)
    best: tuple[int, list[int]] | None = None
    for chosen in combinations(range(len(ranked)), size):
        forest = nx.empty_graph(graph.n_vertices)
        forest.add_edges_from(ranked[r][:2] for r in chosen)
        if nx.number_connected_components(forest) == graph.n_vertices - size:
            cost = sum(1 << r for r in chosen)
            if best is None or cost < best[0]:
                best = cost, sorted(ranked[r][2] for r in chosen)
    return best[1] if best else []


def by_union_find(graph: Graph, *, maximum: bool) -> list[int]:
    """Return the canonical numbers of the forest by Kruskal's algorithm, word for word."""
    parent = list(range(graph.n_vertices))
    chosen = []
    for u, v, k in ranked_edges(graph, maximum=maximum):
        x, y = u, v
        while parent[x] != x:
            x = parent[x]
        while parent[y] != y:
            y = parent[y]
        if x != y:
            parent[x] = y
            chosen.append(k)
    return sorted(chosen)


@both
@given(graphs(max_vertices=5, max_edges=8))
def test_best_of_all_spanning_forests(maximum: bool, graph: Graph) -> None:
    forest = kruskal(graph, maximum=maximum)
    assert forest.edge_ids.tolist() == graph.edges()[3][exhaustive(graph, maximum=maximum)].tolist()


@both
@given(graphs(max_vertices=60, max_edges=200))
def test_kruskal_word_for_word(maximum: bool, graph: Graph) -> None:
    u, v, w, ids = graph.edges()
    forest = kruskal(graph, maximum=maximum)
    chosen = by_union_find(graph, maximum=maximum)
    np.testing.assert_array_equal(forest.edges, np.column_stack((u, v))[chosen])
    np.testing.assert_array_equal(forest.weights, w[chosen])
    np.testing.assert_array_equal(forest.edge_ids, ids[chosen])
    assert forest.edges.dtype == np.int32
    assert forest.weights.dtype == graph.weights.dtype
    assert (forest.n_vertices, forest.maximum) == (graph.n_vertices, maximum)
    assert forest.stats["algorithm"] == "kruskal"


@given(edge_arrays(dtypes=[np.dtype("i4"), np.dtype("u1")], max_vertices=30, max_edges=80))
def test_same_weight_as_networkx(raw: EdgeArrays) -> None:
    G = nx.MultiGraph()
    G.add_nodes_from(range(raw.n))
    ends = zip(raw.u.tolist(), raw.v.tolist(), raw.w.tolist(), strict=True)
    G.add_weighted_edges_from(ends)
    for maximum, theirs in ((False, nx.minimum_spanning_tree), (True, nx.maximum_spanning_tree)):
        expected = sum(w for _, _, w in theirs(G).edges(data="weight"))
        assert kruskal(raw.graph(), maximum=maximum).total_weight == expected


@both
@given(edge_arrays())
def test_every_layout_gives_the_same_edges(maximum: bool, raw: EdgeArrays) -> None:
    forests = [kruskal(raw.graph(layout), maximum=maximum) for layout in LAYOUTS]
    for forest in forests[1:]:
        np.testing.assert_array_equal(forest.edges, forests[0].edges)
        np.testing.assert_array_equal(forest.weights, forests[0].weights)


@both
def test_ties_go_to_the_least_edge_in_both_directions(maximum: bool) -> None:
    """A maximum forest is not the mirror of a minimum one: its ties still go to the least id."""
    graph = Graph.from_edges([2, 0, 0, 1], [3, 3, 1, 2], [7, 7, 7, 7])
    forest = kruskal(graph, maximum=maximum)
    assert forest.edges.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert forest.edge_ids.tolist() == [2, 1, 3]


@both
def test_of_parallel_edges_the_best_then_the_first(maximum: bool) -> None:
    graph = Graph.from_edges([0, 1, 0, 1], [1, 0, 1, 0], [5, 3, 3, 5])
    assert kruskal(graph, maximum=maximum).edge_ids.tolist() == [0 if maximum else 1]


@both
@pytest.mark.parametrize("dtype", WEIGHT_DTYPES, ids=str)
def test_extremes_of_every_dtype_are_distinguished(maximum: bool, dtype: np.dtype[Any]) -> None:
    """Each parallel pair holds neighbours in value; as float64 some of them would tie."""
    special = special_weights(dtype)
    lighter, heavier = special[:-1], special[1:]
    n = lighter.size
    u = np.tile(np.arange(n), 2)
    for first, second in ((lighter, heavier), (heavier, lighter)):
        forest = kruskal(
            Graph.from_edges(u, u + 1, np.concatenate([first, second])), maximum=maximum
        )
        wanted = heavier if maximum else lighter
        np.testing.assert_array_equal(forest.weights, wanted)
        ties = lighter == heavier  # -0.0 and 0.0
        assert forest.edge_ids[ties].tolist() == np.flatnonzero(ties).tolist()


@both
def test_minus_zero_ties_with_zero(maximum: bool) -> None:
    for weights in ([0.0, -0.0], [-0.0, 0.0]):
        for dtype in ("f2", "f4", "f8"):
            graph = Graph.from_edges([0, 0], [1, 1], np.array(weights, dtype))
            assert kruskal(graph, maximum=maximum).edge_ids.tolist() == [0]


@given(st.sampled_from(["f2", "f4", "f8"]))
def test_infinities_are_ordinary_weights(dtype: str) -> None:
    w = np.array([np.inf, 1, -np.inf], dtype)
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], w)
    assert kruskal(graph).weights.tolist() == [-np.inf, 1]
    assert kruskal(graph, maximum=True).weights.tolist() == [np.inf, 1]
    assert kruskal(Graph.from_edges([0], [1], w[:1])).weights.tolist() == [np.inf]


def test_labels_travel_along() -> None:
    graph = Graph.from_edges([0], [1]).replace(vertex_labels=("x", "y"))
    assert kruskal(graph).vertex_labels == ("x", "y")


@both
@given(edge_arrays(max_vertices=12, max_edges=40))
def test_entries_of_a_csr_in_any_form(maximum: bool, raw: EdgeArrays) -> None:
    """Rows that fall, loops, both directions: every entry is an edge, ties go to the first."""
    order = np.argsort(raw.u, kind="stable")
    u, v, w = raw.u[order].tolist(), raw.v[order], raw.w[order]
    starts = np.searchsorted(u, np.arange(raw.n + 1))
    trees, expected = list(range(raw.n)), []
    for k in sorted(range(len(u)), key=lambda k: (-w[k].item() if maximum else w[k].item(), k)):
        one, other = trees[u[k]], trees[v[k]]
        if one != other:
            trees = [one if tree == other else tree for tree in trees]
            expected.append(k)
    found = kruskal_module.forest_positions(raw.n, starts, v, w, maximum=maximum)
    assert found.tolist() == sorted(expected)


@both
@pytest.mark.parametrize("order", ["rising", "falling", "equal", "one falls"])
def test_weights_in_order_are_not_sorted(maximum: bool, order: str) -> None:
    """They go another way, which must end at the same edges."""
    rng = np.random.default_rng(0)
    u, v = np.sort(rng.integers(0, 40, (2, 300)), axis=0)
    graph = Graph.from_edges(u, v, n_vertices=40)
    w = np.sort(rng.integers(0, 50, graph.n_slots))
    if order == "falling":
        w = w[::-1].copy()
    if order == "equal":
        w[:] = 7
    if order == "one falls":
        w[-1] = 0
    graph = graph.replace(weights=w)
    chosen = by_union_find(graph, maximum=maximum)
    assert kruskal(graph, maximum=maximum).edge_ids.tolist() == graph.edges()[3][chosen].tolist()


def test_too_many_vertices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy would count round the corner of int32: an edge is two entries there."""
    monkeypatch.setattr(kruskal_module, "_SCIPY_LIMIT", 4)
    assert kruskal(Graph.from_edges([0], [1])).n_edges == 1
    with pytest.raises(InvalidArgumentError, match=r"has 3 vertices and 1 edges; .* may be"):
        kruskal(Graph.from_edges([0], [2]))
