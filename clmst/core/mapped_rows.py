"""Arrays whose rows stay in a file: how to read them in slices, and temporary files for them.

The system can take back the memory of an array that is mapped from a file (``numpy.memmap``) at any
time. If the array is read in slices, only one slice has to be in memory.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.core.threads import gathered, slices
from clmst.core.weight_keys import Array

_BYTES_OF_A_PASS = 1 << 22


def is_mapped(array: Any) -> bool:
    """Return whether an array, or the array of which it is a view, is mapped from a file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


def passes(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of consecutive rows, each of which takes at most 4 MiB as doubles.

    A slice has at least one row. The array has `n_rows` rows of `n_columns` columns.
    """
    return slices(n_rows, max(_BYTES_OF_A_PASS // (8 * max(n_columns, 1)), 1))


class RowFile:
    """A temporary file to which rows are appended, and which is mapped into memory at the end.

    The file is deleted together with the mapped array.
    """

    def __init__(self, dtype: np.dtype[Any], n_columns: int) -> None:
        self._dtype, self._n_columns, self._n_rows = dtype, n_columns, 0
        self._file = tempfile.TemporaryFile(prefix="clmst-")  # noqa: SIM115 - closed by `mapped`

    def append(self, rows: Array) -> None:
        """Append rows, which are converted to the dtype of the file.

        Raises InvalidArgumentError if the file cannot grow.
        """
        converted = np.ascontiguousarray(rows, self._dtype)
        try:
            self._file.write(converted.data if converted.size else b"")
        except OSError as error:
            raise InvalidArgumentError(
                f"a temporary file of points in {tempfile.gettempdir()} cannot grow beyond "
                f"{self._file.tell()} bytes ({error.strerror}); the environment variable TMPDIR "
                "names a folder with more space"
            ) from error
        self._n_rows += len(converted)

    def mapped(self) -> Array:
        """Close the file and return its rows as an array that is mapped from it."""
        with self._file as file:
            shape = (self._n_rows, self._n_columns)
            if 0 in shape:
                return np.zeros(shape, self._dtype)
            file.flush()
            return np.memmap(file, self._dtype, "r", shape=shape)


class PlacedRows:
    """An array of rows in a changed order: row number i is stored at ``rows[places[i]]``.

    Indexing with an array of row numbers returns these rows, as if they were in order.
    """

    def __init__(self, rows: Array, places: Array) -> None:
        self.rows, self.places = rows, places

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of all rows."""
        return self.rows.shape

    def __getitem__(self, numbers: Array) -> Array:
        """Return the rows whose numbers are in the array `numbers`."""
        found: Array = gathered(self.rows, gathered(self.places, numbers))
        return found
