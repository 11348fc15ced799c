"""Spanning forests whose ties are broken as Kruskal's algorithm in NetworkX breaks them.

NetworkX sorts the edges by weight, stably, in the order of ``G.edges``. clmst orders edges of equal
weight by their endpoints. With vertices numbered in the order of the nodes, the two orders are one
if every node's neighbours were added in the order of their numbers. Where they were not, and
weights are equal, the ranks of the edges in NetworkX's order are the weights of the solve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np

from clmst import api
from clmst.core.graph import Graph
from clmst.core.networkx_edges import ListedEdges, attribute_values
from clmst.core.weight_keys import Array, first_nan


@dataclass(frozen=True, kw_only=True)
class WeightedEdges:
    """Edges with one attribute as their weight.

    Attributes
    ----------
    edges : ListedEdges
    values : list
        The weight of each edge, as the graph has it.
    array : ndarray or None
        The weights, exactly; None for numbers that no dtype holds, which Python compares.
    """

    edges: ListedEdges
    values: list[Any]
    array: Array | None
    _graphs: dict[tuple[bool, bool], Graph] = field(default_factory=dict)

    @classmethod
    def of(cls, edges: ListedEdges, weight: Any) -> WeightedEdges:
        """Take the attribute `weight` of each edge, 1 where an edge lacks it."""
        values, array = attribute_values(edges, weight)
        return cls(edges=edges, values=values, array=array)

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

    @cached_property
    def _is_canonical(self) -> bool:
        """Whether the edges are sorted by endpoints."""
        cells = self.edges.u * len(self.edges.labels) + self.edges.v
        return bool(np.all(cells[1:] >= cells[:-1]))

    def forest(self, *, maximum: bool, device: Any) -> Array:
        """Return the forest's positions among the edges, in Kruskal's order, NaN left out."""
        ranked = self.array is None or not (self._is_canonical or self.all_differ)
        graph = self._graph(maximum=maximum, ranked=ranked)
        solve = api.maximum_spanning_forest if maximum and not ranked else _minimum
        forest = solve(graph, device=device)
        by_position = np.argsort(forest.edge_ids)
        positions = forest.edge_ids[by_position].astype(np.int64)
        weights = forest.weights[by_position]
        if self.nans.size:
            positions = self._numbers[positions]
        return positions[_stable_order(weights, descending=maximum and not ranked)]

    @cached_property
    def _numbers(self) -> Array:
        """The positions of edges whose weight is a number."""
        return np.setdiff1d(np.arange(len(self.values)), self.nans, assume_unique=True)

    def _graph(self, *, maximum: bool, ranked: bool) -> Graph:
        """Return the graph of edges whose weight is a number; it is made once."""
        key = (ranked, maximum and ranked)
        if key not in self._graphs:
            at = self._numbers if self.nans.size else slice(None)
            weights = self._ranks(at, maximum) if ranked or self.array is None else self.array[at]
            u, v, n = self.edges.u[at], self.edges.v[at], len(self.edges.labels)
            self._graphs[key] = Graph.from_edges(u, v, weights, n_vertices=n)
        return self._graphs[key]

    def _ranks(self, at: Any, maximum: bool) -> Array:
        """Return the place of each edge in the order in which Kruskal's algorithm takes them."""
        if self.array is not None:
            order = _stable_order(self.array[at], descending=maximum)
        else:
            values = [self.values[k] for k in np.arange(len(self.values))[at].tolist()]
            ordered = sorted(range(len(values)), key=values.__getitem__, reverse=maximum)
            order = np.array(ordered, np.int64)
        ranks = np.empty(order.size, np.uint32)
        ranks[order] = np.arange(order.size, dtype=np.uint32)
        return ranks


def _is_nan(value: Any) -> bool:
    try:
        return isnan(value)
    except OverflowError:  # an integer beyond all floats
        return False


_minimum = api.minimum_spanning_forest


def _stable_order(weights: Array, *, descending: bool) -> Array:
    """Return the order of weights; equal ones keep theirs."""
    if not descending:
        return np.argsort(weights, kind="stable")
    return weights.size - 1 - np.argsort(weights[::-1], kind="stable")[::-1]
