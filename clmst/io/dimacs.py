"""DIMACS ``.gr`` files, and SteinLib ``.stp`` files, which PACE also calls ``.gr``.

Three DIMACS formats are read: the shortest path challenge, ``p edge`` files, and the formats of
PACE. ``c`` starts a comment. ``p WORD n m`` declares n vertices and m arcs. ``a u v w`` or ``e u
v`` is an arc, and PACE leaves out the letter. Vertices are numbered from 1. Some files list every
edge once, others in both directions. All arcs between two vertices are one edge, with the minimum
of their weights.

SteinLib files are recognised by their first line. Only the graph section is read: ``Nodes n``,
``Edges m``, and lines ``E u v w`` with vertices numbered from 1. Other sections (terminals,
coordinates, comments) are skipped. Keywords may be in upper or lower case.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from functools import cache
from typing import BinaryIO, TypeAlias

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.edge_text import EdgeText
from clmst.io.file_edges import FileEdges, write_rows
from clmst.io.files import SourceFile
from clmst.io.text import line_error, word_error, words_of

_BOTH_WAYS = "sp"  # shortest paths: files usually have both arcs of each edge
_LONGEST_LINE = 1 << 16


class _Arcs(EdgeText):
    comments = (b"c",)
    letters = ("a", "e")
    noun = "arcs"
    no_header = "there is no p line; it must come before the arcs"

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.opposite = _OppositeArcs()
        self.may_leave_out = True

    def header(self, line: int, words: list[str]) -> bool:
        if self.declared is not None:
            return False
        if words[0] != "p" or len(words) != 4:
            raise line_error(
                line,
                f"{' '.join(words)[:40]!r} is not a p line; the first line that is not a comment "
                "must be 'p sp n m'",
            )
        self.declare(line, *words[2:])
        self.opposite.leaves_out = self.may_leave_out and words[1] == _BOTH_WAYS
        return True

    def edge_words(self, line: int, words: list[str]) -> list[str]:
        if words[0] in self.letters:
            return words[1:]
        if words[0] == "p":
            raise word_error((line, "p"), "starts a second problem; a file must hold one problem")
        if words[0][0] not in "-+0123456789":
            raise word_error(
                (line, words[0]),
                "is not a kind of line of a DIMACS graph; lines must start with c, p, a or e",
            )
        return words

    def gather(self, u: Array, v: Array, w: Array | None = None) -> None:
        for arcs in self.opposite.kept(u, v, w):
            super().gather(*arcs)

    def finish(self) -> None:
        super().finish()
        for arcs in self.opposite.held_back():
            super().gather(*arcs)


def read(source: SourceFile) -> Graph:
    """Read a graph from the DIMACS or SteinLib file `source`. Missing weights are 1.

    In a file of the shortest path challenge, every edge is expected as two opposite arcs, and one
    of the two is dropped at once. If it turns out that some arcs do not have an opposite arc, the
    file is read again, and all arcs are kept.
    """
    if _first_word(source.stream).lower() in (_MAGIC.encode(), b"section"):
        return read_steinlib(source)
    arcs = _Arcs.read(source)
    if not arcs.opposite.are_paired:
        source.stream.seek(0)
        arcs = _Arcs(source)
        arcs.may_leave_out = False
        arcs.gathered()
    return arcs.graph()


def _first_word(stream: BinaryIO) -> bytes:
    """Return the first word of the first line that is not a comment.

    `stream` is at its beginning before and after the call.
    """
    words: list[bytes] = []
    while (not words or words[0].startswith(b"c")) and (line := stream.readline(_LONGEST_LINE)):
        words = line.removeprefix(codecs.BOM_UTF8).split(None, 1)
    stream.seek(0)
    return words[0] if words else b""


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write both arcs of every edge, so that readers of directed graphs see an undirected graph.

    `listing` has the edges, and `stream` is the open file.
    """
    u, v, weights = listing.rows_from_one()
    stream.write(b"p sp %d %d\n" % (listing.n_vertices, 2 * u.size))
    write_rows(stream, "a %d %d %r\na %d %d %r\n", u, v, weights, v, u, weights)


_MAGIC = "33d32945"
_GRAPH = "graph"


def read_steinlib(source: SourceFile) -> Graph:
    """Read the graph section of the SteinLib file `source`. Missing weights are 1."""
    return _Sections.read(source).graph()


