"""The topology of a graph: its edges without their weights, which repeated solves share."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.threads import in_threads
from clmst.core.vertex_names import label_of
from clmst.core.weight_keys import Array

# Number of slots (CSR entries) that a thread processes at a time. With many, temporary arrays would
# not fit into the caches. With few, there would be many calls of NumPy. On two cores, 51 million
# slots in rows of 1039 took 387 ms with 2**14, 149 ms with 2**17, and 130 ms with 2**18.
_SLOTS_A_RUN = 1 << 18


def edges_once(graph: Graph) -> Graph:
    """Return a graph that stores each edge once, in canonical order, without self-loops.

    In the result every CSR entry (slot) is an edge, and `n_input` is the number of weights that a
    solve takes. If `edge_ids` is None, weight k belongs to slot k; otherwise weight ``edge_ids[i]``
    belongs to slot i. The weights of the result itself are all 0 and do not take memory.
    O(n + n_slots).
    """
    if graph.is_symmetric or graph.n_edges < graph.n_slots:
        graph = _upper(graph)
    ids, n_input = graph.edge_ids, graph.n_input
    if ids is None:
        n_input = graph.n_slots
    elif ids.size == n_input and np.array_equal(ids, np.arange(n_input)):
        ids = None
    nothing = np.broadcast_to(np.uint8(0), graph.n_slots)
    once = graph.replace_unchecked(
        weights=nothing, is_symmetric=False, edge_ids=ids, n_input=n_input
    )
    return _with_rows(once, graph.rows)


def _upper(graph: Graph) -> Graph:
    """Return a graph of the CSR entries above the diagonal, with all weights 0.

    Threads process ranges of rows whose data fit into the caches.
    """
    indptr = graph.indptr
    cuts = np.searchsorted(indptr, np.arange(0, graph.n_slots, _SLOTS_A_RUN), side="right") - 1
    bounds = [*np.unique(np.append(0, cuts)).tolist(), graph.n_vertices]

    def upper(first: int, last: int) -> tuple[Array, Array, Array, Array]:
        """Return the entries above the diagonal of the rows from `first` to `last` - 1.

        The results are the number of these entries in each row, and their rows, columns and ids.
        """
        ends = indptr[first : last + 1].astype(np.int64)
        run = slice(*ends[[0, -1]].tolist())
        columns, vertices = graph.indices[run], np.arange(first, last, dtype=np.uint32)
        is_upper = columns > np.repeat(vertices, np.diff(ends))
        before = np.zeros(columns.size + 1, np.uint32)
        np.cumsum(is_upper, dtype=np.uint32, out=before[1:])
        lengths = np.diff(before[ends - ends[0]])
        kept = np.flatnonzero(is_upper)
        ids = kept if graph.edge_ids is None else graph.edge_ids[run].take(kept)
        return lengths, np.repeat(vertices, lengths), columns.take(kept), ids

    runs = in_threads(lambda rows: upper(*rows), pairwise(bounds))
    lengths, rows, columns, ids = map(np.concatenate, zip(*runs, strict=True))
    starts = np.zeros(graph.n_vertices + 1, np.uint32)
    np.cumsum(lengths, dtype=np.uint32, out=starts[1:])
    once = graph.replace_unchecked(
        indptr=starts,
        indices=columns,
        weights=np.broadcast_to(np.uint8(0), int(starts[-1])),
        edge_ids=None if graph.edge_ids is None else ids,
    )
    return _with_rows(once, rows)


def _with_rows(graph: Graph, rows: Array) -> Graph:
    """Store the known row of each CSR entry in a graph, and return the graph.

    `rows` has these rows. Without this call, the graph would compute them when they are first read.
    """
    vars(graph)["rows"] = rows
    return graph


def graph_of_matrix(A: Any) -> Graph:
    """Build the graph of a SciPy matrix so that the edges depend only on where its entries are.

    If the matrix is not canonical, each pair of vertices that has an entry becomes one edge, with
    the lesser weight, and the edges are numbered in canonical order.
    """
    graph = Graph.from_scipy(A)
    return graph if graph.edge_ids is None else graph.replace_unchecked(edge_ids=None)


def weights_in_order(graph: Graph, edges: Graph) -> Array:
    """Return the weights of `graph` in the order of `edges`, a result of :func:`edges_once`.

    Raise InvalidGraphError if the two do not have the same edges. The message names the first
    difference.
    """
    if graph.n_vertices != edges.n_vertices:
        raise InvalidGraphError(
            f"the matrix has {graph.n_vertices} rows for {edges.n_vertices} vertices; "
            "it must have the same pattern as the one from which the solver was made"
        )
    u, v, weights, _ = graph.edges()
    _check_same(u, v, edges.rows, edges.indices)
    return weights


def endpoints(edges: Graph) -> Array:
    """Return, for each of the caller's weights, the two ends of its edge, shape (n_input, 2).

    The lesser end comes first. Both ends are -1 for a weight that does not belong to an edge,
    because its entry was a self-loop or was merged into another entry.
    """
    dtype = np.int32 if edges.n_vertices <= 1 << 31 else np.int64
    pairs = np.column_stack((edges.rows, edges.indices)).astype(dtype)
    if edges.edge_ids is None:
        return pairs
    every = np.full((edges.n_input, 2), -1, dtype)
    every[edges.edge_ids] = pairs
    return every


def named_ends(edges: Graph, weight: int) -> str:
    """Return the names of the two vertices of an edge, with a leading space, for a message.

    `weight` is the position of the edge's weight in the caller's input. Return "" if the vertices
    do not have names, or if the weight at this position does not belong to an edge.
    """
    labels = edges.vertex_labels
    if labels is None:
        return ""
    ids = edges.edge_ids
    found = np.array([weight]) if ids is None else np.flatnonzero(ids == weight)
    return "".join(
        f" ({label_of(labels, int(edges.rows[k]))}, {label_of(labels, int(edges.indices[k]))})"
        for k in found[:1]
    )


def _check_same(u: Array, v: Array, rows: Array, columns: Array) -> None:
    """Raise InvalidGraphError unless edge (u[i], v[i]) equals (rows[i], columns[i]) for each i.

    `u` and `v` come from a caller's graph, `rows` and `columns` from the graph prepared before.
    Both lists of edges are in canonical order. The message names the first edge that differs.
    """
    common = min(u.size, rows.size)
    differs = (u[:common] != rows[:common]) | (v[:common] != columns[:common])
    if u.size == rows.size and not differs.any():
        return
    at = int(np.argmax(differs)) if differs.any() else common
    given = (int(u[at]), int(v[at])) if at < u.size else None
    known = (int(rows[at]), int(columns[at])) if at < rows.size else None
    if known is None or (given is not None and given < known):
        fact = f"the matrix has an entry for the edge {given}, which the solver does not know"
    else:
        fact = f"the matrix has no entry for edge {at} {known}"
    raise InvalidGraphError(
        f"{fact}; it must have the same pattern as the one from which the solver was made"
    )
