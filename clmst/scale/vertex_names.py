"""Numbers for the vertices of a stream whose vertices are named by strings.

A name gets the next number when it first occurs in a row. These are the numbers that
:func:`clmst.core.vertex_names.number` gives, so a stream has the same forest as a data frame of its
rows. All names are kept in the host's memory.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from clmst.core import csr
from clmst.core.arguments import shown
from clmst.core.errors import InvalidGraphError
from clmst.core.text_codes import codes_of_text
from clmst.core.weight_keys import Array
from clmst.scale.rows import StreamPiece

_RULE = "all ids of a stream must be strings, or all integers"


class VertexNames:
    """The names of the vertices that have occurred in a stream so far, and a number for each.

    `most` is the maximum number of names, or None for any number.
    """

    def __init__(self) -> None:
        self.most: int | None = None
        self._numbers = defaultdict[str, int](count().__next__)  # a new name gets the next number
        self._has_numbers = False  # whether a row has had numbers instead of names

    @property
    def labels(self) -> Array | None:
        """The names in the order of their numbers, shape (n,), or None if there are none yet."""
        if not self._numbers:
            return None
        labels = np.empty(len(self._numbers), object)
        labels[:] = list(self._numbers)
        return labels

    def numbered(self, pieces: Iterator[StreamPiece]) -> Iterator[StreamPiece]:
        """Return an iterator over the pieces of a stream, with vertex numbers in place of names.

        Pieces whose ends are numbers are not changed. The iterator raises InvalidGraphError at a
        piece if the stream has both names and numbers, or more than `most` names.
        """
        return map(self._numbered, pieces)

    @staticmethod
    def count(pieces: Iterator[StreamPiece]) -> int:
        """Read all pieces, and return the greatest vertex number plus one, in O(m).

        The pieces have vertex numbers in place of names, as from :meth:`numbered`.
        """
        greatest = -1
        for piece in pieces:
            for ends in (piece.u, piece.v):
                if ends.size and ends.dtype.kind in "iu":
                    greatest = max(greatest, csr.extremes(ends)[1])
        return greatest + 1

    def _numbered(self, piece: StreamPiece) -> StreamPiece:
        """Return a piece with vertex numbers in place of names.

        A piece is a run of edges of the stream. A new name gets the next number.
        """
        piece = piece.with_arrays()
        if not piece.size:
            return piece
        are_names = [are_text(piece.u), are_text(piece.v)]
        self._has_numbers |= not any(are_names)
        if (any(are_names) or self._numbers) and (self._has_numbers or not all(are_names)):
            raise InvalidGraphError(
                f"{piece.chunk} has vertex numbers where others are names; {_RULE}"
            )
        if self._has_numbers:
            return piece
        in_turn = np.empty(2 * piece.size, object)
        in_turn[::2], in_turn[1::2] = (
            _as_objects(piece, name, one) for name, one in (("u", piece.u), ("v", piece.v))
        )
        found = codes_of_text(in_turn)
        if found is None:
            at = next(at for at, one in enumerate(in_turn) if not isinstance(one, str))
            raise InvalidGraphError(
                f"{piece.chunk}: {'uv'[at % 2]} of row {piece.first_row + at // 2} is "
                f"{shown(in_turn[at])} beside names; {_RULE}"
            )
        codes, distinct = found
        numbers = np.fromiter(map(self._numbers.__getitem__, distinct), np.int64, len(distinct))
        numbers = numbers[codes]
        if self.most is not None and len(self._numbers) > self.most:
            at = int(np.argmax(numbers >= self.most))
            raise InvalidGraphError(
                f"{piece.chunk}: {'uv'[at % 2]} of row {piece.first_row + at // 2} is "
                f"{shown(in_turn[at])}, name {self.most + 1} of the stream; there may "
                f"be n_vertices names, {self.most}"
            )
        return replace(piece, u=numbers[::2], v=numbers[1::2])


def are_text(ends: Array) -> bool:
    """Return whether an array of ends of edges has names instead of numbers.

    Of an array of objects, only the first element is examined.
    """
    kind = ends.dtype.kind
    return kind in "US" or (kind == "O" and ends.size > 0 and isinstance(ends[0], str))


def _as_objects(piece: StreamPiece, name: str, ends: Array) -> Array:
    """Convert `ends`, an array of names, to an array of Python strings.

    `piece` and `name` are the piece and the column, for messages. Raise InvalidGraphError if names
    are bytes that are not UTF-8, or have invalid characters.
    """
    if ends.dtype.kind == "S":
        try:
            ends = np.char.decode(ends, "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidGraphError(
                f"{name} of {piece.chunk} is not UTF-8 text ({error}); names must be"
            ) from error
    if ends.dtype.kind == "U":
        _refuse_no_letters(piece, name, ends)
    return ends.astype(object, copy=False)


def _refuse_no_letters(piece: StreamPiece, name: str, ends: Array) -> None:
    """Raise InvalidGraphError if a string in `ends` has a code that is not a Unicode code point.

    `piece` and `name` are the piece and the column, for messages. Damaged files may have these
    strings. NumPy stores any 32-bit code, but Python raises SystemError when the string is used.
    """
    native = np.ascontiguousarray(ends, ends.dtype.newbyteorder("="))
    wrong = (native.view(np.uint32).reshape(ends.size, -1) > sys.maxunicode).any(axis=1)
    if wrong.any():
        row = piece.first_row + int(wrong.argmax())
        raise InvalidGraphError(
            f"{piece.chunk}: {name} of row {row} has a code above {sys.maxunicode:#x}, which is "
            "not a character; names must be strings of characters"
        )
