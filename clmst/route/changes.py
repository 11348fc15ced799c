"""Choose how a dynamic forest, whose graph changes, is updated after it has lost edges.

Either the trees that remain are joined again, or the forest of all edges of the graph is computed
anew.
"""

from __future__ import annotations

from clmst.route.limits import LIMITS


def keeps_trees(n_forest: int, n_lost: int) -> bool:
    """Return whether a forest that loses edges is updated by joining the trees that remain.

    Otherwise the forest of all edges of the graph is computed anew. `n_forest` is the number of
    edges of the forest before the change, and `n_lost` the number of edges that it loses.
    """
    return n_lost * LIMITS.forest_per_lost_edge <= n_forest
