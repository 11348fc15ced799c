"""Nearest points on the host, with exact distances, and a lower bound on all other distances.

A search finds candidates: SciPy's k-d tree in few dimensions, and inner products or SciPy's `cdist`
of all pairs in more. It adds the terms of a distance in another order than a device does, so its
distances may differ from the device's in the last bits. Therefore the distances of candidates are
computed anew, as :meth:`clmst.Points.compared_distances` defines them, and the distance of the last
candidate, less the greatest possible error, bounds the distances of all points that are not listed.
A caller relies on a list only as far as this bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.core.machine import usable_cores
from clmst.core.points import Points
from clmst.core.threads import in_threads, slices

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

# Upper bound of the relative difference between a distance that a search computes and the distance
# of the metric's definition. A search adds the same terms in another order, so the two differ by
# rounding. The relative difference is less than the number of dimensions times 2**-51. For
# Minkowski distances, powers and roots add less than 2**-40.
_SHARE_OF_ROUNDING = 1e-9
_CELLS_AT_ONCE = 1 << 20
# The cells of a row are the distances of one point to all others. To find the least cells of a row
# with more than this number of cells, the row is divided into groups.
_FEW_CELLS = 64
_LISTED_AT_MOST = 4  # a list may have this number of times as many points as were asked for
# Maximum number of multiplications of a matrix product that OpenBLAS computes with a single thread.
# From 262,144 on, it uses several.
_OF_ONE_THREAD = 240_000
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointLists:
    """For each of m points: a list of near points, and a bound on all points not in the list.

    Distances are those that a device compares (:meth:`clmst.Points.compared_distances`).
    """

    ids: Numbers  # shape (m, k): the near points, in any order; -1 stands for no point
    distances: Floats  # shape (m, k): the distances; infinite where there is no point
    beyond: Floats  # shape (m,): no point that is not listed is nearer than this


class PointSearch(Protocol):
    """A search, among a fixed set of points, for those nearest to any given point."""

    def nearest(self, rows: Floats, k: int, within: float) -> tuple[Numbers, Floats]:
        """Find about `k` near points of each row, and a lower bound on the distances of all others.

        `rows` has the coordinates of m points, shape (m, d). Returns the positions of the near
        points, shape (m, k) or with more columns, and the bounds, shape (m,). If fewer points than
        columns are found, the number of all points stands in place of each missing position. Points
        farther than `within` need not be found.
        """

    def order(self) -> Numbers:
        """Return the positions of all points, near points after one another if that is known."""


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
        self.search = _search_of(points, self.rows)

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

        found = in_threads(apart, slices(some.size, max(_CELLS_AT_ONCE // (8 * max(k, 1)), 1)))
        distances = np.concatenate([np.zeros((0, k)), *found])
        distances[is_none] = np.inf
        ids[is_none] = -1
        if is_complete:
            beyond = np.full(some.size, np.inf)
        return PointLists(ids=ids, distances=distances, beyond=beyond)


def _search_of(points: Points, rows: Floats) -> PointSearch:
    """Create the search that is fastest for the metric of `points` and the columns of `rows`.

    `rows` has the coordinates of the points that can be found, shape (n, d).
    """
    if route.searches_boxes(rows.shape[1]):
        return _TreeSearch(rows, points)
    metric = points.compared_as
    return (
        _CellSearch(rows, points)
        if metric in ("manhattan", "chebyshev", "minkowski")
        else _ProductSearch(rows, metric)
    )


class _TreeSearch:
    """A search for the nearest points with SciPy's k-d tree."""

    def __init__(self, rows: Floats, points: Points) -> None:
        from scipy.spatial import cKDTree  # takes a tenth of a second

        metric = points.compared_as
        self.tree = cKDTree(rows, balanced_tree=False, compact_nodes=False)
        self.power = {"manhattan": 1.0, "chebyshev": np.inf}.get(metric, points.power)
        self.is_cosine, self.slack = metric == "cosine", 8 * rows.shape[1] * _EPSILON

    def nearest(self, rows: Floats, k: int, within: float) -> tuple[Numbers, Floats]:
        """Find `k` near points of each row in the tree, and lower bounds on all other distances.

        Arguments and results are as in :class:`PointSearch`. Points farther than `within` are not
        found.
        """
        most = np.inf if self.is_cosine else within * (1 + 2 * _SHARE_OF_ROUNDING)
        found: Any = self.tree.query(
            rows, k=list(range(1, k + 1)), p=self.power, distance_upper_bound=most,
            workers=usable_cores() if len(rows) > 1000 else 1,
        )  # fmt: skip
        distances, at = found
        last: Floats = np.minimum(distances[:, -1], most)
        if not self.is_cosine:
            return at, last * (1 - _SHARE_OF_ROUNDING)
        # A chord of the unit sphere is the root of twice the cosine distance.
        return at, np.maximum(last * last / 2 * (1 - _SHARE_OF_ROUNDING) - self.slack, 0)

    def order(self) -> Numbers:
        """Return the positions of all points in the order of the tree's leaves."""
        found: Numbers = np.asarray(self.tree.indices, np.int64)
        return found


