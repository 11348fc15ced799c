"""Dense parts of a graph: sets of vertices with at least half of all pairs among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.core.graph import Graph
from clmst.core.weight_keys import Array

# The share of a vertex's neighbours that the vertices of its part have, too. Where pairs are edges
# with probability p, two vertices of a part share p of their neighbours, and p is 1/2 or more.
_SHARED = 1 / 4
# After so many vertices in a row without a dense part no further one is looked for.
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Disjoint sets of vertices."""

    labels: Array  # int32: the cluster of each vertex; -1 if it is in none
    count: int


def dense_parts(edges: Graph, cores: Array, *, least: int, most: int) -> Clusters:
    """Find parts of at least `least` vertices, and at most `most`, with half of all pairs as edges.

    The part of a vertex is all vertices that have a quarter of its neighbours. Vertices are tried
    as their core numbers fall: a part of k vertices with half of all pairs has a vertex whose core
    number is (k - 1) / 4 or more, so lower ones are left out. O(n + m) for each vertex that is
    tried: one for each part, and _TRIES more. `cores` are the core numbers of all vertices.
    """
    labels = np.full(edges.n_vertices, -1, np.int32)
    lowest = max(-(-(least - 1) // 4), 1)
    kept = np.flatnonzero((cores[edges.rows] >= lowest) & (cores[edges.indices] >= lowest))
    u, v = edges.rows[kept], edges.indices[kept]
    left = np.where(cores >= lowest, cores.astype(np.int64), -1)  # of vertices that may be tried
    count = failures = 0
    while failures < _TRIES and left.size and left.max() >= lowest:
        part = _part_of(int(left.argmax()), edges.n_vertices, u, v)
        size, inside = int(np.count_nonzero(part)), part[u] & part[v]
        left[part] = -1
        if not least <= size <= most or 4 * np.count_nonzero(inside) < size * (size - 1):
            failures += 1
            continue
        labels[part] = count
        count, failures = count + 1, 0
        apart = ~(part[u] | part[v])
        u, v = u[apart], v[apart]
    return Clusters(labels=labels, count=count)


def _part_of(vertex: int, n: int, u: Array, v: Array) -> Array:
    """Return whether each vertex has enough of a vertex's neighbours; true for itself."""
    near = np.zeros(n, bool)
    near[v[u == vertex]] = True
    near[u[v == vertex]] = True
    n_near = np.count_nonzero(near)
    shared = np.bincount(u[near[v]], minlength=n)
    shared += np.bincount(v[near[u]], minlength=n)
    part = shared >= max(_SHARED * n_near, 1)
    part[vertex] = True
    return part
