"""The density-based validity of a clustering (DBCV).

Source: D. Moulavi, P. A. Jaskowiak, R. J. G. B. Campello, A. Zimek, J. Sander, "Density-Based
Clustering Validation", SIAM International Conference on Data Mining, 2014.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from clmst.points.condensed import share_of
from clmst.points.hdbscan import distances_between
from clmst.points.inputs import filled, graph_of, precomputed
from clmst.points.metrics import check_metric

_CELLS_AT_ONCE = 1 << 18  # of a few arrays that a core's cache holds


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
    """Return how valid a clustering is by density, from -1 to 1: DBCV.

    The score of a cluster compares its density separation, the least mutual reachability from its
    inner points to those of another cluster, with its density sparseness, the heaviest inner edge
    of its minimum spanning tree. The index is their mean, weighted by points; noise weighs with 0.

    Parameters
    ----------
    X : array of shape (n, d), a sparse matrix, or Points
        Points as rows; with ``metric="precomputed"`` the matrix of their distances.
    labels : array of int, shape (n,)
        The cluster of each point; noise is negative. So is a row that is not finite.
    metric, metric_params
        As of :func:`clmst.cluster.single_linkage`.
    d : int, optional
        The dimensions that densities are of; by default the number of coordinates.
    per_cluster_scores : bool
        Return the scores of clusters, too.
    mst_raw_dist : bool
        Take distances instead of mutual reachability, which also suits long clusters side by side.
    device : None, str, Device or pyopencl.CommandQueue
        Where spanning trees are found; see :func:`clmst.get_device`.

    Returns
    -------
    index : float
        0 if all points are noise. NaN if only one cluster has two points or more, of which a
        :class:`GraphWarning` tells.
    scores : ndarray of float64, shape (labels.max() + 1,)
        If asked for. NaN of labels with fewer than two points.

    Raises
    ------
    InvalidGraphError
        Malformed points or distances, or a coordinate of a clustered point that is not finite.
    InvalidArgumentError
        There is not one label for each point, or `d` is missing for a matrix of distances.

    Notes
    -----
    The core distance of a point is by the mean of ``(1 / distance) ** d`` over the other points of
    its cluster. Points at distance 0 add nothing to this sum. A cluster of one point counts as
    noise. Inner points have two edges of the tree or more; where no point has them, all are inner,
    and where no edge has two inner ends, all edges are. Of equally heavy edges the tree has those
    of least id.

    O(m**2 d) time for a cluster of m points, and what the spanning trees take. O(n) memory for the
    metrics "euclidean", "manhattan", "chebyshev" and "cosine", O(n**2) for others.

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
    rows, metric = (X.coordinates, X.metric) if isinstance(X, Points) else (filled(X), metric)
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
    if d is not None:
        return check_integer("d", d, low=1)
    if metric == "precomputed":
        raise InvalidArgumentError(
            "d is None and distances are precomputed; it must be the dimensions of the points"
        )
    return int(rows.shape[1])


@dataclass(frozen=True, kw_only=True)
class _ClusteredPoints:
    """Distances of clustered points: of coordinates, computed on demand, or a stored matrix."""

    points: Points | None
    matrix: Array | None

    def between(self, some: Nodes, others: Nodes) -> Array:
        """Return the distances of points to others, shape (m, n)."""
        if self.points is None:
            assert self.matrix is not None
            return self.matrix[np.ix_(some, others)]
        rows = self.points.coordinates
        return distances_between(rows[some], rows[others], self.points.metric, None)

    def core(self, group: Nodes, d: int) -> Floats:
        """Return the core distance of each point of a cluster, by all other points of it."""

        def core_of(some: slice) -> Floats:
            apart = self.between(group[some], group)
            own = np.arange(len(apart))
            apart[own, some.start + own] = 0  # which a cosine distance may miss a little
            farthest = apart.max(axis=1)
            apart[apart == 0] = np.inf
            nearest = apart.min(axis=1)
            with np.errstate(invalid="ignore"):
                shares = nearest[:, None] / apart  # at most 1: no power of them overflows
            shares **= d
            core = nearest * (shares.sum(axis=1) / (group.size - 1)) ** (-1 / d)
            found: Floats = np.where(np.isinf(nearest), farthest, core)
            return found

        parts = slices(group.size, max(_CELLS_AT_ONCE // group.size, 1))
        return np.concatenate(in_threads(core_of, parts))

    def forest(self, some: Nodes, core: Floats, device: Any) -> tuple[Nodes, Floats]:
        """Return edges and weights of the spanning tree of some points by mutual reachability."""
        graph: Points | DenseGraph
        if self.points is None:
            mutual = np.maximum(self.between(some, some), core[some])
            graph = DenseGraph(np.maximum(mutual, core[some, None]))
        else:
            graph = Points(self.points.coordinates[some], self.points.metric, core[some])
        forest = minimum_spanning_forest(graph, device=device)
        return forest.edges.astype(np.int64), forest.weights


def _distances_of(
    rows: Array, clustered: Nodes, metric: Any, metric_params: Any
) -> _ClusteredPoints:
    """Return the distances of clustered points, checked."""
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
    """Return the inner points of a spanning tree, and the weight of its heaviest inner edge."""
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
    """Return the least mutual reachability from inner points of each cluster to another's.

    The lightest edge that leaves a set of points is in every minimum spanning tree.
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
    """Return the validity of each cluster; NaN if there is only one."""
    if separations.size == 1:
        return np.full(1, np.nan)
    with np.errstate(invalid="ignore"):
        return np.where(
            separations > sparseness,
            1 - share_of(sparseness, separations),
            share_of(separations, sparseness) - 1,
        )
