"""Matrices of distances as graphs: square, condensed and sparse ones, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import distance

from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.core.weight_keys import Array


def checked_graph(graph: Any) -> Any:
    """Return a graph, or raise if one of its weights is no distance."""
    weights = None if isinstance(graph, Points) else graph.weights
    if weights is not None and weights.size and weights.dtype.kind != "u" and weights.min() < 0:
        lightest = int(weights.argmin())
        if isinstance(graph, DenseGraph):
            place, (u, v) = "cell", divmod(lightest, weights.shape[1])
        else:
            place, (u, v) = "edge", _ends_of_slot(graph, lightest)
        raise InvalidGraphError(
            f"{place} ({u}, {v}) has the weight {weights.flat[lightest]}; distances are not "
            "negative"
        )
    return graph


def _ends_of_slot(graph: Graph, slot: int) -> tuple[int, int]:
    """Return the row and the column of a stored entry."""
    row = int(np.searchsorted(graph.indptr, slot, side="right")) - 1
    return row, int(graph.indices[slot])


def of_sparse(matrix: Any) -> Graph:
    """Return a sparse matrix of distances as a graph; one direction of an edge is enough.

    If both are stored they may differ as rounding makes them differ: the lesser counts.
    """
    if len(set(matrix.shape)) != 1:
        raise InvalidGraphError(
            f"the sparse matrix X has shape {matrix.shape}; a sparse matrix has distances and must "
            "be square, so points must be given as an array, X.toarray()"
        )
    graph: Graph = checked_graph(Graph.from_scipy(matrix))
    if not graph.is_symmetric and graph.weights.size < matrix.nnz:
        _check_both_directions(graph, matrix.tocoo())
    return graph


def _check_both_directions(graph: Graph, stored: Any) -> None:
    """Raise if an edge is farther one way than the other, of which the graph has the lesser."""
    n, is_edge = np.uint64(graph.n_vertices), stored.row != stored.col
    u, v, given = (array[is_edge] for array in (stored.row, stored.col, stored.data))
    rows = np.repeat(np.arange(graph.n_vertices, dtype=np.uint64), np.diff(graph.indptr))
    low, high = (f(u, v).astype(np.uint64) for f in (np.minimum, np.maximum))
    slots = np.searchsorted(rows * n + graph.indices.astype(np.uint64), low * n + high)
    lesser = graph.weights[slots]
    wrong = np.flatnonzero(
        ~np.isclose(given, lesser) if given.dtype.kind == "f" else given != lesser
    )
    if wrong.size:
        at = wrong[0]
        raise InvalidGraphError(
            f"cell ({u[at]}, {v[at]}) of the sparse distance matrix is {given[at]} but ({v[at]}, "
            f"{u[at]}) is {lesser[at]}; both must be equal, or one of them not stored"
        )


def precomputed(array: Array) -> DenseGraph:
    """Return a matrix of distances, square or condensed, as a graph.

    Cells (i, j) and (j, i) may differ as rounding makes them differ: the lesser counts.
    """
    if array.ndim == 1 and array.size:
        try:
            array = distance.squareform(array)
        except ValueError as error:
            raise InvalidGraphError(
                f"there are {array.size} condensed distances; n points have n * (n - 1) / 2"
            ) from error
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InvalidGraphError(
            f"the precomputed distance matrix has shape {array.shape}; it must be square, or "
            "condensed as SciPy's pdist makes it"
        )
    if array.dtype.kind == "f":
        check_nearly_symmetric(array)
    graph = DenseGraph(array, symmetrize=array.dtype.kind == "f")
    checked_graph(graph)
    return graph


def check_nearly_symmetric(array: Array) -> None:
    """Raise if a matrix has a NaN, or differs from its transpose by more than rounding."""
    wrong = np.argwhere(np.isnan(array))
    if wrong.size:
        i, j = wrong[0].tolist()
        raise InvalidGraphError(f"cell ({i}, {j}) of the matrix is NaN; distances must be ordered")
    if not np.allclose(array, array.T):
        i, j = np.argwhere(~np.isclose(array, array.T))[0].tolist()
        raise InvalidGraphError(
            f"cell ({i}, {j}) of the precomputed distance matrix is {array[i, j]} but ({j}, {i}) "
            f"is {array[j, i]}; its values must be symmetric"
        )
