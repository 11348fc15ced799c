"""How a dynamic forest solves after a change: only edges that may enter or leave the forest.

Edges are ordered by (weight, lesser end, greater end, id), as in every solve of clmst. In this
order no two edges are equal, so the forest depends only on the edges that are present.

* After edges were inserted or became lighter, the edges of the old forest and these edges are
  solved. The result is the forest of the whole graph, because each other edge is still the heaviest
  of a cycle (:func:`joined`).
* After edges of the forest were deleted or became heavier, all other edges of the forest stay:
  each of them is still the lightest edge between two sets of vertices. The trees that they form are
  called *pieces*. The edges that are missing connect different pieces. They are the minimum
  spanning forest of a graph whose vertices are the pieces, and whose edges are all edges between
  two pieces (:func:`reconnected`).

In this module, the *row* of an edge is its place in the columns of the forest's state.
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
    """Compute the minimum spanning forest of the edges of a forest and new edges.

    `forest` and `new` are ascending rows of edges in `columns`, and the graph has `n_vertices`
    vertices. Returns the rows of the result in ascending order, and the statistics of the solve.
    Self-loops are ignored.
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
    """Find the edges that belong to a forest in addition to the edges in `kept`.

    Parameters
    ----------
    state : State
        The vertices, and the edges with their new weights.
    kept : ndarray
        The rows of edges that are certainly in the forest.
    excluded : ndarray
        Rows of edges that are ignored, in ascending order.
    device : object
        The device that solves.

    Returns
    -------
    rows, stats
        The rows of the found edges in ascending order, and the statistics of the solve. `stats` is
        None if no edge connects two pieces, which are the trees that the edges in `kept` form.

    Notes
    -----
    The function takes O(n_vertices + n_rows), and the time of the solve of the edges between
    pieces.
    """
    columns, n_vertices = state.columns, state.n_vertices
    n_pieces, pieces = components(n_vertices, columns.u[kept], columns.v[kept])
    open_rows = np.setdiff1d(_between(columns, state.n_rows, pieces), excluded, assume_unique=True)
    if not open_rows.size:
        return open_rows, None
    u, v = columns.u[open_rows], columns.v[open_rows]
    ranks = _ranks(u, v, columns.weights[open_rows], n_vertices)
    # The pieces are the components of the edges that the forest keeps. They are the vertices of the
    # graph that is solved now, except pieces without an edge to another piece.
    occurs = np.zeros(n_pieces, np.bool_)
    occurs[pieces[u]] = occurs[pieces[v]] = True
    numbers = np.cumsum(occurs, dtype=np.uint32) - np.uint32(1)
    ends = numbers[pieces[u]], numbers[pieces[v]]
    found, stats = _solved(int(occurs.sum()), *ends, ranks, device)
    entering: Array = open_rows[found]
    return entering, stats


def _between(columns: EdgeStore, n_rows: int, pieces: Array) -> Array:
    """Return the rows of all present edges that connect different pieces, in ascending order.

    `columns` has the edges in its first `n_rows` rows. `pieces` has the number of the piece of each
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

    ``weights[i]`` is its weight, and the graph has `n_vertices` vertices. Ranks are used as weights
    of the edges between pieces: no two of them are equal, while edges of equal weight would be
    ordered by the numbers of the pieces.
    """
    canonical = upper_from_edges(n_vertices, u, v).positions
    order = canonical[stable_order(weights[canonical])]
    ranks = np.empty(u.size, np.uint32)
    ranks[order] = np.arange(u.size, dtype=np.uint32)
    return ranks


def _solved(
    n_vertices: int, u: Array, v: Array, weights: Array, device: Any
) -> tuple[Array, Mapping[str, Any]]:
    """Solve the graph of the edges (u[i], v[i]) with these weights and `n_vertices` vertices.

    Returns the positions of the forest's edges in ascending order, and the statistics of the solve.
    Of parallel edges of equal weight, only the first can be in the forest.
    """
    edges = EdgeList(u=u, v=v, weights=weights, n_vertices=n_vertices, merge_parallel=False)
    graph = DeferredGraph.of_edges(edges, vertex_labels=None, coordinates=None)
    forest = minimum_spanning_forest(graph, device=device)
    return np.sort(forest.edge_ids), forest.stats
