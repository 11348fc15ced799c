"""The edges that a file lists of a graph or a forest, and lines of text with them.

Most formats hold every pair of neighbours once: a matrix has one entry for a pair of vertices, and
two lines of an arc list are one edge in its two directions. So of parallel edges the lightest is
listed, and the minimum spanning forest stays the same. Self-loops are never in a forest and are
not listed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import numpy as np

from clmst.core import canonical
from clmst.core.data_frames import named
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array

_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileEdges:
    """Edges in rising order of (u, v), u < v, no pair of a graph's vertices twice.

    Attributes
    ----------
    n_vertices : int
    u, v : ndarray of int, shape (m,)
    weights : ndarray, shape (m,)
        In the dtype of the graph or forest, but bool becomes uint8.
    labels : sequence of hashable, or None
        The caller's names of all vertices.
    forest : Forest or None
        What is listed, unless it is a graph.
    """

    n_vertices: int
    u: Array
    v: Array
    weights: Array
    labels: Sequence[Hashable] | None
    forest: Forest | None = None

    @classmethod
    def of_graph(cls, graph: Graph) -> FileEdges:
        """List the edges of a graph. O(n_slots)."""
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
        """What a text says of a forest in a comment; empty of a graph."""
        if self.forest is None:
            return ""
        kind = "maximum" if self.forest.maximum else "minimum"
        return (
            f"clmst {kind} spanning forest: {self.n_vertices} vertices and {self.u.size} edges "
            f"of total weight {self.forest.total_weight!r}"
        )

    def symmetric_csr(self) -> tuple[Array, Array, Array]:
        """Return (indptr, indices, weights) with both directions of every edge."""
        mirrored = canonical.mirror(self.n_vertices, self.u, self.v)
        return mirrored.indptr, mirrored.indices, self.weights[mirrored.positions]

    def rows_from_one(self) -> tuple[Array, Array, Array]:
        """Return u, v and weights, with the first vertex called 1."""
        return self.u.astype(np.int64) + 1, self.v.astype(np.int64) + 1, self.weights

    def named_rows(self, *, takes_text: bool) -> tuple[Array, Array, Array]:
        """Return u, v and weights, vertices by their labels if all are integers, or all text.

        A vertex of a graph without neighbours is a row with itself at both ends.
        """
        u, v, weights = self.u, self.v, self.weights
        if self.forest is None:
            alone = np.ones(self.n_vertices, bool)
            alone[u] = alone[v] = False
            isolated = np.flatnonzero(alone)
            u, v = (np.concatenate([ends, isolated]) for ends in (u, v))
            weights = np.concatenate([weights, np.zeros(isolated.size, weights.dtype)])
        labels: Sequence[Hashable] | Array | None = integer_labels(self.labels)
        if labels is None and takes_text:
            given = () if self.labels is None else tuple(self.labels)
            labels = given if given and all(isinstance(one, str) for one in given) else None
        return named(labels, u), named(labels, v), weights


def integer_labels(labels: Sequence[Hashable] | None) -> Array | None:
    """Return vertex labels as int64 if all are non-negative integers, else None."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and labels.ndim == 1:
        in_range = labels.size == 0 or 0 <= int(labels.min()) <= int(labels.max()) < 1 << 63
        return labels.astype(np.int64) if in_range else None
    if labels is None or not all(type(x) is int or isinstance(x, np.integer) for x in labels):
        return None
    array = np.array(labels, dtype=object)
    if array.size and not 0 <= array.min() <= array.max() < 1 << 63:
        return None
    return array.astype(np.int64)


def write_rows(stream: BinaryIO, row: str, *columns: Array) -> None:
    """Write one line for each entry of `columns`, as ``row % (entries)``.

    Weights take ``%r``: it writes integers exactly, and each float as the shortest decimal number
    that reads back as the same float64.
    """
    for start in range(0, columns[0].size, _ROWS_AT_ONCE):
        lists = [column[start : start + _ROWS_AT_ONCE].tolist() for column in columns]
        entries = tuple(chain.from_iterable(zip(*lists, strict=True)))
        stream.write((row * len(lists[0]) % entries).encode("ascii"))
