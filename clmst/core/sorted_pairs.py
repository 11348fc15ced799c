"""Pairs of vertices in order, by counting sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clmst.core.weight_keys import Array

_GLIMPSED_PAIRS = 256


def index_dtype(n: int, size: int) -> type[np.signedinteger[Any]]:
    """Return the dtype that SciPy takes as indices of so many vertices and edges."""
    return np.int32 if max(n, size) < 1 << 31 else np.int64


def sort_pairs(n: int, pairs: list[Array], ids: Array | None = None) -> tuple[Array, Array, Array]:
    """Sort pairs by (row, column), stably; return (ids in order, indptr, columns in order).

    `pairs` has rows and columns, which are taken out of the list. The ids are by default the
    positions of the pairs. Two counting sorts, and none for pairs that are in order.
    """
    index = index_dtype(n, pairs[0].size)
    columns, rows = (_as_signed(pairs.pop(), index) for _ in range(2))
    order: Array = np.arange(rows.size, dtype=index) if ids is None else ids
    del ids
    if _are_in_order(rows, columns):
        return order, row_starts(rows, n), columns
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
    counts = np.bincount(rows, minlength=n) if n else np.zeros(0, np.int64)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
