"""HDBSCAN: the estimator, the ranges of its parameters, and the centres of its clusters."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from clmst.core.arguments import check_bool, check_choice, check_dict, check_integer, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.long_work import lasting
from clmst.core.magnitude import exponent_of, magnitudes
from clmst.core.points import Points
from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.points.condensed import NOISE
from clmst.points.estimator import ClusterEstimator, note_features
from clmst.points.inputs import Distances, distances_of
from clmst.points.measures import TreeMeasures
from clmst.points.metrics import (
    check_metric,
    own_parameters,
    scipys_name,
    scipys_parameters,
    usual_name,
)
from clmst.points.pipeline import cluster_by_density

INFINITE, MISSING = -2, -3  # labels of points that have an infinite coordinate, or NaN


class HDBSCAN(TreeMeasures, ClusterEstimator):
    """Clusters of points by density, of which the number need not be known.

    scikit-learn is not needed; parameters and attributes are those of its HDBSCAN.

    Parameters
    ----------
    min_cluster_size : int
        Fewest points of a cluster, 2 or more.
    min_samples : int, optional
        How many points, itself included, must be near a point for it to be dense;
        `min_cluster_size` by default.
    cluster_selection_epsilon : float
        Clusters that are less than this apart stay one.
    max_cluster_size : int, optional
        Most points of a cluster, for "eom".
    metric : str or callable
        As of :func:`clmst.cluster.single_linkage`. "haversine" takes degrees and has kilometres; a
        :class:`GraphWarning` tells of coordinates that may be radians.
    metric_params : dict, optional
        Arguments of the metric.
    alpha : float
        Distances are divided by it, and core distances are not: two points are
        ``max(distance / alpha, core, core)`` apart.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}
        The result is the same. The last two refuse the metrics that they refuse in scikit-learn.
    leaf_size, n_jobs, copy
        Without effect. The input is never changed.
    cluster_selection_method : {"eom", "leaf"}
        The most stable clusters, or the smallest ones.
    allow_single_cluster : bool
        Whether all points may be one cluster.
    store_centers : {None, "centroid", "medoid", "both"}
        What to compute for each cluster: the weighted mean, the most central point.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        The cluster of each point, numbered by least point; -1 for noise, -2 for a point with an
        infinite coordinate, -3 for one with a missing coordinate (NaN).
    probabilities_ : ndarray of float64, shape (n,)
        How strongly each point belongs to its cluster; 0 for noise, NaN for missing coordinates.
    centroids_, medoids_ : ndarray, shape (n_clusters, d)
        If `store_centers` asks for them.
    condensed_tree_ : structured array
        Fields "parent", "child", "value" (lambda, the reciprocal of the height) and "cluster_size".
        Of n finite points, points are 0 to n - 1 and clusters from n on.
    selected_clusters_ : ndarray of int64, shape (n_clusters,)
        The cluster of the condensed tree that each label is.
    outlier_scores_, cluster_persistence_, exemplars_
        See below; they are computed when they are first read.
    forest_ : Forest
        The minimum spanning forest of mutual reachability of finite points.
    n_connected_components_ : int
        Of a sparse input; where there are several, a warning says so, and they are joined at
        infinity.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where the columns of X have names.

    Examples
    --------
    >>> from clmst.cluster import HDBSCAN
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [4, 20]]
    >>> HDBSCAN(min_cluster_size=3).fit_predict(X)
    array([ 0,  0,  0,  0,  1,  1,  1,  1, -1])
    """

    _takes_sparse_points = _takes_gaps = True
    _given: Distances

    def __init__(  # noqa: PLR0917 - scikit-learn's, in its order
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 40,
        n_jobs: int | None = None,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        store_centers: str | None = None,
        copy: bool = True,
        *,
        device: Any = None,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy
        self.device = device

    @lasting("clustering by HDBSCAN")
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster; `y` is ignored.

        Parameters
        ----------
        X : array of shape (n, d), or of shape (n, n), or a data frame, a sparse matrix, or a graph
            Points as rows, in any of the forms of :func:`clmst.cluster.single_linkage`; a sparse
            matrix of points is filled. With ``metric="precomputed"`` distances: a matrix, or a
            sparse one of neighbours, which need not name both directions. :class:`clmst.Points`
            and :class:`clmst.Graph` are taken as they are.

        Raises
        ------
        ClmstError
            As of :func:`clmst.cluster.single_linkage`; or a parameter is out of its range, there
            are fewer points than `min_samples`, or a point has fewer stored neighbours.
        """
        check_parameters(self)
        given = distances_of(X, self)
        found = cluster_by_density(given.graph, self)
        self.forest_, self.n_connected_components_ = found.forest, found.forest.n_components
        self._keep(given)
        self._condensed = found.tree
        self.selected_clusters_ = found.tree.n_points + found.clusters
        self.labels_ = given.spread(found.labels, INFINITE, MISSING)
        self.probabilities_ = given.spread(found.strengths, 0, np.nan)
        self._store_centers(given, found.labels, found.strengths)
        note_features(self, X)
        if given.n_features is not None:
            self.n_features_in_ = given.n_features
        return self

    @lasting("clustering by DBSCAN")
    def dbscan_clustering(
        self, cut_distance: float, min_cluster_size: int = 5
    ) -> npt.NDArray[np.int64]:
        """Return the clusters of DBSCAN without border points, by a cut of the spanning forest.

        Parameters
        ----------
        cut_distance : float
            Points up to this mutual reachability apart are joined: DBSCAN's epsilon.
        min_cluster_size : int
            Smaller clusters are noise.

        Returns
        -------
        ndarray of int64, shape (n,)
            As `labels_`.

        Raises
        ------
        InvalidArgumentError
            `cut_distance` is negative, NaN or not a number, or `min_cluster_size` is below 1.
        NotFittedError
            The estimator has not been fitted.
        """
        is_real = isinstance(cut_distance, Real) and not isinstance(cut_distance, bool)
        if not is_real or not cut_distance >= 0:
            raise InvalidArgumentError(
                f"cut_distance is {shown(cut_distance)}; it is a distance, so it must be a number "
                "of 0 or more (DBSCAN's eps, in the units of the metric)"
            )
        self._check_fitted()
        least = check_integer("min_cluster_size", min_cluster_size, low=1)
        labels = self.forest_.cut(height=cut_distance)
        is_large = np.bincount(labels) >= least
        number = np.where(is_large, np.cumsum(is_large) - 1, NOISE)
        return self._given.spread(number[labels], INFINITE, MISSING)

    def _store_centers(self, given: Distances, labels: Array, strengths: Array) -> None:
        for name in ("centroids_", "medoids_"):
            vars(self).pop(name, None)
        rows = given.rows
        if self.store_centers is None:
            return
        assert rows is not None, "centers are refused where there are no rows"
        if self.store_centers in ("centroid", "both"):
            self.centroids_ = centroids_of(rows, labels, strengths)
        if self.store_centers in ("medoid", "both"):
            self.medoids_ = medoids_of(rows, labels, strengths, self.metric, self.metric_params)


