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

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.vertex_names import rank
from clmst.core.weight_keys import Array
from clmst.io.edge_text import EdgeText
from clmst.io.file_edges import FileEdges, write_rows
from clmst.io.files import SourceFile
from clmst.io.forest_edges import ForestEdges, says_maximum
from clmst.io.text import Block

_HEADER = b"# clmst "
_GRAPH_HEADER = b"# clmst graph: "
_SNAP_COUNTS = re.compile(rb"^#\s*Nodes:\s*(\d{1,19})\s+Edges:\s*(\d{1,19})\b", re.MULTILINE)
_HEAD_BYTES = 4096  # where SNAP's counts are
_COUNTS = re.compile(rb"# clmst (graph|[a-z ]+ forest): (\d{1,19}) vertices and (\d{1,19}) edges ")


class _Lines(EdgeText):
    """The lines of an edge list, before vertices are numbered."""

    first_vertex = 0
    comments = b"#%"
    commas = True

    def begin(self, block: Block) -> None:
        """Look for counts in comments.

        A Matrix Market file is refused: its banner reads as a comment, its sizes as an edge.
        """
        self.comment = block.raw[:256].partition(b"\n")[0]
        if self.comment.lower().startswith(b"%%matrixmarket"):
            raise FileFormatError("line 1 is a Matrix Market banner; the suffix must be .mtx")
        counts = _SNAP_COUNTS.search(block.raw[:_HEAD_BYTES])
        self.least_edges = int(counts[2]) if counts else 0

    def header(self, block: Block, lines: Array) -> Array:
        """Read a header of algs4, if there is one."""
        if lines.size < 2 or (block.counts[lines[:2]] != 1).any():
            return lines
        n, m = (block.words(int(line))[0] for line in lines[:2])
        self.declare(block, int(lines[1]), n, m)
        return lines[2:]

    def finish(self) -> None:
        if self.n_rows < self.least_edges:
            raise FileFormatError(
                f"the header declares {self.least_edges} edges but the file holds "
                f"{self.n_rows}; it must hold as many at least (is the file cut short?)"
            )
        super().finish()


def read(source: SourceFile) -> Graph:
    """Read an edge list; missing weights are 1.

    Edges between the same two vertices become one edge with the least of their weights.

    Raises
    ------
    FileFormatError
        A line breaks the format, or a header declares more or less than there is.
    """
    lines = _Lines.read(source)
    if lines.declared is not None:
        return lines.graph()
    return lines.relabelled_graph(lambda n, m: _check_counts(lines.comment, n, m))


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest under the caller's vertex numbers."""
    lines = _Lines.read(source)
    u, v, weights = lines.arrays()
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


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write every edge once, with the caller's vertex numbers if there are any."""
    sizes = f"{listing.n_vertices} vertices and {listing.u.size} edges"
    header = f"clmst graph: {sizes} as u v weight; an isolated vertex is u u 0"
    stream.write(f"# {listing.headline or header}\n".encode())
    write_rows(stream, "%d %d %r\n", *listing.named_rows(takes_text=False))
