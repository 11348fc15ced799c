"""The greatest edge on the path between two vertices of a forest.

After V. King, "A simpler minimum spanning tree verification algorithm", Algorithmica 18 (1997).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clmst.core.weight_keys import Array


def components(n: int, u: Array, v: Array) -> tuple[int, npt.NDArray[np.int32]]:
    """Return the number of components and the component of each of `n` vertices."""
    matrix = sparse.coo_array((np.ones(u.size), (u, v)), shape=(n, n)).tocsr()
    count, labels = connected_components(matrix, directed=False)
    return int(count), labels


class Hierarchy:
    """A structure that finds the greatest rank on the path between two vertices of a forest.

    Borůvka's algorithm on the forest itself gives at most log2(n) levels. A node is a component;
    its parent pointer carries the rank of the edge that it chose, the least of its edges. King: the
    greatest rank on the path between two vertices is the greatest on their two climbs to their
    lowest common ancestor.

    Parameters
    ----------
    n : int
    a, b : ndarray of int64
        Edge r of the forest is (a[r], b[r]): its position is its rank.

    Attributes
    ----------
    reaches : ndarray of int64, shape (n,)
        The greatest rank on the climb of each vertex to the top, -1 if it is the top. A greater
        rank on a path from the vertex can only be on the other end's climb.
    """

    def __init__(self, n: int, a: Array, b: Array) -> None:
        self._levels: list[tuple[Array, Array]] = []
        ranks, n_nodes = np.arange(a.size), n
        while a.size:
            edge = np.full(n_nodes, -1, np.int64)  # -1: this tree is one node already
            backwards = np.arange(a.size)[::-1]
            # If an index occurs twice, the last assignment wins, so the least rank stays.
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
        """Return the tree of each vertex, shape (n,): equal numbers within a tree only. O(n)."""
        trees = np.arange(self._n_trees)
        for _, above in reversed(self._levels):
            trees = trees[above]
        return trees

    def last_ranks(self, x: Array, y: Array) -> npt.NDArray[np.int64]:
        """Return, for each pair (x[q], y[q]), the greatest rank on the path between them.

        Both vertices of a pair are distinct and in one tree.
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
