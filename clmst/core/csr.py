"""Compressed sparse rows (CSR) in NumPy and SciPy: checks, conversions and the transpose.

`indptr` contains where each row starts, `indices` the column of each slot. A slot is one stored
entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import as_array, check_row
from clmst.core.errors import InvalidGraphError
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array

_SLICE = 1 << 20  # how many array elements a thread processes at a time
# Number of array elements that are processed at a time. They are read twice, and so few stay in the
# cache of a core for the second read.
_CACHED = 1 << 17


# --------------------------------------------------------------------- checks


def check(indptr: Array, indices: Array, data: Array, *, n: int) -> tuple[Array, Array]:
    """Check the arrays of an n x n CSR matrix and return `indptr` and `indices` as uint32.

    Raise InvalidGraphError if the arrays contradict one another. The values of `data` are not
    checked.
    """
    indptr, indices = as_integers("indptr", indptr), as_integers("indices", indices)
    check_indptr(indptr, n)
    if data.shape != indices.shape:
        raise InvalidGraphError(
            f"indices has shape {indices.shape} but weights has shape {data.shape}; "
            "they must be equal"
        )
    if int(indptr[-1]) != indices.size:
        raise InvalidGraphError(
            f"indptr[-1] is {indptr[-1]} but indices has {indices.size} entries; they must be equal"
        )
    check_range(indices, n, "indices")
    return as_uint32(indptr), as_uint32(indices)


def check_indptr(indptr: Array, n: int) -> None:
    """Raise InvalidGraphError unless `indptr` has n + 1 numbers, starts with 0 and never falls."""
    if indptr.size != n + 1:
        raise InvalidGraphError(
            f"indptr has {indptr.size} entries for {n} rows; it must have {n + 1}"
        )
    if indptr[0] != 0:
        raise InvalidGraphError(f"indptr[0] is {indptr[0]}; it must be 0")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        row = int(np.argmax(falls))
        raise InvalidGraphError(
            f"indptr falls from {indptr[row]} to {indptr[row + 1]} at row {row}; "
            "it must not decrease"
        )


def check_pairs(u: Any, v: Any) -> tuple[Array, Array]:
    """Return the lists of vertices `u` and `v` as integer arrays of one dimension and equal length.

    Raise InvalidGraphError if a list is something else, or if their lengths differ.
    """
    u, v = as_integers("u", u), as_integers("v", v)
    check_lengths(u.size, v.size)
    return u, v


def check_lengths(u: int, v: int) -> None:
    """Raise InvalidGraphError unless `u` and `v`, the lengths of the arrays of ends, are equal."""
    if u != v:
        raise InvalidGraphError(f"u has {u} entries but v has {v}; they must be equal")


def as_integers(name: str, given: Any) -> Array:
    """Return `given` as a one-dimensional integer array, or raise InvalidGraphError.

    `name` is the name of the argument, for the message. An empty list is accepted.
    """
    array: Array = given
    if type(given) is not np.ndarray:
        array = as_array(name, given, error=InvalidGraphError)
    if array.size == 0:
        array = np.zeros(array.shape, np.int32)  # NumPy makes an empty list float64
    check_row(name, array)
    return array


def extremes(numbers: Array) -> tuple[int, int]:
    """Return the minimum and the maximum of the integer array `numbers`. It must not be empty."""
    parts = in_threads(
        lambda part: (int(numbers[part].min()), int(numbers[part].max())),
        slices(numbers.size, _SLICE),
    )
    lows, highs = zip(*parts, strict=True)
    return min(lows), max(highs)


def check_range(vertices: Array, n: int | None, name: str) -> int:
    """Check that every number in `vertices` is in [0, n), and return the greatest one.

    The result is -1 if the array is empty. If `n` is None, only negative numbers raise
    InvalidGraphError. `name` is the array's name for the message.
    """
    if vertices.size == 0:
        return -1
    low, high = extremes(vertices)
    if low < 0:
        at = int(np.argmax(vertices < 0))
        raise InvalidGraphError(
            f"{name}[{at}] is {vertices[at]}; vertex numbers must not be negative"
        )
    if n is not None and high >= n:
        at = int(np.argmax(vertices >= n))
        raise InvalidGraphError(
            f"{name}[{at}] is {vertices[at]} in a graph of {n} vertices; it must be below {n}"
        )
    return high


def as_uint32(array: Array) -> npt.NDArray[np.uint32]:
    """Return integers from 0 to 2**32 - 1 as a contiguous uint32 array.

    A contiguous array of uint32 or int32 is not copied: the result is a view of it.
    """
    array = np.ascontiguousarray(array)
    return array.view(np.uint32) if array.dtype == np.int32 else array.astype(np.uint32, copy=False)


def narrowed(numbers: Array) -> npt.NDArray[np.uint32] | None:
    """Convert the 64-bit integers `numbers` to uint32.

    Return None if any of them is negative or at least 2**32. O(n).
    """
    words = np.empty(numbers.size, np.uint32)

    def narrow(part: slice) -> int:
        seen = 0  # bitwise OR of all numbers: tells whether any is negative or too large
        for chunk in slices(part.stop - part.start, _CACHED):
            given = numbers[part][chunk]
            seen |= int(np.bitwise_or.reduce(given))
            words[part][chunk] = given
        return seen

    fits = all(0 <= seen < 1 << 32 for seen in in_threads(narrow, slices(numbers.size, _SLICE)))
    return words if fits else None


# ------------------------------------------------------------------- geometry


def expand_rows(indptr: Array) -> npt.NDArray[np.uint32]:
    """Return the row of each slot (CSR entry), shape (n_slots,), from the row starts `indptr`."""
    occupied = np.flatnonzero(indptr[1:] > indptr[:-1])
    lengths = indptr[occupied + 1] - indptr[occupied]
    return np.repeat(occupied.astype(np.uint32), lengths.astype(np.int64))


def endpoints_of(indptr: Array, indices: Array, slot: int) -> tuple[int, int]:
    """Return the row and the column of the CSR entry with the index `slot`."""
    return int(np.searchsorted(indptr, slot, side="right")) - 1, int(indices[slot])


def rows_are_sorted(indptr: Array, indices: Array) -> bool:
    """Return whether the columns do not decrease within any row of the CSR.

    `indptr` has the offsets of rows, and `indices` the columns.
    """
    if indices.size < 2:
        return True
    falls = indices[1:] < indices[:-1]
    starts = indptr[1:-1].astype(np.int64)
    starts = starts[(starts > 0) & (starts < indices.size)]
    falls[starts - 1] = False
    return not falls.any()


def is_upper(indptr: Array, indices: Array) -> bool:
    """Return whether all entries of a CSR are above or on the diagonal. The rows must be sorted.

    `indptr` has the offsets of rows, and `indices` the columns.
    """
    occupied = np.flatnonzero(indptr[1:] > indptr[:-1])
    return bool((indices[indptr[occupied]] >= occupied).all())


def index_dtype(n: int, size: int) -> type[np.signedinteger[Any]]:
    """Return the index dtype that SciPy uses for `n` vertices and `size` edges: int32 or int64."""
    return np.int32 if max(n, size) < 1 << 31 else np.int64


def as_index(numbers: Array, index: type[np.signedinteger[Any]]) -> Array:
    """Convert numbers to `index`, the dtype of SciPy's indices.

    The result is a view, without a copy, if the numbers have this dtype already, or if they are
    uint32 and `index` is int32.
    """
    if numbers.dtype == np.uint32 and index == np.int32:
        return numbers.view(np.int32)
    return numbers.astype(index, copy=False)


def transpose(indptr: Array, indices: Array, data: Array) -> tuple[Array, Array, Array]:
    """Transpose a square CSR matrix with one counting sort, and return (indptr, indices, data).

    `indptr` has the row starts, `indices` the columns, and `data` one value per entry. The entries
    of each row of the result are sorted by column. Entries with equal columns keep their order.
    """
    n = indptr.size - 1
    from scipy import sparse  # takes a quarter of a second

    index = index_dtype(n, indices.size)
    parts = (data, as_index(indices, index), as_index(indptr, index))
    matrix = sparse.csc_array(parts, shape=(n, n)).tocsr()
    return matrix.indptr, matrix.indices, matrix.data


def is_symmetric(indptr: Array, indices: Array, weights: Array) -> bool:
    """Return whether a CSR matrix equals its transpose, weights included. Rows must be sorted.

    `indptr` has the offsets of rows, and `indices` the columns.
    """
    degrees = np.bincount(indices, minlength=indptr.size - 1)
    if not np.array_equal(degrees, np.diff(indptr)):
        return False
    t_indptr, t_indices, t_weights = transpose(indptr, indices, weights)
    return (
        np.array_equal(t_indptr, indptr)
        and np.array_equal(t_indices, indices)
        and np.array_equal(t_weights, weights)
    )
