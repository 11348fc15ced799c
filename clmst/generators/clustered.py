"""A skewed sparse graph with dense clusters in it."""

from __future__ import annotations

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.generators.checks import check_integer, check_number, check_sizes
from clmst.generators.edges import WeightChoice, weighted_graph
from clmst.generators.hashing import Stream
from clmst.generators.recursive_matrix import GTGRAPH, draw_below


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
    weights : {"int", "float", "equal", "rising", "ruler"}
        How edges are weighted.
    seed : int
        What all randomness follows from.

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