# The metrics of scikit-learn's trees, which callers know by the names of the algorithms.
_KD_TREE = {
    "chebyshev", "cityblock", "euclidean", "infinity", "l1", "l2", "manhattan", "minkowski", "p",
}  # fmt: skip
_BALL_TREE = _KD_TREE | {
    "braycurtis", "canberra", "dice", "hamming", "haversine", "jaccard", "mahalanobis",
    "rogerstanimoto", "russellrao", "seuclidean", "sokalmichener", "sokalsneath",
}  # fmt: skip


def check_parameters(model: HDBSCAN) -> None:
    """Raise unless each parameter is in its range."""
    check_metric(model.metric)
    check_integer("min_cluster_size", model.min_cluster_size, low=2)
    for name in ("min_samples", "max_cluster_size"):
        if getattr(model, name) is not None:
            check_integer(name, getattr(model, name), low=1)
    check_integer("leaf_size", model.leaf_size, low=1)
    if model.n_jobs is not None:
        check_integer("n_jobs", model.n_jobs)
    for name in ("alpha", "cluster_selection_epsilon"):
        value = getattr(model, name)
        is_real = isinstance(value, Real) and not isinstance(value, bool)
        if not is_real or not 0 <= value < float("inf") or (name == "alpha" and value == 0):
            least = "more than 0" if name == "alpha" else "0 or more"
            raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a number, {least}")
    check_choice("cluster_selection_method", model.cluster_selection_method, ("eom", "leaf"))
    check_choice("algorithm", model.algorithm, ("auto", "brute", "kd_tree", "ball_tree"))
    check_bool("allow_single_cluster", model.allow_single_cluster)
    check_bool("copy", model.copy)
    if model.store_centers is not None:
        check_choice("store_centers", model.store_centers, ("centroid", "medoid", "both"))
    if model.metric_params is not None:
        check_dict("metric_params", model.metric_params)
    for algorithm, metrics in (("kd_tree", _KD_TREE), ("ball_tree", _BALL_TREE)):
        is_named = isinstance(model.metric, str) and model.metric in metrics
        if model.algorithm == algorithm and not is_named:
            raise InvalidArgumentError(
                f"{shown(model.metric)} is not a valid metric for algorithm={algorithm!r}; 'auto' "
                "takes every metric"
            )


