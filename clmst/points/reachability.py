"""Mutual reachability: distances of HDBSCAN, of points, of a matrix and of a sparse graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.core_distances import core_distances
from clmst.points.stored_core_distances import core_of_edges, core_of_matrix

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
            f"min_samples ({min_samples}) must be at most the number of points, and X has "
            f"{graph.n_vertices} sample{'s' * (graph.n_vertices != 1)}; it is min_cluster_size "
            "unless it is given"
        )
    if isinstance(graph, Points):
        if graph.metric not in _WITH_CORE:
            u, v = np.triu_indices(graph.n_vertices, 1)
            return _of_matrix(squareform(graph.weights_of(u, v)), min_samples)
        core = core_distances(graph, min_samples, device=device) * alpha
        return graph.with_core_distances(core)
    if isinstance(graph, DenseGraph):
        return _of_matrix(graph.weights, min_samples)
    return _of_edges(graph, min_samples)


def _of_matrix(weights: Array, min_samples: int) -> DenseGraph:
    """Return the graph of a matrix of distances, whose diagonal counts as 0."""
    mutual = weights.astype(np.result_type(weights, np.float32))
    np.fill_diagonal(mutual, 0)
    core = core_of_matrix(mutual, min_samples).astype(mutual.dtype)
    np.maximum(mutual, core, out=mutual)
    np.maximum(mutual, core[:, None], out=mutual)
    return DenseGraph(mutual)


def _of_edges(graph: Graph, min_samples: int) -> Graph:
    """Return a graph with the same edges. Memory: a few words an edge."""
    both = graph.symmetrised()
    core = core_of_edges(both, min_samples)
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(graph.indptr))
    mutual = graph.weights.astype(np.float64)
    np.maximum(mutual, core[rows], out=mutual)
    np.maximum(mutual, core[graph.indices], out=mutual)
    return graph.replace_unchecked(weights=mutual)
