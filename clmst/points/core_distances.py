"""Core distances: how far each point's nearest neighbours are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clmst.algorithms import families
from clmst.algorithms.bvh_boruvka import choice
from clmst.algorithms.bvh_boruvka.hierarchy import hierarchy_of
from clmst.algorithms.bvh_boruvka.neighbours import MOST_NEIGHBOURS, capacity_for, distances
from clmst.algorithms.dense import nearest
from clmst.algorithms.dense.tiles import PackedPoints
from clmst.core.arguments import check_integer
from clmst.core.dense_graph import DenseGraph
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.points.distance_matrices import checked_graph, of_sparse
from clmst.points.stored_core_distances import core_of_edges, core_of_matrix
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

_PAIRS_AT_ONCE = 1 << 22


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
    others by tiles of all pairs, nearly all of them in float32: O(n**2 d) work, and 16 d + 8
    min_samples bytes a point. The host compares all pairs where the device has no arithmetic on
    doubles, for `min_samples` above 257 where a device is trusted with hierarchies alone, and for
    "great-circle", "haversine" and "rounded-euclidean".

    Examples
    --------
    >>> import clmst
    >>> clmst.core_distances([[0, 0], [0, 3], [4, 3]], 2)
    array([3., 3., 4.])
    """
    if sparse.issparse(points):
        points = of_sparse(points)
    elif not isinstance(points, Points | DenseGraph | Graph):
        points = Points(points)
    n = points.n_vertices
    min_samples = check_integer("min_samples", min_samples, low=1, high=max(n, 1))
    found = get_device(device)
    if isinstance(points, DenseGraph):
        return core_of_matrix(checked_graph(points).weights, min_samples)
    if isinstance(points, Graph):
        return core_of_edges(checked_graph(points).symmetrised(), min_samples)
    if min_samples == 1 or n == 0:
        return np.zeros(n)
    plain, k = points.with_core_distances(None), min_samples - 1
    core: npt.NDArray[np.float64]
    if choice.takes(plain) and found.capabilities.doubles:
        matrix, launch = DeviceMatrix.upload(plain, found), Launcher(found, found.queue)
        by_boxes = k <= MOST_NEIGHBOURS and choice.is_for_nearest(matrix)
        if not by_boxes and families.tiles_refusal(matrix, neighbours=True) is None:
            with found.lock, Guard(found):
                packed = PackedPoints.upload(matrix, launch, neighbours=True)
                core = nearest.distances(packed, k, launch).to_host()
                return core
        if k <= MOST_NEIGHBOURS and families.points_refusal(matrix, capacity_for(k)) is None:
            with found.lock, Guard(found):
                core = distances(hierarchy_of(matrix, launch), k, launch).to_host()
                return core
    return _by_the_host(plain, min_samples)


def _by_the_host(points: Points, min_samples: int) -> npt.NDArray[np.float64]:
    """Return the same by comparing all pairs."""
    n = points.n_vertices
    core, everyone = np.empty(n), np.arange(n)
    rows = max(_PAIRS_AT_ONCE // n, 1)
    for first in range(0, n, rows):
        some = everyone[first : first + rows]
        lengths = points.weights_of(some[:, None], everyone)
        lengths[
            np.arange(some.size), some
        ] = -1  # first, though a cosine distance may exceed others
        core[some] = np.partition(lengths, min_samples - 1, axis=1)[:, min_samples - 1]
    return core
