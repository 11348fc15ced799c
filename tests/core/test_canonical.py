"""The canonical form of a CSR: two weights a pair are folded as a sort would merge them."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from scipy import sparse

from clmst.core import canonical


def parts_of(matrix: Any) -> tuple[Any, Any, Any]:
    return matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), matrix.data


def pattern(n: int, entries: int, seed: int, *, loops: bool = False) -> Any:
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, (2, entries))
    if not loops:
        u, v = u[u != v], v[u != v]
    both = sparse.coo_array((np.ones(2 * u.size), (np.append(u, v), np.append(v, u))), (n, n))
    matrix = both.tocsr()
    matrix.sort_indices()
    return matrix


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8", "u1", "?"])
@pytest.mark.parametrize("loops", [False, True], ids=["no loops", "loops"])
def test_folded_as_merged(dtype: str, loops: bool) -> None:
    """Ties and signs of zero included: of equal weights the upper entry is kept."""
    for seed in range(20):
        matrix = pattern(1 + seed, 5 * seed + 1, seed, loops=loops)
        values = np.random.default_rng(seed).integers(0, 3, matrix.nnz).astype(dtype)
        if dtype == "f8":
            values[values == 0] *= -1  # -0.0 equals 0.0
        matrix.data = values
        parts = parts_of(matrix)
        folded = canonical.fold(*parts)
        with (
            mock.patch.object(canonical, "fold", return_value=None),
            mock.patch.object(canonical, "_has_mirrors", return_value=False),
        ):
            merged = canonical.canonicalise(*parts)
        assert folded is not None
        if merged.positions is None:  # an upper triangle: nothing was below the diagonal
            continue
        assert folded.positions is not None
        for name in ("indptr", "indices", "weights", "positions"):
            one, other = getattr(folded, name), getattr(merged, name)
            assert np.array_equal(one, other), name
        assert folded.weights.dtype == np.dtype(dtype)


def test_what_cannot_be_folded() -> None:
    """A pair of one direction, and parallel entries, which a transpose does not tell apart."""
    lone = sparse.csr_array(([1.0, 2.0, 3.0], [1, 0, 0], [0, 1, 2, 3]), shape=(3, 3))
    assert canonical.fold(*parts_of(lone)) is None
    twice = (np.array([0, 2, 4], np.uint32), np.array([1, 1, 0, 0], np.uint32), np.arange(4.0))
    assert canonical.fold(*twice) is None


def test_a_few_slots_show_what_a_matrix_is() -> None:
    """Whether it must be sorted: only a matrix of which some pairs have one direction."""
    matrix = pattern(50, 200, 0)
    assert canonical.seems_quick(*parts_of(matrix)[:2])
    assert canonical.seems_quick(*parts_of(sparse.csr_array(sparse.triu(matrix, 1)))[:2])
    assert not canonical.seems_quick(*parts_of(sparse.csr_array(sparse.tril(matrix, -1)))[:2])
    unsorted = np.array([0, 2, 3, 4], np.uint32), np.array([2, 1, 0, 0], np.uint32)
    assert not canonical.seems_quick(*unsorted)


def test_an_empty_matrix() -> None:
    empty = sparse.csr_array((3, 3))
    made = canonical.canonicalise(*parts_of(empty))
    assert (made.positions, made.weights.size) == (None, 0)
