"""Divide the edges of a graph into parts, each of which is a graph that one device solves.

However the edges are divided, the forest of the graph is contained in the union of the forests of
the parts: an edge that is not in the forest of its part is the heaviest edge of a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clmst.core.canonical import row_starts
from clmst.core.clusters import Clusters
from clmst.core.graph import Graph
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array

# If the edges of a part touch less than this fraction of all vertices, these vertices get new
# numbers in the part, so that it takes less memory. A part is the share of the edges that one
# device solves.
_RENUMBERED_BELOW = 0.75

# The number of edges that a thread processes at a time, so that temporaries fit into the caches.
_CHUNK = 1 << 18

# The weights of a part are a range of the array of all weights. The range starts at a multiple of
# this number, so that it has the alignment that devices need, for every width of weights.
RANGE_STEP = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some edges of a graph, as a graph that one device solves.

    The slots of its edges, which are their entries in the CSR of the whole graph, are also stored.
    """

    # The edges, each stored once as in `topology.edges_once`. Vertices may have new numbers, in the
    # same order.
    graph: Graph
    slots: Array | None  # uint32, ascending: slots of the whole graph; None if consecutive
    first_slot: int  # the first of consecutive slots
    # The half-open range of the whole graph's weights that contains the weights of the part.
    first: int
    last: int

    @property
    def n_edges(self) -> int:
        """Number of edges in this part."""
        return self.graph.n_slots

    @property
    def forest_capacity(self) -> int:
        """The maximum number of edges that the forest of the part can have."""
        return min(max(self.graph.n_vertices - 1, 0), self.n_edges)


def whole(edges: Graph) -> Part:
    """Return all edges of a graph as a single part, for a solve on one device."""
    return Part(graph=edges, slots=None, first_slot=0, first=0, last=edges.n_input)


def by_ranges(edges: Graph, bounds: Sequence[int]) -> list[Part]:
    """Divide a graph into parts by the positions of the edges' weights in the caller's array.

    Part k has the edges whose weights are at the positions ``bounds[k]`` to ``bounds[k + 1] - 1``.
    The bounds must ascend from 0 to ``edges.n_input``. O(n + m) for each part.
    """
    parts = []
    for first, last in pairwise(bounds):
        if edges.edge_ids is None:
            slots: Array | slice = slice(first, last)
        else:
            slots = np.flatnonzero((edges.edge_ids >= first) & (edges.edge_ids < last))
        parts.append(part_of(edges, slots, first, last))
    return parts


def by_clusters(edges: Graph, dense: Clusters) -> list[Part]:
    """Return a part for the edges within each cluster, and a last part for all other edges.

    `dense` has the cluster of each vertex. O(n + m) for each part.
    """

    def listed(one: slice) -> list[Array]:
        """Divide the CSR entries in the range `one` by cluster, into an array for each cluster.

        A last array has the entries whose edges are in no cluster.

        An edge belongs to a cluster if both ends are in it.
        """
        here, there = (dense.labels.take(ends[one]) for ends in (edges.rows, edges.indices))
        of_edges = np.where(here == there, here, -1)
        every = (np.flatnonzero(of_edges == number) for number in (*range(dense.count), -1))
        return [found.astype(np.uint32) + np.uint32(one.start) for found in every]

    nothing = [np.empty(0, np.uint32)] * (dense.count + 1)
    lists = in_threads(listed, slices(edges.n_slots, _CHUNK))
    slots = [np.concatenate(each) for each in zip(nothing, *lists, strict=True)]
    return [
        part_of(edges, chosen, *_range(edges, chosen), always=number < dense.count)
        for number, chosen in enumerate(slots)
    ]


