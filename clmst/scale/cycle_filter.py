"""What keeps edges out of a stream's memory that cannot enter its forest."""

from __future__ import annotations

import numpy as np

from clmst.core.paths import Hierarchy
from clmst.core.weight_keys import Array, order_keys
from clmst.scale.edge_part import EdgePart

_ROWS_AT_ONCE = 1 << 14  # of a part; their arrays are used again, and stay in a core's cache


def without_loops(part: EdgePart) -> EdgePart:
    """Return a part without its self-loops."""
    loops = part.u == part.v
    return part.take(~loops) if loops.any() else part


class CycleFilter:
    """The cycle property by a bound: an edge heavier than all of the path between its ends is out.

    Every vertex knows the heaviest edge on its way to the top of its tree in a hierarchy of
    Borůvka's rounds. The path between two vertices lies on their two ways, so nothing on it is
    heavier than the greater of both. An edge within a tree that is heavier than that closes a cycle
    on which it is the heaviest. Edges as heavy as the bound stay, and the next reduction decides.

    Parameters
    ----------
    forest : EdgePart
        The present forest.
    n_vertices : int
    maximum : bool

    Notes
    -----
    O(n log n) to build, O(1) an edge: two look-ups for each end.
    """

    def __init__(self, forest: EdgePart, n_vertices: int, *, maximum: bool) -> None:
        self._maximum = maximum
        keys = order_keys(forest.weights, descending=maximum)
        order = np.argsort(keys, kind="stable")
        hierarchy = Hierarchy(n_vertices, forest.u[order], forest.v[order])
        self._trees = hierarchy.trees().astype(np.uint32)
        ranked = np.concatenate((np.zeros(1, keys.dtype), keys[order]))
        self._reaches: Array = ranked[hierarchy.reaches + 1]  # at a top: below all keys

    def kept(self, part: EdgePart) -> EdgePart:
        """Return the edges of a part that may still enter the forest. O(size)."""
        stays = np.empty(part.size, np.bool_)
        rows = max(1, min(_ROWS_AT_ONCE, part.size))
        u, v = np.empty((2, rows), np.intp)
        bound, other = np.empty((2, rows), self._reaches.dtype)
        for begin in range(0, part.size, rows):
            some = slice(begin, min(begin + rows, part.size))
            n = some.stop - begin
            u[:n], v[:n] = part.u[some], part.v[some]
            np.take(self._reaches, u[:n], out=bound[:n], mode="clip")
            np.take(self._reaches, v[:n], out=other[:n], mode="clip")
            np.maximum(bound, other, out=bound)
            keys = order_keys(part.weights[some], descending=self._maximum)
            np.less_equal(keys, bound[:n], out=stays[some])
            stays[some] |= self._trees[u[:n]] != self._trees[v[:n]]
        return part.take(np.flatnonzero(stays))
