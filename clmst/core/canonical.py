"""Bring a graph into canonical form on the host.

In canonical form, the edges are in the order (lesser end, greater end, position in the input). If
there are many edges, a device computes the form instead, with the same result
(``algorithms/canonical_csr``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core import csr
from clmst.core.weight_keys import Array, is_float, order_keys

# Number of pairs of vertices at the beginning of the input that are compared first. They often
# suffice to see that the input is not sorted.
_GLIMPSED_PAIRS = 256
# If the number of vertices is more than this multiple of the number of edges, edges (pairs of
# vertices) are sorted as 64-bit words. Otherwise counting sorts are used, whose time and memory are
# proportional to the number of vertices.
_SPARSE = 8
_LOW_WORD = np.uint64(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A CSR without weights: row starts, columns, and the position of each entry in the input."""

    indptr: npt.NDArray[np.uint32]
    indices: npt.NDArray[np.uint32]
    positions: Array


def canonicalise(indptr: Array, indices: Array, weights: Array) -> dict[str, Any]:
    """Bring a CSR matrix into canonical form, and return the attributes of its :class:`Graph`.

    `indptr` has the start of each row, `indices` the column of each entry, and `weights` its
    weight. The arrays must have been checked. If they are canonical already, they are used without
    a copy. Otherwise the entries (i, j) and (j, i) are merged into one edge with the lesser weight.
    If both weights are equal, the entry above the diagonal is kept.
    """
    weights = np.ascontiguousarray(weights)
    if csr.rows_are_sorted(indptr, indices):
        upper = csr.is_upper(indptr, indices)
        if upper or csr.is_symmetric(indptr, indices, weights):
            return {
                "indptr": indptr, "indices": indices, "weights": weights, "edge_ids": None,
                "is_symmetric": not upper, "n_input": indices.size,
            }  # fmt: skip
    rows = csr.expand_rows(indptr)
    return attributes_of(upper_from_edges(indptr.size - 1, rows, indices), weights, lightest=True)


def attributes_of(upper: Pattern, weights: Array, *, lightest: bool) -> dict[str, Any]:
    """Return the attributes, as a dict, of the :class:`Graph` whose edges are those in `upper`.

    `upper` is a CSR with an entry for each edge. `weights` are the weights in the caller's order,
    so ``weights[upper.positions]`` are the weights of the edges. With `lightest`, only the lightest
    of several parallel edges is kept.
    """
    if lightest:
        upper = merge_parallel(upper, weights)
    return {
        "indptr": upper.indptr, "indices": upper.indices, "weights": weights[upper.positions],
        "edge_ids": upper.positions, "is_symmetric": False, "n_input": weights.size,
    }  # fmt: skip


def upper_from_edges(n: int, u: Array, v: Array) -> Pattern:
    """Sort the edges (u[i], v[i]) of a graph of `n` vertices, and remove self-loops.

    The result has the lesser end of an edge as row and the greater end as column. The order is
    (lesser end, greater end, position in `u` and `v`).
    """
    return sort_upper(n, [np.minimum(u, v), np.maximum(u, v)])


def sort_upper(n: int, ends: list[Array]) -> Pattern:
    """Sort the edges of a graph of `n` vertices by their ends, and remove self-loops.

    `ends` contains the array of lesser ends and the array of greater ends. Both arrays are removed
    from the list, so that their memory can be released early.
    """
    loops = ends[0] == ends[1]
    positions = None
    if loops.any():
        positions = np.flatnonzero(~loops).astype(csr.index_dtype(n, loops.size), copy=False)
        for k in range(2):
            ends[k] = ends[k][positions]
    del loops
    return sort_pairs(n, ends, positions)


