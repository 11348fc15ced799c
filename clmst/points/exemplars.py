"""Distances from points to the nearest exemplar of each cluster.

The exemplars of a cluster are the points that represent it. There may be many thousands of
exemplars, but for points that are near to one another, a few exemplars of each cluster include the
nearest ones. Only these are compared with each of the points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.powers import GREATEST_POWER
from clmst.core.weight_keys import Array
from clmst.points.between import distances_between
from clmst.points.metrics import usual_name

# For fewer points than this, comparing all exemplars takes less time than choosing some of them.
_FEWEST_POINTS = 16
# Maximum number of exemplars for which bounds are computed at a time, unless a cluster has more.
# The arrays then fit into a core's cache.
_BOUNDED_AT_ONCE = 1 << 15
# Upper bound of the error of the difference of two distances, before roots are taken, as a share of
# their sum. Sums of d terms are rounded by d * 2**-52, and powers of Minkowski's distance add less
# than 2**-40.
_SHARE_OF_ROUNDING = 1e-9
_LOST = 1e-300  # terms below this may have lost bits by underflow, and are not compared


@dataclass(frozen=True, kw_only=True, eq=False)
class Exemplars:
    """The exemplars of clusters, in the order of the clusters' labels.

    Attributes
    ----------
    rows : array of shape (e, d)
        The coordinates of all exemplars.
    counts : array of int, shape (number of labels,)
        The number of exemplars of each cluster, which is at least 1.
    metric, metric_params
        The metric and its parameters, as in :class:`clmst.cluster.HDBSCAN`.
    """

    rows: Array
    counts: Nodes
    metric: Any
    metric_params: Any

    @cached_property
    def _power(self) -> float | None:
        """The power of the differences of coordinates whose sum the metric compares, or None.

        It is None for metrics that do not add up powers of differences.
        """
        name, given = usual_name(self.metric), self.metric_params or {}
        if not isinstance(name, str) or set(given) - {"p"}:
            return None
        power = {"manhattan": 1.0, "euclidean": 2.0, "minkowski": given.get("p")}.get(name)
        return power if power is not None and 1 <= power <= GREATEST_POWER else None

    def order_of(self, rows: Array) -> Nodes | None:
        """Return an order of points in which near points follow one another.

        `rows` has the coordinates of the points. The result is None if the order does not matter,
        because :meth:`among_the_nearest` would return all exemplars anyway.
        """
        if self._power is None:
            return None
        from scipy.spatial import cKDTree  # takes a tenth of a second

        tree = cKDTree(rows, balanced_tree=False, compact_nodes=False)
        return np.asarray(tree.indices, np.int64)

    def among_the_nearest(self, rows: Array) -> Exemplars:
        """Return the exemplars of which each may be the nearest of its cluster to some points.

        `rows` has the coordinates of the points, shape (m, d) with m > 0. Each cluster keeps at
        least one exemplar. The points should be near to one another, because an exemplar is kept if
        it may be the nearest to any place in the box around the points.
        """
        if self._power is None or len(rows) < _FEWEST_POINTS:
            return self
        low, high = (np.asarray(f(rows, axis=0), np.float64) for f in (np.min, np.max))
        kept = [
            exemplars.start + self._kept(exemplars, self.counts[labels], starts, low, high)
            for labels, exemplars, starts in groups_of(self.counts, _BOUNDED_AT_ONCE)
        ]
        at = np.concatenate(kept)
        label = np.repeat(np.arange(self.counts.size), self.counts)[at]
        counts = np.bincount(label, minlength=self.counts.size)
        return replace(self, rows=self.rows[at], counts=counts)

    def _kept(self, some: slice, counts: Nodes, starts: Nodes, low: Floats, high: Floats) -> Nodes:
        """Return which of the exemplars `some` may be the nearest of their cluster to a box.

        `counts` has the number of exemplars of each of the clusters, `starts` the places of the
        first ones, and `low` and `high` are two opposite corners of the box. The result has places
        within `some`.

        Each exemplar e is compared with one exemplar f of the same cluster, which has the least sum
        of distances to the two corners. In each dimension, the term of f less the term of e is a
        monotone function of the place in the box, so it is greatest at an end of the box. If the
        greatest terms add up to less than 0, e is farther than f from every place in the box.
        """
        power = self._power
        planes = np.ascontiguousarray(self.rows[some].T, np.float64)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            terms = [
                [np.abs(plane - end) ** power for end in ends]
                for plane, *ends in zip(planes, low, high, strict=True)
            ]
            total = sum(at_low + at_high for at_low, at_high in terms)
            is_least = total == np.repeat(np.minimum.reduceat(total, starts), counts)
            first = np.flatnonzero(is_least)
            label = np.repeat(np.arange(counts.size), counts)
            least = np.empty(counts.size, np.int64)
            least[label[first]] = first
            other = least[label]
            greatest = sum(
                np.maximum(at_low[other] - at_low, at_high[other] - at_high)
                for at_low, at_high in terms
            )
            error = _SHARE_OF_ROUNDING * (total + total[other]) + _LOST
            found: Nodes = np.flatnonzero(~(greatest < -error))
        return found

    def least_distances(self, rows: Array, at_once: int) -> Floats:
        """Return the distances of m points to the nearest exemplar of each cluster.

        `rows` has the coordinates of the points. About `at_once` distances are in memory at a time.
        The result has shape (m, number of labels).
        """
        found = np.empty((len(rows), self.counts.size))
        most = max(at_once // len(rows), 1)
        for labels, exemplars, starts in groups_of(self.counts, most):
            apart = distances_between(rows, self.rows[exemplars], self.metric, self.metric_params)
            _minima(apart, self.counts[labels], starts, found[:, labels])
        return found


def _minima(apart: Floats, counts: Nodes, starts: Nodes, found: Floats) -> None:
    """Find the minimum of each run of columns, in each row of `apart`, and store it in `found`.

    Runs have the numbers of columns `counts`, and begin at the columns `starts`. If most runs have
    one column, these columns are copied, because the minimum of a run takes several times as long.
    """
    several = np.flatnonzero(counts > 1)
    if 2 * several.size > counts.size:
        np.minimum.reduceat(apart, starts, axis=1, out=found)
        return
    found[:] = np.take(apart, starts, axis=1)
    if several.size:
        sizes = counts[several]
        of_several = np.compress(np.repeat(counts > 1, counts), apart, axis=1)
        found[:, several] = np.minimum.reduceat(of_several, np.cumsum(sizes) - sizes, axis=1)


def groups_of(counts: Nodes, most: int) -> list[tuple[slice, slice, Nodes]]:
    """Divide the labels into runs whose clusters have at most `most` exemplars together.

    `counts` has the number of exemplars of each cluster. A cluster that has more is a run by
    itself. For each run, returns the slice of its labels, the slice of their exemplars, and the
    places of the first exemplar of each label within that slice.
    """
    ends = np.cumsum(counts)
    starts, groups, first = ends - counts, [], 0
    while first < ends.size:
        begin = int(starts[first])
        last = max(int(np.searchsorted(ends, begin + most, side="right")), first + 1)
        exemplars = slice(begin, int(ends[last - 1]))
        groups.append((slice(first, last), exemplars, starts[first:last] - begin))
        first = last
    return groups
