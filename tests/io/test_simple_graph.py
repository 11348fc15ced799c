"""What is written of a graph."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.io.simple_graph import simple_edges
from tests.io.files import lightest, weight_by_edge
from tests.strategies import EdgeArrays, edge_arrays


@given(edge_arrays())
def test_the_lightest_of_parallel_edges_stays(raw: EdgeArrays) -> None:
    edges = simple_edges(raw.graph())
    found = zip(edges.u.tolist(), edges.v.tolist(), edges.weights.tolist(), strict=True)
    assert {(u, v): w for u, v, w in found} == lightest(raw)
    assert edges.u.size == len(lightest(raw))


@given(edge_arrays())
def test_the_matrix_is_that_of_the_same_graph_and_forest(raw: EdgeArrays) -> None:
    edges = simple_edges(raw.graph())
    graph = Graph.from_csr(*edges.symmetric_csr())
    assert graph.is_symmetric or graph.n_slots == 0
    assert weight_by_edge(graph) == lightest(raw)
    forest, expected = kruskal(graph), kruskal(raw.graph())
    np.testing.assert_array_equal(forest.edges, expected.edges)
    np.testing.assert_array_equal(forest.weights, expected.weights)
