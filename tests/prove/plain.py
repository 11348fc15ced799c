"""What subjects are compared with: merges in plain Python, and SciPy's components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clmst import Forest
from clmst.core.weight_keys import Array
from tests.forests import root


@dataclass(frozen=True, kw_only=True, eq=False)
class Merged:
    """The merges of a forest; merge i makes node n + i."""

    n: int
    children: npt.NDArray[np.uint32]
    heights: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.uint32]

    def linkage(self) -> Array:
        """Return SciPy's linkage matrix."""
        return np.column_stack((self.children, self.heights, self.sizes)).astype(np.float64)


def merges(forest: Forest) -> Merged:
    """Return the merges in the order of edges; in the end each tree joins that of vertex 0."""
    n = forest.n_vertices
    order = np.argsort(forest.weights, kind="stable")
    edges = forest.edges[order].tolist()
    heights = forest.weights[order].astype(np.float64).tolist()
    above, node, size = list(range(n)), list(range(n)), [1] * n
    children: list[tuple[int, int]] = []
    sizes: list[int] = []

    def join(a: int, b: int) -> None:
        a, b = root(above, a), root(above, b)
        children.append((min(node[a], node[b]), max(node[a], node[b])))
        above[b] = a
        size[a] += size[b]
        node[a] = n + len(sizes)
        sizes.append(size[a])

    for a, b in edges:
        join(a, b)
    for vertex in range(1, n):
        if root(above, vertex) != root(above, 0):
            join(0, vertex)
            heights.append(np.inf)
    return Merged(
        n=n,
        children=np.array(children, np.uint32).reshape(-1, 2),
        heights=np.array(heights, np.float64),
        sizes=np.array(sizes, np.uint32),
    )


def labels_at(forest: Forest, joined: Array) -> Array:
    """Return the components that some edges of a forest make, numbered by their least vertices."""
    n, (u, v) = forest.n_vertices, forest.edges[joined].T
    matrix = sparse.coo_array((np.ones(u.size), (u, v)), shape=(n, n))
    found: Array = connected_components(matrix, directed=False)[1]
    return found
