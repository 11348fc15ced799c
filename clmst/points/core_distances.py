"""Core distances, mutual reachability, and the input of HDBSCAN with its spanning forest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import squareform

from clmst import route
from clmst.algorithms.bvh_boruvka import choice
from clmst.algorithms.bvh_boruvka.hierarchy import hierarchy_of, with_core_distances
from clmst.algorithms.bvh_boruvka.neighbours import distances
from clmst.algorithms.complete import facts_of_complete, way_of_core_distances
from clmst.algorithms.dense import few, tile_pairs
from clmst.algorithms.dense.tiles import PackedPoints
from clmst.api import minimum_spanning_forest
from clmst.core.arguments import check_integer
from clmst.core.coercion import as_graph
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.point_checks import are_finite
from clmst.core.point_rows import check_rows, rows_of
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.inputs import checked_graph, filled, graph_of, is_graph, of_sparse
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import METRICS, DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.trust import NoFamilyLeftError

if TYPE_CHECKING:
    from clmst.points.hdbscan import HDBSCAN

_CELLS_AT_ONCE = 1 << 22
WITH_CORE = ("euclidean", "manhattan", "chebyshev", "cosine")  # the metrics of Points that can


@lasting("computing core distances")
def core_distances(points: Any, min_samples: int, *, device: Any = None) -> npt.NDArray[np.float64]:
    """Return the distance of each point to its `min_samples`-th nearest point.

    The point itself is its first, as scikit-learn's HDBSCAN counts. These are the core distances of
    HDBSCAN; ``Points(coordinates, core_distances=...)`` takes them.

    Parameters
    ----------
    points : Points, DenseGraph, Graph, sparse matrix or array of real numbers, shape (n, d)
        An array is taken as points of the metric "euclidean". A graph or a sparse matrix has
        distances for its weights; of a sparse one every point needs `min_samples` - 1 neighbours.
    min_samples : int
        From 1 to n.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.

    Returns
    -------
    ndarray of float64, shape (n,)
        The same bits on every device.

    Raises
    ------
    InvalidArgumentError
        `min_samples` is less than 1 or greater than the number of points.
    InvalidGraphError
        These are no points, a distance is negative, or a point of a graph has too few neighbours.

    Notes
    -----
    On the device. In two or three dimensions, and in up to twelve where there are many points, by a
    hierarchy of boxes: O(n log n) work for points that are spread evenly; at most O(n**2). In
    others, and for few points on GPUs, by tiles of all pairs, nearly all of them in float32:
    O(n**2 d) work, and 16 d + 8 min_samples bytes a point. The host compares all pairs where the
    device has no arithmetic on doubles, for `min_samples` above 257 where a device is trusted with
    hierarchies alone, and for "great-circle", "haversine" and "rounded-euclidean".

    Examples
    --------
    >>> import clmst
    >>> clmst.core_distances([[0, 0], [0, 3], [4, 3]], 2)
    array([3., 3., 4.])
    """
    if sparse.issparse(points):
        points = of_sparse(points)
    elif is_graph(points):
        points = as_graph(points)
    else:
        points = Points(rows_of("points", points))
    n = points.n_vertices
    min_samples = check_integer("min_samples", min_samples, low=1, high=max(n, 1))
    found = get_device(device)
    if isinstance(points, DenseGraph):
        return core_of_matrix(checked_graph(points).weights, min_samples)
    if isinstance(points, Graph):
        return core_of_edges(checked_graph(points).symmetrised(), min_samples)
    return _of_points(points, min_samples, found)[0]


def _of_points(
    points: Points, min_samples: int, device: Device
) -> tuple[npt.NDArray[np.float64], DeviceMatrix | None]:
    """Return core distances, and the points on the device where their hierarchy found them."""
    plain, n, k = points.with_core_distances(None), points.n_vertices, min_samples - 1
    if k == 0 or n == 0:
        return np.zeros(n), None
    if choice.takes(plain) and device.capabilities.doubles:
        matrix, launch = DeviceMatrix.upload(plain, device), Launcher(device, device.queue)
        way = way_of_core_distances(matrix, k)
        with device.lock, Guard(device):
            if way == route.TURNS:
                return few.MutualReachability(matrix, k, launch).core_distances(), None
            if way == route.TILES:
                packed = PackedPoints.upload(matrix, launch, neighbours=True)
                found = tile_pairs.distances(packed, k, launch).to_host()
                return plain.multiplied(found), None
            if way == route.BOXES:
                found = distances(hierarchy_of(matrix, launch), k, launch)
                return plain.multiplied(found), matrix
    return _by_the_host(plain, min_samples), None


def _by_the_host(points: Points, min_samples: int) -> npt.NDArray[np.float64]:
    everyone = np.arange(points.n_vertices)
    # Each point is its own first, though a cosine distance may be a little less than 0.
    return _by_rows(
        points.n_vertices, lambda at: points.weights_of(at[:, None], everyone), -1, min_samples
    )


def core_of_matrix(weights: Array, min_samples: int) -> npt.NDArray[np.float64]:
    """Return the core distance of each row of a matrix of distances, whose diagonal counts as 0."""
    return _by_rows(weights.shape[0], lambda at: weights[at], 0, min_samples)


def _by_rows(
    n: int, rows_of: Callable[[Array], Array], own: int, min_samples: int
) -> npt.NDArray[np.float64]:
    """Return the core distances of rows, some at a time; `own` replaces the diagonal."""
    core, n_rows = np.empty(n), max(_CELLS_AT_ONCE // max(n, 1), 1)
    for first in range(0, n, n_rows):
        at = np.arange(first, min(first + n_rows, n))
        rows = rows_of(at)
        rows[np.arange(at.size), at] = own
        core[at] = np.partition(rows, min_samples - 1)[:, min_samples - 1]
    return core


def core_of_edges(graph: Graph, min_samples: int) -> npt.NDArray[np.float64]:
    """Return the core distance of each vertex of a graph that stores both directions.

    Raises InvalidGraphError if a vertex has too few neighbours.
    """
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
    while first < n:  # whole rows of about _CELLS_AT_ONCE slots at a time
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


def reachability_graph(graph: Any, min_samples: int, device: Any, *, alpha: float = 1.0) -> Any:
    """Return a graph with mutual reachability as its weights, times `alpha`.

    The weight of (u, v) is the greatest of the distance and of `alpha` times the core distances of
    both. A core distance is how far the `min_samples`-th nearest point is, where a point is its own
    first. Raise if there are fewer points, or if a point of a sparse graph has fewer neighbours.
    """
    if min_samples > graph.n_vertices:
        raise InvalidArgumentError(
            f"min_samples ({min_samples}) must be at most the number of points, and X has "
            f"{graph.n_vertices} sample{'s' * (graph.n_vertices != 1)}; it is min_cluster_size "
            "unless it is given"
        )
    if isinstance(graph, Points):
        if graph.metric not in WITH_CORE:
            u, v = np.triu_indices(graph.n_vertices, 1)
            return _of_matrix(squareform(graph.weights_of(u, v)), min_samples, alpha)
        core, matrix = _of_points(graph, min_samples, get_device(device))
        if matrix is None or not route.keeps_hierarchy(facts_of_complete(matrix)):
            return graph.with_core_distances(core * alpha)
        return with_core_distances(matrix, core * alpha)
    if isinstance(graph, DenseGraph):
        return _of_matrix(graph.weights, min_samples, alpha)
    return _of_edges(graph, min_samples, alpha)


def _of_matrix(weights: Array, min_samples: int, alpha: float) -> DenseGraph:
    """Return the graph of a matrix of distances, whose diagonal counts as 0."""
    mutual = weights.astype(np.result_type(weights, np.float32))
    np.fill_diagonal(mutual, 0)
    core = (core_of_matrix(mutual, min_samples) * alpha).astype(mutual.dtype)
    np.maximum(mutual, core, out=mutual)
    np.maximum(mutual, core[:, None], out=mutual)
    return DenseGraph(mutual)


def _of_edges(graph: Graph, min_samples: int, alpha: float) -> Graph:
    """Return a graph with the same edges. Memory: a few words an edge."""
    both = graph.symmetrised()
    core = core_of_edges(both, min_samples) * alpha
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(graph.indptr))
    mutual = graph.weights.astype(np.float64)
    np.maximum(mutual, core[rows], out=mutual)
    np.maximum(mutual, core[graph.indices], out=mutual)
    return graph.replace_unchecked(weights=mutual)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """The distances of points, rows that are not finite left out."""

    graph: Any  # of the finite rows
    n_rows: int  # all rows
    finite: npt.NDArray[np.int64]  # shape (n,): the rows of the graph's vertices
    missing: npt.NDArray[np.int64]  # rows with a NaN
    n_features: int | None  # coordinates of a row; None if distances were given
    rows: Array | None  # the finite ones

    def spread(self, values: Array, infinite: float, missing: float) -> Array:
        """Return the values of finite rows with those of the other rows between them."""
        if values.size == self.n_rows:
            return values
        every = np.full(self.n_rows, infinite, values.dtype)
        every[self.finite] = values
        every[self.missing] = missing
        return every


def distances_of(X: Any, model: HDBSCAN) -> Distances:
    """Return what the model is given, checked."""
    is_precomputed = isinstance(model.metric, str) and model.metric == "precomputed"
    is_own = is_graph(X) and not isinstance(X, Points)
    if is_precomputed or is_own:
        if model.store_centers is not None:
            raise InvalidArgumentError(
                f"store_centers is {model.store_centers!r}, and distances are precomputed; centers "
                "need points"
            )
        return _complete(X)
    if isinstance(X, Points):
        return _complete(X, X.coordinates)
    if sparse.issparse(X) and model.algorithm in ("kd_tree", "ball_tree"):
        raise InvalidArgumentError(
            f"algorithm is {model.algorithm!r}, and X is sparse; sparse points take 'auto' or "
            "'brute'"
        )
    return _of_rows(filled(X), model)


def _complete(X: Any, rows: Array | None = None) -> Distances:
    """Return the distances of points or of a graph, in which nothing is missing."""
    graph = graph_of(X, "precomputed")
    n, features = graph.n_vertices, None if rows is None else int(rows.shape[1])
    none, every = np.zeros(0, np.int64), np.arange(n)
    return Distances(
        graph=graph, n_rows=n, finite=every, missing=none, n_features=features, rows=rows
    )


def finite_rows(array: Array, name: str = "X") -> tuple[Array, Array, Array]:
    """Return the rows without NaN and infinity, which they are, and which rows have a NaN."""
    check_rows(array, name)
    rows = array.astype(np.float64, copy=False)
    if are_finite(rows):
        return rows, np.arange(len(rows)), np.zeros(0, np.int64)
    finite = np.flatnonzero(np.isfinite(rows).all(axis=1))
    return rows[finite], finite, np.flatnonzero(np.isnan(rows).any(axis=1))


def _of_rows(array: Array, model: HDBSCAN) -> Distances:
    """Return the distances of rows without NaN and infinite coordinates."""
    rows, finite, missing = finite_rows(array)
    if not finite.size:
        raise InvalidGraphError(
            f"X has {len(array)} rows, of which none is finite; a clustering takes one at least"
        )
    return Distances(
        graph=graph_of(rows, model.metric, model.metric_params), n_rows=len(array), finite=finite,
        missing=missing, n_features=array.shape[1], rows=rows,
    )  # fmt: skip


def _tree_in_turns(points: Points, k: int, device: Device, *, alpha: float) -> Forest | None:
    """Return the tree of few points by mutual reachability; None if the router chooses another way.

    One launch finds the core distances, and the tree needs no copy of them.
    """
    is_taken = METRICS[points.compared_as][1] == 64 and device.capabilities.doubles
    if not is_taken or not 0 < k < points.n_vertices:
        return None
    matrix = DeviceMatrix.upload(points.with_core_distances(None), device)
    if way_of_core_distances(matrix, k) != route.TURNS:
        return None
    return few.mutual_forest(matrix, k, alpha=alpha)


def spanning_forest(given: Distances, model: HDBSCAN) -> Forest:
    """Return the minimum spanning forest of mutual reachability.

    That of two points is ``max(d / alpha, core)``, as in the robust single linkage of K. Chaudhuri
    and S. Dasgupta, "Rates of convergence for the cluster tree", NIPS 2010. Edges compare
    ``max(d, alpha * core)``, and are divided in the end.
    """
    graph, alpha = given.graph, float(model.alpha)
    min_samples = index(model.min_cluster_size if model.min_samples is None else model.min_samples)
    forest = None
    if isinstance(graph, Points):
        forest = _tree_in_turns(graph, min_samples - 1, get_device(model.device), alpha=alpha)
    if forest is None:
        mutual = reachability_graph(graph, min_samples, model.device, alpha=alpha)
        try:
            forest = minimum_spanning_forest(mutual, device=model.device)
        except NoFamilyLeftError:
            if not isinstance(mutual, DeviceMatrix):
                raise
            forest = minimum_spanning_forest(mutual.graph, device=model.device)  # by another device
    return forest if alpha == 1 else replace(forest, weights=forest.weights / alpha)
