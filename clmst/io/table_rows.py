"""The rows of a table that holds a graph or a forest: ends as the caller names them, weights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from clmst.core.data_frames import named
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.forest_edges import integer_labels
from clmst.io.simple_graph import simple_edges


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableRows:
    """Rows.

    Attributes
    ----------
    u, v : ndarray of int, or of object, shape (k,)
        Objects are strings.
    weights : ndarray, shape (k,)
    """

    u: Array
    v: Array
    weights: Array

    @property
    def are_text(self) -> bool:
        """Whether the ends are strings."""
        return self.u.dtype == object


def graph_rows(graph: Graph) -> TableRows:
    """Return every edge once; a vertex without neighbours is a row with itself at both ends."""
    edges = simple_edges(graph)
    alone = np.ones(edges.n_vertices, bool)
    alone[edges.u] = alone[edges.v] = False
    isolated = np.flatnonzero(alone)
    u, v = (np.concatenate([ends, isolated]) for ends in (edges.u, edges.v))
    weights = np.concatenate([edges.weights, np.zeros(isolated.size, edges.weights.dtype)])
    return _rows(u, v, weights, graph.vertex_labels)


def forest_rows(forest: Forest) -> TableRows:
    """Return the edges of a forest."""
    u, v = forest.edges.T
    weights = forest.weights
    weights = weights.view(np.uint8) if weights.dtype == np.bool_ else weights
    return _rows(u, v, weights, forest.vertex_labels)


def _rows(u: Array, v: Array, weights: Array, labels: Sequence[Hashable] | None) -> TableRows:
    """Name the ends by the caller's labels if all are integers, or all text."""
    numbers = integer_labels(labels)
    if numbers is not None:
        return TableRows(u=numbers[u], v=numbers[v], weights=weights)
    given = () if labels is None else tuple(labels)
    if given and all(isinstance(one, str) for one in given):
        return TableRows(u=named(given, u), v=named(given, v), weights=weights)
    return TableRows(u=u, v=v, weights=weights)
