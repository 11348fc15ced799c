"""Which of parallel edges a spanning forest can do without."""

from __future__ import annotations

import numpy as np

from clmst.core.weight_keys import Array, order_keys


def heavier(repeats: Array, positions: Array, weights: Array) -> Array:
    """Return all edges but the lightest of each run of parallel ones, the first one on a tie.

    Parameters
    ----------
    repeats : ndarray of bool, shape (m,)
        Whether an edge has the endpoints of the edge before it.
    positions : ndarray of int, shape (m,)
        Where the weight of each edge is in `weights`.
    weights : ndarray
        None of them NaN.
    """
    second = np.flatnonzero(repeats)
    if not (repeats[1:] & repeats[:-1]).any():  # runs of two
        ahead, behind = weights[positions[second - 1]], weights[positions[second]]
        return second - (behind < ahead)
    in_run = repeats.copy()
    in_run[:-1] |= repeats[1:]
    edges = np.flatnonzero(in_run)
    starts = ~repeats[edges]
    keys = order_keys(weights[positions[edges]])
    run = np.cumsum(starts) - 1
    lightest = np.minimum.reduceat(keys, np.flatnonzero(starts))
    candidates = np.flatnonzero(keys == lightest[run])
    first = np.ones(candidates.size, bool)
    first[1:] = run[candidates[1:]] != run[candidates[:-1]]
    others = np.ones(edges.size, bool)
    others[candidates[first]] = False
    found: Array = edges[others]
    return found
