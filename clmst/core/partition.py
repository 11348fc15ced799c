"""Parts of a graph's edges, each a graph of its own.

For any parts, the forest of the graph is in the union of the parts' forests: an edge in no part's
forest is the heaviest of a cycle.
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

# A part whose edges touch less than this fraction of the vertices has its own vertex numbers.
_RENUMBERED_BELOW = 0.75

# Edges that a thread takes at a time: temporaries stay in the caches.
_CHUNK = 1 << 18

# Ranges of weights begin at multiples of this number, so that a part of a buffer or host array is
# aligned as devices need it, for every width of weights.
RANGE_STEP = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some edges of a graph."""

    # Those edges, as of `topology.edges_once`; vertices may have other numbers, in the same order.
    graph: Graph
    slots: Array | None  # uint32: the whole graph's slot of each, rising; None: consecutive ones
    first_slot: int  # of consecutive slots
    # The range of the whole graph's weights that the part takes: its own, and perhaps others.
    first: int
    last: int

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.graph.n_slots

    @property
    def forest_capacity(self) -> int:
        """The most edges that its forest can have."""
        return min(max(self.graph.n_vertices - 1, 0), self.n_edges)


def whole(edges: Graph) -> Part:
    """Return all edges as one part."""
    return Part(graph=edges, slots=None, first_slot=0, first=0, last=edges.n_input)


def by_ranges(edges: Graph, bounds: Sequence[int]) -> list[Part]:
    """Return parts of consecutive weights: from each bound to the next one. O(n + m) a part.

    The bounds go from 0 to ``edges.n_input``, not decreasing.
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
    """Return a part for each cluster, then one of all other edges. O(n + m) a part."""

    def listed(one: slice) -> list[Array]:
        """Return the slots of each cluster, then the others."""
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
    """Return the range of weights of some slots, with an aligned begin."""
    if not slots.size:
        return 0, 0
    ids = slots if edges.edge_ids is None else edges.edge_ids[slots]
    return int(ids.min()) // RANGE_STEP * RANGE_STEP, int(ids.max()) + 1


def range_bounds(shares: Sequence[float], n_input: int) -> list[int]:
    """Return the bounds for :func:`by_ranges` of ranges with given shares, which sum to 1."""
    ends = np.cumsum(shares) * n_input / RANGE_STEP
    inner = [min(round(end) * RANGE_STEP, n_input) for end in ends[:-1].tolist()]
    return [0, *inner, n_input]


def part_of(
    edges: Graph, slots: Array | slice, first: int, last: int, *, always: bool = False
) -> Part:
    """Return some slots of a graph as a part with the weights from `first` to `last`.

    Vertices without an edge in the part get no number there if they are many, or if `always`.
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
    """Return edges with their own vertex numbers, if they touch few enough vertices."""
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
    """Return the entries of an array at some places."""
    if isinstance(places, slice):
        return array[places]
    found = np.empty(places.size, array.dtype)

    def take(one: slice) -> None:
        found[one] = array.take(places[one])

    in_threads(take, slices(places.size, _CHUNK))
    return found


def _rise_by_one(numbers: Array) -> bool:
    """Return whether numbers are 0, 1, 2, ..."""
    return bool((numbers[1:] - numbers[:-1] == 1).all() and not numbers[:1].any())
