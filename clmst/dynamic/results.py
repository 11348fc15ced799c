"""The results of a dynamic forest: its snapshot as a :class:`Forest`, and the order of its edges.

They are computed when they are first asked for, and kept until the next change.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import unchecked
from clmst.core.canonical import stable_order, upper_from_edges
from clmst.core.forest import Forest
from clmst.core.paths import Hierarchy
from clmst.dynamic.state import State


def snapshot(state: State) -> Forest:
    """Return the forest of a state, whose edges are in canonical order. O(n) the first time."""
    known: Forest | None = state.known.get("snapshot")
    if known is None:
        columns, rows = state.columns, state.forest
        u, v = columns.u[rows], columns.v[rows]
        order = upper_from_edges(state.n_vertices, u, v).positions
        edges = np.empty((rows.size, 2), np.int32 if state.n_vertices <= 1 << 31 else np.int64)
        edges[:, 0], edges[:, 1] = u[order], v[order]
        rows = rows[order]
        known = unchecked(
            Forest, n_vertices=state.n_vertices, _edges=edges, weights=columns.weights[rows],
            _edge_ids=columns.ids[rows], maximum=False, stats=dict(state.stats),
            vertex_labels=None,
        )  # fmt: skip
        state.known["snapshot"] = known
    return known


def path_maxima(
    state: State, u: npt.NDArray[np.integer], v: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    """Return the id of the last edge on the path from u[i] to v[i], or -1 without a path.

    The first call of a state takes O(n log n).
    """
    forest = snapshot(state)
    if (known := state.known.get("paths")) is None:
        order = stable_order(forest.weights)
        hierarchy = Hierarchy(state.n_vertices, *forest.edges[order].T)
        known = state.known["paths"] = forest.edge_ids[order], hierarchy
    ids, hierarchy = known
    found = np.full(u.size, -1, np.int64)
    asked = np.flatnonzero((forest.labels[u] == forest.labels[v]) & (u != v))
    if asked.size:
        found[asked] = ids[hierarchy.last_ranks(u[asked], v[asked])]
    return found
