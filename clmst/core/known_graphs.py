"""Graphs whose forests are known, for self-tests of devices.

Each consists of parts that have exposed faults of compilers or drivers, or might: hubs, long paths
with rising, falling and bit-reversed weights, equal weights, parallel edges, cliques, isolated
vertices. Weights are ranks from 0 to 127. Weights of every dtype with the same order follow from
them, so all dtypes have one forest, and the oracle computes it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array

Size = Literal["tiny", "small", "heavy", "large"]

_RANKS = 128
_MIDDLE = _RANKS // 2
_SEED = 20260401
# The last bit of 12.0, by the bits of a float.
_LEAST_BIT = {32: -20, 64: -49}


@dataclass(frozen=True)
class KnownGraph:
    """A graph, and its forests with ranks as weights.

    Attributes
    ----------
    name : str
    ranks : Graph
        Each edge stored once; its weights are uint8.
    """

    name: str
    ranks: Graph

    def weighted(self, dtype: np.dtype[Any], *, symmetric: bool) -> Graph:
        """Return the graph with weights of a dtype in the order of the ranks."""
        graph = self._symmetric if symmetric else self.ranks
        return graph.replace_unchecked(weights=weights_of(graph.weights, dtype))

    def forest(self, *, maximum: bool) -> Forest:
        """Return the oracle's forest; its weights are ranks."""
        return self._greatest if maximum else self._least

    def simple(self, dtype: np.dtype[Any], *, symmetric: bool) -> Graph:
        """Return the graph without parallel edges; the first one in canonical order stays."""
        u, v, ranks, _ = self.ranks.edges()
        first = np.ones(u.size, bool)
        first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
        n = self.ranks.n_vertices
        graph = Graph.from_edges(u[first], v[first], ranks[first], n_vertices=n)
        graph = graph.symmetrised() if symmetric else graph
        return graph.replace_unchecked(weights=weights_of(graph.weights, dtype), edge_ids=None)

    @cached_property
    def core_numbers(self) -> Array:
        """The core numbers, computed by peeling on the host."""
        u, v, _, _ = self.ranks.edges()
        n, level, peeled = self.ranks.n_vertices, 0, np.iinfo(np.int64).max
        degree = np.bincount(np.concatenate([u, v]), minlength=n)
        cores = np.zeros(n, np.uint32)
        while (least := int(degree.min())) < peeled:
            level = max(level, least)
            gone = degree <= level
            lost = gone[u] | gone[v]
            degree -= np.bincount(np.concatenate([u[lost], v[lost]]), minlength=n)
            cores[gone], degree[gone] = level, peeled
            u, v = u[~lost], v[~lost]
        return cores

    @cached_property
    def _symmetric(self) -> Graph:
        return self.ranks.symmetrised()

    @cached_property
    def _least(self) -> Forest:
        return kruskal(self.ranks)

    @cached_property
    def _greatest(self) -> Forest:
        return kruskal(self.ranks, maximum=True)


def weights_of(ranks: Array, dtype: np.dtype[Any]) -> Array:
    """Return weights of a dtype in the order of the ranks, spread over the dtype's range.

    Wide weights differ in both 32-bit halves, so one half alone does not order them. Floats include
    both infinities and both zeros, which are equal.
    """
    signed = ranks.astype(np.int64) - _MIDDLE
    steps, low = signed // 8, signed % 8
    bits = 8 * dtype.itemsize
    if dtype.kind == "f":
        # 12 is the greatest; it differs from others by at least this much.
        weights = signed * 1.5 if bits == 16 else steps * 1.5 + low * 2.0 ** (_LEAST_BIT[bits])
        weights.flat[np.flatnonzero(signed == 0)[::2]] = -0.0
        weights[ranks == 0], weights[ranks == _RANKS - 1] = -np.inf, np.inf
        return np.asarray(weights, dtype)
    words = signed * 2 if bits == 8 else (steps << bits - 4) + low
    return (
        words.astype(dtype)
        if dtype.kind == "i"
        else words.astype(dtype) ^ dtype.type(1 << bits - 1)
    )


