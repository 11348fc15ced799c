"""Where the edges of a graph are, whatever they weigh: what solves with other weights share."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core import csr
from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array


def edges_once(graph: Graph) -> Graph:
    """Return a graph's edges, each stored once, in canonical order; loops left out.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    Graph
        Its slots are the edges. `n_input` tells how many weights belong to it. Where `edge_ids` is
        None, weight k is that of slot k; else that of slot i is weight ``edge_ids[i]``. Its own
        weights are all 0, and take no memory.

    Notes
    -----
    O(n + n_slots).
    """
    if graph.is_symmetric or graph.n_edges < graph.n_slots:
        slots = graph.edge_slots
        starts = csr.row_starts(graph.rows[slots], graph.n_vertices)
        ids = None if graph.edge_ids is None else graph.edge_ids[slots]
        graph = graph.replace(indptr=starts, indices=graph.indices[slots], edge_ids=ids)
    ids, n_input = graph.edge_ids, graph.n_input
    if ids is None:
        n_input = graph.n_slots
    elif ids.size == n_input and np.array_equal(ids, np.arange(n_input)):
        ids = None
    nothing = np.broadcast_to(np.uint8(0), graph.n_slots)
    return graph.replace(weights=nothing, is_symmetric=False, edge_ids=ids, n_input=n_input)


def graph_of_matrix(A: Any) -> Graph:
    """Return a graph of a SciPy matrix whose edges do not depend on what its entries weigh.

    A matrix that is symmetric or upper triangular is what :meth:`clmst.Graph.from_scipy` makes of
    it. Of any other, the edges are the pairs of vertices that it has an entry for, each once, the
    lesser one being its weight.
    """
    graph = Graph.from_scipy(A)
    return graph if graph.edge_ids is None else graph.replace(edge_ids=None)


def weights_in_order(graph: Graph, edges: Graph) -> Array:
    """Return the weights of a graph in the order of the edges of another one like it.

    Parameters
    ----------
    graph : Graph
    edges : Graph
        As of :func:`edges_once`.

    Raises
    ------
    InvalidGraphError
        The two do not have the same edges; names the first that only one of them has.
    """
    if graph.n_vertices != edges.n_vertices:
        raise InvalidGraphError(
            f"the matrix has {graph.n_vertices} rows for {edges.n_vertices} vertices; "
            "it must have the pattern of the one that the solver was made of"
        )
    u, v, weights, _ = graph.edges()
    _check_same(u, v, edges.rows, edges.indices)
    return weights


def endpoints(edges: Graph) -> Array:
    """Return the endpoints of each weight's edge, shape (n_input, 2), the lesser first.

    (-1, -1) where a weight belongs to no edge: its entry was a loop, or merged into another one.
    """
    dtype = np.int32 if edges.n_vertices <= 1 << 31 else np.int64
    pairs = np.column_stack((edges.rows, edges.indices)).astype(dtype)
    if edges.edge_ids is None:
        return pairs
    every = np.full((edges.n_input, 2), -1, dtype)
    every[edges.edge_ids] = pairs
    return every


def _check_same(u: Array, v: Array, rows: Array, columns: Array) -> None:
    """Raise unless two lists of edges in canonical order are the same."""
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
    raise InvalidGraphError(f"{fact}; it must have the pattern of the one the solver was made of")