def mirror(n: int, u: Array, v: Array) -> Pattern:
    """Return the CSR with both directions of the edges (u[i], v[i]), which are in canonical order.

    The graph has `n` vertices. The `positions` of the result are indices i of edges. Each row
    starts with the edges to lesser vertices, which one counting sort finds, followed by the edges
    to greater vertices.
    """
    index = csr.index_dtype(n, 2 * u.size)
    numbers = np.arange(u.size, dtype=index)
    if n > 2 * _SPARSE * u.size:
        both = [np.concatenate([u, v]), np.concatenate([v, u])]
        return sort_pairs(n, both, np.tile(numbers, 2))
    upper = row_starts(u, n)
    lower, lesser, below = csr.transpose(upper, v, numbers)
    lower = csr.as_uint32(lower)
    indptr = upper + lower
    indices, positions = np.empty(2 * u.size, np.uint32), np.empty(2 * u.size, index)
    slots = numbers + np.repeat(csr.as_index(upper[:-1], index), np.diff(lower))
    indices[slots], positions[slots] = lesser, below
    slots = numbers + csr.as_index(lower[1:], index).take(u)
    indices[slots], positions[slots] = v, numbers
    return Pattern(indptr=indptr, indices=indices, positions=positions)


def sort_pairs(n: int, pairs: list[Array], ids: Array | None = None) -> Pattern:
    """Sort pairs by (row, column); equal pairs keep their order.

    Parameters
    ----------
    n : int
        The number of rows and of columns.
    pairs : list of two arrays
        The rows and the columns. Both are removed from the list, so that their memory can be
        released early.
    ids : array, optional
        The positions to store for the pairs; by default their indices.

    Notes
    -----
    Pairs that are in order already are not sorted. Otherwise two counting sorts are used, or one
    sort of 64-bit words if there are many more vertices than pairs. Apart from the row starts, the
    memory is proportional to the number of pairs.
    """
    index = csr.index_dtype(n, pairs[0].size)
    columns, rows = (csr.as_index(pairs.pop(), index) for _ in range(2))
    order: Array = np.arange(rows.size, dtype=index) if ids is None else ids
    del ids
    is_in_order = _are_in_order(rows, columns)
    if not is_in_order and n <= _SPARSE * rows.size:
        from scipy import sparse  # takes a quarter of a second

        coo = sparse.coo_array((order, (rows, columns)), shape=(n, n))
        del order, rows, columns
        coo.has_canonical_format = True  # otherwise SciPy sums parallel edges' positions
        by_column = coo.tocsc()
        del coo
        found = by_column.tocsr()
        indptr, indices = csr.as_uint32(found.indptr), csr.as_uint32(found.indices)
        return Pattern(indptr=indptr, indices=indices, positions=found.data)
    if not is_in_order:
        places = stable_order(rows.astype(np.uint64) << np.uint64(32) | columns.astype(np.uint64))
        order, rows, columns = order[places], rows[places], columns[places]
    return Pattern(indptr=row_starts(rows, n), indices=csr.as_uint32(columns), positions=order)


def _are_in_order(rows: Array, columns: Array) -> bool:
    """Return whether the pairs (rows[i], columns[i]) are sorted by row and then by column.

    A few pairs at the beginning are compared first, because most unsorted input is out of order
    already there.
    """
    for part in (slice(0, _GLIMPSED_PAIRS), slice(None)):
        r, c = rows[part], columns[part]
        falls = r[1:] < r[:-1]
        falls |= (r[1:] == r[:-1]) & (c[1:] < c[:-1])
        if falls.any():
            return False
    return True


