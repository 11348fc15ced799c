"""Random graphs without coordinates: uniform, recursive-matrix, clustered and preferential.

The adjacency matrix of a recursive-matrix graph (R-MAT) is divided into quarters again and again.
For each edge, a quarter is chosen at random at every level.
"""

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
"""Probabilities (a, b, c) of the recursive matrix in GTgraph (Bader and Madduri, 2006)."""

_BLOCK = 1 << 14  # edges drawn at a time; their temporaries fit the second-level cache


def draw(
    count: int, scale: int, chances: Chances, stream: Stream, *, first: int = 0
) -> tuple[Array, Array]:
    """Draw `count` edges from a recursive matrix with 2**scale rows, and return arrays (u, v).

    `chances` are the probabilities of the upper left, upper right and lower left quarter. The edges
    have the numbers `first`, `first` + 1, ... and each edge depends only on its number and the
    stream. Self-loops and duplicates are included. O(count scale).
    """
    u, v = np.empty(count, np.uint32), np.empty(count, np.uint32)
    for start in range(0, count, _BLOCK):
        block = slice(start, min(start + _BLOCK, count))
        edges = np.arange(first + block.start, first + block.stop, dtype=np.uint64)
        u[block], v[block] = _descend(edges, scale, chances, stream)
    return u, v


def draw_below(n: int, count: int, chances: Chances, stream: Stream) -> tuple[Array, Array]:
    """Draw `count` edges from the first n rows and columns of a recursive matrix.

    `stream` gives the random numbers. The matrix is the smallest with at least n rows, whose number
    is a power of two. Edges outside the first n rows and columns are drawn too, but discarded. At
    least the fraction ``chances[0]`` of all edges is kept, so this probability must not be 0.
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
    """Choose the row and the column of each edge in a recursive matrix.

    At each of `scale` levels, a quarter of the matrix is chosen at random. `edges` are the numbers
    of the edges, which say where the random numbers of `stream` are read. The matrix has 2**scale
    rows. `chances` are the probabilities of the upper left, upper right and lower left quarter.
    Returns arrays (u, v) of uint32.
    """
    a, b, c = chances
    to_b, to_c, to_d = (np.uint32(min(int(p * 2.0**32), 2**32 - 1)) for p in (a, a + b, a + b + c))
    u, v = np.zeros(edges.size, np.uint32), np.zeros(edges.size, np.uint32)
    first_words = edges * np.uint64((scale + 1) // 2)
    for level in range(scale):
        if level % 2 == 0:  # one 64-bit word is enough for two levels
            words = stream.words(first_words + np.uint64(level // 2))
        draw = words.astype(np.uint32)
        words >>= np.uint64(32)
        lower = draw >= to_c
        right = (draw >= to_b) ^ lower ^ (draw >= to_d)
        u = (u << np.uint32(1)) | lower
        v = (v << np.uint32(1)) | right
    return u, v


_MAX_SCALE = 31  # levels of the recursive matrix; vertex numbers must fit into 32 bits


def random(
    *, n: int, average_degree: float = 8.0, weights: WeightChoice = "int", seed: int = 0
) -> Graph:
    """Uniform random graph G(n, m) with m = round(n average_degree / 2) distinct edges.

    Parameters
    ----------
    n : int
        Number of vertices.
    average_degree : float
        Average number of neighbours of a vertex, at most n - 1.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: Erdős and Rényi, "On random graphs I" (1959). The edges are the first m values of a
    random permutation of all pairs, so no pair is drawn twice. O(m log m).

    Examples
    --------
    >>> from clmst.generators import random
    >>> random(n=1000, average_degree=6)
    Graph(n_vertices=1000, n_edges=3000, weights=int32)
    """
    n = check_integer("n", n, low=0)
    check_number("average_degree", average_degree, low=0, high=max(n - 1, 0))
    m = min(round(n * average_degree / 2), n * (n - 1) // 2)
    check_sizes(vertices=n, edges=m)
    pairs = Stream.named(seed, "random").permuted(np.arange(m, dtype=np.uint64), n * (n - 1) // 2)
    # All pairs of the n vertices are numbered. Pair number k joins the vertex u = k mod n to the
    # vertex at the distance 1 + k div n from it on a ring. At each distance below n / 2, every
    # vertex u starts a pair. At the distance n / 2 only the vertices below n / 2 do, because the
    # numbers of the pairs end there.
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
    """Recursive-matrix (R-MAT) graph with 2**scale vertices and skewed degrees.

    ``edge_factor * 2**scale`` edges are drawn. The graph has fewer edges, because self-loops are
    dropped and duplicates merged.

    Parameters
    ----------
    scale : int
        Base-2 logarithm of the number of vertices.
    edge_factor : int
        Number of edges drawn per vertex.
    a, b, c : float
        Probabilities of the upper left, upper right and lower left quarter of the adjacency matrix.
        The lower right quarter gets the rest.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining" (2004). The
    defaults are taken from GTgraph (Bader and Madduri, 2006), without its noise. O(m (scale + log
    m)).

    Examples
    --------
    >>> from clmst.generators import rmat
    >>> rmat(scale=10).n_vertices
    1024
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
    """Graph500's Kronecker graph with 2**scale randomly numbered vertices and very skewed degrees.

    ``edge_factor * 2**scale`` edges are drawn. The graph has fewer edges, because self-loops are
    dropped and duplicates merged. Many vertices are isolated.

    Parameters
    ----------
    scale : int
        Base-2 logarithm of the number of vertices.
    edge_factor : int
        Number of edges drawn per vertex.
    a, b, c : float
        Probabilities of the upper left, upper right and lower left quarter of the adjacency matrix.
        The lower right quarter gets the rest.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: Leskovec, Chakrabarti, Kleinberg and Faloutsos, "Realistic, mathematically tractable
    graph generation and evolution, using Kronecker multiplication" (2005), with the parameters of
    the Graph500 benchmark (2010). O(m (scale + log m)).

    Examples
    --------
    >>> from clmst.generators import kronecker
    >>> kronecker(scale=10).n_vertices
    1024
    """
    n, u, v = _drawn(scale, edge_factor, (a, b, c), seed, "kronecker")
    names = Stream.named(seed, "kronecker names").permuted(np.arange(n, dtype=np.uint64), n)
    names = names.astype(np.uint32)  # 32 bits halve the cache lines to gather from
    return weighted_graph(n, names[u], names[v], weights=weights, seed=seed)


