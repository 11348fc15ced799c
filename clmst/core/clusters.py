"""Dense parts of a graph, by core numbers of vertices and their common neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from clmst.core import csr
from clmst.core.canonical import row_starts
from clmst.core.graph import Graph
from clmst.core.paths import components
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array

# The number of hashes that compare neighbours, and how many of them the ends of an edge within a
# dense part have in common. If all pairs are edges with probability p, the ends share p / (2 - p)
# of their neighbours. With p = 1/2, six or more hashes agree for 45 % of the edges; if the ends
# share a fiftieth of their neighbours, for one edge in two million.
_HASHES, _ALIKE = 16, 6
# The least core number at which they are compared: smaller parts hardly pay.
_COMPARED = 16

# Edges that a thread takes at a time: temporaries stay in the caches.
_CHUNK = 1 << 18
# One edge of so many is in the sample that joins most components.
_SAMPLED = 16

_Edges: TypeAlias = tuple[Array, Array]  # the ends of each


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Disjoint sets of vertices."""

    labels: Array  # int32: the cluster of each vertex; -1 if it is in none
    sizes: Array  # vertices of each cluster
    edges: Array  # edges with both ends in it

    def chosen(self, indices: Array) -> Clusters:
        """Return the sets of some numbers, renumbered in the order given."""
        numbers = np.full(self.sizes.size + 1, -1, np.int32)
        numbers[indices] = np.arange(indices.size)
        return Clusters(
            labels=numbers[self.labels], sizes=self.sizes[indices], edges=self.edges[indices]
        )


def of_cores(edges: Graph, cores: Array, thresholds: Sequence[int]) -> list[Clusters]:
    """Return the dense parts of cores of a graph, for each threshold in turn.

    They are the connected components of the subgraph of vertices with at least a given core number.
    From core number _COMPARED on, only edges count whose ends share many neighbours: else a few
    edges between dense parts would unite them. Minimum-wise hashing estimates the share of common
    neighbours.

    Source: A. Broder, "On the resemblance and containment of documents", SEQUENCES '97.

    `cores` are the core numbers of all vertices; `thresholds` are the least core numbers, rising,
    at most 255. O(n + m), and for each threshold O(n) and the edges between its parts. The hashes
    are the same in every run.
    """
    levels = np.searchsorted(thresholds, cores, side="right").astype(np.uint8)
    chunks = [*slices(edges.n_slots, _CHUNK)]
    found_in = in_threads(
        lambda one: np.minimum(levels[edges.rows[one]], levels[edges.indices[one]]), chunks
    )

    def of_levels(first: int, last: int) -> list[_Edges]:
        """Return the edges that are in the subgraphs of these thresholds, but of no higher one."""

        def of(k: int) -> _Edges:
            chosen = np.flatnonzero((found_in[k] >= first) & (found_in[k] <= last))
            return edges.rows[chunks[k]].take(chosen), edges.indices[chunks[k]].take(chosen)

        return in_threads(of, range(len(chunks)))

    first = int(np.searchsorted(thresholds, _COMPARED)) + 1  # level of which edges are compared
    hashes = _LeastHashes.of(levels >= first, of_levels(first, len(thresholds)))
    parts, found = _Components(edges.n_vertices), list[Clusters]()
    for level in range(len(thresholds), 0, -1):
        parts.add(of_levels(level, level), hashes if level >= first else None)
        found.append(parts.within(levels >= level))
    return found[::-1]


def _joined(lists: Sequence[_Edges]) -> _Edges:
    """Return several lists of edges as one."""
    nothing = np.empty(0, np.uint32)
    u, v = zip(*lists, (nothing, nothing), strict=True)
    return np.concatenate(u), np.concatenate(v)


