"""Find dense parts of a graph: sets of vertices in which at least half of all pairs are edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.core.graph import Graph
from clmst.core.weight_keys import Array

# A dense part is a set of vertices in which at least half of all pairs are edges. The search for
# one begins with a vertex a. It puts a vertex b into the part if at least this fraction of a's
# neighbours are also neighbours of b. (In a part in which the fraction p of all pairs are edges,
# two vertices share about the fraction p of their neighbours, so 1/4 is safely below.)
_SHARED = 1 / 4
# The search for dense parts ends after this number of vertices in a row from which no dense part
# was found.
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Disjoint sets of vertices, numbered from 0 to `count` - 1.

    A vertex may be in no set.
    """

    labels: Array  # int32, shape (n,): the cluster of each vertex, or -1
    count: int


def dense_parts(edges: Graph, cores: Array, *, least: int, most: int) -> Clusters:
    """Find disjoint sets of `least` to `most` vertices, at least half of whose pairs are edges.

    Each try begins with a vertex v, and collects all vertices that are adjacent to at least a
    quarter of v's neighbours. The set is accepted if at least half of its pairs are edges. The
    vertices to begin with are tried in descending order of their core numbers, which `cores` gives,
    shape (n,). A dense set of k vertices contains a vertex whose core number is at least
    (k - 1) / 4, so vertices of lower core numbers are not tried.

    Each try takes O(n + m) time. The search ends after _TRIES tries in a row have found no set.
    """
    labels = np.full(edges.n_vertices, -1, np.int32)
    lowest = max(-(-(least - 1) // 4), 1)
    kept = np.flatnonzero((cores[edges.rows] >= lowest) & (cores[edges.indices] >= lowest))
    u, v = edges.rows[kept], edges.indices[kept]
    # The search for a dense part (a set of vertices with edges between most of them) may begin at
    # any vertex with a core number of at least `lowest`. `left` has the core numbers of these
    # vertices, and -1 for all others.
    left = np.where(cores >= lowest, cores.astype(np.int64), -1)
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
    """Return a mask, shape (n,), of the vertices that may form a dense part together with `vertex`.

    They are `vertex` itself, and all vertices that are adjacent to at least the fraction _SHARED of
    the neighbours of `vertex`. (u[i], v[i]) are the edges of the graph, and `n` is its number of
    vertices.
    """
    near = np.zeros(n, bool)
    near[v[u == vertex]] = True
    near[u[v == vertex]] = True
    n_near = np.count_nonzero(near)
    shared = np.bincount(u[near[v]], minlength=n)
    shared += np.bincount(v[near[u]], minlength=n)
    part = shared >= max(_SHARED * n_near, 1)
    part[vertex] = True
    return part
