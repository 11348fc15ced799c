"""Graphs with known forests, for the self-tests of devices.

Each graph consists of subgraphs of several kinds that have exposed faults of compilers or drivers,
or might do so: hubs, long paths with ascending, descending and bit-reversed weights, equal weights,
parallel edges, cliques, and isolated vertices. Weights are ranks from 0 to 127. For every dtype the
ranks are mapped to weights in the same order. So all dtypes have the same forest, which the
reference solver computes once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array

Size = Literal["tiny", "small", "heavy", "large"]
# A subgraph: its number of vertices, the two ends of each edge, and the rank of each edge.
_Part: TypeAlias = tuple[int, Array, Array, Array]
# A test graph consists of subgraphs. In a test graph of each size, a subgraph has this many times
# the vertices that it has in the tiny one. Tests with the simulator Oclgrind set smaller values.
SCALES: dict[Size, int] = {"tiny": 1, "small": 64, "heavy": 512, "large": 4096}
_RANKS = 128
_MIDDLE = _RANKS // 2
_ISOLATED = 3  # number of vertices without edges
_SEED = 20260401
# The exponent of the least significant bit of 12.0, by the number of bits of the float type.
_LEAST_BIT = {32: -20, 64: -49}


@dataclass(frozen=True)
class KnownGraph:
    """A graph whose forests are known, by which a self-test checks the results of a device.

    Each edge is stored once. Its rank, a small integer in uint8, takes the place of a weight.
    """

    name: str
    ranks: Graph

    def weighted(self, dtype: np.dtype[Any], *, symmetric: bool) -> Graph:
        """Return the graph with weights of a dtype, which have the same order as the edges' ranks.

        If `symmetric`, each edge is stored in both directions.
        """
        graph = self._symmetric if symmetric else self.ranks
        return graph.replace_unchecked(weights=weights_of(graph.weights, dtype))

    def forest(self, *, maximum: bool) -> Forest:
        """Return the graph's minimum or maximum spanning forest, with ranks as weights.

        The reference solver on the host computes the forest.
        """
        return self._greatest if maximum else self._least

    def simple(self, dtype: np.dtype[Any], *, symmetric: bool) -> Graph:
        """Return the graph without parallel edges, with weights of a dtype.

        Of parallel edges the first one in canonical order is kept. If `symmetric`, each edge is
        stored in both directions.
        """
        u, v, ranks, _ = self.ranks.edges()
        first = np.ones(u.size, bool)
        first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
        n = self.ranks.n_vertices
        graph = Graph.from_edges(u[first], v[first], ranks[first], n_vertices=n)
        graph = graph.symmetrised() if symmetric else graph
        return graph.replace_unchecked(weights=weights_of(graph.weights, dtype), edge_ids=None)

    @cached_property
    def core_numbers(self) -> Array:
        """The core number of each vertex, computed on the host by removing vertices."""
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
        """The graph with both directions of every edge."""
        return self.ranks.symmetrised()

    @cached_property
    def _least(self) -> Forest:
        """The minimum spanning forest."""
        return kruskal(self.ranks)

    @cached_property
    def _greatest(self) -> Forest:
        """The maximum spanning forest."""
        return kruskal(self.ranks, maximum=True)


def weights_of(ranks: Array, dtype: np.dtype[Any]) -> Array:
    """Map ranks to weights of a dtype in the same order, spread over the range of the dtype.

    64-bit weights differ in both 32-bit halves, so kernels that compare only one half are found
    out. Floats include both infinities, and both zeros, which are equal.
    """
    signed = ranks.astype(np.int64) - _MIDDLE
    steps, low = signed // 8, signed % 8
    bits = 8 * dtype.itemsize
    if dtype.kind == "f":
        # Weights of 32 and 64 bits that have the same value in `steps` differ only in their lowest
        # bits: by multiples of the least significant bit of 12, which is the greatest magnitude.
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
    """Return the test graph of a size. Every call for a size returns an equal graph.

    The tiny graph has 46 vertices, the small one 2,265, and the large one more than 2**17. The
    heavy graph has 17,566 vertices, and more edges for each vertex than the other graphs.
    """
    scale = SCALES[size]
    parts = _parts(size, scale, np.random.default_rng(_SEED + scale))
    n, u, v, ranks = _side_by_side(parts)
    graph = Graph.from_edges(u, v, ranks, n_vertices=n)
    return KnownGraph(name=size, ranks=graph)


@lru_cache(maxsize=4)
def known_forest(size: Size) -> tuple[int, Array, Array]:
    """Return a forest of several kinds of trees, for tests of kernels that take a forest.

    Returns the number of vertices, the edges, shape (k, 2), and their ranks, shape (k,), as uint8.
    Ranks take the place of weights. The trees are a random one, paths with ascending, descending
    and bit-reversed ranks, a star, a path of equal ranks, and isolated vertices. No solver computes
    the forest, so nothing of SciPy is loaded.
    """
    scale = SCALES[size]
    rng = np.random.default_rng(_SEED + scale)
    child, leaves = np.arange(1, 16 * scale), np.arange(1, 4 * scale)
    trees: list[_Part] = [
        (child.size + 1, rng.integers(0, child), child, rng.integers(0, _RANKS, child.size)),
        (leaves.size + 1, np.zeros_like(leaves), leaves, rng.integers(0, _RANKS, leaves.size)),
        (leaves.size + 1, leaves - 1, leaves, np.full(leaves.size, _MIDDLE)),
    ]
    for order in ("rising", "falling", "bit-reversed"):
        m, u, v, heights = _chain(4 * scale, order)
        trees.append((m, u[:-1], v[:-1], heights[:-1]))  # without the edge that closes the cycle
    n, u, v, ranks = _side_by_side(trees)
    return n, np.stack([u, v], axis=1), ranks


def _side_by_side(parts: Iterable[_Part]) -> _Part:
    """Join subgraphs, and some isolated vertices, to one graph. The ranks become uint8.

    The vertices of each subgraph get the numbers that follow the subgraph before it.
    """
    edges, n = list[tuple[Array, Array, Array]](), 0
    for size, u, v, ranks in parts:
        edges.append((u + n, v + n, np.broadcast_to(ranks, u.shape)))
        n += size
    u, v, ranks = (np.concatenate(each) for each in zip(*edges, strict=True))
    return n + _ISOLATED, u, v, ranks.astype(np.uint8)


def _parts(size: Size, scale: int, rng: np.random.Generator) -> Iterator[_Part]:
    """Yield the subgraphs of which the test graph of this size consists.

    Their numbers of vertices are proportional to `scale`. `rng` draws random ends and ranks, which
    take the place of weights.
    """
    yield _random(rng, 16 * scale, edges=40 if size == "heavy" else 3)
    for order in ("rising", "falling", "bit-reversed"):
        yield _chain(4 * scale, order)
    yield _hubs(rng, 4 * scale)
    yield _grid(int(np.sqrt(2 * scale)) + 1)
    yield _clique(rng, min(6 + scale, 90))


def _random(rng: np.random.Generator, n: int, *, edges: int) -> _Part:
    """Return a random graph of `n` vertices and `edges` edges per vertex, drawn from `rng`.

    Up to 400 further edges are parallel to the first ones.
    """
    u, v = rng.integers(0, n, (2, edges * n))
    again = rng.integers(0, u.size, min(n // 4, 400))
    u, v = np.concatenate([u, v[again]]), np.concatenate([v, u[again]])
    return n, u, v, rng.integers(0, _RANKS, u.size)


def _chain(n: int, order: str) -> _Part:
    """Return a path of `n` vertices whose ends are joined by a heavy edge, which closes a cycle.

    All other edges are in the forest. `order` is the order of weights along the path: "rising",
    "falling" or "bit-reversed".
    """
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
    return n, steps, (steps + 1) % n, np.where(steps == n - 1, _RANKS - 1, ranks)


def _hubs(rng: np.random.Generator, n: int) -> _Part:
    """Return `n` vertices: two hubs that are joined to all other vertices, and a few random edges.

    `rng` draws the random edges and the ranks, which take the place of weights.
    """
    leaves = np.arange(2, n)
    ends = rng.integers(2, n, (2, n))
    u = np.concatenate([np.zeros_like(leaves), np.ones_like(leaves), ends[0]])
    v = np.concatenate([leaves, leaves, ends[1]])
    return n, u, v, rng.integers(0, _RANKS, u.size)


def _grid(side: int) -> _Part:
    """Return a square grid with equal weights, whose forest depends on edge ids alone.

    `side` is the number of vertices along each side.
    """
    vertex = np.arange(side * side).reshape(side, side)
    u = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    v = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    return side * side, u, v, np.full(u.size, _MIDDLE)


def _clique(rng: np.random.Generator, n: int) -> _Part:
    """Return a complete graph of `n` vertices whose edges have only six different ranks.

    Ranks take the place of weights, so many weights are equal. `rng` draws them.
    """
    u, v = np.triu_indices(n, 1)
    return n, u, v, rng.integers(_MIDDLE - 3, _MIDDLE + 3, u.size)
