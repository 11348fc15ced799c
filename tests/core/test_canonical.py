"""The canonical form of a CSR: of two weights of a pair the lesser one is kept."""

from __future__ import annotations

from typing import Any

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
def test_two_weights_of_a_pair_are_merged(dtype: str, loops: bool) -> None:
    """Ties and signs of zero included: of equal weights the upper entry is kept."""
    for seed in range(20):
        matrix = pattern(1 + seed, 5 * seed + 1, seed, loops=loops)
        values = np.random.default_rng(seed).integers(0, 3, matrix.nnz).astype(dtype)
        if dtype == "f8":
            values[values == 0] *= -1  # -0.0 equals 0.0
        matrix.data = values
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        expected: dict[tuple[int, int], int] = {}
        for slot, pair in enumerate(zip(rows, matrix.indices, strict=True)):
            key = min(pair), max(pair)
            if key[0] < key[1] and (key not in expected or values[slot] < values[expected[key]]):
                expected[key] = slot
        merged = canonical.canonicalise(*parts_of(matrix))
        if merged.positions is None:  # symmetric as it is
            continue
        slots = [expected[key] for key in sorted(expected)]
        assert merged.positions.tolist() == slots
        np.testing.assert_array_equal(merged.weights, values[slots])
        assert merged.indices.tolist() == [key[1] for key in sorted(expected)]


def test_an_empty_matrix() -> None:
    empty = sparse.csr_array((3, 3))
    made = canonical.canonicalise(*parts_of(empty))
    assert (made.positions, made.weights.size) == (None, 0)
