"""What subjects are compared with: core numbers, merges and cuts in plain Python."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst import Forest
from clmst.core.weight_keys import Array
from tests.prove.sample import Sample


def core_numbers(sample: Sample) -> Array:
    """Return the core number of each vertex: the least degree is peeled off, over and over."""
    beside: list[list[int]] = [[] for _ in range(sample.n)]
    for a, b in zip(sample.u.tolist(), sample.v.tolist(), strict=True):
        if a != b:
            beside[a].append(b)
            beside[b].append(a)
    degree = [len(one) for one in beside]
    waiting: list[list[int]] = [[] for _ in range(max(degree, default=0) + 1)]
    for vertex, count in enumerate(degree):
        waiting[count].append(vertex)
    numbers, level = [-1] * sample.n, 0
    while level < len(waiting):
        if not waiting[level]:
            level += 1
            continue
        vertex = waiting[level].pop()
        if numbers[vertex] >= 0:
            continue
        numbers[vertex] = level
        for other in beside[vertex]:
            if numbers[other] < 0 and degree[other] > level:
                degree[other] -= 1
                waiting[degree[other]].append(other)
    return np.array(numbers, np.uint32)


@dataclass(frozen=True, kw_only=True, eq=False)
class Merged:
    """The merges of a forest; merge i makes node n + i.

    Attributes
    ----------
    n : int
    children : ndarray of uint32, shape (n - 1, 2)
    heights : ndarray of float64, shape (n - 1,)
    sizes : ndarray of uint32, shape (n - 1,)
    """

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

    def root(x: int) -> int:
        while above[x] != x:
            above[x] = above[above[x]]
            x = above[x]
        return x

    def join(a: int, b: int) -> None:
        a, b = root(a), root(b)
        children.append((min(node[a], node[b]), max(node[a], node[b])))
        above[b] = a
        size[a] += size[b]
        node[a] = n + len(sizes)
        sizes.append(size[a])

    for a, b in edges:
        join(a, b)
    for vertex in range(1, n):
        if root(vertex) != root(0):
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
    above = list(range(forest.n_vertices))

    def root(x: int) -> int:
        while above[x] != x:
            x = above[x]
        return x

    for edge in forest.edges[joined].tolist():
        a, b = sorted(map(root, edge))
        above[b] = a
    roots = [root(x) for x in range(forest.n_vertices)]
    found: Array = np.unique(roots, return_inverse=True)[1]
    return found


def path_between(edges: list[tuple[int, int]], a: int, b: int) -> list[int]:
    """Return which edges of a forest are on the path between two vertices of one tree."""
    beside: dict[int, list[tuple[int, int]]] = {}
    for index, (x, y) in enumerate(edges):
        beside.setdefault(x, []).append((y, index))
        beside.setdefault(y, []).append((x, index))
    came: dict[int, tuple[int, int]] = {a: (a, -1)}
    waiting = [a]
    while waiting and b not in came:
        x = waiting.pop()
        for y, index in beside.get(x, []):
            if y not in came:
                came[y] = (x, index)
                waiting.append(y)
    found = []
    while b != a:
        b, index = came[b]
        found.append(index)
    return found
