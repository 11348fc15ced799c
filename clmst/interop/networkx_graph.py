"""Read the edges of NetworkX graphs for the backend, and build NetworkX graphs of trees."""

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
    """The edges of a NetworkX graph with weights, and a method that computes their spanning forest.

    Of edges with equal weights the forest has the same ones as in NetworkX. NetworkX sorts edges
    stably by weight, starting from the order of ``G.edges``. clmst orders edges of equal weight by
    their ends, which may be another order. Therefore clmst does not solve with the weights
    themselves, but with the ranks of the edges in NetworkX's order, which all differ. The ranks in
    a forest also say which edges it contains, and in which order, so no sort is needed afterwards.
    """

    edges: ListedEdges
    values: list[Any]  # the weights as Python objects; empty if `array` has them
    # The exact weights, or None if no dtype can hold all of them. If it is None, Python compares
    # the objects in `values` instead.
    array: Array | None
    _ranked: dict[bool, tuple[Array, Graph]] = field(default_factory=dict)

    @classmethod
    def of(cls, edges: ListedEdges, weight: Any) -> WeightedEdges:
        """Read the attribute `weight` of each edge.

        Edges without the attribute have the weight 1.
        """
        values, array = attribute_values(edges, weight)
        return cls(edges=edges, values=values if array is None else [], array=array)

    def has_weights_of(self, other: WeightedEdges) -> bool:
        """Return whether both objects have the same weights, bit for bit.

        If the weights of one of them are Python objects and not in an array, the result is False,
        because Python objects may be mutable.
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
        """The positions of all edges whose weight is NaN.

        Raises TypeError if a weight is not a number.
        """
        if self.array is None:
            return np.flatnonzero(np.fromiter(map(is_nan, self.values), np.bool_))
        if first_nan(self.array) is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.isnan(self.array))

    @cached_property
    def all_differ(self) -> bool:
        """Whether all edges have different weights, in O(m log m).

        If the weights are Python objects and not in an array, it is False, because Python objects
        are not compared.
        """
        if self.array is None:
            return False
        ordered = np.sort(self.array)
        return bool(np.all(ordered[1:] != ordered[:-1]))

    def forest(self, *, maximum: bool, device: Any) -> Array:
        """Compute the spanning forest, and return the positions of its edges.

        They are in the order in which Kruskal's algorithm finds the edges. If `maximum` is true, it
        is the maximum forest. Edges whose weight is NaN are left out.
        """
        order, graph = self._in_order(maximum)
        forest = api.minimum_spanning_forest(graph, device=device)
        is_chosen = np.zeros(order.size, np.bool_)
        is_chosen[forest.weights] = True
        return order[is_chosen]

    def _in_order(self, maximum: bool) -> tuple[Array, Graph]:
        """Return the order of the edges by weight, and a graph with their ranks as weights.

        The order is an array of edge positions, in the order in which Kruskal's algorithm takes the
        edges. The rank of an edge is its index in this array. Edges whose weight is NaN are left
        out. If `maximum` is true, heavier edges come first. Both results are computed once for each
        value of `maximum`, and kept.
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
        """Return the order in which Kruskal's algorithm processes the edges `numbers`.

        `numbers` has positions of edges. The result has indices of `numbers`. If `maximum` is true,
        heavier edges come first.
        """
        if self.array is not None:
            return stable_order(self.array[numbers], descending=maximum)
        values = [self.values[k] for k in numbers.tolist()]
        ordered = sorted(range(len(values)), key=values.__getitem__, reverse=maximum)
        return np.array(ordered, np.int64)


def is_nan(value: Any) -> bool:
    """Return whether a number is NaN. Raise TypeError for any other value."""
    try:
        return isnan(value)
    except OverflowError:  # an integer too large for a float
        return False


class ConvertedGraph:
    """A wrapper around an undirected NetworkX graph, which NetworkX passes to clmst's functions.

    NetworkX keeps this object in its cache until a method of the graph changes the graph. Other
    changes do not clear the cache, for example an attribute that is set in place, or an edge added
    to the graph of a view. Therefore this object copies nothing. It refers to the graph, and every
    call reads the graph's present state.
    """

    __networkx_backend__ = "clmst"

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self._kept: tuple[GraphReading, Any] | None = None

    def is_multigraph(self) -> bool:
        """Return whether the graph is a multigraph, whose edges have keys."""
        return bool(self.graph.is_multigraph())

    def is_directed(self) -> bool:
        """Return False, because directed graphs are not converted."""
        return False

    def __len__(self) -> int:
        return len(self.graph)

    def read(self) -> GraphReading:
        """Read the edges that the graph has now.

        This takes O(n + m), or O(n) if the list of edges from an earlier call is still valid. The
        list is kept only for graphs for which NetworkX notices every change of the structure, and
        then drops this object. :func:`_outline` decides for which graphs this is so. Weights are
        read anew in every call.
        """
        outline = _outline(self.graph)
        if outline is not None and self._kept is not None and self._kept[1] == outline:
            return self._kept[0]
        with collector_paused():
            reading = GraphReading(graph=self.graph, edges=list_edges(self.graph))
        self._kept = None if outline is None else (reading, outline)
        return reading