class _Components:
    """Components of a graph of `n` vertices to which edges are added.

    The components are numbered as their least vertices rise.
    """

    def __init__(self, n: int) -> None:
        self._labels = np.arange(n)
        self._edges = np.zeros(n, np.int64)  # with both ends in a component
        self._between = _joined([])  # edges whose ends are in two of them

    def add(self, added: list[_Edges], hashes: _LeastHashes | None) -> None:
        """Add edges; where there are hashes, only those join whose ends are alike.

        A sample joins most components, so few edges are left to be compared.
        """
        every = [*added, self._between]
        self._join(_joined([(u[::_SAMPLED], v[::_SAMPLED]) for u, v in every]), hashes)
        left = self._settled(every)
        self._join(left, hashes)
        self._between = self._settled([left])

    def within(self, inside: Array) -> Clusters:
        """Return the components of some vertices; the others have no edge so far."""
        labels = self._labels[inside]
        sizes = np.bincount(labels, minlength=self._edges.size)
        numbers = np.cumsum(sizes > 0, dtype=np.int32) - np.int32(1)
        every = np.full(inside.size, -1, np.int32)
        every[inside] = numbers[labels]
        return Clusters(labels=every, sizes=sizes[sizes > 0], edges=self._edges[sizes > 0])

    def _join(self, given: _Edges, hashes: _LeastHashes | None) -> None:
        """Unite the components of the ends of edges, if these are alike."""
        u, v = given
        if hashes is not None:
            alike = hashes.in_common(u, v) >= _ALIKE
            u, v = u[alike], v[alike]
        if not u.size:
            return
        count, numbers = components(self._edges.size, self._labels[u], self._labels[v])
        edges, self._edges = self._edges, np.zeros(count, np.int64)
        np.add.at(self._edges, numbers, edges)
        self._labels = numbers.astype(np.intp)[self._labels]

    def _settled(self, given: list[_Edges]) -> _Edges:
        """Count the edges within components; return the others."""

        def of(ends: _Edges) -> tuple[_Edges, Array]:
            u, v = ends
            here, there = self._labels.take(u), self._labels.take(v)
            differs = here != there
            if not differs.any():
                return (u[:0], v[:0]), here
            return (u[differs], v[differs]), here[~differs]

        found = in_threads(of, given)
        inside = np.concatenate([labels for _, labels in found])
        self._edges += np.bincount(inside, minlength=self._edges.size)
        return _joined([between for between, _ in found])


@dataclass(frozen=True, slots=True, kw_only=True)
class _LeastHashes:
    """The least of each of _HASHES hashes among a vertex and its neighbours, for some vertices."""

    numbers: Array  # of those vertices, which count them
    least: Array  # a row a hash

    @classmethod
    def of(cls, inside: Array, edges: list[_Edges]) -> _LeastHashes:
        """Hash the vertices that are `inside`, which have all of the edges, whose rows rise."""
        n, rng = int(np.count_nonzero(inside)), np.random.default_rng(0)
        numbers = np.cumsum(inside, dtype=np.uint32) - np.uint32(1)
        renumbered = in_threads(lambda ends: (numbers.take(ends[0]), numbers.take(ends[1])), edges)
        rows, columns = _joined(renumbered)
        every = range(_HASHES if rows.size else 0)
        hashes = [rng.permutation(inside.size).astype(np.uint32)[inside] for _ in every]
        least, indptr = np.array(hashes), row_starts(rows, n)
        for starts, others in ((indptr, columns), csr.transpose(indptr, columns, rows > n)[:2]):
            _lessen(least, hashes, starts.astype(np.int64), others)
        return cls(numbers=numbers, least=least)

    def in_common(self, u: Array, v: Array) -> Array:
        """Return how many of the least hashes the ends of each edge share."""

        def of(one: slice) -> Array:
            here, there = (self.numbers.take(ends[one]).astype(np.intp) for ends in (u, v))
            common = np.zeros(here.size, np.uint8)
            for hashes in self.least:
                common += hashes.take(here) == hashes.take(there)
            return common

        return np.concatenate([np.empty(0, np.uint8), *in_threads(of, slices(u.size, _CHUNK))])


def _lessen(least: Array, hashes: Sequence[Array], indptr: Array, others: Array) -> None:
    """Take neighbours into account in the least hashes of the vertices of all rows."""
    busy = np.flatnonzero(indptr[1:] > indptr[:-1])
    cuts = np.unique(np.searchsorted(indptr[busy], np.arange(0, others.size, _CHUNK)))

    def of(bounds: tuple[int, int]) -> None:
        vertices = busy[slice(*bounds)]
        first, starts = int(indptr[vertices[0]]), indptr[vertices]
        neighbours = others[first : indptr[vertices[-1] + 1]].astype(np.intp)
        for own, every in zip(least, hashes, strict=True):
            found = np.minimum.reduceat(every.take(neighbours), starts - first)
            own[vertices] = np.minimum(own[vertices], found)

    in_threads(of, pairwise([*cuts.tolist(), busy.size]))
