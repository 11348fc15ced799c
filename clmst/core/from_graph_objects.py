"""Graphs of NetworkX, igraph and rustworkx as graphs of clmst. None of them has to be installed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import check_has, check_text, has, reading, shown
from clmst.core.columns import WEIGHT
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph_checks import check_weights
from clmst.core.networkx_graphs import (
    NetworkxNodes,
    attribute_values,
    exact_array,
    list_edges,
    stores_its_edges,
)
from clmst.core.weight_keys import Array, as_weights, first_nan

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_RUSTWORKX = "a rustworkx.PyGraph"


def from_networkx(cls: type[Graph], G: Any, weight: str | None = "weight") -> Graph:
    """Build a graph from an undirected NetworkX graph or multigraph.

    Vertices are numbered in the order of ``G.nodes``, and the nodes become `vertex_labels`. The id
    of an edge is its position in ``G.edges``.

    Parameters
    ----------
    G : networkx.Graph or networkx.MultiGraph
        The graph. It is not changed.
    weight : str or None
        The edge attribute that contains the weight. Edges without the attribute have the weight 1.
        If it is None, all edges have the weight 1.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidGraphError
        `G` is directed or is not a NetworkX graph, or a weight is not a real number.
    InvalidArgumentError
        `weight` is neither a string nor None.

    Examples
    --------
    >>> import clmst, networkx
    >>> G = networkx.Graph()
    >>> G.add_weighted_edges_from([("a", "b", 3), ("b", "c", 1), ("a", "c", 2)])
    >>> clmst.Graph.from_networkx(G).vertex_labels
    ['a', 'b', 'c']
    """
    check_has("from_networkx", G, "a networkx.Graph", "is_directed", "nodes", "edges")
    if weight is not None:
        weight = check_text("weight", weight)
    with reading(G, "a networkx.Graph"):
        if G.is_directed():
            raise _directed("NetworkX", "G.to_undirected()")
        labels, u, v, w = _networkx_edges(G, weight)
        check_weights(w, lambda k: (int(u[k]), int(v[k])), labels)
        names = NetworkxNodes(labels, G, weight)
    return cls.from_edges(u, v, w, n_vertices=len(names)).replace(vertex_labels=names)


def _networkx_edges(G: Any, weight: str | None) -> tuple[list[Hashable], Array, Array, Array]:
    """Return (labels, u, v, weights) of a NetworkX graph, in the order of ``G.edges``.

    `weight` is the attribute with the weights. None gives every edge the weight 1.
    """
    if stores_its_edges(G):
        edges = list_edges(G)
        known = np.ones(edges.n_edges, np.int64)
        w = known if weight is None else attribute_values(edges, weight)[1]
        if w is not None:
            return edges.labels, edges.u, edges.v, w
    # The edges are read one by one, because the object only acts like a NetworkX graph, or has
    # weights of several types.
    labels = list(G.nodes)
    number = {label: k for k, label in enumerate(labels)}
    entries = list(G.edges(data=weight, default=1) if weight else ((*e, 1) for e in G.edges()))
    ends = np.array([(number[a], number[b]) for a, b, _ in entries], np.int64).reshape(-1, 2)
    found = _real([x for _, _, x in entries], ends, labels, f"attribute {weight!r}")
    return labels, ends[:, 0], ends[:, 1], found if entries else np.ones(0, np.int64)


def from_igraph(cls: type[Graph], G: Any, weight: str | None = "weight") -> Graph:
    """Build a graph from an undirected igraph graph. Parallel edges are kept.

    Edge ids are igraph's own. If the vertices have the attribute "name", the names become
    `vertex_labels`.

    Parameters
    ----------
    G : igraph.Graph
        The graph. It is not changed.
    weight : str or None
        The edge attribute that contains the weight. All weights are 1 if it is None, or if it is
        "weight" and the graph does not have this attribute, as in igraph.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidGraphError
        `G` is directed or is not an igraph graph, the attribute does not exist, or a weight is not
        a real number.
    InvalidArgumentError
        `weight` is neither a string nor None.

    Examples
    --------
    >>> import clmst, igraph
    >>> G = igraph.Graph(3, [(0, 1), (1, 2), (0, 2)], edge_attrs={"weight": [3, 1, 2]})
    >>> clmst.Graph.from_igraph(G)
    Graph(n_vertices=3, n_edges=3, weights=int64)
    """
    check_has("from_igraph", G, "an igraph.Graph", "get_edgelist", "es", "vs")
    if weight is not None:
        weight = check_text("weight", weight)
    with reading(G, "an igraph.Graph"):
        if G.is_directed():
            raise _directed("igraph", "G.as_undirected(mode='each')")
        ends = _pairs(G.get_edgelist())
        attributes, n = G.es.attributes(), G.vcount()
        if weight is not None and weight not in attributes and weight != WEIGHT:
            raise InvalidGraphError(
                f"no edge has the attribute {weight!r}; there are "
                f"{', '.join(attributes) or 'none'}, and weight=None gives every edge the weight 1"
            )
        names = tuple(G.vs["name"]) if "name" in G.vs.attributes() else None
        shown_as = range(n) if names is None else names
        weights = _real(G.es[weight], ends, shown_as) if weight in attributes else None
        graph = cls.from_edges(ends[:, 0], ends[:, 1], weights, n_vertices=n)
        return graph.replace_unchecked(vertex_labels=names)


def from_rustworkx(
    cls: type[Graph], G: Any, weight_fn: Callable[[Any], Any] | None = None
) -> Graph:
    """Build a graph from an undirected rustworkx graph. Parallel edges are kept.

    Edge ids are the edge indices of rustworkx. `vertex_labels` are its node indices if a node has
    been removed from the graph, and otherwise None.

    Parameters
    ----------
    G : rustworkx.PyGraph
        The graph. It is not changed.
    weight_fn : callable, optional
        A function that is called with the data of each edge and returns its weight. By default the
        data are the weights, or all weights are 1 if the data of all edges are None.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidGraphError
        `G` is directed or is not a rustworkx graph, or a weight is not a real number.
    InvalidArgumentError
        `weight_fn` cannot be called. Exceptions that it raises are passed on.

    Examples
    --------
    >>> import clmst, rustworkx
    >>> G = rustworkx.PyGraph()
    >>> nodes = G.add_nodes_from("abc")
    >>> edges = G.add_edges_from([(0, 1, 3), (1, 2, 1), (0, 2, 2)])
    >>> clmst.Graph.from_rustworkx(G)
    Graph(n_vertices=3, n_edges=3, weights=int64)
    """
    check_has("from_rustworkx", G, _RUSTWORKX, "node_indices", "edges", "edge_list")
    if weight_fn is not None and not callable(weight_fn):
        raise InvalidArgumentError(f"weight_fn is {shown(weight_fn)}; it must be callable")
    if has(G, "in_degree"):
        raise _directed("rustworkx", "G.to_undirected()")
    with reading(G, _RUSTWORKX):
        data = list(G.edges())
    if weight_fn is not None:  # exceptions from the caller's function are passed on
        data = [weight_fn(x) for x in data]
    with reading(G, _RUSTWORKX):
        ends: Array = np.array(G.edge_list(), np.uint32).reshape(-1, 2)
        nodes = np.array(G.node_indices(), np.int64)  # there are gaps where nodes were removed
        weights = names = None
        if set(map(type, data)) - {type(None)}:
            weights = _real(data, ends, range(int(nodes.max(initial=-1)) + 1))
        if nodes.size and int(nodes[-1]) != nodes.size - 1:
            ends, names = np.searchsorted(nodes, ends), tuple(nodes.tolist())
        graph = cls.from_edges(ends[:, 0], ends[:, 1], weights, n_vertices=nodes.size)
        ids = np.array(G.edge_indices(), np.int64)
        if graph.edge_ids is not None and ids.size and int(ids.max()) != ids.size - 1:
            most = int(ids.max()) + 1
            graph = graph.replace_unchecked(edge_ids=ids[graph.edge_ids], n_input=most)
        return graph.replace_unchecked(vertex_labels=names)


def _directed(library: str, remedy: str) -> InvalidGraphError:
    """Create the error for a directed graph of `library`, which clmst does not accept.

    `remedy` is the call of the library that makes the graph undirected, for the message.
    """
    return InvalidGraphError(
        f"the {library} graph is directed; a spanning forest needs an undirected one "
        f"({remedy} makes it)"
    )


def _pairs(edges: Sequence[tuple[int, int]]) -> Array:
    """Convert a list of m pairs to an array of shape (m, 2), faster than ``np.array`` does.

    Raise InvalidGraphError if an item is not a pair.
    """
    if not {2}.issuperset(map(len, edges)):
        raise InvalidGraphError("the igraph graph has an edge that is not a pair of vertices")
    return np.fromiter(chain.from_iterable(edges), np.uint32, 2 * len(edges)).reshape(-1, 2)


def _real(
    values: Sequence[Any], ends: Array, names: Sequence[Any], what: str = "the weight"
) -> Array:
    """Convert the weights `values` to an array.

    Raise InvalidGraphError unless all are real numbers other than NaN. Numbers of one type are
    converted in one step. Mixed types, and arrays with NaN, are examined one by one. For the
    message, `ends` are the two vertices of each edge, shape (m, 2), `names` the names of the
    vertices, and `what` is a noun for a value.
    """
    array = exact_array(list(values)) if len(values) else None
    if array is not None and first_nan(array) is None:
        return array
    for edge, value in enumerate(values):
        if not isinstance(value, Real | np.bool_) or value != value:  # noqa: PLR0124 - NaN
            u, v = (shown(names[vertex]) for vertex in ends[edge].tolist())
            raise InvalidGraphError(
                f"{what} of edge {edge} ({u}, {v}) is {shown(value)}; weights must be real "
                "numbers, and not NaN"
            )
    return as_weights(list(values))
