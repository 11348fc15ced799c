"""From the edges that a file lists to a forest of a given graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.core.data_frames import named
from clmst.core.errors import InvalidForestError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.vertex_names import NumberedEdges
from clmst.core.weight_keys import Array, order_keys
from clmst.io.file_edges import integer_labels

_MAXIMUM = b"clmst maximum spanning forest"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForestEdges:
    """The edges that a file lists.

    Attributes
    ----------
    n_vertices : int or None
        Number of vertices of the forest's graph, if the file has it.
    u, v : ndarray of int, or of object, shape (k,)
        Endpoints, in any order; objects are labels.
    weights : ndarray, shape (k,), or None
    edge_ids : ndarray of int, shape (k,), or None
        Positions in the input that the graph was made of.
    maximum : bool
        Whether it is a maximum spanning forest by the file.
    are_labels : bool
        Whether `u` and `v` are labels of the graph's vertices.
    """

    n_vertices: int | None
    u: Array
    v: Array
    weights: Array | None
    edge_ids: Array | None = None
    maximum: bool = False
    are_labels: bool = False

    @classmethod
    def of(cls, graph: Graph, *, maximum: bool = False) -> ForestEdges:
        """Make it of all edges of a file that was read as a graph."""
        u, v, w, _ = graph.edges()
        return cls(n_vertices=graph.n_vertices, u=u, v=v, weights=w, maximum=maximum)

    @classmethod
    def named(cls, edges: NumberedEdges, **more: Any) -> ForestEdges:
        """Make it of the rows of a table, under the caller's names of vertices."""
        u, v = named(edges.labels, edges.u), named(edges.labels, edges.v)
        return cls(n_vertices=None, u=u, v=v, weights=edges.weights, are_labels=True, **more)

    def name(self, edge: int) -> str:
        """Return the endpoints of one edge as the file gives them."""
        return f"({self.u[edge]}, {self.v[edge]})"


def says_maximum(comment: bytes) -> bool:
    """Return whether a comment is the headline of a maximum spanning forest."""
    return _MAXIMUM in comment


def attach(listed: ForestEdges, graph: Graph) -> Forest:
    """Find each listed edge among the edges of `graph`.

    Returns
    -------
    Forest
        In the graph's canonical order and its dtype. Whether it is a spanning forest of least
        weight is not checked here.

    Raises
    ------
    InvalidForestError
        The graph has no edge with these endpoints, this weight or this id.

    Notes
    -----
    O((n_slots + k) log n_slots).
    """
    u, v, w, ids = graph.edges()
    low, high = _vertices(listed, graph)
    if listed.edge_ids is None:
        edges = _by_endpoints(listed, low, high, graph)
    else:
        edges = _by_ids(listed, low, high, graph)
    edges.sort()
    return Forest(
        n_vertices=graph.n_vertices,
        edges=np.stack([u[edges], v[edges]], axis=1),
        weights=w[edges],
        edge_ids=ids[edges],
        maximum=listed.maximum,
        vertex_labels=graph.vertex_labels,
    )


def _vertices(listed: ForestEdges, graph: Graph) -> tuple[Array, Array]:
    """Return the endpoints as vertices of `graph`, the lesser first."""
    n = graph.n_vertices
    if listed.n_vertices not in (None, n):
        raise InvalidForestError(
            f"the forest has {listed.n_vertices} vertices but the graph has {n}; they must be equal"
        )
    ends = np.stack([listed.u, listed.v])
    named = ends.dtype == object
    ends = ends if named else ends.astype(np.int64)
    labels = integer_labels(graph.vertex_labels) if listed.are_labels else None
    if named:
        vertices, exist = _look_up_names(graph.vertex_labels, ends)
    elif labels is None:
        vertices, exist = ends, (ends >= 0) & (ends < n)
    else:
        vertices, exist = _look_up(labels, ends)
    if not exist.all():
        end, edge = np.argwhere(~exist)[0]
        raise InvalidForestError(
            f"edge {listed.name(edge)} of the forest ends at {ends[end, edge]}; "
            "the graph has no such vertex"
        )
    return vertices.min(axis=0), vertices.max(axis=0)


