"""For which points a hierarchy is known to pay."""

from __future__ import annotations

from clmst.core.points import Points
from clmst.runtime.device_matrix import DeviceMatrix

# The metrics whose distance to a box is known to bound those to the points in it.
METRICS = ("euclidean", "manhattan", "chebyshev", "cosine")
# The fewest points for which a hierarchy is quicker than dense (docs/performance_log.md, "Points"):
# where work-items search alone, as on CPUs, and elsewhere, where a dense solve is quick and a
# search of many dimensions is not: there the number doubles with every 2 dimensions beyond a few.
_LEAST_POINTS_ALONE = 1000
# The most points whose tree one work-item finds sooner among all pairs, where work-items are alone.
_MOST_BY_PRIM = 2000
_LEAST_POINTS = 20_000
_LEAST_FLAT_POINTS = 8_000  # for nearest points alone
_FEW_DIMENSIONS = 3
_MOST_DIMENSIONS = 12


def takes(points: Points) -> bool:
    """Return whether a hierarchy can be built over points: whether boxes bound their distances."""
    return points.metric in METRICS


def is_for_prim(matrix: DeviceMatrix) -> bool:
    """Return whether "auto" solves few points by Prim's algorithm, on a device that is a CPU."""
    points = matrix.graph
    if matrix.device.policy.work_group_size > 1 or not isinstance(points, Points):
        return False
    has_few_rows = takes(points) and points.dimensions <= _MOST_DIMENSIONS
    return has_few_rows and 1 < points.n_vertices <= _MOST_BY_PRIM


def is_for_tree(matrix: DeviceMatrix) -> bool:
    """Return whether "auto" solves a complete graph by a hierarchy; else by dense."""
    points = matrix.graph
    if not (isinstance(points, Points) and takes(points) and points.dimensions <= _MOST_DIMENSIONS):
        return False
    if matrix.device.policy.work_group_size == 1:
        return points.n_vertices >= _LEAST_POINTS_ALONE
    doublings = max(points.dimensions - _FEW_DIMENSIONS - 0.5, 0) / 2
    return points.n_vertices >= _LEAST_POINTS * 2**doublings


def is_for_nearest(matrix: DeviceMatrix) -> bool:
    """Return whether the nearest points are found by a hierarchy; else by tiles of pairs."""
    points, alone = matrix.graph, matrix.device.policy.work_group_size == 1
    is_flat = isinstance(points, Points) and points.dimensions <= _FEW_DIMENSIONS
    enough = alone or matrix.n_vertices >= _LEAST_FLAT_POINTS
    return (is_flat and enough) or is_for_tree(matrix)
