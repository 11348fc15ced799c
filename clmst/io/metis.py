"""METIS ``.graph``: line i lists the neighbours of vertex i.

The header is ``n m [fmt [ncon]]``; the digits of fmt say whether a line starts with the size of the
vertex (100) and its ncon weights (10), which are skipped, and whether each neighbour is followed by
the weight of the edge (1). ``%`` starts a comment; a blank line is a vertex without neighbours.
Vertices are numbered from 1, and every edge is in the lines of both of its vertices, with the same
weight.
"""

from __future__ import annotations

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
from clmst.io.numbers import GrowingArray, integers
from clmst.io.text import Block, blocks

_VERTICES_AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    """The first line: the sizes, and what a line has in addition to neighbours."""

    declared: DeclaredSizes
    skip: int  # numbers before the first neighbour
    weighted: bool

    @classmethod
    def parse(cls, block: Block, line: int, file_bytes: int | None) -> _Header:
        words = block.words(line)
        if not 2 <= len(words) <= 4 or not all(word.isascii() and word.isdigit() for word in words):
            raise block.error(
                line, f"{' '.join(words)[:40]!r} is not a header; it must be 'n m [fmt [ncon]]'"
            )
        fmt = words[2].zfill(3) if len(words) > 2 else "000"
        if len(fmt) != 3 or set(fmt) - {"0", "1"}:
            raise block.error(line, f"fmt is {words[2]!r}; it must be three digits, each 0 or 1")
        ncon = int(words[3][:9]) if len(words) > 3 else 1
        return cls(
            declared=DeclaredSizes.parse(
                words[0], words[1], line=block.first_line + line, file_bytes=file_bytes
            ),
            skip=int(fmt[0]) + (ncon if fmt[1] == "1" else 0),
            weighted=fmt[2] == "1",
        )


class _VertexLines:
    """The lines of vertices, gathered block by block."""

    def __init__(self, header: _Header) -> None:
        self._header = header
        self.n_rows = 0
        self._degrees, self._columns, self._weights = (GrowingArray() for _ in range(3))

    def add(self, block: Block, lines: Array) -> None:
        left = self._header.declared.n_vertices - self.n_rows
        extra = lines[left:]
        if block.counts[extra].any():
            line = int(extra[block.counts[extra].argmax()])
            raise block.error(
                line,
                f"this is vertex {self._header.declared.n_vertices + 1} or more; the header "
                f"declares {self._header.declared.n_vertices}",
            )
        lines = lines[:left]
        self._degrees.append(self._count_neighbours(block, lines))
        self._take_numbers(block, lines)
        self.n_rows += lines.size

    def _count_neighbours(self, block: Block, lines: Array) -> Array:
        rest = block.counts[lines] - self._header.skip
        wrong = np.flatnonzero(rest < 0)
        if wrong.size:
            raise block.error(
                int(lines[wrong[0]]),
                f"there are {block.counts[lines[wrong[0]]]} numbers; fmt and ncon of the header "
                f"ask for {self._header.skip} in front of the neighbours",
            )
        if not self._header.weighted:
            return rest
        odd = np.flatnonzero(rest % 2)
        if odd.size:
            raise block.error(
                int(lines[odd[0]]),
                f"there are {rest[odd[0]]} numbers for neighbours; "
                "each must be followed by the weight of its edge",
            )
        return rest // 2

    def _take_numbers(self, block: Block, lines: Array) -> None:
        counts, heads = block.counts[lines], block.heads[lines]
        if lines.size and int(lines[-1] - lines[0]) == lines.size - 1:  # no comments in between
            tokens = np.arange(heads[0], heads[-1] + counts[-1])
        else:
            firsts = heads - np.cumsum(counts) + counts
            tokens = np.arange(counts.sum()) + np.repeat(firsts, counts)
        values = integers(block, tokens, "is not an integer of 64 bits")
        if self._header.weighted and not self._header.skip:  # a neighbour and its weight by turns
            columns, tokens = values[::2], tokens[::2]
            self._weights.append(values[1::2])
        else:
            position = tokens - np.repeat(heads + self._header.skip, counts)
            is_column = position >= 0
            if self._header.weighted:
                self._weights.append(values[is_column & (position % 2 == 1)])
                is_column &= position % 2 == 0
            columns, tokens = values[is_column], tokens[is_column]
        n = self._header.declared.n_vertices
        if columns.size and not 1 <= int(columns.min()) <= int(columns.max()) <= n:
            wrong = int(((columns < 1) | (columns > n)).argmax())
            raise block.token_error(
                int(tokens[wrong]), f"is not a vertex number; they go from 1 to {n}"
            )
        columns = columns.astype(np.uint32)
        columns -= np.uint32(1)
        self._columns.append(columns)

    def csr(self) -> tuple[Array, Array, Array]:
        """Return (indptr, indices, weights), rows as the file lists them."""
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
    """Read a METIS graph; missing weights are 1."""
    rows: _VertexLines | None = None
    for block in blocks(source.stream):
        initials = block.initials()
        lines = np.flatnonzero(initials != ord("%"))
        if rows is None:
            lines = lines[np.maximum.accumulate(initials[lines] != 0)]  # from the header on
            if lines.size == 0:
                continue
            rows = _VertexLines(_Header.parse(block, int(lines[0]), source.stored))
            lines = lines[1:]
        rows.add(block, lines)
    if rows is None:
        raise FileFormatError("there is no header; the first line must be 'n m [fmt [ncon]]'")
    return _symmetric(list(rows.csr()))


def _symmetric(parts: list[Array]) -> Graph:
    """Return the graph of a CSR; raise unless it is the adjacency of a simple undirected graph.

    The arrays are taken out of the list, so that their memory is free as soon as it can be.
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
        indptr=csr.as_uint32(straight[0]),
        indices=csr.as_uint32(straight[1]),
        weights=straight[2],
        is_symmetric=True,
        edge_ids=None,
        n_input=n_slots,
    )


def _check_simple(indptr: Array, indices: Array) -> None:
    """Raise on a self-loop, or a neighbour listed twice, in sorted rows."""
    twice = indices[1:] == indices[:-1]
    starts = indptr[1:-1].astype(np.int64)
    twice[starts[(starts > 0) & (starts < indices.size)] - 1] = False  # the rows differ
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
    """Write a METIS graph with edge weights, which must be positive integers."""
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
