"""The density-based validity of a clustering (DBCV).

Source: D. Moulavi, P. A. Jaskowiak, R. J. G. B. Campello, A. Zimek, J. Sander, "Density-Based
Clustering Validation", SIAM International Conference on Data Mining, 2014.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.api import minimum_spanning_forest
from clmst.core.arguments import as_array, check_bool, check_integer
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import GraphWarning, InvalidArgumentError, callers_level
from clmst.core.point_checks import UNROUNDED
from clmst.core.point_rows import check_rows
from clmst.core.points import Points
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array
from clmst.points.between import distances_between
from clmst.points.condensed import grades_of
from clmst.points.inputs import filled, graph_of, precomputed
from clmst.points.metrics import check_metric

# Maximum number of distances that a thread computes at a time. Several arrays of this size fit into
# the cache of a core.
_CELLS_AT_ONCE = 1 << 18


def validity_index(  # noqa: PLR0917 - hdbscan's, in its order
    X: Any,
    labels: Any,
    metric: Any = "euclidean",
    d: int | None = None,
    per_cluster_scores: bool = False,
    mst_raw_dist: bool = False,
    *,
    metric_params: dict[str, Any] | None = None,
    device: Any = None,
) -> Any:  # float, or tuple[float, ndarray]
    """Grade a clustering by density with DBCV, from -1 (bad) to 1 (good).

    DBCV suits clusters of any shape, for which the silhouette is misleading [1]_. It compares two
    numbers for each cluster. The density separation is the least mutual reachability from an inner
    point of the cluster to an inner point of another cluster. The density sparseness is the weight
    of the heaviest inner edge of the cluster's minimum spanning tree. The score of the cluster is
    their difference, divided by the greater of the two. The index is the mean of the scores,
    weighted by the number of points. Noise counts with the score 0. Blocks until all is computed.

    Parameters
    ----------
    X : array of shape (n, d), sparse matrix, or Points
        Points as rows, or, with ``metric="precomputed"``, the matrix of their distances.
        :class:`clmst.Points` are compared by their own metric.
    labels : array of int, shape (n,)
        The cluster of each point, numbered from 0. A negative label means noise. Rows that are not
        finite must have a negative label.
    metric : str or callable, default "euclidean"
        The distance of two points, as :func:`clmst.cluster.single_linkage` takes it.
    d : int, optional
        The number of dimensions that the density refers to. In a greater dimension the nearest
        points weigh more in a core distance. The default is the number of coordinates. It must be
        given if distances are precomputed.
    per_cluster_scores : bool, default False
        Whether to return the score of each cluster, too.
    mst_raw_dist : bool, default False
        Whether to use distances instead of mutual reachability. This also suits long clusters that
        lie side by side.
    metric_params : dict, optional
        Keyword arguments of the metric.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes spanning trees; see :func:`clmst.get_device`.

    Returns
    -------
    index : float
        The index of the clustering. It is 0 if all points are noise. It is NaN if only one cluster
        has two points or more, and then a :class:`GraphWarning` is given.
    scores : ndarray of float64, shape (labels.max() + 1,)
        The score of each cluster. It is returned only if `per_cluster_scores` is True. It is NaN
        for labels with fewer than two points.

    Raises
    ------
    InvalidGraphError
        The points or distances are malformed, or a coordinate of a clustered point is not finite.
    InvalidArgumentError
        There is not exactly one label for each point, a label is not below the number of points, or
        `d` is missing for precomputed distances.

    Notes
    -----
    Here the core distance of a point is not a distance to one near point. It is the mean of ``(1 /
    distance) ** d`` over the other points of its cluster, raised to the power ``-1 / d``. Points at
    distance 0 add nothing to the sum. A cluster of one point counts as noise. Inner points have at
    least two edges of the tree. If no point has two, all points are inner; if no edge joins two
    inner points, all edges are inner. Of equally heavy edges the tree contains the edges with the
    least ids.

    The time is O(m**2 d) for a cluster of m points, plus the time of the spanning trees. Memory is
    O(n) for the metrics of :class:`clmst.Points` whose distances are not rounded, and O(n**2) for
    others.

    References
    ----------
    .. [1] D. Moulavi, P. A. Jaskowiak, R. J. G. B. Campello, A. Zimek, J. Sander, "Density-Based
       Clustering Validation", SIAM International Conference on Data Mining, 2014.

    Examples
    --------
    >>> from clmst.cluster import validity_index
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [8, 9], [9, 8], [8, 8], [5, 2]]
    >>> round(validity_index(X, [0, 0, 0, 0, 1, 1, 1, 1, -1]), 3)
    0.803
    """
    for name, value in (("per_cluster_scores", per_cluster_scores), ("mst_raw_dist", mst_raw_dist)):
        check_bool(name, value)
    metric = check_metric(metric)
    if isinstance(X, Points):
        rows, metric, metric_params = X.coordinates, X.metric, X.metric_params
    else:
        rows = filled(X)
    check_rows(rows)
    of_row = _checked_labels(labels, len(rows))
    clustered = np.flatnonzero(of_row >= 0)
    clusters, of_point, sizes = np.unique(
        of_row[clustered], return_inverse=True, return_counts=True
    )
    between = _distances_of(rows, clustered, metric, metric_params)
    dimensions = _dimensions(d, rows, metric)
    core = np.zeros(clustered.size)
    order = np.argsort(of_point, kind="stable")
    groups = [one for one in np.split(order, np.cumsum(sizes)[:-1]) if one.size > 1]
    is_inner = np.zeros(clustered.size, bool)
    sparseness = np.zeros(len(groups))
    for number, group in enumerate(groups):
        if not mst_raw_dist:
            core[group] = between.core(group, dimensions)
        inner, sparseness[number] = _inner(between.forest(group, core, device))
        is_inner[group[inner]] = True
    if len(groups) == 1:
        warnings.warn(
            "only one cluster has two points or more; the index compares clusters with one "
            "another, so it is NaN",
            GraphWarning,
            stacklevel=callers_level(),
        )
    found = _scores(_separations(between, groups, core, is_inner, device), sparseness)
    scores = np.full(int(of_row.max(initial=-1)) + 1, np.nan)
    scores[clusters[sizes > 1]] = found
    index = float((sizes[sizes > 1] * found).sum() / max(len(rows), 1))
    return (index, scores) if per_cluster_scores else index


def _checked_labels(labels: Any, n: int) -> Array:
    """Return the cluster labels as int64.

    Raises InvalidArgumentError unless there is one integer below `n` for each of the `n` points.
    """
    array = as_array("labels", labels)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"labels has shape {array.shape} and dtype {array.dtype} for {n} points; it must be "
            "an integer for each"
        )
    if n and array.max() >= n:
        raise InvalidArgumentError(
            f"a label is {array.max()} for {n} points; labels number clusters from 0, so each must "
            "be below the number of points"
        )
    return array.astype(np.int64)


def _dimensions(d: int | None, rows: Array, metric: Any) -> int:
    """Return the dimension of space by which density is computed, as a checked integer.

    The result is `d`, or the number of columns of `rows` if `d` is None. Raises
    InvalidArgumentError if `d` is not a positive integer, or is None while `metric` is
    "precomputed".
    """
    if d is not None:
        return check_integer("d", d, low=1)
    if metric == "precomputed":
        raise InvalidArgumentError(
            "d is None and distances are precomputed; it must be the dimensions of the points"
        )
    return int(rows.shape[1])


@dataclass(frozen=True, kw_only=True)
class _ClusteredPoints:
    """The points that are in clusters, and the distances between them.

    Either `points` has the points, and each call computes the distances that it needs, or `matrix`
    has all distances. The other field is None.
    """

    points: Points | None
    matrix: Array | None

    def between(self, some: Nodes, others: Nodes) -> Array:
        """Return the distances of the points `some` to the points `others`, shape (m, n)."""
        if self.points is None:
            assert self.matrix is not None
            return self.matrix[np.ix_(some, others)]
        rows, metric = self.points.coordinates, self.points.metric
        if metric == "euclidean" and route.computes_without_scipy(rows.size):
            return self.points.distances_to(self.points, some[:, None], others)
        return distances_between(rows[some], rows[others], metric, self.points.metric_params)

    def core(self, group: Nodes, d: int) -> Floats:
        """Compute DBCV's core distance, in `d` dimensions, of each point of a cluster.

        `group` has the points of the cluster, and only distances between these count. A point at
        distance 0 from all others has the core distance 0.
        """

        def core_of(some: slice) -> Floats:
            """Compute the core distances of some points of a cluster, a slice of `group`."""
            apart = self.between(group[some], group)
            own = np.arange(len(apart))
            apart[own, some.start + own] = 0  # by rounding a cosine distance may differ from 0
            farthest = apart.max(axis=1)
            apart[apart == 0] = np.inf
            nearest = apart.min(axis=1)
            with np.errstate(invalid="ignore"):
                shares = nearest[:, None] / apart  # at most 1, so that no power overflows
            shares **= d
            core = nearest * (shares.sum(axis=1) / (group.size - 1)) ** (-1 / d)
            found: Floats = np.where(np.isinf(nearest), farthest, core)
            return found

        parts = slices(group.size, max(_CELLS_AT_ONCE // group.size, 1))
        return np.concatenate(in_threads(core_of, parts))

    def forest(self, some: Nodes, core: Floats, device: Any) -> tuple[Nodes, Floats]:
        """Compute the minimum spanning tree of some points by mutual reachability distances.

        The mutual reachability distance of two points is the greatest of their distance and both
        core distances. `core` has the core distances of all clustered points. Returns the edges, as
        indices into `some`, shape (m, 2), and the weights of the edges, shape (m,).
        """
        graph: Points | DenseGraph
        if self.points is None:
            mutual = np.maximum(self.between(some, some), core[some])
            graph = DenseGraph(np.maximum(mutual, core[some, None]))
        else:
            rows = self.points.coordinates[some]
            graph = Points(rows, self.points.metric, core[some], self.points.p)
        forest = minimum_spanning_forest(graph, device=device)
        return forest.edges.astype(np.int64), forest.weights


def _distances_of(
    rows: Array, clustered: Nodes, metric: Any, metric_params: Any
) -> _ClusteredPoints:
    """Check the points that are in clusters, and return an object that has their distances.

    `rows` are the coordinates of all points, or the matrix of their distances if `metric` is
    "precomputed". `clustered` has the numbers of the points that are in a cluster.
    """
    if metric == "precomputed":
        matrix = precomputed(rows).weights[np.ix_(clustered, clustered)]
        return _ClusteredPoints(points=None, matrix=matrix.astype(np.float64))
    if not clustered.size:
        return _ClusteredPoints(points=None, matrix=np.zeros((0, 0)))
    graph = graph_of(rows[clustered], metric, metric_params)
    if isinstance(graph, Points) and graph.metric in UNROUNDED:
        return _ClusteredPoints(points=graph, matrix=None)
    if isinstance(graph, Points):
        every = np.arange(clustered.size)
        return _ClusteredPoints(points=None, matrix=graph.weights_of(every[:, None], every) * 1.0)
    return _ClusteredPoints(points=None, matrix=graph.weights)


def _inner(tree: tuple[Nodes, Floats]) -> tuple[Nodes, float]:
    """Return the inner points of a spanning tree, and the weight of the tree's heaviest inner edge.

    `tree` consists of edges, shape (m, 2), and their weights. An inner point is an end of at least
    two edges of the tree, and an inner edge joins two inner points. If no point has two edges, all
    points are inner. If no edge joins two inner points, all edges are inner.
    """
    edges, weights = tree
    is_inner = np.bincount(edges.ravel(), minlength=weights.size + 1) > 1
    if not is_inner.any():
        is_inner[:] = True
    within = is_inner[edges].all(axis=1)
    heaviest = weights[within] if within.any() else weights
    return np.flatnonzero(is_inner), float(heaviest.max())


def _separations(
    between: _ClusteredPoints, groups: list[Nodes], core: Floats, is_inner: Array, device: Any
) -> Floats:
    """Compute the density separation of each cluster, shape (n_clusters,).

    The density separation is the least mutual reachability between an inner point of the cluster
    and an inner point of another cluster. It is infinite if there is only one cluster. `groups` has
    the points of each cluster, and `core` the core distance of each point. A separation is the
    weight of an edge of the minimum spanning tree of all inner points, because that tree contains
    the lightest edge that leaves a set of points.
    """
    separations = np.full(len(groups), np.inf)
    if len(groups) < 2:
        return separations
    number = np.empty(core.size, np.int64)
    for at, group in enumerate(groups):
        number[group] = at
    inner = np.flatnonzero(is_inner)
    edges, weights = between.forest(inner, core, device)
    ends = number[inner[edges]]
    leaves = ends[:, 0] != ends[:, 1]
    for end in ends[leaves].T:
        np.minimum.at(separations, end, weights[leaves])
    return separations


def _scores(separations: Floats, sparseness: Floats) -> Floats:
    """Compute DBCV's score of each cluster from the cluster's separation and sparseness.

    The score is NaN if there is only one cluster.
    """
    if separations.size == 1:
        return np.full(1, np.nan)
    return grades_of(separations, sparseness)
