"""DIMACS ``.gr``: the shortest path challenge, ``p edge`` files and the formats of PACE.

``c`` starts a comment, ``p WORD n m`` declares n vertices and m arcs, ``a u v w`` or ``e u v`` is
an arc; PACE leaves out the letter. Vertices are numbered from 1. Some files list every edge once,
others in both directions: arcs between the same two vertices are one edge, with the least of their
weights. ``.gr`` files of SteinLib sections are recognised by their first line.
"""

from __future__ import annotations

from itertools import chain
from typing import BinaryIO

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io import steinlib
from clmst.io.blocks import Block, blocks
from clmst.io.declared_sizes import DeclaredSizes
from clmst.io.edge_rows import EdgeRows, write_rows
from clmst.io.files import SourceFile
from clmst.io.opposite_arcs import OppositeArcs
from clmst.io.simple_graph import simple_edges

_BOTH_WAYS = "sp"  # the problem whose files have both arcs of an edge as a rule
# The kind of a line by its first byte; a blank line has 0.
_OTHER, _SKIPPED, _ARC, _BARE_ARC = range(4)
_KINDS = np.full(256, _OTHER, np.uint8)
_KINDS[[0, ord("c")]] = _SKIPPED
_KINDS[list(b"ae")] = _ARC
_KINDS[list(b"-+0123456789")] = _BARE_ARC


def read(source: SourceFile) -> Graph:
    """Read a DIMACS or SteinLib graph; missing weights are 1.

    Raises
    ------
    FileFormatError
        A line breaks the format, or the file holds more or fewer arcs than declared.

    Notes
    -----
    A file of the shortest path challenge is read again if some arcs have no opposite ones.
    """
    graph = _read(source, leaves_out=True)
    if graph is None:
        source.stream.seek(0)
        graph = _read(source, leaves_out=False)
        assert graph is not None, "no arc was left out"
    return graph


def _read(source: SourceFile, *, leaves_out: bool) -> Graph | None:
    """Read a graph; None if arcs were left out that have no opposite ones."""
    opposite = OppositeArcs(leaves_out=False)
    arcs = EdgeRows(first_vertex=1, arcs=opposite)
    declared: DeclaredSizes | None = None
    text = blocks(source.stream, file_bytes=source.stored)
    for block in text:
        if declared is not None and _add_plain(arcs, block, declared.n_vertices):
            continue
        kinds = _KINDS[block.initials()]
        written = np.flatnonzero(kinds != _SKIPPED)
        if written.size == 0:
            continue
        if declared is None:
            first = block.words(int(written[0]))
            if steinlib.recognises(first[0]):
                return steinlib.read_blocks(chain([block], text))
            declared = _problem(block, int(written[0]), first)
            opposite.leaves_out = leaves_out and first[1] == _BOTH_WAYS
            written = written[1:]
        _refuse_others(block, written, kinds)
        bare = kinds[written] == _BARE_ARC
        arcs.add(block, written, skip=np.where(bare, 0, 1), n_vertices=declared.n_vertices)
    if declared is None:
        raise FileFormatError("there is no p line; it must come before the arcs")
    declared.check_edges(arcs.n_rows, what="arcs")
    return arcs.graph(declared.n_vertices) if opposite.are_paired else None


def _add_plain(arcs: EdgeRows, block: Block, n_vertices: int) -> bool:
    letters = b"" if block.raw[:1].isdigit() else b"ae"
    return arcs.add_plain(block, letters=letters, n_vertices=n_vertices)


def _problem(block: Block, line: int, words: list[str]) -> DeclaredSizes:
    """Read the first line that is no comment."""
    if words[0] != "p" or len(words) != 4:
        raise block.error(
            line,
            f"{' '.join(words)[:40]!r} is not a p line; the first line that is no comment must be "
            "'p sp n m'",
        )
    return DeclaredSizes.parse(
        words[2], words[3], line=block.first_line + line, file_bytes=block.file_bytes
    )


def _refuse_others(block: Block, lines: Array, kinds: Array) -> None:
    """Raise if one of `lines` is neither an arc nor skipped."""
    heads = block.heads[lines]
    long = block.ends[heads] - block.starts[heads] > 1
    wrong = np.flatnonzero((kinds[lines] == _OTHER) | ((kinds[lines] == _ARC) & long))
    if wrong.size:
        token = int(heads[wrong[0]])
        if block.word(token) == "p":
            raise block.token_error(token, "starts a second problem; a file holds one")
        raise block.token_error(token, "starts no line of a DIMACS graph; c, p, a and e do")


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write both arcs of every edge, for readers that take the graph as directed."""
    edges = simple_edges(graph)
    stream.write(b"p sp %d %d\n" % (edges.n_vertices, 2 * edges.u.size))
    u, v = edges.u + np.uint32(1), edges.v + np.uint32(1)
    write_rows(stream, "a %d %d %r\na %d %d %r\n", u, v, edges.weights, v, u, edges.weights)
