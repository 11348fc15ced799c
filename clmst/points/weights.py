"""Sample weights, which say how many times a row counts: checks, and weighted core distances.

A row of weight w stands for w equal rows. The core distance of a row is the least distance within
which the weights of rows, its own included, sum to `min_samples` or more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.arguments import as_array
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.near_points import NearestPoints
from clmst.core.point_checks import BOXED
from clmst.core.points import Points
from clmst.core.threads import slices
from clmst.core.weight_keys import Array

_CELLS_AT_ONCE = 1 << 22  # maximum number of distances in memory at a time, or about that
_MOST = (1 << 32) - 1  # the greatest sum of weights, which is also the greatest number of rows


def checked_weights(given: Any, n: int) -> Nodes:
    """Return the sample weights `given` as int64. Each says for how many equal rows a row stands.

    Raises InvalidArgumentError unless there is one whole number of 0 or more for each of the `n`
    rows, and their sum is from 1 to 2**32 - 1.
    """
    array = as_array("sample_weight", given)
    if array.shape != (n,) or array.dtype.kind not in "iuf":
        raise InvalidArgumentError(
            f"sample_weight has shape {array.shape} and dtype {array.dtype} for {n} rows; it must "
            "be a number for each row"
        )
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~((array >= 0) & (array == np.floor(array)) & (array <= _MOST)))
    if wrong.size:
        at = wrong[0]
        raise InvalidArgumentError(
            f"sample_weight of row {at} is {array[at]}; a weight is how often the row occurs, so "
            "it must be a whole number from 0 to 2**32 - 1 (multiply fractions by a number, and "
            "min_samples and min_cluster_size by the same, and round)"
        )
    weights = array.astype(np.int64)
    total = int(weights.sum())
    if total == 0:
        raise InvalidArgumentError(
            "sample_weight is zero for every row; the weight of one row at least must be above 0"
        )
    if total > _MOST:
        raise InvalidArgumentError(
            f"sample_weight has the sum {total}; it must be at most 2**32 - 1"
        )
    return weights


def core_by_weights(graph: Any, min_samples: int, weights: Nodes) -> Floats:
    """Compute the core distance of each vertex of a graph of distances, with weights of 1 or more.

    ``weights[i]`` says how many times vertex i counts. All weights together must sum to
    `min_samples` or more. The host does the work. Points of few dimensions take O(n s log n) time,
    with s = `min_samples`, and all others O(n**2 d). If the graph lists its edges, raises
    InvalidGraphError if the weights of a vertex and its neighbours sum to less than `min_samples`.
    """
    if isinstance(graph, Graph):
        return _core_of_edges(graph.symmetrised(), min_samples, weights)
    if isinstance(graph, Points) and graph.metric in BOXED:
        return _core_by_lists(graph.with_core_distances(None), min_samples, weights)
    core = np.empty(graph.n_vertices)
    for at, rows in _rows_of(graph):
        rows[np.arange(at.size), at] = -1  # each point is its own nearest, whatever is rounded
        near, apart = _nearest(rows, min_samples)
        core[at] = np.maximum(core_of_near(apart, weights[near], min_samples), 0)
    return core


def _rows_of(graph: Points | DenseGraph) -> Iterator[tuple[Nodes, Array]]:
    """Yield the numbers of some vertices, and the distances of these vertices to all vertices.

    The distances have a row for each of the numbers.
    """
    every = np.arange(graph.n_vertices)
    for some in slices(every.size, max(_CELLS_AT_ONCE // every.size, 1)):
        at = every[some]
        if isinstance(graph, DenseGraph):
            yield at, graph.weights[at].astype(np.float64)
        else:
            plain = graph.with_core_distances(None)
            yield at, plain.weights_of(at[:, None], every).astype(np.float64)


def _nearest(rows: Array, count: int) -> tuple[Nodes, Array]:
    """Return the columns of the `count` least values of each row, and the values, in any order."""
    if count < rows.shape[1]:
        near: Nodes = np.argpartition(rows, count - 1, axis=1)[:, :count]
        return near, np.take_along_axis(rows, near, axis=1)
    return np.broadcast_to(np.arange(rows.shape[1]), rows.shape), rows


def core_of_near(apart: Array, weights: Nodes, min_samples: int) -> Floats:
    """Return, for each row, the least distance within which weights sum to `min_samples`.

    `apart` has distances to near points, shape (m, k). `weights` has the weights of these near
    points, and the same shape.
    """
    order = np.argsort(apart, axis=1)
    sums = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    first = (sums >= min_samples).argmax(axis=1)[:, None]
    at = np.take_along_axis(order, first, axis=1)
    core: Floats = np.take_along_axis(apart, at, axis=1)[:, 0]
    return core


def _core_by_lists(points: Points, min_samples: int, weights: Nodes) -> Floats:
    """Compute core distances for `min_samples` from lists of near points.

    ``weights[i]`` says how many times point i counts. A list has a bound on the distances of all
    points that are not in it. Points whose core distance may exceed this bound get longer lists.
    """
    n, search = points.n_vertices, NearestPoints(points)
    core, rest, k = np.empty(n), np.arange(n), min(min_samples + 1, n)
    while rest.size:
        again = []
        for some in slices(rest.size, max(_CELLS_AT_ONCE // k, 1)):
            at = rest[some]
            near = search.of(at, k)
            # The lists lack the points themselves. Their distances to themselves are 0.
            ids = np.column_stack([at, near.ids])
            apart = np.column_stack([np.zeros(at.size), near.distances])
            core[at] = found = core_of_near(apart, weights[ids], min_samples)
            again.append(at[found > near.beyond])
        rest, k = np.concatenate([rest[:0], *again]), min(2 * k, n)
    return points.multiplied(core)


def _core_of_edges(graph: Graph, min_samples: int, weights: Nodes) -> Floats:
    """Compute core distances of the vertices of a graph with both directions of each edge.

    ``weights[i]`` says how many times vertex i counts, and `min_samples` is the sum to be reached.
    """
    n = graph.n_vertices
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    is_edge = rows != graph.indices
    rows, columns = rows[is_edge], graph.indices[is_edge].astype(np.int64)
    apart = graph.weights[is_edge].astype(np.float64)
    # Each vertex is its own nearest vertex. Its distance to itself is set to -1, so that it comes
    # before all other vertices when neighbours are sorted by distance.
    rows, columns = np.concatenate([np.arange(n), rows]), np.concatenate([np.arange(n), columns])
    apart = np.concatenate([np.full(n, -1.0), apart])
    order = np.lexsort((apart, rows))
    rows, apart = rows[order], apart[order]
    sums = np.cumsum(weights[columns[order]])
    starts = np.searchsorted(rows, np.arange(n))
    before = np.concatenate([[0], sums])[starts]
    is_enough = sums - before[rows] >= min_samples
    enough = np.flatnonzero(is_enough)
    core = np.full(n, np.nan)
    first = np.searchsorted(rows[enough], np.arange(n))
    has_any = np.isin(np.arange(n), rows[enough])
    core[has_any] = np.maximum(apart[enough[first[has_any]]], 0)
    few = np.flatnonzero(~has_any)
    if few.size:
        ends = np.append(starts[1:], rows.size)
        total = np.append(0, sums)[ends[few[0]]] - before[few[0]]
        raise InvalidGraphError(
            f"point {few[0]} and the points to which it has stored distances have weights of "
            f"{total} in all, and min_samples is {min_samples}; the sum must not be less"
        )
    return core


def induced(graph: Any, kept: Nodes) -> Any:
    """Return the graph of distances between the vertices `kept`, which are numbered from 0."""
    if kept.size == graph.n_vertices:
        return graph
    if isinstance(graph, Points):
        return graph.with_core_distances(None).subset(kept)
    if isinstance(graph, DenseGraph):
        return DenseGraph(graph.weights[np.ix_(kept, kept)])
    number = np.full(graph.n_vertices, -1)
    number[kept] = np.arange(kept.size)
    u, v, weights = graph.edges()[:3]
    u, v = number[u], number[v]
    is_kept = (u >= 0) & (v >= 0)
    return Graph.from_edges(u[is_kept], v[is_kept], weights[is_kept], n_vertices=kept.size)
