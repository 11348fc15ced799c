"""The forest of a small SciPy matrix in which the two directions of an edge have two weights.

The lesser weight of each pair, at both of its places, makes a symmetric matrix. That is solved in
one launch, and the launch shows that it is symmetric: nothing else has to look for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.core import csr
from clmst.core.weight_keys import Array, encode, first_nan, order_keys, weight_kind_or_none
from clmst.core.weight_order import stable_order

_MULTIPLIER = np.uint64(
    0x9E3779B97F4A7C15
)  # 2**64 / golden ratio: its products differ in high bits
_GLIMPSED = 256


def entries_of_forest(matrix: Any) -> Array | None:
    """Return the entries that are the minimum spanning forest, rising, or None.

    Among equal weights the first entry wins, as in SciPy's function.

    Parameters
    ----------
    matrix : object
        A SciPy matrix or array in CSR form with 32-bit indices and `MOST_SLOTS` slots at most. None
        for all else, and for a matrix that has an entry (i, j) without an entry (j, i).

    Raises
    ------
    InvalidGraphError
        Its arrays contradict one another.
    """
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if not _is_plain(indptr, indices, data):
        return None
    csr.check(indptr, indices, data, n=matrix.shape[0])
    slots = np.arange(indices.size, dtype=np.int32)
    columns, _, mirrors = csr.transpose(indptr, indices, slots)
    if not np.array_equal(columns, indptr):  # nor does one launch refuse an upper triangle
        return None
    across = data[mirrors]
    lesser = np.minimum(data, across)
    if first_nan(lesser) is not None:
        return None
    chosen = np.where(across < data, mirrors, slots)
    chosen = np.where(across == data, np.minimum(mirrors, slots), chosen)
    edges = np.flatnonzero(chosen == slots)  # one entry of each edge, in the order of these
    weights = _with_entries(lesser, chosen, edges, mirrors[edges])
    symmetric = sparse.csr_array((weights, indices, indptr), shape=matrix.shape)
    forest = small_matrix.solve(symmetric, None, maximum=False)
    if forest is None:
        return None
    is_in_forest = np.zeros(indices.size, np.bool_)
    is_in_forest[chosen[forest.edge_ids]] = True
    return np.flatnonzero(is_in_forest)


def _is_plain(indptr: Array, indices: Array, data: Array) -> bool:
    """Return whether a matrix is small, of a supported dtype, and without unused entries."""
    return (
        indptr.dtype == indices.dtype == np.int32
        and weight_kind_or_none(data.dtype) is not None
        and data.shape == indices.shape
        and indptr.size > 0
        and indptr[-1] == indices.size <= small_matrix.MOST_SLOTS
    )


def _with_entries(lesser: Array, chosen: Array, edges: Array, others: Array) -> Array:
    """Return weights of any dtype whose order is that of (weight, entry).

    A word of 64 bits holds a key of 32 bits and the entry. Longer keys fill it: if two edges have
    equal ones, the ranks of edges are the weights.
    """
    encoded = encode(lesser)
    if encoded.encoding.word.itemsize < 8:
        keys = order_keys(encoded.bits.view(encoded.encoding.stored)).astype(np.uint64)
        return keys << np.uint64(32) | chosen.astype(np.uint64)
    if not _may_tie(lesser[edges]):
        return lesser
    ranks = np.empty(lesser.size, np.uint32)
    places = stable_order(lesser[edges])
    ranks[edges[places]] = ranks[others[places]] = np.arange(places.size, dtype=np.uint32)
    return ranks


def _may_tie(weights: Array) -> bool:
    """Return whether two weights of 64 bits have equal hashes, which sort in half the time."""
    if weights.dtype.kind == "f":
        weights = weights + 0.0  # -0.0 + 0.0 is +0.0
    hashes = (weights.view(np.uint64) * _MULTIPLIER >> np.uint64(32)).astype(np.uint32)
    for part in (hashes[:_GLIMPSED], hashes):  # most of those that tie show it at once
        risen = np.sort(part)
        if (risen[1:] == risen[:-1]).any():
            return True
    return False
