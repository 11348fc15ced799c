"""A forest that takes one edge at a time, on the host: which edge leaves for each one that comes.

The structure has the connectivity of the forest and the heaviest edge of every path, but not its
paths. Each vertex has a random priority, and an edge to a vertex of higher priority, its *parent*.
The edges become heavier towards the root. A new edge climbs from both ends past all lighter edges.
It then takes the place of the edge of the end that has the lower priority, and the replaced edge
goes on in the same way. If both ends meet, the edge in hand is the heaviest of the cycle that the
new edge has closed.

The parent of a vertex is the vertex of highest priority in the first component of Kruskal's
algorithm in which that priority is not its own. Priorities are random, so the expected number of
steps to the root is O(log n).
"""

from __future__ import annotations

import random
from typing import Any, TypeAlias

Order: TypeAlias = tuple[Any, int, int, int]  # weight, lesser end, greater end, row: the edge order


class OneByOne:
    """The forest of the edges that have been added.

    Each vertex takes some 150 bytes.
    """

    def __init__(self, n_vertices: int) -> None:
        self._parents = list(range(n_vertices))
        self._edges: list[Order | None] = [None] * n_vertices  # the edge to the parent
        self._priorities = list(range(n_vertices))
        # The order of priorities changes only the time of later calls. The fixed seed makes the
        # order the same in each run.
        random.Random(0).shuffle(self._priorities)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self._parents)

    def add(self, edge: Order) -> Order | None:
        """Add an edge. Return the edge that the forest does not contain any longer, or None.

        The result is `edge` itself if that does not enter the forest. O(log n) expected time.
        """
        parents, edges, priorities = self._parents, self._edges, self._priorities
        u, v = edge[1], edge[2]
        in_hand: Order | None = edge
        while u != v and in_hand is not None:
            while (other := edges[u]) is not None and other < in_hand:
                u = parents[u]
            while (other := edges[v]) is not None and other < in_hand:
                v = parents[v]
            if u == v:
                break
            if priorities[u] > priorities[v]:
                u, v = v, u
            parents[u], v = v, parents[u]
            edges[u], in_hand = in_hand, edges[u]
        return in_hand
