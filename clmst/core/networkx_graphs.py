"""NetworkX graphs as arrays, in the order of ``G.edges``, and forests as NetworkX graphs."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, islice, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import check_text, shown
from clmst.core.columns import WEIGHT
from clmst.core.errors import InvalidArgumentError, optional_import
from clmst.core.vertex_names import hashable_labels
from clmst.core.weight_keys import Array, weight_kind_or_none

if TYPE_CHECKING:
    from clmst.core.forest import Forest

_EXACT_IN_A_DOUBLE = 2**53
_BLOCK = 1024  # number of edges read at a time; their dictionaries and weights take 300 KiB


@dataclass(frozen=True, kw_only=True)
class ListedEdges:
    """The edges of an undirected NetworkX graph, each listed once."""

    labels: list[Hashable]  # the NetworkX node of each vertex
    u: Array  # int64, ascending
    v: Array  # int64, v >= u
    rows: list[dict[Any, Any]]  # the graph's own dict of neighbours of each vertex
    once: bytes  # one byte per entry of the rows: 1 for an edge, 0 for its mirror entry
    keys: list[Hashable] | None  # the key of each edge of a multigraph

    @property
    def n_edges(self) -> int:
        """Number of edges, parallel ones and self-loops counted."""
        return self.u.size

    @cached_property
    def data(self) -> list[Any]:
        """The attributes of each edge: a list of the graph's own dictionaries.

        O(n + m) the first time.
        """
        return list(chain.from_iterable(self.blocks()))

    def blocks(self) -> Iterator[list[Any]]:
        """Yield the attributes of the edges (:attr:`data`) in lists that fit into a cache."""
        if "data" in vars(self):
            yield from _blocks_of(iter(self.data))
            return
        data: list[Any] = []
        slots = chain.from_iterable(map(dict.values, self.rows))
        values: Iterator[Any] = compress(slots, self.once)
        if self.keys is not None:
            values = chain.from_iterable(map(dict.values, _as_dicts(list(values))))
        for block in _blocks_of(values):
            data += block
            yield block
        vars(self)["data"] = data  # the cached value of the property


def _blocks_of(values: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield the values of an iterator in lists of _BLOCK items."""
    return iter(lambda: list(islice(values, _BLOCK)), [])


def stores_its_edges(G: Any) -> bool:
    """Return whether `G` is a NetworkX graph whose edges are exactly those in its dictionaries.

    A subclass may report other edges, for example those that are absent from another graph.
    """
    nx = sys.modules.get("networkx")
    if nx is None or not isinstance(G, nx.Graph):
        return False
    base = (nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph)
    kind = base[2 * G.is_directed() + G.is_multigraph()]
    names = ("adj", "adjacency", "degree", "edges", "neighbors", "nodes")
    return all(getattr(type(G), name, None) is getattr(kind, name) for name in names)


def list_edges(G: Any) -> ListedEdges:
    """List the edges of the undirected NetworkX graph or multigraph `G`. O(n + m)."""
    labels, rows = _adjacency(G)
    u, v = _slots(labels, rows)
    mask = v >= u  # like G.edges, which skips neighbours that have been visited as nodes
    u, v, once, keys = u[mask], v[mask], mask.tobytes(), None
    if G.is_multigraph():
        values = compress(chain.from_iterable(map(dict.values, rows)), once)
        parallel = _as_dicts(list(values))
        counts = np.fromiter(map(len, parallel), np.int64, len(parallel))
        u, v = np.repeat(u, counts), np.repeat(v, counts)
        keys = list(chain.from_iterable(parallel))
    return ListedEdges(labels=labels, u=u, v=v, rows=rows, once=once, keys=keys)


def list_slots(G: Any) -> tuple[list[Hashable], Array, Array]:
    """Return (nodes, u, v) for all entries of the adjacency of the NetworkX graph `G`.

    An edge of an undirected graph has two entries, and an arc of a directed graph has one. `u` and
    `v` are positions in the list of nodes.
    """
    labels, rows = _adjacency(G)
    return (labels, *_slots(labels, rows))