def stable_order(weights: Array, *, descending: bool = False) -> Array:
    """Return the indices that sort `weights`, as a stable argsort does, but faster.

    The order is ascending, or descending if `descending` is True. Equal weights keep their order in
    both cases. No weight may be NaN. Weights compare as in NumPy: -0.0 equals 0.0, and the
    infinities are the extremes. NumPy's unstable sort takes a seventh of the time of a stable one.
    So it is used, and runs of equal weights are put in order afterwards.
    """
    if weights.dtype.itemsize <= 2 and not is_float(weights.dtype):  # NumPy sorts these by counting
        return np.argsort(~weights if descending else weights, kind="stable")
    order = np.argsort(weights)
    if descending:
        order = order[::-1]
    risen = weights[order]
    is_new = risen[1:] != risen[:-1]
    if is_new.all():
        return order
    # Each word has the number of a run of equal weights in its upper half, and the position of a
    # weight in its lower half.
    words = np.zeros(order.size, np.uint64)
    np.cumsum(is_new, out=words[1:])
    words <<= _LOW_WORD
    words |= order.astype(np.uint64)
    words.sort()
    return words.astype(np.uint32).astype(np.int64)


def row_starts(rows: Array, n: int) -> npt.NDArray[np.uint32]:
    """Return the CSR row starts for sorted `rows`, shape (n + 1,)."""
    is_first = np.ones(rows.size, bool)
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    firsts = np.flatnonzero(is_first)
    return _indptr(rows[firsts], firsts, rows.size, n)


def _indptr(occupied: Array, firsts: Array, size: int, n: int) -> npt.NDArray[np.uint32]:
    """Return the CSR row starts of `n` rows, of which only those listed in `occupied` have entries.

    `firsts` has the index of the first entry of each occupied row, and `size` is the number of all
    entries. Apart from the result, the memory is proportional to the number of occupied rows.
    """
    lengths: Array = np.diff(occupied.astype(np.int64), prepend=-1, append=n)
    return np.repeat(np.append(firsts, size).astype(np.uint32), lengths)


def merge_parallel(pattern: Pattern, weights: Array) -> Pattern:
    """Keep the lightest of the edges between each pair of vertices, and the first one on a tie.

    `pattern` contains the sorted edges. ``weights[pattern.positions]`` are the weights of the
    edges.
    """
    indptr, indices = pattern.indptr, pattern.indices
    repeats = np.zeros(indices.size, bool)
    np.equal(indices[1:], indices[:-1], out=repeats[1:])
    occupied = np.flatnonzero(indptr[1:] > indptr[:-1])
    firsts = indptr[occupied]
    repeats[firsts] = False  # since the equal column before it is in another row
    if not repeats.any():
        return pattern
    kept = lightest(repeats, pattern.positions, weights)
    dropped = np.flatnonzero(~kept)
    firsts -= np.searchsorted(dropped, firsts).astype(np.uint32)  # each row keeps an edge
    return Pattern(
        indptr=_indptr(occupied, firsts, indices.size - dropped.size, indptr.size - 1),
        indices=indices[kept],
        positions=pattern.positions[kept],
    )


def lightest(repeats: Array, positions: Array, weights: Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the edges to keep if only the lightest of parallel edges is kept.

    Parallel edges, which have the same ends, are next to one another.

    Parameters
    ----------
    repeats : array of bool
        Whether each edge has the same ends as the edge before it.
    positions : array of int
        ``weights[positions]`` are the weights of the edges. None may be NaN.

    Returns
    -------
    ndarray of bool
        True for one edge of each run: the lightest, and the first of several lightest ones.
    """
    kept = np.ones(repeats.size, np.bool_)
    if not (repeats[1:] & repeats[:-1]).any():  # runs of at most two: five times as fast
        second = np.flatnonzero(repeats)
        ahead, behind = weights[positions[second - 1]], weights[positions[second]]
        kept[second - (behind < ahead)] = False
        return kept
    in_run = repeats.copy()
    in_run[:-1] |= repeats[1:]
    edges = np.flatnonzero(in_run)
    is_first = ~repeats[edges]
    keys, run = order_keys(weights[positions[edges]]), np.cumsum(is_first) - 1
    least = np.minimum.reduceat(keys, np.flatnonzero(is_first))
    found = np.flatnonzero(keys == least[run])
    kept[edges] = False
    kept[edges[found[np.diff(run[found], prepend=-1) > 0]]] = True
    return kept
