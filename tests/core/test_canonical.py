"""The canonical form of a graph: pairs in order, and of the weights of a pair the least."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from clmst.core import canonical, csr
from clmst.core.canonical import heavier, sort_pairs, stable_order
from clmst.core.weight_keys import Array
from tests.strategies import EdgeArrays, edge_arrays

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


def test_an_empty_matrix() -> None:
    empty = sparse.csr_array((3, 3))
    made = canonical.canonicalise(*parts_of(empty))
    assert (made["edge_ids"], made["weights"].size) == (None, 0)


def sorted_pairs(n: int, pairs: list[Array], ids: Array | None = None) -> tuple[Array, ...]:
    """Return (ids in order, indptr, columns in order)."""
    found = sort_pairs(n, pairs, ids)
    return found.positions, found.indptr, found.indices


@given(edge_arrays())
def test_sort_pairs_is_a_stable_lexicographic_sort(raw: EdgeArrays) -> None:
    order, indptr, columns = sorted_pairs(raw.n, [raw.u, raw.v])
    assert columns.tolist() == raw.v[order].tolist()
    expected = sorted(range(raw.u.size), key=lambda k: (raw.u[k], raw.v[k], k))
    assert order.tolist() == expected
    assert indptr.tolist() == [int((raw.u < row).sum()) for row in range(raw.n + 1)]


@given(edge_arrays())
def test_pairs_may_have_ids(raw: EdgeArrays) -> None:
    """They come in the order of the pairs, also where nothing is sorted."""
    order, _, _ = sorted_pairs(raw.n, [raw.u, raw.v])
    ids = np.arange(raw.u.size, dtype=np.int32)[::-1] * 3
    found, _, _ = sorted_pairs(raw.n, [raw.u, raw.v], ids)
    assert found.tolist() == ids[order].tolist()
    found, _, _ = sorted_pairs(raw.n, [raw.u[order], raw.v[order]], ids)
    assert found.tolist() == ids.tolist()


@given(edge_arrays())
def test_pairs_in_order_stay(raw: EdgeArrays) -> None:
    """They are not sorted again, and nothing else shows that."""
    order, _, _ = sorted_pairs(raw.n, [raw.u, raw.v])
    u, v = raw.u[order], raw.v[order]
    order, indptr, columns = sorted_pairs(raw.n, [u, v])
    assert order.tolist() == list(range(u.size))
    assert columns.tolist() == v.tolist()
    assert indptr.tolist() == [int((u < row).sum()) for row in range(raw.n + 1)]


@pytest.mark.parametrize("at", [0, 100, 254, 255, 256, 700, 998])
def test_one_pair_out_of_order_is_found(at: int) -> None:
    """Whether it is among the first pairs, which are looked at before the others, or not."""
    assert canonical._GLIMPSED_PAIRS == 256
    rows = np.repeat(np.arange(100, dtype=np.uint32), 10)
    columns = np.tile(np.arange(10, dtype=np.uint32), 100)
    for swapped in (rows, columns):
        u, v = rows.copy(), columns.copy()
        (u if swapped is rows else v)[at : at + 2] = [7, 3]
        order, _, _ = sorted_pairs(100, [u, v])
        expected = sorted(range(1000), key=lambda k: (u[k], v[k], k))
        assert order.tolist() == expected


@given(edge_arrays())
def test_pairs_of_few_of_many_vertices(raw: EdgeArrays) -> None:
    """Their digits are counted, since to count vertices would take memory for each of these."""
    step = 1009
    order, indptr, columns = sorted_pairs(raw.n, [raw.u, raw.v])
    far = sorted_pairs(raw.n * step, [raw.u * step, raw.v * step])
    assert far[0].tolist() == order.tolist()
    assert far[1][::step].tolist() == indptr.tolist()
    assert far[2].tolist() == (columns * step).tolist()
    ids = np.arange(raw.u.size, dtype=np.int32)[::-1] * 3
    again, _, _ = sorted_pairs(raw.n * step, [raw.u * step, raw.v * step], ids)
    assert again.tolist() == ids[order].tolist()


@given(edge_arrays())
def test_mirror_pairs_both_directions_in_edge_order(raw: EdgeArrays) -> None:
    edges = raw.canonical()
    u, v = (np.array([e[k] for e in edges], np.uint32) for k in (0, 1))
    pattern = canonical.mirror(raw.n, u, v)
    slots = list(
        zip(
            csr.expand_rows(pattern.indptr).tolist(),
            pattern.indices.tolist(),
            pattern.positions.tolist(),
            strict=True,
        )
    )
    assert slots == sorted(
        [(a, b, k) for k, (a, b, _) in enumerate(edges)]
        + [(b, a, k) for k, (a, b, _) in enumerate(edges)]
    )


@pytest.mark.parametrize("longest", [2, 5])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64"])
def test_the_first_of_the_lightest_stays(dtype: str, longest: int) -> None:
    """Else a forest would have another edge than the one that the order of edges says."""
    rng = np.random.default_rng(longest)
    lengths = rng.integers(1, longest + 1, 60)
    repeats = np.concatenate([np.arange(length) > 0 for length in lengths])
    positions = rng.permutation(repeats.size)
    weights = rng.integers(0, 3, repeats.size).astype(dtype)
    dropped = set(range(repeats.size))
    for start, length in zip(np.cumsum(lengths) - lengths, lengths, strict=True):
        dropped.remove(min(range(start, start + length), key=lambda k: (weights[positions[k]], k)))
    assert heavier(repeats, positions, weights).tolist() == sorted(dropped)


def test_zeros_of_either_sign_are_equal() -> None:
    repeats = np.array([False, True])
    assert heavier(repeats, np.array([0, 1]), np.array([0.0, -0.0])).tolist() == [1]


@pytest.mark.parametrize("m", [0, 1, 100, 20_000], ids=lambda m: f"m={m}")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_equal_weights_keep_their_order(dtype: str, m: int, descending: bool) -> None:
    """Python's sort is stable, and stays so in reverse."""
    rng = np.random.default_rng(m)
    weights = rng.integers(-300, 300, m).astype(dtype)
    expected = sorted(range(m), key=weights.tolist().__getitem__, reverse=descending)
    assert stable_order(weights, descending=descending).tolist() == expected


@pytest.mark.parametrize("descending", [False, True])
def test_all_digits_count(descending: bool) -> None:
    """Random bits differ in each digit of a key; zeros of both signs are equal."""
    rng = np.random.default_rng(1)
    special: list[Any] = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1.7e308]
    weights = np.concatenate([rng.normal(size=20_000) * 10.0 ** rng.integers(-300, 300, 20_000),
                              special, special])  # fmt: skip
    expected = sorted(range(weights.size), key=weights.tolist().__getitem__, reverse=descending)
    assert stable_order(weights, descending=descending).tolist() == expected
    whole = rng.integers(-(2**63), 2**63, 20_000)
    expected = sorted(range(whole.size), key=whole.tolist().__getitem__, reverse=descending)
    assert stable_order(whole, descending=descending).tolist() == expected
