"""Cuts of forests: the clusters at heights, and numbers of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import clmst
from clmst import Graph
from tests.helpers.strategies import graphs


def components(forest: clmst.Forest, kept: np.ndarray) -> np.ndarray:
    u, v = forest.edges[kept].T
    n = forest.n_vertices
    matrix = sparse.coo_array((np.ones(u.size), (u, v)), shape=(n, n))
    labels: np.ndarray = connected_components(matrix, directed=False)[1]
    return labels


@given(graph=graphs())
@pytest.mark.parametrize("maximum", [False, True])
def test_cut_at_heights(graph: Graph, maximum: bool) -> None:
    """A row for each height, whatever their order; each by definition."""
    forest = clmst.kruskal(graph, maximum=maximum)
    weights = forest.weights
    heights = np.concatenate([weights[::3], np.zeros(1, weights.dtype), weights[:2]])
    rows = forest.cut(height=heights)
    assert rows.shape == (heights.size, graph.n_vertices)
    for height, row in zip(heights, rows, strict=True):
        kept = weights >= height if maximum else weights <= height
        np.testing.assert_array_equal(row, components(forest, kept))
        np.testing.assert_array_equal(forest.cut(height=height), row)


@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("dtype", ["u8", "i8"])
def test_heights_are_compared_exactly(dtype: str, maximum: bool) -> None:
    """Also labels of another dtype than 64-bit integers, as Python's are: not as floats."""
    first = 2**62 + 1
    weights = np.array([first + k for k in range(4)], dtype)
    graph = Graph.from_edges(np.arange(4), np.arange(1, 5), weights)
    forest = clmst.kruskal(graph, maximum=maximum)
    for height in (*(first + k for k in range(-1, 5)), 2.0**62, 2.0**62 + 1024, -1, -1e300, 1e300,
                   np.inf, -np.inf, 0.5, first + 0.5):  # fmt: skip
        kept = np.array([w >= height if maximum else w <= height for w in weights.tolist()])
        found = forest.cut(height=height)
        np.testing.assert_array_equal(found, components(forest, kept))
        np.testing.assert_array_equal(forest.cut(height=[height]), found[None])
    if dtype == "i8":  # NumPy's unsigned ones
        found = forest.cut(height=np.uint64(2**63 + 5))
        assert found.tolist() == ([0, 1, 2, 3, 4] if maximum else [0] * 5)


@given(graph=graphs())
def test_cut_into_so_many(graph: Graph) -> None:
    forest = clmst.kruskal(graph)
    most, least = forest.n_vertices, forest.n_components
    counts = np.linspace(most, least, 4).astype(int)
    rows = forest.cut(k=counts)
    assert [len(set(row.tolist())) for row in rows] == counts.tolist()
    np.testing.assert_array_equal(rows[-1], forest.labels)
    np.testing.assert_array_equal(forest.cut(k=int(counts[1])), rows[1])
