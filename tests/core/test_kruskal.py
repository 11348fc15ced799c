"""The oracle against exhaustive search and its own definition."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from clmst.core import kruskal as kruskal_module
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from tests.helpers.forests import by_definition
from tests.helpers.strategies import (
    LAYOUTS,
    WEIGHT_DTYPES,
    EdgeArrays,
    edge_arrays,
    graphs,
    special_weights,
)

both = pytest.mark.parametrize("maximum", [False, True])


def exhaustive(graph: Graph, *, maximum: bool) -> list[int]:
    """Return the canonical numbers of the best of all spanning forests, by trying every one.

    With 2**rank as weights no two sets of edges tie, and the least sum is the unique forest.
    """
    u, v, w, _ = (x.tolist() for x in graph.edges())
    sign = -1 if maximum else 1
    ranked = sorted(range(len(u)), key=lambda k: (sign * w[k], k))
    whole = nx.empty_graph(graph.n_vertices)
    whole.add_edges_from(zip(u, v, strict=True))
    size = graph.n_vertices - nx.number_connected_components(whole)
    best: tuple[int, list[int]] | None = None
    for chosen in combinations(range(len(ranked)), size):
        forest = nx.empty_graph(graph.n_vertices)
        forest.add_edges_from((u[ranked[r]], v[ranked[r]]) for r in chosen)
        if nx.number_connected_components(forest) == graph.n_vertices - size:
            cost = sum(1 << r for r in chosen)
            if best is None or cost < best[0]:
                best = cost, sorted(ranked[r] for r in chosen)
    return best[1] if best else []


@both
@given(graphs(max_vertices=5, max_edges=8))
def test_best_of_all_spanning_forests(maximum: bool, graph: Graph) -> None:
    forest = kruskal(graph, maximum=maximum)
    assert forest.edge_ids.tolist() == graph.edges()[3][exhaustive(graph, maximum=maximum)].tolist()


def assert_by_definition(graph: Graph, *, maximum: bool) -> None:
    """Assert that each attribute equals the forest's by definition."""
    u, v, w, ids = graph.edges()
    forest = kruskal(graph, maximum=maximum)
    chosen = by_definition(graph.n_vertices, u, v, w, maximum=maximum)
    np.testing.assert_array_equal(forest.edges, np.column_stack((u, v))[chosen])
    np.testing.assert_array_equal(forest.weights, w[chosen])
    np.testing.assert_array_equal(forest.edge_ids, ids[chosen])
    assert forest.edges.dtype == np.int32
    assert forest.weights.dtype == graph.weights.dtype
    assert (forest.n_vertices, forest.maximum) == (graph.n_vertices, maximum)
    assert forest.stats["algorithm"] == "kruskal"


@both
@given(graphs(max_vertices=60, max_edges=200))
def test_kruskal_word_for_word(maximum: bool, graph: Graph) -> None:
    """Ties, zeros of both signs, infinities, parallel edges, every dtype and layout."""
    assert_by_definition(graph, maximum=maximum)


@both
@given(edge_arrays())
def test_every_layout_gives_the_same_edges(maximum: bool, raw: EdgeArrays) -> None:
    forests = [kruskal(raw.graph(layout), maximum=maximum) for layout in LAYOUTS]
    for forest in forests[1:]:
        np.testing.assert_array_equal(forest.edges, forests[0].edges)
        np.testing.assert_array_equal(forest.weights, forests[0].weights)


@both
@pytest.mark.parametrize("order", ["rising", "falling", "equal", "one falls"])
def test_weights_in_order_are_not_sorted(maximum: bool, order: str) -> None:
    """They go another way, which must end at the same edges."""
    rng = np.random.default_rng(0)
    u, v = np.sort(rng.integers(0, 40, (2, 300)), axis=0)
    graph = Graph.from_edges(u, v, n_vertices=40)
    w = np.sort(rng.integers(0, 50, graph.n_slots))
    changed = {"rising": w, "falling": w[::-1].copy(), "equal": 0 * w, "one falls": np.append(w, 0)}
    graph = graph.replace(weights=changed[order][-graph.n_slots :])
    assert_by_definition(graph, maximum=maximum)


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
@given(edge_arrays(max_vertices=12, max_edges=40))
def test_entries_of_a_csr_in_any_form(maximum: bool, raw: EdgeArrays) -> None:
    """Rows that fall, loops, both directions: every entry is an edge, ties go to the first."""
    order = np.argsort(raw.u, kind="stable")
    u, v, w = raw.u[order], raw.v[order], raw.w[order]
    starts = np.searchsorted(u, np.arange(raw.n + 1))
    found = kruskal_module.forest_positions(raw.n, starts, v, w, maximum=maximum)
    assert found.tolist() == by_definition(raw.n, u, v, w, maximum=maximum)


def test_too_many_vertices_are_refused() -> None:
    """SciPy would count round the corner of int32: an edge is two entries there."""
    starts, columns, weights = np.array([0, 1]), np.zeros(1, np.uint32), np.ones(1)
    assert kruskal_module.forest_positions(1, starts, columns, weights).size == 0
    with pytest.raises(InvalidArgumentError, match=r"has 2147483646 vertices and 1 edges; .* may"):
        kruskal_module.forest_positions(2**31 - 2, starts, columns, weights)
    no_edges = starts[:1], columns[:0], weights[:0]
    assert kruskal_module.forest_positions(2**31 - 1, *no_edges).size == 0
    with pytest.raises(InvalidArgumentError, match=r"has 2147483648 vertices and 0 edges; .* may"):
        kruskal_module.forest_positions(2**31, *no_edges)
