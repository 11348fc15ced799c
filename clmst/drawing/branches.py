"""How much of a tree hangs on each of its edges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from clmst.core.forest import Forest


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
    O(n): one breadth-first search over all trees, then sums from the leaves up. The result does
    not depend on the roots.
    """
    n = forest.n_vertices
    if forest.n_edges == 0:
        return np.zeros(0, np.int64)
    u, v = forest.edges.astype(np.int32).T  # csgraph of older SciPy takes no others
    labels = forest.labels
    roots = np.unique(labels, return_index=True)[1]
    # Vertex n joins all the trees, so that one search visits them all.
    rows = np.concatenate([u, np.full(roots.size, n, np.int32)])
    columns = np.concatenate([v, roots.astype(np.int32)])
    ones = np.ones(rows.size, np.int8)
    joined = sparse.coo_array((ones, (rows, columns)), shape=(n + 1, n + 1)).tocsr()
    order, parents = breadth_first_order(joined, n, directed=False)
    parent = parents.tolist()
    below = [1] * (n + 1)
    for vertex in order[:0:-1].tolist():  # all but the first, the leaves of the search first
        below[parent[vertex]] += below[vertex]
    hanging = np.asarray(below[:n])[np.where(parents[v] == u, v, u)]
    return np.asarray(np.minimum(hanging, np.bincount(labels)[labels[u]] - hanging))
