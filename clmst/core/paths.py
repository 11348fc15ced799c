"""Paths between the vertices of a forest, and the heaviest edge on each path.

The method is from V. King, "A simpler minimum spanning tree verification algorithm",
Algorithmica 18 (1997).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.core.threads import chosen, gathered, in_threads, slices
from clmst.core.weight_keys import Array

# With this number of edges or more, the threads of all cores find components. SciPy uses one core.
_EDGES_FOR_THREADS = 1 << 18
_AT_ONCE = 1 << 18  # entries that a thread takes at a time


def ends_of_paths(above: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return, for each node, the end of the path that begins at the node. Takes O(n log n) time.

    `above` has the next node after each node. The last node of a path is its own next node.
    """
    while True:
        further = above[above]
        if np.array_equal(further, above):
            return above
        above = further


def components(n: int, u: Array, v: Array) -> tuple[int, npt.NDArray[np.int32]]:
    """Return the number of connected components, and the component of each of `n` vertices.

    The edges are (u[i], v[i]). Components are numbered in the order of their least vertices.
    """
    if u.size >= _EDGES_FOR_THREADS:
        return components_by_threads(n, u, v)
    from scipy import sparse  # takes a quarter of a second
    from scipy.sparse.csgraph import connected_components

    matrix = sparse.coo_array((np.ones(u.size, np.int32), (u, v)), shape=(n, n)).tocsr()
    count, labels = connected_components(matrix, directed=False)
    return int(count), labels


def components_by_threads(n: int, u: Array, v: Array) -> tuple[int, npt.NDArray[np.int32]]:
    """Find the connected components as :func:`components` does, by the threads of all cores.

    Notes
    -----
    In each round every vertex points to a neighbour that precedes it, if there is one, and all
    vertices that lead to the same vertex become one vertex of the next round. Vertices are in the
    order of their numbers. If that joins few of them, as when the greatest number is the centre of
    a star, the next round uses a random order. A vertex with a neighbour precedes all its
    neighbours with a probability of at most one half, so there are O(log n) rounds. The rounds
    shrink quickly, and most of the time is spent in the first.
    """
    a, b = (end.astype(np.int32, copy=False) for end in (u, v))
    rounds, is_random = list[npt.NDArray[np.int32]](), False
    while a.size:
        n, above = _joined(n, a, b, seed=len(rounds) if is_random else None)
        rounds.append(above)
        a, b = gathered(above, a), gathered(above, b)
        before, (a, b) = a.size, chosen(a != b, a, b)
        is_random = 2 * a.size > before
    labels = rounds.pop() if rounds else np.arange(n, dtype=np.int32)
    while rounds:
        labels = gathered(labels, rounds.pop())
    return n, labels


def _joined(n: int, a: Array, b: Array, *, seed: int | None) -> tuple[int, npt.NDArray[np.int32]]:
    """Join each vertex to a neighbour that precedes it, for :func:`components_by_threads`.

    With a `seed` the order of the vertices is random. Otherwise they are in the order of their
    numbers. Returns the number of vertices of the next round, and the vertex of the next round of
    each of `n` vertices. These are numbered in the order of their least vertices.
    """
    numbers = np.arange(n, dtype=np.int32)
    above = numbers.copy()
    order = None if seed is None else np.random.default_rng(seed).permutation(n)

    def hook(some: slice) -> None:
        """Let the later end of each edge point to the earlier one. Threads may overwrite it."""
        x, y = a[some], b[some]
        is_first = x < y if order is None else order[x] < order[y]
        above[np.where(is_first, y, x)] = np.where(is_first, x, y)

    def jump(some: slice) -> bool:
        """Let vertices point twice as far. Pointers only ever move on, whatever threads read."""
        before = above[some]
        after = above[before]
        is_moved = bool((before != after).any())
        above[some] = after
        return is_moved

    in_threads(hook, slices(a.size, _AT_ONCE))
    while any(in_threads(jump, slices(n, _AT_ONCE))):
        pass
    is_top = above == numbers
    if order is not None:  # the tops need not be the least vertices that lead to them
        least = np.full(n, n, np.int32)
        least[above[::-1]] = numbers[::-1]
        is_top = np.zeros(n + 1, bool)
        is_top[least] = True
        above, is_top = gathered(least, above), is_top[:n]
    parts = list(slices(n, _AT_ONCE))
    ends = np.cumsum([0, *in_threads(lambda some: np.count_nonzero(is_top[some]), parts)])

    def number(part: int) -> None:
        some = parts[part]
        np.cumsum(is_top[some], out=numbers[some])
        numbers[some] += ends[part] - 1

    in_threads(number, range(len(parts)))
    return int(ends[-1]), gathered(numbers, above)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RootedForest:
    """A forest with a pointer from each vertex to its parent.

    Each tree is rooted at its least vertex.
    """

    parents: npt.NDArray[np.int32]  # the parent of each vertex, -1 for a root
    # Shape (n + 1,): the position of each vertex in a breadth-first search, which is greater than
    # the position of its parent.
    ranks: npt.NDArray[np.int32]

    @classmethod
    def of(cls, n: int, edges: Array, labels: Array) -> RootedForest:
        """Root each tree of a forest at the least vertex of the tree.

        `edges` has the shape (k, 2), and `labels` the tree of each of `n` vertices. O(n).
        """
        from scipy import sparse  # takes a quarter of a second
        from scipy.sparse.csgraph import breadth_first_order

        roots = np.zeros(int(labels.max(initial=-1)) + 1, np.int32)
        # Vertices are stored in descending order, so the least vertex of a tree is stored last.
        roots[labels[::-1]] = np.arange(n, dtype=np.int32)[::-1]
        # An additional vertex n, joined to all roots, makes the forest one tree for a single
        # search.
        u = np.concatenate([edges[:, 0].astype(np.int32), np.full(roots.size, n, np.int32)])
        v = np.concatenate([edges[:, 1].astype(np.int32), roots])
        ones = np.ones(u.size, np.uint8)
        tree = sparse.coo_array((ones, (u, v)), shape=(n + 1, n + 1)).tocsr()
        order, parents = breadth_first_order(tree, n, directed=False)
        ranks = np.empty(n + 1, np.int32)
        ranks[order] = np.arange(n + 1, dtype=np.int32)
        parents = parents[:n].astype(np.int32, copy=False)
        parents[parents == n] = -1
        return cls(parents=parents, ranks=ranks)

    def path(self, u: int, v: int) -> list[int]:
        """Return the vertices on the path from u to v, or [] if u and v are in different trees.

        Two pointers start at u and v. In each step, the pointer to the vertex of greater rank moves
        to the vertex's parent, because this vertex cannot be an ancestor of the other one.
        """
        ahead, behind = [u], [v]
        while (one := ahead[-1]) != (other := behind[-1]):
            climbing = ahead if self.ranks[one] > self.ranks[other] else behind
            above = int(self.parents[climbing[-1]])
            if above < 0:
                return []
            climbing.append(above)
        return ahead + behind[-2::-1]


