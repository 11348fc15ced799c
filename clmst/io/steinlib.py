"""SteinLib ``.stp``, also found as ``.gr`` in the PACE challenges.

Only the graph section is read: ``Nodes n``, ``Edges m``, and lines ``E u v w`` with vertices
numbered from 1. Other sections (terminals, coordinates, comments) are skipped. Keywords may be in
upper or lower case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.blocks import Block, blocks
from clmst.io.declared_sizes import DeclaredSizes
from clmst.io.edge_rows import EdgeRows, write_rows
from clmst.io.files import SourceFile
from clmst.io.simple_graph import simple_edges

_MAGIC = "33d32945"
_GRAPH = "graph"


def recognises(word: str) -> bool:
    """Whether `word` is the first of a SteinLib file."""
    return word.lower() in (_MAGIC, "section")


def read(source: SourceFile) -> Graph:
    """Read the graph section of a SteinLib file; missing weights are 1.

    Raises
    ------
    FileFormatError
        A line of the section breaks the format, the section does not end, or it holds more or
        fewer edges than declared.
    """
    return read_blocks(blocks(source.stream, file_bytes=source.stored))


def read_blocks(text: Iterable[Block]) -> Graph:
    """Read a SteinLib file that was opened by another reader."""
    sections = _Sections()
    edges = EdgeRows(first_vertex=1)
    for block in text:
        n = sections.n_vertices
        if n is not None and edges.add_plain(block, letters=b"EeAa", n_vertices=n):
            continue
        lines = sections.edge_lines(block)
        if lines.size and "nodes" not in sections.declared:
            raise block.error(int(lines[0]), "an edge comes before the line 'Nodes n'")
        if lines.size:
            edges.add(block, lines, skip=1, n_vertices=int(sections.declared["nodes"]))
    declared = sections.sizes()
    declared.check_edges(edges.n_rows)
    return edges.graph(declared.n_vertices)


class _Sections:
    """The position in a SteinLib file, and the sizes that the graph section declared."""

    def __init__(self) -> None:
        self.declared: dict[str, str] = {}
        self._section = ""  # its name in lower case; empty outside of sections
        self._line = 1
        self._file_bytes: int | None = None

    @property
    def n_vertices(self) -> int | None:
        """The number of vertices, inside of the graph section and if it is declared."""
        is_known = self._section == _GRAPH and "nodes" in self.declared
        return int(self.declared["nodes"]) if is_known else None

    def edge_lines(self, block: Block) -> Array:
        """Return which lines of `block` are edges of the graph section; follow all others."""
        written = block.counts > 0
        heads = block.heads[written]
        letters = np.isin(block.initials(), list(b"EeAa"))
        letters[written] &= block.ends[heads] - block.starts[heads] == 1
        is_edge = np.zeros(block.n_lines, bool)
        others = np.flatnonzero(written & ~letters).tolist()
        start = 0
        for line in [*others, block.n_lines]:
            lettered = letters[start:line]
            if not self._section and lettered.any():
                self._refuse_outside(block, start + int(lettered.argmax()))
            is_edge[start:line] = lettered & (self._section == _GRAPH)
            start = line
            if line < block.n_lines:
                self._take(block, line, block.words(line))
        return np.flatnonzero(is_edge)

    def _refuse_outside(self, block: Block, line: int) -> None:
        raise block.token_error(
            int(block.heads[line]), "is outside of a section; SECTION must come before it"
        )

    def _take(self, block: Block, line: int, words: list[str]) -> None:
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
            self._take_declaration(block, line, words)

    def _take_declaration(self, block: Block, line: int, words: list[str]) -> None:
        name = words[0].lower().replace("arcs", "edges")
        if name not in ("nodes", "edges") or len(words) != 2 or name in self.declared:
            raise block.token_error(
                int(block.heads[line]),
                "has no place here; the graph section holds Nodes n, Edges m and lines E u v w",
            )
        self.declared[name] = words[1]
        self._line, self._file_bytes = block.first_line + line, block.file_bytes
        self._parse(self.declared.get("nodes", "0"), self.declared.get("edges", "0"))

    def _parse(self, nodes: str, edges: str) -> DeclaredSizes:
        return DeclaredSizes.parse(nodes, edges, line=self._line, file_bytes=self._file_bytes)

    def sizes(self) -> DeclaredSizes:
        """Return what the graph section declared; raise if it declared nothing, or did not end."""
        if self._section:
            raise FileFormatError(
                f"section {self._section!r} does not end; END must close it "
                "(is the file cut short?)"
            )
        if self.declared.keys() != {"nodes", "edges"}:
            raise FileFormatError(
                "there is no graph section with Nodes and Edges; it must be there"
            )
        return self._parse(self.declared["nodes"], self.declared["edges"])


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write the graph section, every edge once."""
    edges = simple_edges(graph)
    stream.write(b"33D32945 STP File, STP Format Version 1.0\n\nSECTION Graph\n")
    stream.write(b"Nodes %d\nEdges %d\n" % (edges.n_vertices, edges.u.size))
    one = np.uint32(1)
    write_rows(stream, "E %d %d %r\n", edges.u + one, edges.v + one, edges.weights)
    stream.write(b"END\n\nEOF\n")