def _adjacency(G: Any) -> tuple[list[Hashable], list[dict[Any, Any]]]:
    """Return the nodes of the NetworkX graph `G` and the dict of neighbours of each node."""
    return list(G.adj), _as_dicts(list(map(itemgetter(1), G.adjacency())))


def _as_dicts(mappings: list[Any]) -> list[dict[Any, Any]]:
    """Convert mappings to dicts. Views of a graph have other types of mappings."""
    if all(map(isinstance, mappings, repeat(dict))):
        return mappings
    return [dict(one) for one in mappings]


def _slots(labels: list[Hashable], rows: list[dict[Any, Any]]) -> tuple[Array, Array]:
    """Return the indices in `labels` of the two nodes of each adjacency entry, as two arrays.

    `labels` are the nodes, and `rows` the dict of neighbours of each node.
    """
    n = len(labels)
    counts = np.fromiter(map(len, rows), np.int64, n)
    neighbours, total = chain.from_iterable(rows), int(counts.sum())
    numbers = _numbers_by_label(labels)
    if numbers is None:
        number = dict(zip(labels, range(n), strict=True))
        v = np.fromiter(map(number.__getitem__, neighbours), np.int64, total)
    else:
        v = numbers[np.fromiter(neighbours, np.int64, total)]
    return np.repeat(np.arange(n), counts), v


def _numbers_by_label(labels: list[Any]) -> Array | None:
    """Return an array with the index of each label, or None unless labels are small integers.

    Element k of the array is the index, in `labels`, of the label k.
    """
    n = len(labels)
    if {int} != set(map(type, labels)) or min(labels) < 0 or max(labels) >= 4 * n:
        return None
    integers = np.fromiter(labels, np.int64, n)
    numbers = np.zeros(integers.max() + 1, np.int64)
    numbers[integers] = np.arange(n)
    return numbers


def attribute_values(edges: ListedEdges, name: Any) -> tuple[list[Any], Array | None]:
    """Return the attribute `name` of each edge, as a list and as an array.

    Edges without the attribute have the value 1. The array is None if no supported dtype holds all
    values exactly (see :func:`exact_array`). Most of the time is spent reading the dictionaries of
    the edges, which are scattered in memory. So each is read once, in blocks that fit into the
    cache.
    """
    values: list[Any] = []
    arrays: list[Array | None] = []
    for block in edges.blocks():
        try:
            found = list(map(dict.get, block, repeat(name), repeat(1)))
        except TypeError:  # the mappings are not dicts
            found = [one.get(name, 1) for one in block]
        values += found
        arrays.append(exact_array(found))
    known = [array for array in arrays if array is not None]
    if len(known) == len(arrays) > 0 and len({array.dtype for array in known}) == 1:
        return values, np.concatenate(known)
    return values, exact_array(values)


def exact_array(values: list[Any]) -> Array | None:
    """Convert the numbers `values` to an array.

    Return None if they are not numbers, or if no supported dtype holds all of them exactly.
    """
    kinds = set(map(type, values))
    try:
        if kinds == {bool}:
            return np.array(values, np.bool_)
        if kinds <= {int, bool}:
            return np.array(values, np.int64)
        if kinds <= {int, bool, float}:
            return np.array(values, np.float64) if kinds == {float} else _mixed(values)
        kind = next(iter(kinds))
        if len(kinds) == 1 and issubclass(kind, np.generic):
            array = np.array(values)
            return None if weight_kind_or_none(array.dtype) is None else array
    except OverflowError:  # an integer beyond 64 bits
        return None
    return None


def _mixed(values: list[Any]) -> Array | None:
    """Convert a list of floats and integers to a float64 array.

    Return None if an integer may be rounded, because it is greater than 2**53 in magnitude.
    """
    integers = [x for x in values if type(x) is not float]
    if integers and not -_EXACT_IN_A_DOUBLE <= min(integers) <= max(integers) <= _EXACT_IN_A_DOUBLE:
        return None
    return np.array(values, np.float64)


# ----------------------------------------------------------------- forests as graphs


