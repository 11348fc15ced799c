"""NetworkX graphs as the backend reads them, and trees of NetworkX made from them."""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np

from clmst import api
from clmst.core.canonical import stable_order
from clmst.core.graph import Graph
from clmst.core.networkx_graphs import ListedEdges, attribute_values, list_edges
from clmst.core.weight_keys import Array, first_nan


@dataclass(frozen=True, kw_only=True)
class WeightedEdges:
    """Edges with one attribute as their weight, for forests with NetworkX's ties.

    NetworkX sorts the edges by weight, stably, in the order of ``G.edges``. clmst orders edges of
    equal weight by their endpoints, which may be another order. So the weights of the solve are the
    ranks of the edges in NetworkX's order. Ranks all differ, and they tell which edges a forest has
    and in what order, so that nothing is sorted after a solve.
    """

    edges: ListedEdges
    values: list[Any]  # the weight of each edge, as the graph has it; empty if `array` has them
    # The weights, exactly; None for numbers that no dtype holds, which Python compares.
    array: Array | None
    _ranked: dict[bool, tuple[Array, Graph]] = field(default_factory=dict)

    @classmethod
    def of(cls, edges: ListedEdges, weight: Any) -> WeightedEdges:
        """Take the attribute `weight` of each edge, 1 where an edge lacks it."""
        values, array = attribute_values(edges, weight)
        return cls(edges=edges, values=values if array is None else [], array=array)

    def has_weights_of(self, other: WeightedEdges) -> bool:
        """Return whether both have the same weights in arrays, bit for bit.

        Weights that no dtype holds are never the same, because they may be changeable objects.
        """
        mine, others = self.array, other.array
        return (
            mine is not None
            and others is not None
            and mine.dtype == others.dtype
            and np.array_equal(mine.view(np.uint8), others.view(np.uint8))
        )

    @cached_property
    def nans(self) -> Array:
        """The positions of edges whose weight is NaN; TypeError if one is no number."""
        if self.array is None:
            return np.flatnonzero(np.fromiter(map(is_nan, self.values), np.bool_))
        if first_nan(self.array) is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.isnan(self.array))

    @cached_property
    def all_differ(self) -> bool:
        """True if no two edges have equal weights. O(m log m)."""
        if self.array is None:
            return False
        ordered = np.sort(self.array)
        return bool(np.all(ordered[1:] != ordered[:-1]))

    def forest(self, *, maximum: bool, device: Any) -> Array:
        """Return the forest's positions among the edges, in Kruskal's order, NaN left out."""
        order, graph = self._in_order(maximum)
        forest = api.minimum_spanning_forest(graph, device=device)
        is_chosen = np.zeros(order.size, np.bool_)
        is_chosen[forest.weights] = True
        return order[is_chosen]

    def _in_order(self, maximum: bool) -> tuple[Array, Graph]:
        """Return the edges whose weight is a number, and their graph with places for its weights.

        Both are made once.
        """
        if maximum not in self._ranked:
            m = self.edges.n_edges
            numbers = np.arange(m)
            if self.nans.size:
                numbers = np.setdiff1d(numbers, self.nans, assume_unique=True)
            order = numbers[self._order(numbers, maximum)]
            ranks = np.empty(m, np.uint32)
            ranks[order] = np.arange(order.size, dtype=np.uint32)
            at = numbers if self.nans.size else slice(None)
            u, v, n = self.edges.u[at], self.edges.v[at], len(self.edges.labels)
            graph = Graph.from_edges(u, v, ranks[at], n_vertices=n)
            self._ranked[maximum] = order, graph
        return self._ranked[maximum]

    def _order(self, numbers: Array, maximum: bool) -> Array:
        """Return the order in which Kruskal's algorithm takes some edges."""
        if self.array is not None:
            return stable_order(self.array[numbers], descending=maximum)
        values = [self.values[k] for k in numbers.tolist()]
        ordered = sorted(range(len(values)), key=values.__getitem__, reverse=maximum)
        return np.array(ordered, np.int64)


