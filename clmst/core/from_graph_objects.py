"""Graphs of igraph and rustworkx as arrays of edges; neither package is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import check_text, has, reading, shown
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.weight_keys import Array, as_weights

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_DEFAULT_WEIGHT = "weight"
_RUSTWORKX = "a rustworkx.PyGraph"


def graph_of_igraph(G: Any, weight: str | None) -> Graph:
    """Return the graph that :meth:`clmst.Graph.from_igraph` makes."""
    if not has(G, "get_edgelist", "es", "vs"):
        raise InvalidGraphError(
            f"from_igraph was given {type(G).__name__}; it takes an igraph.Graph"
        )
    if weight is not None:
        weight = check_text("weight", weight)
    with reading(G, "an igraph.Graph"):
        return _of_igraph(G, weight)


def graph_of_rustworkx(G: Any, weight_fn: Callable[[Any], Any] | None) -> Graph:
    """Return the graph that :meth:`clmst.Graph.from_rustworkx` makes."""
    if not has(G, "node_indices", "weighted_edge_list"):
        raise InvalidGraphError(
            f"from_rustworkx was given {type(G).__name__}; it takes a rustworkx.PyGraph"
        )
    if weight_fn is not None and not callable(weight_fn):
        raise InvalidArgumentError(f"weight_fn is {shown(weight_fn)}; it must be callable")
    if has(G, "in_degree"):
        raise _directed("rustworkx", "G.to_undirected()")
    with reading(G, _RUSTWORKX):
        data = [entry[2] for entry in G.weighted_edge_list()]
    if weight_fn is not None:  # what it raises is the caller's
        data = [weight_fn(x) for x in data]
    with reading(G, _RUSTWORKX):
        return _of_rustworkx(G, data)


def _of_igraph(G: Any, weight: str | None) -> Graph:
    from clmst.core.graph import Graph

    if G.is_directed():
        raise _directed("igraph", "G.as_undirected(mode='each')")
    ends = np.array(G.get_edgelist(), np.uint32).reshape(-1, 2)
    attributes, names = G.es.attributes(), None
    if weight is not None and weight not in attributes and weight != _DEFAULT_WEIGHT:
        raise InvalidGraphError(
            f"no edge has the attribute {weight!r}; there are {', '.join(attributes) or 'none'}, "
            "and weight=None gives every edge the weight 1"
        )
    if "name" in G.vs.attributes():
        names = tuple(G.vs["name"])
    weights = None
    if weight in attributes:
        weights = _real(G.es[weight], ends, range(G.vcount()) if names is None else names)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], weights, n_vertices=G.vcount())
    return graph.replace_unchecked(vertex_labels=names)


def _of_rustworkx(G: Any, data: Sequence[Any]) -> Graph:
    from clmst.core.graph import Graph

    ends: Array = np.array(G.edge_list(), np.uint32).reshape(-1, 2)
    nodes = np.array(G.node_indices(), np.int64)  # with gaps after a node was removed
    weights = None
    if any(x is not None for x in data):
        weights = _real(data, ends, range(int(nodes.max(initial=-1)) + 1))
    names = None
    if nodes.size and int(nodes[-1]) != nodes.size - 1:
        ends, names = np.searchsorted(nodes, ends), tuple(nodes.tolist())
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], weights, n_vertices=nodes.size)
    ids = np.array(G.edge_indices(), np.int64)
    if graph.edge_ids is not None and ids.size and int(ids.max()) != ids.size - 1:
        graph = graph.replace_unchecked(edge_ids=ids[graph.edge_ids], n_input=int(ids.max()) + 1)
    return graph.replace_unchecked(vertex_labels=names)


def _directed(library: str, remedy: str) -> InvalidGraphError:
    return InvalidGraphError(
        f"the {library} graph is directed; a spanning forest needs an undirected one "
        f"({remedy} makes it)"
    )


def _real(values: Sequence[Any], ends: Array, names: Sequence[Any]) -> Array:
    """Return weights as an array; raise unless all are real numbers."""
    for edge, value in enumerate(values):
        if not isinstance(value, Real | np.bool_) or value != value:  # noqa: PLR0124 - NaN
            u, v = (shown(names[vertex]) for vertex in ends[edge].tolist())
            raise InvalidGraphError(
                f"the weight of edge {edge} ({u}, {v}) is {shown(value)}; weights must be real "
                "numbers, and not NaN"
            )
    return as_weights(list(values))
