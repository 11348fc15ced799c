"""Assignment of new points to the clusters of a fitted HDBSCAN, which do not change.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015. A new point joins the tree at the point that is nearest by mutual reachability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.algorithms.dendrogram.condense import Floats
from clmst.core.arguments import check_bool, check_kind
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.points.estimator import check_feature_names
from clmst.points.inputs import INFINITE, MISSING, Distances
from clmst.points.measures import TreeMeasures
from clmst.points.predictor import Predictor

if TYPE_CHECKING:
    from clmst.points.hdbscan import HDBSCAN


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


def _checked(clusterer: Any, points_to_predict: Any) -> tuple[Predictor, Distances]:
    """Return the predictor of a fit, and the new points after they have been checked."""
    predictor = _predictor_of(clusterer)
    check_feature_names(clusterer, points_to_predict)
    return predictor.checked(points_to_predict)


def _predictor_of(clusterer: Any) -> Predictor:
    """Return the predictor of a fitted estimator. It is built at the first call and kept there."""
    own = vars(check_kind("clusterer", clusterer, TreeMeasures, rule="it must be a HDBSCAN"))
    clusterer._check_fitted()
    if "_predictor" not in own:
        own["_predictor"] = Predictor(clusterer)
    predictor: Predictor = own["_predictor"]
    return predictor
