"""The CSR machinery below Graph: rows, transposes, index widths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core import csr
from clmst.core.canonical import row_starts
from tests.helpers.strategies import EdgeArrays, edge_arrays


@given(edge_arrays(), st.booleans())
def test_rows_are_expanded_and_looked_up_alike(raw: EdgeArrays, symmetric: bool) -> None:
    indptr, indices, _ = raw.csr(symmetric=symmetric)
    rows = csr.expand_rows(indptr)
    assert rows.dtype == np.uint32
    for slot in range(indices.size):
        assert csr.endpoints_of(indptr, indices, slot) == (rows[slot], indices[slot])
    np.testing.assert_array_equal(row_starts(rows, raw.n), indptr)


@given(edge_arrays())
def test_rows_are_sorted_means_what_it_says(raw: EdgeArrays) -> None:
    order = np.argsort(raw.u, kind="stable")
    rows, columns = raw.u[order], raw.v[order]
    indptr = np.searchsorted(rows, np.arange(raw.n + 1))
    expected = all((np.diff(columns[indptr[i] : indptr[i + 1]]) >= 0).all() for i in range(raw.n))
    assert csr.rows_are_sorted(indptr, columns) == expected


@given(edge_arrays())
def test_a_symmetric_csr_is_recognised_and_a_changed_weight_seen(raw: EdgeArrays) -> None:
    indptr, indices, weights = raw.csr(symmetric=True)
    parts = csr.as_uint32(indptr), csr.as_uint32(indices)
    assert csr.is_symmetric(*parts, weights)
    below = np.flatnonzero(csr.expand_rows(indptr) > indices)
    if below.size:
        changed = weights.copy()
        changed[below[0]] = 1 if changed[below[0]] == 0 else 0
        assert not csr.is_symmetric(*parts, changed)


@given(edge_arrays())
def test_is_upper_looks_at_every_row(raw: EdgeArrays) -> None:
    for symmetric in (False, True):
        indptr, indices, _ = raw.csr(symmetric=symmetric)
        expected = bool((csr.expand_rows(indptr) <= indices).all())
        assert csr.is_upper(csr.as_uint32(indptr), csr.as_uint32(indices)) == expected


@pytest.mark.parametrize(
    ("dtype", "weights"),
    [("i8", [2**62, 2**62 + 1]), ("u8", [2**62, 2**62 + 1]), ("f2", [1, 1 + 2**-10])],
)
def test_is_symmetric_sees_the_last_bit(dtype: str, weights: list[float]) -> None:
    """Compared as doubles, the wide integers would be equal; SciPy lacks float16."""
    indptr, indices = np.array([0, 1, 2], np.uint32), np.array([1, 0], np.uint32)
    assert not csr.is_symmetric(indptr, indices, np.array(weights, dtype))


def test_as_uint32_views_int32_and_copies_the_rest() -> None:
    narrow = np.array([0, 5], np.int32)
    assert np.shares_memory(csr.as_uint32(narrow), narrow)
    assert csr.as_uint32(np.array([2**32 - 2], np.int64)).tolist() == [2**32 - 2]
    assert csr.as_uint32(np.array([1, 2], ">i4")).tolist() == [1, 2]