@lru_cache(maxsize=4)
def known_graph(size: Size) -> KnownGraph:
    """Return the graph of a size.

    Tiny has 46 vertices, small 2,265, large more than 2**17; heavy 17,610 and many edges each.
    """
    scale = {"tiny": 1, "small": 64, "heavy": 512, "large": 4096}[size]
    parts = _Parts(np.random.default_rng(_SEED + scale))
    parts.random(16 * scale, edges=40 if size == "heavy" else 3)
    for order in ("rising", "falling", "bit-reversed"):
        parts.chain(4 * scale, order)
    parts.hubs(4 * scale)
    parts.grid(int(np.sqrt(2 * scale)) + 1)
    parts.clique(min(6 + scale, 90))
    parts.isolated(3)
    return KnownGraph(name=size, ranks=parts.graph())


class _Parts:
    """Edges of several parts, each with its own vertices."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self._n = rng, 0
        self._edges: list[tuple[Array, Array, Array]] = []

    def _add(self, n: int, u: Array, v: Array, ranks: Array) -> None:
        self._edges.append((u + self._n, v + self._n, np.broadcast_to(ranks, u.shape)))
        self._n += n

    def random(self, n: int, *, edges: int) -> None:
        """Add random edges, a few hundred of them parallel to others."""
        u, v = self._rng.integers(0, n, (2, edges * n))
        again = self._rng.integers(0, u.size, min(n // 4, 400))
        u, v = np.concatenate([u, v[again]]), np.concatenate([v, u[again]])
        self._add(n, u, v, self._rng.integers(0, _RANKS, u.size))

    def chain(self, n: int, order: str) -> None:
        """Add a path, all of whose edges are in the forest, closed by a heavy edge."""
        steps = np.arange(n, dtype=np.int64)
        ranks = steps * (_RANKS - 1) // n
        if order == "falling":
            ranks = ranks[::-1]
        elif order == "bit-reversed":
            bits = max(n - 1, 1).bit_length()
            ranks = np.zeros_like(steps)
            for k in range(bits):
                ranks |= (steps >> k & 1) << bits - 1 - k
            ranks = ranks * (_RANKS - 1) >> bits
        self._add(n, steps, (steps + 1) % n, np.where(steps == n - 1, _RANKS - 1, ranks))

    def hubs(self, n: int) -> None:
        """Add two vertices joined to all others, and a few edges among the others."""
        leaves = np.arange(2, n)
        ends = self._rng.integers(2, n, (2, n))
        u = np.concatenate([np.zeros_like(leaves), np.ones_like(leaves), ends[0]])
        v = np.concatenate([leaves, leaves, ends[1]])
        self._add(n, u, v, self._rng.integers(0, _RANKS, u.size))

    def grid(self, side: int) -> None:
        """Add a grid of equal weights: the ids of edges decide."""
        vertex = np.arange(side * side).reshape(side, side)
        u = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
        v = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
        self._add(side * side, u, v, np.full(u.size, _MIDDLE))

    def clique(self, n: int) -> None:
        """Add every pair of vertices, with few ranks."""
        u, v = np.triu_indices(n, 1)
        self._add(n, u, v, self._rng.integers(_MIDDLE - 3, _MIDDLE + 3, u.size))

    def isolated(self, n: int) -> None:
        """Add vertices without an edge."""
        nothing = np.zeros(0, np.int64)
        self._add(n, nothing, nothing, nothing)

    def graph(self) -> Graph:
        """Return the graph of all parts."""
        u, v, ranks = (np.concatenate(each) for each in zip(*self._edges, strict=True))
        return Graph.from_edges(u, v, ranks.astype(np.uint8), n_vertices=self._n)
