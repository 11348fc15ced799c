"""HDBSCAN: the estimator, the checks of its parameters, and the centres of its clusters."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import (
    check_bool,
    check_choice,
    check_dict,
    check_integer,
    check_kind,
    shown,
)
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.points.centres import centroids_of, medoids_of
from clmst.points.condensed import NOISE, TIES
from clmst.points.estimator import ClusterEstimator, note_features
from clmst.points.inputs import INFINITE, MISSING, Distances, distances_of
from clmst.points.measures import TreeMeasures
from clmst.points.metrics import check_metric, check_power, usual_name
from clmst.points.pipeline import cluster_by_density, forest_by_density, reporting_clusters
from clmst.points.prediction import approximate_predict, predictor_of
from clmst.points.simultaneous import lexicographic_ranks

if TYPE_CHECKING:
    from clmst.blocks.tasks import Workers


class HDBSCAN(TreeMeasures, ClusterEstimator):
    """Cluster points by density with HDBSCAN, without giving the number of clusters.

    A cluster is a region where points are dense, surrounded by a region where they are sparse.
    Points of sparse regions become noise. Clusters may have any shape and different densities.

    The parameters and attributes have the names and meanings that they have in scikit-learn's
    HDBSCAN. scikit-learn need not be installed. Further parameters, attributes and methods follow
    the hdbscan package.

    Parameters
    ----------
    min_cluster_size : int, default 5
        The minimum number of points of a cluster, 2 or more. Smaller groups of points become noise
        or leave the cluster around them. A greater value gives fewer and larger clusters. [1]_ and
        [4]_ call it m_clSize.
    min_samples : int, optional
        The number of points, the point itself included, that must lie within a point's core
        distance. The core distance is thus the distance to the `min_samples`-th nearest point. A
        greater value makes more points noise and smooths the density. [1]_ and [4]_ call it m_pts.
        The default is `min_cluster_size`.
    cluster_selection_epsilon : float, default 0.0
        A distance threshold [2]_. A chosen cluster that splits off at a smaller distance is
        replaced by the first cluster around it that splits off at a greater one. A greater value
        thus merges small clusters of dense regions.
    max_cluster_size : int, optional
        The maximum number of points of a cluster for the method "eom". A larger cluster is replaced
        by the clusters inside it, or becomes noise if it contains none. A smaller value thus splits
        large clusters into smaller ones, and may make more points noise. The result does not change
        if all clusters that are chosen without a limit are small enough. None, the default, and 0
        mean that sizes are not limited. The method "leaf" ignores it.
    metric : str or callable, default "euclidean"
        The distance of two points. The name decides where distances are computed:

        * "euclidean" or "l2", "manhattan", "cityblock" or "l1", "chebyshev" or "infinity",
          "minkowski" or "p" with a power from 1 to 64 or infinity, "cosine", "correlation",
          "hamming", "jaccard", "canberra" and "braycurtis": the device computes distances when it
          needs them, in O(n) memory. The host computes them without a device, and may do so for few
          points. :class:`clmst.Points` defines these metrics.
        * "haversine", "great-circle" and "rounded-euclidean", which :class:`clmst.Points` defines,
          too: the host computes all distances, and stores them in O(n**2) memory.
        * Other metrics of SciPy's ``pdist``, such as "sqeuclidean", "seuclidean", "mahalanobis",
          "jensenshannon", "dice", "rogerstanimoto", "russellrao", "sokalsneath" and "yule",
          "minkowski" with another power, and metrics with weights `w`: SciPy computes all distances
          on the host, and they are stored in O(n**2) memory.
        * A function of two rows is called on the host for each pair of rows, and the distances are
          stored in O(n**2) memory.
        * With "precomputed", `X` of :meth:`fit` contains distances.

        "haversine" takes degrees of latitude and longitude and computes kilometres, where
        scikit-learn takes radians. A :class:`GraphWarning` is given if all coordinates are so small
        that they may be radians.
    metric_params : dict, optional
        Keyword arguments of the metric.
    alpha : float, default 1.0
        Distances are divided by `alpha`, and core distances are not, as in robust single linkage
        [3]_. The mutual reachability of two points is ``max(distance / alpha, core, core)``. A
        greater value gives the core distances more weight.
    algorithm : str, default "auto"
        It does not change the result. "auto", "brute", "kd_tree" and "ball_tree" are scikit-learn's
        names. "kd_tree" and "ball_tree" raise an error for the metrics that scikit-learn refuses
        with them. "best", "generic", "prims_kdtree", "prims_balltree", "boruvka_kdtree" and
        "boruvka_balltree" are hdbscan's names.
    leaf_size : int, default 40
        It is checked, and otherwise ignored. It exists for compatibility with scikit-learn.
    n_jobs : int, optional
        It is checked, and otherwise ignored. It exists for compatibility with scikit-learn.
    cluster_selection_method : {"eom", "leaf"}, default "eom"
        How clusters are chosen from the condensed tree. "eom" (excess of mass) chooses the clusters
        whose sum of stabilities is greatest, which may be large. [4]_ introduces this choice, and
        [1]_ describes it in more detail. "leaf" chooses the clusters that contain no other cluster,
        which gives many small clusters of similar density.
    allow_single_cluster : bool, default False
        Whether "eom" may choose the root of the condensed tree, so that there is one cluster of all
        points except noise. By default the root is not considered, as in [4]_. Set it to True if
        the points may form a single cluster. The method "leaf" ignores it.
    store_centers : {None, "centroid", "medoid", "both"}, default None
        Which centres of clusters to compute. The centroid is the mean of the cluster's points,
        weighted by `probabilities_`. The medoid is the point of the cluster with the least weighted
        sum of distances to all others. Centres need points as input.
    copy : bool, default True
        It is checked, and otherwise ignored. The input is never changed.
    cluster_selection_epsilon_max : float, default infinity
        A distance threshold for the method "eom". A cluster that splits off at a greater distance
        is replaced by the clusters inside it, or becomes noise if it contains none. It must not be
        below `cluster_selection_epsilon`. The method "leaf" ignores it.
    cluster_selection_persistence : float, default 0.0
        A threshold of density. A cluster that contains no other cluster is removed from the
        condensed tree if it persists for less: from the density lambda at which it splits off to
        the greatest lambda in it. If fewer than two clusters of a split are left, the split is
        removed, and the cluster that persists longest becomes a part of the cluster that was split.
        A greater value removes clusters that are hardly denser than what is around them.
    ties : {"sequential", "simultaneous"}, default "sequential"
        How merges at equal heights are treated. "sequential" takes them one after the other, as
        scikit-learn and hdbscan do. Which of them comes first depends on the order of the rows, and
        so may the clusters. "simultaneous" takes all merges of one height together, as in the
        definition of HDBSCAN [4]_: a cluster splits into all of its parts of at least
        `min_cluster_size` points at once. Then the same rows in another order give the same
        clusters, and bit for bit the same probabilities, persistence and outlier scores. Only the
        numbers of the clusters follow the order of the rows. If no two heights are equal, both give
        the same clusters.
    p : float, optional
        The power of the metric "minkowski", as in hdbscan. It is the same as
        ``metric_params={"p": p}``. Other metrics ignore it.
    memory : object, optional
        It is ignored, because clmst does not store its results in files. It exists for
        compatibility with hdbscan.
    approx_min_span_tree : bool, default False
        It is checked, and otherwise ignored, because trees are always exact. It exists for
        compatibility with hdbscan.
    gen_min_span_tree, prediction_data : bool, default False
        They are checked, and otherwise ignored. Every fit has its spanning tree, and can predict.
        They exist for compatibility with hdbscan.
    core_dist_n_jobs : int, optional
        It is checked, and otherwise ignored. It exists for compatibility with hdbscan.
    branch_detection_data, match_reference_implementation : bool, default False
        They must be False. They exist for compatibility with hdbscan, and True raises an error that
        says what to do.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`.
    block_points : int or BlockOptions, optional
        Compute core distances and the tree of the points block by block, with at most so many
        points in a block, at least twice `min_samples`. Use it for points that are too many for the
        device. The clusters do not depend on the blocks. The metric must be "euclidean",
        "manhattan", "chebyshev", "minkowski", "cosine" or "correlation", and `fit` must get no
        `sample_weight`.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        The cluster of each point. Clusters are numbered from 0 in the order of their first points.
        The label is -1 for noise, -2 for a point with an infinite coordinate, and -3 for a point
        with a missing coordinate (NaN).
    probabilities_ : ndarray of float64, shape (n,)
        How strongly each point belongs to its cluster, from 0 to 1. It is 1 in the densest part of
        the cluster, 0 for noise and infinite coordinates, and NaN for missing coordinates.
    centroids_, medoids_ : ndarray of float64, shape (n_clusters, d)
        The centres of the clusters. They exist if `store_centers` requests them.
    condensed_tree_ : CondensedTreeArray
        The condensed tree: a structured array with a row for each point and for each cluster except
        the root, and with the methods `to_numpy`, `to_pandas`, `to_networkx` and `plot`. The fields
        are "parent", "child", "value" and "cluster_size". "value" is the density lambda, the
        reciprocal of the distance, at which the child leaves the parent. Of n finite points, the
        points have the numbers 0 to n - 1, and the clusters have the numbers from n on.
    selected_clusters_ : ndarray of int64, shape (n_clusters,)
        The number in `condensed_tree_` of the cluster with each label.
    single_linkage_tree_ : SingleLinkageArray, shape (n_finite - 1, 4)
        The dendrogram by mutual reachability: a linkage matrix of SciPy, with the same methods and
        `get_clusters`. It is computed when it is first read.
    minimum_spanning_tree_ : SpanningTreeArray, shape (n_finite - 1, 3)
        The edges of `forest_` as rows of two points and their distance, with the same methods as
        `condensed_tree_`.
    relative_validity_ : float
        A quick grade of the clusters, from -1 to 1. It is computed when it is first read.
    outlier_scores_ : ndarray of float64, shape (n,)
        The GLOSH outlier score of each point. It is computed when it is first read.
    cluster_persistence_ : ndarray of float64, shape (n_clusters,)
        The persistence of each cluster. It is computed when it is first read.
    exemplars_ : list of ndarray of float64, shape (m, d)
        The points in the densest parts of each cluster. They are computed when they are first read.
    forest_ : Forest
        The minimum spanning forest of the finite points by mutual reachability.
    n_connected_components_ : int
        The number of connected components of the graph of distances. It is 1 for points. If a
        sparse input has several components, a :class:`GraphWarning` is given, and they are joined
        at an infinite distance.
    n_features_in_ : int
        The number of coordinates of a point in the input of :meth:`fit`.
    feature_names_in_ : ndarray of str
        The names of the columns of the input. It exists if all columns have names that are strings.

    See Also
    --------
    clmst.cluster.approximate_predict : Assign new points to the clusters of a fit.
    clmst.cluster.membership_vector : Memberships of new points in all clusters.
    clmst.cluster.all_points_membership_vectors : Memberships of the points of a fit.
    clmst.cluster.validity_index : Grade a clustering by density.

    Notes
    -----
    The steps are: core distances, the minimum spanning tree by mutual reachability, its dendrogram,
    the condensed tree without splits into clusters below `min_cluster_size`, and the choice of
    clusters [1]_. :func:`clmst.core_distances` states the time of the first step, and the second
    takes about the same: O(n log n) work for points of few dimensions that are spread evenly, and
    O(n**2 d) at most. Memory is O(n) for the first group of metrics that `metric` lists, O(m) for a
    sparse input with m distances, and O(n**2) for others.

    With ``ties="simultaneous"`` the host condenses the tree, in O(n log n) time. Two heights are
    equal if their doubles are equal, after the square root and the division by `alpha`. Sums of
    stabilities are exact and rounded once. Points at distance 0 have an infinite lambda, and the
    stability of their cluster is infinite. Of medoids that are equally central, the one with the
    lexicographically least coordinates is taken. The metrics "seuclidean" and "mahalanobis" need
    their variances or covariances in `metric_params`, because SciPy's sums over all rows depend on
    the order of the rows. A function as metric must give the same distance in both directions.

    References
    ----------
    .. [1] R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates
       for Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge
       Discovery from Data, 2015.
    .. [2] C. Malzer, M. Baum, "A Hybrid Approach To Hierarchical Density-based Cluster Selection",
       IEEE International Conference on Multisensor Fusion and Integration, 2020.
    .. [3] K. Chaudhuri, S. Dasgupta, "Rates of convergence for the cluster tree", NIPS 2010.
    .. [4] R. J. G. B. Campello, D. Moulavi, J. Sander, "Density-Based Clustering Based on
       Hierarchical Density Estimates", PAKDD 2013.

    Examples
    --------
    >>> from clmst.cluster import HDBSCAN
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [4, 20]]
    >>> HDBSCAN(min_cluster_size=3).fit_predict(X)
    array([ 0,  0,  0,  0,  1,  1,  1,  1, -1])
    """

    _takes_sparse_points = _takes_gaps = True
    _given: Distances
    _own_heights: Array | None

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
        cluster_selection_epsilon_max: float = np.inf,
        cluster_selection_persistence: float = 0.0,
        ties: str = "sequential",
        p: float | None = None,
        memory: object = None,
        approx_min_span_tree: bool = False,
        gen_min_span_tree: bool = False,
        core_dist_n_jobs: int | None = None,
        prediction_data: bool = False,
        branch_detection_data: bool = False,
        match_reference_implementation: bool = False,
        device: Any = None,
        block_points: Any = None,
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
        self.cluster_selection_epsilon_max = cluster_selection_epsilon_max
        self.cluster_selection_persistence = cluster_selection_persistence
        self.ties = ties
        self.p = p
        self.memory = memory
        self.approx_min_span_tree = approx_min_span_tree
        self.gen_min_span_tree = gen_min_span_tree
        self.core_dist_n_jobs = core_dist_n_jobs
        self.prediction_data = prediction_data
        self.branch_detection_data = branch_detection_data
        self.match_reference_implementation = match_reference_implementation
        self.device = device
        self.block_points = block_points

    @lasting("clustering by HDBSCAN")
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of points and set the attributes. Blocks until all are found.

        Parameters
        ----------
        X : array of shape (n, d), array of shape (n, n), data frame, sparse matrix or graph
            Points as rows, in any form that :func:`clmst.cluster.single_linkage` takes. A sparse
            matrix of points is converted to a dense one. With ``metric="precomputed"``, `X`
            contains distances: a square matrix, or a sparse matrix with the distances between
            neighbours, which may store each pair in one direction only. :class:`clmst.Points` are
            clustered by their own metric, and :class:`clmst.Graph` by its weights.
        y : object
            Ignored. It exists for compatibility with scikit-learn.
        sample_weight : array of whole numbers, shape (n,), optional
            How often each row occurs. A row of weight w counts as w equal rows, in core distances,
            in `min_cluster_size` and `max_cluster_size`, in stabilities and in centres. Time and
            memory depend on the number of rows, not on the sum of the weights. A row of weight 0
            takes no part. Its label is -1, its probability 0 and its outlier score NaN. The equal
            rows are at distance 0 from each other. With ties="sequential", they are merged before
            other rows at the same height, and with ties="simultaneous" the fit is the same as of
            the repeated rows.

        Returns
        -------
        HDBSCAN
            The estimator itself.

        Raises
        ------
        InvalidArgumentError
            A parameter is out of its range, there are fewer points than `min_samples`,
            `store_centers` is given and `X` contains distances, or `sample_weight` is not a whole
            number of 0 or more for each row, with a sum from 1 to 2**32 - 1.
        InvalidGraphError
            `X` is malformed, lacks a finite row, or contains a distance that is negative or NaN; or
            a point of a sparse input has fewer than `min_samples` - 1 stored neighbours.

        Examples
        --------
        >>> from clmst.cluster import HDBSCAN
        >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [4, 20]]
        >>> model = HDBSCAN(min_cluster_size=3).fit(X)
        >>> model.labels_
        array([ 0,  0,  0,  0,  1,  1,  1,  1, -1])
        >>> model.probabilities_
        array([1., 1., 1., 1., 1., 1., 1., 1., 0.])

        The first and the last row occur three times each:

        >>> HDBSCAN(min_cluster_size=3).fit([[0], [1], [9]], sample_weight=[3, 1, 3]).labels_
        array([0, 0, 1])
        """
        return self._fitted(X, sample_weight, None)

    def _fitted(self, X: Any, sample_weight: Any, workers: Workers | None) -> Self:
        """Fit as :meth:`fit` does. If `workers` are given, they compute the blocks of points.

        Workers are processes, perhaps on other machines.
        """
        check_parameters(self)
        given = distances_of(X, self)
        if sample_weight is not None:
            given = given.weighted(sample_weight)
        self._cluster(given, *forest_by_density(given.graph, self, given.weights, workers))
        note_features(self, X, given.n_features)
        return self

    def _cluster(self, given: Distances, forest: Forest, own_heights: Array | None) -> None:
        """Find the clusters, given a forest by mutual reachability, and set all attributes.

        `given` has the checked input. `own_heights` has the height at which the equal points of
        each vertex are joined, or None if each vertex is one point.
        """
        with reporting_clusters(self, forest.n_vertices):
            found = cluster_by_density(forest, own_heights, self, given.weights)
        self.forest_, self.n_connected_components_ = found.forest, found.forest.n_components
        self._keep(given)
        self._fitted_by["metric_params"] = self._metric_params
        self._condensed, self._own_heights = found.tree, found.own_heights
        self.selected_clusters_ = found.tree.n_points + found.clusters
        self.labels_ = given.spread(found.labels, INFINITE, MISSING, NOISE)
        self.probabilities_ = given.spread(found.strengths, 0, np.nan, 0)
        self._store_centers(given, found.labels, found.strengths)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters of points and return the label of each point.

        Parameters
        ----------
        X, y, sample_weight : object
            The input, as :meth:`fit` takes it.

        Returns
        -------
        ndarray of int64, shape (n,)
            The attribute `labels_`.

        Raises
        ------
        ClmstError
            Any error of :meth:`fit`.
        """
        return self.fit(X, y, sample_weight).labels_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Return the labels of new points in the clusters of the fit, which do not change.

        The labels are the ones that :func:`clmst.cluster.approximate_predict` returns together with
        probabilities. The notes and errors of that function hold here, too.

        Parameters
        ----------
        X : array of shape (m, d), data frame, or sparse matrix
            Points as rows, at least one, with as many coordinates as the points of the fit.

        Returns
        -------
        ndarray of int64, shape (m,)
            The cluster of each new point, numbered as `labels_`: -1 for noise, -2 for a row with an
            infinite coordinate, -3 for a row with a missing coordinate (NaN).

        Raises
        ------
        NotFittedError
            The estimator has not been fitted, or was fitted with distances.
        InvalidGraphError
            `X` is empty, or its points have another number of coordinates or other column names
            than the points of the fit, or the metric of the fit does not accept them.

        Examples
        --------
        >>> from clmst.cluster import HDBSCAN
        >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [5, 2]]
        >>> HDBSCAN(min_cluster_size=3).fit(X).predict([[0.5, 0.5], [7.5, 8], [50, 50]])
        array([ 0,  1, -1])
        """
        labels: npt.NDArray[np.int64] = approximate_predict(self, X)[0]
        return labels

    def generate_prediction_data(self) -> None:
        """Prepare predictions now instead of during the first prediction.

        The method computes the core distances of the fit again, and builds a search tree. It exists
        for compatibility with hdbscan.

        Raises
        ------
        NotFittedError
            The estimator has not been fitted, or was fitted with distances.
        """
        predictor_of(self)

    @lasting("clustering by DBSCAN")
    def dbscan_clustering(
        self, cut_distance: float, min_cluster_size: int = 5
    ) -> npt.NDArray[np.int64]:
        """Find the clusters of DBSCAN without border points (DBSCAN*) for one distance threshold.

        The method cuts the spanning forest of the fit and does not compute distances, so it is
        quick to call for many thresholds. `min_samples` of the fit decides which points are dense.
        A point that is not dense at the threshold is a cluster of its own, which becomes noise
        unless `min_cluster_size` is 1.

        Parameters
        ----------
        cut_distance : float
            The parameter eps of DBSCAN: points whose mutual reachability is at most this distance
            are joined. A greater value gives fewer and larger clusters.
        min_cluster_size : int, default 5
            The minimum number of points of a cluster. Smaller clusters become noise.

        Returns
        -------
        ndarray of int64, shape (n,)
            The cluster of each point, numbered as `labels_` are: -1 for noise, -2 for a point with
            an infinite coordinate, -3 for a point with a missing coordinate (NaN).

        Raises
        ------
        InvalidArgumentError
            `cut_distance` is negative, NaN or not a number, or `min_cluster_size` is below 1.
        NotFittedError
            The estimator has not been fitted.

        Examples
        --------
        >>> from clmst.cluster import HDBSCAN
        >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [4, 20]]
        >>> model = HDBSCAN(min_cluster_size=3).fit(X)
        >>> model.dbscan_clustering(2.0, min_cluster_size=3)
        array([ 0,  0,  0,  0,  1,  1,  1,  1, -1])
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
        is_large = self._sizes_at(cut_distance, labels) >= least
        number = np.where(is_large, np.cumsum(is_large) - 1, NOISE)
        return self._given.spread(number[labels], INFINITE, MISSING, NOISE)

    def _sizes_at(self, height: float, labels: Array) -> Array:
        """Return the number of points of each cluster of a cut at a height.

        `labels` has the cluster of each vertex. With sample weights, a vertex stands for as many
        points as its weight says.
        """
        counts, weights = np.bincount(labels), self._given.weights
        if weights is None:
            return counts
        assert self._own_heights is not None, "set with the weights"
        sizes = np.zeros(counts.size, np.int64)
        # With sample weights, a row stands for several equal points. Below the height at which
        # these points are joined to one another, each of them is a cluster of one point.
        is_apart = (counts[labels] == 1) & (self._own_heights > height)
        np.add.at(sizes, labels, np.where(is_apart, 1, weights))
        return sizes

    def _places(self) -> tuple[Array, Array] | None:
        given = self._given
        return None if given.rows is None else (given.rows, self.labels_[given.finite])

    @property
    def _metric_params(self) -> dict[str, Any] | None:
        """The arguments of the metric: `metric_params`, and `p` for Minkowski's distance.

        None if there are not any.
        """
        is_of_power = isinstance(self.metric, str) and usual_name(self.metric) == "minkowski"
        if self.p is None or not is_of_power:
            return self.metric_params
        return {"p": self.p, **(self.metric_params or {})}

    def _store_centers(self, given: Distances, labels: Array, strengths: Array) -> None:
        """Set the centres that `store_centers` requests, and delete the centres of earlier fits.

        `given` has the finite rows. `labels` and `strengths` have the cluster and the strength of
        membership of each of these rows.
        """
        for name in ("centroids_", "medoids_"):
            vars(self).pop(name, None)
        if self.store_centers is None:
            return
        rows = given.rows
        assert rows is not None, "centers are refused where there are no rows"
        if given.weights is not None:
            strengths = strengths * given.weights
        if self.ties == "simultaneous":  # so that sums do not depend on the order of the rows
            order = np.argsort(lexicographic_ranks(rows), kind="stable")
            rows, labels, strengths = rows[order], labels[order], strengths[order]
        if self.store_centers in ("centroid", "both"):
            self.centroids_ = centroids_of(rows, labels, strengths)
        if self.store_centers in ("medoid", "both"):
            self.medoids_ = medoids_of(rows, labels, strengths, self.metric, self._metric_params)


# The metrics that scikit-learn allows for algorithm="kd_tree" and algorithm="ball_tree".
_KD_TREE = {
    "chebyshev", "cityblock", "euclidean", "infinity", "l1", "l2", "manhattan", "minkowski", "p",
}  # fmt: skip
_BALL_TREE = _KD_TREE | {
    "braycurtis", "canberra", "dice", "hamming", "haversine", "jaccard", "mahalanobis",
    "rogerstanimoto", "russellrao", "seuclidean", "sokalmichener", "sokalsneath",
}  # fmt: skip


# The values that scikit-learn and hdbscan accept for `algorithm`, which says how the tree is found.
_ALGORITHMS = (
    "auto", "brute", "kd_tree", "ball_tree", "best", "generic", "prims_kdtree", "prims_balltree",
    "boruvka_kdtree", "boruvka_balltree",
)  # fmt: skip
# Parameters of the package hdbscan that clmst refuses if they are True. Each has a text that says
# what to do instead.
_REFUSED = {
    "branch_detection_data": (
        "clmst finds no branches in clusters, so leave it out; hdbscan's BranchDetector needs a "
        "fit by hdbscan"
    ),
    "match_reference_implementation": (
        "leave it out, add 1 to min_cluster_size, and subtract 1 from min_samples, which is what "
        "it does in hdbscan but for points at the rims of clusters"
    ),
}
_OF_HDBSCAN = ("approx_min_span_tree", "gen_min_span_tree", "prediction_data", *_REFUSED)


def _check_numbers(model: HDBSCAN) -> None:
    """Raise InvalidArgumentError unless each real number among a model's parameters is in range."""
    for name in (
        "alpha", "cluster_selection_epsilon", "cluster_selection_persistence",
        "cluster_selection_epsilon_max",
    ):  # fmt: skip
        value = getattr(model, name)
        is_real = isinstance(value, Real) and not isinstance(value, bool)
        is_finite = is_real and (value < np.inf or name == "cluster_selection_epsilon_max")
        if not is_finite or not value >= 0 or (name == "alpha" and value == 0):
            least = "more than 0" if name == "alpha" else "0 or more"
            raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a number, {least}")
    if model.p is not None:
        check_power(model.p)
    if model.cluster_selection_epsilon_max < model.cluster_selection_epsilon:
        raise InvalidArgumentError(
            f"cluster_selection_epsilon_max is {model.cluster_selection_epsilon_max}, and "
            f"cluster_selection_epsilon is {model.cluster_selection_epsilon}; the maximum must not "
            "be less"
        )


def _check_metric_params(model: HDBSCAN) -> None:
    """Raise InvalidArgumentError unless `metric_params` of a model is None or a valid dict.

    Minkowski's power may be given as `p`, or in `metric_params`. If it is given in both, the two
    values must be equal.
    """
    if model.metric_params is not None:
        check_dict("metric_params", model.metric_params)
        if model.p is not None and model.metric_params.get("p", model.p) != model.p:
            raise InvalidArgumentError(
                f"p is {shown(model.p)}, and metric_params has p {shown(model.metric_params['p'])};"
                " leave out one of them"
            )


def check_model_for_workers(model: Any, engine: str) -> None:
    """Raise InvalidArgumentError unless the workers of an engine can fit a model.

    The model must be an HDBSCAN with `block_points`, and its device None or a name. `engine` is the
    name of the engine, for the message.
    """
    check_kind("model", model, HDBSCAN)
    if model.block_points is None:
        raise InvalidArgumentError(
            f"block_points of the model is None; {engine}'s workers solve blocks, so it must be "
            "given"
        )
    if not isinstance(model.device, str | None):
        raise InvalidArgumentError(
            f"device of the model is {shown(model.device)}; each worker has its own device, so it "
            "must be a name or None"
        )


def check_parameters(model: HDBSCAN) -> None:
    """Raise InvalidArgumentError unless every parameter of the estimator `model` is in range."""
    check_metric(model.metric)
    check_integer("min_cluster_size", model.min_cluster_size, low=2)
    for name, low in (("min_samples", 1), ("max_cluster_size", 0)):
        if getattr(model, name) is not None:
            check_integer(name, getattr(model, name), low=low)
    check_integer("leaf_size", model.leaf_size, low=1)
    for name in ("n_jobs", "core_dist_n_jobs"):
        if getattr(model, name) is not None:
            check_integer(name, getattr(model, name))
    _check_numbers(model)
    check_choice("cluster_selection_method", model.cluster_selection_method, ("eom", "leaf"))
    check_choice("ties", model.ties, TIES)
    check_choice("algorithm", model.algorithm, _ALGORITHMS)
    for name in ("allow_single_cluster", "copy", *_OF_HDBSCAN):
        check_bool(name, getattr(model, name))
    for name, remedy in _REFUSED.items():
        if getattr(model, name):
            raise InvalidArgumentError(f"{name} is True; {remedy}")
    if model.store_centers is not None:
        check_choice("store_centers", model.store_centers, ("centroid", "medoid", "both"))
    _check_metric_params(model)
    for algorithm, metrics in (("kd_tree", _KD_TREE), ("ball_tree", _BALL_TREE)):
        is_named = isinstance(model.metric, str) and model.metric in metrics
        if model.algorithm == algorithm and not is_named:
            raise InvalidArgumentError(
                f"{shown(model.metric)} is not a valid metric for algorithm={algorithm!r}; 'auto' "
                "takes every metric"
            )
