"""NetworkX graphs as lists and arrays, in the order of ``G.edges``, and forests as such graphs."""

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
_BLOCK = 1024  # edges: their dictionaries and weights take about 300 KiB


@dataclass(frozen=True, kw_only=True)
class ListedEdges:
    """The edges of an undirected graph, each once."""

    labels: list[Hashable]  # the node of each vertex
    u: Array  # int64, rising
    v: Array  # int64, none less than its `u`
    rows: list[dict[Any, Any]]  # the graph's own neighbours of each vertex, until `data` is read
    once: bytes  # which slots of the rows are edges: the others are their mirror images
    keys: list[Hashable] | None  # of each edge of a multigraph

    @property
    def n_edges(self) -> int:
        """Number of edges, parallel ones and self-loops counted."""
        return self.u.size

    @cached_property
    def data(self) -> list[Any]:
        """The attributes of each edge: the graph's own dictionaries. O(n + m) the first time."""
        return list(chain.from_iterable(self.blocks()))

    def blocks(self) -> Iterator[list[Any]]:
        """Return `data` in blocks, each of which stays in a processor's cache."""
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
        vars(self)["data"] = data  # where the property keeps it


def _blocks_of(values: Iterator[Any]) -> Iterator[list[Any]]:
    return iter(lambda: list(islice(values, _BLOCK)), [])


def stores_its_edges(G: Any) -> bool:
    """Return whether a graph is one of NetworkX that has exactly the edges that it stores.

    A subclass may list others: those that are absent, say.
    """
    nx = sys.modules.get("networkx")
    if nx is None or not isinstance(G, nx.Graph):
        return False
    base = (nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph)
    kind = base[2 * G.is_directed() + G.is_multigraph()]
    names = ("adj", "adjacency", "degree", "edges", "neighbors", "nodes")
    return all(getattr(type(G), name, None) is getattr(kind, name) for name in names)


def list_edges(G: Any) -> ListedEdges:
    """Return the edges of an undirected NetworkX graph or multigraph. O(n + m)."""
    labels, rows = _adjacency(G)
    u, v = _slots(labels, rows)
    mask = v >= u  # G.edges leaves out the neighbours that it has gone through as nodes
    u, v, once, keys = u[mask], v[mask], mask.tobytes(), None
    if G.is_multigraph():
        values = compress(chain.from_iterable(map(dict.values, rows)), once)
        parallel = _as_dicts(list(values))
        counts = np.fromiter(map(len, parallel), np.int64, len(parallel))
        u, v = np.repeat(u, counts), np.repeat(v, counts)
        keys = list(chain.from_iterable(parallel))
    return ListedEdges(labels=labels, u=u, v=v, rows=rows, once=once, keys=keys)


def list_slots(G: Any) -> tuple[list[Hashable], Array, Array]:
    """Return the nodes and all slots of the adjacency as (labels, u, v); an arc has one slot."""
    labels, rows = _adjacency(G)
    return (labels, *_slots(labels, rows))


def _adjacency(G: Any) -> tuple[list[Hashable], list[dict[Any, Any]]]:
    return list(G.adj), _as_dicts(list(map(itemgetter(1), G.adjacency())))


def _as_dicts(mappings: list[Any]) -> list[dict[Any, Any]]:
    """Return mappings as dictionaries: those of views of a graph are none."""
    if all(map(isinstance, mappings, repeat(dict))):
        return mappings
    return [dict(one) for one in mappings]


def _slots(labels: list[Hashable], rows: list[dict[Any, Any]]) -> tuple[Array, Array]:
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
    """Return the vertex of each label as a table, where labels are small integers; else None."""
    n = len(labels)
    if {int} != set(map(type, labels)) or min(labels) < 0 or max(labels) >= 4 * n:
        return None
    integers = np.fromiter(labels, np.int64, n)
    numbers = np.zeros(integers.max() + 1, np.int64)
    numbers[integers] = np.arange(n)
    return numbers


def attribute_values(edges: ListedEdges, name: Any) -> tuple[list[Any], Array | None]:
    """Return one attribute of each edge, 1 where an edge lacks it, and :func:`exact_array` of it.

    The dictionaries lie anywhere in memory. So each is gone to once, and what is in it is looked at
    while it is in the cache: reading takes two thirds of the time.
    """
    values: list[Any] = []
    arrays: list[Array | None] = []
    for block in edges.blocks():
        try:
            found = list(map(dict.get, block, repeat(name), repeat(1)))
        except TypeError:  # other mappings than dictionaries
            found = [one.get(name, 1) for one in block]
        values += found
        arrays.append(exact_array(found))
    known = [array for array in arrays if array is not None]
    if len(known) == len(arrays) > 0 and len({array.dtype for array in known}) == 1:
        return values, np.concatenate(known)
    return values, exact_array(values)


def exact_array(values: list[Any]) -> Array | None:
    """Return numbers as an array that holds each exactly; None where no supported dtype does."""
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
    """Return floats, and integers that a double holds, as doubles."""
    integers = [x for x in values if type(x) is not float]
    if integers and not -_EXACT_IN_A_DOUBLE <= min(integers) <= max(integers) <= _EXACT_IN_A_DOUBLE:
        return None
    return np.array(values, np.float64)


# ----------------------------------------------------------------- forests as graphs


class NetworkxNodes(list[Hashable]):
    """The nodes of a NetworkX graph, which know the graph itself: its attributes are not copied.

    A pickled or copied one is a plain list.
    """

    def __init__(self, nodes: Iterable[Hashable], graph: Any, weight: str | None) -> None:
        super().__init__(nodes)
        self.graph, self.weight = graph, weight

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def to_networkx(self: Forest, weight: str | None = None) -> Any:
    """Return a ``networkx.Graph`` of all vertices, with the caller's names if any.

    Of a forest of a NetworkX graph it has the attributes that the graph has now, those of nodes
    and edges too, as ``networkx.minimum_spanning_tree`` has. Names that are arrays, or lists,
    become tuples.

    Parameters
    ----------
    weight : str, optional
        The edge attribute that holds the weight; by default the one that it was in, or
        "weight".

    Raises
    ------
    InvalidArgumentError
        A name is not hashable, two vertices have the same, or the NetworkX graph has lost a
        node or an edge since.
    InvalidForestError
        As :meth:`to_scipy`.
    MissingDependencyError
        NetworkX is not installed.

    Notes
    -----
    A pickled forest has the names of nodes, but not the graph with its attributes.
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
            "it must keep the nodes and edges that it had"
        ) from error
    return tree


def _edge_data(G: Any, forest: Forest, names: Any) -> Iterator[dict[Any, Any]]:
    """Yield the attributes of each edge of a forest: the graph's own dictionaries.

    Raise a KeyError of an edge that is not there any more.
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
    """Return attributes with the weight among them; the graph's own value stays as it is."""
    name = own if weight is None else weight
    if name is None or (name == own and name in data):
        return data
    return {**data, name: w}
