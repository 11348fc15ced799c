"""Core distances, and graphs whose weights are mutual reachability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import squareform

from clmst import route
from clmst.algorithms import complete
from clmst.core.arguments import check_integer
from clmst.core.coercion import as_graph
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.point_rows import rows_of
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.inputs import checked_graph, is_graph, of_sparse
from clmst.runtime.array import array_on_host
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

_CELLS_AT_ONCE = 1 << 22


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
    return _of_points(points.with_core_distances(None), min_samples, found)


def _of_points(points: Points, min_samples: int, device: Device) -> npt.NDArray[np.float64]:
    """Return the core distances of points."""
    n, k, way = points.n_vertices, min_samples - 1, route.HOST
    if k == 0 or n == 0:
        return np.zeros(n)
    if device.capabilities.doubles:
        matrix, launch = DeviceMatrix.upload(points, device), Launcher(device, device.queue)
        way = complete.way_of_core_distances(matrix, k)
    if way == route.HOST:
        return core_by_the_host(points, min_samples)
    with device.lock, Guard(device):
        return points.multiplied(array_on_host(complete.core_distances(matrix, k, way, launch)))


def core_by_the_host(points: Points, min_samples: int) -> npt.NDArray[np.float64]:
    """Return the core distances of points, found by the host from all pairs."""
    n = points.n_vertices
    if min_samples == 1:
        return np.zeros(n)
    everyone = np.arange(n)
    # Each point is its own first, though a cosine distance may be a little less than 0.
    return _by_rows(n, lambda at: points.weights_of(at[:, None], everyone), -1, min_samples)


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


def reachability_graph(graph: Any, min_samples: int, *, alpha: float = 1.0) -> DenseGraph | Graph:
    """Return a graph with mutual reachability as its weights, times `alpha`.

    The weight of (u, v) is the greatest of the distance and of `alpha` times the core distances of
    both. A core distance is how far the `min_samples`-th nearest point is, where a point is its own
    first. Of points all pairs are stored. Raise if a point of a sparse graph has fewer neighbours.
    """
    if isinstance(graph, Points):
        u, v = np.triu_indices(graph.n_vertices, 1)
        return _of_matrix(squareform(graph.weights_of(u, v)), min_samples, alpha)
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
