"""Records, which kernels move and compare word by word; host side of ``cl/device/record.cl``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.primitives.element import MAX_BYTES

WORD_BYTES = 4
_MOST_SHORT_BYTES = 16  # of records of words of 1 or 2 bytes


@dataclass(frozen=True, slots=True)
class RecordWords:
    """What a record is for kernels: so many words, each of so many bytes.

    Attributes
    ----------
    count : int
        1 to 16; 0 for a value that is not there.
    unit : int
        4; or 2 or 1, if the record has no multiple of 4 bytes.
    """

    count: int
    unit: int = WORD_BYTES

    def defines(self, role: str) -> dict[str, int]:
        """Return the macros of a role: RECORD or VALUE."""
        narrow = {} if self.unit == WORD_BYTES else {f"{role}_UNIT": self.unit}
        return {f"{role}_WORDS": self.count, **narrow}

    @property
    def chunks(self) -> int:
        """Pieces that kernels move a record in."""
        if self.unit < WORD_BYTES:
            return self.count
        return self.count // next(chunk for chunk in (4, 2, 1) if self.count % chunk == 0)


NO_WORDS = RecordWords(0)


def record_words(name: str, dtype: np.dtype[Any]) -> RecordWords:
    """Return the words of a record of this dtype.

    Parameters
    ----------
    name : str
        The array's name in messages.
    dtype : numpy.dtype
        Any of 1 to 16 bytes, or of a multiple of 4 bytes, 64 at most.

    Raises
    ------
    InvalidArgumentError
        Kernels do not move such records.
    """
    size = dtype.itemsize
    most = MAX_BYTES if size % WORD_BYTES == 0 else _MOST_SHORT_BYTES
    if not 1 <= size <= most:
        raise InvalidArgumentError(
            f"{name} has elements of {dtype}, {size} bytes each; they must have 1 to "
            f"{_MOST_SHORT_BYTES} bytes, or a multiple of {WORD_BYTES} up to {MAX_BYTES}"
        )
    return words_of(size)


@cache
def words_of(size: int) -> RecordWords:
    """Return the words of a record of so many bytes, which are legal."""
    unit = next(unit for unit in (WORD_BYTES, 2, 1) if size % unit == 0)
    return RecordWords(size // unit, unit)
