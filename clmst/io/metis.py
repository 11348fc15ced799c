"""METIS ``.graph`` files, in which line i lists the neighbours of vertex i.

The header is ``n m [fmt [ncon]]``. The three digits of fmt say whether a line starts with the size
of the vertex (100), whether its ncon weights follow (10), and whether each neighbour is followed by
the weight of the edge (1). Sizes and weights of vertices are skipped. ``%`` starts a comment. A
blank line is a vertex without neighbours. Vertices are numbered from 1. Every edge is in the lines
of both of its vertices, with equal weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

import numpy as np

from clmst.core import csr
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_shape, check_size
from clmst.core.weight_keys import Array
from clmst.io.file_edges import FileEdges
from clmst.io.files import DeclaredSizes, SourceFile
from clmst.io.text import (
    GrowingArray,
    blocks,
    line_error,
    numbers,
    word_counts,
    word_error,
    words_of,
)

_VERTICES_AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    """The first line of a file: the sizes, and which numbers a line has besides neighbours."""

    declared: DeclaredSizes
    skip: int  # how many numbers come before the first neighbour
    weighted: bool

    @classmethod
    def parse(cls, line: int, words: list[str], file_bytes: int | None) -> _Header:
        if not 2 <= len(words) <= 4 or not all(word.isascii() and word.isdigit() for word in words):
            raise line_error(
                line, f"{' '.join(words)[:40]!r} is not a header; it must be 'n m [fmt [ncon]]'"
            )
        fmt = words[2].zfill(3) if len(words) > 2 else "000"
        if len(fmt) != 3 or set(fmt) - {"0", "1"}:
            raise line_error(line, f"fmt is {words[2]!r}; it must be three digits, each 0 or 1")
        ncon = int(words[3][:9]) if len(words) > 3 else 1
        return cls(
            declared=DeclaredSizes.parse(*words[:2], line=line, file_bytes=file_bytes),
            skip=int(fmt[0]) + (ncon if fmt[1] == "1" else 0),
            weighted=fmt[2] == "1",
        )


class _VertexLines:
    """The reader of the lines of vertices, which collects the neighbours block by block."""

    def __init__(self, header: _Header) -> None:
        self._header = header
        self.n_rows = 0
        self._degrees, self._columns, self._weights = (GrowingArray() for _ in range(3))

    def add(self, lines: list[bytes], at: Sequence[int]) -> None:
        """Collect some lines, each of which lists the neighbours of a vertex.

        `at` has the numbers of the lines in the file. Raises :class:`FileFormatError` if a line is
        wrong, or if there are more lines than vertices.
        """
        n, skip = self._header.declared.n_vertices, self._header.skip
        left = n - self.n_rows
        for line, one in zip(at[left:], lines[left:], strict=True):
            if one.strip():
                raise line_error(line, f"this is vertex {n + 1} or more; the header declares {n}")
        if not (lines := lines[:left]):
            return
        counts = word_counts(lines)
        degrees = self._degrees_of(counts, at)
        values = numbers(lines, at[:left], "is not an integer of 64 bits")
        kept = np.ones(values.size, bool)
        if skip:
            begins = np.cumsum(counts) - counts
            kept[(begins[:, None] + np.arange(skip)).ravel()] = False
            values = values[kept]
        if self._header.weighted:  # neighbours and weights alternate
            self._weights.append(values[1::2])
            values = values[::2]
        if values.size and not 1 <= int(values.min()) <= int(values.max()) <= n:
            wrong = int(((values < 1) | (values > n)).argmax()) * (1 + self._header.weighted)
            word = int(np.flatnonzero(kept)[wrong])
            ends = np.cumsum(counts)
            row = int(np.searchsorted(ends, word, side="right"))
            raise word_error(
                (at[row], words_of(lines[row])[word - int(ends[row])]),
                f"is not a vertex number; they go from 1 to {n}",
            )
        columns = values.astype(np.uint32)
        columns -= np.uint32(1)
        self._columns.append(columns)
        self._degrees.append(degrees)
        self.n_rows += len(lines)

    def _degrees_of(self, counts: Array, at: Sequence[int]) -> Array:
        """Return the number of neighbours in each line, given the number of words in the line.

        `counts` are the numbers of words, and `at` the numbers of the lines, for messages.
        """
        rest = counts - self._header.skip
        if (rest < 0).any():
            wrong = int((rest < 0).argmax())
            raise line_error(
                at[wrong],
                f"there are {counts[wrong]} numbers; fmt and ncon of the header "
                f"ask for {self._header.skip} in front of the neighbours",
            )
        if not self._header.weighted:
            return rest
        if (rest % 2).any():
            wrong = int((rest % 2).argmax())
            raise line_error(
                at[wrong],
                f"there are {rest[wrong]} numbers for neighbours; "
                "each must be followed by the weight of its edge",
            )
        return rest // 2

    def csr(self) -> tuple[Array, Array, Array]:
        """Return (indptr, indices, weights) with the neighbours in the order of the file.

        Raises :class:`FileFormatError` if the header declares other sizes. Missing weights are 1.
        """
        declared = self._header.declared
        if self.n_rows != declared.n_vertices:
            raise FileFormatError(
                f"the header declares {declared.n_vertices} vertices but the file has "
                f"{self.n_rows} lines for them; they must be equal (is the file cut short?)"
            )
        indptr = np.zeros(self.n_rows + 1, np.int64)
        np.cumsum(self._degrees.take(), out=indptr[1:])
        columns = self._columns.take()
        if columns.size != 2 * declared.n_edges:
            raise FileFormatError(
                f"the header declares {declared.n_edges} edges but the file lists {columns.size} "
                "neighbours; there must be two for each edge (is the file cut short?)"
            )
        if not (columns.size and self._header.weighted):
            return indptr, columns, np.ones(columns.size, np.uint8)
        return indptr, columns, self._weights.take()


def read(source: SourceFile) -> Graph:
    """Read a graph from the METIS file `source`. Missing weights are 1."""
    rows: _VertexLines | None = None
    for first, text in blocks(source.stream):
        lines = text.removesuffix(b"\n").split(b"\n")
        at: Sequence[int] = range(first, first + len(lines))
        if b"%" in text:
            kept = [k for k, line in enumerate(lines) if not line.lstrip().startswith(b"%")]
            lines, at = [lines[k] for k in kept], [at[k] for k in kept]
        if rows is None:
            start = next((k for k, line in enumerate(lines) if line.strip()), None)
            if start is None:
                continue
            rows = _VertexLines(_Header.parse(at[start], words_of(lines[start]), source.stored))
            lines, at = lines[start + 1 :], at[start + 1 :]
        rows.add(lines, at)
    if rows is None:
        raise FileFormatError("there is no header; the first line must be 'n m [fmt [ncon]]'")
    return _symmetric(list(rows.csr()))


def _symmetric(parts: list[Array]) -> Graph:
    """Return the graph of a CSR that must be symmetric, without self-loops and parallel edges.

    `parts` is the list [indptr, indices, weights]. It is emptied, so that the memory of the arrays
    can be freed early. Raises :class:`FileFormatError` if the CSR is not symmetric, or has
    self-loops or parallel edges.
    """
    n, n_slots = parts[0].size - 1, parts[1].size
    check_shape((n, n))
    check_size(n, n_slots)
    if not n_slots:
        return Graph.from_csr(*parts)
    indptr, indices, weights = csr.as_uint32(parts[0]), csr.as_uint32(parts[1]), parts[2]
    parts.clear()
    mirrored = csr.transpose(indptr, indices, weights)
    straight = (indptr, indices, weights)
    del indptr, indices, weights
    if not csr.rows_are_sorted(straight[0], straight[1]):
        del straight
        straight = csr.transpose(
            csr.as_uint32(mirrored[0]), csr.as_uint32(mirrored[1]), mirrored[2]
        )
    _check_simple(straight[0], straight[1])
    if not all(np.array_equal(straight[k], mirrored[k]) for k in (0, 1)):
        keys = _slot_keys(straight[0], straight[1])
        mirrored_keys = _slot_keys(mirrored[0], mirrored[1])
        u, v = divmod(int(np.setdiff1d(keys, mirrored_keys, assume_unique=True)[0]), n)
        raise FileFormatError(
            f"vertex {u + 1} lists {v + 1} but {v + 1} does not list {u + 1}; "
            "every edge must stand in both lines"
        )
    if (unequal := np.flatnonzero(straight[2] != mirrored[2])).size:
        at = int(unequal[0])
        u, v = csr.endpoints_of(straight[0], straight[1], at)
        raise FileFormatError(
            f"the edge of {u + 1} and {v + 1} weighs {straight[2][at]} in the line of {u + 1} and "
            f"{mirrored[2][at]} in that of {v + 1}; they must be equal"
        )
    del mirrored
    return Graph.unchecked(
        indptr=csr.as_uint32(straight[0]), indices=csr.as_uint32(straight[1]), weights=straight[2],
        is_symmetric=True, edge_ids=None, n_input=n_slots,
    )  # fmt: skip


def _check_simple(indptr: Array, indices: Array) -> None:
    """Raise FileFormatError if a row contains its own vertex, or a neighbour twice.

    `indptr` and `indices` are a CSR with sorted rows.
    """
    twice = indices[1:] == indices[:-1]
    starts = indptr[1:-1].astype(np.int64)
    # `twice` marks each column that equals the next one. This is not a fault if the next column
    # begins another row.
    twice[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    if twice.any():
        u, v = csr.endpoints_of(indptr, indices, int(twice.argmax()))
        raise FileFormatError(f"vertex {u + 1} lists {v + 1} twice; each neighbour is listed once")
    del twice
    if (loops := np.flatnonzero(csr.expand_rows(indptr) == indices)).size:
        u = int(indices[loops[0]]) + 1
        raise FileFormatError(f"vertex {u} lists itself; METIS graphs have no self-loops")


def _slot_keys(indptr: Array, indices: Array) -> Array:
    n = np.uint64(indptr.size - 1)
    return csr.expand_rows(indptr).astype(np.uint64) * n + indices.astype(np.uint64)


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write a METIS graph with edge weights.

    `listing` has the edges, and `stream` is the open file. Raises :class:`InvalidArgumentError`
    unless all weights are positive integers.
    """
    weights = listing.weights
    is_integer = weights.dtype.kind in "iu"
    wrong = np.flatnonzero(weights <= 0 if is_integer else np.ones(weights.size, bool))
    if wrong.size:
        at = int(wrong[0])
        raise InvalidArgumentError(
            f"edge ({listing.u[at]}, {listing.v[at]}) weighs {weights[at].item()!r} "
            f"in {weights.dtype}; METIS weights are positive integers"
        )
    indptr, indices, weights = listing.symmetric_csr()
    stream.write(b"%d %d 001\n" % (listing.n_vertices, listing.u.size))
    for first in range(0, listing.n_vertices, _VERTICES_AT_ONCE):
        bounds = indptr[first : first + _VERTICES_AT_ONCE + 1].tolist()
        part = slice(bounds[0], bounds[-1])
        pairs = zip(
            (indices[part].astype(np.int64) + 1).tolist(), weights[part].tolist(), strict=True
        )
        words = [f"{v} {w}" for v, w in pairs]
        ends = [bound - bounds[0] for bound in bounds]
        rows = (" ".join(words[a:b]) for a, b in pairwise(ends))
        stream.write("".join(f"{row}\n" for row in rows).encode("ascii"))
