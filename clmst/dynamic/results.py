"""Results of a dynamic forest: the :class:`Forest` of a state, and the heaviest edges of paths.

They are computed when they are first needed, and stored in the state, which the next change
replaces.
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
    """Return the forest of a state, with its edges in canonical order.

    The first call for a state takes O(n).
    """
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
    """Return for each i the id of the heaviest edge on the path from ``u[i]`` to ``v[i]``.

    Of several heaviest edges, it is the last one in the order of edges. The id is -1 if the two
    vertices are not connected, or if they are the same vertex. The first call for a state takes
    O(n log n).
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
