"""Pairs of vertices in order, by counting sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clmst.core.weight_keys import Array
from clmst.core.weight_order import stable_order

_GLIMPSED_PAIRS = 256
# From so many vertices a pair on, digits of pairs are counted, and not vertices: 800,000 pairs of 8
# million vertices take 119 ms so, and 202 ms by vertices.
_SPARSE = 8


def index_dtype(n: int, size: int) -> type[np.signedinteger[Any]]:
    """Return the dtype that SciPy takes as indices of so many vertices and edges."""
    return np.int32 if max(n, size) < 1 << 31 else np.int64


def sort_pairs(n: int, pairs: list[Array], ids: Array | None = None) -> tuple[Array, Array, Array]:
    """Sort pairs by (row, column), stably; return (ids in order, indptr, columns in order).

    `pairs` has rows and columns, which are taken out of the list. The ids are by default the
    positions of the pairs. Two counting sorts by vertices, or several by digits; none for pairs
    that are in order. Beside the indptr, memory is of the order of the pairs, however many vertices
    there are.
    """
    index = index_dtype(n, pairs[0].size)
    columns, rows = (_as_signed(pairs.pop(), index) for _ in range(2))
    order: Array = np.arange(rows.size, dtype=index) if ids is None else ids
    del ids
    if _are_in_order(rows, columns):
        return order, row_starts(rows, n), columns
    if n > _SPARSE * rows.size:
        places = stable_order(rows.astype(np.uint64) << np.uint64(32) | columns.astype(np.uint64))
        return order[places], row_starts(rows[places], n), columns[places]
    coo = sparse.coo_array((order, (rows, columns)), shape=(n, n))
    del order, rows, columns
    coo.has_canonical_format = True  # else SciPy would sum the positions of parallel edges
    by_column = coo.tocsc()
    del coo
    by_row = by_column.tocsr()
    return by_row.data, by_row.indptr, by_row.indices


def _as_signed(vertices: Array, index: type[np.signedinteger[Any]]) -> Array:
    """Return vertices in the dtype of SciPy's indices, by view where possible."""
    if vertices.dtype == np.uint32 and index == np.int32:
        return vertices.view(np.int32)
    return vertices.astype(index, copy=False)


def _are_in_order(rows: Array, columns: Array) -> bool:
    """Whether pairs rise by (row, column); a few of the first tell of most that do not."""
    for part in (slice(0, _GLIMPSED_PAIRS), slice(None)):
        r, c = rows[part], columns[part]
        falls = r[1:] < r[:-1]
        falls |= (r[1:] == r[:-1]) & (c[1:] < c[:-1])
        if falls.any():
            return False
    return True


def row_starts(rows: Array, n: int) -> npt.NDArray[np.uint32]:
    """Return the indptr of sorted `rows`."""
    firsts = np.flatnonzero(
        np.concatenate([np.ones(min(rows.size, 1), bool), rows[1:] != rows[:-1]])
    )
    return spread(rows[firsts], firsts, rows.size, n)


def spread(occupied: Array, firsts: Array, size: int, n: int) -> npt.NDArray[np.uint32]:
    """Return the indptr of n rows of which some are occupied.

    Parameters
    ----------
    occupied, firsts : ndarray
        The rows that have entries, and the first entry of each; rising.
    size : int
        The number of entries.
    n : int
    """
    starts = np.empty(firsts.size + 1, np.uint32)
    starts[:-1], starts[-1] = firsts, size
    lengths: Array = np.diff(occupied.astype(np.int64), prepend=-1, append=n)
    return np.repeat(starts, lengths)
