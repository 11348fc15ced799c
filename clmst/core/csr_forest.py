"""The forest of a CSR matrix on the host, from its arrays, without a graph made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clmst.core.canonical import heavier
from clmst.core.forest import Forest
from clmst.core.kruskal import forest_of_edges, forest_positions
from clmst.core.weight_keys import Array, weight_kind_or_none

_CLASSES = (sparse.csr_array, sparse.csr_matrix)
_UNSIGNED = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}
_PROBES = 4
_FEW = 512  # entries
_WORD = 63  # bits of a signed word that are not the sign


def is_plain(matrix: Any) -> bool:
    """Return whether an object is a CSR matrix of arrays that fit one another, not their values."""
    if type(matrix) not in _CLASSES:
        return False
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if not type(indptr) is type(indices) is type(data) is np.ndarray:
        return False
    n, n_columns = matrix.shape
    return (
        n == n_columns
        and indptr.dtype == indices.dtype
        and indices.dtype in _UNSIGNED
        and indptr.shape == (n + 1,)
        and indices.shape == data.shape == (indices.size,)
        and indices.size > 0
        and data.dtype.isnative
        and indptr.flags.c_contiguous
        and indices.flags.c_contiguous
        and data.flags.c_contiguous
        and weight_kind_or_none(data.dtype) is not None
    )


def forest_of_matrix(matrix: Any, *, maximum: bool) -> Forest | None:
    """Return the forest of a plain matrix; None where :meth:`clmst.Graph.from_scipy` has to look.

    It is the forest of the graph which that makes: ``A[i, j]`` and ``A[j, i]`` are one edge, with
    the lesser weight, and edge ids are entries of the matrix. O(m log m); two sorts of words.

    None where its values contradict one another, a weight is NaN, or both ends and the entry of an
    edge do not fit 63 bits; and for the maximum forest of any but a strictly upper triangle, since
    some forms have parallel edges and others do not.
    """
    if not _is_sound(matrix):
        return None
    n, m = matrix.shape[0], matrix.indices.size
    end_bits, entry_bits = (n - 1).bit_length(), (m - 1).bit_length()
    if 2 * end_bits + entry_bits > _WORD:
        return None
    indptr, columns, data = matrix.indptr, matrix.indices, matrix.data
    rows = np.arange(n).repeat(indptr[1:] - indptr[:-1])
    pairs = rows << end_bits
    pairs |= columns
    if (columns > rows).all() and (pairs[1:] > pairs[:-1]).all():
        ids = forest_positions(n, indptr, columns, data, maximum=maximum)
        return forest_of_edges(n, rows[ids], columns[ids], data[ids], ids, maximum=maximum)
    if maximum:
        return None
    words = np.minimum(rows, columns) << end_bits
    words |= np.maximum(rows, columns)
    words <<= entry_bits
    words |= np.arange(m)
    words.sort()
    entries = words & ((1 << entry_bits) - 1)
    words >>= entry_bits
    pairs = words
    if m > _FEW:  # of few, the lightest of a pair is found by the solve
        pairs, entries = _lightest(words, entries, data)
    u, v = pairs >> end_bits, pairs & ((1 << end_bits) - 1)
    weights = data[entries]
    starts = u.searchsorted(np.arange(n + 1))
    at = forest_positions(n, starts, v, weights)
    return forest_of_edges(n, u[at], v[at], weights[at], entries[at], maximum=False)


def entries_of_matrix(matrix: Any, *, maximum: bool = False) -> Array | None:
    """Return the entries of a plain matrix that are its forest, rising.

    Of equal weights the first entry wins, whatever its ends. None where values contradict one
    another, or a weight is NaN.
    """
    if not _is_sound(matrix):
        return None
    n = matrix.shape[0]
    return forest_positions(n, matrix.indptr, matrix.indices, matrix.data, maximum=maximum)


def seems_canonical(matrix: Any) -> bool:
    """Return whether a few entries of a plain matrix do not show that it has to be sorted.

    They do where rows fall, or an entry below the diagonal has no equal one above it, or the other
    way round. Nothing is checked before: any answer is a guess.
    """
    indptr, columns, data = matrix.indptr, matrix.indices, matrix.data
    n, m = matrix.shape[0], data.size
    mirrored = set()
    for entry in range(m // (2 * _PROBES), m, m // _PROBES + 1):
        row, column = int(indptr.searchsorted(entry, side="right")) - 1, int(columns[entry])
        if column == row or not 0 <= column < n:
            continue
        if 0 <= row < n and entry > indptr[row] and columns[entry - 1] >= column:
            return False
        first, last = int(indptr[column]), int(indptr[column + 1])
        mirror = first + int(columns[first:last].searchsorted(row))
        is_twice = mirror < min(last, m) and columns[mirror] == row
        if (is_twice and data[mirror] != data[entry]) or (column < row and not is_twice):
            return False
        mirrored.add(bool(is_twice))
    return len(mirrored) < 2


def _is_sound(matrix: Any) -> bool:
    """Return whether the values of a plain matrix are those of a graph."""
    indptr, columns = matrix.indptr, matrix.indices
    return bool(
        indptr[0] == 0
        and indptr[-1] == columns.size
        and (indptr[1:] >= indptr[:-1]).all()
        and columns.view(_UNSIGNED[columns.dtype]).max() < matrix.shape[0]
        and not (matrix.data.dtype.kind == "f" and np.isnan(matrix.data.min()))
    )


def _lightest(pairs: Array, entries: Array, data: Array) -> tuple[Array, Array]:
    """Return the pairs of sorted entries, each once, and the lightest entry of each."""
    repeats = np.zeros(pairs.size, np.bool_)
    np.equal(pairs[1:], pairs[:-1], out=repeats[1:])
    if not repeats.any():
        return pairs, entries
    kept = np.ones(pairs.size, np.bool_)
    kept[heavier(repeats, entries, data)] = False
    return pairs[kept], entries[kept]
