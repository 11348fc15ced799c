"""The canonical form of a graph: pairs in order, and of the weights of a pair the least."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from clmst.core import canonical
from clmst.core.canonical import sort_pairs, stable_order
from tests.helpers.strategies import EdgeArrays, edge_arrays

DTYPES = ["bool", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


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
        if merged["edge_ids"] is None:  # symmetric as it is
            continue
        slots = [expected[key] for key in sorted(expected)]
        assert merged["edge_ids"].tolist() == slots
        np.testing.assert_array_equal(merged["weights"], values[slots])
        assert merged["indices"].tolist() == [key[1] for key in sorted(expected)]


@given(edge_arrays(), st.sampled_from([1, 1009]), st.booleans(), st.booleans())
def test_pairs_are_sorted_stably(raw: EdgeArrays, step: int, has_ids: bool, in_order: bool) -> None:
    """By (row, column); few of many vertices by words, and none that are in order already."""
    u, v, n = raw.u * step, raw.v * step, raw.n * step
    order = sorted(range(u.size), key=lambda k: (u[k], v[k], k))
    if in_order:
        u, v, order = u[order], v[order], list(range(u.size))
    ids = np.arange(u.size, dtype=np.int32)[::-1] * 3
    found = sort_pairs(n, [u, v], ids if has_ids else None)
    assert found.positions.tolist() == (ids[order].tolist() if has_ids else order)
    assert found.indices.tolist() == v[order].tolist()
    expected = np.searchsorted(u[order], np.arange(n + 1))
    np.testing.assert_array_equal(found.indptr, expected)


@pytest.mark.parametrize("at", [0, 100, 254, 255, 256, 700, 998])
def test_one_pair_out_of_order_is_found(at: int) -> None:
    """Whether it is among the first pairs, which are looked at before the others, or not."""
    assert canonical._GLIMPSED_PAIRS == 256
    rows = np.repeat(np.arange(100, dtype=np.uint32), 10)
    columns = np.tile(np.arange(10, dtype=np.uint32), 100)
    for swapped in (rows, columns):
        u, v = rows.copy(), columns.copy()
        (u if swapped is rows else v)[at : at + 2] = [7, 3]
        expected = sorted(range(1000), key=lambda k: (u[k], v[k], k))
        assert sort_pairs(100, [u, v]).positions.tolist() == expected


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [*DTYPES, "any double", "any int64"])
@pytest.mark.parametrize("m", [0, 1, 100, 20_000], ids=lambda m: f"m={m}")
def test_equal_weights_keep_their_order(dtype: str, m: int, descending: bool) -> None:
    """Python's sort is stable, and stays so in reverse; zeros of both signs are equal."""
    rng = np.random.default_rng(m)
    if dtype == "any double":
        special: list[Any] = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1.7e308] * 2
        weights = np.append(rng.normal(size=m) * 10.0 ** rng.integers(-300, 300, m), special)
    elif dtype == "any int64":
        weights = rng.integers(-(2**63), 2**63, m)
    else:
        weights = rng.integers(-300, 300, m).astype(dtype)
    expected = sorted(range(weights.size), key=weights.tolist().__getitem__, reverse=descending)
    assert stable_order(weights, descending=descending).tolist() == expected
