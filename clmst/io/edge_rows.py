"""Lines with one edge each, ``u v`` or ``u v weight``, as most text formats have them."""

from __future__ import annotations

from itertools import chain
from typing import BinaryIO

import numpy as np

from clmst.core.weight_keys import Array, first_nan
from clmst.io.blocks import Block
from clmst.io.numbers import integers, join, numbers

_ROWS_AT_ONCE = 1 << 16


class EdgeRows:
    """Edges gathered from the lines of a file, block by block.

    Parameters
    ----------
    first_vertex : {0, 1}
        The number of the first vertex in the file; in :meth:`arrays` it is 0.
    """

    def __init__(self, *, first_vertex: int) -> None:
        self._first_vertex = first_vertex
        self._fields = 0
        self._u: list[Array] = []
        self._v: list[Array] = []
        self._w: list[Array] = []

    @property
    def n_rows(self) -> int:
        """Number of edges so far."""
        return sum(part.size for part in self._u)

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """Return endpoints u and v and the weights, in file order, each of shape (n_rows,).

        Weights are int64, uint64 or float64, or None if the file has none.
        """
        if not self._u:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), None
        weights = join(self._w) if self._w else None
        return np.concatenate(self._u), np.concatenate(self._v), weights

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
        self._u.append(u)
        self._v.append(v)
        if self._fields == 3:
            self._w.append(self._weights(block, tokens + 2))

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
        return (values - least).astype(np.int64 if n_vertices is None else np.uint32)

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