class Hierarchy:
    """A data structure that finds the greatest rank of an edge on the path between two vertices.

    The structure is a tree of components, built by Borůvka's algorithm on the forest itself, with
    at most log2(n) levels. A node of a level is a component. Its parent is the component into which
    it is merged, and the pointer to the parent carries the rank of the edge that the component
    chose, which is the least rank of its edges. King's theorem: the greatest rank on the path
    between two vertices in the forest is the greatest rank on the pointers from both vertices up to
    their lowest common ancestor.

    Edge r of the forest joins a[r] and b[r]. Its position r in the order of weights is its rank.
    `reaches` contains, for each vertex, the greatest rank on the pointers from the vertex to the
    top, or -1 if there are none. If a path from the vertex has a greater rank, that rank is on the
    pointers of the other end.
    """

    def __init__(self, n: int, a: Array, b: Array) -> None:
        self._levels: list[tuple[Array, Array]] = []
        ranks, n_nodes = np.arange(a.size), n
        while a.size:
            edge = np.full(n_nodes, -1, np.int64)  # -1 if the tree is a single node already
            backwards = np.arange(a.size)[::-1]
            # Find the least edge at each node. If an index occurs several times in an assignment,
            # NumPy keeps the last value. Values are assigned in descending order, so the least one
            # is kept.
            edge[np.stack((a, b), axis=1)[::-1].ravel()] = np.repeat(backwards, 2)
            leaving = np.zeros(a.size, bool)
            leaving[edge[edge >= 0]] = True
            n_nodes, above = components(n_nodes, a[leaving], b[leaving])
            self._levels.append((np.where(edge < 0, -1, ranks[edge]), above))
            a, b = above[a], above[b]
            between = a != b
            ranks, a, b = ranks[between], a[between], b[between]
        self._n_trees = n_nodes
        self.reaches = np.full(n_nodes, -1, np.int64)
        for links, above in reversed(self._levels):
            self.reaches = np.maximum(links, self.reaches[above])

    def trees(self) -> npt.NDArray[np.int64]:
        """Return the number of the tree of each vertex, shape (n,). O(n).

        Two vertices have the same number if and only if they are in the same tree of the forest.
        """
        trees = np.arange(self._n_trees)
        for _, above in reversed(self._levels):
            trees = trees[above]
        return trees

    def last_ranks(self, x: Array, y: Array) -> npt.NDArray[np.int64]:
        """Return the greatest rank of an edge on the path between x[q] and y[q], for each q.

        The rank of an edge is its position when edges are sorted by weight. The two vertices of
        each pair must be different vertices of the same tree.
        """
        result, pairs = np.full(x.size, -1, np.int64), np.arange(x.size)
        for links, above in self._levels:
            result[pairs] = np.maximum(result[pairs], np.maximum(links[x], links[y]))
            x, y = above[x], above[y]
            apart = x != y
            pairs, x, y = pairs[apart], x[apart], y[apart]
            if not pairs.size:
                break
        return result
