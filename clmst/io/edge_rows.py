"""Lines with one edge each, ``u v`` or ``u v weight``, as most text formats have them."""

from __future__ import annotations

from itertools import chain
from typing import BinaryIO

import numpy as np

from clmst.core.deferred_graph import of_owned
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array, first_nan
from clmst.io import plain_rows
from clmst.io.blocks import Block
from clmst.io.growing import GrowingArray
from clmst.io.numbers import integers, numbers
from clmst.io.opposite_arcs import OppositeArcs

_ROWS_AT_ONCE = 1 << 16
_REFUSALS = 8  # after so many blocks in a row that are not plain, no more are tried


class EdgeRows:
    """Edges gathered from the lines of a file, block by block.

    Parameters
    ----------
    first_vertex : {0, 1}
        The number of the first vertex in the file; in :meth:`arrays` it is 0.
    arcs : OppositeArcs, optional
        Keeps one row of an edge that has one in each direction. So such files take half of the
        memory.
    """

    def __init__(self, *, first_vertex: int, arcs: OppositeArcs | None = None) -> None:
        self._first_vertex = first_vertex
        self._arcs = arcs
        self._n_rows = 0
        self._fields = 0
        self._refused = 0  # blocks in a row that were not plain
        self._u, self._v, self._w = (GrowingArray() for _ in range(3))

    @property
    def n_rows(self) -> int:
        """Number of rows so far, those that were not kept counted as well."""
        return self._n_rows

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """Return endpoints u and v and the weights of the rows that are kept, in file order.

        Weights are int64, uint64 or float64, or None if the file has none.
        """
        weights = self._w.take() if self._fields == 3 else None
        return self._u.take(), self._v.take(), weights

    def graph(self, n_vertices: int) -> Graph:
        """Return the graph of all edges, parallel ones merged; then no edges are left here."""
        return graph_of(list(self.arrays()), n_vertices)

    def add_plain(
        self, block: Block, *, letters: bytes = b"", n_vertices: int | None = None
    ) -> bool:
        """Gather the edges of a block if it has nothing but plain rows; return whether it has.

        Else nothing is gathered, and :meth:`add` has to be called.

        Parameters
        ----------
        block : Block
        letters : bytes
            One of these letters begins each row.
        n_vertices : int, optional
            The number of vertices, if the file declares it.
        """
        if self._refused == _REFUSALS:
            return False
        columns = plain_rows.parse(block.raw, letters=letters)
        is_plain = columns is not None and self._take(columns, n_vertices)
        self._refused = 0 if is_plain else self._refused + 1
        return is_plain

    def _take(self, columns: list[Array], n_vertices: int | None) -> bool:
        """Gather columns, unless some entry is wrong."""
        u, v, *weights = columns
        least = self._first_vertex
        greatest = (1 << 63) - 1 if n_vertices is None else least + n_vertices - 1
        in_range = all(least <= int(end.min()) and int(end.max()) <= greatest for end in (u, v))
        if not in_range or len(columns) != (self._fields or len(columns)):
            return False
        self._fields = len(columns)
        ends = self._numbered(u, n_vertices), self._numbered(v, n_vertices)
        self._gather(*ends, weights[0] if weights else None)
        return True

    def _gather(self, u: Array, v: Array, w: Array | None) -> None:
        self._n_rows += u.size
        if self._arcs is not None:
            u, v, w = self._arcs.kept(u, v, w)
        self._u.append(u)
        self._v.append(v)
        if w is not None:
            self._w.append(w)

    def _numbered(self, values: Array, n_vertices: int | None) -> Array:
        """Return vertices counted from 0, in 32 bits where all of them fit."""
        values = values - self._first_vertex
        fits = n_vertices is not None or int(values.max(initial=0)) < 1 << 32
        return values.astype(np.uint32 if fits else np.int64)

    def add(
        self, block: Block, lines: Array, *, skip: Array | int = 0, n_vertices: int | None = None
    ) -> None:
        """Gather the edges on `lines` of `block`.

        Parameters
        ----------
        block : Block
        lines : ndarray of int
            Rising; none of them blank.
        skip : int or ndarray of int, one for each of `lines`
            Tokens before the first endpoint.
        n_vertices : int, optional
            The number of vertices, if the file declares it.

        Raises
        ------
        FileFormatError
            A line has neither two nor three fields, or another number than the lines before; a
            vertex is no integer or out of range; a weight is no number, or NaN.
        """
        if lines.size == 0:
            return
        self._check_fields(block, lines, block.counts[lines] - skip)
        tokens = block.heads[lines] + skip
        u = self._vertices(block, tokens, n_vertices)
        v = self._vertices(block, tokens + 1, n_vertices)
        self._gather(u, v, self._weights(block, tokens + 2) if self._fields == 3 else None)

    def _check_fields(self, block: Block, lines: Array, fields: Array) -> None:
        expected = self._fields or int(fields[0])
        wrong = np.flatnonzero((fields != expected) | (expected not in (2, 3)))
        if wrong.size:
            at = int(wrong[0])
            rule = "an edge has two, or three with its weight"
            if self._fields or at:
                rule = f"it must have {expected}, as the edges before it"
            raise block.error(int(lines[at]), f"the edge has {fields[at]} fields; {rule}")
        self._fields = expected

    def _vertices(self, block: Block, tokens: Array, n_vertices: int | None) -> Array:
        values, bad = integers(block, tokens)
        if bad.any():
            raise block.token_error(int(tokens[bad.argmax()]), "is not a vertex number")
        least = self._first_vertex
        if int(values.min()) < least:
            raise block.token_error(
                int(tokens[(values < least).argmax()]),
                f"is not a vertex number; they start at {least}",
            )
        greatest = (1 << 63) - 1 if n_vertices is None else least + n_vertices - 1
        if int(values.max()) > greatest:
            raise block.token_error(
                int(tokens[(values > greatest).argmax()]),
                f"is not a vertex number; they end at {greatest}",
            )
        return self._numbered(values, n_vertices)

    def _weights(self, block: Block, tokens: Array) -> Array:
        weights = numbers(block, tokens)
        nan = first_nan(weights)
        if nan is not None:
            token = int(tokens[nan])
            raise block.token_error(
                token,
                f"is the weight of edge ({block.word(token - 2)}, {block.word(token - 1)}); "
                "weights must be ordered, and infinities are the only special values allowed",
            )
        return weights


def graph_of(arrays: list[Array | None], n_vertices: int) -> Graph:
    """Return the graph of endpoints u and v and weights, which are taken out of the list."""
    return Graph.unchecked(**of_owned(arrays, n_vertices))


def write_rows(stream: BinaryIO, row: str, *columns: Array) -> None:
    """Write one line for each entry of `columns`, as ``row % (entries)``.

    Weights take ``%r``: it writes integers exactly, and each float as the shortest decimal number
    that reads back as the same float64. Bools are written as 0 and 1.
    """
    columns = tuple(c.view(np.uint8) if c.dtype == np.bool_ else c for c in columns)
    for start in range(0, columns[0].size, _ROWS_AT_ONCE):
        lists = [column[start : start + _ROWS_AT_ONCE].tolist() for column in columns]
        entries = tuple(chain.from_iterable(zip(*lists, strict=True)))
        stream.write((row * len(lists[0]) % entries).encode("ascii"))
