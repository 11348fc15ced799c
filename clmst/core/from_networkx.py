"""What a NetworkX graph holds, as arrays of edges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledEdges:
    """Edges of a graph whose vertices have names."""

    labels: Sequence[Hashable]
    u: Array
    v: Array
    w: Array


def edge_arrays(G: Any, weight: str | None) -> LabelledEdges:
    """Return the edges of `G` in the order of ``G.edges``, vertices numbered as in ``G.nodes``."""
    if G.is_directed():
        raise InvalidGraphError(
            "the NetworkX graph is directed; a spanning forest needs an undirected one "
            "(G.to_undirected() makes it)"
        )
    labels = list(G.nodes)
    number = {label: k for k, label in enumerate(labels)}
    entries = G.edges(data=weight, default=1) if weight else ((a, b, 1) for a, b in G.edges())
    data = [(number[a], number[b], w) for a, b, w in entries]
    u = np.array([a for a, _, _ in data], dtype=np.int64)
    v = np.array([b for _, b, _ in data], dtype=np.int64)
    w = np.array([x for _, _, x in data]) if data else np.ones(0, np.int64)
    if w.dtype.kind not in "biuf" or w.shape != u.shape:
        bad = next((k for k, (_, _, x) in enumerate(data) if not np.isreal(x) or x is None), 0)
        raise InvalidGraphError(
            f"attribute {weight!r} of edge ({labels[u[bad]]!r}, {labels[v[bad]]!r}) is "
            f"{data[bad][2]!r}; weights must be real numbers that share one NumPy dtype"
        )
    return LabelledEdges(labels=labels, u=u, v=v, w=w)
