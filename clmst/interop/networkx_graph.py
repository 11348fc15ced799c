"""NetworkX graphs as the backend keeps them, and trees of NetworkX made from them."""

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


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvertedGraph:
    """An undirected NetworkX graph as arrays, which NetworkX caches."""

    __networkx_backend__ = "clmst"

    kind: type  # the class of the graph
    attributes: dict[Any, Any]
    nodes: dict[Hashable, dict[Any, Any]]  # the graph's own dictionaries
    # It refers to the graph's own rows, so that it holds until the graph's structure changes;
    # NetworkX then drops it from its cache.
    edges: ListedEdges
    _weighted: dict[Any, WeightedEdges] = field(default_factory=dict)

    @classmethod
    def of(cls, G: Any) -> ConvertedGraph:
        """Read a graph; O(n + m)."""
        with collector_paused():
            return cls(
                kind=G.__class__,
                attributes=dict(G.graph),
                nodes=dict(G.nodes(data=True)),
                edges=list_edges(G),
            )

    def is_multigraph(self) -> bool:
        """Return whether edges have keys."""
        return self.edges.keys is not None

    def is_directed(self) -> bool:
        """Return False: no other graph is converted."""
        return False

    def __len__(self) -> int:
        return len(self.nodes)

    def weighted(self, weight: Any) -> WeightedEdges:
        """Return the edges with an attribute as their weight, which is read once."""
        if weight not in self._weighted:
            self._weighted[weight] = WeightedEdges.of(self.edges, weight)
        return self._weighted[weight]

    def with_edges(self, positions: Array) -> Any:
        """Return a NetworkX graph of all nodes and of the edges at `positions`, in their order."""
        T = self.kind()
        T.graph.update(self.attributes)
        with collector_paused():
            if type(T) is not nx.Graph or not self._fill(T, positions):
                T.add_nodes_from(self.nodes.items())
                T.add_edges_from(self.tuples(positions, keys=True, data=True))
        return T

    def _fill(self, T: Any, positions: Array) -> bool:
        """Add nodes and edges as T's methods do, but all at once; False if it cannot be."""
        edges = self.edges
        try:  # the copies first: where they alternate with the rows, both take longer
            data = copies_of(edges.data, positions)
            nodes = list(map(dict.copy, self.nodes.values()))
        except TypeError:  # attributes in other mappings than dictionaries
            return False
        rows = linked_rows(edges.labels, edges.u[positions], edges.v[positions], data)
        for table, values in (
            (T._node, zip(self.nodes, nodes, strict=True)),
            (T._adj, zip(edges.labels, rows, strict=True)),
        ):
            table.update(self.nodes)  # which makes it as large at once as it will be
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
    """Convert a NetworkX graph, whatever attributes are asked for: they are read when used.

    A directed graph is returned as it is; only core numbers are computed of those.
    """
    if isinstance(G, ConvertedGraph) or G.is_directed():
        return G
    return ConvertedGraph.of(G)


def convert_to_nx(obj: Any, **_: Any) -> Any:
    """Return a converted graph as a NetworkX graph; anything else as it is."""
    if not isinstance(obj, ConvertedGraph):
        return obj
    return obj.with_edges(np.arange(obj.edges.n_edges))


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
