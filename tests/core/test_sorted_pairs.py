"""Pairs in order, however many there are of each, and whether they were in order before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from clmst.core import sorted_pairs
from clmst.core.sorted_pairs import sort_pairs
from tests.strategies import EdgeArrays, edge_arrays


@given(edge_arrays())
def test_sort_pairs_is_a_stable_lexicographic_sort(raw: EdgeArrays) -> None:
    order, indptr, columns = sort_pairs(raw.n, [raw.u, raw.v])
    assert columns.tolist() == raw.v[order].tolist()
    expected = sorted(range(raw.u.size), key=lambda k: (raw.u[k], raw.v[k], k))
    assert order.tolist() == expected
    assert indptr.tolist() == [int((raw.u < row).sum()) for row in range(raw.n + 1)]


@given(edge_arrays())
def test_pairs_may_have_ids(raw: EdgeArrays) -> None:
    """They come in the order of the pairs, also where nothing is sorted."""
    order, _, _ = sort_pairs(raw.n, [raw.u, raw.v])
    ids = np.arange(raw.u.size, dtype=np.int32)[::-1] * 3
    found, _, _ = sort_pairs(raw.n, [raw.u, raw.v], ids)
    assert found.tolist() == ids[order].tolist()
    found, _, _ = sort_pairs(raw.n, [raw.u[order], raw.v[order]], ids)
    assert found.tolist() == ids.tolist()


@given(edge_arrays())
def test_pairs_in_order_stay(raw: EdgeArrays) -> None:
    """They are not sorted again, and nothing else shows that."""
    order, _, _ = sort_pairs(raw.n, [raw.u, raw.v])
    u, v = raw.u[order], raw.v[order]
    order, indptr, columns = sort_pairs(raw.n, [u, v])
    assert order.tolist() == list(range(u.size))
    assert columns.tolist() == v.tolist()
    assert indptr.tolist() == [int((u < row).sum()) for row in range(raw.n + 1)]


@pytest.mark.parametrize("at", [0, 100, 254, 255, 256, 700, 998])
def test_one_pair_out_of_order_is_found(at: int) -> None:
    """Whether it is among the first pairs, which are looked at before the others, or not."""
    assert sorted_pairs._GLIMPSED_PAIRS == 256
    rows = np.repeat(np.arange(100, dtype=np.uint32), 10)
    columns = np.tile(np.arange(10, dtype=np.uint32), 100)
    for swapped in (rows, columns):
        u, v = rows.copy(), columns.copy()
        (u if swapped is rows else v)[at : at + 2] = [7, 3]
        order, _, _ = sort_pairs(100, [u, v])
        expected = sorted(range(1000), key=lambda k: (u[k], v[k], k))
        assert order.tolist() == expected


@given(edge_arrays())
def test_pairs_of_few_of_many_vertices(raw: EdgeArrays) -> None:
    """Their digits are counted, since to count vertices would take memory for each of these."""
    step = 1009
    order, indptr, columns = sort_pairs(raw.n, [raw.u, raw.v])
    far = sort_pairs(raw.n * step, [raw.u * step, raw.v * step])
    assert far[0].tolist() == order.tolist()
    assert far[1][::step].tolist() == indptr.tolist()
    assert far[2].tolist() == (columns * step).tolist()
    ids = np.arange(raw.u.size, dtype=np.int32)[::-1] * 3
    again, _, _ = sort_pairs(raw.n * step, [raw.u * step, raw.v * step], ids)
    assert again.tolist() == ids[order].tolist()
