"""Spanning forests whose ties are broken as Kruskal's algorithm in NetworkX breaks them.

NetworkX sorts the edges by weight, stably, in the order of ``G.edges``. clmst orders edges of equal
weight by their endpoints, which may be another order. So the weights of the solve are the ranks of
the edges in NetworkX's order. Ranks all differ, and they tell which edges a forest has and in what
order, so that nothing is sorted after a solve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np

from clmst import api
from clmst.core.canonical import stable_order
from clmst.core.graph import Graph
from clmst.core.networkx_edges import ListedEdges, attribute_values
from clmst.core.weight_keys import Array, first_nan


@dataclass(frozen=True, kw_only=True)
class WeightedEdges:
    """Edges with one attribute as their weight."""

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
            return np.flatnonzero(np.fromiter(map(_is_nan, self.values), np.bool_))
        if first_nan(self.array) is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.isnan(self.array))

    @cached_property
    def all_differ(self) -> bool:
        """Whether no two edges have equal weights. O(m log m)."""
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


def _is_nan(value: Any) -> bool:
    try:
        return isnan(value)
    except OverflowError:  # an integer beyond all floats
        return False
