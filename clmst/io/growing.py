"""Arrays that grow while a file is read, in the memory that they take in the end.

Lists of parts, joined at the end, would take twice as much; and the memory of small parts, once
freed, does not go back to the system.
"""

from __future__ import annotations

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array

_LEAST = 1 << 10
_GROWTH = 8  # by an eighth each time: the system moves the memory without copying it


class GrowingArray:
    """Numbers of a file, part after part; of a dtype that holds each of them as it was read."""

    def __init__(self) -> None:
        self._array: Array | None = None
        self._kinds: set[str] = set()
        self._low, self._high = 0, 0  # of integers
        self.size = 0

    def append(self, part: Array) -> None:
        """Add numbers behind the others."""
        kind = part.dtype.kind
        self._kinds.add(kind)
        if kind in "iu" and part.size:
            self._low = min(self._low, int(part.min()))
            self._high = max(self._high, int(part.max()))
        size = self.size + part.size
        array = self._with_capacity(size, self._dtype_for(part.dtype))
        array[self.size : size] = part
        self.size = size

    def _dtype_for(self, dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
        """Return the dtype that holds what there is, and numbers of `dtype`."""
        if self._array is None:
            return dtype
        found = np.promote_types(self._array.dtype, dtype)
        if found.kind == "f" and self._kinds <= {"i", "u"} and self._low >= 0:
            return np.dtype(np.uint64)  # NumPy makes floats of int64 together with uint64
        return found

    def _with_capacity(self, size: int, dtype: np.dtype[np.generic]) -> Array:
        array = self._array
        if array is None or array.dtype != dtype:
            old, array = array, np.empty(max(size + size // _GROWTH, _LEAST), dtype)
            if old is not None:
                array[: self.size] = old[: self.size]
        elif array.size < size:
            array.resize(size + size // _GROWTH, refcheck=False)
        self._array = array
        return array

    def take(self) -> Array:
        """Return the numbers; then there are none here any more.

        Raises
        ------
        FileFormatError
            Some values need uint64 and others are negative.
        """
        if {"i", "u"} == self._kinds and self._low < 0 and self._high >= 1 << 63:
            raise FileFormatError(
                f"the integers range from {self._low} to {self._high}; "
                "all must fit into int64, or all into uint64"
            )
        array, self._array = self._array, None
        if array is None:
            return np.zeros(0, np.int64)
        array.resize(self.size, refcheck=False)
        self.size = 0
        return array
