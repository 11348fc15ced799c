"""The solves of a dynamic forest: of the edges that a change leaves open.

Edges are ordered by (weight, lesser end, greater end, id), as in every solve of clmst. In this
order no two edges are equal, so the forest depends only on the edges that are present.

* A new edge, or one that became lighter, closes at most one cycle with the forest. The forest of
  the forest's edges and these edges is the forest of all (:func:`joined`).
* If edges of the forest are deleted or become heavier, all its other edges stay: each of them is
  the first edge across a cut, and remains so. They connect the vertices to *pieces*. Only edges
  between two pieces can be added, and the forest of these edges, with every piece as one vertex,
  is what is missing (:func:`reconnected`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.api import minimum_spanning_forest
from clmst.core.canonical import stable_order, upper_from_edges
from clmst.core.deferred_graph import EdgeList
from clmst.core.graph import DeferredGraph
from clmst.core.paths import components
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array
from clmst.dynamic.state import EdgeStore, State

_ROWS_AT_ONCE = 1 << 16  # rows that a thread compares at a time; their arrays fit a core's cache


def joined(
    columns: EdgeStore, n_vertices: int, forest: Array, new: Array, device: Any
) -> tuple[Array, Mapping[str, Any]]:
    """Compute the forest of a forest and new edges, both given by ascending rows.

    `columns` has the edges of the rows, among `n_vertices` vertices. Return the rows of the result
    in ascending order, and the statistics of the solve. Self-loops are ignored.
    """
    rows = merged(forest, new)
    u, v, weights = columns.u[rows], columns.v[rows], columns.weights[rows]
    found, stats = _solved(n_vertices, u, v, weights, device)
    return rows[found], stats


def merged(one: Array, other: Array) -> npt.NDArray[np.int64]:
    """Merge `one` and `other`, ascending arrays of rows without common elements."""
    rows: npt.NDArray[np.int64] = np.concatenate((one, other))
    rows.sort(kind="stable")  # quick, because both parts are sorted
    return rows


def without(rows: Array, gone: Array) -> npt.NDArray[np.int64]:
    """Return an ascending array of rows without the rows in `gone`."""
    return np.delete(rows, np.searchsorted(rows, gone))


def reconnected(
    state: State, kept: Array, excluded: Array, device: Any
) -> tuple[Array, Mapping[str, Any] | None]:
    """Compute the rows of the edges that a forest needs in addition to the edges in `kept`.

    Parameters
    ----------
    state : State
        The vertices, and the edges with their new weights.
    kept : ndarray
        The rows of edges that are certainly in the forest.
    excluded : ndarray
        Rows that are not chosen, in ascending order.
    device : object
        The device that solves.

    Returns
    -------
    rows, stats
        The rows in ascending order, and the statistics of the solve, or None if no edge connects
        two pieces.

    Notes
    -----
    O(n_vertices + n_rows), and the solve of the edges between pieces.
    """
    columns, n_vertices = state.columns, state.n_vertices
    n_pieces, pieces = components(n_vertices, columns.u[kept], columns.v[kept])
    open_rows = np.setdiff1d(_between(columns, state.n_rows, pieces), excluded, assume_unique=True)
    if not open_rows.size:
        return open_rows, None
    u, v = columns.u[open_rows], columns.v[open_rows]
    ranks = _ranks(u, v, columns.weights[open_rows], n_vertices)
    # The pieces of the forest are the vertices of a smaller graph, which is solved. Pieces without
    # an edge to another piece are left out.
    occurs = np.zeros(n_pieces, np.bool_)
    occurs[pieces[u]] = occurs[pieces[v]] = True
    numbers = np.cumsum(occurs, dtype=np.uint32) - np.uint32(1)
    ends = numbers[pieces[u]], numbers[pieces[v]]
    found, stats = _solved(int(occurs.sum()), *ends, ranks, device)
    entering: Array = open_rows[found]
    return entering, stats


def _between(columns: EdgeStore, n_rows: int, pieces: Array) -> Array:
    """Return the rows of all present edges that connect different pieces, in ascending order.

    `columns` has the edges, of which the first `n_rows` are in use, and `pieces` the piece of each
    vertex.
    """

    def some(part: slice) -> Array:
        differ = pieces.take(columns.u[part]) != pieces.take(columns.v[part])
        differ &= columns.present[part]
        rows: Array = np.flatnonzero(differ) + part.start
        return rows

    found = in_threads(some, slices(n_rows, _ROWS_AT_ONCE))
    rows: Array = np.concatenate((np.zeros(0, np.int64), *found))
    return rows


def _ranks(u: Array, v: Array, weights: Array, n_vertices: int) -> Array:
    """Return the rank of each edge (u[i], v[i]) in the order of edges.

    The graph has `n_vertices` vertices, and the edges these weights. The solve of pieces would
    break ties by the numbers of the pieces. Ranks do not have ties.
    """
    canonical = upper_from_edges(n_vertices, u, v).positions
    order = canonical[stable_order(weights[canonical])]
    ranks = np.empty(u.size, np.uint32)
    ranks[order] = np.arange(u.size, dtype=np.uint32)
    return ranks


def _solved(
    n_vertices: int, u: Array, v: Array, weights: Array, device: Any
) -> tuple[Array, Mapping[str, Any]]:
    """Solve a list of edges, and return the ascending positions of the forest's edges, and stats.

    The edges are (u[i], v[i]), among `n_vertices` vertices. Among parallel edges of equal weight,
    the first one wins.
    """
    edges = EdgeList(u=u, v=v, weights=weights, n_vertices=n_vertices, merge_parallel=False)
    graph = DeferredGraph.of_edges(edges, vertex_labels=None, coordinates=None)
    forest = minimum_spanning_forest(graph, device=device)
    return np.sort(forest.edge_ids), forest.stats
