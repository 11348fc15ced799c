"""The edges of a graph or forest in the form in which they are written to files or read from them.

Most formats can hold each pair of vertices only once. A matrix has one entry per pair, and an arc
list uses two lines for the two directions of one edge. So of parallel edges, which join the same
two vertices, only the lightest is written. This leaves the minimum spanning forest unchanged.
Self-loops are never in a forest and are not written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from clmst.core import canonical
from clmst.core.errors import InvalidForestError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.vertex_names import NumberedEdges, integer_labels, named
from clmst.core.weight_keys import Array, order_keys

_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileEdges:
    """Edges to write to a file, with u < v, sorted by (u, v).

    If they are the edges of a graph, each pair of vertices occurs at most once. The edges of a
    forest are written without a change.
    """

    n_vertices: int
    u: Array
    v: Array
    weights: Array  # in the dtype of the graph or forest, but bool becomes uint8
    labels: Sequence[Hashable] | None  # the caller's name of each vertex
    forest: Forest | None = None  # the forest that is listed; None if it is a graph

    @classmethod
    def of_graph(cls, graph: Graph) -> FileEdges:
        """List the edges of a graph, and only the lightest of parallel edges. O(n_slots)."""
        u, v, w, _ = graph.edges()
        if ((u[1:] == u[:-1]) & (v[1:] == v[:-1])).any():
            merged = Graph.from_edges(u, v, w, n_vertices=graph.n_vertices, merge_parallel=True)
            u, v, w, _ = merged.edges()
        w = w.view(np.uint8) if w.dtype == np.bool_ else w
        labels = graph.vertex_labels
        return cls(n_vertices=graph.n_vertices, u=u, v=v, weights=w, labels=labels)

    @classmethod
    def of_forest(cls, forest: Forest) -> FileEdges:
        """List the edges of a forest."""
        (u, v), w = forest.edges.T, forest.weights
        w = w.view(np.uint8) if w.dtype == np.bool_ else w
        n, labels = forest.n_vertices, forest.vertex_labels
        return cls(n_vertices=n, u=u, v=v, weights=w, labels=labels, forest=forest)

    @property
    def headline(self) -> str:
        """The comment that describes a forest in a text file, or "" for a graph."""
        if self.forest is None:
            return ""
        kind = "maximum" if self.forest.maximum else "minimum"
        return (
            f"clmst {kind} spanning forest: {self.n_vertices} vertices and {self.u.size} edges "
            f"of total weight {self.forest.total_weight!r}"
        )

    def symmetric_csr(self) -> tuple[Array, Array, Array]:
        """Return (indptr, indices, weights) of the CSR with both directions of every edge."""
        mirrored = canonical.mirror(self.n_vertices, self.u, self.v)
        return mirrored.indptr, mirrored.indices, self.weights[mirrored.positions]

    def rows_from_one(self) -> tuple[Array, Array, Array]:
        """Return u, v and weights, with vertices numbered from 1."""
        return self.u.astype(np.int64) + 1, self.v.astype(np.int64) + 1, self.weights

    def named_rows(self, *, takes_text: bool) -> tuple[Array, Array, Array]:
        """Return u, v and weights, with the caller's labels for vertex numbers if files take them.

        Labels are used if all are non-negative integers or, if `takes_text`, all are strings. Each
        isolated vertex of a graph gets a row of weight 0 with the vertex at both ends. A forest
        does not get these rows.
        """
        u, v, weights = self.u, self.v, self.weights
        if self.forest is None:
            alone = np.ones(self.n_vertices, bool)
            alone[u] = alone[v] = False
            isolated = np.flatnonzero(alone)
            u, v = (np.concatenate([ends, isolated]) for ends in (u, v))
            weights = np.concatenate([weights, np.zeros(isolated.size, weights.dtype)])
        labels = written_labels(self.labels, takes_text=takes_text)
        return named(labels, u), named(labels, v), weights


def written_labels(
    labels: Sequence[Hashable] | None, *, takes_text: bool
) -> Sequence[Hashable] | Array | None:
    """Return the labels of vertices to write to a file, or None if vertex numbers are written.

    Labels are written if all are non-negative integers or, if `takes_text`, all are strings. None
    as `labels` means that the vertices do not have labels.
    """
    integers = integer_labels(labels)
    if integers is not None or not (takes_text and labels is not None and len(labels)):
        return integers
    return labels if all(isinstance(one, str) for one in labels) else None


def write_rows(stream: BinaryIO, row: str, *columns: Array) -> None:
    """Write one line to `stream` for each entry of `columns`, formatted as ``row % (entries)``.

    Use ``%r`` for weights. It writes integers exactly, and each float as the shortest decimal
    number that reads back as the same float64.
    """
    for start in range(0, columns[0].size, _ROWS_AT_ONCE):
        lists = [column[start : start + _ROWS_AT_ONCE].tolist() for column in columns]
        entries = tuple(chain.from_iterable(zip(*lists, strict=True)))
        stream.write((row * len(lists[0]) % entries).encode("ascii"))


# --------------------------------------------------------------- forests read from files

_MAXIMUM = b"clmst maximum spanning forest"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForestEdges:
    """The edges of a forest that was read from a file, in any order.

    A field is None if the file does not have it.
    """

    n_vertices: int | None
    u: Array  # vertex numbers or, with dtype object, names
    v: Array
    weights: Array | None
    edge_ids: Array | None = None  # positions in the input from which the graph was made
    maximum: bool = False
    are_labels: bool = False  # whether `u` and `v` are labels of the graph's vertices

    @classmethod
    def of(cls, graph: Graph, *, maximum: bool = False) -> ForestEdges:
        """Return all edges of a graph as the edges of a forest.

        `maximum` says whether the forest is a maximum forest.
        """
        u, v, w, _ = graph.edges()
        return cls(n_vertices=graph.n_vertices, u=u, v=v, weights=w, maximum=maximum)

    @classmethod
    def named(cls, edges: NumberedEdges, **more: Any) -> ForestEdges:
        """Return the rows of a table as the edges of a forest.

        `edges` has the rows. The ends are the table's names of vertices. `more` are further
        attributes of the result.
        """
        u, v = named(edges.labels, edges.u), named(edges.labels, edges.v)
        return cls(n_vertices=None, u=u, v=v, weights=edges.weights, are_labels=True, **more)

    def refuse(self, is_wrong: Array, fact: Callable[[int], str]) -> None:
        """Raise :class:`InvalidForestError` if an edge is wrong.

        `is_wrong` has one flag for each edge. `fact` gets the index of the first wrong edge and
        returns the end of the message.
        """
        if is_wrong.any():
            at = int(is_wrong.argmax())
            raise InvalidForestError(f"edge ({self.u[at]}, {self.v[at]}) of the forest {fact(at)}")


def says_maximum(comment: bytes) -> bool:
    """Return whether the first comment of a file says that it has a maximum spanning forest."""
    return _MAXIMUM in comment


def attach(listed: ForestEdges, graph: Graph) -> Forest:
    """Find the edges of a forest that was read from a file in `graph`, and return the Forest.

    The edges are not checked to be a spanning forest of minimum weight. Raises
    :class:`InvalidForestError` if the graph does not have an edge with these ends, this weight or
    this id. O((n_slots + k) log n_slots) for k edges.
    """
    u, v, w, ids = graph.edges()
    low, high = _vertices(listed, graph)
    if listed.edge_ids is None:
        edges = _by_endpoints(listed, low, high, graph)
    else:
        edges = _by_ids(listed, low, high, graph)
    edges.sort()
    return Forest(
        n_vertices=graph.n_vertices, edges=np.stack([u[edges], v[edges]], axis=1), weights=w[edges],
        edge_ids=ids[edges], maximum=listed.maximum, vertex_labels=graph.vertex_labels,
    )  # fmt: skip


def _vertices(listed: ForestEdges, graph: Graph) -> tuple[Array, Array]:
    """Return the endpoints of each edge in `listed` as vertices of `graph`, the lesser one first.

    Raises :class:`InvalidForestError` if the graph does not have one of the vertices, or has
    another number of vertices than the file states.
    """
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
        names = () if graph.vertex_labels is None else graph.vertex_labels
        known = {name: vertex for vertex, name in enumerate(names)}
        found = [known.get(name, -1) for name in ends.ravel().tolist()]
        vertices = np.array(found, np.int64).reshape(ends.shape)
        exist = vertices >= 0
    elif labels is None:
        vertices, exist = ends, (ends >= 0) & (ends < n)
    else:
        vertices, exist = _look_up(labels, ends)
    listed.refuse(
        ~(exist[0] & exist[1]),
        lambda at: f"ends at {ends[exist[:, at].argmin(), at]}; the graph has no such vertex",
    )
    return vertices.min(axis=0), vertices.max(axis=0)


def _look_up(values: Array, wanted: Array) -> tuple[Array, Array]:
    """Return the index in `values` of each wanted value, and whether the value is there at all."""
    if values.size == 0:
        return np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, bool)
    order = np.argsort(values, kind="stable")
    index = np.searchsorted(values, wanted, sorter=order)
    positions = order[np.minimum(index, values.size - 1)]
    return positions, values[positions] == wanted


def _by_endpoints(listed: ForestEdges, low: Array, high: Array, graph: Graph) -> Array:
    """Find the position of each edge in the graph by its endpoints and its weight.

    Positions are those in the canonical order of the graph's edges. `listed` has the weights, and
    (low[i], high[i]) are the endpoints. Returns the indices. Raises :class:`InvalidForestError` if
    the graph does not have the edge, or has it with another weight.
    """
    u, v, w, _ = graph.edges()
    n = np.uint64(graph.n_vertices)
    keys = u * n + v
    wanted = low.astype(np.uint64) * n + high.astype(np.uint64)
    first, behind = (np.searchsorted(keys, wanted, side=side) for side in ("left", "right"))
    listed.refuse(first == behind, lambda _: "is not in the graph; all must be")
    for edge in np.flatnonzero(behind - first > 1).tolist():  # parallel edges
        candidates = w[first[edge] : behind[edge]]
        if listed.weights is None:
            first[edge] += order_keys(candidates).argmin()
        else:
            first[edge] += _equals(listed.weights[edge], candidates).argmax()
    _check_weights(listed, w[first])
    return first


def _by_ids(listed: ForestEdges, low: Array, high: Array, graph: Graph) -> Array:
    """Find the position of each edge in the graph by its id.

    Positions are those in the canonical order of the graph's edges. `listed` has the ids and
    weights, and (low[i], high[i]) are the endpoints. Raises :class:`InvalidForestError` if an id is
    not in the graph, or belongs to an edge with other endpoints or another weight.
    """
    u, v, w, ids = graph.edges()
    given: Any = listed.edge_ids
    edges, exist = _look_up(ids, given)
    listed.refuse(~exist, lambda at: f"has id {given[at]}; the graph has no edge with this id")
    listed.refuse(
        (u[edges] != low) | (v[edges] != high),
        lambda at: (
            f"has id {given[at]}, which is ({u[edges[at]]}, {v[edges[at]]}) in the graph; ids are "
            "positions in the file or arrays that the forest was computed from"
        ),
    )
    _check_weights(listed, w[edges])
    return edges


def _check_weights(listed: ForestEdges, weights: Array) -> None:
    found = listed.weights
    if found is not None:
        listed.refuse(
            ~_equals(found, weights),
            lambda at: f"weighs {found[at]}; in the graph it weighs {weights[at]}",
        )


def _equals(listed: Array, weights: Array) -> Array:
    """Compare the weights `listed` in a file with weights of a graph, rounded to the graph's dtype.

    Returns a mask of the equal ones.
    """
    if weights.dtype.kind == "f":
        return np.asarray(np.asarray(listed).astype(weights.dtype) == weights)
    return np.asarray(listed == weights)


# ---------------------------------------------------------------------------- JSON


def write_summary(listing: FileEdges, stream: BinaryIO) -> None:
    """Write the sizes, total weight and statistics of a forest as JSON, without the edges.

    `listing` has the forest, and `stream` is the open file.
    """
    forest = listing.forest
    assert forest is not None
    summary = {
        "n_vertices": forest.n_vertices, "n_edges": forest.n_edges,
        "n_components": forest.n_components, "total_weight": forest.total_weight,
        "weight_dtype": str(forest.weights.dtype), "maximum": forest.maximum, "stats": forest.stats,
    }  # fmt: skip
    stream.write(f"{json_text(summary)}\n".encode())


def json_text(value: object) -> str:
    """Return a value as JSON text.

    JSON cannot express infinities and NaN, so these become strings, such as ``"inf"``. Integers are
    written exactly, and floats as the shortest decimals that read back as the same float. Objects
    of unknown types are written as ``str`` of them.
    """
    return json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Convert a value, and all values that it contains, to types that JSON has."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(entry) for entry in value]
    return str(value)
