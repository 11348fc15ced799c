"""Spanning trees of points, computed from another library's graph of near points."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from clmst import route
from clmst.algorithms import families
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.api import minimum_spanning_forest
from clmst.core import pairs
from clmst.core.arguments import as_array, check_choice, has_numbers, is_sparse, shown
from clmst.core.coercion import as_graph
from clmst.core.complete_trees import spanning_tree
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.long_work import lasting
from clmst.core.point_checks import BOXED
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.inputs import checked_graph, graph_of, restricted
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import on_device_or_host
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher


@lasting("computing a spanning forest of near points")
def neighbour_forest(
    X: Any,
    neighbours: Any,
    *,
    join: Literal["connected", "exact"] = "connected",
    metric: Any = "euclidean",
    metric_params: Any = None,
    device: Any = None,
) -> Forest:
    """Compute a spanning tree of points that begins with a graph of near points.

    The graph lists a few near points for each point. scikit-learn, pynndescent, FAISS, hnswlib and
    other libraries make graphs of near points. These are often approximate, and often not
    connected. Blocks until the device has finished.

    Parameters
    ----------
    X : array of shape (n, d), or Points
        Points as rows, or a complete matrix of distances, in any form that :func:`single_linkage`
        takes except a graph that lists its edges.
    neighbours : sparse matrix, graph, array or pair of arrays
        The near points of each point, in one of these forms:

        * A sparse matrix of distances, shape (n, n), or any other graph that lists its edges and
          that :func:`clmst.minimum_spanning_forest` takes. An edge may be stored in one direction
          or both. Stored zeros are edges.
        * An array of integers, shape (n, k). Row i contains the neighbours of point i. Their
          distances are computed from `X`. An entry of -1 means that the neighbour is missing.
        * A tuple of two arrays of shape (n, k), in either order: the neighbours as integers, and
          their distances as floats.

        A point that is listed as its own neighbour is ignored.
    join : {"connected", "exact"}, default "connected"
        How to use the graph.

        * "connected" computes the minimum spanning forest of the graph and joins its components by
          the shortest edges between their points. The distances of the graph are used even where
          they differ from the distances of `X`.
        * "exact" computes the minimum spanning tree of all pairs of points. The graph is checked
          and not used.
    metric : str or callable, default "euclidean"
        The distance of two points, as :func:`single_linkage` takes it.
    metric_params : dict, optional
        Keyword arguments of the metric.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`.

    Returns
    -------
    Forest
        A tree of all points. Its edge ids are indices into SciPy's condensed form of all pairs, as
        for :class:`clmst.Points`. ``stats["join"]`` is `join`. If `join` is "connected",
        ``stats["graph_components"]`` is the number of components of the graph, and
        ``stats["joining"]`` lists the positions in `edges` of the edges that were added to join
        them.

    Raises
    ------
    InvalidGraphError
        The points are malformed, the graph has another number of points than `X`, a neighbour is
        not a point, or a distance is negative or NaN.
    InvalidArgumentError
        `X` is a graph that lists its edges, or `neighbours` has none of the forms above.

    Notes
    -----
    Of two edges of equal weight the edge with the lesser ends is preferred, so the tree is the same
    on every device. "connected" takes the time of a sparse solve of the graph, and the time of one
    solve of the points if the graph is not connected.

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
    """Compute the spanning forest of the pairs in a connectivity matrix, and join its trees.

    `connectivity` is a matrix, or a function of `X` that returns one. `metric` and `metric_params`
    say how distances are computed. The trees are joined by the shortest edges between their points,
    as scikit-learn does.
    """
    points = graph_of(X, metric, metric_params)
    named = connectivity(X) if callable(connectivity) else connectivity
    return _connected(restricted(points, named), points, device)


def _connected(graph: Graph, points: Points | DenseGraph, device: Any) -> Forest:
    """Compute the forest of a graph, and add the shortest edges between its trees.

    `points` gives the lengths of the edges that join the trees. Returns a spanning tree of all
    points.
    """
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
    """Find the shortest edges that join components, shape (components - 1, 2).

    `labels` has the component of each point. The edges form a minimum spanning tree of the
    components. They are found on the device with a tree of bounding boxes, if the metric allows it
    and the device passes the self-test. Otherwise they are taken from a spanning tree of all
    points.
    """
    if not isinstance(points, Points) or points.metric not in BOXED:
        return joining_edges_of_tree(minimum_spanning_forest(points, device=device), labels)

    return on_device_or_host(
        device,
        partial(_joining_edges_on, points, labels),
        lambda _: joining_edges_of_tree(spanning_tree(points), labels),
        host_first=lambda: route.host_compares_first(points.n_vertices),
    )


def _joining_edges_on(points: Points, labels: Array, device: Device) -> Array:
    """Find the shortest edges that join components of points as :func:`joining_edges`, on a device.

    `labels` has the component of each point. The metric allows a tree of bounding boxes.
    """
    matrix = DeviceMatrix.upload(points, device)
    if families.points_refusal(matrix) is None:
        with device.lock, Guard(device):
            return bvh_boruvka.joining_edges(matrix, labels, Launcher(device, device.queue))
    return joining_edges_of_tree(minimum_spanning_forest(points, device=device), labels)


def joining_edges_of_tree(tree: Forest, labels: Array) -> Array:
    """Choose, from a minimum spanning tree of all points, the shortest edges that join components.

    `labels` has the component of each point. The result has the ends of the edges, shape (k, 2).
    The tree contains these edges. An edge outside of the tree is the heaviest edge of a cycle, and
    stays the heaviest one when the points of each component are merged to one vertex.
    """
    edges = tree.checked_edges()
    # Ranks serve as weights, so that edges of equal weight keep the order of the points.
    rank = np.empty(tree.n_edges, np.int64)
    rank[np.argsort(tree.weights, kind="stable")] = np.arange(tree.n_edges)
    u, v = labels[edges].T
    between = np.flatnonzero(u != v)
    contracted = Graph.from_edges(
        u[between], v[between], rank[between], n_vertices=int(labels.max()) + 1
    )
    taken: Array = edges[np.sort(between[kruskal(contracted).edge_ids])]
    return taken


_FORMS = (
    "a sparse matrix of distances, a graph, an array of neighbours of shape (n, k), or a pair of "
    "such an array and one of distances"
)


def neighbour_graph(neighbours: Any, points: Points | DenseGraph) -> Graph:
    """Convert `neighbours`, another library's graph of near points, to a Graph.

    If a pair is listed twice, the lesser weight counts. Raises InvalidGraphError unless the graph
    has as many vertices as there are points.
    """
    n = points.n_vertices
    if isinstance(neighbours, tuple) and len(neighbours) == 2:
        graph = _of_pair(*neighbours, n)
    elif isinstance(neighbours, list | tuple) or has_numbers(neighbours):
        graph = _of_indices(_table("neighbours", neighbours, n), points)
    else:
        graph = _of_graph(neighbours)
    if graph.n_vertices != n:
        raise InvalidGraphError(
            f"the graph of neighbours has {graph.n_vertices} vertices and X has {n} points; they "
            "must be as many"
        )
    return graph


def _of_graph(neighbours: Any) -> Graph:
    """Convert `neighbours`, a sparse matrix of distances or a graph with edges, to a Graph."""
    given = Graph.from_scipy(neighbours) if is_sparse(neighbours) else as_graph(neighbours)
    if not isinstance(given, Graph):
        raise InvalidArgumentError(f"neighbours is {shown(neighbours)}; it must be {_FORMS}")
    graph: Graph = checked_graph(given)
    return graph


def _of_pair(first: Any, second: Any, n: int) -> Graph:
    """Build a graph of n points from an array of neighbours and an array of distances.

    `first` and `second` are the two arrays, in either order, both of shape (n, k).
    """
    tables = [_table("neighbours", one, n) for one in (first, second)]
    are_integers = [one.dtype.kind in "iu" for one in tables]
    if sum(are_integers) != 1:
        raise InvalidArgumentError(
            f"the two arrays of neighbours have dtypes {tables[0].dtype} and {tables[1].dtype}; "
            "one must be integers, the neighbours, and the other floats, their distances"
        )
    indices, distances = tables if are_integers[0] else tables[::-1]
    if indices.shape != distances.shape:
        raise InvalidGraphError(
            f"neighbours have shape {indices.shape} and their distances {distances.shape}; they "
            "must be the same"
        )
    u, v, is_there = _ends(indices)
    weights = distances[is_there].astype(np.float64)
    wrong = np.flatnonzero(~(weights >= 0))
    if wrong.size:
        at = int(wrong[0])
        raise InvalidGraphError(
            f"point {u[at]} has neighbour {v[at]} at the distance {weights[at]}; distances are "
            "neither negative nor NaN"
        )
    return Graph.from_edges(u, v, weights, n_vertices=n, merge_parallel=True)


def _of_indices(indices: Array, points: Points | DenseGraph) -> Graph:
    """Build a graph from an array of neighbours, and compute the distances from the points.

    ``indices[i]`` are the numbers of the neighbours of point i.
    """
    if indices.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"neighbours have dtype {indices.dtype}; they must be integers, or {_FORMS}"
        )
    u, v, _ = _ends(indices)
    is_pair = u != v
    u, v = u[is_pair], v[is_pair]
    weights = points.weights_of(u, v)
    return Graph.from_edges(u, v, weights, n_vertices=points.n_vertices, merge_parallel=True)


def _table(name: str, given: Any, n: int) -> Array:
    """Convert `given` to an array with a row of real numbers for each of `n` points.

    Raises InvalidGraphError if that is impossible. `name` is the name of the argument, for the
    message.
    """
    table = as_array(name, given, error=InvalidGraphError)
    if table.ndim != 2 or table.shape[0] != n or table.dtype.kind not in "iuf":
        raise InvalidGraphError(
            f"{name} have shape {table.shape} and dtype {table.dtype}; they must be real numbers, "
            f"a row for each of {n} points"
        )
    return table


def _ends(indices: Array) -> tuple[Array, Array, Array]:
    """Return both ends of each pair in a table of neighbours, and the mask of the table's entries.

    ``indices[i]`` are the numbers of the neighbours of point i. An entry of -1 means that there is
    no neighbour; in an unsigned dtype this is the greatest value, which has the same bits. The mask
    is False at these entries. Raises InvalidGraphError if a neighbour is not a point.
    """
    n, none = indices.shape[0], indices.dtype.type(-1 if indices.dtype.kind == "i" else 0)
    if indices.dtype.kind == "u":
        none = np.iinfo(indices.dtype).max
    is_there = indices != none
    rows, columns = np.nonzero(is_there)
    to = indices[is_there]
    wrong = np.flatnonzero((to < 0) | (to >= n))
    if wrong.size:
        row, column = int(rows[wrong[0]]), int(columns[wrong[0]])
        raise InvalidGraphError(
            f"neighbour {column} of point {row} is {indices[row, column]}; it must be from 0 to "
            f"{n - 1}, or -1 where there is none"
        )
    return rows, to.astype(np.int64), is_there
