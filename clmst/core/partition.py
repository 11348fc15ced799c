"""Parts of a graph's edges, each a graph of its own.

The forest of a graph is in the union of the forests of its parts, whatever the parts are: an edge
that is in no part's forest is the heaviest of a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clmst.core import csr
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array

# A part whose edges touch fewer of the vertices than this share has vertex numbers of its own.
_RENUMBERED_BELOW = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some edges of a graph.

    Attributes
    ----------
    graph : Graph
        Those edges, as of :func:`clmst.core.topology.edges_once`. Its vertices may have other
        numbers, which rise with those of the whole graph. Its weights are `first` to `last` of the
        whole graph's.
    slots : ndarray of uint32, shape (n_edges,), or None
        The whole graph's slot of each slot, rising; None: they are consecutive.
    first_slot : int
        The first of them, where they are consecutive.
    first, last : int
        Which weights of the whole graph the part takes: those of its edges, and of others maybe.
    """

    graph: Graph
    slots: Array | None
    first_slot: int
    first: int
    last: int

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.graph.n_slots

    @property
    def room(self) -> int:
        """The most edges that its forest can have."""
        return min(max(self.graph.n_vertices - 1, 0), self.n_edges)


def whole(edges: Graph) -> Part:
    """Return all edges as one part."""
    return Part(graph=edges, slots=None, first_slot=0, first=0, last=edges.n_input)


def by_ranges(edges: Graph, bounds: Sequence[int]) -> list[Part]:
    """Return the parts whose weights are ranges: from one of the bounds to the next.

    Parameters
    ----------
    edges : Graph
        As of :func:`clmst.core.topology.edges_once`.
    bounds : sequence of int
        From 0 to ``edges.n_input``, not falling.

    Notes
    -----
    O(n + m) a part.
    """
    parts = []
    for first, last in pairwise(bounds):
        if edges.edge_ids is None:
            slots: Array | slice = slice(first, last)
        else:
            slots = np.flatnonzero((edges.edge_ids >= first) & (edges.edge_ids < last))
        parts.append(part_of(edges, slots, first, last))
    return parts


def part_of(edges: Graph, slots: Array | slice, first: int, last: int) -> Part:
    """Return some slots of a graph as a part that takes the weights from `first` to `last`."""
    rows, columns = edges.rows[slots], edges.indices[slots]
    ids = None if edges.edge_ids is None else edges.edge_ids[slots]
    if isinstance(slots, slice):
        numbers, first_slot = None, slots.start
    else:
        numbers, first_slot = slots.astype(np.uint32), 0
        ids = numbers if ids is None else ids
    n, rows, columns = _renumbered(edges.n_vertices, rows, columns)
    relative = None if ids is None else (ids.astype(np.int64) - first)
    if relative is not None and np.array_equal(relative, np.arange(last - first)):
        relative = None
    graph = Graph(
        indptr=csr.row_starts(rows, n),
        indices=np.ascontiguousarray(columns),
        weights=np.broadcast_to(np.uint8(0), columns.size),
        is_symmetric=False,
        edge_ids=relative,
        n_input=last - first,
    )
    return Part(graph=graph, slots=numbers, first_slot=first_slot, first=first, last=last)


def _renumbered(n: int, rows: Array, columns: Array) -> tuple[int, Array, Array]:
    """Return edges with numbers for their own vertices alone, where that is fewer by far."""
    touched = np.zeros(n, bool)
    touched[rows] = True
    touched[columns] = True
    n_touched = int(np.count_nonzero(touched))
    if n_touched >= _RENUMBERED_BELOW * n:
        return n, rows, columns
    numbers: Any = np.cumsum(touched, dtype=np.uint32) - np.uint32(1)
    return n_touched, numbers[rows], numbers[columns]
