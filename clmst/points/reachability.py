"""Mutual reachability: distances of HDBSCAN, of points, of a matrix and of a sparse graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.core_distances import core_distances

_CELLS_AT_ONCE = 1 << 22
_WITH_CORE = ("euclidean", "manhattan", "chebyshev", "cosine")  # the metrics of Points that can


def reachability_graph(graph: Any, min_samples: int, device: Any, *, alpha: float = 1.0) -> Any:
    """Return a graph with mutual reachability for its weights, times `alpha` for points.

    The weight of (u, v) is the greatest of the distance and the core distances of both: how far
    their `min_samples`-th nearest point is, they themselves being their first.

    Raises
    ------
    InvalidArgumentError
        `min_samples` is greater than the number of points.
    InvalidGraphError
        A point of a sparse graph has fewer neighbours.
    """
    if min_samples > graph.n_vertices:
        raise InvalidArgumentError(
            f"min_samples ({min_samples}) must be at most the number of points, {graph.n_vertices}"
        )
    if isinstance(graph, Points):
        if graph.metric not in _WITH_CORE:
            u, v = np.triu_indices(graph.n_vertices, 1)
            return _of_matrix(squareform(graph.weights_of(u, v)), min_samples)
        core = core_distances(graph, min_samples, device=device) * alpha
        return Points(graph.coordinates, graph.metric, core_distances=core)
    if isinstance(graph, DenseGraph):
        return _of_matrix(graph.weights, min_samples)
    return _of_edges(graph, min_samples)


def _of_matrix(weights: Array, min_samples: int) -> DenseGraph:
    """Return the graph of a matrix of distances, whose diagonal counts as 0."""
    n = weights.shape[0]
    mutual, core = weights.astype(np.result_type(weights, np.float32)), np.empty(n)
    np.fill_diagonal(mutual, 0)
    rows = max(_CELLS_AT_ONCE // n, 1)
    for first in range(0, n, rows):
        some = slice(first, first + rows)
        core[some] = np.partition(mutual[some], min_samples - 1, axis=1)[:, min_samples - 1]
    core = core.astype(mutual.dtype)
    np.maximum(mutual, core, out=mutual)
    np.maximum(mutual, core[:, None], out=mutual)
    return DenseGraph(mutual)


def _of_edges(graph: Graph, min_samples: int) -> Graph:
    """Return a graph with the same edges. Memory: a few words an edge."""
    both = graph.symmetrised()
    core = _core_of_rows(both, min_samples)
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(graph.indptr))
    mutual = graph.weights.astype(np.float64)
    np.maximum(mutual, core[rows], out=mutual)
    np.maximum(mutual, core[graph.indices], out=mutual)
    return graph.replace_unchecked(weights=mutual)


def _core_of_rows(graph: Graph, min_samples: int) -> Array:
    """Return the core distance of each vertex of a graph that stores both directions."""
    n, core = graph.n_vertices, np.zeros(graph.n_vertices)
    indptr, weights = _without_loops(graph)
    starts, counts = indptr[:-1].astype(np.int64), np.diff(indptr)
    if min_samples == 1:
        return core
    few = np.flatnonzero(counts < min_samples - 1)
    if few.size:
        raise InvalidGraphError(
            f"point {few[0]} has {counts[few[0]]} stored distances, and min_samples is "
            f"{min_samples}; every point must have {min_samples - 1} or more, as it counts itself"
        )
    first = 0
    while first < n:  # whole rows of so many slots at a time
        last = int(np.searchsorted(indptr, starts[first] + _CELLS_AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), n)
        begin, end = int(indptr[first]), int(indptr[last])
        some = weights[begin:end]
        rows = np.repeat(np.arange(last - first), counts[first:last])
        risen = some[np.lexsort((some, rows))]
        core[first:last] = risen[starts[first:last] - begin + min_samples - 2]
        first = last
    return core


def _without_loops(graph: Graph) -> tuple[Array, Array]:
    """Return row offsets and weights of a graph, without its loops."""
    n, counts = graph.n_vertices, np.diff(graph.indptr)
    rows = np.repeat(np.arange(n), counts)
    is_edge = rows != graph.indices
    if is_edge.all():
        return graph.indptr, graph.weights
    counts = np.bincount(rows[is_edge], minlength=n)
    return np.concatenate([[0], np.cumsum(counts)]), graph.weights[is_edge]
