"""Random graphs without coordinates: uniform, recursive matrix, clustered, preferential."""

from __future__ import annotations

import math

import numpy as np

from clmst.core.arguments import check_number
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.generators.edges import (
    WeightChoice,
    check_integer,
    check_sizes,
    resolve,
    weighted_graph,
)
from clmst.generators.hashing import Stream, Words

Chances = tuple[float, float, float]

GTGRAPH: Chances = (0.45, 0.22, 0.22)
"""Chances of the upper left, upper right and lower left quarter (Bader and Madduri, 2006)."""

_BLOCK = 1 << 14  # edges drawn at a time: the temporaries stay in the second-level cache


def draw(
    count: int, scale: int, chances: Chances, stream: Stream, *, first: int = 0
) -> tuple[Array, Array]:
    """Draw edges of a matrix of 2**scale rows, whose numbers begin at `first`; return (u, v).

    Each edge depends on its number alone. O(count scale).
    """
    u, v = np.empty(count, np.uint32), np.empty(count, np.uint32)
    for start in range(0, count, _BLOCK):
        block = slice(start, min(start + _BLOCK, count))
        edges = np.arange(first + block.start, first + block.stop, dtype=np.uint64)
        u[block], v[block] = _descend(edges, scale, chances, stream)
    return u, v


def draw_below(n: int, count: int, chances: Chances, stream: Stream) -> tuple[Array, Array]:
    """Draw edges of the first n rows and columns of the least matrix that has as many.

    They are the first `count` drawn from the whole matrix that lie there. At least a share of
    ``chances[0]`` of all do, which must not be 0.
    """
    scale = max(n - 1, 0).bit_length()
    parts: list[tuple[Array, Array]] = []
    found = drawn = 0
    while found < count:
        u, v = draw(count, scale, chances, stream, first=drawn)
        inside = (u < n) & (v < n)
        parts.append((u[inside], v[inside]))
        found += parts[-1][0].size
        drawn += count
    ends = zip(*parts, strict=True) if parts else ((), ())
    u, v = (np.concatenate([np.empty(0, np.uint32), *part])[:count] for part in ends)
    return u, v


