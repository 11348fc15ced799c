"""NetworkX graphs as arrays of edges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from clmst.core.arguments import check_text, has, reading, shown
from clmst.core.errors import InvalidGraphError
from clmst.core.graph_checks import check_weights
from clmst.core.networkx_edges import (
    attribute_values,
    list_edges,
    stores_its_edges,
)
from clmst.core.networkx_nodes import NetworkxNodes
from clmst.core.weight_keys import Array, as_weights


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledEdges:
    """Edges of a graph whose vertices have names."""

    labels: Sequence[Hashable]
    u: Array
    v: Array
    w: Array


def edge_arrays(G: Any, weight: str | None) -> LabelledEdges:
    """Return the edges of `G` in the order of ``G.edges``, vertices numbered as in ``G.nodes``."""
    if not has(G, "is_directed", "nodes", "edges"):
        raise InvalidGraphError(
            f"from_networkx was given {type(G).__name__}; it takes a networkx.Graph"
        )
    if weight is not None:
        weight = check_text("weight", weight)
    with reading(G, "a networkx.Graph"):
        edges = _edge_arrays(G, weight)
        check_weights(edges.w, lambda k: (int(edges.u[k]), int(edges.v[k])), edges.labels)
        return replace(edges, labels=NetworkxNodes(edges.labels, G, weight))


def _edge_arrays(G: Any, weight: str | None) -> LabelledEdges:
    if G.is_directed():
        raise InvalidGraphError(
            "the NetworkX graph is directed; a spanning forest needs an undirected one "
            "(G.to_undirected() makes it)"
        )
    if stores_its_edges(G):
        edges = list_edges(G)
        if weight is None:
            w: Array | None = np.ones(edges.n_edges, np.int64)
        else:
            _, w = attribute_values(edges, weight)
        if w is not None:
            return LabelledEdges(labels=edges.labels, u=edges.u, v=edges.v, w=w)
    return _one_by_one(G, weight)


def _one_by_one(G: Any, weight: str | None) -> LabelledEdges:
    """Read whatever has the methods of a graph, or weights that need a look at each."""
    labels = list(G.nodes)
    number = {label: k for k, label in enumerate(labels)}
    entries = (
        [(a, b, 1) for a, b in G.edges()]
        if weight is None
        else list(G.edges(data=weight, default=1))
    )
    u = np.array([number[a] for a, _, _ in entries], dtype=np.int64)
    v = np.array([number[b] for _, b, _ in entries], dtype=np.int64)
    for a, b, x in entries:
        if not isinstance(x, Real | np.bool_):
            raise InvalidGraphError(
                f"attribute {weight!r} of edge ({shown(a)}, {shown(b)}) is {shown(x)}; "
                "weights must be real numbers"
            )
    w = as_weights([x for _, _, x in entries]) if entries else np.ones(0, np.int64)
    return LabelledEdges(labels=labels, u=u, v=v, w=w)