def _range(edges: Graph, slots: Array) -> tuple[int, int]:
    """Return the range [first, end) of edge ids that contains the ids of all given slots.

    `slots` are indices of CSR entries, each of which is an edge. An edge id is the position of the
    edge's weight in the caller's array. `first` is rounded down to a multiple of RANGE_STEP.
    Returns (0, 0) if `slots` is empty.
    """
    if not slots.size:
        return 0, 0
    ids = slots if edges.edge_ids is None else edges.edge_ids[slots]
    return int(ids.min()) // RANGE_STEP * RANGE_STEP, int(ids.max()) + 1


def range_bounds(shares: Sequence[float], n_input: int) -> list[int]:
    """Return the bounds for :func:`by_ranges` that give each part a share of the weights.

    `shares` are fractions that sum to 1, and `n_input` is the number of weights. All bounds but the
    last are multiples of RANGE_STEP.
    """
    ends = np.cumsum(shares) * n_input / RANGE_STEP
    inner = [min(round(end) * RANGE_STEP, n_input) for end in ends[:-1].tolist()]
    return [0, *inner, n_input]


def part_of(
    edges: Graph, slots: Array | slice, first: int, last: int, *, always: bool = False
) -> Part:
    """Create a part from some edges of a graph.

    `slots` are the CSR entries of the edges. The part gets the weights at the positions `first` to
    `last` - 1. If the fraction of vertices that have an edge in the part is below
    _RENUMBERED_BELOW, or if `always` is True, the part has only these vertices, with new numbers.
    Otherwise it has all vertices with their numbers in the graph.
    """
    rows, columns = _taken(edges.rows, slots), _taken(edges.indices, slots)
    ids = None if edges.edge_ids is None else _taken(edges.edge_ids, slots)
    if isinstance(slots, slice):
        numbers, first_slot = None, slots.start
    else:
        numbers, first_slot = slots.astype(np.uint32, copy=False), 0
        ids = numbers if ids is None else ids
    below = 1.0 if always else _RENUMBERED_BELOW
    n, rows, columns = _renumbered(edges.n_vertices, rows, columns, below)
    relative = None if ids is None else (ids - ids.dtype.type(first)).astype(np.uint32, copy=False)
    if relative is not None and relative.size == last - first and _rise_by_one(relative):
        relative = None
    graph = Graph.unchecked(
        indptr=row_starts(rows, n),
        indices=np.ascontiguousarray(columns),
        weights=np.broadcast_to(np.uint8(0), columns.size),
        is_symmetric=False,
        edge_ids=relative,
        n_input=last - first,
    )
    return Part(graph=graph, slots=numbers, first_slot=first_slot, first=first, last=last)


def _renumbered(n: int, rows: Array, columns: Array, below: float) -> tuple[int, Array, Array]:
    """Renumber the vertices that have an edge, if they are fewer than the fraction `below` of `n`.

    `rows` and `columns` are the ends of the edges. Return the number of vertices, and both ends of
    each edge. If no vertex is renumbered, these are the arguments.
    """
    touched = np.zeros(n, bool)

    def touch(one: slice) -> None:
        touched[rows[one]] = True
        touched[columns[one]] = True

    in_threads(touch, slices(rows.size, _CHUNK))
    n_touched = int(np.count_nonzero(touched))
    if n_touched >= below * n:
        return n, rows, columns
    numbers: Any = np.cumsum(touched, dtype=np.uint32) - np.uint32(1)
    return n_touched, _taken(numbers, rows), _taken(numbers, columns)


def _taken(array: Array, places: Array | slice) -> Array:
    """Return ``array[places]``, computed by several threads.

    `places` is an array of indices, or a slice, for which the result is a view.
    """
    if isinstance(places, slice):
        return array[places]
    found = np.empty(places.size, array.dtype)

    def take(one: slice) -> None:
        found[one] = array.take(places[one])

    in_threads(take, slices(places.size, _CHUNK))
    return found


def _rise_by_one(numbers: Array) -> bool:
    """Return whether an array has the numbers 0, 1, 2 and so on, in this order."""
    return bool((numbers[1:] - numbers[:-1] == 1).all() and not numbers[:1].any())
