"""Parts of a graph's edges, each a graph of its own.

For any parts, the forest of the graph is in the union of the parts' forests: an edge in no part's
forest is the heaviest of a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clmst.core.canonical import row_starts
from clmst.core.graph import Graph
from clmst.core.paths import components
from clmst.core.weight_keys import Array

# A part whose edges touch less than this fraction of the vertices has its own vertex numbers.
_RENUMBERED_BELOW = 0.75

# The number of hashes that compare neighbours, and how many of them the ends of an edge within a
# dense part have in common. If all pairs are edges with probability p, the ends share p / (2 - p)
# of their neighbours. With p = 1/2, six or more hashes agree for 45 % of the edges; if the ends
# share a fiftieth of their neighbours, for one edge in two million.
_HASHES, _ALIKE = 16, 6
# The least core number at which they are compared: smaller parts hardly pay.
_COMPARED = 16

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Disjoint sets of vertices."""

    labels: Array  # int32: the cluster of each vertex; -1 if it is in none
    sizes: Array  # vertices of each cluster
    edges: Array  # edges with both ends in it

    def chosen(self, indices: Array) -> Clusters:
        """Return some of them, renumbered."""
        numbers = np.full(self.sizes.size + 1, -1, np.int32)
        numbers[indices] = np.arange(indices.size)
        return Clusters(
            labels=numbers[self.labels], sizes=self.sizes[indices], edges=self.edges[indices]
        )


def clusters(edges: Graph, cores: Array, thresholds: Sequence[int]) -> Iterator[Clusters]:
    """Yield the dense parts of cores of a graph.

    They are the connected components of the subgraph of vertices with at least a given core number.
    From core number _COMPARED on, only edges count whose ends share many neighbours: else a few
    edges between dense parts would unite them. Minimum-wise hashing estimates the share of common
    neighbours.

    Source: A. Broder, "On the resemblance and containment of documents", SEQUENCES '97.

    `cores` are the core numbers of all vertices; `thresholds` are the least core numbers, rising.
    O(n + m), and O(n + m') for each threshold, m' being the edges of its subgraph. The hashes are
    the same in every run.
    """
    rows, columns = edges.rows, edges.indices
    alike: Array | None = None
    for least in thresholds:
        inside = cores >= least
        within = inside[rows] & inside[columns]
        rows, columns = rows[within], columns[within]
        alike = None if alike is None else alike[within]
        if least >= _COMPARED and alike is None:
            alike = _in_common(edges.n_vertices, rows, columns) >= _ALIKE
        numbers = np.cumsum(inside) - 1
        ends = numbers[rows], numbers[columns]
        joining = ends if alike is None else (ends[0][alike], ends[1][alike])
        count, found = components(int(np.count_nonzero(inside)), *joining)
        labels = np.full(edges.n_vertices, -1, np.int32)
        labels[inside] = found
        together = found[ends[0]][found[ends[0]] == found[ends[1]]]
        yield Clusters(
            labels=labels,
            sizes=np.bincount(found, minlength=count),
            edges=np.bincount(together, minlength=count),
        )


def _in_common(n: int, rows: Array, columns: Array) -> Array:
    """Return, for each edge, how many of the _HASHES least hashes of neighbours its ends share.

    A vertex is its own neighbour. `rows` rise.
    """
    from scipy import sparse

    upper = sparse.coo_array((np.ones(rows.size, bool), (rows, columns)), shape=(n, n))
    upper.has_canonical_format = True  # else SciPy would search for parallel edges
    by_column = upper.tocsc()
    sides = []
    for indptr, others in (
        (row_starts(rows, n), columns),
        (by_column.indptr, by_column.indices),
    ):
        busy = np.flatnonzero(indptr[1:] > indptr[:-1])
        sides.append((busy, indptr[busy].astype(np.int64), others))
    rng, common = np.random.default_rng(0), np.zeros(rows.size, np.uint8)
    for _ in range(_HASHES if rows.size else 0):
        hashes = rng.permutation(n).astype(np.uint32)
        least = hashes.copy()
        for busy, starts, others in sides:
            found = np.minimum.reduceat(hashes[others], starts)
            least[busy] = np.minimum(least[busy], found)
        common += least[rows] == least[columns]
    return common


def by_clusters(edges: Graph, dense: Clusters, groups: Sequence[Sequence[int]]) -> list[Part]:
    """Return a part for each group of clusters, then one of all other edges. O(n + m) a part."""
    group_of = np.full(dense.sizes.size + 1, -1, np.int32)  # edges of no cluster
    for number, group in enumerate(groups):
        group_of[np.asarray(group)] = number
    cluster = dense.labels[edges.rows]
    inside = (cluster >= 0) & (cluster == dense.labels[edges.indices])
    groups_of_edges = np.where(inside, group_of[cluster], -1)
    slots = [np.flatnonzero(groups_of_edges == number) for number in (*range(len(groups)), -1)]
    return [
        part_of(edges, chosen, *_range(edges, chosen), always=number < len(groups))
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
    rows, columns = edges.rows[slots], edges.indices[slots]
    ids = None if edges.edge_ids is None else edges.edge_ids[slots]
    if isinstance(slots, slice):
        numbers, first_slot = None, slots.start
    else:
        numbers, first_slot = slots.astype(np.uint32), 0
        ids = numbers if ids is None else ids
    below = 1.0 if always else _RENUMBERED_BELOW
    n, rows, columns = _renumbered(edges.n_vertices, rows, columns, below)
    relative = None if ids is None else (ids.astype(np.int64) - first)
    if relative is not None and np.array_equal(relative, np.arange(last - first)):
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
    touched[rows] = True
    touched[columns] = True
    n_touched = int(np.count_nonzero(touched))
    if n_touched >= below * n:
        return n, rows, columns
    numbers: Any = np.cumsum(touched, dtype=np.uint32) - np.uint32(1)
    return n_touched, numbers[rows], numbers[columns]
