"""Graphs on which some algorithm does especially much work. ``worst_cases`` times them.

Each family is a function that takes a number of edges and returns about that many edges with
weights, as :class:`Edges`. Random numbers have fixed seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isqrt

import numpy as np
import numpy.typing as npt

from clmst import Graph

Ints = npt.NDArray[np.int64]
Family = Callable[[int], "Edges"]

# Maximum number of edges per vertex of a random graph with which a structured graph is compared.
# Both graphs have equally many edges, and equally many vertices unless this maximum requires more.
# With fewer vertices, nearly all edges of the random graph would be parallel, which is itself a
# worst case.
_MOST_EDGES_A_VERTEX = 32
_CLIQUE = 32  # vertices of a clique, and of a path between two
_SEED = 20261123


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges (u, v) with weights w among n vertices, in the order in which they are given."""

    n: int
    u: Ints
    v: Ints
    w: Ints

    def graph(self) -> Graph:
        """Return the graph, with each edge stored once."""
        return Graph.from_edges(self.u, self.v, self.w.astype(np.int32), n_vertices=self.n)

    def renamed(self) -> Edges:
        """Return the same graph with its vertices renumbered at random."""
        names = _rng().permutation(self.n)
        return replace(self, u=names[self.u], v=names[self.v])


def _rng() -> np.random.Generator:
    return np.random.default_rng(_SEED)


def _random_weights(m: int) -> Ints:
    return _rng().integers(0, 1 << 30, m)


def _of(n: int, u: Ints, v: Ints, w: Ints | None = None) -> Edges:
    return Edges(n, u, v, _random_weights(u.size) if w is None else w)


