"""Assignment of new points to the clusters of a fitted HDBSCAN, which do not change.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015. A new point joins the tree at the point that is nearest by mutual reachability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.arguments import check_bool, check_integer, check_kind
from clmst.core.errors import InvalidArgumentError, NotFittedError
from clmst.core.long_work import lasting
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.condensed import NOISE
from clmst.points.estimator import check_feature_names
from clmst.points.exemplars import Exemplars
from clmst.points.inputs import INFINITE, MISSING, Distances
from clmst.points.measures import TreeMeasures
from clmst.points.membership import Places, greatest_memberships_of, memberships_of
from clmst.points.metrics import own_parameters
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
    The new point joins the deepest cluster of the condensed tree that contains the point of the
    fit. If the density of the connection, 1 / distance, is less than the density at which that
    cluster splits off, the new point joins the nearest cluster around it that splits off at a lower
    density than the connection's. The new point gets the label of the chosen cluster that contains
    the cluster it has joined. A new point that joins no chosen cluster is noise. Blocks until all
    points are assigned.

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
        `points_to_predict` is empty, or its points have another number of coordinates or other
        column names than the points of the fit, or the metric of the fit does not accept them.
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
        `points_to_predict` is empty, or its points have another number of coordinates or other
        column names than the points of the fit, or the metric of the fit does not accept them.
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


@lasting("computing memberships")
def membership_vector(
    clusterer: HDBSCAN, points_to_predict: Any, top_k: int | None = None
) -> Array | tuple[Array, Array]:
    """Compute the memberships of new points in all clusters of a fitted HDBSCAN (soft clustering).

    A membership is a number from 0 to 1. The sum of the memberships of a point is the strength with
    which it belongs to any cluster: near 1 in the densest part of a cluster, and near 0 far from
    all clusters. The strength is divided among the clusters by two measures: the distances from the
    point to the exemplars of each cluster, and the densities at which the point and the exemplars
    are in one cluster of the condensed tree. Blocks until all memberships are computed.

    Parameters
    ----------
    clusterer : HDBSCAN
        An estimator that was fitted with points, not with distances.
    points_to_predict : array of shape (m, d), data frame, or sparse matrix
        Points as rows, as :func:`approximate_predict` takes them.
    top_k : int, optional
        How many memberships of each point to return, the greatest ones, from 1 to the number of
        clusters. By default all are returned.

    Returns
    -------
    memberships : ndarray of float64, shape (m, n_clusters)
        The membership of each point in the cluster of each label. All are 0 for a row with an
        infinite coordinate, and NaN for a row with a missing coordinate (NaN).
    labels : ndarray of int64, shape (m, top_k)
        Returned only with `top_k`, as the first of two arrays: the labels of the clusters in which
        the point has its greatest memberships, the greatest first. They are -1 for rows that are
        not finite. Then `memberships` has the shape (m, top_k), too.

    Raises
    ------
    NotFittedError
        `clusterer` has not been fitted, or was fitted with distances.
    InvalidGraphError
        `points_to_predict` is empty, or its points have another number of coordinates or other
        column names than the points of the fit, or the metric of the fit does not accept them.
    InvalidArgumentError
        `clusterer` is not an HDBSCAN, or `top_k` is not from 1 to the number of clusters.

    See Also
    --------
    all_points_membership_vectors : The same for the points of the fit.

    Notes
    -----
    The definition is hdbscan's [1]_. For a new point and a cluster j, let d be the distance of the
    point to the nearest exemplar of cluster j. Let lambda be the density at which the new point
    connects to a point of the fit, and at most the density at which that point leaves its last
    cluster. Let l be the greatest density, up to lambda, at which the new point and cluster j are
    in one cluster of the tree, and M the greatest density of the last cluster of the connected
    point. The memberships are in the ratio of ``sqrt(1 / d) * softmax(M / (M - l)) ** 2``. Their
    sum is the greatest l, divided by the greatest density of the cluster that it belongs to or by
    lambda, whichever is greater. If several clusters have the greatest l, the one that contains the
    connected point counts, and otherwise the densest.

    The time is the time of :func:`approximate_predict`, and O(m e d + m k) for e exemplars of all k
    clusters. For Euclidean, Manhattan and Minkowski distances, near points are compared only with
    the exemplars of each cluster that may be the nearest to one of them. In few dimensions, these
    are few. Memory is O(n + m k), or O(n + m top_k) with `top_k`.

    References
    ----------
    .. [1] L. McInnes, J. Healy, S. Astels, "hdbscan: Hierarchical density based clustering",
       Journal of Open Source Software, 2017.

    Examples
    --------
    >>> from clmst.cluster import HDBSCAN, membership_vector
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [5, 2]]
    >>> model = HDBSCAN(min_cluster_size=3).fit(X)
    >>> membership_vector(model, [[0.5, 0.5], [5, 4]]).round(2)
    array([[1.  , 0.  ],
           [0.11, 0.09]])
    >>> labels, memberships = membership_vector(model, [[8, 8.5]], top_k=1)
    >>> labels
    array([[1]])
    """
    asked = _checked_top_k(clusterer, top_k)
    predictor, given = _checked(clusterer, points_to_predict)
    found, rows = predictor.connections(given), given.rows
    assert rows is not None, "new points have rows"
    leaves = predictor.chosen.tree.point_lambda[found.point]
    density = np.where(found.is_at, leaves, np.minimum(found.density, leaves))
    last = predictor.chosen.tree.point_cluster[found.point]
    return _memberships(clusterer, given, last, density, asked)


@lasting("computing memberships")
def all_points_membership_vectors(
    clusterer: HDBSCAN, top_k: int | None = None
) -> Array | tuple[Array, Array]:
    """Compute the memberships of the points of a fit in all of its clusters (soft clustering).

    A membership is a number from 0 to 1, as in :func:`membership_vector`. Blocks until all
    memberships are computed.

    Parameters
    ----------
    clusterer : HDBSCAN
        An estimator that was fitted with points, not with distances.
    top_k : int, optional
        How many memberships of each point to return, the greatest ones, from 1 to the number of
        clusters. By default all are returned. With many points and many clusters `top_k` saves
        memory: all memberships of 1,500,000 points in 15,000 clusters are 180 GB.

    Returns
    -------
    memberships : ndarray of float64, shape (n, n_clusters)
        The membership of each point in the cluster of each label. All are 0 for a row with an
        infinite coordinate, and NaN for a row with a missing coordinate (NaN).
    labels : ndarray of int64, shape (n, top_k)
        Returned only with `top_k`, as the first of two arrays: the labels of the clusters in which
        the point has its greatest memberships, the greatest first. They are -1 for rows that are
        not finite. Then `memberships` has the shape (n, top_k), too.

    Raises
    ------
    NotFittedError
        `clusterer` has not been fitted, or was fitted with distances.
    InvalidArgumentError
        `clusterer` is not an HDBSCAN, or `top_k` is not from 1 to the number of clusters.

    See Also
    --------
    membership_vector : The same for new points.

    Notes
    -----
    The definition is hdbscan's [1]_, and differs from that for new points. Let d be the distance of
    the point to the nearest exemplar of cluster j, and l the greatest density at which the point
    and cluster j are in one cluster of the tree. Let M be the greatest density of the point's last
    cluster. The memberships are in the ratio of ``1 / d * softmax(exp(-M / l))``. Their sum is the
    greatest l, divided by the greatest density of the cluster that it belongs to, and at most 1. If
    several clusters have the greatest l, the one that contains the point counts, and otherwise the
    densest.

    Time is O(n e d + n k) for e exemplars of all k clusters. For Euclidean, Manhattan and Minkowski
    distances, near points are compared only with the exemplars of each cluster that may be the
    nearest to one of them. In few dimensions, these are few. Memory is O(n k), or O(n top_k) with
    `top_k`.

    References
    ----------
    .. [1] L. McInnes, J. Healy, S. Astels, "hdbscan: Hierarchical density based clustering",
       Journal of Open Source Software, 2017.

    Examples
    --------
    >>> from clmst.cluster import HDBSCAN, all_points_membership_vectors
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [5, 2]]
    >>> model = HDBSCAN(min_cluster_size=3).fit(X)
    >>> all_points_membership_vectors(model)[[0, 4, 8]].round(2)
    array([[1.  , 0.  ],
           [0.  , 1.  ],
           [0.14, 0.08]])
    """
    asked = _checked_top_k(clusterer, top_k)
    tree, given = clusterer._tree.tree, clusterer._given
    places = tree.point_cluster, tree.point_lambda
    return _memberships(clusterer, given, *places, asked, are_of_fit=True)


def _checked_top_k(clusterer: Any, top_k: Any) -> int | None:
    """Check `top_k`, the number of memberships to return for each point, and return it.

    Raises NotFittedError if the clusterer has not been fitted with points, and InvalidArgumentError
    unless `top_k` is None, which means all, or from 1 to the number of clusters.
    """
    _check_points(clusterer, "memberships need")
    if top_k is None:
        return None
    asked, count = check_integer("top_k", top_k, low=1), clusterer.selected_clusters_.size
    if asked > count:
        raise InvalidArgumentError(
            f"top_k is {asked}, and the fit has {count} cluster{'s' * (count != 1)}; it must be "
            "at most the number of clusters (None returns all memberships)"
        )
    return asked


def _memberships(
    clusterer: HDBSCAN, given: Distances, cluster: Nodes, density: Floats, top_k: int | None, *,
    are_of_fit: bool = False,
) -> Array | tuple[Array, Array]:  # fmt: skip
    """Compute the memberships of the finite rows of `given`, and expand the result to all rows.

    `cluster` has the last cluster of the condensed tree in which each finite row is, and `density`
    the density up to which the row is in it. `are_of_fit` says whether `clusterer` was fitted to
    these rows. If `top_k` is None, the result is an array with a column for each label. Otherwise
    it consists of two arrays, the labels and the values of the `top_k` greatest memberships.
    """
    rows, used = given.rows, clusterer._fitted_by
    of_fit = clusterer._given.rows
    assert rows is not None, "checked before"
    assert of_fit is not None, "checked before"
    graph, metric = clusterer._given.graph, used["metric"]
    if isinstance(graph, Points):
        metric, parameters = graph.metric, graph.metric_params
    else:
        parameters = own_parameters(of_fit, metric, used["metric_params"])
    exemplars = Exemplars(
        rows=np.concatenate([rows[:0], *clusterer.exemplars_]),
        counts=np.array([len(one) for one in clusterer.exemplars_], np.int64),
        metric=metric, metric_params=parameters,
    )  # fmt: skip
    places = Places(
        cluster=cluster, density=density, rows=rows, exemplars=exemplars, are_of_fit=are_of_fit
    )
    chosen = clusterer._tree
    if top_k is None:
        return given.spread(memberships_of(chosen, places), 0, np.nan, 0)
    labels, greatest = greatest_memberships_of(chosen, places, top_k)
    return given.spread(labels, NOISE, NOISE, NOISE), given.spread(greatest, 0, np.nan, 0)


def _check_points(clusterer: Any, what: str) -> None:
    """Raise an error unless the clusterer is an HDBSCAN that has been fitted with points.

    `what` is the part of the message that says what needs a fit with points, such as "prediction
    needs".
    """
    check_kind("clusterer", clusterer, TreeMeasures, rule="it must be a HDBSCAN")
    clusterer._check_fitted()
    if clusterer._given.stored_rows is None:
        raise NotFittedError(f"{clusterer!r} was fitted with distances; {what} a fit with points")


def _checked(clusterer: Any, points_to_predict: Any) -> tuple[Predictor, Distances]:
    """Check new points, and return the predictor that assigns them, and the points as distances.

    `clusterer` is the fitted estimator.
    """
    predictor = predictor_of(clusterer)
    check_feature_names(clusterer, points_to_predict)
    return predictor.checked(points_to_predict)


def predictor_of(clusterer: Any) -> Predictor:
    """Return the object that assigns new points to the clusters of `clusterer`, a fitted estimator.

    The first call builds it, and the estimator keeps it. Raises an error if the estimator was not
    fitted with points.
    """
    _check_points(clusterer, "prediction needs")
    kept = clusterer._kept
    if "predictor" not in kept:
        kept["predictor"] = Predictor(clusterer)
    predictor: Predictor = kept["predictor"]
    return predictor