def _descend(edges: Words, scale: int, chances: Chances, stream: Stream) -> tuple[Array, Array]:
    """Choose a quarter of the matrix on every level for each edge; return (u, v) as uint32."""
    a, b, c = chances
    to_b, to_c, to_d = (np.uint32(min(int(p * 2.0**32), 2**32 - 1)) for p in (a, a + b, a + b + c))
    u, v = np.zeros(edges.size, np.uint32), np.zeros(edges.size, np.uint32)
    first_words = edges * np.uint64((scale + 1) // 2)
    for level in range(scale):
        if level % 2 == 0:  # one word of 64 bits serves two levels
            words = stream.words(first_words + np.uint64(level // 2))
        draw = words.astype(np.uint32)
        words >>= np.uint64(32)
        lower = draw >= to_c
        right = (draw >= to_b) ^ lower ^ (draw >= to_d)
        u = (u << np.uint32(1)) | lower
        v = (v << np.uint32(1)) | right
    return u, v


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
    weights, seed
        As of :func:`clmst.generate`.

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
    weights, seed
        As of :func:`clmst.generate`.

    Notes
    -----
    Source: Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining" (2004);
    the defaults are those of GTgraph (Bader and Madduri, 2006), without its noise.
    O(m (scale + log m)).
    """
    n, u, v = _drawn(scale, edge_factor, (a, b, c), seed, "rmat")
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
    weights, seed
        As of :func:`clmst.generate`.

    Notes
    -----
    Source: Leskovec, Chakrabarti, Kleinberg and Faloutsos, "Realistic, mathematically tractable
    graph generation and evolution, using Kronecker multiplication" (2005), with the parameters of
    the Graph500 benchmark (2010). O(m (scale + log m)).
    """
    n, u, v = _drawn(scale, edge_factor, (a, b, c), seed, "kronecker")
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
    weights, seed
        As of :func:`clmst.generate`.

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
    u = np.where(copied & 1, ~(copied >> 1), 1 + (copied >> 1) // edges_per_vertex)
    resolve(u)
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def _drawn(
    scale: int, edge_factor: int, chances: Chances, seed: int, name: str
) -> tuple[int, Array, Array]:
    """Check the parameters of a recursive matrix; return its size and the edges drawn from it."""
    scale = check_integer("scale", scale, low=0, high=_MAX_SCALE)
    n, edge_factor = 1 << scale, check_integer("edge_factor", edge_factor, low=0)
    check_sizes(vertices=n, edges=edge_factor * n)
    for quarter, chance in zip("abc", chances, strict=True):
        check_number(quarter, chance, low=0, high=1)
    if (total := math.fsum(chances)) > 1:
        raise InvalidArgumentError(f"a + b + c is {total}; it must be at most 1")
    return n, *draw(edge_factor * n, scale, chances, Stream.named(seed, name))


def clustered(
    *,
    n: int = 49_152,
    edge_factor: int = 8,
    clusters: int = 4,
    cluster_size: int = 4_096,
    density: float = 0.75,
    weights: WeightChoice = "int",
    seed: int = 0,
) -> Graph:
    """Recursive-matrix graph of n vertices, some of which belong to dense clusters, too.

    The vertices of a cluster are anywhere among the n; no vertex belongs to two. Left as they are,
    the parameters make a graph of 49,152 vertices, 16,384 of them in clusters, and 25.6 million
    edges.

    Parameters
    ----------
    n : int
        Number of vertices.
    edge_factor : int
        Edges drawn from the recursive matrix for each vertex.
    clusters : int
        Number of clusters.
    cluster_size : int
        Vertices of each.
    density : float
        Chance of every pair of vertices of a cluster to be an edge, from 0 to 1.
    weights, seed
        As of :func:`clmst.generate`.

    Notes
    -----
    Source: the workload of Ma and Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum
    Spanning Tree Computation", section 4.3, whose clusters have more than half of the edges that
    they can have; the sizes of single clusters are ours. The sparse edges are those of
    :func:`rmat` that join vertices below n. O(n edge_factor log n + clusters cluster_size**2).
    """
    n = check_integer("n", n, low=0)
    edge_factor = check_integer("edge_factor", edge_factor, low=0)
    clusters = check_integer("clusters", clusters, low=0)
    cluster_size = check_integer("cluster_size", cluster_size, low=1)
    check_number("density", density, low=0, high=1)
    if clusters * cluster_size > n:
        raise InvalidArgumentError(
            f"clusters * cluster_size is {clusters * cluster_size}; it must be at most n = {n}"
        )
    pairs = cluster_size * (cluster_size - 1) // 2
    check_sizes(vertices=n, edges=n * edge_factor + clusters * pairs)
    u, v = draw_below(n, n * edge_factor, GTGRAPH, Stream.named(seed, "clustered"))
    chosen = Stream.named(seed, "clustered pairs")
    members = Stream.named(seed, "clustered members")
    numbers = np.arange(clusters * cluster_size, dtype=np.uint64)
    names = members.permuted(numbers, n).astype(np.uint32).reshape(clusters, cluster_size)
    ends = [(u, v)]
    for k, own in enumerate(names):
        low, high = _some_pairs(chosen, k * pairs, cluster_size, density)
        ends.append((own[low], own[high]))
    u, v = (np.concatenate(part) for part in zip(*ends, strict=True))
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def _some_pairs(stream: Stream, first: int, size: int, chance: float) -> tuple[Array, Array]:
    """Return those pairs low < high of 0 .. size - 1 that a stream chooses, row by row.

    Its words from number `first` on belong to all pairs in turn.
    """
    lows, highs = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for low in range(size - 1):
        numbers = np.arange(first, first + size - 1 - low, dtype=np.uint64)
        first += numbers.size
        high = low + 1 + np.flatnonzero(stream.uniform(numbers) < chance)
        lows.append(np.full(high.size, low))
        highs.append(high)
    return np.concatenate(lows), np.concatenate(highs)
