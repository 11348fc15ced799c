"""DIMACS ``.gr``: the shortest path challenge, ``p edge`` files and the formats of PACE.

``c`` starts a comment, ``p WORD n m`` declares n vertices and m arcs, ``a u v w`` or ``e u v`` is
an arc; PACE leaves out the letter. Vertices are numbered from 1. Some files list every edge once,
others in both directions: arcs between the same two vertices are one edge, with the least of their
weights. ``.gr`` files of SteinLib sections are recognised by their first line.
"""

from __future__ import annotations

import codecs
from typing import BinaryIO

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io import steinlib
from clmst.io.edge_text import EdgeText
from clmst.io.file_edges import FileEdges, write_rows
from clmst.io.files import SourceFile
from clmst.io.opposite_arcs import OppositeArcs
from clmst.io.text import Block, blocks

_BOTH_WAYS = "sp"  # the problem whose files have both arcs of an edge as a rule
# By the first byte of a line's first word: what begins a number, and what may name an arc.
_BARE, _LETTER = (np.isin(np.arange(256), [*known]) for known in (b"-+0123456789", b"ae"))
_LONGEST_LINE = 1 << 16


class _Arcs(EdgeText):
    comments = b"c"
    letters = b"ae"
    noun = "arcs"

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.opposite = OppositeArcs(leaves_out=False)
        self.may_leave_out = True

    def header(self, block: Block, lines: Array) -> Array:
        words = block.words(int(lines[0]))
        if words[0] != "p" or len(words) != 4:
            raise block.error(
                int(lines[0]),
                f"{' '.join(words)[:40]!r} is not a p line; the first line that is no comment must "
                "be 'p sp n m'",
            )
        self.declare(block, int(lines[0]), *words[2:])
        self.opposite.leaves_out = self.may_leave_out and words[1] == _BOTH_WAYS
        return lines[1:]

    def fields_before(self, block: Block, lines: Array) -> Array | int:
        heads = block.heads[lines]
        starts = block.starts[heads]
        first = block.text[starts]
        is_lettered = _LETTER[first] & (block.ends[heads] - starts == 1)
        wrong = np.flatnonzero(~(is_lettered | _BARE[first]))
        if wrong.size:
            token = int(heads[wrong[0]])
            if block.word(token) == "p":
                raise block.token_error(token, "starts a second problem; a file holds one")
            raise block.token_error(token, "starts no line of a DIMACS graph; c, p, a and e do")
        skipped: Array = is_lettered.astype(np.int64)
        return skipped

    def gather(self, u: Array, v: Array, w: Array | None = None) -> None:
        super().gather(*self.opposite.kept(u, v, w))

    def finish(self) -> None:
        if self.declared is None:
            raise FileFormatError("there is no p line; it must come before the arcs")
        super().finish()


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
    if steinlib.recognises(_first_word(source.stream)):
        return steinlib.read(source)
    arcs = _Arcs.read(source)
    if not arcs.opposite.are_paired:
        source.stream.seek(0)
        arcs = _Arcs(source)
        arcs.may_leave_out = False
        arcs.gathered(blocks(source.stream))
    return arcs.graph()


def _first_word(stream: BinaryIO) -> bytes:
    """Return the first word of the first line that is no comment."""
    words: list[bytes] = []
    while (not words or words[0].startswith(b"c")) and (line := stream.readline(_LONGEST_LINE)):
        words = line.removeprefix(codecs.BOM_UTF8).split(None, 1)
    stream.seek(0)
    return words[0] if words else b""


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write both arcs of every edge, for readers that take the graph as directed."""
    u, v, weights = listing.rows_from_one()
    stream.write(b"p sp %d %d\n" % (listing.n_vertices, 2 * u.size))
    write_rows(stream, "a %d %d %r\na %d %d %r\n", u, v, weights, v, u, weights)
