"""DIMACS ``.gr`` and SteinLib ``.stp``, which PACE calls ``.gr`` too.

Of DIMACS these are the shortest path challenge, ``p edge`` files and the formats of PACE: ``c``
starts a comment, ``p WORD n m`` declares n vertices and m arcs, ``a u v w`` or ``e u v`` is an arc;
PACE leaves out the letter. Vertices are numbered from 1. Some files list every edge once, others in
both directions: arcs between the same two vertices are one edge, with the least of their weights.

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

_BOTH_WAYS = "sp"  # the problem whose files have both arcs of an edge as a rule
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
                f"{' '.join(words)[:40]!r} is not a p line; the first line that is no comment must "
                "be 'p sp n m'",
            )
        self.declare(line, *words[2:])
        self.opposite.leaves_out = self.may_leave_out and words[1] == _BOTH_WAYS
        return True

    def edge_words(self, line: int, words: list[str]) -> list[str]:
        if words[0] in self.letters:
            return words[1:]
        if words[0] == "p":
            raise word_error((line, "p"), "starts a second problem; a file holds one")
        if words[0][0] not in "-+0123456789":
            raise word_error((line, words[0]), "starts no line of a DIMACS graph; c, p, a and e do")
        return words

    def gather(self, u: Array, v: Array, w: Array | None = None) -> None:
        for arcs in self.opposite.kept(u, v, w):
            super().gather(*arcs)

    def finish(self) -> None:
        super().finish()
        for arcs in self.opposite.held_back():
            super().gather(*arcs)


def read(source: SourceFile) -> Graph:
    """Read a DIMACS or SteinLib graph; missing weights are 1.

    A file of the shortest path challenge is read again if some arcs have no opposite ones.
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


_MAGIC = "33d32945"
_GRAPH = "graph"


def read_steinlib(source: SourceFile) -> Graph:
    """Read the graph section of a SteinLib file; missing weights are 1."""
    return _Sections.read(source).graph()


class _Sections(EdgeText):
    """The position in a SteinLib file, and the sizes that the graph section declared."""

    letters = tuple("EeAa")

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.has_begun = True
        self._sizes: dict[str, str] = {}
        self._section = ""  # its name in lower case; empty outside of sections

    def add_plain(self, text: bytes) -> bool:
        """Take a block that has nothing but edges, inside of the graph section alone."""
        is_inside = self._section == _GRAPH and "nodes" in self._sizes
        return is_inside and not text[:1].isdigit() and super().add_plain(text)

    def edge_lines(self, line: int, text: bytes) -> list[bytes]:
        """Keep the edges of the graph section; follow all other lines."""
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
                "has no place here; the graph section holds Nodes n, Edges m and lines E u v w",
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
    """Write the graph section, every edge once."""
    u, v, weights = listing.rows_from_one()
    stream.write(b"33D32945 STP File, STP Format Version 1.0\n\nSECTION Graph\n")
    stream.write(b"Nodes %d\nEdges %d\n" % (listing.n_vertices, u.size))
    write_rows(stream, "E %d %d %r\n", u, v, weights)
    stream.write(b"END\n\nEOF\n")


Arcs: TypeAlias = tuple[Array, Array, Array | None]  # ends u and v, and weights if there are any

_BITS = 64
_HALF = np.uint64(32)


class _OppositeArcs:
    """Arcs of a file, block by block, without what is known from opposite ones.

    Two opposite arcs in rows 2 k and 2 k + 1 of the file are joined. If a block ends between the
    two rows, its last arc is held back for the next block. So which arcs are kept, and the ids of
    edges, do not depend on where blocks begin. With `leaves_out`, those that stand apart
    and go from the greater vertex to the lesser are left out. A balance tells at the end whether
    each of them has an opposite arc of the same weight. It is a sum of hashes by secret keys of
    this process, so a file whose arcs are not paired passes with a probability of 2**-64.
    """

    def __init__(self) -> None:
        self.leaves_out = False
        self._balance = 0
        self._held: list[Arcs] = []  # the arc in the last row, if it has an even number

    @property
    def are_paired(self) -> bool:
        """Whether each arc that was left out has an opposite one of the same weight."""
        return self._balance % (1 << _BITS) == 0

    def kept(self, u: Array, v: Array, w: Array | None) -> Iterator[Arcs]:
        """Yield the arcs of a block that are to be kept, without one that is held back."""
        if self._held and u.size:
            following = u[:1], v[:1], None if w is None else w[:1]
            yield from self._kept_across(self._held.pop(), following)
            u, v, w = u[1:], v[1:], None if w is None else w[1:]
        even = u.size - u.size % 2
        if even < u.size:
            self._held.append((u[even:], v[even:], None if w is None else w[even:]))
        yield self._kept(u[:even], v[:even], None if w is None else w[:even])

    def held_back(self) -> Iterator[Arcs]:
        """Yield the arc that is held back at the end of the file, if it is to be kept."""
        for arc in self._held:
            yield self._kept(*arc)

    def _kept_across(self, first: Arcs, second: Arcs) -> Iterator[Arcs]:
        """Yield which of two arcs are to be kept: the last one of a block, the first of the next.

        Their weights may have different dtypes, so they are compared as Python's numbers.
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
        left = is_forth | ~is_open  # no loops either: they are no edges
        return u[left], v[left], None if w is None else w[left]


def _joined(u: Array, v: Array, w: Array | None) -> tuple[Array, Array, Array | None]:
    """Join opposite arcs in rows 2 k and 2 k + 1.

    Return which rows are kept, which are in pairs, and the weights: the first row of a pair has the
    lesser one.
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
    """Return a hash of 64 bits for each edge and its weight; sums and products wrap around."""
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
    """Return four random odd words, the same ones throughout the process."""
    words = np.frombuffer(os.urandom(32), np.uint64) | np.uint64(1)
    return list(words)
