"""How much of a tree hangs on each of its edges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst.core.forest import Forest
from clmst.core.paths import RootedForest


def branch_sizes(forest: Forest) -> npt.NDArray[np.int64]:
    """Return, for each edge, the vertices on the smaller side of the tree when it is cut.

    Parameters
    ----------
    forest : Forest

    Returns
    -------
    ndarray of int64, shape (n_edges,)
        At least 1, at most half of the vertices of the edge's tree.

    Notes
    -----
    O(n log n): a breadth-first search from the roots, then sums from the leaves up. The result does
    not depend on the roots.
    """
    if forest.n_edges == 0:
        return np.zeros(0, np.int64)
    u, v = forest.edges.T
    labels = forest.labels
    rooted = RootedForest.of(forest.n_vertices, forest.edges, labels)
    parent = rooted.parents.tolist()
    below = [1] * (forest.n_vertices + 1)  # the last one is above the roots, whose parent is -1
    for vertex in np.argsort(-rooted.ranks[:-1]).tolist():  # leaves of the search first
        below[parent[vertex]] += below[vertex]
    hanging = np.asarray(below)[np.where(rooted.parents[v] == u, v, u)]
    return np.asarray(np.minimum(hanging, np.bincount(labels)[labels[u]] - hanging))
