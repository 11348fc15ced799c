"""Spanning trees of points by a graph of near ones, which another library has found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from clmst.algorithms import families
from clmst.algorithms.bvh_boruvka import choice
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.api import minimum_spanning_forest
from clmst.core import pairs
from clmst.core.arguments import check_choice
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.inputs import graph_of, restricted
from clmst.points.neighbour_graphs import neighbour_graph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher


def neighbour_forest(
    X: Any,
    neighbours: Any,
    *,
    join: Literal["connected", "exact"] = "connected",
    metric: Any = "euclidean",
    metric_params: Any = None,
    device: Any = None,
) -> Forest:
    """Compute a spanning tree of points that begins with a graph of near ones.

    Such graphs come from scikit-learn, pynndescent, FAISS, hnswlib and others. They are often
    approximate, and often not connected.

    Parameters
    ----------
    X : array of shape (n, d), or Points
        Points as rows, or distances; as of :func:`single_linkage`, but no graph that lists edges.
    neighbours : sparse matrix, graph, array or pair of arrays
        * A sparse matrix of distances, shape (n, n), or any other graph of
          :func:`clmst.minimum_spanning_forest` that lists its edges. An edge may be stored in one
          direction or both. Stored zeros are edges.
        * An array of integers, shape (n, k): row i has neighbours of point i. Distances are
          computed of `X`. An entry of -1 means none.
        * A tuple of two such arrays, neighbours and distances, in either order: the neighbours are
          those of integers.

        Points that are their own neighbours do no harm.
    join : {"connected", "exact"}
        * "connected": the minimum spanning forest of the graph, whose components are joined by the
          shortest edges between their points. The graph's own distances are taken as they are, even
          where they contradict `X`.
        * "exact": the minimum spanning tree of all pairs of points. Of the graph nothing is taken.
    metric, metric_params
        As of :func:`single_linkage`.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.

    Returns
    -------
    Forest
        A tree of all points. Its edge ids are indices into SciPy's condensed form, as those of
        :class:`clmst.Points` are. ``stats["join"]`` is `join`. If that is "connected",
        ``stats["graph_components"]`` is the number of the graph's components, and
        ``stats["joining"]`` has the positions in `edges` of those that are not of the graph.

    Raises
    ------
    InvalidGraphError
        Malformed points; a graph of another number of points, a neighbour that is no point, or a
        distance that is negative or NaN.
    InvalidArgumentError
        `X` is a graph that lists its edges, or `neighbours` has none of the forms above.

    Notes
    -----
    Of two equal edges the one of lesser ends is taken, so the tree is the same on every device.

    Examples
    --------
    >>> from clmst.cluster import neighbour_forest
    >>> forest = neighbour_forest([[0], [1], [5], [7]], [[1], [0], [3], [2]])
    >>> forest.edges.tolist(), forest.weights.tolist()
    ([[0, 1], [1, 2], [2, 3]], [1.0, 4.0, 2.0])
    >>> forest.stats["graph_components"], forest.stats["joining"].tolist()
    (2, [1])
    """
    check_choice("join", join, ("connected", "exact"))
    points = graph_of(X, metric, metric_params)
    if not isinstance(points, Points | DenseGraph):
        raise InvalidArgumentError(
            "neighbours are given, and X is a graph, which has edges of its own; neighbours are "
            "for points and for complete matrices"
        )
    graph = neighbour_graph(neighbours, points)
    if join == "exact":
        exact = minimum_spanning_forest(points, device=device)
        return replace(exact, stats={**exact.stats, "join": join})
    return _connected(graph, points, device)


def forest_by_connectivity(
    X: Any, connectivity: Any, metric: Any, metric_params: Any, device: Any
) -> Forest:
    """Return the forest of the pairs that a matrix names, made connected; for scikit-learn's way.

    Raises
    ------
    ClmstError
        As of :func:`graph_of` and :func:`restricted`.
    """
    points = graph_of(X, metric, metric_params)
    named = connectivity(X) if callable(connectivity) else connectivity
    return _connected(restricted(points, named), points, device)


def _connected(graph: Graph, points: Points | DenseGraph, device: Any) -> Forest:
    """Return the forest of a graph, with the edges that join its components."""
    n = points.n_vertices
    forest = minimum_spanning_forest(graph, device=device)
    stats = {**forest.stats, "join": "connected", "graph_components": forest.n_components}
    joining = np.zeros((0, 2), forest.edges.dtype)
    if forest.n_components > 1:
        joining = joining_edges(points, forest.labels, device).astype(forest.edges.dtype)
    edges = np.concatenate([forest.edges, joining])
    weights = np.concatenate([forest.weights, points.weights_of(*joining.T)]).astype(np.float64)
    edge_ids = pairs.position(n, *edges.T)
    order = np.argsort(edge_ids, kind="stable")
    stats["joining"] = np.flatnonzero(order >= forest.n_edges)
    return Forest(
        n_vertices=n,
        edges=edges[order],
        weights=weights[order],
        edge_ids=edge_ids[order],
        stats=stats,
    )


def joining_edges(points: Points | DenseGraph, labels: Array, device: Any) -> Array:
    """Return the shortest edges that join components, shape (components - 1, 2).

    They are a minimum spanning tree of the components. A hierarchy of boxes finds them, where there
    is one for the metric.
    """
    if isinstance(points, Points) and choice.takes(points):
        found = get_device(device)
        if found.capabilities.doubles:
            matrix = DeviceMatrix.upload(points, found)
            if families.points_refusal(matrix) is None:
                with found.lock, Guard(found):
                    launch = Launcher(found, found.queue)
                    return bvh_boruvka.joining_edges(matrix, labels, launch)
    return joining_edges_of_tree(minimum_spanning_forest(points, device=device), labels)


def joining_edges_of_tree(tree: Forest, labels: Array) -> Array:
    """Return the same of a spanning tree of all points, of which they are a part.

    What is the heaviest edge of a cycle stays so where vertices are merged.
    """
    edges = tree.checked_edges()
    rank = np.empty(tree.n_edges, np.int64)  # as weights: so ties keep the order of points
    rank[np.argsort(tree.weights, kind="stable")] = np.arange(tree.n_edges)
    u, v = labels[edges].T
    between = np.flatnonzero(u != v)
    contracted = Graph.from_edges(
        u[between], v[between], rank[between], n_vertices=int(labels.max()) + 1
    )
    taken: Array = edges[np.sort(between[kruskal(contracted).edge_ids])]
    return taken
