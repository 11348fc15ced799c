"""Connect new points to the points of a fitted HDBSCAN, and find their labels and outlier scores.

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

from clmst import route
from clmst.algorithms.dendrogram.condense import Floats, Nodes, reciprocals
from clmst.core.errors import InvalidGraphError
from clmst.core.point_checks import UNROUNDED
from clmst.core.point_search import SHARE_OF_ROUNDING, PointSearch, has_products, search_of
from clmst.core.points import Points
from clmst.core.threads import slices
from clmst.points.between import distances_between
from clmst.points.condensed import NOISE, share_of
from clmst.points.core_distances import core_distances
from clmst.points.inputs import Distances, filled, finite_rows
from clmst.points.measures import TreeMeasures
from clmst.points.metrics import own_parameters
from clmst.points.simultaneous import lexicographic_ranks
from clmst.points.weights import core_by_weights, core_of_near

_CELLS_AT_ONCE = 1 << 22
# The error of most distances of a search is less than SHARE_OF_ROUNDING times the distance. For
# "haversine", the search compares chords (straight lines through the earth), which are rounded to
# centimetres. The error of an arc is then less than _ROUNDED_ARC, a metre, if the arc is at most
# _FAR_ARC, a quarter of the earth's circumference in kilometres. The error of a longer arc is less
# than a kilometre.
_ROUNDED_ARC, _FAR_ARC = 1e-3, 1e4


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """For each of m new points: the point of the fit to which it is connected, and how near it is.

    The connected point is the one that is nearest by mutual reachability, which is the greatest of
    the distance and both core distances.
    """

    point: Nodes  # shape (m,): the point of the fit that is nearest by mutual reachability
    density: Floats  # shape (m,): 1 / mutual reachability
    is_at: npt.NDArray[np.bool_]  # shape (m,): whether the distance of the two points is 0


class Predictor:
    """Assigns new points to the clusters of a fit. It keeps the points and the tree of the fit."""

    def __init__(self, model: TreeMeasures) -> None:
        given, used = model._given, model._fitted_by
        assert given.rows is not None, "checked before"
        least = used["min_samples"]
        self.given, self.rows, self.chosen = given, given.rows, model._tree
        self.min_samples = int(used["min_cluster_size"] if least is None else least)
        self.metric = used["metric"]
        self.metric_params = own_parameters(given.rows, self.metric, used["metric_params"])
        self.alpha, self.epsilon = float(used["alpha"]), float(used["cluster_selection_epsilon"])
        self.by_values = bool(used["ties"] == "simultaneous")
        self.points = given.graph if isinstance(given.graph, Points) else None
        self.weights = given.weights
        if self.weights is None:
            core = core_distances(given.graph, self.min_samples, device=model.device)
        else:
            core = core_by_weights(given.graph, self.min_samples, self.weights)
        # In the mutual reachability, only the distance of two points is divided by alpha, and their
        # core distances are not. Here the greatest of the three is divided by alpha at the end. So
        # core distances are multiplied by alpha first.
        self.core: Floats = core * self.alpha

    @cached_property
    def search(self) -> PointSearch:
        """The object that finds the points of the fit that are nearest to new points.

        It compares scaled coordinates, whose distances have the same order as the distances of the
        metric. The rounding of inner products depends on how the points lie in memory. So they are
        not used if the result must not depend on the order of the points (``ties="simultaneous"``).
        """
        points = self.points
        assert points is not None, "other metrics compare all pairs"
        use_tree = (
            self.by_values
            or not has_products(points)
            or route.searches_boxes(*points.planes.shape[::-1], of_new=True)
        )
        return search_of(points, np.ascontiguousarray(points.planes.T), use_tree=use_tree)

    @cached_property
    def rank(self) -> Nodes:
        """The position of each point of the fit in the lexicographic order of coordinates."""
        return lexicographic_ranks(self.rows)

    def checked(self, X: Any) -> tuple[Predictor, Distances]:
        """Check the new points `X`, and return a predictor for them, and the points.

        The second result has the new points as :class:`Distances`, without the rows that are not
        finite. To keep squares in range, coordinates are divided by a power of 2. The predictor is
        this one, unless the new points need another power of 2 than the points of the fit. Raises
        InvalidGraphError unless the new points have as many coordinates as the points of the fit.
        """
        name, d = "points_to_predict", self.rows.shape[1]
        array = filled(X, name)
        rows, finite, missing = finite_rows(array, name)
        if array.shape[1] != d or not len(array):
            raise InvalidGraphError(
                f"{name} has shape {array.shape}; it must be (m, {d}) with m at least "
                f"1, as the fit was of points with {d} coordinates (X has {array.shape[1]} "
                f"features, but HDBSCAN is expecting {d} features as input)"
            )
        predictor, graph = self, None
        if self.points is not None:
            points, graph = self.points.with_others(rows)
            predictor = self if points is self.points else self._of(points)
        new = Distances(
            graph=graph, n_rows=len(array), finite=finite, missing=missing, n_features=d,
            stored_rows=rows,
        )  # fmt: skip
        return predictor, new

    def _of(self, points: Points) -> Predictor:
        """Return a predictor of the same fit whose coordinates are scaled otherwise.

        `points` are the points of the fit, divided by another power of 2.
        """
        other = copy(self)
        vars(other).pop("search", None)
        other.points = points
        return other

    def connections(self, new: Distances) -> Connections:
        """Find the point of the fit that is nearest to each new point by mutual reachability.

        The mutual reachability of two points is the greatest of their distance and both core
        distances. If several points are equally near, the nearest of them by distance is taken. If
        there are still several, the one that was found first is taken, or, if the fit had
        ``ties="simultaneous"``, the one with the lexicographically least coordinates.
        """
        m, n = new.finite.size, len(self.rows)
        point, reach, distance = np.empty(m, np.int64), np.empty(m), np.empty(m)
        rest, k = np.arange(m), n if self.points is None else min(self.min_samples, n)
        if self.by_values:  # further points may be exactly as far as the last of the k points
            k = min(2 * k, n)
        # The mutual reachability of two points is the greatest of their distance and both core
        # distances. A new point needs its nearest point in this measure, but the search finds its k
        # nearest points by distance. If a point beyond these k could be nearer by mutual
        # reachability, the search is repeated with twice the k.
        while rest.size:
            again = []
            for some in slices(rest.size, max(_CELLS_AT_ONCE // k, 1)):
                at = rest[some]
                near, apart = self._near(new, at, k)
                if self.weights is None:
                    own_core = np.partition(apart, self.min_samples - 1)[:, self.min_samples - 1]
                else:
                    own_core = core_of_near(apart, self.weights[near], self.min_samples)
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
        return Connections(point=point, density=reciprocals(reach / self.alpha), is_at=is_at)

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
        assert self.points is not None, "other metrics compare all pairs"
        return reach * (1 + SHARE_OF_ROUNDING) + _slack(self.points, farthest) >= farthest

    def _near(self, new: Distances, at: Nodes, k: int) -> tuple[Nodes, Floats]:
        """Return the k nearest points of the fit for each of some new points, and their distances.

        The points are in any order. With a metric that :class:`Points` does not have, k must be the
        number of all points. `at` has the positions of the new points in `new`. Both results have
        the shape (m, k).
        """
        if self.points is None:
            assert new.rows is not None, "new points have rows"
            near = np.broadcast_to(np.arange(k), (at.size, k))
            apart = distances_between(new.rows[at], self.rows, self.metric, self.metric_params)
            return near, apart
        near = self.search.k_nearest(np.ascontiguousarray(new.graph.planes[:, at].T), k)
        return near, new.graph.distances_to(self.points, at[:, None], near)

    def membership(self, found: Connections) -> tuple[Nodes, Floats]:
        """Return the label of each new point, and how strongly it belongs to its cluster.

        `found` has the connection of each new point to a point of the fit.
        """
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
        """Return the outlier score of each new point, given its connection in `found`."""
        leaves = self.chosen.tree.point_lambda[found.point]
        density = np.where(found.is_at, leaves, found.density)
        return self.chosen.outlier_scores(found.point, density)


def _slack(points: Points, farthest: Floats) -> float | Floats:
    """Return the absolute error that distances in a search in a tree of boxes may have.

    The result is for distances up to `farthest`, by the metric of `points`. In addition to it,
    there may be a relative error of ``SHARE_OF_ROUNDING``.
    """
    if points.compared_as == "cosine":
        return 8 * len(points.planes) * float(np.finfo(np.float64).eps)
    if points.metric == "haversine":
        return np.where(farthest < _FAR_ARC, _ROUNDED_ARC, 1.0)
    return 0.0 if points.metric in UNROUNDED else 1.0
