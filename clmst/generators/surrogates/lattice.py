"""Surrogate graphs on a lattice: grids, triangulated grids and road maps, written row by row.

A surrogate stands for a real graph that a paper has measured. Vertex x is in row x // columns. Its
edges lead to x plus or minus one of a few fixed offsets. So its neighbours are known in ascending
order, and a sort is not needed. One byte for each vertex says which of its edges to vertices with
lower numbers exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.core.graph import Graph
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array
from clmst.generators.edges import packed
from clmst.generators.hashing import Words, next_words
from clmst.generators.surrogates.rows import BLOCK, symmetric_graph, weights_of

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """Consecutive vertices of a lattice, and which of three neighbours each vertex has.

    The neighbours are to the left, above and to the right. The first row is the top row.
    """

    vertices: npt.NDArray[np.int64]
    has_left: Flags
    has_above: Flags
    has_right: Flags

    @classmethod
    def of(cls, block: slice, columns: int) -> _Span:
        vertices = np.arange(block.start, block.stop)
        column = vertices % columns
        return cls(
            vertices=vertices,
            has_left=column > 0,
            has_above=vertices >= columns,
            has_right=column < columns - 1,
        )

    def hashes(self, offset: int = 0) -> Words:
        """Return, for each vertex x of the span, the hash of the number x - `offset`.

        The hash is meaningless if this number is negative.
        """
        return next_words((self.vertices - offset).astype(np.uint64))


Backward = Callable[[_Span], tuple[Flags, ...]]
"""A function that says which edges to lesser vertices exist.

For each offset of the lattice, it returns a mask of the vertices x of the span that have an edge to
the vertex x - offset.
"""


def grid(*, rows: int, columns: int) -> Graph:
    """Make a rectangular grid, in which every vertex is joined to its up to four neighbours.

    Vertex x is in row x // columns.
    """
    return _lattice(
        rows * columns, columns, (columns, 1), lambda span: (span.has_above, span.has_left)
    )


def triangulated(*, rows: int, columns: int) -> Graph:
    """Make a rectangular grid in which each square also has one of its two diagonals.

    A bit of a hash of the square's upper left vertex chooses the diagonal. The grid must have at
    least three columns, so that all neighbours of a vertex are different vertices.
    """

    def backward(span: _Span) -> tuple[Flags, ...]:
        falling = _bit(span.hashes(columns + 1), 0)
        rising = ~_bit(span.hashes(columns), 0)
        return (
            span.has_above & span.has_left & falling,
            span.has_above,
            span.has_above & span.has_right & rising,
            span.has_left,
        )

    return _lattice(rows * columns, columns, (columns + 1, columns, columns - 1, 1), backward)


def road_map(*, rows: int, columns: int, extra: float) -> Graph:
    """Make a random spanning tree of a rectangular grid, with some further edges that close cycles.

    If a vertex has a left and an upper neighbour, one bit of the vertex's hash decides to which of
    the two it is joined. With probability `extra`, which is decided by 24 further bits, it is
    joined to the other one, too.
    """
    limit = np.uint64(math.ceil(extra * 2.0**24))

    def backward(span: _Span) -> tuple[Flags, ...]:
        hashes = span.hashes()
        has_both = span.has_left & span.has_above
        is_left = span.has_left & (~span.has_above | _bit(hashes, 0))
        closes = has_both & ((hashes >> np.uint64(8)) & np.uint64(0xFFFFFF) < limit)
        return (span.has_above & ~is_left) | closes, is_left | closes

    return _lattice(rows * columns, columns, (columns, 1), backward)


def _bit(words: Words, bit: int) -> Flags:
    return (words >> np.uint64(bit) & np.uint64(1)).astype(bool)


def _lattice(n: int, columns: int, offsets: tuple[int, ...], backward: Backward) -> Graph:
    """Make the graph of a lattice with `n` vertices and `columns` columns, in O(n).

    For each of the `offsets`, the function `backward` says which vertices x have an edge to x -
    offset. The offsets must be in descending order, so that neighbours are in ascending order. One
    byte per vertex is allocated in addition to the graph.
    """
    padded = np.zeros(n + offsets[0], np.uint8)  # zeros: no edge leads back from below the last row

    def fill(block: slice) -> None:
        flags = backward(_Span.of(block, columns))
        for bit, exists in enumerate(flags):
            padded[block] |= exists.view(np.uint8) << bit

    degrees = np.zeros(n, np.uint8)

    def count(block: slice) -> None:
        for exists in _neighbours(padded, block, offsets):
            degrees[block] += exists

    in_threads(fill, slices(n, BLOCK))
    in_threads(count, slices(n, BLOCK))
    indptr = np.zeros(n + 1, np.uint32)
    np.cumsum(degrees, out=indptr[1:])
    indices = np.empty(indptr[-1], np.uint32)
    weights = np.empty(indptr[-1], np.int32)
    steps = np.array([*(-offset for offset in offsets), *reversed(offsets)])

    def write(block: slice) -> None:
        exists = np.stack(_neighbours(padded, block, offsets), axis=1).astype(bool)
        vertices = np.arange(block.start, block.stop)
        slots = slice(indptr[block.start], indptr[block.stop])
        found = (vertices[:, None] + steps)[exists]
        words = packed(np.repeat(vertices, degrees[block]), found)
        indices[slots] = found
        weights_of(words, n, out=weights[slots])

    in_threads(write, slices(n, BLOCK))
    return symmetric_graph(indptr, indices, weights)


def _neighbours(padded: Array, block: slice, offsets: tuple[int, ...]) -> list[Array]:
    """Return which edges the vertices of a block have, as arrays of 1 (the edge exists) and 0.

    Bit k of ``padded[x]`` says whether vertex x has an edge to x - offsets[k]. The result has an
    array for the edges to x - offset for each offset, and then an array for the edges to x + offset
    for each offset. The arrays are in ascending order of the neighbours.
    """
    back = [padded[block] >> bit & 1 for bit in range(len(offsets))]
    following = [
        padded[block.start + offset : block.stop + offset] >> bit & 1
        for bit, offset in enumerate(offsets)
    ]
    return [*back, *reversed(following)]