class NetworkxNodes(list[Hashable]):
    """The list of the nodes of a NetworkX graph, with a reference to that graph.

    `weight` is the attribute from which the weights were read, or None. Pickling or copying the
    list gives a plain list.
    """

    def __init__(self, nodes: Iterable[Hashable], graph: Any, weight: str | None) -> None:
        super().__init__(nodes)
        self.graph, self.weight = graph, weight

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def to_networkx(self: Forest, weight: str | None = None) -> Any:
    """Return the forest as a ``networkx.Graph`` that contains all vertices.

    Nodes are named by the caller's labels. If the forest was computed from a NetworkX graph, the
    result also has the attributes that this graph, its nodes and its edges have now, like the
    result of ``networkx.minimum_spanning_tree``. Labels that are arrays or lists become tuples.

    Parameters
    ----------
    weight : str, optional
        The edge attribute in which to store the weight. By default the attribute from which it was
        read, or "weight".

    Returns
    -------
    networkx.Graph

    Raises
    ------
    InvalidArgumentError
        A label is not hashable, two vertices have the same label, or the NetworkX graph has lost a
        node or an edge since the solve.
    InvalidForestError
        The arrays contradict each other, as in :meth:`to_scipy`.
    MissingDependencyError
        NetworkX is not installed.

    Notes
    -----
    A forest that was pickled keeps the names of the nodes, but not the NetworkX graph with its
    attributes.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> clmst.minimum_spanning_forest(graph).to_networkx().edges(data=True)
    EdgeDataView([(0, 2, {'weight': 2}), (1, 2, {'weight': 1})])
    """
    if weight is not None:
        weight = check_text("weight", weight)
    nx = optional_import("networkx", extra="networkx")
    names = hashable_labels(self.vertex_labels, self.n_vertices)
    ends, weights = self.checked_edges().tolist(), self.weights.tolist()
    rows = ((names[u], names[v], w) for (u, v), w in zip(ends, weights, strict=True))
    tree = nx.Graph()
    if not isinstance(self.vertex_labels, NetworkxNodes):
        tree.add_nodes_from(names)
        tree.add_weighted_edges_from(rows, weight=weight or WEIGHT)
        return tree
    G, own = self.vertex_labels.graph, self.vertex_labels.weight
    tree.graph.update(G.graph)
    try:
        tree.add_nodes_from((name, G.nodes[name]) for name in names)
        data = _edge_data(G, self, names)
        tree.add_edges_from(
            (a, b, _weighted(found, w, weight, own))
            for (a, b, w), found in zip(rows, data, strict=True)
        )
    except KeyError as error:
        raise InvalidArgumentError(
            f"the NetworkX graph has no {shown(error.args[0])} any more, which is in the forest; "
            "nodes and edges of the forest must not be removed from the graph"
        ) from error
    return tree


def _edge_data(G: Any, forest: Forest, names: Any) -> Iterator[dict[Any, Any]]:
    """Yield the attributes of each edge of a forest: the dictionaries of the NetworkX graph `G`.

    `names` has the NetworkX node of each vertex. Raise KeyError for an edge that the graph does not
    have any more.
    """
    pairs = [(names[u], names[v]) for u, v in forest.edges.tolist()]
    if not G.is_multigraph():
        for a, b in pairs:
            if not G.has_edge(a, b):
                raise KeyError((a, b))
            yield G.get_edge_data(a, b)
        return
    wanted = {edge_id: k for k, edge_id in enumerate(forest.edge_ids.tolist())}
    found = dict[int, dict[Any, Any]]()
    for edge_id, (a, b, data) in enumerate(islice(G.edges(data=True), max(wanted, default=-1) + 1)):
        if edge_id in wanted and {a, b} == set(pairs[wanted[edge_id]]):
            found[wanted[edge_id]] = data
    for k, pair in enumerate(pairs):
        if k not in found:
            raise KeyError(pair)
        yield found[k]


def _weighted(data: dict[Any, Any], w: Any, weight: str | None, own: str | None) -> dict[Any, Any]:
    """Return `data`, the attributes of an edge, with the weight `w` included.

    `own` is the attribute from which the weight was read, and `weight` the attribute under which
    the caller wants the weight. None as `weight` means `own`. If both are None, `data` is returned
    unchanged. If `data` has the attribute `own` already, its value is kept.
    """
    name = own if weight is None else weight
    if name is None or (name == own and name in data):
        return data
    return {**data, name: w}