def is_nan(value: Any) -> bool:
    """Return whether a number is NaN; raise TypeError for any other value."""
    try:
        return isnan(value)
    except OverflowError:  # an integer beyond all floats
        return False


class ConvertedGraph:
    """An undirected NetworkX graph as the backend is given it, which NetworkX keeps in its cache.

    NetworkX gives it again until a method of the graph changes the graph. Other changes leave it in
    the cache: an attribute that is set in place, an edge that a view's graph gains. So it is no
    copy. It knows the graph, and every call reads the graph's present state.
    """

    __networkx_backend__ = "clmst"

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self._kept: tuple[GraphReading, Any] | None = None

    def is_multigraph(self) -> bool:
        """Return whether edges have keys."""
        return bool(self.graph.is_multigraph())

    def is_directed(self) -> bool:
        """Return False, because directed graphs are not converted."""
        return False

    def __len__(self) -> int:
        return len(self.graph)

    def read(self) -> GraphReading:
        """Read the edges that the graph has now. O(n + m), or O(n) if the list of edges is kept.

        The list is kept for graphs whose changes of structure NetworkX sees: it then drops this
        object. `_outline` says which graphs these are. The weights are read by every call.
        """
        outline = _outline(self.graph)
        if outline is not None and self._kept is not None and self._kept[1] == outline:
            return self._kept[0]
        with collector_paused():
            reading = GraphReading(graph=self.graph, edges=list_edges(self.graph))
        self._kept = None if outline is None else (reading, outline)
        return reading


def _outline(G: Any) -> Any:
    """Return the nodes with the number of neighbours and the last neighbour of each node.

    Return None if the edges may change without a word to NetworkX's cache: in a view, which has the
    attribute ``_graph``, when its graph changes; in a multigraph, whose ``get_edge_data`` gives its
    own dictionaries away; in a class with methods of its own. NetworkX's methods clear the cache of
    any other graph. Code that writes to ``G._adj`` does not, and the outline tells most of it.
    """
    if type(G) is not nx.Graph or type(G._adj) is not dict or hasattr(G, "_graph"):
        return None
    rows = list(G._adj.values())
    if not {dict}.issuperset(map(type, rows)):
        return None
    return list(G._adj), list(map(len, rows)), [next(reversed(row), None) for row in rows]


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphReading:
    """The edges of a graph as one call found them, and the forests' graphs that were made of them.

    Attributes of the graph, nodes and edges are in the graph's own dictionaries, and are read when
    they are needed.
    """

    graph: Any  # NetworkX's
    edges: ListedEdges
    _weighted: dict[Any, WeightedEdges] = field(default_factory=dict)

    def weighted(self, weight: Any) -> WeightedEdges:
        """Return the edges with the present values of an attribute as their weights.

        The values are read in any case. The ranks and the solver's graph of an earlier call are
        used again if all values are the same.
        """
        found = WeightedEdges.of(self.edges, weight)
        known = self._weighted.get(weight)
        if known is not None and known.has_weights_of(found):
            return known
        if found.array is not None:
            self._weighted[weight] = found
        return found

    def with_edges(self, positions: Array) -> Any:
        """Return a NetworkX graph of all nodes and of the edges at `positions`, in their order."""
        T = self.graph.__class__()
        T.graph.update(self.graph.graph)
        with collector_paused():
            if type(T) is not nx.Graph or not self._fill(T, positions):
                T.add_nodes_from(self.graph.nodes.items())
                T.add_edges_from(self.tuples(positions, keys=True, data=True))
        return T

    def _fill(self, T: Any, positions: Array) -> bool:
        """Add nodes and edges as T's methods do, but all at once; False if it cannot be."""
        edges, own = self.edges, dict(self.graph.nodes(data=True))
        try:  # the copies first: where they alternate with the rows, both take longer
            data = copies_of(edges.data, positions)
            nodes = list(map(dict.copy, own.values()))
        except TypeError:  # attributes in other mappings than dictionaries
            return False
        rows = linked_rows(edges.labels, edges.u[positions], edges.v[positions], data)
        for table, values in (
            (T._node, zip(own, nodes, strict=True)),
            (T._adj, zip(edges.labels, rows, strict=True)),
        ):
            table.update(own)  # which makes it as large at once as it will be
            table.update(values)
        return True

    def tuples(self, positions: Array, *, keys: bool, data: bool) -> Iterator[tuple[Any, ...]]:
        """Return edges in NetworkX's form: endpoints, then key and attributes if wanted."""
        edges = self.edges
        columns = [
            chosen(edges.labels, edges.u[positions]),
            chosen(edges.labels, edges.v[positions]),
        ]
        if keys and edges.keys is not None:
            columns.append(chosen(edges.keys, positions))
        if data:
            columns.append(chosen(edges.data, positions))
        return zip(*columns, strict=True)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector: all that is made here stays, and it would walk it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def convert_from_nx(G: Any, **_: Any) -> Any:
    """Wrap an undirected NetworkX graph; nothing is read before a function needs it.

    The arguments that name attributes are ignored, because a ConvertedGraph has all of them. A
    directed graph is returned unchanged. Only core numbers are computed of directed graphs.
    """
    if isinstance(G, ConvertedGraph) or G.is_directed():
        return G
    return ConvertedGraph(G)


