"""Random matrices that every version of SciPy can make, and functions that spoil them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse


def matrix_of_density(n: int, *, density: float, seed: int = 0) -> sparse.csr_array:
    """Return a square matrix with random weights in [0, 1) at a fraction `density` of its cells."""
    rng = np.random.default_rng(seed)
    places = rng.choice(n * n, round(density * n * n), replace=False)
    return sparse.csr_array((rng.random(places.size), divmod(places, n)), shape=(n, n))


def with_indices(A: Any, index: Any = np.int32) -> sparse.csr_array:
    """Return a CSR matrix whose indices have a given dtype, which SciPy does not always choose."""
    B = sparse.csr_array((A.data, A.indices, A.indptr), shape=A.shape)
    B.indices, B.indptr = A.indices.astype(index), A.indptr.astype(index)
    return B


def matrix(n: int = 60, *, symmetric: bool = True, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Return a matrix with ties, loops, empty rows and a long row, or its upper triangle."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, max(2 * n // 3, 1), (2, 3 * n))
    u[: n // 2], v[: n // 2] = 7 % n, np.arange(n // 2)
    w = rng.integers(0, 2 if np.dtype(dtype).kind == "b" else 9, u.size)
    if np.dtype(dtype).kind in "if":
        w -= 4
    A = sparse.coo_array((w, (np.minimum(u, v), np.maximum(u, v))), shape=(n, n)).tocsr()
    A = sparse.csr_array(A + sparse.triu(A, 1).T) if symmetric else A
    A.sort_indices()
    return with_indices(A.astype(dtype))


# ------------------------------------------------- changes of a symmetric matrix


def _long_row(A: Any) -> int:
    """Return the index at which a row of at least three entries begins."""
    return int(A.indptr[np.flatnonzero(np.diff(A.indptr) > 2)[3]])


def another_weight(A: Any) -> None:
    A.data[A.indptr[-1] - 1] += 1


def exchanged_weights(A: Any) -> None:
    """Exchange the weights of two edges, in one direction each."""
    row = int(np.flatnonzero(np.diff(A.indptr) > 2)[-1])
    first, second = A.indptr[row : row + 2] - np.array([0, 2])
    A.data[first], A.data[second] = A.data[second] + 1, A.data[first] + 1


def lighter_below(A: Any) -> None:
    A.data[A.indices > np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))] = 99


def any_weights(A: Any) -> None:
    A.data[:] = np.random.default_rng(6).integers(0, 4, A.nnz)


def another_column(A: Any) -> None:
    """Change two columns of a row, which stays sorted."""
    last = int(A.indptr[8]) - 1
    A.indices[last - 1 : last + 1] = (A.shape[0] - 3, A.shape[0] - 2)


def swapped(A: Any) -> None:
    at = slice(_long_row(A), _long_row(A) + 2)
    A.indices[at], A.data[at] = A.indices[at][::-1].copy(), A.data[at][::-1].copy()


def repeated(A: Any) -> None:
    A.indices[_long_row(A) + 1] = A.indices[_long_row(A)]


def shuffled(A: Any) -> None:
    A.indices[:] = np.random.default_rng(5).permutation(A.indices)


def turned_round(A: Any) -> None:
    """Reverse the numbers of rows, but not of columns."""
    A.indices[:], A.data[:] = A.indices[::-1].copy(), A.data[::-1].copy()
    A.indptr[:] = A.nnz - A.indptr[::-1]


SPOILT = [
    another_weight, exchanged_weights, lighter_below, any_weights, another_column, swapped,
    repeated, shuffled, turned_round,
]  # fmt: skip

# Parts of error messages, and functions that make a matrix raise these errors.
FAULTS: list[tuple[str, Callable[[Any], None]]] = [
    ("negative", lambda A: A.indices.__setitem__(5, -1)),
    ("it must be below", lambda A: A.indices.__setitem__(5, A.shape[0])),
    ("must not decrease", lambda A: A.indptr.__setitem__(3, A.nnz - 1)),
    ("is NaN", lambda A: A.data.__setitem__(A.nnz - 1, np.nan)),
    ("it must be 0", lambda A: A.indptr.__setitem__(0, 1)),
    ("they must be equal", lambda A: A.indptr.__setitem__(-1, A.nnz + 7)),
]
every_fault = pytest.mark.parametrize(("message", "spoil"), FAULTS, ids=[m for m, _ in FAULTS])
every_spoilt = pytest.mark.parametrize("spoil", SPOILT)
