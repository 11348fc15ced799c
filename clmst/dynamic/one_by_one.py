"""A forest to which edges are added one at a time, on the host.

For each added edge, it finds the edge that leaves the minimum spanning forest in exchange. For this
it has a rooted tree for each tree of the forest. Two vertices are in the same rooted tree if they
are in the same tree of the forest, and the heaviest edge on the path between them has the same
weight in both. The rest of the path may differ.

Each vertex has a random priority. Every vertex except a root has a *parent* of higher priority, and
stores the edge that links it to its parent. On the way to the root these edges become heavier.

To add an edge, start at its two ends, and go from each of them to its parent as long as the stored
edge is lighter than the new one. If both arrive at the same vertex, the new edge is the heaviest of
the cycle that it closes, and it does not enter the forest. Otherwise, of the two vertices that are
reached, the one of lower priority gets the other as its parent, and stores the new edge. If it had
a parent before, the edge to that parent has been replaced. It is then added in the same way,
starting at this vertex and its old parent, and so on. The edge that is replaced last leaves the
forest.

The rooted trees do not depend on the order in which edges are added. Let Kruskal's algorithm join
vertices to components, from the lightest edge to the heaviest. The parent of a vertex is the vertex
of highest priority in its component, at the first time at which this is not the vertex itself.
Priorities are random, so the expected number of steps to the root is O(log n).
"""

from __future__ import annotations

import random
from typing import Any, TypeAlias

Order: TypeAlias = tuple[Any, int, int, int]  # weight, lesser end, greater end, row: the edge order


class OneByOne:
    """The minimum spanning forest of the edges that have been added.

    Each vertex takes about 150 bytes.
    """

    def __init__(self, n_vertices: int) -> None:
        self._parents = list(range(n_vertices))
        self._edges: list[Order | None] = [None] * n_vertices  # the edge to the parent
        self._priorities = list(range(n_vertices))
        # The priorities affect only how long later calls take, not their results. The seed is
        # fixed, so that each run has the same priorities.
        random.Random(0).shuffle(self._priorities)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self._parents)

    def add(self, edge: Order) -> Order | None:
        """Add an edge, and return the edge that leaves the forest in exchange, or None.

        The result is `edge` itself if it does not enter the forest, and None if it connects two
        trees. The expected time is O(log n).
        """
        parents, edges, priorities = self._parents, self._edges, self._priorities
        u, v = edge[1], edge[2]
        in_hand: Order | None = edge  # the edge that is to be added, or None
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
