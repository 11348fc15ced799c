"""SteinLib ``.stp``, also found as ``.gr`` in the PACE challenges.

Only the graph section is read: ``Nodes n``, ``Edges m``, and lines ``E u v w`` with vertices
numbered from 1. Other sections (terminals, coordinates, comments) are skipped. Keywords may be in
upper or lower case.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.edge_text import EdgeText
from clmst.io.file_edges import FileEdges, write_rows
from clmst.io.files import SourceFile
from clmst.io.text import Block

_MAGIC = "33d32945"
_GRAPH = "graph"
_LETTERS = np.frombuffer(b"EeAa", np.uint8)


def recognises(word: bytes) -> bool:
    """Return whether `word` is the first of a SteinLib file."""
    return word.lower() in (_MAGIC.encode(), b"section")


def read(source: SourceFile) -> Graph:
    """Read the graph section of a SteinLib file; missing weights are 1.

    Raises
    ------
    FileFormatError
        A line of the section breaks the format, the section does not end, or it holds more or
        fewer edges than declared.
    """
    return _Sections.read(source).graph()


class _Sections(EdgeText):
    """The position in a SteinLib file, and the sizes that the graph section declared."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self._sizes: dict[str, str] = {}
        self._section = ""  # its name in lower case; empty outside of sections

    @property
    def letters(self) -> bytes:  # type: ignore[override]  # only inside of the graph section
        """What begins an edge."""
        return b"EeAa" if self._section == _GRAPH and "nodes" in self._sizes else b"?"

    def edge_lines(self, block: Block) -> Array:
        """Return the edges of the graph section; follow all other lines."""
        heads = np.flatnonzero(block.counts)
        tokens = block.heads[heads]
        is_letter = np.isin(block.text[block.starts[tokens]], _LETTERS)
        is_letter &= block.ends[tokens] - block.starts[tokens] == 1
        is_edge = np.zeros(heads.size, bool)
        start = 0
        for at in [*np.flatnonzero(~is_letter).tolist(), heads.size]:
            if start < at:
                line = int(heads[start])
                if not self._section:
                    self._refuse_outside(block, line)
                if self._section == _GRAPH and "nodes" not in self._sizes:
                    raise block.error(line, "an edge comes before the line 'Nodes n'")
                is_edge[start:at] = self._section == _GRAPH
            if at < heads.size:
                self._follow(block, int(heads[at]), block.words(int(heads[at])))
            start = at + 1
        return heads[is_edge]

    def fields_before(self, block: Block, lines: Array) -> int:
        return 1

    def _refuse_outside(self, block: Block, line: int) -> None:
        raise block.token_error(
            int(block.heads[line]), "is outside of a section; SECTION must come before it"
        )

    def _follow(self, block: Block, line: int, words: list[str]) -> None:
        """Take a line that is no edge."""
        word = words[0].lower()
        if word.startswith("#"):
            return
        if not self._section:
            if word == "section" and len(words) == 2:
                self._section = words[1].lower()
            elif word not in (_MAGIC, "eof"):
                self._refuse_outside(block, line)
        elif word == "end":
            self._section = ""
        elif self._section == _GRAPH:
            self._take_size(block, line, word.replace("arcs", "edges"), words[1:])

    def _take_size(self, block: Block, line: int, name: str, numbers: list[str]) -> None:
        if name not in ("nodes", "edges") or len(numbers) != 1 or name in self._sizes:
            raise block.token_error(
                int(block.heads[line]),
                "has no place here; the graph section holds Nodes n, Edges m and lines E u v w",
            )
        self._sizes[name] = numbers[0]
        self.declare(block, line, self._sizes.get("nodes", "0"), self._sizes.get("edges", "0"))

    def finish(self) -> None:
        if self._section:
            raise FileFormatError(
                f"section {self._section!r} does not end; END must close it "
                "(is the file cut short?)"
            )
        if self._sizes.keys() != {"nodes", "edges"}:
            raise FileFormatError(
                "there is no graph section with Nodes and Edges; it must be there"
            )
        super().finish()


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write the graph section, every edge once."""
    u, v, weights = listing.rows_from_one()
    stream.write(b"33D32945 STP File, STP Format Version 1.0\n\nSECTION Graph\n")
    stream.write(b"Nodes %d\nEdges %d\n" % (listing.n_vertices, u.size))
    write_rows(stream, "E %d %d %r\n", u, v, weights)
    stream.write(b"END\n\nEOF\n")
