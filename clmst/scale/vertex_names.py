"""Streams whose vertices have names: each gets the next number where a row first has it.

Numbers are those of :func:`clmst.core.vertex_names.number`, so that forests are the same as of a
data frame. All names are in the host's memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from clmst.core.arguments import has, shown
from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array
from clmst.scale.rows import StreamPiece

_RULE = "all ids of a stream must be strings, or all integers"
_TEXT, _BYTES, _OBJECTS = "U", "S", "O"  # kinds of dtypes


class _NumberOf(dict[str, int]):
    """The number of each name; a new name gets the next one."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


class VertexNames:
    """The names that a stream has had so far.

    Attributes
    ----------
    most : int or None
        How many there may be.
    """

    def __init__(self) -> None:
        self.most: int | None = None
        self._numbers = _NumberOf()
        self._has_numbers = False  # whether rows had numbers instead

    @property
    def labels(self) -> Array | None:
        """The names in the order of their numbers, shape (n,); None if there was none."""
        if not self._numbers:
            return None
        labels = np.empty(len(self._numbers), object)
        labels[:] = list(self._numbers)
        return labels

    def numbered(self, pieces: Iterator[StreamPiece]) -> Iterator[StreamPiece]:
        """Return pieces with numbers in the place of names; those without names as they are.

        Raises
        ------
        InvalidGraphError
            As they come: an end is no string where others are, or there are too many names.
        """
        return map(self._numbered, pieces)

    def learn(self, pieces: Iterator[StreamPiece]) -> None:
        """Go through numbered pieces for names alone; as far as a first row that has numbers."""
        for _ in pieces:
            if self._has_numbers:
                return

    def _numbered(self, piece: StreamPiece) -> StreamPiece:
        ends = [_as_array(piece.u), _as_array(piece.v)]
        are_text = [_are_text(one) for one in ends]
        if not any(are_text):
            self._has_numbers |= _size(ends[0]) > 0
        if (any(are_text) or self._numbers) and (self._has_numbers or not all(are_text)):
            if _size(ends[0]) == _size(ends[1]) == 0:
                return piece
            raise InvalidGraphError(f"{piece.chunk} has numbers for vertices beside names; {_RULE}")
        if not all(are_text) or _size(ends[0]) != _size(ends[1]):
            return piece  # which is checked as any other
        u, v = (_texts(piece, name, one) for name, one in zip("uv", ends, strict=True))
        in_turn = chain.from_iterable(zip(u, v, strict=True))
        numbers = np.fromiter(map(self._numbers.__getitem__, in_turn), np.int64, 2 * len(u))
        if self.most is not None and len(self._numbers) > self.most:
            at = int(np.argmax(numbers >= self.most))
            raise InvalidGraphError(
                f"{piece.chunk}: {'uv'[at % 2]} of row {piece.first_row + at // 2} is "
                f"{shown((u, v)[at % 2][at // 2])}, name {self.most + 1} of the stream; there may "
                f"be n_vertices names, {self.most}"
            )
        return replace(piece, u=numbers[::2], v=numbers[1::2])


def _as_array(ends: Any) -> Any:
    """Return a column of another library as an array; what is none stays."""
    if isinstance(ends, list | tuple | np.ndarray) or not has(ends, "__array__", "__len__"):
        return ends
    try:
        return np.asarray(ends)
    except Exception:  # it is refused with all else that is no column
        return ends


def _size(ends: Any) -> int:
    """Return how many ends there are, as far as that is known."""
    if isinstance(ends, np.ndarray):
        return ends.size
    return len(ends) if isinstance(ends, list | tuple) else 1


def _are_text(ends: Any) -> bool:
    """Return whether ends are names: strings, as far as the first one tells."""
    if isinstance(ends, list | tuple):
        return bool(ends) and isinstance(ends[0], str)
    if not isinstance(ends, np.ndarray) or ends.ndim != 1 or not ends.size:
        return False
    kind = ends.dtype.kind
    return kind in (_TEXT, _BYTES) or (kind == _OBJECTS and isinstance(ends[0], str))


def _texts(piece: StreamPiece, name: str, ends: Any) -> list[str]:
    """Return names as strings, or raise unless all are."""
    if isinstance(ends, np.ndarray) and ends.dtype.kind == _BYTES:
        try:
            ends = np.char.decode(ends, "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidGraphError(
                f"{name} of {piece.chunk} is no UTF-8 text ({error}); names must be"
            ) from error
    names = ends.tolist() if isinstance(ends, np.ndarray) else list(ends)
    if set(map(type, names)) == {str}:
        return names
    for row, one in enumerate(names, piece.first_row):
        if not isinstance(one, str):
            raise InvalidGraphError(
                f"{piece.chunk}: {name} of row {row} is {shown(one)} beside names; {_RULE}"
            )
    return list(map(str.__str__, names))


def has_names(pieces: Iterator[StreamPiece]) -> bool:
    """Return whether the first of some pieces has names for vertices."""
    first = next(pieces, None)
    return first is not None and _are_text(first.u)