def preferential(
    *, n: int, edges_per_vertex: int = 4, weights: WeightChoice = "int", seed: int = 0
) -> Graph:
    """Preferential attachment: vertices join earlier ones with probability proportional to degree.

    The graph is connected. Duplicates are merged, so it has slightly fewer than (n - 1)
    edges_per_vertex edges.

    Parameters
    ----------
    n : int
        Number of vertices.
    edges_per_vertex : int
        Number of edges that each vertex except the first draws.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: Barabási and Albert, "Emergence of scaling in random networks" (1999), in the form of
    Sanders and Schulz, "Scalable generation of scale-free graphs" (2016). An edge copies a random
    end of a random earlier edge. If that end was itself a copy, the chain of copies is followed.
    O(m log m) expected.

    Examples
    --------
    >>> from clmst.generators import preferential
    >>> preferential(n=1000).n_vertices
    1000
    """
    n = check_integer("n", n, low=0)
    edges_per_vertex = check_integer("edges_per_vertex", edges_per_vertex, low=1)
    m = max(n - 1, 0) * edges_per_vertex
    check_sizes(vertices=n, edges=m)
    edges = np.arange(m, dtype=np.int64)
    v = 1 + edges // edges_per_vertex
    # The ends of all edges are numbered. End 2 e of edge e is the vertex that draws the edge. End
    # 2 e + 1 is the vertex to which it is joined: a copy of a random end of an edge that an earlier
    # vertex has drawn. Vertex 1 can only be joined to vertex 0, since its edges are the first. The
    # number -2 stands for vertex 0, because 1 + (-2 >> 1) // edges_per_vertex is 0.
    earlier_ends = 2 * edges_per_vertex * (v - 1)
    copied = Stream.named(seed, "preferential").below(edges, np.maximum(earlier_ends, 1))
    copied = np.where(earlier_ends == 0, -2, copied.astype(np.int64))
    u = np.where(copied & 1, ~(copied >> 1), 1 + (copied >> 1) // edges_per_vertex)
    resolve(u)
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def _drawn(
    scale: int, edge_factor: int, chances: Chances, seed: int, name: str
) -> tuple[int, Array, Array]:
    """Check the parameters of a recursive matrix, and draw the edges.

    The matrix has 2**scale rows, for each of which `edge_factor` edges are drawn. `chances` are the
    probabilities of the upper left, upper right and lower left quarter. `seed` and `name` determine
    the random numbers. Returns (number of vertices, u, v).
    """
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
    """Recursive-matrix graph of n vertices, some of which also belong to dense clusters.

    The members of a cluster are chosen at random among the n vertices, and each vertex belongs to
    one cluster at most. With the default parameters the graph has 49,152 vertices, 16,384 of them
    in clusters, and 25.6 million edges.

    Parameters
    ----------
    n : int
        Number of vertices.
    edge_factor : int
        Number of edges drawn from the recursive matrix per vertex.
    clusters : int
        Number of clusters.
    cluster_size : int
        Number of vertices in each cluster.
    density : float
        Probability that two vertices of a cluster are joined by an edge, from 0 to 1.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: the workload of Ma and Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum
    Spanning Tree Computation", section 4.3. Its clusters have more than half of all possible edges.
    The paper does not give the sizes of single clusters, which are our choice. The sparse edges are
    drawn as in :func:`rmat`, keeping those that join vertices below n. O(n edge_factor log n +
    clusters cluster_size**2).

    Examples
    --------
    >>> from clmst.generators import clustered
    >>> clustered(n=1000, cluster_size=50).n_vertices
    1000
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
    """Choose pairs of the numbers 0, 1, ..., size - 1, each with the probability `chance`.

    Returns arrays (low, high), where low[i] < high[i], sorted by low and then by high. The random
    number of `stream` at the position `first` decides about the first pair, and each following
    number about the next pair.
    """
    lows, highs = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for low in range(size - 1):
        numbers = np.arange(first, first + size - 1 - low, dtype=np.uint64)
        first += numbers.size
        high = low + 1 + np.flatnonzero(stream.uniform(numbers) < chance)
        lows.append(np.full(high.size, low))
        highs.append(high)
    return np.concatenate(lows), np.concatenate(highs)
