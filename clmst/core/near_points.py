"""Nearest points on the host, with exact distances, and a lower bound on all other distances.

A search finds candidates (:mod:`clmst.core.point_search`). It adds the terms of a distance in
another order than a device does, so its distances may differ from the device's in the last bits.
Therefore the distances of candidates are computed anew, as
:meth:`clmst.Points.compared_distances` defines them, and the distance of the last candidate, less
the greatest possible error, bounds the distances of all points that are not listed. A caller relies
on a list only as far as this bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst import route
from clmst.core.point_search import Floats, Numbers, search_of
from clmst.core.points import Points
from clmst.core.threads import in_threads, slices

_CELLS_AT_ONCE = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class PointLists:
    """For each of m points: a list of near points, and a bound on all points not in the list.

    Distances are those that a device compares (:meth:`clmst.Points.compared_distances`).
    """

    ids: Numbers  # shape (m, k): the near points, in any order; -1 stands for no point
    distances: Floats  # shape (m, k): the distances; infinite where there is no point
    beyond: Floats  # shape (m,): no point that is not listed is nearer than this


class NearestPoints:
    """A search for the nearest points among all points, or among some of them.

    `among` are the indices of the points that can be found. None means all points. The metric of
    the points must be one without rounded distances.
    """

    def __init__(self, points: Points, among: Numbers | None = None) -> None:
        self.points, self.among = points, among
        self.rows = np.ascontiguousarray(
            points.planes.T if among is None else points.planes.T[among]
        )
        use_tree = route.searches_boxes(*self.rows.shape)
        self.search = search_of(points, self.rows, use_tree=use_tree)

    def in_order(self) -> Numbers:
        """Return the indices of the points that can be found, near points after one another."""
        order = self.search.order()
        return order if self.among is None else self.among[order]

    def of(self, some: Numbers, k: int, *, within: float = np.inf) -> PointLists:
        """Find the k nearest points of each of the points `some`, without the point itself.

        `some` are indices of points. Points that are farther than the distance `within` may be
        missing.
        """
        n = len(self.rows)
        k = min(k, n)
        is_complete = k == n
        own = np.ascontiguousarray(self.points.planes.T[some])
        at, beyond = self.search.nearest(own, k, within)
        is_none, k = at == n, at.shape[1]
        ids = np.where(is_none, 0, at)
        ids = ids if self.among is None else self.among[ids]
        is_none |= ids == some[:, None]

        def apart(part: slice) -> Floats:
            return self.points.compared_distances(self.points, some[part, None], ids[part]) * 1.0

        found = in_threads(apart, slices(some.size, max(_CELLS_AT_ONCE // max(k, 1), 1)))
        distances = np.concatenate([np.zeros((0, k)), *found])
        distances[is_none] = np.inf
        ids[is_none] = -1
        if is_complete:
            beyond = np.full(some.size, np.inf)
        return PointLists(ids=ids, distances=distances, beyond=beyond)
