"""The edges of a graph in a file: every pair of neighbours once, with its lightest edge.

Most formats hold no more: a matrix has one entry for a pair of vertices, and two lines of an arc
list are one edge in its two directions. The minimum spanning forest stays the same. Self-loops are
never in a forest and are not written.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.core import canonical
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimpleEdges:
    """Edges in rising order of (u, v), u < v, no pair twice.

    Attributes
    ----------
    n_vertices : int
    u, v : ndarray of uint32, shape (m,)
    weights : ndarray, shape (m,)
        In the graph's dtype, but bool becomes uint8.
    """

    n_vertices: int
    u: Array
    v: Array
    weights: Array

    def symmetric_csr(self) -> tuple[Array, Array, Array]:
        """Return (indptr, indices, weights) with both directions of every edge."""
        mirrored = canonical.mirror(self.n_vertices, self.u, self.v)
        return mirrored.indptr, mirrored.indices, self.weights[mirrored.positions]


def simple_edges(graph: Graph) -> SimpleEdges:
    """Return the edges of `graph` that a file holds. O(n_slots)."""
    u, v, w, _ = graph.edges()
    if ((u[1:] == u[:-1]) & (v[1:] == v[:-1])).any():
        merged = Graph.from_edges(u, v, w, n_vertices=graph.n_vertices, merge_parallel=True)
        u, v, w, _ = merged.edges()
    w = w.view(np.uint8) if w.dtype == np.bool_ else w
    return SimpleEdges(n_vertices=graph.n_vertices, u=u, v=v, weights=w)