class _Sections(EdgeText):
    """The reader of a SteinLib file. It stores the current section and the declared sizes."""

    letters = tuple("EeAa")

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.has_begun = True
        self._sizes: dict[str, str] = {}
        self._section = ""  # its name in lower case; empty outside sections

    def add_plain(self, text: bytes) -> bool:
        """Collect `text`, a block that contains only edges, if the block is in the graph section.

        Return whether it was collected.
        """
        is_inside = self._section == _GRAPH and "nodes" in self._sizes
        return is_inside and not text[:1].isdigit() and super().add_plain(text)

    def edge_lines(self, line: int, text: bytes) -> list[bytes]:
        """Split a block of text into lines, and empty all lines except edges of the graph section.

        The other lines have keywords, which tell where sections begin and end. `line` is the number
        of the first line.
        """
        lines = text.split(b"\n")
        for at, one in enumerate(lines):
            word = "".join(words_of(one)[:1])
            if word in self.letters:
                if not self._section:
                    raise self._outside(line + at, word)
                if self._section == _GRAPH and "nodes" not in self._sizes:
                    raise line_error(line + at, "an edge comes before the line 'Nodes n'")
            elif word:
                self._follow(line + at, words_of(one))
                lines[at] = b""
            if self._section != _GRAPH:
                lines[at] = b""
        return lines

    def edge_words(self, line: int, words: list[str]) -> list[str]:
        return words[1:]

    def _outside(self, line: int, word: str) -> FileFormatError:
        return word_error((line, word), "is outside of a section; SECTION must come before it")

    def _follow(self, line: int, words: list[str]) -> None:
        word = words[0].lower()
        if word.startswith("#"):
            return
        if not self._section:
            if word == "section" and len(words) == 2:
                self._section = words[1].lower()
            elif word not in (_MAGIC, "eof"):
                raise self._outside(line, words[0])
        elif word == "end":
            self._section = ""
        elif self._section == _GRAPH:
            self._take_size(line, words)

    def _take_size(self, line: int, words: list[str]) -> None:
        name = words[0].lower().replace("arcs", "edges")
        if name not in ("nodes", "edges") or len(words) != 2 or name in self._sizes:
            raise word_error(
                (line, words[0]),
                "is not allowed in the graph section; it must hold Nodes n, Edges m and lines E "
                "u v w",
            )
        self._sizes[name] = words[1]
        self.declare(line, self._sizes.get("nodes", "0"), self._sizes.get("edges", "0"))

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


def write_steinlib(listing: FileEdges, stream: BinaryIO) -> None:
    """Write the graph section of a SteinLib file, with every edge once.

    `listing` has the edges, and `stream` is the open file.
    """
    u, v, weights = listing.rows_from_one()
    stream.write(b"33D32945 STP File, STP Format Version 1.0\n\nSECTION Graph\n")
    stream.write(b"Nodes %d\nEdges %d\n" % (listing.n_vertices, u.size))
    write_rows(stream, "E %d %d %r\n", u, v, weights)
    stream.write(b"END\n\nEOF\n")


Arcs: TypeAlias = tuple[Array, Array, Array | None]  # ends u and v, and weights or None

_BITS = 64
_HALF = np.uint64(32)


