"""Single linkage: a function as SciPy's, and an estimator as scikit-learn's."""

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
) -> npt.NDArray[np.float64]:
    """Compute the single-linkage dendrogram of points, of distances or of a graph.

    Parameters
    ----------
    X : array of shape (n, d), data frame, graph, or Forest
        Points as rows: an array, a data frame of pandas or polars, an Arrow table, a tensor on the
        CPU, anything else with ``__array__`` or ``__dlpack__``, or a list of rows. With
        ``metric="precomputed"`` distances: a matrix of shape (n, n), or condensed. A sparse matrix
        or any other graph of :func:`clmst.minimum_spanning_forest` has distances as weights, but a
        data frame is points unless the metric is "precomputed". :class:`clmst.Points` have a
        metric of their own.
    metric : str or callable
        One of :class:`clmst.Points`; its distances are computed on demand, in O(n) memory. Or
        another one of SciPy's ``pdist``, or a function of two rows; such distances are stored in
        O(n**2) memory. Or "precomputed".
    metric_params : dict, optional
        Arguments of a metric of SciPy's.
    neighbours : sparse matrix, graph, array or pair of arrays, optional
        A graph of near points from another library; see :func:`neighbour_forest`.
    join : {"connected", "exact"}
        With `neighbours`: join the components of their graph by the shortest edges between their
        points, or solve all pairs.
    join_components : bool
        Join the components of a graph that is not connected, at an infinite height.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.

    Returns
    -------
    ndarray of float64, shape (n - 1, 4)
        The linkage matrix, as of ``scipy.cluster.hierarchy.linkage(X, "single")``; see
        :meth:`clmst.Forest.linkage`.

    Raises
    ------
    InvalidGraphError
        Malformed input, no points, or a distance that is negative or NaN.
    InvalidForestError
        The graph is not connected, and its components are not to be joined.
    InvalidArgumentError
        An unknown metric.

    Examples
    --------
    >>> from clmst.cluster import single_linkage
    >>> single_linkage([[0, 0], [0, 1], [4, 0]])
    array([[0., 1., 1., 2.],
           [2., 3., 4., 3.]])
    """
    check_bool("join_components", join_components)
    if neighbours is None:
        forest = forest_of(X, metric, metric_params, device)
    else:
        forest = neighbour_forest(
            X, neighbours, join=join, metric=metric, metric_params=metric_params, device=device
        )
    return forest.linkage(join_components=join_components, device=device)


class SingleLinkage(ClusterEstimator):
    """Single-linkage clustering, as scikit-learn's AgglomerativeClustering does it.

    scikit-learn is not needed. All inputs of :func:`single_linkage` are taken.

    Parameters
    ----------
    n_clusters : int or None
        How many clusters; None if there is a `distance_threshold`.
    metric, metric_params
        As of :func:`single_linkage`.
    connectivity : sparse matrix, array or callable, optional
        Which pairs of points may be joined: those whose entries are not 0, in one direction or
        both, as of a graph of nearest neighbours. Or a function of X that returns such a matrix.
        If they do not connect all points, the shortest edges between components are added, as
        scikit-learn does.
    distance_threshold : float, optional
        Clusters at this distance or a greater one are not merged.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n,)
        The cluster of each point, numbered by least point.
    n_clusters_ : int
    n_leaves_ : int
        Points.
    n_connected_components_ : int
        Of the graph; where there are several, a warning says so. They are joined at infinity, and
        those of `connectivity` by the shortest edges between their points.
    children_ : ndarray of int64, shape (n - 1, 2)
        The two nodes of each merge.
    distances_ : ndarray of float64, shape (n - 1,)
        The heights of merges.
    forest_ : Forest
        The spanning forest: ``forest_.cut`` gives other clusters without another solve.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where the columns of X have names.

    Examples
    --------
    >>> from clmst.cluster import SingleLinkage
    >>> SingleLinkage(n_clusters=2).fit_predict([[0, 0], [0, 1], [4, 0]])
    array([0, 0, 1], dtype=int32)
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
        """Cluster; `y` is ignored.

        Raises
        ------
        ClmstError
            As of :func:`single_linkage`; or `n_clusters` and `distance_threshold` contradict each
            other, or there are fewer points than clusters.
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
        """Return the forest to be cut; count the components of the graph, and warn of several."""
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
    """Return the labels of a cut; components beyond the number are joined, the first ones first."""
    if n_clusters >= forest.n_components:
        return forest.cut(k=n_clusters)
    joined = forest.n_components - n_clusters
    return np.maximum(forest.labels - joined, 0).astype(np.int32)
