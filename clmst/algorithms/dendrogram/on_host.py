"""Compute dendrograms, and HDBSCAN's condensed trees of clusters, on the host.

The results are equal, bit for bit, to the results of a device.
"""

from __future__ import annotations

import numpy as np

from clmst.algorithms.dendrogram.condense import CondensedTree, reciprocals
from clmst.core.paths import ends_of_paths
from clmst.core.weight_keys import Array

_NO_POINT = 0xFFFFFFFF  # CONDENSE_NONE of condense_steps.cl


def merge(n: int, edges: Array, order: Array) -> tuple[Array, Array]:
    """Build the dendrogram of a forest with `n` vertices.

    `edges` has the ends of the edges, shape (m, 2), and `order` the indices of the edges by rising
    weight. Returns the two nodes that each merge joins, uint32, shape (m, 2), the lesser node
    first, and the number of vertices below each merge, uint32, shape (m,). Vertices are the nodes 0
    to n - 1, and merge i is node n + i. The method is Kruskal's algorithm with disjoint sets. It
    takes nearly O(n) time, about a microsecond for each merge.
    """
    parents, nodes, sizes = list(range(n)), list(range(n)), [1] * n
    ends = edges[order].tolist()
    children, merged = [(0, 0)] * len(ends), [0] * len(ends)
    for number, (one, other) in enumerate(ends):
        u, v = one, other
        while parents[u] != u:
            parents[u] = u = parents[parents[u]]
        while parents[v] != v:
            parents[v] = v = parents[parents[v]]
        if sizes[u] < sizes[v]:
            u, v = v, u
        a, b = nodes[u], nodes[v]
        children[number] = (a, b) if a < b else (b, a)
        parents[v], nodes[u] = u, n + number
        sizes[u] += sizes[v]
        merged[number] = sizes[u]
    return (
        np.array(children, np.uint32).reshape(-1, 2),
        np.array(merged, np.uint32),
    )


def condense(children: Array, sizes: Array, heights: Array, least: int) -> CondensedTree:
    """Condense a dendrogram of one root and at least two vertices.

    `children` and `sizes` are results of :func:`merge`, and `heights` are the heights of the merges
    in rising order. `least` is the minimum number of points of a cluster, 2 or more.

    The steps are the same as in ``cl/algorithms/dendrogram/condense_steps.cl`` and take O(n log n)
    time. A merge of at least `least` points is large. If a merge joins two large merges, a cluster
    begins at each of the two. From every merge, pointer jumping finds the merge at which its
    cluster begins.
    """
    m = len(children)
    n, every = m + 1, np.arange(m)
    above = np.empty(n + m, np.int64)  # the merge above each node; the last merge is its own
    above[children.reshape(-1)] = np.repeat(every, 2)
    above[-1] = m - 1
    over = above[n:]
    is_large: Array = np.greater_equal(sizes, least)
    both = np.where(children >= n, children.astype(np.int64) - n, 0)
    is_split = np.array(((children >= n) & is_large[both]).all(axis=1))
    is_large[-1] = True
    begins = is_split[over] & is_large
    begins[-1] = True
    top = ends_of_paths(np.where(np.where(is_large, begins, is_large[over]), every, over))
    first = np.flatnonzero(begins)[::-1]  # clusters from the root down
    number = np.full(m, -1)
    number[first] = np.arange(first.size)
    k, large = first.size, np.flatnonzero(is_large)
    last = np.full(k, m)
    np.minimum.at(last, number[top[large]], large)
    parent = number[top[over[first]]]
    parent[0] = -1
    leaves_at = above[:n]
    leaves_at = np.where(is_large[leaves_at], leaves_at, over[top[leaves_at]])
    point_cluster = number[top[leaves_at]]
    least_point = np.full(k, _NO_POINT)
    np.minimum.at(least_point, point_cluster, np.arange(n))
    leaves, birth, death = (reciprocals(heights[at]) for at in (leaves_at, over[first], last))
    birth[0] = 0
    return CondensedTree(
        n_points=n, point_cluster=point_cluster, point_lambda=leaves, parent=parent, birth=birth,
        death=death, size=sizes[first].astype(np.int64), least_point=least_point,
    )  # fmt: skip