def _look_up_names(labels: Sequence[Hashable] | None, wanted: Array) -> tuple[Array, Array]:
    """Return the vertex of each wanted label, and whether it exists."""
    known = {label: vertex for vertex, label in enumerate(() if labels is None else labels)}
    found = [known.get(name, -1) for name in wanted.ravel().tolist()]
    vertices = np.array(found, np.int64).reshape(wanted.shape)
    return vertices, vertices >= 0


def _look_up(values: Array, wanted: Array) -> tuple[Array, Array]:
    """Return the position of each wanted value in `values`, and whether it exists."""
    if values.size == 0:
        return np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, bool)
    order = np.argsort(values, kind="stable")
    index = np.searchsorted(values, wanted, sorter=order)
    positions = order[np.minimum(index, values.size - 1)]
    return positions, values[positions] == wanted


def _by_endpoints(listed: ForestEdges, low: Array, high: Array, graph: Graph) -> Array:
    """Return the canonical edge of each listed one, by endpoints and weight."""
    u, v, w, _ = graph.edges()
    n = np.uint64(graph.n_vertices)
    keys = u * n + v
    wanted = low.astype(np.uint64) * n + high.astype(np.uint64)
    first, behind = (np.searchsorted(keys, wanted, side=side) for side in ("left", "right"))
    absent = np.flatnonzero(first == behind)
    if absent.size:
        raise InvalidForestError(
            f"edge {listed.name(absent[0])} of the forest is not in the graph; all must be"
        )
    for edge in np.flatnonzero(behind - first > 1).tolist():  # parallel edges
        candidates = w[first[edge] : behind[edge]]
        if listed.weights is None:
            first[edge] += order_keys(candidates).argmin()
        else:
            first[edge] += _equals(listed.weights[edge], candidates).argmax()
    _check_weights(listed, w[first])
    return first


def _by_ids(listed: ForestEdges, low: Array, high: Array, graph: Graph) -> Array:
    """Return the canonical edge of each listed one, by id; endpoints and weight must agree."""
    u, v, w, ids = graph.edges()
    assert listed.edge_ids is not None
    edges, exist = _look_up(ids, listed.edge_ids)
    unknown = np.flatnonzero(~exist)
    if unknown.size:
        at = unknown[0]
        raise InvalidForestError(
            f"edge {listed.name(at)} of the forest has id {listed.edge_ids[at]}; "
            "the graph has no edge with this id"
        )
    moved = np.flatnonzero((u[edges] != low) | (v[edges] != high))
    if moved.size:
        at = moved[0]
        raise InvalidForestError(
            f"edge {listed.name(at)} of the forest has id {listed.edge_ids[at]}, which is "
            f"({u[edges[at]]}, {v[edges[at]]}) in the graph; ids are positions in the file or "
            "arrays that the forest was computed from"
        )
    _check_weights(listed, w[edges])
    return edges


def _check_weights(listed: ForestEdges, weights: Array) -> None:
    """Raise unless the listed weights are those of the graph."""
    if listed.weights is None:
        return
    wrong = np.flatnonzero(~_equals(listed.weights, weights))
    if wrong.size:
        at = wrong[0]
        raise InvalidForestError(
            f"edge {listed.name(at)} of the forest weighs {listed.weights[at]}; "
            f"in the graph it weighs {weights[at]}"
        )


def _equals(listed: Array, weights: Array) -> Array:
    """Compare weights of a file with those of a graph, in the graph's precision."""
    if weights.dtype.kind == "f":
        return np.asarray(np.asarray(listed).astype(weights.dtype) == weights)
    return np.asarray(listed == weights)
