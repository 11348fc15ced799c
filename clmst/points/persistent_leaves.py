"""PersistentLeaves: clusters by density, with a minimum cluster size that the data decides."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

from clmst.core.arguments import check_choice, check_integer
from clmst.core.errors import InvalidArgumentError
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.points.condensed import condensed_tree
from clmst.points.estimator import ClusterEstimator, not_fitted, note_features
from clmst.points.hdbscan import HDBSCAN, check_parameters
from clmst.points.inputs import distances_of
from clmst.points.leaf_persistence import MEASURES, best_of, leaves_of, persistences_of, trace_of
from clmst.points.pipeline import forest_by_density


class PersistentLeaves(ClusterEstimator):
    """Cluster points by density, without giving a number or a minimum size of clusters.

    The clusters are the same as from :class:`HDBSCAN` with ``cluster_selection_method="leaf"``,
    which are the densest regions without a denser region inside. HDBSCAN finds others for each
    `min_cluster_size`. This estimator compares all sizes: it computes for how many of them each
    cluster is a leaf, its *persistence*, and takes the size whose leaves have the greatest sum of
    persistences [1]_. Other local maxima of the sum are *layers*: clusterings of the same points at
    other scales, which :meth:`layers` returns.

    Branches inside of clusters are not found. scikit-learn need not be installed.

    Parameters
    ----------
    min_samples : int, default 5
        The number of points, the point itself included, that must lie within a point's core
        distance, as in :class:`HDBSCAN`. A greater value smooths the density, which gives fewer and
        more persistent clusters.
    min_size : int, optional
        The least minimum cluster size to compare, 2 or more. No cluster has fewer points. The
        default is `min_samples`, or 2 if that is greater.
    max_size : int, optional
        The greatest minimum cluster size to compare. Clusters may have more points. By default all
        sizes from the least one are compared.
    persistence : {"size", "distance"}, default "size"
        What the persistence of a cluster measures. "size" is the number of minimum cluster sizes
        for which the cluster is a leaf. "distance" is the range of heights of the least of these
        sizes: from the height at which the cluster joins another one, down to the least height at
        which it has that many connected points. An infinite height, at which the components of a
        graph are joined, counts as the greatest finite one.
    metric : str or callable, default "euclidean"
        The distance of two points, as :class:`HDBSCAN` takes it. With "precomputed", `X` of
        :meth:`fit` contains distances.
    metric_params : dict, optional
        Keyword arguments of the metric.
    ties : {"simultaneous", "sequential"}, default "simultaneous"
        How merges at equal heights are treated, as in :class:`HDBSCAN`. With "simultaneous" the
        order of the rows does not change the chosen size or the clusters, only their numbers. With
        "sequential" it may change both if heights are equal.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        The cluster of each point, as :class:`HDBSCAN` numbers clusters, noise and rows that are not
        finite.
    probabilities_ : ndarray of float64, shape (n,)
        How strongly each point belongs to its cluster, as in :class:`HDBSCAN`.
    min_cluster_size_ : int
        The chosen minimum cluster size. Of equal sums of persistences the least size is chosen. It
        is `min_size` if no size gives a cluster, and then all points are noise.
    trace_ : structured array
        The sums of persistences, with a row for each size at which the set of leaves changes. The
        fields are "min_cluster_size", "persistence" (the sum), "n_clusters" (the number of leaves)
        and "is_layer" (whether the sum is a local maximum). A row holds for the sizes up to the
        next row. :func:`clmst.drawing.draw_persistence` draws it.
    hdbscan_ : HDBSCAN
        The fitted :class:`HDBSCAN` with the chosen size. It has the trees, outlier scores and
        persistence of the clusters, and predicts new points.
    n_features_in_ : int
        The number of coordinates of a point in the input of :meth:`fit`.
    feature_names_in_ : ndarray of str
        The names of the columns of the input. It exists if all columns have names that are strings.

    See Also
    --------
    HDBSCAN : Clusters for one minimum cluster size.
    clmst.drawing.draw_persistence : Draw the sums of persistences for all sizes.

    Notes
    -----
    The spanning tree is computed once, and takes the time of a fit of :class:`HDBSCAN` with the
    same `min_samples`. All sizes are then compared on one condensed tree, in O(n log n) time.

    A cluster begins to be a leaf at 1 more than the size of the second largest part of any split
    inside it, or at `min_size`. It ends at its own size, or at the size of the second largest part
    of the split that makes it, whichever is less. The root, which contains all points, is never a
    leaf. Components of a graph that is not connected are parts of a split at an infinite height, so
    they are clusters like others.

    References
    ----------
    .. [1] D. M. Bot, L. McInnes, J. Aerts, "Persistent Multiscale Density-based Clustering",
       arXiv:2512.16558, 2025.

    Examples
    --------
    >>> from clmst.cluster import PersistentLeaves
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [4, 20]]
    >>> model = PersistentLeaves(min_samples=3).fit(X)
    >>> model.labels_
    array([ 0,  0,  0,  0,  1,  1,  1,  1, -1])
    >>> model.min_cluster_size_
    3
    """

    _takes_sparse_points = _takes_gaps = True

    def __init__(
        self,
        min_samples: int = 5,
        *,
        min_size: int | None = None,
        max_size: int | None = None,
        persistence: str = "size",
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        ties: str = "simultaneous",
        device: Any = None,
    ) -> None:
        self.min_samples = min_samples
        self.min_size = min_size
        self.max_size = max_size
        self.persistence = persistence
        self.metric = metric
        self.metric_params = metric_params
        self.ties = ties
        self.device = device

    @lasting("clustering by persistent leaves")
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of points and set the attributes. Blocks until all are found.

        Parameters
        ----------
        X : array of shape (n, d), array of shape (n, n), data frame, sparse matrix or graph
            Points, distances or a graph, in any form that :meth:`HDBSCAN.fit` takes.
        y : object
            Ignored. It exists for compatibility with scikit-learn.
        sample_weight : array of whole numbers, shape (n,), optional
            How often each row occurs, as :meth:`HDBSCAN.fit` takes it. Minimum cluster sizes then
            count the rows by their weights.

        Returns
        -------
        PersistentLeaves
            The estimator itself.

        Raises
        ------
        InvalidArgumentError
            A parameter is out of its range, there are fewer points than `min_samples`, or
            `sample_weight` is not a whole number of 0 or more for each row.
        InvalidGraphError
            `X` is malformed, lacks a finite row, or contains a distance that is negative or NaN; or
            a point of a sparse input has fewer than `min_samples` - 1 stored neighbours.

        Examples
        --------
        >>> from clmst.cluster import PersistentLeaves
        >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [4, 20]]
        >>> model = PersistentLeaves(min_samples=3).fit(X)
        >>> model.labels_
        array([ 0,  0,  0,  0,  1,  1,  1,  1, -1])

        There are two leaves for the sizes 3 and 4, and none from 5 on:

        >>> model.trace_["min_cluster_size"], model.trace_["n_clusters"]
        (array([3, 5]), array([2, 0]))
        """
        least, most = self._checked_sizes()
        model = self._hdbscan(least)
        given = distances_of(X, model)
        if sample_weight is not None:
            given = given.weighted(sample_weight)
        forest, own_heights = forest_by_density(given.graph, model, given.weights)
        tree = condensed_tree(
            forest, least, ties=self.ties, device=self.device, weights=given.weights,
            own_heights=own_heights,
        )  # fmt: skip
        leaves = leaves_of(tree, least)
        trace = trace_of(leaves, persistences_of(tree, leaves, self.persistence), least, most)
        best = int(trace["min_cluster_size"][trace["persistence"].argmax()])
        model.min_cluster_size = best
        model._cluster(given, forest, own_heights)
        for fitted in (model, self):
            note_features(fitted, X, given.n_features)
        self.trace_, self.min_cluster_size_, self.hdbscan_ = trace, best, model
        self.labels_, self.probabilities_ = model.labels_, model.probabilities_
        return self

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

    @lasting("clustering by persistent leaves")
    def layers(self, n: int | None = None) -> list[HDBSCAN]:
        """Return clusterings of the points at several scales, from the finest to the coarsest.

        Each of them, called a layer, is the clustering for a minimum cluster size at which the sum
        of the clusters' persistences is a local maximum. The spanning tree of the fit is used
        again, so a layer takes O(n log n) time.

        Parameters
        ----------
        n : int, optional
            The number of layers to return, 1 or more: those with the greatest sums. Without it, or
            if there are fewer layers, all are returned.

        Returns
        -------
        list of HDBSCAN
            A fitted model for each layer, by rising `min_cluster_size`, with `labels_` and all
            other attributes. The chosen size is one of them. The list is empty if no size gives a
            cluster.

        Raises
        ------
        InvalidArgumentError
            `n` is not an integer of 1 or more.
        NotFittedError
            The estimator has not been fitted.

        Examples
        --------
        >>> from clmst.cluster import PersistentLeaves
        >>> groups = (0, 6), (9, 5), (17, 4)
        >>> X = [[far + at + k] for far in (0, 90) for at, count in groups for k in range(count)]
        >>> model = PersistentLeaves(min_samples=1).fit(X)
        >>> [(layer.min_cluster_size, int(layer.labels_.max()) + 1) for layer in model.layers()]
        [(2, 6), (6, 2)]
        """
        if n is not None:
            check_integer("n", n, low=1)
        if "hdbscan_" not in vars(self):
            raise not_fitted(f"{self!r} is not fitted; fit must be called first")
        found = []
        for size in best_of(self.trace_, n).tolist():
            model = copy(self.hdbscan_)
            model.min_cluster_size = size
            model._cluster(model._given, model.forest_, model._own_heights)
            found.append(model)
        return found

    def _checked_sizes(self) -> tuple[int, int | None]:
        """Check the parameters that HDBSCAN does not have, and return the sizes to compare.

        Returns the least and the greatest minimum cluster size, or None as the greatest if there is
        no limit. Raises InvalidArgumentError if a parameter is out of its range.
        """
        least = max(check_integer("min_samples", self.min_samples, low=1), 2)
        if self.min_size is not None:
            least = check_integer("min_size", self.min_size, low=2)
        check_choice("persistence", self.persistence, MEASURES)
        if self.max_size is None:
            return least, None
        most = check_integer("max_size", self.max_size, low=2)
        if most < least:
            given = "min_samples" if self.min_size is None else "min_size"
            raise InvalidArgumentError(
                f"max_size is {most}, and the least size to compare is {least}, from {given}; the "
                "greatest size must not be less"
            )
        return least, most

    def _hdbscan(self, least: int) -> HDBSCAN:
        """Create the HDBSCAN with the minimum cluster size `least`, and check its parameters."""
        model = HDBSCAN(
            least, self.min_samples, metric=self.metric, metric_params=self.metric_params,
            cluster_selection_method="leaf", ties=self.ties, device=self.device,
        )  # fmt: skip
        check_parameters(model)
        return model

    def _places(self) -> tuple[Array, Array] | None:
        return self.hdbscan_._places()
