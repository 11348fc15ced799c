"""Choose how a dynamic forest is updated after a change of its edges.

Either its edges stay on the device, which contracts what a change leaves open; or edges are
uploaded for each solve. Then, after a loss, either the trees that remain are joined again, or all
present edges are solved anew.
"""

from __future__ import annotations

from clmst.route.facts import DeviceFacts, Way
from clmst.route.limits import LIMITS
from clmst.route.records import KEPT


def stays_on_device(n_edges: int, device: DeviceFacts) -> bool:
    """Return whether the edges of a dynamic forest stay in the memory of the device.

    `n_edges` is the number of stored edges.
    """
    return not device.alone and n_edges >= LIMITS.resident_forest


def way_of_change(n_lost: int, n_new: int, n_open: int) -> Way:
    """Return the way of a change on the device, with the reason.

    The forest has lost `n_lost` edges, `n_new` edges are new or became lighter, and `n_open` edges
    were contracted.
    """
    because = f"{n_lost:,} edges lost, {n_new:,} new or lighter; {n_open:,} edges contracted"
    return Way(KEPT, because)


def shares_of_passes(n_lost: int, n_edges: int) -> list[float]:
    """Return up to which shares of the weights of all edges lost edges are first replaced.

    The shares rise, and a pass over all edges follows. `n_lost` is the number of edges that a
    forest has lost, and `n_edges` the number of all edges.
    """
    shares = list[float]()
    share = LIMITS.edges_per_lost_edge * n_lost / max(n_edges, 1)
    while n_lost >= LIMITS.lost_at_once and 0 < share <= _MOST_SHARE:
        shares.append(share)
        share *= _GROWTH
    return shares


def repeats_pass(n_joined: int, n_missing: int) -> bool:
    """Return whether another pass over the same light edges follows a pass.

    The pass has replaced `n_joined` lost edges, and `n_missing` are not replaced yet.
    """
    return n_joined > n_missing


# Lost edges are first looked for among the lightest edges, because a pass over all edges takes
# long. A pass looks at the edges up to some share of the weights. _MOST_SHARE is the greatest share
# for which this is tried, and _GROWTH the factor from one share to the next.
_MOST_SHARE, _GROWTH = 1 / 16, 8


def keeps_trees(n_forest: int, n_lost: int) -> bool:
    """Return whether a forest that loses edges is updated by joining the trees that remain.

    Otherwise the forest of all edges of the graph is computed anew. `n_forest` is the number of
    edges of the forest before the change, and `n_lost` the number of edges that it loses.
    """
    return n_lost * LIMITS.forest_per_lost_edge <= n_forest
