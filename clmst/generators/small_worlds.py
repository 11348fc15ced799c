"""Small-world graphs: rings with rewired edges, and cliques joined by distance."""

from __future__ import annotations

import numpy as np

from clmst.core.arguments import check_number
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.generators.edges import WeightChoice, check_integer, check_sizes, weighted_graph
from clmst.generators.hashing import Stream


def watts_strogatz(
    *,
    n: int,
    neighbours: int = 8,
    rewired: float = 0.1,
    weights: WeightChoice = "int",
    seed: int = 0,
) -> Graph:
    """Ring in which vertices are joined to their nearest neighbours, with some edges rewired.

    A rewired edge keeps its first vertex and ends at a random one. Self-loops are dropped and
    duplicates merged, so a few edges are lost.

    Parameters
    ----------
    n : int
        Number of vertices.
    neighbours : int
        Number of nearest vertices to which each vertex is joined, an even number below n.
    rewired : float
        Probability that an edge is rewired, from 0 to 1.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: Watts and Strogatz, "Collective dynamics of 'small-world' networks" (1998). O(m log m),
    where m = n neighbours / 2.

    Examples
    --------
    >>> from clmst.generators import watts_strogatz
    >>> watts_strogatz(n=1000).n_vertices
    1000
    """
    n = check_integer("n", n, low=1)
    neighbours = check_integer("neighbours", neighbours, low=0, high=n - 1)
    if neighbours % 2:
        raise InvalidArgumentError(f"neighbours is {neighbours}; it must be even")
    check_number("rewired", rewired, low=0, high=1)
    half = neighbours // 2
    check_sizes(vertices=n, edges=n * half)
    u = np.repeat(np.arange(n, dtype=np.int64), half)
    v = (u + np.tile(np.arange(1, half + 1, dtype=np.int64), n)) % n
    moved = Stream.named(seed, "watts_strogatz").uniform(u.size) < rewired
    elsewhere = Stream.named(seed, "watts_strogatz ends").below(np.flatnonzero(moved), n)
    v[moved] = elsewhere.astype(np.int64)
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def ssca2(
    *,
    n: int,
    largest_clique: int = 22,
    between: float = 0.5,
    weights: WeightChoice = "int",
    seed: int = 0,
) -> Graph:
    """Cliques of random sizes, which are joined less often the farther apart they are (SSCA#2).

    The cliques form a ring. Each vertex has an edge to a random vertex of the next clique with
    probability `between`, to the second next clique with half of that probability, to the fourth
    with a quarter, and so on. Vertices are numbered at random. The average degree is about ``2 / 3
    * (largest_clique - 1) + 4 * between``.

    Parameters
    ----------
    n : int
        Number of vertices.
    largest_clique : int
        Maximum number of vertices in a clique. Sizes are uniform from 1 to this number.
    between : float
        Probability of an edge from a vertex to the next clique, from 0 to 1.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: Bader and Madduri, "Design and Implementation of the HPCS Graph Analysis Benchmark on
    Symmetric Multiprocessors" (2005), and their GTgraph, whose default probability is 0.5 and whose
    largest clique has ``2 ** (log2(n) / 3)`` vertices. Unlike theirs, this graph is undirected and
    without parallel edges. O(n (largest_clique + log n)).

    Examples
    --------
    >>> from clmst.generators import ssca2
    >>> ssca2(n=1000).n_vertices
    1000
    """
    n = check_integer("n", n, low=0)
    largest = check_integer("largest_clique", largest_clique, low=1)
    check_number("between", between, low=0, high=1)
    check_sizes(vertices=n, edges=n * ((largest - 1) // 2 + 2))
    starts = _clique_starts(n, largest, Stream.named(seed, "ssca2"))
    ends = np.append(starts[1:], n)
    clique = np.repeat(np.arange(starts.size), ends - starts)
    vertices = np.arange(n, dtype=np.int64)
    inside = ends[clique] - vertices - 1  # number of members after this one
    first = np.cumsum(inside) - inside
    u = np.repeat(vertices, inside)
    v = u + 1 + np.arange(u.size, dtype=np.int64) - np.repeat(first, inside)
    pairs = [(u, v)]
    tosses, places = Stream.named(seed, "ssca2 chances"), Stream.named(seed, "ssca2 ends")
    for level in range(max(starts.size - 1, 0).bit_length()):
        numbers = np.arange(level * n, (level + 1) * n, dtype=np.uint64)
        from_ = np.flatnonzero(tosses.uniform(numbers) < between / (1 << level))
        to = (clique[from_] + (1 << level)) % starts.size
        places_in = places.below(numbers[from_], ends[to] - starts[to]).astype(np.int64)
        pairs.append((from_, starts[to] + places_in))
    names = Stream.named(seed, "ssca2 names").permuted(np.arange(n, dtype=np.uint64), n)
    u, v = (names[np.concatenate(part)] for part in zip(*pairs, strict=True))
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def _clique_starts(n: int, largest: int, stream: Stream) -> Array:
    """Divide the vertices 0, ..., n - 1 into cliques, and return the first vertex of each.

    A clique is a range of vertices. Its size is uniformly random from 1 to `largest`, except that
    the last clique may have to be smaller. `stream` gives the random numbers.
    """
    starts, stop, drawn = [np.zeros(0, np.int64)], 0, 0
    while stop < n:
        count = 2 * (n - stop) // (largest + 1) + 1
        counters = np.arange(drawn, drawn + count, dtype=np.uint64)
        sizes = stream.below(counters, largest).astype(np.int64) + 1
        starts.append(stop + np.cumsum(sizes) - sizes)
        stop, drawn = stop + int(sizes.sum()), drawn + count
    every = np.concatenate(starts)
    return every[every < n]
