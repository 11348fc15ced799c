"""Assignment of new points to the clusters of a fitted HDBSCAN, which do not change.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015. A new point joins the tree at the point that is nearest by mutual reachability.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.arguments import check_bool, check_kind
from clmst.core.errors import InvalidGraphError, NotFittedError
from clmst.core.long_work import lasting
from clmst.core.machine import usable_cores
from clmst.core.point_checks import UNROUNDED
from clmst.core.points import Points
from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.points.condensed import NOISE, share_of
from clmst.points.core_distances import core_distances
from clmst.points.estimator import check_feature_names
from clmst.points.hdbscan import HDBSCAN, INFINITE, MISSING, distances_between
from clmst.points.inputs import Distances, filled, finite_rows
from clmst.points.metrics import own_parameters
from clmst.points.simultaneous import lexicographic_ranks

_CELLS_AT_ONCE = 1 << 22
# In few dimensions a search in a tree of boxes compares few points. In many dimensions it compares
# most of them, and inner products of all pairs are quicker. Measured: processor time on two cores,
# in seconds, for 20,000 points of a fit and 2,000 new points.
#
#     dimensions                           16     32     64
#     groups that overlap, by boxes      0.45   0.87   1.6
#     groups that overlap, by products   0.23   0.25   0.30
#     groups far apart, by boxes         0.03   0.05   0.13
#     groups far apart, by products      0.29   0.29   0.29
_MOST_DIMENSIONS_OF_TREE = 32
# By how much the distances of a search may differ from those of the metric. For most metrics, it is
# a share of each distance. For "haversine", the search compares chords, which are rounded to
# centimetres. This changes arcs by less than a metre up to a quarter of the earth's circumference,
# and by less than a kilometre beyond.
_SHARE_OF_ROUNDING, _ROUNDED_ARC, _FAR_ARC = 1e-9, 1e-3, 1e4


@lasting("assigning points to clusters")
def approximate_predict(
    clusterer: HDBSCAN, points_to_predict: Any, return_connecting_points: bool = False
) -> tuple[Array, ...]:
    """Assign new points to the clusters of a fitted HDBSCAN, which do not change.

    Each new point is connected to the point of the fit that is nearest by mutual reachability. The
    core distance of the new point is the distance to its `min_samples`-th nearest point of the fit.
    The new point gets the label of the last cluster in which the point of the fit is. If the
    connection is less dense than that cluster was when it began, the new point gets the label of
    the first cluster around it that began below the density of the connection. A new point that
    joins no chosen cluster is noise. Blocks until all points are assigned.

    Parameters
    ----------
    clusterer : HDBSCAN
        An estimator that was fitted with points, not with distances.
    points_to_predict : array of shape (m, d), data frame, or sparse matrix
        Points as rows, at least one, with as many coordinates as the points of the fit. If the fit
        was of a data frame, the columns of a data frame must have the same names in the same order.
    return_connecting_points : bool, default False
        Whether to return the point of the fit to which each new point is connected, too.

    Returns
    -------
    labels : ndarray of int64, shape (m,)
        The cluster of each new point, numbered as `labels_` of the fit: -1 for noise, -2 for a row
        with an infinite coordinate, -3 for a row with a missing coordinate (NaN). Points of the fit
        get their own labels, unless several of them have the same coordinates.
    probabilities : ndarray of float64, shape (m,)
        How strongly each new point belongs to its cluster, as `probabilities_` of the fit: the
        density of the connection, divided by the greatest density of the cluster, and at most 1.
    neighbors : ndarray of int64, shape (m,)
        The row of the fit to which each new point is connected, or -1 for rows that are not finite.
        It is returned only if `return_connecting_points` is True.

    Raises
    ------
    NotFittedError
        `clusterer` has not been fitted, or was fitted with distances.
    InvalidGraphError
        There are no points, they have another number of coordinates or other column names than the
        points of the fit, or the metric of the fit does not accept them.
    InvalidArgumentError
        `clusterer` is not an HDBSCAN.

    Notes
    -----
    The clusters are not the clusters that a fit of all points together would find. The first call
    after a fit computes the core distances of the fit again and builds a search tree of boxes.
    Later calls take O(m s log n) time, with s = `min_samples`, in few dimensions. They take O(m n
    d) at most, as in more than 32 dimensions and for metrics that :class:`clmst.Points` does not
    have. Memory is O(n + m).

    If several points of the fit are equally near, the nearest by distance counts. If these are
    equally near, too, the first that the search found counts. If the fit had
    ``ties="simultaneous"``, the point with the lexicographically least coordinates counts instead,
    so the prediction does not depend on the order of the rows. In more than 32 dimensions its
    search takes several times as long.

    The points of the fit are not copied, so they must not be changed between the fit and this call.

    Examples
    --------
    >>> from clmst.cluster import HDBSCAN, approximate_predict
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [5, 2]]
    >>> model = HDBSCAN(min_cluster_size=3).fit(X)
    >>> labels, probabilities = approximate_predict(model, [[0.5, 0.5], [7.5, 8], [50, 50]])
    >>> labels
    array([ 0,  1, -1])
    """
    is_asked = check_bool("return_connecting_points", return_connecting_points)
    predictor, given = _checked(clusterer, points_to_predict)
    found = predictor.connections(given)
    labels, strengths = predictor.membership(found)
    result = given.spread(labels, INFINITE, MISSING), given.spread(strengths, 0, np.nan)
    return (*result, given.spread(predictor.given.finite[found.point], -1, -1))[: 2 + is_asked]


@lasting("scoring points as outliers")
def approximate_predict_scores(clusterer: HDBSCAN, points_to_predict: Any) -> Floats:
    """Compute the outlier scores (GLOSH) of new points by the clusters of a fitted HDBSCAN.

    The score is 1 - lambda / lambda_max. lambda is the density at which the new point connects to a
    point of the fit, as in :func:`approximate_predict`. lambda_max is the greatest density in the
    last cluster in which that point of the fit is. The score is 0 if the connection is denser. A
    new point with the same coordinates as a point of the fit gets the score of that point in
    `outlier_scores_`. Blocks until all scores are computed.

    Parameters
    ----------
    clusterer : HDBSCAN
        An estimator that was fitted with points, not with distances.
    points_to_predict : array of shape (m, d), data frame, or sparse matrix
        Points as rows, as :func:`approximate_predict` takes them.

    Returns
    -------
    ndarray of float64, shape (m,)
        The scores, from 0 for a point in the densest part of a cluster to 1 for an outlier. The
        score is 1 for a row with an infinite coordinate, and NaN for a row with a missing
        coordinate.

    Raises
    ------
    NotFittedError
        `clusterer` has not been fitted, or was fitted with distances.
    InvalidGraphError
        There are no points, they have another number of coordinates or other column names than the
        points of the fit, or the metric of the fit does not accept them.
    InvalidArgumentError
        `clusterer` is not an HDBSCAN.

    Notes
    -----
    A call takes the time and memory of :func:`approximate_predict`.

    Examples
    --------
    >>> from clmst.cluster import HDBSCAN, approximate_predict_scores
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [5, 2]]
    >>> model = HDBSCAN(min_cluster_size=3).fit(X)
    >>> approximate_predict_scores(model, [[0, 0], [50, 50]]).round(2)
    array([0.  , 0.98])
    """
    predictor, given = _checked(clusterer, points_to_predict)
    return given.spread(predictor.scores(predictor.connections(given)), 1, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """The connection of each new point to a point of the fit."""

    point: Nodes  # shape (m,): the point of the fit that is nearest by mutual reachability
    density: Floats  # shape (m,): 1 / mutual reachability
    is_at: npt.NDArray[np.bool_]  # shape (m,): whether the distance of the two points is 0


def _checked(clusterer: Any, points_to_predict: Any) -> tuple[Predictor, Distances]:
    """Return the predictor of a fit, and the new points after they have been checked."""
    predictor = _predictor_of(clusterer)
    check_feature_names(clusterer, points_to_predict)
    return predictor.checked(points_to_predict)


def _predictor_of(clusterer: Any) -> Predictor:
    """Return the predictor of a fitted estimator. It is built at the first call and kept there."""
    own = vars(check_kind("clusterer", clusterer, HDBSCAN))
    clusterer._check_fitted()
    if "_predictor" not in own:
        own["_predictor"] = Predictor(clusterer)
    predictor: Predictor = own["_predictor"]
    return predictor


class Predictor:
    """Assigns new points to the clusters of a fit, whose points and condensed tree it keeps."""

    def __init__(self, model: HDBSCAN) -> None:
        given, used = model._given, model._fitted_by
        if given.rows is None:
            raise NotFittedError(
                f"{model!r} was fitted with distances; prediction needs a fit with points"
            )
        least = used["min_samples"]
        self.given, self.rows, self.chosen = given, given.rows, model._tree
        self.min_samples = int(used["min_cluster_size"] if least is None else least)
        self.metric = used["metric"]
        self.metric_params = own_parameters(given.rows, self.metric, used["metric_params"])
        self.alpha, self.epsilon = float(used["alpha"]), float(used["cluster_selection_epsilon"])
        self.by_values = bool(used["ties"] == "simultaneous")
        self.points = given.graph if isinstance(given.graph, Points) else None
        core = core_distances(given.graph, self.min_samples, device=model.device)
        # Core distances are multiplied by alpha, because the greater of distance and core distance
        # is divided by alpha in the end, and only the distance should be.
        self.core: Floats = core * self.alpha

    @cached_property
    def search(self) -> _Boxes | _Products:
        """The search for nearest points: a tree of boxes, or all inner products in many dimensions.

        It compares coordinates, whose distances have the same order as the distances of the metric.
        """
        assert self.points is not None, "other metrics compare all pairs"
        is_for_products = self.points.metric not in ("manhattan", "chebyshev")
        if self.by_values:  # products are rounded by how the points lie in memory
            return _Boxes(self.points)
        if is_for_products and len(self.points.planes) > _MOST_DIMENSIONS_OF_TREE:
            return _Products(self.points)
        return _Boxes(self.points)

    @cached_property
    def rank(self) -> Nodes:
        """The rank of each point of the fit in the lexicographic order of coordinates."""
        return lexicographic_ranks(self.rows)

    def checked(self, X: Any) -> tuple[Predictor, Distances]:
        """Check new points, and return a predictor that can compute their distances to the fit.

        Returns with it the new points as :class:`Distances`, without the rows that are not finite.
        The predictor is this one, unless the coordinates of both sets of points have to be divided
        by another power of 2 to be compared. Raises InvalidGraphError unless the new points have as
        many coordinates as the points of the fit.
        """
        name, d = "points_to_predict", self.rows.shape[1]
        array = filled(X, name)
        rows, finite, missing = finite_rows(array, name)
        if array.shape[1] != d or not len(array):
            raise InvalidGraphError(
                f"{name} has shape {array.shape}; it must be (m, {d}) with m at least "
                f"1, as the fit was of points with {d} coordinates"
            )
        predictor, graph = self, None
        if self.points is not None:
            points, graph = self.points.with_others(rows)
            predictor = self if points is self.points else self._of(points)
        new = Distances(
            graph=graph, n_rows=len(array), finite=finite, missing=missing, n_features=d, rows=rows
        )
        return predictor, new

    def _of(self, points: Points) -> Predictor:
        """Return a predictor of the same fit, with its points scaled by another power of 2."""
        other = copy(self)
        vars(other).pop("search", None)
        other.points = points
        return other

    def connections(self, new: Distances) -> Connections:
        """Find the point of the fit that is nearest to each new point by mutual reachability.

        Of points that are equally near, the nearest by distance is taken, and of these the first
        that was found. If the fit had ``ties="simultaneous"``, it is the one with the
        lexicographically least coordinates.
        """
        m, n = new.finite.size, len(self.rows)
        point, reach, distance = np.empty(m, np.int64), np.empty(m), np.empty(m)
        rest, k = np.arange(m), n if self.points is None else self.min_samples
        if self.by_values:  # points that are as far as the last of them must be compared, too
            k = min(2 * k, n)
        # A new point needs its nearest point by mutual reachability, but the search finds its k
        # nearest points by distance. If a point beyond these k could be nearer by mutual
        # reachability, the search is repeated with twice the k.
        while rest.size:
            again = []
            for some in slices(rest.size, max(_CELLS_AT_ONCE // k, 1)):
                at = rest[some]
                near, apart = self._near(new, at, k)
                own_core = np.partition(apart, self.min_samples - 1)[:, self.min_samples - 1]
                mutual = np.maximum(apart, self.core[near])
                np.maximum(mutual, own_core[:, None] * self.alpha, out=mutual)
                reach[at] = mutual.min(axis=1)
                apart_if = np.where(mutual == reach[at, None], apart, np.inf)
                column = self._first(near, apart_if)[:, None]
                point[at] = np.take_along_axis(near, column, axis=1)[:, 0]
                distance[at] = np.take_along_axis(apart, column, axis=1)[:, 0]
                if k < n:
                    again.append(at[self._may_miss(reach[at], apart.max(axis=1))])
            rest, k = np.concatenate([rest[:0], *again]), min(2 * k, n)
        is_at = distance == 0
        if self.points is not None:  # by rounding a cosine distance may differ from 0
            is_at |= (new.graph.planes == self.points.planes[:, point]).all(axis=0)
        with np.errstate(divide="ignore"):
            density = 1 / (reach / self.alpha)
        return Connections(point=point, density=density, is_at=is_at)

    def _first(self, near: Nodes, apart: Floats) -> Nodes:
        """Return, for each new point, the column of the nearest point among some points of the fit.

        Row i of `near` has the numbers of the points of the fit that are compared for new point i,
        and `apart` has their distances. Among equal distances, the first column is returned. If the
        fit had ``ties="simultaneous"``, it is instead the column of the point whose coordinates are
        lexicographically least.
        """
        if self.by_values:
            is_nearest = apart == apart.min(axis=1, keepdims=True)
            apart = np.where(is_nearest, self.rank[near], len(self.rows))
        columns: Nodes = apart.argmin(axis=1)
        return columns

    def _may_miss(self, reach: Floats, farthest: Floats) -> npt.NDArray[np.bool_]:
        """Return, for each new point, whether the search may have missed a point that is as near.

        `reach` is the mutual reachability distance of the nearest point that was found, and
        `farthest` the distance of the farthest point that was found.
        """
        if not self.by_values:
            return reach > farthest
        return reach * (1 + _SHARE_OF_ROUNDING) + self._slack(farthest) >= farthest

    def _slack(self, farthest: Floats) -> float | Floats:
        """Return by how much the search may misjudge distances up to `farthest`.

        It is added to a share of the distance.
        """
        assert self.points is not None, "other metrics compare all pairs"
        if self.points.metric == "cosine":
            return 8 * len(self.points.planes) * float(np.finfo(np.float64).eps)
        if self.points.metric == "haversine":
            return np.where(farthest < _FAR_ARC, _ROUNDED_ARC, 1.0)
        return 0.0 if self.points.metric in UNROUNDED else 1.0

    def _near(self, new: Distances, at: Nodes, k: int) -> tuple[Nodes, Floats]:
        """Return k points of the fit near to each of some new points, and their distances.

        They are the k nearest points, in any order. With a metric that Points does not have, k is
        the number of all points. `at` has the positions of the new points.
        """
        if self.points is None:
            assert new.rows is not None, "new points have rows"
            near = np.broadcast_to(np.arange(k), (at.size, k))
            apart = distances_between(new.rows[at], self.rows, self.metric, self.metric_params)
            return near, apart
        near = self.search.nearest(np.ascontiguousarray(new.graph.planes[:, at].T), k)
        return near, new.graph.distances_to(self.points, at[:, None], near)

    def membership(self, found: Connections) -> tuple[Nodes, Floats]:
        """Return the label of each new point, and the strength of its membership."""
        chosen, tree, density = self.chosen, self.chosen.tree, found.density
        cluster, leaves = tree.point_cluster[found.point], tree.point_lambda[found.point]
        higher = np.flatnonzero(leaves > density)
        cluster[higher] = chosen.clusters_at(cluster[higher], density[higher])
        labels = chosen.label[cluster]
        if 0 in chosen.chosen:  # the root is the only cluster; points that leave it early are noise
            least = 1 / self.epsilon if self.epsilon > 0 else tree.death[0]
            labels[np.minimum(density, leaves) < least] = NOISE
        strengths, is_in = np.zeros(labels.size), labels != NOISE
        most = tree.death[chosen.chosen[labels[is_in]]]
        strengths[is_in] = share_of(density[is_in], most)
        return labels, strengths

    def scores(self, found: Connections) -> Floats:
        """Return the outlier score of each new point."""
        leaves = self.chosen.tree.point_lambda[found.point]
        density = np.where(found.is_at, leaves, found.density)
        return self.chosen.outlier_scores(found.point, density)


class _Boxes:
    """A search for nearest points with SciPy's k-d tree."""

    def __init__(self, points: Points) -> None:
        from scipy.spatial import cKDTree  # takes a tenth of a second

        # Boxes are halved at their middle, not at the median of their points. The tree is then
        # built in less time, and searches are as fast.
        self.tree = cKDTree(np.ascontiguousarray(points.planes.T), balanced_tree=False)
        self.power = {"manhattan": 1.0, "chebyshev": np.inf}.get(points.metric, 2.0)

    def nearest(self, coordinates: Floats, k: int) -> Nodes:
        """Return the indices of the k nearest points to each row, shape (m, k)."""
        numbers = list(range(1, k + 1))  # a list, so that the result has a column even if k is 1
        found = self.tree.query(coordinates, k=numbers, p=self.power, workers=usable_cores())[1]
        return np.minimum(found, self.tree.n - 1)  # SciPy returns n for an infinite distance


class _Products:
    """A search for nearest points that computes all inner products, some rows at a time."""

    def __init__(self, points: Points) -> None:
        coordinates = points.planes.T
        self.middle = coordinates.mean(axis=0)  # products of coordinates near 0 are rounded less
        self.coordinates = coordinates - self.middle
        self.squares = np.einsum("ij,ij->i", self.coordinates, self.coordinates)

    def nearest(self, coordinates: Floats, k: int) -> Nodes:
        """Return the indices of the k nearest points to each row, shape (m, k).

        Squared distances are rounded, so a slightly farther point may take the place of a nearer
        one.
        """
        m, n = len(coordinates), len(self.coordinates)
        found = np.empty((m, k), np.int64)
        for some in slices(m, max(_CELLS_AT_ONCE // n, 1)):
            own = coordinates[some] - self.middle
            with np.errstate(over="ignore", invalid="ignore"):
                # Squared distances without the square of the row, which is equal for all points.
                squares = self.squares - 2 * (own @ self.coordinates.T)
            found[some] = np.argpartition(squares, k - 1, axis=1)[:, :k]
        return found