def _outline(G: Any) -> Any:
    """Return a summary of a graph, by which most changes of its edges can be detected.

    The summary has the nodes, and the number of neighbours and the last neighbour of each node. For
    most graphs, NetworkX's methods clear its cache when they change the graph. Code that writes to
    ``G._adj`` does not, but the summary detects most of these changes.

    Returns None for three kinds of graphs, whose edges may change without NetworkX's cache
    noticing: views, because the graph below a view (its attribute ``_graph``) may change;
    multigraphs, because their ``get_edge_data`` returns their own dictionaries; and subclasses,
    because they may have methods of their own.
    """
    if type(G) is not nx.Graph or type(G._adj) is not dict or hasattr(G, "_graph"):
        return None
    rows = list(G._adj.values())
    if not {dict}.issuperset(map(type, rows)):
        return None
    return list(G._adj), list(map(len, rows)), [next(reversed(row), None) for row in rows]


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphReading:
    """The edges of a NetworkX graph as one call found them, and data that later calls use again.

    The attributes of the graph, of its nodes and of its edges stay in the graph's own dictionaries,
    and are read when they are needed.
    """

    graph: Any  # the NetworkX graph
    edges: ListedEdges
    _weighted: dict[Any, WeightedEdges] = field(default_factory=dict)

    def weighted(self, weight: Any) -> WeightedEdges:
        """Return the edges, with the present values of the attribute `weight` as weights.

        The values are always read. If all values are the same as in an earlier call, the ranks and
        the solver's graph of that call are used again.
        """
        found = WeightedEdges.of(self.edges, weight)
        known = self._weighted.get(weight)
        if known is not None and known.has_weights_of(found):
            return known
        if found.array is not None:
            self._weighted[weight] = found
        return found

    def with_edges(self, positions: Array) -> Any:
        """Return a NetworkX graph with all nodes, and with the edges at `positions`, in that order.

        The graph has the class and the attributes of the original one.
        """
        T = self.graph.__class__()
        T.graph.update(self.graph.graph)
        with collector_paused():
            if type(T) is not nx.Graph or not self._fill(T, positions):
                T.add_nodes_from(self.graph.nodes.items())
                T.add_edges_from(self.tuples(positions, keys=True, data=True))
        return T

    def _fill(self, T: Any, positions: Array) -> bool:
        """Add all nodes, and the edges at `positions`, to the empty graph T in bulk.

        Return False, without changing T, if attributes are not in dicts.
        """
        edges, own = self.edges, dict(self.graph.nodes(data=True))
        try:  # all copies are made first, since alternating with the rows would slow both down
            data = copies_of(edges.data, positions)
            nodes = list(map(dict.copy, own.values()))
        except TypeError:  # attributes are in mappings that are not dicts
            return False
        rows = linked_rows(edges.labels, edges.u[positions], edges.v[positions], data)
        for table, values in (
            (T._node, zip(own, nodes, strict=True)),
            (T._adj, zip(edges.labels, rows, strict=True)),
        ):
            table.update(own)  # allocates the final size at once
            table.update(values)
        return True

    def tuples(self, positions: Array, *, keys: bool, data: bool) -> Iterator[tuple[Any, ...]]:
        """Return the edges at `positions` as tuples, in the form in which NetworkX returns edges.

        A tuple has both ends, then the key if `keys` is true and the graph is a multigraph, and
        then the attributes if `data` is true.
        """
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
    """Pause the cyclic garbage collector during a ``with`` statement, which gets None.

    Everything that is created in the meantime is kept, so the collector would only waste time on
    it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def convert_from_nx(G: Any, **_: Any) -> Any:
    """Wrap the undirected NetworkX graph `G` in a :class:`ConvertedGraph`, without reading it.

    Arguments that name attributes are ignored, because all attributes stay available. A directed
    graph is returned unchanged. Of all functions of the backend only `core_number` takes directed
    graphs, and it reads the NetworkX graph itself.
    """
    if isinstance(G, ConvertedGraph) or G.is_directed():
        return G
    return ConvertedGraph(G)


def convert_to_nx(obj: Any, **_: Any) -> Any:
    """Return a copy of a converted graph as a NetworkX graph.

    Other objects are returned unchanged.
    """
    return obj.graph.copy() if isinstance(obj, ConvertedGraph) else obj


# Number of edges in a block. The edges of a NetworkX graph are linked to its vertices block by
# block, and the Python objects of a block should fit into the first or second level cache. Linking
# 50,000 edges in blocks of 64, 256, 1,024 and 4,096 took 17.6, 17.3, 18.5 and 20.7 ms, and 34.5 ms
# one by one.
_BLOCK = 512


def copies_of(data: list[dict[Any, Any]], positions: Array) -> Array:
    """Return copies of the dicts in `data` at the given positions, in the order of `positions`.

    No position may occur twice. The dicts are copied in the order of `data`, because neighbours in
    this list are often close together in memory. Raises TypeError if an item is not a dict.
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
    """Return the adjacency of a graph as NetworkX stores it: a dict for each vertex.

    The dict of a vertex maps each neighbour to the attributes of the edge between them. `labels`
    are the names of the vertices, and edge i is (u[i], v[i]) with the attributes ``data[i]``.
    Neighbours are in the order of the edges. The dicts of both ends of an edge contain the same
    object of `data`.
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
    """Return a sequence of the values of a list at the positions `at`."""
    numbers = at.tolist()  # itemgetter returns a tuple only for two or more positions
    return itemgetter(*numbers)(values) if len(numbers) > 1 else [values[k] for k in numbers]


def _blocks(array: Array) -> Iterator[Array]:
    """Yield the elements of an array in blocks of _BLOCK elements."""
    return (array[at : at + _BLOCK] for at in range(0, array.size, _BLOCK))
