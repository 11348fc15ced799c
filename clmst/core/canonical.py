"""The canonical form of a CSR: rows sorted, parallel edges merged, one direction or both alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.core import csr
from clmst.core.sorted_pairs import index_dtype
from clmst.core.weight_keys import Array

_GLIMPSES = 4  # slots that are looked at before a matrix is transposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Canonical:
    """A canonical CSR; `positions` is None where slots are the caller's positions."""

    indptr: npt.NDArray[np.uint32]
    indices: npt.NDArray[np.uint32]
    weights: Array
    is_symmetric: bool
    positions: Array | None


def canonicalise(indptr: Array, indices: Array, weights: Array) -> Canonical:
    """Bring a checked CSR into canonical form; return it unchanged if it is canonical.

    A slot (i, j) and a slot (j, i) are one edge with the lesser weight; on a tie the upper one.
    """
    if csr.rows_are_sorted(indptr, indices):
        upper = csr.is_upper(indptr, indices)
        if upper or (
            _has_mirrors(indptr, indices, weights) and csr.is_symmetric(indptr, indices, weights)
        ):
            return Canonical(
                indptr=indptr,
                indices=indices,
                weights=np.ascontiguousarray(weights),
                is_symmetric=not upper,
                positions=None,
            )
        if _has_mirrors(indptr, indices):
            folded = fold(indptr, indices, weights)
            if folded is not None:
                return folded
    weights = np.ascontiguousarray(weights)
    pattern = csr.upper_from_edges(indptr.size - 1, csr.expand_rows(indptr), indices)
    pattern = csr.merge_parallel(pattern, weights)
    return Canonical(
        indptr=pattern.indptr,
        indices=pattern.indices,
        weights=weights[pattern.positions],
        is_symmetric=False,
        positions=pattern.positions,
    )


def fold(indptr: Array, indices: Array, weights: Array) -> Canonical | None:
    """Choose the lesser of both weights of each pair, in one transpose instead of a sort.

    Returns None unless rows rise strictly and each slot (i, j) has a slot (j, i). O(n + n_slots).
    """
    slots = np.arange(indices.size, dtype=index_dtype(indptr.size - 1, indices.size))
    t_indptr, t_indices, mirrors = csr.transpose(indptr, indices, slots)
    if not (np.array_equal(t_indptr, indptr) and np.array_equal(t_indices, indices)):
        return None
    repeats = indices[1:] == indices[:-1]
    starts = indptr[1:-1].astype(np.int64)
    repeats[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    if repeats.any():
        return None
    is_upper = indices > csr.expand_rows(indptr)
    upper = np.flatnonzero(is_upper).astype(slots.dtype, copy=False)
    across = mirrors[upper]
    positions = np.where(weights[across] < weights[upper], across, upper)
    before = np.concatenate([np.zeros(1, np.uint32), np.cumsum(is_upper, dtype=np.uint32)])
    return Canonical(
        indptr=before[indptr],
        indices=indices[upper],
        weights=weights[positions],
        is_symmetric=False,
        positions=positions,
    )


def _has_mirrors(indptr: Array, indices: Array, weights: Array | None = None) -> bool:
    """Whether a few slots of sorted rows have a mirror slot; of the same weight, if there are any.

    Most matrices that are not symmetric need no transpose to show it.
    """
    for slot in range(indices.size // (2 * _GLIMPSES), indices.size, indices.size // _GLIMPSES + 1):
        row, column = csr.endpoints_of(indptr, indices, slot)
        first, last = int(indptr[column]), int(indptr[column + 1])
        mirror = first + int(np.searchsorted(indices[first:last], np.uint32(row)))
        if mirror == last or indices[mirror] != row:
            return False
        parallel = last > mirror + 1 and indices[mirror + 1] == row
        if weights is None or parallel or column == row:
            continue
        if weights[mirror] != weights[slot]:
            return False
    return True


def seems_quick(indptr: Array, indices: Array) -> bool:
    """Whether a checked CSR seems to need no sort, as far as a few slots show. O(n + n_slots).

    Its rows are sorted, and nothing is below the diagonal, or each slot has a mirror slot.
    """
    return csr.rows_are_sorted(indptr, indices) and (
        csr.is_upper(indptr, indices) or _has_mirrors(indptr, indices)
    )
