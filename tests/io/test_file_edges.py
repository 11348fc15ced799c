"""What is written of a graph, and how."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given

from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.io import file_edges
from clmst.io.file_edges import FileEdges, write_rows
from tests.io.files import lightest, weight_by_edge
from tests.strategies import EdgeArrays, edge_arrays


@given(edge_arrays())
def test_the_lightest_of_parallel_edges_stays(raw: EdgeArrays) -> None:
    edges = FileEdges.of_graph(raw.graph())
    found = zip(edges.u.tolist(), edges.v.tolist(), edges.weights.tolist(), strict=True)
    assert {(u, v): w for u, v, w in found} == lightest(raw)
    assert edges.u.size == len(lightest(raw))


@given(edge_arrays())
def test_the_matrix_is_that_of_the_same_graph_and_forest(raw: EdgeArrays) -> None:
    graph = Graph.from_csr(*FileEdges.of_graph(raw.graph()).symmetric_csr())
    assert graph.is_symmetric or graph.n_slots == 0
    assert weight_by_edge(graph) == lightest(raw)
    forest, expected = kruskal(graph), kruskal(raw.graph())
    np.testing.assert_array_equal(forest.edges, expected.edges)
    np.testing.assert_array_equal(forest.weights, expected.weights)


def test_rows_are_written_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_edges, "_ROWS_AT_ONCE", 2)
    stream = BytesIO()
    write_rows(stream, "%d:%r\n", np.arange(5, dtype=np.uint32), np.linspace(0, 1, 5))
    assert stream.getvalue() == b"0:0.0\n1:0.25\n2:0.5\n3:0.75\n4:1.0\n"


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.array([True, False]), ["1", "0"]),
        (np.array([2**64 - 1, 0], np.uint64), ["18446744073709551615", "0"]),
        (np.array([0.1, np.inf]), ["0.1", "inf"]),
        (np.array([0.1, -0.0], np.float32), ["0.10000000149011612", "-0.0"]),
        (np.array([0.1, 6e-8], np.float16), ["0.0999755859375", "5.960464477539063e-08"]),
    ],
)
def test_weights_are_written_exactly(weights: np.ndarray, words: list[str]) -> None:
    stream = BytesIO()
    edges = FileEdges.of_graph(Graph.from_edges([0, 1], [1, 2], weights))
    write_rows(stream, "%r\n", edges.weights)
    assert stream.getvalue().decode().split() == words
