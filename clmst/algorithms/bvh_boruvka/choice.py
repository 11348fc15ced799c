"""For which points a hierarchy is known to pay."""

from __future__ import annotations

from clmst.core.points import Points
from clmst.runtime.device_matrix import DeviceMatrix

# The metrics whose distance to a box is known to bound those to the points in it.
METRICS = ("euclidean", "manhattan", "chebyshev", "cosine")
# From so many points on, and up to so many dimensions, it is quicker than dense
# (docs/experiments.md, "Points").
_LEAST_POINTS = 1000
_MOST_DIMENSIONS = 16


def takes(points: Points) -> bool:
    """Return whether a hierarchy can be built over points: whether boxes bound their distances."""
    return points.metric in METRICS


def is_for_tree(matrix: DeviceMatrix) -> bool:
    """Return whether "auto" solves a complete graph by a hierarchy; else by dense."""
    points = matrix.graph
    return (
        isinstance(points, Points)
        and takes(points)
        and points.n_vertices >= _LEAST_POINTS
        and points.planes.shape[0] <= _MOST_DIMENSIONS
    )
