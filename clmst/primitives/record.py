"""Records, which kernels move and compare word by word; host side of ``cl/device/record.cl``."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.primitives.element import MAX_BYTES

WORD_BYTES = 4


def record_words(name: str, dtype: np.dtype[Any]) -> int:
    """Return how many words of 32 bits a record of this dtype has.

    Parameters
    ----------
    name : str
        The array's name in messages.
    dtype : numpy.dtype
        Any of a multiple of 4 bytes, 64 at most.

    Raises
    ------
    InvalidArgumentError
        Kernels do not move such records.
    """
    words, rest = divmod(dtype.itemsize, WORD_BYTES)
    if rest or not 0 < dtype.itemsize <= MAX_BYTES:
        raise InvalidArgumentError(
            f"{name} has elements of {dtype}, {dtype.itemsize} bytes each; they must have a "
            f"multiple of {WORD_BYTES} bytes, {MAX_BYTES} at most"
        )
    return words
