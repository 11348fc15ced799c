"""Searches on the host for the points of a fixed set that are nearest to any given points.

A search is made in SciPy's k-d tree, or by comparing all pairs: by inner products, by SciPy's
`cdist`, or by the definition of a metric that divides. Its distances may be rounded in another way
than the definition of the metric says. So callers compute the distances of found points anew.

Two callers need different answers. :class:`clmst.core.near_points.NearestPoints`, for trees and
core distances, calls :meth:`PointSearch.nearest`, which also returns a lower bound on the distances
of all other points. The predictor of HDBSCAN (:mod:`clmst.points.predictor`) calls
:meth:`PointSearch.k_nearest`. It needs exactly k points, in an order that decides between points
that are equally near. Its metrics include "haversine", whose distances are rounded, so the bounds
do not hold for them.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from clmst.core.machine import usable_cores
from clmst.core.points import Points
from clmst.core.quotients import DIVIDED, distances
from clmst.core.threads import in_threads, slices

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

# Upper bound of the relative difference between a distance that a search computes and the distance
# of the metric's definition. A search adds the same terms in another order, so the two differ by
# rounding. The relative difference is less than the number of dimensions times 2**-51. For
# Minkowski distances, powers and roots add less than 2**-40.
SHARE_OF_ROUNDING = 1e-9
_CELLS_AT_ONCE = 1 << 20
# The cells of a row are the distances of one point to all others. To find the least cells of a row
# with more than this number of cells, the row is divided into groups.
_FEW_CELLS = 64
_LISTED_AT_MOST = 4  # a list may have this number of times as many points as were asked for
# Maximum number of multiplications of a matrix product that OpenBLAS computes with a single thread.
# From 262,144 on, it uses several.
_OF_ONE_THREAD = 240_000
_EPSILON = float(np.finfo(np.float64).eps)


class PointSearch(Protocol):
    """A search, among a fixed set of points, for those nearest to any given point."""

    def nearest(self, rows: Floats, k: int, within: float) -> tuple[Numbers, Floats]:
        """Find about `k` near points of each row, and a lower bound on the distances of all others.

        `rows` has the coordinates of m points, shape (m, d). Returns the positions of the near
        points, shape (m, k) or with more columns, and the bounds, shape (m,). If fewer points than
        columns are found, the number of all points stands in place of each missing position. Points
        farther than `within` need not be found.
        """

    def k_nearest(self, rows: Floats, k: int) -> Numbers:
        """Return the positions of the `k` points nearest to each row, shape (m, k).

        `rows` has the coordinates of m points, shape (m, d). The distances that are compared are
        rounded, so a point may be returned in place of one that is slightly nearer.
        """

    def order(self) -> Numbers:
        """Return the positions of all points, near points after one another if that is known."""


def has_products(points: Points) -> bool:
    """Return whether inner products of all pairs give the distances of the metric of `points`."""
    return points.metric not in ("manhattan", "chebyshev", "minkowski", *DIVIDED)


def search_of(points: Points, rows: Floats, *, use_tree: bool) -> PointSearch:
    """Create the search for the metric of `points`, in a tree if `use_tree` is true.

    `rows` has the coordinates of the points that can be found, shape (n, d), out of
    :attr:`clmst.Points.planes`. Without a tree, all pairs are compared, by inner products if the
    metric has them. For metrics that divide, which a tree cannot search, all pairs are compared in
    any case.
    """
    if points.metric in DIVIDED:
        return _DefinitionSearch(rows, points)
    if use_tree:
        return _TreeSearch(rows, points)
    return _ProductSearch(rows, points) if has_products(points) else _CellSearch(rows, points)


class _TreeSearch:
    """A search for the nearest points with SciPy's k-d tree."""

    def __init__(self, rows: Floats, points: Points) -> None:
        from scipy.spatial import cKDTree  # takes a tenth of a second

        metric = points.compared_as
        # Boxes are halved at their middle, not at the median of their points. The tree is then
        # built in less time, and searches are as fast.
        self.tree = cKDTree(rows, balanced_tree=False)
        self.power = {"manhattan": 1.0, "chebyshev": np.inf}.get(metric, points.power)
        self.is_cosine, self.slack = metric == "cosine", 8 * rows.shape[1] * _EPSILON

    def nearest(self, rows: Floats, k: int, within: float) -> tuple[Numbers, Floats]:
        """Find `k` near points of each row in the tree, and lower bounds on all other distances.

        Arguments and results are as in :class:`PointSearch`. Points farther than `within` are not
        found.
        """
        most = np.inf if self.is_cosine else within * (1 + 2 * SHARE_OF_ROUNDING)
        apart, at = self._query(rows, k, most)
        last: Floats = np.minimum(apart[:, -1], most)
        if not self.is_cosine:
            return at, last * (1 - SHARE_OF_ROUNDING)
        # A chord of the unit sphere is the root of twice the cosine distance.
        return at, np.maximum(last * last / 2 * (1 - SHARE_OF_ROUNDING) - self.slack, 0)

    def k_nearest(self, rows: Floats, k: int) -> Numbers:
        """Return the positions of the `k` points nearest to each row, the nearest first.

        Arguments and results are as in :class:`PointSearch`.
        """
        found: Numbers = self._query(rows, k, np.inf)[1]
        return np.minimum(found, self.tree.n - 1)  # SciPy returns n for an infinite distance

    def _query(self, rows: Floats, k: int, most: float) -> tuple[Floats, Numbers]:
        """Return the distances and positions of `k` points, the nearest first, shapes (m, k).

        Points farther than `most` are not found. The number of all points stands in place of each
        missing position, and its distance is infinite.
        """
        numbers = list(range(1, k + 1))  # a list, so that the result has a column even if k is 1
        found: Any = self.tree.query(
            rows, k=numbers, p=self.power, distance_upper_bound=most,
            workers=usable_cores() if len(rows) > 1000 else 1,
        )  # fmt: skip
        apart, at = found
        return apart, at

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

    def k_nearest(self, rows: Floats, k: int) -> Numbers:
        """Return the positions of the `k` points nearest to each row, in any order.

        Arguments and results are as in :class:`PointSearch`.
        """

        def nearest_of(some: slice) -> Numbers:
            found: Numbers = np.argpartition(self.cells(rows[some]), k - 1, axis=1)[:, :k]
            return found

        parts = slices(len(rows), max(_CELLS_AT_ONCE // len(self.rows), 1))
        return np.concatenate([np.zeros((0, k), np.int64), *in_threads(nearest_of, parts)])

    def _nearest_of(self, rows: Floats, k: int) -> tuple[Numbers, Floats]:
        """Find `k` near points of each row, and bounds on all others, as :meth:`nearest` does.

        The rows must be few, because the numbers of all pairs are in memory at once.
        """
        n, cells = len(self.rows), self.cells(rows)
        last = bound_of_least(cells, k)
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


def bound_of_least(cells: Floats, k: int) -> Floats:
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
        return cells * (1 - SHARE_OF_ROUNDING)


class _DefinitionSearch(_PairSearch):
    """A search of all pairs by the definition of a metric that divides, such as Jaccard's."""

    def __init__(self, rows: Floats, points: Points) -> None:
        super().__init__(rows)
        self.metric, self.planes = points.metric, np.ascontiguousarray(rows.T)

    def cells(self, rows: Floats) -> Floats:
        """Return the distances of the given rows to all rows."""
        own = np.ascontiguousarray(rows.T)[:, :, None]
        found: Floats = distances(self.metric, zip(own, self.planes[:, None], strict=True))
        return found

    def bounds(self, rows: Floats, cells: Floats) -> Floats:
        """Return `cells`, because these distances are exact. `rows` is not used."""
        return cells


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

    def __init__(self, rows: Floats, points: Points) -> None:
        super().__init__(rows)
        self.is_cosine = points.compared_as == "cosine"
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
        return roots * (1 - SHARE_OF_ROUNDING)
