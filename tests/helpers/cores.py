"""Core numbers by definition, where parallel edges count.

Results of devices are compared with them.
"""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from clmst import Graph
from clmst.core.weight_keys import Array


def peel(graph: Graph) -> npt.NDArray[np.uint32]:
    """Return the core numbers of a graph."""
    return core_numbers(graph.n_vertices, *graph.edges()[:2])


def core_numbers(n: int, u: Array, v: Array) -> npt.NDArray[np.uint32]:
    """Return core numbers, by removing a vertex of minimum degree again and again."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for a, b in zip(u.tolist(), v.tolist(), strict=True):
        if a != b:
            neighbours[a].append(b)
            neighbours[b].append(a)
    degrees = [len(row) for row in neighbours]
    queue = [(degree, vertex) for vertex, degree in enumerate(degrees)]
    heapq.heapify(queue)
    cores, level = np.zeros(n, np.uint32), 0
    gone = [False] * n
    while queue:
        degree, vertex = heapq.heappop(queue)
        if gone[vertex] or degree > degrees[vertex]:
            continue
        gone[vertex] = True
        cores[vertex] = level = max(level, degree)
        for other in neighbours[vertex]:
            degrees[other] -= 1
            if not gone[other]:
                heapq.heappush(queue, (degrees[other], other))
    return cores
