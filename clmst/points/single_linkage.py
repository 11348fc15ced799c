"""Single linkage: a function like SciPy's, and an estimator like scikit-learn's."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import check_bool, check_integer, shown
from clmst.core.errors import GraphWarning, InvalidArgumentError, callers_level
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.estimator import ClusterEstimator, note_features, warn_of_components
from clmst.points.inputs import forest_of
from clmst.points.neighbour_forest import forest_by_connectivity, neighbour_forest

# The bytes for each point that the step from the tree to the linkage matrix takes at most.
# tests/blocks/test_memory.py measures them.
_HOST_BYTES, _DEVICE_BYTES = 60, 105


@lasting("computing a single-linkage tree")
def single_linkage(
    X: Any,
    *,
    metric: Any = "euclidean",
    metric_params: Any = None,
    neighbours: Any = None,
    join: Literal["connected", "exact"] = "connected",
    join_components: bool = False,
    device: Any = None,
    block_points: Any = None,
) -> npt.NDArray[np.float64]:
    """Compute the single-linkage dendrogram of points, distances or a graph.

    Single linkage begins with each point as a cluster, and merges the two nearest clusters until
    one is left. The distance of two clusters is the distance of their nearest points. The merges
    are the edges of a minimum spanning tree in rising order [1]_. Blocks until the device has
    finished.

    Parameters
    ----------
    X : array of shape (n, d), data frame, graph, or Forest
        What to cluster:

        * Points as rows: an array, a data frame of pandas or polars, an Arrow table, a tensor on
          the CPU, any other object with ``__array__`` or ``__dlpack__``, or a list of rows.
        * :class:`clmst.Points`, which have their own metric.
        * With ``metric="precomputed"``: distances, as a matrix of shape (n, n) or in SciPy's
          condensed form. A data frame with columns for both ends of edges is a graph.
        * A sparse matrix, or any other graph that :func:`clmst.minimum_spanning_forest` takes. Its
          weights are distances.
        * A :class:`clmst.Forest` that was computed before.
    metric : str or callable, default "euclidean"
        The distance of two points. It may be a metric of :class:`clmst.Points`, whose distances are
        computed when they are needed, in O(n) memory. It may also be another metric of SciPy's
        ``pdist``, or a function of two rows. Their distances are stored, in O(n**2) memory. With
        "precomputed", `X` contains distances.
    metric_params : dict, optional
        Keyword arguments of the metric, as SciPy's ``pdist`` takes them.
    neighbours : sparse matrix, graph, array or pair of arrays, optional
        A graph of near points from another library. With it the tree begins with the edges of this
        graph; see :func:`neighbour_forest`.
    join : {"connected", "exact"}, default "connected"
        How to use `neighbours`. "connected" joins the components of their graph by the shortest
        edges between their points, which is quick. "exact" considers all pairs of points.
    join_components : bool, default False
        Whether to join the components of a graph that is not connected, at an infinite height.
        Without it a graph that is not connected raises InvalidForestError.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`.
    block_points : int or BlockOptions, optional
        Compute the tree of the points block by block, with at most so many points in a block. Use
        it for points that are too many for the device. The result does not depend on the blocks.
        `neighbours` must be None.

    Returns
    -------
    ndarray of float64, shape (n - 1, 4)
        The linkage matrix, in the form of ``scipy.cluster.hierarchy.linkage(X, "single")``. Each
        row is a merge: the numbers of the two clusters, their distance, and the number of points of
        the new cluster. Points have the numbers 0 to n - 1, and merge i makes cluster n + i. See
        :meth:`clmst.Forest.linkage`.

    Raises
    ------
    InvalidGraphError
        The input is malformed or without points, or a distance is negative or NaN.
    InvalidForestError
        The graph is not connected and `join_components` is False, or `X` is a maximum spanning
        forest.
    InvalidArgumentError
        The metric is unknown, or another argument is out of its range.

    Notes
    -----
    It takes the time of :func:`clmst.minimum_spanning_forest` for the same input, plus O(n log n)
    for the dendrogram.

    References
    ----------
    .. [1] J. C. Gower, G. J. S. Ross, "Minimum Spanning Trees and Single Linkage Cluster Analysis",
       Applied Statistics, 1969.

    Examples
    --------
    >>> from clmst.cluster import single_linkage
    >>> single_linkage([[0, 0], [0, 1], [4, 0]])
    array([[0., 1., 1., 2.],
           [2., 3., 4., 3.]])
    """
    check_bool("join_components", join_components)
    if neighbours is None:
        forest = forest_of(X, metric, metric_params, device, block_points)
    elif block_points is not None:
        raise InvalidArgumentError(
            "neighbours and block_points are given; give one of the two, since a tree that begins "
            "with a graph of neighbours is not divided into blocks"
        )
    else:
        forest = neighbour_forest(
            X, neighbours, join=join, metric=metric, metric_params=metric_params, device=device
        )
    if block_points is None:
        return forest.linkage(join_components=join_components, device=device)
    from clmst.blocks.solve import reporting_step

    with reporting_step(
        block_points, "dendrogram", forest.n_vertices, host=_HOST_BYTES, device=_DEVICE_BYTES
    ):
        return forest.linkage(join_components=join_components, device=device)


class SingleLinkage(ClusterEstimator):
    """Cluster by single linkage, like AgglomerativeClustering(linkage="single") of scikit-learn.

    Single linkage merges the two nearest clusters again and again. The distance of two clusters is
    the distance of their nearest points. The merges end when the requested number of clusters is
    reached, or when no two clusters are nearer than a threshold. scikit-learn need not be
    installed. All inputs of :func:`single_linkage` are accepted.

    Parameters
    ----------
    n_clusters : int or None, default 2
        The number of clusters to find. It must be None if `distance_threshold` is given.
    metric : str or callable, default "euclidean"
        The distance of two points, as :func:`single_linkage` takes it.
    metric_params : dict, optional
        Keyword arguments of the metric.
    connectivity : sparse matrix, array or callable, optional
        The pairs of points that may be joined: a matrix of shape (n, n), such as the graph of
        nearest neighbours, or a function of `X` that returns one. A pair may be joined if its entry
        is not 0 in one direction at least. If these pairs do not connect all points, the shortest
        edges between their components are added, as scikit-learn does.
    distance_threshold : float, optional
        The distance at or above which clusters are not merged. A greater value gives fewer
        clusters. `n_clusters` must be None with it.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n,)
        The cluster of each point. Clusters are numbered from 0 in the order of their first points.
    n_clusters_ : int
        The number of clusters that were found.
    n_leaves_ : int
        The number of points.
    n_connected_components_ : int
        The number of connected components of the graph. If there are several, a
        :class:`GraphWarning` is given. Components of an input graph are joined at an infinite
        distance, and components of `connectivity` by the shortest edges between their points.
    children_ : ndarray of int64, shape (n - 1, 2)
        The two nodes that each merge joins. Nodes 0 to n - 1 are points, and node n + i is the
        result of merge i.
    distances_ : ndarray of float64, shape (n - 1,)
        The distance of the two clusters of each merge.
    forest_ : Forest
        The spanning forest. ``forest_.cut`` gives other numbers of clusters without another solve.
    n_features_in_ : int
        The number of columns of the input, or 0 if it does not have two dimensions.
    feature_names_in_ : ndarray of str
        The names of the columns of the input. It exists if all columns have names that are strings.

    Notes
    -----
    A fit takes the time and memory of :func:`single_linkage` for the same input. Clusters with a
    few points between them are chained together; :class:`HDBSCAN` treats the points between
    clusters as noise.

    Examples
    --------
    >>> from clmst.cluster import SingleLinkage
    >>> X = [[0, 0], [0, 1], [4, 0]]
    >>> SingleLinkage(n_clusters=2).fit_predict(X)
    array([0, 0, 1], dtype=int32)
    >>> SingleLinkage(n_clusters=None, distance_threshold=2).fit(X).n_clusters_
    2
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        metric_params: Any = None,
        connectivity: Any = None,
        distance_threshold: float | None = None,
        device: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.connectivity = connectivity
        self.distance_threshold = distance_threshold
        self.device = device

    @lasting("clustering by single linkage")
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of points and set the attributes. Blocks until all are found.

        Parameters
        ----------
        X : array of shape (n, d), data frame, graph, or Forest
            Points, distances or a graph, in any form that :func:`single_linkage` takes.
        y : object
            Ignored. It exists for compatibility with scikit-learn.

        Returns
        -------
        SingleLinkage
            The estimator itself.

        Raises
        ------
        InvalidArgumentError
            A parameter is out of its range, not exactly one of `n_clusters` and
            `distance_threshold` is given, or there are fewer points than clusters.
        InvalidGraphError
            The input is malformed or without points, or a distance is negative or NaN.

        Examples
        --------
        >>> from clmst.cluster import SingleLinkage
        >>> model = SingleLinkage(n_clusters=2).fit([[0, 0], [0, 1], [4, 0]])
        >>> model.labels_
        array([0, 0, 1], dtype=int32)
        >>> model.distances_
        array([1., 4.])
        """
        self._check()
        forest = self._forest(X)
        linkage = forest.linkage(join_components=True, device=self.device)
        self.forest_, self.n_leaves_ = forest, forest.n_vertices
        self.children_ = linkage[:, :2].astype(np.int64)
        self.distances_ = linkage[:, 2].copy()
        if self.n_clusters is None:
            far_apart = self.distances_ >= np.float64(self.distance_threshold)
            n_clusters = int(np.count_nonzero(far_apart)) + 1
        else:
            n_clusters = check_integer("n_clusters", self.n_clusters, low=1)
        if n_clusters > self.n_leaves_:
            raise InvalidArgumentError(
                f"n_clusters is {n_clusters}; it must be at most {self.n_leaves_}, the number of "
                "points"
            )
        self.n_clusters_ = n_clusters
        self.labels_ = labels_of(forest, n_clusters)
        note_features(self, X.coordinates if isinstance(X, Points) else X)
        return self

    def _forest(self, X: Any) -> Forest:
        """Compute the spanning forest of `X`, and set `n_connected_components_`.

        Gives a GraphWarning if the graph has several components.
        """
        metric = self.metric, self.metric_params
        if self.connectivity is None:
            forest = forest_of(X, *metric, self.device)
            self.n_connected_components_ = forest.n_components
            warn_of_components(forest)
            return forest
        forest = forest_by_connectivity(X, self.connectivity, *metric, self.device)
        self.n_connected_components_ = forest.stats["graph_components"]
        if self.n_connected_components_ > 1:
            warnings.warn(
                f"the graph of connectivity has {self.n_connected_components_} components, which "
                "are joined by the shortest edges between their points",
                GraphWarning,
                stacklevel=callers_level(),
            )
        return forest

    def _check(self) -> None:
        """Raise InvalidArgumentError unless exactly one parameter defines the cut, and is valid.

        The parameters are `n_clusters` and `distance_threshold`.
        """
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise InvalidArgumentError(
                f"n_clusters is {shown(self.n_clusters)} and distance_threshold is "
                f"{shown(self.distance_threshold)}; exactly one of them has to be set, and the "
                "other one None"
            )
        if self.n_clusters is not None:
            check_integer("n_clusters", self.n_clusters, low=1)
        elif not isinstance(self.distance_threshold, Real) or not self.distance_threshold >= 0:
            raise InvalidArgumentError(
                f"distance_threshold is {shown(self.distance_threshold)}; it must be a number of 0 "
                "or more"
            )


def labels_of(forest: Forest, n_clusters: int) -> Array:
    """Cut a forest into `n_clusters` clusters and return the label of each vertex.

    If the forest has more components than `n_clusters`, the first components are joined to one
    cluster.
    """
    if n_clusters >= forest.n_components:
        return forest.cut(k=n_clusters)
    joined = forest.n_components - n_clusters
    return np.maximum(forest.labels - joined, 0).astype(np.int32)