class _OppositeArcs:
    """A filter that drops one of two opposite arcs while a file is read block by block.

    Opposite arcs in rows 2 k and 2 k + 1 of the file are joined to one edge. If a block ends
    between the two rows, its last arc is held back until the next block. Therefore neither the arcs
    that are kept nor the ids of edges depend on where blocks begin.

    If `leaves_out` is set, arcs from the greater to the lesser vertex that are not joined are
    dropped, in the expectation that their opposites are elsewhere in the file. At the end,
    :attr:`are_paired` tells whether each of the dropped arcs had an opposite arc of equal weight.
    It compares sums of hashes with random keys of this process, so it wrongly is True with a
    probability of 2**-64.
    """

    def __init__(self) -> None:
        self.leaves_out = False
        self._balance = 0
        self._held: list[Arcs] = []  # the last arc of a block, if the number of its row is even

    @property
    def are_paired(self) -> bool:
        """Whether each dropped arc has an opposite arc of equal weight in the file."""
        return self._balance % (1 << _BITS) == 0

    def kept(self, u: Array, v: Array, w: Array | None) -> Iterator[Arcs]:
        """Yield the arcs of a block that are kept, one of each two opposite arcs.

        Arc i of the block leads from ``u[i]`` to ``v[i]``, with the weight ``w[i]``; None as `w`
        means that weights are missing. An arc and its opposite are expected in two consecutive
        rows, of which the first has an even number. If a block ends in an even row, the arc in it
        is held back until the next block, which may have the opposite arc.
        """
        if self._held and u.size:
            following = u[:1], v[:1], None if w is None else w[:1]
            yield from self._kept_across(self._held.pop(), following)
            u, v, w = u[1:], v[1:], None if w is None else w[1:]
        even = u.size - u.size % 2
        if even < u.size:
            self._held.append((u[even:], v[even:], None if w is None else w[even:]))
        yield self._kept(u[:even], v[:even], None if w is None else w[:even])

    def held_back(self) -> Iterator[Arcs]:
        """At the end of the file, yield the arc that was held back, if that arc is kept."""
        for arc in self._held:
            yield self._kept(*arc)

    def _kept_across(self, first: Arcs, second: Arcs) -> Iterator[Arcs]:
        """Join two arcs if they are opposite, and yield the arcs that are kept.

        `first` is the last arc of a block, and `second` the first arc of the next block. Their
        weights may have different dtypes, so they are compared as Python numbers.
        """
        if first[0][0] == second[1][0] and first[1][0] == second[0][0]:
            w = first[2]
            if w is not None and second[2] is not None and second[2].item() < w.item():
                w = second[2]
            yield first[0], first[1], w
        else:
            yield self._kept(*first)
            yield self._kept(*second)

    def _kept(self, u: Array, v: Array, w: Array | None) -> Arcs:
        kept, is_pair, w = _joined(u, v, w)
        u, v, w = u[kept], v[kept], None if w is None else w[kept]
        if not self.leaves_out:
            return u, v, w
        is_open = ~is_pair[kept]
        if not is_open.any():
            return u, v, w
        is_forth, is_back = is_open & (u < v), is_open & (u > v)
        hashes = _hashes(np.minimum(u, v), np.maximum(u, v), w)
        self._balance += int(hashes[is_forth].sum()) - int(hashes[is_back].sum())
        left = is_forth | ~is_open  # drops self-loops too, which are not edges
        return u[left], v[left], None if w is None else w[left]


def _joined(u: Array, v: Array, w: Array | None) -> tuple[Array, Array, Array | None]:
    """Join opposite arcs in rows 2 k and 2 k + 1.

    Arc i leads from ``u[i]`` to ``v[i]``, with the weight ``w[i]``. Returns a mask of the rows that
    are kept, a mask of the rows that are in pairs, and the weights, in which the first row of a
    pair has the minimum of both. The weights are None if `w` is None.
    """
    end = u.size - u.size % 2
    first, second = slice(0, end, 2), slice(1, end, 2)
    both = (u[first] == v[second]) & (v[first] == u[second])
    kept, is_pair = np.ones(u.size, np.bool_), np.zeros(u.size, np.bool_)
    kept[second] = ~both
    is_pair[first] = is_pair[second] = both
    if w is not None:
        lesser = both & (w[second] < w[first])
        w = w.copy()
        w[first][lesser] = w[second][lesser]
    return kept, is_pair, w


def _hashes(lesser: Array, greater: Array, w: Array | None) -> Array:
    """Return a 64-bit hash of each edge (lesser[i], greater[i]) with the weight ``w[i]``.

    None as `w` means that weights are missing. Arithmetic wraps around.
    """
    keys = _secret_keys()
    hashes = lesser.astype(np.uint64) * keys[0]
    hashes ^= hashes >> _HALF
    hashes += greater.astype(np.uint64)
    if w is not None:
        hashes = _mixed(hashes, keys[1])
        hashes += (w + 0.0 if w.dtype.kind == "f" else w).view(np.uint64)  # -0.0 + 0.0 is +0.0
    return _mixed(_mixed(hashes, keys[2]), keys[3])


def _mixed(words: Array, key: np.uint64) -> Array:
    words = words * key
    words ^= words >> _HALF
    return words


@cache
def _secret_keys() -> list[np.uint64]:
    """Return four random odd 64-bit words, which stay unchanged throughout the process."""
    words = np.frombuffer(os.urandom(32), np.uint64) | np.uint64(1)
    return list(words)
