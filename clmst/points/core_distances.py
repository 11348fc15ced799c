"""Core distances, and graphs whose weights are mutual reachability distances."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms import complete
from clmst.core import complete_trees
from clmst.core.arguments import check_integer, is_sparse, shown
from clmst.core.coercion import as_graph
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.point_rows import rows_of
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.inputs import checked_graph, is_graph, of_sparse
from clmst.runtime.array import array_on_host
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import check_one_of, named_devices
from clmst.runtime.discovery import get_device, on_device_or_host
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

if TYPE_CHECKING:
    from clmst.blocks.solve import DividedPoints
    from clmst.blocks.tasks import Workers

_CELLS_AT_ONCE = 1 << 22


@lasting("computing core distances")
def core_distances(
    points: Any,
    min_samples: int,
    *,
    device: Any = None,
    devices: Any = None,
    block_points: Any = None,
) -> npt.NDArray[np.float64]:
    """Compute the core distance of each point: the distance to its `min_samples`-th nearest point.

    HDBSCAN uses the core distance as a measure of density: it is small where points are dense [1]_.
    The point itself counts as the first of its nearest points, as in scikit-learn's HDBSCAN.
    ``Points(coordinates, core_distances=...)`` takes the result. Blocks until all distances are
    computed.

    Parameters
    ----------
    points : Points, DenseGraph, Graph, sparse matrix or array of real numbers, shape (n, d)
        The points or their distances. An array contains points as rows, and distances are
        Euclidean. The weights of a graph or of a sparse matrix are distances; each of its points
        needs at least `min_samples` - 1 neighbours.
    min_samples : int
        How many points, the point itself included, lie within the core distance, from 1 to n. A
        greater value gives greater and smoother core distances. With 1 all core distances are 0.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`.
    devices : sequence of str, Device or pyopencl.CommandQueue, optional
        Compute the core distances of several blocks at the same time, one on each of these devices.
        `device` must then be None, and `block_points` must be given.
    block_points : int or BlockOptions, optional
        Maximum number of points in a block, at least twice `min_samples`, with which the core
        distances are computed block by block. Use it for points that are too many for the device.
        The result does not depend on the blocks.

    Returns
    -------
    ndarray of float64, shape (n,)
        The core distances. They have the same bits on every device.

    Raises
    ------
    InvalidArgumentError
        `min_samples` is less than 1 or greater than the number of points, or `devices` are given
        without `block_points` or together with `device`.
    InvalidGraphError
        The points are malformed, a distance is negative, or a point of a graph has too few
        neighbours.

    Notes
    -----
    The device uses one of two methods. In two or three dimensions, and in up to twelve if there are
    many points, it uses a tree of bounding boxes. That is O(n log n) work for points that are
    spread evenly, and O(n**2) at most. In more dimensions, and for few points on GPUs, it compares
    all pairs, nearly all of them in float32. That is O(n**2 d) work, and 16 d + 8 min_samples bytes
    for each point.

    The host computes the same bits in these cases: no device is found; the metric is
    "great-circle", "haversine" or "rounded-euclidean"; or `min_samples` is above 257 and only the
    kernels for trees of boxes have passed their self-test on the device. The host uses SciPy's k-d
    tree in up to twelve dimensions, and compares all pairs in more. It also computes the core
    distances of matrices and graphs.

    References
    ----------
    .. [1] R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates
       for Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge
       Discovery from Data, 2015.

    Examples
    --------
    >>> import clmst
    >>> clmst.core_distances([[0, 0], [0, 3], [4, 3]], 2)
    array([3., 3., 4.])
    """
    check_one_of(device, devices)
    if devices is not None and block_points is None:
        raise InvalidArgumentError(
            f"devices are {shown(devices)}, and block_points is None; several devices compute the "
            "core distances of blocks, so give block_points, or one device"
        )
    if is_sparse(points):
        points = of_sparse(points)
    elif is_graph(points):
        points = as_graph(points)
    else:
        points = Points(rows_of("points", points))
    n = points.n_vertices
    min_samples = check_integer("min_samples", min_samples, low=1, high=max(n, 1))
    if block_points is not None:
        from clmst.blocks.placement import workers_on

        found: list[Any] = [device] if devices is None else list(named_devices(devices))
        divided = divided_points(points, block_points, min_samples)
        return core_of_divided(divided, min_samples, workers_on(found))
    if isinstance(points, Points):
        return _of_points(points.with_core_distances(None), min_samples, device)
    if device is not None:
        get_device(device)  # raises if the name is wrong
    if isinstance(points, DenseGraph):
        return core_of_matrix(checked_graph(points).weights, min_samples)
    return core_of_edges(checked_graph(points).symmetrised(), min_samples)


def divided_points(points: Any, block_points: Any, min_samples: int) -> DividedPoints:
    """Divide points into blocks of near points, as the caller's argument `block_points` says.

    Raises InvalidArgumentError if the points are not Points, or if a block would have too few
    points for core distances of `min_samples`.
    """
    from clmst.blocks.options import BlockOptions
    from clmst.blocks.solve import DividedPoints, check_points

    check_points(points)
    return DividedPoints.of(points, BlockOptions.of(block_points), min_samples)


def core_of_divided(
    divided: DividedPoints, min_samples: int, workers: Workers
) -> npt.NDArray[np.float64]:
    """Compute the core distances of points block by block, for `min_samples`.

    A block is a set of points near to one another. `workers` compute the core distances of blocks,
    in this process or on other machines.
    """
    return divided.core_distances(
        min_samples, lambda sets, k: workers.run(_of_points, sets, k), at_once=workers.at_once
    )


def _of_points(points: Points, min_samples: int, device: Any) -> npt.NDArray[np.float64]:
    """Compute the core distances of points, on a device if one can, and otherwise on the host.

    `min_samples` and `device` are as in :func:`core_distances`.
    """
    if min_samples == 1 or points.n_vertices == 0:
        if device is not None:
            get_device(device)  # raises if the name is wrong
        return np.zeros(points.n_vertices)
    return on_device_or_host(
        device,
        partial(_on_device, points, min_samples),
        lambda _: core_by_the_host(points, min_samples),
        host_first=lambda: route.host_compares_first(points.n_vertices),
    )


def _on_device(points: Points, min_samples: int, device: Device) -> npt.NDArray[np.float64]:
    """Compute the core distances of points for `min_samples`, given a device.

    The host computes them if the device does not have trusted kernels for these points, or if that
    is faster (:mod:`clmst.route`).
    """
    k = min_samples - 1
    matrix, launch = DeviceMatrix.upload(points, device), Launcher(device, device.queue)
    way = complete.way_of_core_distances(matrix, k)
    if way == route.HOST:
        return core_by_the_host(points, min_samples)
    with device.lock, Guard(device):
        return points.multiplied(array_on_host(complete.core_distances(matrix, k, way, launch)))


def core_by_the_host(points: Points, min_samples: int) -> npt.NDArray[np.float64]:
    """Compute the core distances of points for `min_samples` on the host."""
    near = complete_trees.near_points(points, min_samples)
    return complete_trees.core_distances(points, min_samples, near=near)


def core_of_matrix(weights: Array, min_samples: int) -> npt.NDArray[np.float64]:
    """Compute the core distance of each point for `min_samples`, from a matrix of distances.

    `weights` is the matrix, shape (n, n). Its diagonal counts as 0.
    """
    n = weights.shape[0]
    core, n_rows = np.empty(n), max(_CELLS_AT_ONCE // max(n, 1), 1)
    for first in range(0, n, n_rows):
        at = np.arange(first, min(first + n_rows, n))
        rows = weights[at]
        rows[np.arange(at.size), at] = 0
        core[at] = np.partition(rows, min_samples - 1)[:, min_samples - 1]
    return core


def core_of_edges(graph: Graph, min_samples: int) -> npt.NDArray[np.float64]:
    """Compute the core distance of each vertex of a graph that stores both directions of each edge.

    Raises InvalidGraphError if a vertex has fewer than `min_samples` - 1 neighbours.
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
    while first < n:  # in blocks of whole rows with about _CELLS_AT_ONCE weights
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
    """Return the row offsets and the weights of a graph from which self-loops are removed."""
    n, counts = graph.n_vertices, np.diff(graph.indptr)
    rows = np.repeat(np.arange(n), counts)
    is_edge = rows != graph.indices
    if is_edge.all():
        return graph.indptr, graph.weights
    counts = np.bincount(rows[is_edge], minlength=n)
    return np.concatenate([[0], np.cumsum(counts)]), graph.weights[is_edge]


def reachability_graph(
    graph: Any,
    min_samples: int,
    *,
    alpha: float = 1.0,
    core: npt.NDArray[np.float64] | None = None,
) -> DenseGraph | Graph:
    """Build a graph whose weights are the mutual reachability distances of a graph, times `alpha`.

    The weight of (u, v) is the greatest of three numbers: the distance of u and v, `alpha` times
    the core distance of u, and `alpha` times the core distance of v. `core` has the core distances.
    If it is None, they are computed: a core distance is the distance to the `min_samples`-th
    nearest point, the point itself being the first. The result stores all pairs of points, in
    O(n**2) memory, unless `graph` lists its edges. Raises InvalidGraphError if `core` is None and a
    point of a graph that lists its edges has fewer than `min_samples` - 1 neighbours.
    """
    if isinstance(graph, Points):
        from scipy.spatial.distance import squareform  # takes a tenth of a second

        u, v = np.triu_indices(graph.n_vertices, 1)
        return _of_matrix(squareform(graph.weights_of(u, v)), min_samples, alpha, core)
    if isinstance(graph, DenseGraph):
        return _of_matrix(graph.weights, min_samples, alpha, core)
    return _of_edges(graph, min_samples, alpha, core)


def _of_matrix(weights: Array, min_samples: int, alpha: float, core: Array | None) -> DenseGraph:
    """Build the mutual reachability graph of a matrix of distances, whose diagonal counts as 0.

    `weights` is the matrix, shape (n, n). `min_samples` and `alpha` are as in
    :func:`reachability_graph`. None as `core` means that core distances are computed.
    """
    mutual = weights.astype(np.result_type(weights, np.float32))
    np.fill_diagonal(mutual, 0)
    core = core_of_matrix(mutual, min_samples) if core is None else core
    core = (core * alpha).astype(mutual.dtype)
    np.maximum(mutual, core, out=mutual)
    np.maximum(mutual, core[:, None], out=mutual)
    return DenseGraph(mutual)


def _of_edges(graph: Graph, min_samples: int, alpha: float, core: Array | None) -> Graph:
    """Build the mutual reachability graph of a graph that lists its edges, with the same edges.

    `min_samples` and `alpha` are as in :func:`reachability_graph`. `core` has the core distances,
    or None if they are to be computed. The memory is O(m) for m edges.
    """
    core = core_of_edges(graph.symmetrised(), min_samples) if core is None else core
    core = core * alpha
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(graph.indptr))
    mutual = graph.weights.astype(np.float64)
    np.maximum(mutual, core[rows], out=mutual)
    np.maximum(mutual, core[graph.indices], out=mutual)
    return graph.replace_unchecked(weights=mutual)
