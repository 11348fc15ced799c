"""Matrices of equal weights: the forest of the canonical order, whatever the order of entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device, Graph, InvalidGraphError
from clmst.algorithms import direct
from clmst.algorithms.equal_weights import solve as equal_weights
from clmst.algorithms.families import EQUAL_WEIGHTS
from clmst.core.kruskal import forest_positions
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_forests, assert_same_forest
from tests.helpers.matrices import every_fault, matrix, with_indices
from tests.helpers.strategies import WEIGHT_DTYPES


@pytest.fixture(autouse=True)
def _by_one_work_item(any_device: Device) -> None:
    if not EQUAL_WEIGHTS.suits(any_device):
        pytest.skip("the device goes the usual way")


def of(indptr: Any, indices: Any, n: int, weight: Any = 1.0, index: Any = np.int32) -> Any:
    """Return a matrix of one weight, its arrays as they are given."""
    matrix = sparse.csr_array((n, n), dtype=np.asarray(weight).dtype)
    matrix.indptr, matrix.indices = np.asarray(indptr, index), np.asarray(indices, index)
    matrix.data = np.full(matrix.indices.size, weight)
    return matrix


def assert_right(A: Any, device: Device) -> None:
    assert equal_weights.solve(A, device, maximum=False) is not None
    assert_forests(A, device, Graph.from_scipy(A))
    first = forest_positions(A.shape[0], A.indptr, A.indices, A.data)
    np.testing.assert_array_equal(equal_weights.entries(A, device), first)
    greatest = clmst.maximum_spanning_forest(A, device=device)
    assert greatest.stats["algorithm"] == "kruskal"


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_any_entries(any_device: Device, index: Any) -> None:
    """Rows in any order, with entries on and below the diagonal, some of them there twice."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        m = int(rng.integers(1, 4 * n + 1))
        indptr = np.searchsorted(np.sort(rng.integers(0, n, m)), np.arange(n + 1))
        assert_right(of(indptr, rng.integers(0, n, m), n, index=index), any_device)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_rows_that_rise(any_device: Device, index: Any) -> None:
    """Rows may have both entries of each edge, the entry above the diagonal, or either one."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        dense = np.triu(rng.random((n, n)) < 3 / n, k=seed % 2)
        dense[0, n - 1] = True
        below = dense.T & (rng.random((n, n)) < seed % 3 / 2)
        if seed % 4 == 0:  # then some lack a mirror slot
            below |= np.tril(rng.random((n, n)) < 1 / n, k=-1)
        A = sparse.csr_array(dense | below)
        assert_right(of(A.indptr, A.indices, n, index=index), any_device)


@pytest.mark.parametrize("form", ["coo", "csc"])
@pytest.mark.parametrize("weights", ["equal", "but one", "summed"])
@bounds(small_slots=0, small_slots_in_any_order=0)
def test_other_forms(any_device: Device, form: str, weights: str) -> None:
    """Beyond what one launch takes of any weights; SciPy's conversion sums entries."""
    rng = np.random.default_rng(2)
    u, v = rng.integers(0, 300, (2, 1300))
    twice = [slice(None), slice(None, 1)] if weights == "summed" else [slice(None)]
    ends = tuple(np.concatenate([x[part] for part in twice]) for x in (u, v))
    A: Any = sparse.coo_array((np.full(ends[0].size, 2.0), ends), shape=(300, 300))
    if weights != "summed":
        A.sum_duplicates()
        A.data[:] = 2.0
    if weights == "but one":
        A.data[77] = 1.0
    A = A.asformat(form)
    forest = clmst.minimum_spanning_forest(A, device=any_device)
    assert_same_forest(forest, clmst.kruskal(Graph.from_scipy(A)))
    assert (forest.stats["algorithm"] == "kruskal") == (weights == "equal")


@pytest.mark.parametrize("dtype", [t for t in WEIGHT_DTYPES if t != np.float16], ids=str)
def test_every_dtype(any_device: Device, dtype: np.dtype) -> None:
    rng = np.random.default_rng(1)
    indptr = np.arange(0, 301 * 4, 4)
    A = of(indptr, rng.integers(0, 300, 1200), 300, np.ones(1, dtype)[0])
    if dtype.kind == "f":
        A.data *= -np.inf
    assert_right(A, any_device)


def test_zeros_of_both_signs_are_equal(any_device: Device) -> None:
    A = of([0, 2, 3, 3], [2, 1, 2], 3, 0.0)
    A.data[1] = -0.0
    assert_right(A, any_device)
    assert np.signbit(clmst.minimum_spanning_forest(A, device=any_device).weights[0])


def test_a_long_row_that_falls(any_device: Device) -> None:
    """Edges of one vertex that are far from sorted go the usual way, in bounded time."""
    n = 20_000
    A = of([0, *[n - 1] * n], np.arange(n - 1, 0, -1), n)
    assert equal_weights.solve(A, any_device, maximum=False) is None
    forest = clmst.minimum_spanning_forest(A, device=any_device)
    assert_same_forest(forest, clmst.kruskal(Graph.from_scipy(A)))
    assert_right(of([0, *[n - 1] * n], np.arange(1, n), n), any_device)
    mixed = np.random.default_rng(1).permutation(np.arange(1, 64))
    assert_right(of([0, *[63] * 64], mixed, 64), any_device)


def test_what_goes_the_usual_way(any_device: Device) -> None:
    A = of([0, 2, 3, 3], [1, 2, 2], 3)
    assert equal_weights.solve(A, any_device, maximum=False) is not None
    other = A.copy()
    other.data[1] = 2
    nan = A.copy()
    nan.data[:] = np.nan
    no_entry = sparse.csr_array((3, 3))
    for one in (other, nan, no_entry, Graph.from_scipy(A)):
        try:
            forest = clmst.minimum_spanning_forest(one, device=any_device)
        except InvalidGraphError:
            assert one is nan
        else:
            assert forest.stats["algorithm"] != "kruskal"


@pytest.mark.parametrize("index", [np.int32, np.int64])
@every_fault
def test_faults_are_the_hosts_to_name(
    any_device: Device, message: str, spoil: Any, index: Any
) -> None:
    A = with_indices(matrix(), index)
    A.data[:] = 1
    spoil(A)
    assert direct.forest_of(A, any_device, maximum=False, host_allowed=False) is None
    with pytest.raises(InvalidGraphError, match=message):
        clmst.minimum_spanning_forest(A, device=any_device)
