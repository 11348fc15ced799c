"""Core distances: how far each point's nearest neighbours are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import check_integer
from clmst.core.points import Points

_ROWS_AT_ONCE = 1 << 22  # distances of so many pairs


def core_distances(
    points: Points | Any, min_samples: int, *, device: Any = None
) -> npt.NDArray[np.float64]:
    """Return the distance of each point to its `min_samples`-th nearest point.

    The point itself is its first, as scikit-learn's HDBSCAN counts. These are the core distances of
    HDBSCAN; ``Points(coordinates, core_distances=...)`` takes them.

    Parameters
    ----------
    points : Points or array of real numbers, shape (n, d)
        An array is taken as points of the metric "euclidean".
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
        These are no points.

    Examples
    --------
    >>> import clmst
    >>> clmst.core_distances([[0, 0], [0, 3], [4, 3]], 2)
    array([3., 3., 4.])
    """
    if not isinstance(points, Points):
        points = Points(points)
    n = points.n_vertices
    check_integer("min_samples", min_samples, low=1, high=max(n, 1))
    core = np.empty(n)
    rows = max(_ROWS_AT_ONCE // max(n, 1), 1)
    everyone = np.arange(n)
    for first in range(0, n, rows):
        some = np.arange(first, min(first + rows, n))[:, None]
        distances = points.weights_of(some, everyone)
        core[some[:, 0]] = np.partition(distances, min_samples - 1, axis=1)[:, min_samples - 1]
    return core
