"""Edge lists in text: ``u v`` or ``u v weight``, between spaces, tabs or commas.

Lines that start with ``#`` or ``%`` are comments. Vertices are the numbers that occur; where they
are not 0 .. n - 1, the graph has as many vertices as there are numbers, in rising order, and keeps
the numbers as its `vertex_labels`. A vertex without neighbours is written as a loop ``u u 0``: so
its number occurs, and loops are never edges.

Three headers are read. That of :func:`write` is a comment whose counts must be right. That of the
algs4 collection is two lines with one number each: n, which also counts vertices that do not occur,
and m. SNAP's is a comment, ``# Nodes: n Edges: m``: there must be m lines at least, since some of
its files list an edge in both directions and count it once.
"""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.vertex_names import rank
from clmst.core.weight_keys import Array
from clmst.io.blocks import Block, blocks
from clmst.io.declared_sizes import DeclaredSizes
from clmst.io.edge_rows import EdgeRows, graph_of, write_rows
from clmst.io.files import SourceFile
from clmst.io.forest_edges import ForestEdges, headline, integer_labels, says_maximum
from clmst.io.simple_graph import simple_edges

_HEADER = b"# clmst "
_GRAPH_HEADER = b"# clmst graph: "
_SNAP_COUNTS = re.compile(rb"^#\s*Nodes:\s*(\d{1,19})\s+Edges:\s*(\d{1,19})\b", re.MULTILINE)
_HEAD_BYTES = 4096  # where SNAP's counts are
_COUNTS = re.compile(rb"# clmst (graph|[a-z ]+ forest): (\d{1,19}) vertices and (\d{1,19}) edges ")


class _Lines:
    """The lines of an edge list, before vertices are numbered."""

    def __init__(self, source: SourceFile) -> None:
        self.edges = EdgeRows(first_vertex=0)
        self.declared: DeclaredSizes | None = None  # of an algs4 header
        self.comment = b""
        self.least_edges = 0  # by a header of SNAP
        is_first = True
        for block in blocks(source.stream, commas=True, file_bytes=source.stored):
            if block.first_line == 1:
                self.comment = block.text[:256].tobytes().partition(b"\n")[0]
                self._refuse_matrix()
                counts = _SNAP_COUNTS.search(block.text[:_HEAD_BYTES].tobytes())
                self.least_edges = int(counts[2]) if counts else 0
            n = None if self.declared is None else self.declared.n_vertices
            if not is_first and self.edges.add_plain(block, n_vertices=n):
                continue
            initials = block.initials()
            lines = np.flatnonzero(
                (initials != 0) & (initials != ord("#")) & (initials != ord("%"))
            )
            if is_first and lines.size:
                is_first = False
                lines = self._without_header(block, lines)
            n = None if self.declared is None else self.declared.n_vertices
            self.edges.add(block, lines, n_vertices=n)
        if self.edges.n_rows < self.least_edges:
            raise FileFormatError(
                f"the header declares {self.least_edges} edges but the file holds "
                f"{self.edges.n_rows}; it must hold as many at least (is the file cut short?)"
            )

    def _refuse_matrix(self) -> None:
        """Refuse a Matrix Market file: its banner reads as a comment, its sizes as an edge."""
        if self.comment.lower().startswith(b"%%matrixmarket"):
            raise FileFormatError("line 1 is a Matrix Market banner; the suffix must be .mtx")

    def _without_header(self, block: Block, lines: Array) -> Array:
        if lines.size < 2 or (block.counts[lines[:2]] != 1).any():
            return lines
        n, m = (block.words(int(line))[0] for line in lines[:2])
        self.declared = DeclaredSizes.parse(
            n, m, line=block.first_line + int(lines[1]), file_bytes=block.file_bytes
        )
        return lines[2:]


def read(source: SourceFile) -> Graph:
    """Read an edge list; missing weights are 1.

    Edges between the same two vertices become one edge with the least of their weights.

    Raises
    ------
    FileFormatError
        A line breaks the format, or a header declares more or less than there is.
    """
    lines = _Lines(source)
    u, v, weights = lines.edges.arrays()
    if lines.declared is not None:
        lines.declared.check_edges(u.size)
        n = lines.declared.n_vertices
        arrays = [u, v, weights]
        del u, v, weights
        return graph_of(arrays, n)
    u, v, numbers = rank(u, v)
    _check_counts(lines.comment, numbers.size, int(np.count_nonzero(u != v)))
    arrays = [u, v, weights]
    del u, v, weights
    graph = graph_of(arrays, numbers.size)
    has_gaps = numbers.size > 0 and int(numbers[-1]) != numbers.size - 1
    return graph.replace(vertex_labels=tuple(numbers.tolist())) if has_gaps else graph


def _check_counts(comment: bytes, n_vertices: int, n_edges: int) -> int | None:
    """Raise unless the counts of a header are right; return its number of vertices.

    The list of a forest has no isolated vertices.
    """
    if not comment.startswith(_HEADER):
        return None
    counts = _COUNTS.match(comment)
    if counts is None:
        raise FileFormatError(
            "line 1 starts as the header of a clmst file but gives no counts of vertices and "
            "edges; it must (is the file cut short?)"
        )
    declared = (int(counts[2]), int(counts[3]))
    if declared[1] != n_edges or (counts[1] == b"graph" and declared[0] != n_vertices):
        raise FileFormatError(
            f"line 1 declares {declared[0]} vertices and {declared[1]} edges but the file holds "
            f"{n_vertices} and {n_edges}; they must be equal (is the file cut short?)"
        )
    return declared[0]


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write an edge list, every edge once, with the caller's vertex numbers if there are any."""
    edges = simple_edges(graph)
    header = f"# clmst graph: {edges.n_vertices} vertices and {edges.u.size} edges"
    stream.write(f"{header} as u v weight; an isolated vertex is u u 0\n".encode())
    u, v, isolated = edges.u, edges.v, _isolated_vertices(edges.n_vertices, edges.u, edges.v)
    labels = integer_labels(graph.vertex_labels)
    if labels is not None:
        u, v, isolated = labels[u], labels[v], labels[isolated]
    write_rows(stream, "%d %d %r\n", u, v, edges.weights)
    write_rows(
        stream, "%d %d %r\n", isolated, isolated, np.zeros(isolated.size, edges.weights.dtype)
    )


def _isolated_vertices(n: int, u: Array, v: Array) -> Array:
    alone = np.ones(n, bool)
    alone[u] = alone[v] = False
    return np.flatnonzero(alone)


def write_forest(forest: Forest, stream: BinaryIO) -> None:
    """Write the edges of a forest, with the caller's vertex numbers if there are any."""
    u, v = forest.edges.T
    labels = integer_labels(forest.vertex_labels)
    if labels is not None:
        u, v = labels[u], labels[v]
    stream.write(f"# {headline(forest)}\n".encode())
    write_rows(stream, "%d %d %r\n", u, v, forest.weights)


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest under the caller's vertex numbers."""
    lines = _Lines(source)
    u, v, weights = lines.edges.arrays()
    n_occurring = rank(u, v)[2].size
    if lines.comment.startswith(_GRAPH_HEADER):
        is_edge = u != v  # write() makes a loop for each isolated vertex
        u, v, weights = u[is_edge], v[is_edge], None if weights is None else weights[is_edge]
    return ForestEdges(
        n_vertices=_check_counts(lines.comment, n_occurring, u.size),
        u=u,
        v=v,
        weights=weights,
        maximum=says_maximum(lines.comment),
        are_labels=True,
    )
