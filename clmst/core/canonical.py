"""The canonical form of a CSR: rows sorted, parallel edges merged, one direction or both alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.core import csr
from clmst.core.weight_keys import Array


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
    weights = np.ascontiguousarray(weights)
    if csr.rows_are_sorted(indptr, indices):
        upper = csr.is_upper(indptr, indices)
        if upper or csr.is_symmetric(indptr, indices, weights):
            return Canonical(
                indptr=indptr,
                indices=indices,
                weights=weights,
                is_symmetric=not upper,
                positions=None,
            )
    pattern = csr.upper_from_edges(indptr.size - 1, csr.expand_rows(indptr), indices)
    pattern = csr.merge_parallel(pattern, weights)
    return Canonical(
        indptr=pattern.indptr,
        indices=pattern.indices,
        weights=weights[pattern.positions],
        is_symmetric=False,
        positions=pattern.positions,
    )
