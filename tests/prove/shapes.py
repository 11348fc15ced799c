"""Graphs as arrays of edges: random ones, and those that are hard for some algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from clmst.core.weight_keys import Array
from tests.prove.draws import Draws, by_name

# The number of vertices, and the ends of each edge.
Edges: TypeAlias = tuple[int, Array, Array]
Shape: TypeAlias = Callable[[Draws, int, int], Edges]

_NONE = np.zeros(0, np.int64)


def _joined(n: int, *parts: tuple[Array, Array]) -> Edges:
    return (
        n,
        np.concatenate([_NONE, *(u for u, _ in parts)]),
        np.concatenate([_NONE, *(v for _, v in parts)]),
    )


# -------------------------------------------------------------------------- random


def uniform(draws: Draws, n: int, m: int) -> Edges:
    """Ends at random: loops, parallel edges and isolated vertices among them."""
    m = m if n else 0
    return n, draws.integers(n, m), draws.integers(n, m)


def few_vertices(draws: Draws, n: int, m: int) -> Edges:
    """Edges among the first three vertices only: nearly all of them parallel."""
    _, u, v = uniform(draws, min(n, 3), m)
    return n, u, v


def two_halves(draws: Draws, n: int, m: int) -> Edges:
    """A random graph on the even and one on the odd vertices."""
    _, u, v = uniform(draws, n // 2, m)
    side = draws.integers(2, u.size)
    return n, 2 * u + side, 2 * v + side


def islands(draws: Draws, n: int, m: int) -> Edges:
    """Many small components: ends are fewer than eight apart."""
    _, u, v = uniform(draws, n, m)
    return n, u, np.minimum(u // 8 * 8 + v % 8, max(n - 1, 0))


def skewed(draws: Draws, n: int, m: int) -> Edges:
    """Few vertices have most of the ends."""
    _, u, v = uniform(draws, n, m)
    return n, u * u // max(n, 1), v * v // max(n, 1)


def simple(draws: Draws, n: int, m: int) -> Edges:
    """Pairs of vertices, no pair twice and no loop."""
    pairs = n * (n - 1) // 2
    chosen = np.unique(draws.integers(pairs, m if pairs else 0))
    v = ((1 + np.sqrt(1 + 8.0 * chosen)) / 2).astype(np.int64)
    v += (chosen >= v * (v + 1) // 2).astype(np.int64) - (chosen < v * (v - 1) // 2)
    return n, chosen - v * (v - 1) // 2, v


RANDOM: dict[str, Shape] = by_name(uniform, few_vertices, two_halves, islands, skewed, simple)


# ---------------------------------------------------------------------- structured


def path(_draws: Draws, n: int, _m: int) -> Edges:
    """One path."""
    k = np.arange(max(n - 1, 0))
    return n, k, k + 1


def cycle(_draws: Draws, n: int, _m: int) -> Edges:
    """One cycle; a loop for one vertex, two parallel edges for two."""
    k = np.arange(n)
    return n, k, (k + 1) % max(n, 1)


def star(_draws: Draws, n: int, _m: int) -> Edges:
    """One vertex joined to all others."""
    k = np.arange(1, max(n, 1))
    return n, np.zeros(k.size, np.int64), k


def two_hubs(_draws: Draws, n: int, _m: int) -> Edges:
    """Two vertices joined to all others, and to each other."""
    k = np.arange(2, max(n, 2)) if n > 1 else _NONE
    bridge = np.zeros(min(n // 2, 1), np.int64)
    return _joined(n, (0 * k, k), (0 * k + 1, k), (bridge, bridge + 1))


def cliques_joined_by_paths(draws: Draws, n: int, _m: int) -> Edges:
    """Cliques of three to ten vertices, in a row, joined by paths of one to four edges."""
    parts, start = [], 0
    while start < n:
        size = min(3 + draws.below(8), n - start)
        u, v = np.triu_indices(size, 1)
        parts.append((u + start, v + start))
        end = min(start + size + draws.below(4), n)
        bridge = np.arange(start + size - 1, min(end, n - 1))
        parts.append((bridge, bridge + 1))
        start = end
    return _joined(n, *parts)


def comb(_draws: Draws, n: int, _m: int) -> Edges:
    """A path of half of the vertices, each with a leaf."""
    half = n // 2
    back, teeth = np.arange(max(half - 1, 0)), np.arange(half)
    return _joined(n, (back, back + 1), (teeth, teeth + half))


def complete(_draws: Draws, n: int, _m: int) -> Edges:
    """All pairs of at most sixty vertices."""
    n = min(n, 60)
    u, v = np.triu_indices(n, 1)
    return n, u, v


def grid(_draws: Draws, n: int, _m: int) -> Edges:
    """A square grid; the remaining vertices are isolated."""
    side = int(np.sqrt(n))
    cells = np.arange(side * side).reshape(side, side)
    across, down = cells[:, :-1].ravel(), cells[:-1].ravel()
    return _joined(n, (across, across + 1), (down, down + side))


def binary_tree(_draws: Draws, n: int, _m: int) -> Edges:
    """Each vertex joined to the one of half its number."""
    k = np.arange(1, max(n, 1))
    return n, (k - 1) // 2, k


def bipartite(_draws: Draws, n: int, _m: int) -> Edges:
    """All pairs of a small and a large part."""
    few = min(n // 2, 5)
    u, v = np.meshgrid(np.arange(few), np.arange(few, n), indexing="ij")
    return n, u.ravel(), v.ravel()


def parallel_edges(_draws: Draws, n: int, m: int) -> Edges:
    """All edges between the same two vertices."""
    k = np.zeros(m if n > 1 else 0, np.int64)
    return n, k, k + 1


def loops(draws: Draws, n: int, m: int) -> Edges:
    """Nothing but loops."""
    u = draws.integers(n, m if n else 0)
    return n, u, u


def no_edges(_draws: Draws, n: int, _m: int) -> Edges:
    """No edge at all; now and then no vertex either."""
    return n // 4, _NONE, _NONE


STRUCTURED: dict[str, Shape] = by_name(
    path, cycle, star, two_hubs, cliques_joined_by_paths, comb, complete, grid, binary_tree,
    bipartite, parallel_edges, loops, no_edges,
)  # fmt: skip