_CELLS_AT_ONCE = 1 << 22


def centroids_of(rows: Array, labels: Array, strengths: Array) -> Array:
    """Return the mean of each cluster's rows, weighted by strength, shape (n_clusters, d)."""
    count, is_in = int(labels.max(initial=-1)) + 1, labels >= 0
    of, weights = labels[is_in], strengths[is_in]
    total = np.bincount(of, weights=weights, minlength=count)
    sums = [np.bincount(of, weights=weights * x, minlength=count) for x in rows[is_in].T]
    means: Array = np.stack(sums, axis=1) / total[:, None]
    return means


def medoids_of(
    rows: Array, labels: Array, strengths: Array, metric: Any, metric_params: Any
) -> Array:
    """Return the row of each cluster with the least sum of distances, weighted by strength.

    O(m**2) time for a cluster of m points, in O(m) memory.
    """
    metric_params = own_parameters(rows, metric, metric_params)
    order = np.argsort(labels, kind="stable")
    count = int(labels.max(initial=-1)) + 1
    starts = np.searchsorted(labels[order], np.arange(count + 1))
    medoids = np.empty((count, rows.shape[1]))
    for cluster in range(count):
        members = order[starts[cluster] : starts[cluster + 1]]
        own, weights = rows[members], strengths[members]
        sums = np.empty(members.size)
        for some in slices(members.size, max(_CELLS_AT_ONCE // members.size, 1)):
            sums[some] = distances_between(own[some], own, metric, metric_params) @ weights
        medoids[cluster] = own[int(sums.argmin())]
    return medoids


def distances_between(some: Array, every: Array, metric: Any, metric_params: Any) -> Array:
    """Return the distances of rows to others, shape (m, n)."""
    name = usual_name(metric)
    if name in ("haversine", "great-circle", "rounded-euclidean"):
        both = Points(np.concatenate([some, every]), name)
        u = np.arange(len(some))[:, None]
        return both.weights_of(u, len(some) + np.arange(len(every)))
    parameters, exponent = scipys_parameters(metric_params), 0
    if name == "euclidean":  # as Points divide and multiply
        (greatest, least), (other_greatest, other_least) = magnitudes(some), magnitudes(every)
        greatest, least = max(greatest, other_greatest), min(least, other_least)
        exponent = exponent_of(greatest, least, some.shape[1])
    if exponent:
        some, every = np.ldexp(some, -exponent), np.ldexp(every, -exponent)
    distances: Array = cdist(some, every, scipys_name(metric), **parameters)
    return np.ldexp(distances, exponent) if exponent else distances