def convert_to_nx(obj: Any, **_: Any) -> Any:
    """Return a copy of a converted graph as a NetworkX graph, and any other object unchanged."""
    return obj.graph.copy() if isinstance(obj, ConvertedGraph) else obj


# Edges: their objects stay in the first or second level of a cache. 50,000 edges in blocks of 64,
# 256, 1,024 and 4,096 took 17.6, 17.3, 18.5 and 20.7 ms to link, and 34.5 ms one by one.
_BLOCK = 512


def copies_of(data: list[dict[Any, Any]], positions: Array) -> Array:
    """Return copies of some dictionaries, each of them once, in the order of `positions`.

    They are copied in the order of the list, in which neighbours are more often near each other.
    Raises TypeError if one is no dictionary.
    """
    wanted = np.zeros(len(data), np.bool_)
    wanted[positions] = True
    rising = np.flatnonzero(wanted)
    places = np.empty(len(data), np.int64)
    places[rising] = np.arange(rising.size)
    copies: list[Any] = []
    for block in _blocks(rising):
        copies += map(dict.copy, chosen(data, block))
    return np.fromiter(copies, object, len(copies))[places[positions]]


def linked_rows(labels: list[Hashable], u: Array, v: Array, data: Array) -> list[dict[Any, Any]]:
    """Return the neighbours of each vertex with the attributes of edges, in the edges' order.

    Both endpoints of an edge get the same object of `data`.
    """
    rows: list[dict[Any, Any]] = [{} for _ in labels]
    all_rows = np.fromiter(rows, object, len(rows))
    names = np.fromiter(labels, object, len(labels))
    for i, j, attributes in zip(_blocks(u), _blocks(v), _blocks(data), strict=True):
        columns = (all_rows[i], all_rows[j], names[i], names[j], attributes)
        for row, other, a, b, one in zip(*map(np.ndarray.tolist, columns), strict=True):
            row[b] = other[a] = one
    return rows


def chosen(values: list[Any], at: Array) -> Any:
    """Return some values of a list as a sequence."""
    numbers = at.tolist()  # from two numbers on, itemgetter returns a tuple
    return itemgetter(*numbers)(values) if len(numbers) > 1 else [values[k] for k in numbers]


def _blocks(array: Array) -> Iterator[Array]:
    return (array[at : at + _BLOCK] for at in range(0, array.size, _BLOCK))
