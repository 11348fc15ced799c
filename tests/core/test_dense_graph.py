"""Matrices as graphs: complete ones, masked ones, and what is neither."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csgraph

import clmst
from clmst import DenseGraph, Graph, GraphWarning, InvalidGraphError, kruskal


def symmetric(n: int, dtype: Any = np.int32, *, seed: int = 2) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).integers(0, 100, (n, n)))
    return (upper + upper.T).astype(dtype)


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_every_pair_is_an_edge(n: int) -> None:
    """Zeros too; the diagonal is nothing. Ids are places in SciPy's condensed form."""
    matrix = symmetric(n) // 50
    graph = DenseGraph(matrix).to_graph()
    assert graph.n_edges == DenseGraph(matrix).n_edges == n * (n - 1) // 2
    np.testing.assert_array_equal(graph.weights, matrix[np.triu_indices(n, 1)])
    assert graph.edge_ids is None


def test_rows_or_columns_are_used_as_they_are() -> None:
    matrix = symmetric(20)
    assert DenseGraph(matrix).weights is matrix
    assert np.shares_memory(DenseGraph(np.asfortranarray(matrix)).weights.base, matrix) is False
    by_columns = np.asfortranarray(matrix)
    assert np.shares_memory(DenseGraph(by_columns).weights, by_columns)
    every_other = DenseGraph(matrix[::2, ::2]).weights
    assert every_other.flags.c_contiguous
    np.testing.assert_array_equal(every_other, matrix[::2, ::2])


@pytest.mark.parametrize(("i", "j"), [(0, 1), (3, 700), (1100, 600), (1199, 1198), (2, 2)])
def test_faults_are_found_and_named(i: int, j: int) -> None:
    """In tiles on the diagonal and off it, above and below."""
    matrix = symmetric(1200, np.float32)
    matrix[i, j] = 200
    low, high = sorted((i, j))
    if i != j:
        with pytest.raises(InvalidGraphError, match=rf"cell \(({i}|{j}), ({i}|{j})\).*symmetric"):
            DenseGraph(matrix)
    matrix[i, j] = math.nan
    with pytest.raises(InvalidGraphError, match=rf"cell \({i}, {j}\) of the matrix is NaN"):
        DenseGraph(matrix)
    matrix[low, high] = matrix[high, low] = math.inf
    assert DenseGraph(matrix).weights_of(np.array([low]), np.array([high]))[0] == math.inf


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((3, 4)), "the matrix is 3 x 4; an adjacency matrix must be square"),
        (np.zeros(3), "the array has 1 dimensions"),
        (np.zeros((2, 2), complex), "dtype complex128"),
        (np.ma.masked_equal(np.zeros((2, 2)), 1), "give Graph.from_masked"),
    ],
)
def test_what_is_no_complete_graph(matrix: Any, message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        DenseGraph(matrix)


def test_masked_cells_are_no_edges() -> None:
    """As SciPy has it: csgraph_from_masked; a zero that is not masked is an edge."""
    matrix = symmetric(30, np.float64)
    matrix[matrix < 40] = 0
    matrix[4, 7] = matrix[7, 4] = math.nan
    masked: Any = np.ma.masked_invalid(np.ma.masked_equal(matrix, 0))
    masked.mask[1, 2] = masked.mask[2, 1] = False
    graph = Graph.from_masked(masked)
    u, v, weights, ids = graph.edges()
    theirs = csgraph.csgraph_from_masked(masked)
    assert graph.n_edges == np.count_nonzero(np.triu(~masked.mask, 1))
    assert graph.n_edges <= theirs.nnz
    np.testing.assert_array_equal(weights, matrix[u, v])
    np.testing.assert_array_equal(matrix[np.triu_indices(30, 1)][ids], weights)
    forest = kruskal(graph)
    forest.verify(graph).raise_if_invalid()


@pytest.mark.parametrize("sides", ["upper", "lower", "one cell"])
def test_one_sided_mask(sides: str) -> None:
    """One of the two cells of a pair is enough, whatever stands in the one that is masked."""
    whole = symmetric(9, np.float64)
    mask = {
        "upper": np.tri(9, dtype=bool),
        "lower": ~np.tri(9, k=-1, dtype=bool),
        "one cell": np.eye(9, k=-3, dtype=bool),
    }[sides]
    expected = Graph.from_masked(np.ma.array(whole, mask=np.zeros((9, 9), bool))).edges()
    for hidden in (math.nan, -1.0):
        masked = np.ma.array(np.where(mask, hidden, whole), mask=mask)
        for ours, theirs in zip(Graph.from_masked(masked).edges(), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_plain_matrix_of_mostly_zeros_is_hinted_at() -> None:
    """SciPy takes a zero for no edge; whoever says DenseGraph, or has few zeros, means edges."""
    path = np.zeros((40, 40))
    path[np.arange(39), np.arange(1, 40)] = path[np.arange(1, 40), np.arange(39)] = 3
    with pytest.warns(GraphWarning, match="give scipy.sparse.csr_array") as caught:
        assert clmst.minimum_spanning_forest(path).total_weight == 0
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clmst.minimum_spanning_forest(DenseGraph(path))
        clmst.minimum_spanning_forest(path + 1)
        clmst.minimum_spanning_forest(np.zeros((0, 0)))
        clmst.minimum_spanning_forest(np.zeros((1, 1)))
        points = np.r_[0.0, 0, 1, 2]
        clmst.minimum_spanning_forest(np.abs(points[:, None] - points))


@pytest.mark.parametrize("graph", [DenseGraph(np.ones((3, 3))), clmst.Points(np.zeros((3, 2)))])
@pytest.mark.parametrize(
    ("u", "v", "rule"),
    [
        ([0], [3], "v[0] is 3 in a graph of 3 vertices"),
        ([-1], [0], "u[0] is -1"),
        ([0.5], [0], "u has dtype float64"),
        ([0, 1], [0, 1, 2], "u has shape (2,) but v has (3,)"),
    ],
)
def test_weights_of_pairs_that_there_are_not(graph: Any, u: Any, v: Any, rule: str) -> None:
    with pytest.raises(InvalidGraphError, match=re.escape(rule)):
        graph.weights_of(u, v)
