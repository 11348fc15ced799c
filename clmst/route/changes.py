"""Choose how a dynamic forest is updated after it has lost edges.

Either the trees that remain are joined again, or all present edges are solved anew.
"""

from __future__ import annotations

from clmst.route.limits import LIMITS


def keeps_trees(n_forest: int, n_lost: int) -> bool:
    """Return whether a forest that loses edges is completed from the trees that remain.

    Otherwise all present edges are solved anew. `n_forest` is the number of edges of the forest
    before, and `n_lost` the number of edges that it loses.
    """
    return n_lost * LIMITS.forest_per_lost_edge <= n_forest