class _PairSearch:
    """Base class of searches that compare all pairs of points, some rows at a time."""

    def __init__(self, rows: Floats) -> None:
        self.rows = rows

    def order(self) -> Numbers:
        """Return the positions of all points, in no particular order."""
        return np.arange(len(self.rows))

    def cells(self, rows: Floats) -> Floats:
        """Return a matrix with a number for each pair of a given row and one of all points.

        Within a row of the matrix, the numbers rise with the distances of the pairs.
        """
        raise NotImplementedError

    def bounds(self, rows: Floats, cells: Floats) -> Floats:
        """Return for each row a lower bound on the distances of all points that were not found.

        `cells` has one number for each row, as :meth:`cells` computes them. The number of every
        point that was not found is at least as great.
        """
        raise NotImplementedError

    def nearest(self, rows: Floats, k: int, within: float) -> tuple[Numbers, Floats]:
        """Find `k` near points of each row by comparing all pairs, and bounds on all others.

        Arguments and results are as in :class:`PointSearch`. `within` is not used.
        """
        n = len(self.rows)
        parts = list(slices(len(rows), max(_CELLS_AT_ONCE // n, 1)))
        found = in_threads(lambda some: self._nearest_of(rows[some], k), parts)
        width = max((at.shape[1] for at, _ in found), default=k)
        every = [np.pad(at, ((0, 0), (0, width - at.shape[1])), constant_values=n)
                 for at, _ in found]  # fmt: skip
        bounds = [bound for _, bound in found]
        return np.concatenate([np.zeros((0, width), np.int64), *every]), np.concatenate(
            [np.zeros(0), *bounds]
        )

    def _nearest_of(self, rows: Floats, k: int) -> tuple[Numbers, Floats]:
        """Find `k` near points of each row, and bounds on all others, as :meth:`nearest` does.

        The rows must be few, because the numbers of all pairs are in memory at once.
        """
        n, cells = len(self.rows), self.cells(rows)
        last = _bound_of_nearest(cells, k)
        row, column = np.divmod(np.flatnonzero(cells <= last[:, None]), n)
        counts = np.bincount(row, minlength=len(rows))
        # The search above lists all points up to an upper bound of the k-th least distance. If many
        # points are equally far away, the list is too long. Then exactly k points are taken.
        if not k <= counts.min() <= counts.max() <= _LISTED_AT_MOST * k:
            at = np.argpartition(cells, k - 1, axis=1)[:, :k]
            last = np.take_along_axis(cells, at, axis=1).max(axis=1)
            return at, self.bounds(rows, last)
        at = np.full((len(rows), counts.max()), n)
        at[row, np.arange(row.size) - (np.cumsum(counts) - counts)[row]] = column
        return at, self.bounds(rows, last)


def _bound_of_nearest(cells: Floats, k: int) -> Floats:
    """Return, for each row of a matrix, a threshold that at least `k` cells do not exceed.

    Only few more than `k` cells are at most the threshold. It is the k-th least of the minima of
    groups of cells, which is found faster than the k-th least of all cells.
    """
    while cells.shape[1] >= 16 * k and cells.shape[1] > _FEW_CELLS:
        half = cells.shape[1] // 2
        folded = np.minimum(cells[:, :half], cells[:, half : 2 * half])
        if cells.shape[1] % 2:
            np.minimum(folded[:, 0], cells[:, -1], out=folded[:, 0])
        cells = folded
    bound: Floats = np.partition(cells, k - 1, axis=1)[:, k - 1]
    return bound


class _CellSearch(_PairSearch):
    """A search of all pairs with SciPy's `cdist`, for distances that are not made of products.

    They are Manhattan, Chebyshev and Minkowski distances.
    """

    def __init__(self, rows: Floats, points: Points) -> None:
        super().__init__(rows)
        metric = points.compared_as
        self.metric: Any = {"manhattan": "cityblock"}.get(metric, metric)
        self.parameters: dict[str, Any] = points.metric_params or {}

    def cells(self, rows: Floats) -> Floats:
        """Return the distances of the given rows to all rows."""
        from scipy.spatial.distance import cdist  # takes a tenth of a second

        found: Floats = cdist(rows, self.rows, self.metric, **self.parameters)
        return found

    def bounds(self, rows: Floats, cells: Floats) -> Floats:
        """Return lower bounds of the exact distances, given the rounded distances in `cells`.

        `rows` is not used.
        """
        return cells * (1 - _SHARE_OF_ROUNDING)


class _ProductSearch(_PairSearch):
    """A search of all pairs by inner products, for Euclidean and cosine distances.

    The squared distance of x and y is ``x @ x + y @ y - 2 x @ y``, after the mean of all points was
    subtracted from both. The matrix product of the row (x, 1) and the column (-2 y, ``y @ y``)
    gives all terms except ``x @ x``, which is added afterwards. Let r be the greatest length of a
    row. A product of d coordinates is rounded by less than ``d * 2**-53 * r * r``, subtracting the
    mean changes a squared distance by less than ``8 * 2**-52 * r * r``, and each further operation
    rounds a number of at most ``4 * r * r``. :meth:`bounds` subtracts more than the sum of these
    errors.
    """

    def __init__(self, rows: Floats, metric: str) -> None:
        super().__init__(rows)
        self.is_cosine = metric == "cosine"
        self.middle: Any = 0.0 if self.is_cosine else rows.mean(axis=0)
        d = rows.shape[1]
        # The right factor of the matrix product that computes squared distances without the square
        # of the searched row (:meth:`cells`). A further column has the squared lengths of all rows,
        # so that the product also adds them.
        self.right = np.empty((len(rows), d + 1))
        near_middle = np.subtract(rows, self.middle, out=self.right[:, :d])
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij->i", near_middle, near_middle)
            self.right[:, d] = 1.0 if self.is_cosine else squares
            near_middle *= -1.0 if self.is_cosine else -2.0
        self.greatest = float(squares.max(initial=0.0))

    def cells(self, rows: Floats) -> Floats:
        """Return the distances of all pairs: cosine distances, or squared distances less a term.

        The term is ``x @ x`` of the given row x. The result has shape (m, n).
        """
        d = rows.shape[1]
        left = np.empty((len(rows), d + 1))
        left[:, :d], left[:, d] = rows - self.middle, 1.0
        found = np.empty((len(rows), len(self.right)))
        # The product is computed in pieces so small that BLAS uses one thread for each. Other
        # threads of clmst work on other rows at the same time. Threads of BLAS would compete with
        # them for the cores, and wait for one another.
        width = max(_OF_ONE_THREAD // max(left.size, 1), 1)
        with np.errstate(over="ignore", invalid="ignore"):
            for some in slices(len(self.right), width):
                np.matmul(left, self.right[some].T, out=found[:, some])
        return found

    def bounds(self, rows: Floats, cells: Floats) -> Floats:
        """Convert one number of :meth:`cells` for each row to a lower bound of the exact distance.

        The numbers in `cells` are rounded. More than the greatest possible error is subtracted.
        """
        share = (16 * rows.shape[1] + 128) * _EPSILON
        if self.is_cosine:
            below: Floats = np.maximum(cells - share, 0)
            return below
        own = rows - self.middle
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij->i", own, own)
            greatest = max(self.greatest, float(squares.max(initial=0.0)))
            least = np.maximum(cells + squares - share * greatest, 0)
        roots: Floats = np.sqrt(np.where(np.isfinite(least), least, 0))
        return roots * (1 - _SHARE_OF_ROUNDING)
