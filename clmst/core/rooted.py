"""The trees of a forest from their roots: parents, and the path between two vertices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from clmst.core.weight_keys import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RootedForest:
    """A forest whose trees are rooted at their least vertices.

    Attributes
    ----------
    parents : ndarray of int32, shape (n,)
        The parent of each vertex; -1 of a root.
    ranks : ndarray of int32, shape (n + 1,)
        A rank of each vertex that is greater than its parent's.
    """

    parents: npt.NDArray[np.int32]
    ranks: npt.NDArray[np.int32]

    @classmethod
    def of(cls, n: int, edges: Array, labels: Array) -> RootedForest:
        """Root the trees of a forest; `labels` are the tree of each vertex. O(n)."""
        roots = np.zeros(int(labels.max(initial=-1)) + 1, np.int32)
        roots[labels[::-1]] = np.arange(n, dtype=np.int32)[::-1]  # the least one is the last stored
        # A vertex n above all roots makes the forest one tree, which one search goes through.
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
        """Return the vertices from u to v; empty if they are in different trees.

        The end of greater rank cannot be above the other one, so it is the one that climbs.
        """
        ahead, behind = [u], [v]
        while (one := ahead[-1]) != (other := behind[-1]):
            climbing = ahead if self.ranks[one] > self.ranks[other] else behind
            above = int(self.parents[climbing[-1]])
            if above < 0:
                return []
            climbing.append(above)
        return ahead + behind[-2::-1]
