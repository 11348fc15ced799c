"""Find the nearest of many points: by a tree of boxes, by all inner products, or by all pairs."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.machine import usable_cores
from clmst.core.point_checks import UNROUNDED
from clmst.core.points import Points
from clmst.core.quotients import DIVIDED, distances
from clmst.core.threads import slices

_CELLS_AT_ONCE = 1 << 22
# In few dimensions a search in a tree of boxes compares few points. In many dimensions it compares
# most points, and inner products of all pairs are quicker. The processor time was measured on two
# cores, in seconds, for 20,000 points of a fit and 2,000 new points:
#
#     dimensions                             16     32     64
#     groups that overlap, by boxes        0.45   0.87    1.6
#     groups that overlap, by products     0.23   0.25   0.30
#     groups far apart, by boxes           0.03   0.05   0.13
#     groups far apart, by products        0.29   0.29   0.29
MOST_DIMENSIONS_OF_TREE = 32
# Bounds of the error of the distances that a search computes. For most metrics, the error is less
# than SHARE_OF_ROUNDING times the distance. For "haversine", the search compares chords (straight
# lines through the earth), which are rounded to centimetres. The error of an arc is then less than
# _ROUNDED_ARC, a metre, if the arc is at most _FAR_ARC, a quarter of the earth's circumference in
# kilometres. The error of a longer arc is less than a kilometre.
SHARE_OF_ROUNDING, _ROUNDED_ARC, _FAR_ARC = 1e-9, 1e-3, 1e4


def search_of(points: Points, *, by_values: bool = False) -> Boxes | Products | Pairs:
    """Return the object that finds the nearest of `points` faster: by boxes or by inner products.

    Inner products are used for more than MOST_DIMENSIONS_OF_TREE dimensions, but not `by_values`:
    their rounding depends on how the points lie in memory, so they cannot be used if the result
    must not depend on the order of the points. All pairs are compared for metrics that divide.
    """
    if points.metric in DIVIDED:
        return Pairs(points)
    if by_values:
        return Boxes(points)
    is_for_products = points.metric not in ("manhattan", "chebyshev", "minkowski")
    if is_for_products and len(points.planes) > MOST_DIMENSIONS_OF_TREE:
        return Products(points)
    return Boxes(points)


def slack(points: Points, farthest: Floats) -> float | Floats:
    """Return the absolute error that distances in a search in a tree of boxes may have.

    The result is for distances up to `farthest`, by the metric of `points`. In addition to it,
    there may be a relative error of ``SHARE_OF_ROUNDING``.
    """
    if points.compared_as == "cosine":
        return 8 * len(points.planes) * float(np.finfo(np.float64).eps)
    if points.metric == "haversine":
        return np.where(farthest < _FAR_ARC, _ROUNDED_ARC, 1.0)
    return 0.0 if points.metric in UNROUNDED else 1.0


class Boxes:
    """A search for nearest points with SciPy's k-d tree."""

    def __init__(self, points: Points) -> None:
        from scipy.spatial import cKDTree  # takes a tenth of a second

        # Boxes are halved at their middle, not at the median of their points. The tree is then
        # built in less time, and searches are as fast.
        self.tree = cKDTree(np.ascontiguousarray(points.planes.T), balanced_tree=False)
        self.power = {"manhattan": 1.0, "chebyshev": np.inf}.get(points.metric, points.power)

    def nearest(self, coordinates: Floats, k: int) -> Nodes:
        """Return the indices of the k points nearest to each row of `coordinates`, shape (m, k)."""
        numbers = list(range(1, k + 1))  # a list, so that the result has a column even if k is 1
        found = self.tree.query(coordinates, k=numbers, p=self.power, workers=usable_cores())[1]
        return np.minimum(found, self.tree.n - 1)  # SciPy returns n for an infinite distance


class Products:
    """A search for nearest points that computes all inner products, some rows at a time."""

    def __init__(self, points: Points) -> None:
        coordinates = points.planes.T
        self.middle = coordinates.mean(axis=0)  # products of coordinates near 0 are rounded less
        self.coordinates = coordinates - self.middle
        self.squares = np.einsum("ij,ij->i", self.coordinates, self.coordinates)

    def nearest(self, coordinates: Floats, k: int) -> Nodes:
        """Return the indices of the k points nearest to each row of `coordinates`, shape (m, k).

        Squared distances are rounded, so a point may be returned in place of one that is slightly
        nearer.
        """
        m, n = len(coordinates), len(self.coordinates)
        found = np.empty((m, k), np.int64)
        for some in slices(m, max(_CELLS_AT_ONCE // n, 1)):
            own = coordinates[some] - self.middle
            with np.errstate(over="ignore", invalid="ignore"):
                # Squared distances |x|**2 + |y|**2 - 2 x y of each new point x to all points y,
                # without the term |x|**2. The term is equal for all y, so the order of the points y
                # by distance is unchanged.
                squares = self.squares - 2 * (own @ self.coordinates.T)
            found[some] = np.argpartition(squares, k - 1, axis=1)[:, :k]
        return found


class Pairs:
    """A search for nearest points that computes all distances, some rows at a time."""

    def __init__(self, points: Points) -> None:
        self.points = points.with_core_distances(None)

    def nearest(self, coordinates: Floats, k: int) -> Nodes:
        """Return the indices of the k points nearest to each row of `coordinates`, shape (m, k)."""
        m, n = len(coordinates), self.points.n_vertices
        found = np.empty((m, k), np.int64)
        for some in slices(m, max(_CELLS_AT_ONCE // n, 1)):
            own = np.ascontiguousarray(coordinates[some].T)[:, :, None]
            both = zip(own, self.points.planes[:, None], strict=True)
            apart = distances(self.points.metric, both)
            found[some] = np.argpartition(apart, k - 1, axis=1)[:, :k]
        return found
