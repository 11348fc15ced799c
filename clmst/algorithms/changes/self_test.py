"""The self-test of a forest that stays on a device while edges come and go."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clmst.algorithms.changes.kept import FOREST, FRESH, MARKED, PRESENT, KeptForest, StoredRows
from clmst.core.graph import Graph
from clmst.core.known_graphs import known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array, order_keys
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Answer, Case
from clmst.runtime.launcher import Launcher

_CHANGES = 4
_SEED = 11


def known_changes(device: Device, case: Case) -> Iterator[Answer]:
    """Test the family "kept-forest": delete, insert and change edges of a known graph.

    `case` has the dtype of weights. Yields, after each change, which rows are in the forest beside
    those that the oracle puts there.
    """
    ranks = known_graph("small").ranks
    u, v, values, _ = ranks.edges()
    weights, rng = weights_of(values, case.dtype), np.random.default_rng(_SEED)
    m, n = u.size, ranks.n_vertices
    u, v = np.minimum(u, v).astype(np.uint32), np.maximum(u, v).astype(np.uint32)
    present = rng.random(m) < 0.9
    in_forest = _forest(n, u, v, weights, present)
    launch = Launcher(device, device.queue)
    flags = PRESENT * present.astype(np.uint8) + FOREST * in_forest.astype(np.uint8)
    kept = KeptForest(n, (u, v, weights, flags.astype(np.uint8)), device, launch)
    for number in range(_CHANGES):
        some = rng.choice(m, m >> 3 * (number % 2), replace=False)[: m // 4]
        after, now = weights.copy(), present.copy()
        after[some] = rng.permutation(weights)[some]
        now[some] = rng.random(some.size) < 0.7
        lost = some[in_forest[some] & ~(now[some] & (after[some] <= weights[some]))]
        fresh = some[~in_forest[some] & now[some] & (~present | (after < weights))[some]]
        lightened = some[in_forest[some] & now[some] & (after < weights)[some]]
        weights, present = after, now
        in_forest = in_forest.copy()
        in_forest[lost] = False
        flags = (PRESENT * present[some] + FOREST * in_forest[some]).astype(np.uint8)
        flags[np.isin(some, fresh)] |= FRESH
        flags[np.isin(some, np.concatenate((fresh, lost, lightened)))] |= MARKED
        rows = StoredRows(numbers=some, u=u[some], v=v[some], weights=weights[some], flags=flags)
        limits = [int(np.sort(order_keys(weights))[m // 8])] * (number > 1)
        found, _ = kept.change(rows, fresh.size, lost.size, limits, launch)
        in_forest[found] ^= True
        expected = _forest(n, u, v, weights, present)
        yield f"edges of the forest after change {number}", in_forest, expected


def _forest(n: int, u: Array, v: Array, weights: Array, present: Array) -> Array:
    """Return which rows are in the forest of the present rows, by the oracle."""
    rows = np.flatnonzero(present)
    graph = Graph.from_edges(u[rows], v[rows], weights[rows], n_vertices=n)
    found = np.zeros(u.size, np.bool_)
    found[rows[kruskal(graph).edge_ids]] = True
    return found
