"""Random graphs without coordinates: uniform, recursive matrix, preferential attachment."""

from __future__ import annotations

import numpy as np

from clmst.core.graph import Graph
from clmst.generators.checks import check_integer, check_number, check_sizes
from clmst.generators.edges import WeightChoice, weighted_graph
from clmst.generators.hashing import Stream
from clmst.generators.recursive_matrix import check_chances, draw

_MAX_SCALE = 31  # levels of the recursive matrix: vertices must fit 32 bits


def random(
    *, n: int, average_degree: float = 8.0, weights: WeightChoice = "int", seed: int = 0
) -> Graph:
    """Uniform random graph G(n, m) with m = round(n average_degree / 2) distinct edges.

    Parameters
    ----------
    n : int
        Number of vertices.
    average_degree : float
        Twice the number of edges over the number of vertices, at most n - 1.
    weights : {"int", "float", "equal", "rising", "ruler"}
        How edges are weighted.
    seed : int
        What all randomness follows from.

    Notes
    -----
    Source: Erdős and Rényi, "On random graphs I" (1959). The edges are the first m images of a
    random permutation of all pairs, so no pair is drawn twice. O(m log m).
    """
    n = check_integer("n", n, low=0)
    check_number("average_degree", average_degree, low=0, high=max(n - 1, 0))
    m = min(round(n * average_degree / 2), n * (n - 1) // 2)
    check_sizes(vertices=n, edges=m)
    pairs = Stream.named(seed, "random").permuted(np.arange(m, dtype=np.uint64), n * (n - 1) // 2)
    # Pair k joins u = k mod n to u + 1 + k div n, round a ring: for every distance below n / 2
    # each u makes its own pair, and for n / 2 itself the numbers end after the first half.
    distance, u = np.divmod(pairs, np.uint64(max(n, 1)))
    v = (u + distance + np.uint64(1)) % np.uint64(max(n, 1))
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def rmat(
    *,
    scale: int,
    edge_factor: int = 8,
    a: float = 0.45,
    b: float = 0.22,
    c: float = 0.22,
    weights: WeightChoice = "int",
    seed: int = 0,
) -> Graph:
    """Recursive-matrix graph of skewed degrees, 2**scale vertices.

    ``edge_factor * 2**scale`` edges are drawn; loops are left out and duplicates merged, so the
    graph has fewer.

    Parameters
    ----------
    scale : int
        Base-2 logarithm of the number of vertices.
    edge_factor : int
        Edges drawn for each vertex.
    a, b, c : float
        Chances of the upper left, upper right and lower left quarter of the adjacency matrix; the
        lower right one gets the rest.
    weights : {"int", "float", "equal", "rising", "ruler"}
        How edges are weighted.
    seed : int
        What all randomness follows from.

    Notes
    -----
    Source: Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining" (2004);
    the defaults are those of GTgraph (Bader and Madduri, 2006), without its noise.
    O(m (scale + log m)).
    """
    scale = check_integer("scale", scale, low=0, high=_MAX_SCALE)
    n, m = _sizes(scale, edge_factor)
    check_chances(a, b, c)
    u, v = draw(m, scale, (a, b, c), Stream.named(seed, "rmat"))
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def kronecker(
    *,
    scale: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    weights: WeightChoice = "int",
    seed: int = 0,
) -> Graph:
    """Graph500's Kronecker graph: strongly skewed degrees, vertices numbered at random.

    ``edge_factor * 2**scale`` edges are drawn; loops are left out and duplicates merged, so the
    graph has fewer, and many isolated vertices.

    Parameters
    ----------
    scale : int
        Base-2 logarithm of the number of vertices.
    edge_factor : int
        Edges drawn for each vertex.
    a, b, c : float
        Chances of the upper left, upper right and lower left quarter of the adjacency matrix; the
        lower right one gets the rest.
    weights : {"int", "float", "equal", "rising", "ruler"}
        How edges are weighted.
    seed : int
        What all randomness follows from.

    Notes
    -----
    Source: Leskovec, Chakrabarti, Kleinberg and Faloutsos, "Realistic, mathematically tractable
    graph generation and evolution, using Kronecker multiplication" (2005), with the parameters of
    the Graph500 benchmark (2010). O(m (scale + log m)).
    """
    scale = check_integer("scale", scale, low=0, high=_MAX_SCALE)
    n, m = _sizes(scale, edge_factor)
    check_chances(a, b, c)
    u, v = draw(m, scale, (a, b, c), Stream.named(seed, "kronecker"))
    names = Stream.named(seed, "kronecker names").permuted(np.arange(n, dtype=np.uint64), n)
    names = names.astype(np.uint32)  # half the cache lines to gather from
    return weighted_graph(n, names[u], names[v], weights=weights, seed=seed)


def preferential(
    *, n: int, edges_per_vertex: int = 4, weights: WeightChoice = "int", seed: int = 0
) -> Graph:
    """Preferential attachment: each vertex joins earlier ones, in proportion to their degree.

    Connected. Duplicates are merged, so m is a little below (n - 1) edges_per_vertex.

    Parameters
    ----------
    n : int
        Number of vertices.
    edges_per_vertex : int
        Edges that every vertex but the first draws.
    weights : {"int", "float", "equal", "rising", "ruler"}
        How edges are weighted.
    seed : int
        What all randomness follows from.

    Notes
    -----
    Source: Barabási and Albert, "Emergence of scaling in random networks" (1999), in the form of
    Sanders and Schulz, "Scalable generation of scale-free graphs" (2016): an edge copies a
    random end of a random earlier edge, and if that end was itself a copy, the chain is followed.
    O(m log m) expected.
    """
    n = check_integer("n", n, low=0)
    edges_per_vertex = check_integer("edges_per_vertex", edges_per_vertex, low=1)
    m = max(n - 1, 0) * edges_per_vertex
    check_sizes(vertices=n, edges=m)
    edges = np.arange(m, dtype=np.int64)
    v = 1 + edges // edges_per_vertex
    # Edge e has ends 2 e, the vertex that draws, and 2 e + 1, the vertex drawn: a copy of another
    # end, of an earlier vertex's edge. Vertex 1 finds no edge to copy from; end -2, which by the
    # same rule belongs to vertex 0, stands for its only choice.
    earlier_ends = 2 * edges_per_vertex * (v - 1)
    copied = Stream.named(seed, "preferential").below(edges, np.maximum(earlier_ends, 1))
    copied = np.where(earlier_ends == 0, -2, copied.astype(np.int64))
    pending = np.flatnonzero(copied & 1)
    while pending.size:
        copied[pending] = copied[copied[pending] >> 1]
        pending = pending[(copied[pending] & 1) == 1]
    u = 1 + (copied >> 1) // edges_per_vertex
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def _sizes(scale: int, edge_factor: int) -> tuple[int, int]:
    """Return how many vertices a recursive matrix of a checked scale has, and how many draws."""
    edge_factor = check_integer("edge_factor", edge_factor, low=0)
    n = 1 << scale
    check_sizes(vertices=n, edges=edge_factor * n)
    return n, edge_factor * n
