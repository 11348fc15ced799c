"""The input of HDBSCAN: points with gaps, distances, or a graph; and its spanning forest."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clmst.api import minimum_spanning_forest
from clmst.core import from_scipy
from clmst.core.arguments import has
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.points import Points, are_finite
from clmst.core.weight_keys import Array
from clmst.points.core_distances import reachability_graph
from clmst.points.inputs import as_rows, graph_of

if TYPE_CHECKING:
    from clmst.points.hdbscan import HDBSCAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """The distances of points, rows that are not finite left out."""

    graph: Any  # of the finite rows
    n_rows: int  # all rows
    finite: npt.NDArray[np.int64]  # shape (n,): the rows of the graph's vertices
    missing: npt.NDArray[np.int64]  # rows with a NaN
    n_features: int | None  # coordinates of a row; None if distances were given
    rows: Array | None  # the finite ones


def distances_of(X: Any, model: HDBSCAN) -> Distances:
    """Return what the model is given, checked."""
    is_precomputed = isinstance(model.metric, str) and model.metric == "precomputed"
    is_own = isinstance(X, Graph | DenseGraph) or (is_precomputed and sparse.issparse(X))
    if is_precomputed or is_own:
        if model.store_centers is not None:
            raise InvalidArgumentError(
                f"store_centers is {model.store_centers!r}, and distances are precomputed; centers "
                "need points"
            )
        return _complete(graph_of(X, "precomputed"), rows=None)
    if isinstance(X, Points):
        return _complete(X, rows=X.coordinates)
    if sparse.issparse(X):
        if model.algorithm in ("kd_tree", "ball_tree"):
            raise InvalidArgumentError(
                f"algorithm is {model.algorithm!r}, and X is sparse; sparse points take 'auto' or "
                "'brute'"
            )
        X = _filled(X)
    elif not (isinstance(X, np.ndarray | list | tuple) or has(X, "columns", "iloc")):
        return _complete(graph_of(X, "precomputed"), rows=None)
    return _of_rows(as_rows(X), model)


def _filled(matrix: Any) -> Array:
    """Return a sparse matrix with its zeros, or raise unless its arrays are sound."""
    indptr, indices, data, shape = from_scipy.csr_parts(matrix, square=False)
    from_scipy.check_parts("csr", shape, {"indptr": indptr, "indices": indices, "data": data})
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    filled = np.zeros(shape)
    np.add.at(filled, (rows, indices), data)
    return filled


def _complete(graph: Any, *, rows: Array | None) -> Distances:
    n = graph.n_vertices
    if n == 0:
        raise InvalidGraphError("there are no points; a clustering takes one at least")
    features = None if rows is None else int(rows.shape[1])
    none, every = np.zeros(0, np.int64), np.arange(n)
    return Distances(
        graph=graph, n_rows=n, finite=every, missing=none, n_features=features, rows=rows
    )


def _of_rows(array: Array, model: HDBSCAN) -> Distances:
    """Return the distances of rows without NaN and infinite coordinates."""
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not array.shape[1]:
        raise InvalidGraphError(
            f"X has shape {array.shape} and dtype {array.dtype}; points are rows of real numbers"
        )
    rows = array.astype(np.float64, copy=False)
    finite, missing = np.arange(rows.shape[0]), np.zeros(0, np.int64)
    if not are_finite(rows):
        finite = np.flatnonzero(np.isfinite(rows).all(axis=1))
        missing = np.flatnonzero(np.isnan(rows).any(axis=1))
    if not finite.size:
        raise InvalidGraphError(
            f"X has {rows.shape[0]} rows, of which none is finite; a clustering takes one at least"
        )
    rows = rows[finite] if finite.size < rows.shape[0] else rows
    return Distances(
        graph=graph_of(rows, model.metric, model.metric_params),
        n_rows=array.shape[0],
        finite=finite,
        missing=missing,
        n_features=array.shape[1],
        rows=rows,
    )


def spanning_forest(given: Distances, model: HDBSCAN) -> Forest:
    """Return the minimum spanning forest of mutual reachability.

    Points compare ``max(d / alpha, core)`` as ``max(d, alpha * core)``, and divide at the end;
    stored distances are divided before.
    """
    graph, alpha = given.graph, float(model.alpha)
    min_samples = index(model.min_cluster_size if model.min_samples is None else model.min_samples)
    of_points = isinstance(graph, Points)
    if alpha != 1 and isinstance(graph, DenseGraph):
        graph = DenseGraph(graph.weights / alpha)
    elif alpha != 1 and not of_points:
        graph = graph.replace_unchecked(weights=graph.weights / alpha)
    mutual = reachability_graph(graph, min_samples, model.device, alpha=alpha)
    forest = minimum_spanning_forest(mutual, device=model.device)
    if alpha == 1 or not of_points:
        return forest
    return Forest(
        n_vertices=forest.n_vertices,
        edges=forest.edges,
        weights=forest.weights / alpha,
        edge_ids=forest.edge_ids,
        stats=forest.stats,
    )
