"""New points put into the clusters of a fitted HDBSCAN, which stay as they are.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015. A new point is put where the tree's nearest point by mutual reachability is.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.arguments import check_bool, check_kind
from clmst.core.errors import InvalidGraphError, NotFittedError
from clmst.core.long_work import lasting
from clmst.core.machine import usable_cores
from clmst.core.points import Points
from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.points.condensed import NOISE, share_of
from clmst.points.core_distances import core_distances
from clmst.points.estimator import check_feature_names
from clmst.points.hdbscan import HDBSCAN, INFINITE, MISSING, distances_between
from clmst.points.inputs import Distances, filled, finite_rows
from clmst.points.metrics import own_parameters

_CELLS_AT_ONCE = 1 << 22
# In few dimensions a tree of boxes leaves most points out; in many, products of all pairs are
# quicker. On two cores, processor time of 20,000 points and 2,000 new ones in groups that overlap:
# 0.45 s by boxes and 0.23 by products in 16 dimensions, 0.87 and 0.25 in 32, 1.6 and 0.30 in 64; in
# groups far apart 0.03 and 0.29, 0.05 and 0.29, 0.13 and 0.29.
_MOST_DIMENSIONS_OF_TREE = 32


@lasting("assigning points to clusters")
def approximate_predict(
    clusterer: HDBSCAN, points_to_predict: Any, return_connecting_points: bool = False
) -> tuple[Array, ...]:
    """Put new points into the clusters of a fit, which stay as they are.

    A new point connects to the fit's nearest point by mutual reachability, in which its own core
    distance is that to its `min_samples`-th nearest point of the fit. It is in the last cluster of
    that point, or in the first one around it that is born below the density of the connection.

    Parameters
    ----------
    clusterer : HDBSCAN
        Fitted by points.
    points_to_predict : array of shape (m, d), data frame, or a sparse matrix
        Points as rows, with as many coordinates as those of the fit; at least one. If the fit was
        of a data frame, the columns of a data frame must have the same names in the same order.
    return_connecting_points : bool
        Return the connecting points, too.

    Returns
    -------
    labels : ndarray of int64, shape (m,)
        As `labels_` of the fit: -1 for noise, -2 for a row with an infinite coordinate, -3 for one
        with a missing coordinate (NaN). Of the points of the fit these are their own labels, unless
        several are at one place.
    probabilities : ndarray of float64, shape (m,)
        As `probabilities_`: the density of the connection, as a share of the greatest one that the
        cluster has.
    neighbors : ndarray of int64, shape (m,)
        If asked for: the row of the fit that each point connects to; -1 for rows that are not
        finite.

    Raises
    ------
    NotFittedError
        `clusterer` has not been fitted, or was fitted by distances.
    InvalidGraphError
        There are no points, they have other dimensions or other names of columns than those of the
        fit, or its metric does not take them.
    InvalidArgumentError
        `clusterer` is no HDBSCAN.

    Notes
    -----
    The clusters are not those that a fit of all points together would find. The first call after a
    fit computes core distances, as the fit does, and builds a tree of boxes. Later calls take
    O(m s log n) time for s = `min_samples` in few dimensions, and O(m n d) at most: in more than 32
    dimensions, and for metrics that :class:`clmst.Points` does not have. Memory is O(n + m).

    The points of the fit are not copied, so they must not have been changed.

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
    """Return the outlier scores of new points, by the clusters of a fit.

    Each is 1 - lambda / lambda_max: the density of the connection, as of
    :func:`approximate_predict`, and the greatest density in the last cluster of the connecting
    point. 0 where the connection is denser. A point at the place of a point of the fit has its
    score, that of `outlier_scores_`.

    Parameters
    ----------
    clusterer : HDBSCAN
        Fitted by points.
    points_to_predict : array of shape (m, d), or a sparse matrix
        As of :func:`approximate_predict`.

    Returns
    -------
    ndarray of float64, shape (m,)
        From 0 to 1. 1 for rows with an infinite coordinate, NaN for those with a missing one.

    Raises
    ------
    ClmstError
        As of :func:`approximate_predict`.

    Notes
    -----
    Time and memory are those of :func:`approximate_predict`.
    """
    predictor, given = _checked(clusterer, points_to_predict)
    return given.spread(predictor.scores(predictor.connections(given)), 1, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """How new points connect to points of a fit."""

    point: Nodes  # shape (m,): the nearest one by mutual reachability
    density: Floats  # shape (m,): 1 / mutual reachability
    is_at: npt.NDArray[np.bool_]  # shape (m,): whether the distance is 0


def _checked(clusterer: Any, points_to_predict: Any) -> tuple[Predictor, Distances]:
    """Return the predictor of a fit, and new points that have been checked."""
    predictor = _predictor_of(clusterer)
    check_feature_names(clusterer, points_to_predict)
    return predictor.checked(points_to_predict)


def _predictor_of(clusterer: Any) -> Predictor:
    """Return what predicts for a fit: made at the first call, kept by the estimator."""
    own = vars(check_kind("clusterer", clusterer, HDBSCAN))
    clusterer._check_fitted()
    if "_predictor" not in own:
        own["_predictor"] = Predictor(clusterer)
    predictor: Predictor = own["_predictor"]
    return predictor


class Predictor:
    """The points of a fit, where to find the nearest ones, and the tree that they are in."""

    def __init__(self, model: HDBSCAN) -> None:
        given, used = model._given, model._fitted_by
        if given.rows is None:
            raise NotFittedError(
                f"{model!r} was fitted by distances; prediction needs a fit of points"
            )
        least = used["min_samples"]
        self.given, self.rows, self.chosen = given, given.rows, model._tree
        self.min_samples = int(used["min_cluster_size"] if least is None else least)
        self.metric = used["metric"]
        self.metric_params = own_parameters(given.rows, self.metric, used["metric_params"])
        self.alpha, self.epsilon = float(used["alpha"]), float(used["cluster_selection_epsilon"])
        self.points = given.graph if isinstance(given.graph, Points) else None
        core = core_distances(given.graph, self.min_samples, device=model.device)
        self.core: Floats = core * self.alpha  # compared with distances that are divided in the end

    @cached_property
    def search(self) -> _Boxes | _Products:
        """What finds nearest points, by coordinates whose distances have the metric's order."""
        assert self.points is not None, "other metrics compare all pairs"
        is_for_products = self.points.metric not in ("manhattan", "chebyshev")
        if is_for_products and len(self.points.planes) > _MOST_DIMENSIONS_OF_TREE:
            return _Products(self.points)
        return _Boxes(self.points)

    def checked(self, X: Any) -> tuple[Predictor, Distances]:
        """Return a predictor, and new points whose distances to its points it can compute.

        Rows that are not finite are left out. Raise unless the new points are rows like the fit's.
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
        """Return a predictor of the same fit, whose points have another exponent."""
        other = copy(self)
        vars(other).pop("search", None)
        other.points = points
        return other

    def connections(self, new: Distances) -> Connections:
        """Return the nearest point of the fit to each new one, by mutual reachability.

        Of equally near ones the nearest by distance, of these the first that was found.
        """
        m, n = new.finite.size, len(self.rows)
        point, reach, distance = np.empty(m, np.int64), np.empty(m), np.empty(m)
        rest, k = np.arange(m), n if self.points is None else self.min_samples
        while rest.size:  # those whose nearest point may be beyond the k nearest by distance
            again = []
            for some in slices(rest.size, max(_CELLS_AT_ONCE // k, 1)):
                at = rest[some]
                near, apart = self._near(new, at, k)
                own_core = np.partition(apart, self.min_samples - 1)[:, self.min_samples - 1]
                mutual = np.maximum(apart, self.core[near])
                np.maximum(mutual, own_core[:, None] * self.alpha, out=mutual)
                reach[at] = mutual.min(axis=1)
                apart_if = np.where(mutual == reach[at, None], apart, np.inf)
                column = apart_if.argmin(axis=1)[:, None]
                point[at] = np.take_along_axis(near, column, axis=1)[:, 0]
                distance[at] = np.take_along_axis(apart, column, axis=1)[:, 0]
                if k < n:
                    again.append(at[reach[at] > apart.max(axis=1)])
            rest, k = np.concatenate([rest[:0], *again]), min(2 * k, n)
        is_at = distance == 0
        if self.points is not None:  # a cosine distance may miss 0 a little
            is_at |= (new.graph.planes == self.points.planes[:, point]).all(axis=0)
        with np.errstate(divide="ignore"):
            density = 1 / (reach / self.alpha)
        return Connections(point=point, density=density, is_at=is_at)

    def _near(self, new: Distances, at: Nodes, k: int) -> tuple[Nodes, Floats]:
        """Return k points of the fit that are nearest to new ones, and their distances."""
        if self.points is None:
            assert new.rows is not None, "new points have rows"
            near = np.broadcast_to(np.arange(k), (at.size, k))
            apart = distances_between(new.rows[at], self.rows, self.metric, self.metric_params)
            return near, apart
        near = self.search.nearest(np.ascontiguousarray(new.graph.planes[:, at].T), k)
        return near, new.graph.distances_to(self.points, at[:, None], near)

    def membership(self, found: Connections) -> tuple[Nodes, Floats]:
        """Return labels, and strengths of membership."""
        chosen, tree, density = self.chosen, self.chosen.tree, found.density
        cluster, leaves = tree.point_cluster[found.point], tree.point_lambda[found.point]
        higher = np.flatnonzero(leaves > density)
        cluster[higher] = chosen.clusters_at(cluster[higher], density[higher])
        labels = chosen.label[cluster]
        if 0 in chosen.chosen:  # all points are one cluster, but early ones
            least = 1 / self.epsilon if self.epsilon > 0 else tree.death[0]
            labels[np.minimum(density, leaves) < least] = NOISE
        strengths, is_in = np.zeros(labels.size), labels != NOISE
        most = tree.death[chosen.chosen[labels[is_in]]]
        strengths[is_in] = share_of(density[is_in], most)
        return labels, strengths

    def scores(self, found: Connections) -> Floats:
        """Return outlier scores."""
        leaves = self.chosen.tree.point_lambda[found.point]
        density = np.where(found.is_at, leaves, found.density)
        return self.chosen.outlier_scores(found.point, density)


class _Boxes:
    """Nearest points by SciPy's tree of boxes."""

    def __init__(self, points: Points) -> None:
        # Halves at the middle of boxes, not of points: built sooner, and as quick.
        self.tree = cKDTree(np.ascontiguousarray(points.planes.T), balanced_tree=False)
        self.power = {"manhattan": 1.0, "chebyshev": np.inf}.get(points.metric, 2.0)

    def nearest(self, coordinates: Floats, k: int) -> Nodes:
        """Return the k nearest points to each row, shape (m, k)."""
        numbers = list(range(1, k + 1))  # so that there is a column even for one
        found = self.tree.query(coordinates, k=numbers, p=self.power, workers=usable_cores())[1]
        return np.minimum(found, self.tree.n - 1)  # n stands for points at an infinite distance


class _Products:
    """Nearest points by all inner products, some rows at a time."""

    def __init__(self, points: Points) -> None:
        coordinates = points.planes.T
        self.middle = coordinates.mean(axis=0)  # near 0 products are rounded less
        self.coordinates = coordinates - self.middle
        self.squares = np.einsum("ij,ij->i", self.coordinates, self.coordinates)

    def nearest(self, coordinates: Floats, k: int) -> Nodes:
        """Return the k nearest points to each row, but for rounding, shape (m, k)."""
        m, n = len(coordinates), len(self.coordinates)
        found = np.empty((m, k), np.int64)
        for some in slices(m, max(_CELLS_AT_ONCE // n, 1)):
            own = coordinates[some] - self.middle
            with np.errstate(over="ignore", invalid="ignore"):
                squares = self.squares - 2 * (own @ self.coordinates.T)  # less those of the rows
            found[some] = np.argpartition(squares, k - 1, axis=1)[:, :k]
        return found