def random_graph(m: int, n: int) -> Edges:
    """Return the random graph with which a structured graph of `m` edges is compared.

    Each end of an edge is drawn uniformly from all vertices. Loops and parallel edges are kept.
    Weights are uniform below 2**30. The graph has `n` vertices, but at least m / 32.
    """
    n = max(n, m // _MOST_EDGES_A_VERTEX, 2)
    u, v = _rng().integers(0, n, (2, m))
    return _of(n, u, v)


# ------------------------------------------------------------------------------ weights


def _bit_reversed(m: int) -> Ints:
    """Return the integers below m, sorted by the numbers that result if their bits are reversed."""
    bits = max(m - 1, 1).bit_length()
    at = np.arange(1 << bits)
    backwards = np.zeros_like(at)
    for bit in range(bits):
        backwards |= (at >> bit & 1) << (bits - 1 - bit)
    return np.argsort(backwards[:m], kind="stable")


def _ruler(m: int) -> Ints:
    """Return, for each of the numbers 1, 2, ..., m, how often it can be divided by 2.

    If these are the weights along a path, components merge only in pairs in each round of Borůvka's
    algorithm.
    """
    at = np.arange(1, m + 1)
    ruler: Ints = np.log2(at & -at).astype(np.int64)
    return ruler


WEIGHTS: Mapping[str, Callable[[int], Ints]] = {
    "rising": np.arange,
    "falling": lambda m: np.arange(m)[::-1].copy(),
    "bit-reversed": _bit_reversed,
    "equal": lambda m: np.ones(m, np.int64),
    "shuffled": _random_weights,
    "ruler": _ruler,
}


# -------------------------------------------------------------------------------- trees


def _path(m: int, weights: str) -> Edges:
    u = np.arange(m)
    return _of(m + 1, u, u + 1, WEIGHTS[weights](m))


def _star(m: int, hub: float, weights: str = "shuffled") -> Edges:
    """Return a star of `m` edges, whose middle (the hub) is joined to all other vertices.

    `hub` says which vertex is the hub: 0 is the first, 1 is the last, and numbers between are in
    proportion. `weights` is a key of WEIGHTS.
    """
    centre = int(hub * m)
    leaves = np.delete(np.arange(m + 1), centre)
    return _of(m + 1, np.full(m, centre), leaves, WEIGHTS[weights](m))


def two_hubs(m: int) -> Edges:
    """Return a graph in which all vertices are joined to the same two hubs."""
    leaves = np.arange(2, 2 + m // 2)
    return _of(2 + leaves.size, np.repeat([0, 1], leaves.size), np.tile(leaves, 2))


def _hub_with_chains(m: int, weights: str = "shuffled") -> Edges:
    """Return k paths of k edges each, which all begin at one vertex, the hub.

    k is the square root of `m`. `weights` is a key of WEIGHTS.
    """
    k = isqrt(m)
    v = np.arange(1, k * k + 1)
    u = np.where((v - 1) % k == 0, 0, v - 1)
    return _of(k * k + 1, u, v, WEIGHTS[weights](v.size))


def _comb(m: int, tooth: Callable[[int], int] = isqrt, weights: str = "shuffled") -> Edges:
    """Return a comb: a path with a further path, a tooth, at each of its vertices.

    `tooth` is a function that takes `m`, the number of all edges, and returns the number of edges
    of a tooth. `weights` is a key of WEIGHTS.
    """
    length = tooth(m)
    backbone = m // (length + 1)
    along = np.arange(backbone - 1)
    v = np.arange(backbone, backbone * (length + 1))
    u, v = np.concatenate([along, v - backbone]), np.concatenate([along + 1, v])
    return _of(backbone * (length + 1), u, v, WEIGHTS[weights](u.size))


def caterpillar(m: int) -> Edges:
    """Return a path with seven leaves at each vertex."""
    backbone = m // 8
    along, leaves = np.arange(backbone - 1), np.arange(backbone, 8 * backbone)
    u = np.concatenate([along, (leaves - backbone) // 7])
    return _of(8 * backbone, u, np.concatenate([along + 1, leaves]))


def _binary_tree(m: int, weights: str = "shuffled") -> Edges:
    v = np.arange(1, m + 1)
    return _of(m + 1, (v - 1) // 2, v, WEIGHTS[weights](m))


def binomial_tree(m: int) -> Edges:
    """Return a binomial tree, in which Borůvka's algorithm merges components only in pairs.

    At each step, sets of equal size are joined in pairs, by an edge between the least vertices of
    both sets.
    """
    v = np.arange(1, m + 1)
    return _of(m + 1, v & (v - 1), v, _ruler(m))


# ------------------------------------------------------------------------- dense places


def cliques_joined_by_paths(m: int) -> Edges:
    """Return cliques of 32 vertices, each joined to the next by a path of 32 edges."""
    a, b = np.triu_indices(_CLIQUE, 1)
    along = np.arange(_CLIQUE - 1, 2 * _CLIQUE - 1)
    u, v = np.concatenate([a, along]), np.concatenate([b, along + 1])
    count = max(m // u.size, 1)
    first = np.arange(count)[:, None] * (2 * _CLIQUE - 1)
    return _of(count * (2 * _CLIQUE - 1) + 1, (u + first).ravel(), (v + first).ravel())


def clique_with_tail(m: int) -> Edges:
    """Return a clique that has about half of `m` edges, joined to a path of the other edges."""
    k = isqrt(m)
    a, b = np.triu_indices(k, 1)
    along = np.arange(k - 1, k - 1 + m - a.size)
    u, v = np.concatenate([a, along]), np.concatenate([b, along + 1])
    return _of(int(v.max()) + 1, u, v)


def _bipartite(m: int, few: Callable[[int], int] = isqrt, weights: str = "shuffled") -> Edges:
    k = few(m)
    u, v = np.divmod(np.arange(m // k * k), m // k)
    return _of(k + m // k, u, v + k, WEIGHTS[weights](u.size))


def _grid(m: int, weights: str = "shuffled") -> Edges:
    side = isqrt(m // 2)
    at = np.arange(side * side).reshape(side, side)
    u = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    v = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    return _of(side * side, u, v, WEIGHTS[weights](u.size))


def _random(m: int, weights: str) -> Edges:
    return replace(random_graph(m, m // 8), w=WEIGHTS[weights](m))


def _parallel(m: int, n: int, weights: str = "shuffled") -> Edges:
    """Return `m` random edges among `n` vertices, which are so few that most edges are parallel."""
    u = _rng().integers(0, n, m)
    return _of(n, u, (u + 1 + _rng().integers(0, n - 1, m)) % n, WEIGHTS[weights](m))


def parallel_along_a_path(m: int) -> Edges:
    """Return a path in which each step has 64 parallel edges."""
    u = np.repeat(np.arange(m // 64), 64)
    return _of(m // 64 + 1, u, u + 1)


# --------------------------------------------------------------------------- components


def pairs(m: int) -> Edges:
    """Return `m` edges that are not joined to one another, so that each is a component."""
    u = 2 * np.arange(m)
    return _of(2 * m, u, u + 1)


def triangles(m: int) -> Edges:
    """Return triangles that are not joined to one another."""
    first = 3 * np.repeat(np.arange(m // 3), 3)
    k = np.arange(first.size) % 3
    return _of(first.size, first + k, first + (k + 1) % 3)


def isolated_vertices(m: int) -> Edges:
    """Return a path of `m` edges, and isolated vertices, which are nine tenths of all vertices."""
    return replace(_path(m, "shuffled"), n=10 * m)


# ------------------------------------------------------------------- rounds of Boruvka's


def hierarchy(m: int) -> Edges:
    """Return a graph on which Borůvka's algorithm takes many rounds and drops few edges in each.

    The edges are on log2(n) levels, about equally many on each. Level k divides the vertices into
    blocks of 2**(k + 1), and each edge of the level joins the two halves of a block. The weight of
    an edge is its level. So in each round components merge only in pairs, which are the halves of
    the blocks of one level. The edges of all higher levels remain.
    """
    bits = max((m // 8 - 1).bit_length(), 1)
    rng = _rng()
    level = rng.integers(0, bits, m)
    u = rng.integers(0, 1 << bits, m)
    v = u ^ (1 << level) ^ (rng.integers(0, 1 << bits, m) & ((1 << level) - 1))
    return _of(1 << bits, u, v, level)


def ruler_with_heavy_edges(m: int) -> Edges:
    """Return a path whose components merge in pairs, and seven heavier random edges per vertex.

    The heavy edges remain until Borůvka's algorithm has merged the path to one component.
    """
    n = m // 8
    rest = random_graph(m - n + 1, n)
    u = np.concatenate([np.arange(n - 1), rest.u])
    v = np.concatenate([np.arange(1, n), rest.v])
    return _of(n, u, v, np.concatenate([_ruler(n - 1), 64 + rest.w // 2]))


def _renamed(family: Family) -> Family:
    return lambda m: family(m).renamed()


_PATHS = {weights: partial(_path, weights=weights) for weights in WEIGHTS}

FAMILIES: Mapping[str, Family] = {
    **{f"path, {weights}": path for weights, path in _PATHS.items()},
    **{f"path, {weights}, names at random": _renamed(path) for weights, path in _PATHS.items()},
    "star, hub first": partial(_star, hub=0),
    "star, hub last": partial(_star, hub=1),
    "star, hub in the middle": partial(_star, hub=0.5),
    "star, rising": partial(_star, hub=0, weights="rising"),
    "star, equal": partial(_star, hub=0, weights="equal"),
    "two hubs": two_hubs,
    "two hubs, names at random": _renamed(two_hubs),
    "hub with chains": _hub_with_chains,
    "hub with chains, rising": partial(_hub_with_chains, weights="rising"),
    "comb": partial(_comb, tooth=lambda _: 1),
    "comb, long teeth": _comb,
    "comb, long teeth, falling": partial(_comb, weights="falling"),
    "caterpillar": caterpillar,
    "binary tree": _binary_tree,
    "binary tree, rising": partial(_binary_tree, weights="rising"),
    "binary tree, falling, names at random": _renamed(partial(_binary_tree, weights="falling")),
    "binomial tree": binomial_tree,
    "cliques joined by paths": cliques_joined_by_paths,
    "clique with a tail": clique_with_tail,
    "complete bipartite": _bipartite,
    "complete bipartite, 8 on one side": partial(_bipartite, few=lambda _: 8),
    "complete bipartite, equal": partial(_bipartite, weights="equal"),
    "grid": _grid,
    "grid, equal": partial(_grid, weights="equal"),
    "grid, rising": partial(_grid, weights="rising"),
    "random, equal": partial(_random, weights="equal"),
    "random, rising": partial(_random, weights="rising"),
    "parallel, 2 vertices": partial(_parallel, n=2),
    "parallel, 2 vertices, equal": partial(_parallel, n=2, weights="equal"),
    "parallel, 2 vertices, falling": partial(_parallel, n=2, weights="falling"),
    "parallel, 64 vertices": partial(_parallel, n=64),
    "parallel along a path": parallel_along_a_path,
    "pairs": pairs,
    "triangles": triangles,
    "isolated vertices": isolated_vertices,
    "hierarchy": hierarchy,
    "hierarchy, names at random": _renamed(hierarchy),
    "ruler with heavy edges": ruler_with_heavy_edges,
}
"""All families by name: functions that take a number of edges and return edges with weights."""


# ---------------------------------------------------------------------- complete graphs


def matrices(n: int) -> dict[str, npt.NDArray[np.int32]]:
    """Return symmetric weight matrices of complete graphs with `n` vertices, by name.

    The first matrix has uniform random weights below 2**30. All other matrices have weights that
    are bad for some algorithm. Its time is compared with its time for the first matrix.
    """
    rng, at = _rng(), np.arange(n)
    uniform = np.triu(rng.integers(0, 1 << 30, (n, n)), 1)
    apart = abs(at[:, None] - at)
    bits = at[:, None] ^ at
    found = {
        "complete, uniform": uniform + uniform.T,
        "complete, equal": np.ones((n, n), np.int64),
        "complete, path": apart,  # |u - v|: chains of length n
        "complete, path backwards": n - apart,
        "complete, sum": at[:, None] + at,  # all choose vertex 0
        "complete, star": np.minimum(at[:, None], at) + (apart > 0) * n,
        "complete, hierarchy": np.frexp(bits)[1],  # components merge by twos
        "complete, two values": (bits & 1) + 1,
        "complete, path, names at random": None,
    }
    names = rng.permutation(n)
    found["complete, path, names at random"] = apart[np.ix_(names, names)]
    return {name: cells.astype(np.int32) for name, cells in found.items() if cells is not None}
