"""What a SciPy sparse matrix holds, as the arrays of a CSR."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array


def check_matrix(A: Any) -> None:
    """Raise unless `A` is a two-dimensional sparse matrix of real numbers."""
    is_sparse: bool = sparse.issparse(A)
    if not is_sparse:
        raise InvalidGraphError(
            f"from_scipy was given {type(A).__name__}; it takes a scipy.sparse matrix or array "
            "(clmst.DenseGraph takes a dense one)"
        )
    if A.ndim != 2:
        raise InvalidGraphError(f"the array has {A.ndim} dimension; an adjacency matrix has 2")
    if A.dtype.kind not in "biuf":
        raise InvalidGraphError(
            f"the matrix has dtype {A.dtype}; weights must be bool, int, uint or float"
        )


def csr_parts(A: Any) -> tuple[Array, Array, Array, tuple[int, int]]:
    """Return (indptr, indices, data, shape) of a checked matrix, without a copy if it is CSR.

    Formats other than CSR are converted by SciPy, which adds duplicate entries up. DIA and BSR
    pad with zeros, so that none of their zeros is an entry.
    """
    csr = A if A.format == "csr" else A.tocsr()
    if A.format == "bsr":
        csr.eliminate_zeros()  # SciPy does so for DIA
    used = int(csr.indptr[-1]) if csr.indptr.size else 0
    # SciPy allows spare room behind the last entry; it is no part of the matrix.
    indices, data = np.asarray(csr.indices), np.asarray(csr.data)
    if indices.size > used >= 0 and indices.shape == data.shape:
        indices, data = indices[:used], data[:used]
    return np.asarray(csr.indptr), indices, data, (int(A.shape[0]), int(A.shape[1]))
