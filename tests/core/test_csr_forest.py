"""Forests of SciPy matrices on the host: those of the graphs which clmst makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from clmst.core import csr_forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from tests.forests import assert_same_forest
from tests.strategies import WEIGHT_DTYPES

# SciPy's matrices have no float16.
DTYPES = [dtype for dtype in WEIGHT_DTYPES if dtype != np.float16]


def matrix(seed: int, dtype: Any = "f8", *, n: int = 40, m: int = 200, top: int = 9) -> Any:
    """Return a CSR with loops, empty rows, both directions, parallel entries and rows that fall."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n - 5, (2, m)).astype(np.int32)
    w = rng.integers(0, 2 if np.dtype(dtype).kind == "b" else top, m)
    if np.dtype(dtype).kind in "if":
        w -= 4
    starts = np.searchsorted(np.sort(u), np.arange(n + 1)).astype(np.int32)
    v = v[np.argsort(u, kind="stable")]
    return sparse.csr_array((w.astype(dtype), v, starts), shape=(n, n))


def assert_forest(A: Any) -> None:
    assert csr_forest.is_plain(A)
    before = A.copy()
    for maximum in (False, True):
        found = csr_forest.forest_of_matrix(A, maximum=maximum)
        assert found is not None or maximum
        if found is not None:
            assert_same_forest(found, kruskal(Graph.from_scipy(A), maximum=maximum))
    for array in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(A, array), getattr(before, array))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matrices_in_any_form(dtype: np.dtype) -> None:
    for seed in range(10):
        A = matrix(seed, dtype)
        assert_forest(A)
        wide = A.copy()
        wide.indices, wide.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
        assert_forest(wide)


@pytest.mark.parametrize("top", [1, 3, 1 << 20])
def test_canonical_matrices(top: int) -> None:
    """Upper triangles are not sorted, symmetric matrices count each edge once."""
    for seed in range(10):
        A = sparse.csr_array(sparse.triu(matrix(seed, "i8", top=top).tocoo(), 1).tocsr())
        A.sum_duplicates()
        A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
        assert_forest(A)
        both = sparse.csr_array(A + A.T)
        both.sort_indices()
        both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)
        assert_forest(both)


def test_one_vertex_and_one_entry() -> None:
    loop = sparse.csr_array(([3.0], [0], [0, 1]), shape=(1, 1))
    assert_forest(loop)
    assert_forest(sparse.csr_array(([3.0], [0], [0, 0, 1]), shape=(2, 2)))


def test_zeros_of_both_signs_tie() -> None:
    A = matrix(3)
    A.data[:] = np.where(np.arange(A.nnz) % 2, 0.0, -0.0)
    assert_forest(A)


def test_integers_beyond_doubles() -> None:
    A = matrix(4, "i8")
    A.data[:] = 2**53 + np.random.default_rng(0).integers(0, 4, A.nnz)
    assert_forest(A)


FAULTS: dict[str, Callable[[Any], None]] = {
    "a negative column": lambda A: A.indices.__setitem__(5, -1),
    "a column beyond": lambda A: A.indices.__setitem__(5, 40),
    "rows that fall": lambda A: A.indptr.__setitem__(3, A.nnz - 1),
    "NaN": lambda A: A.data.__setitem__(A.nnz - 1, np.nan),
    "a first row that does not begin": lambda A: A.indptr.__setitem__(0, 1),
    "rows beyond the entries": lambda A: A.indptr.__setitem__(-1, A.nnz + 7),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_left_to_the_graph(fault: str) -> None:
    A = matrix(1)
    FAULTS[fault](A)
    assert csr_forest.forest_of_matrix(A, maximum=False) is None
    assert csr_forest.entries_of_matrix(A) is None
    csr_forest.seems_canonical(A)  # which guesses, and reads nothing outside the arrays


def test_what_is_not_plain() -> None:
    A = matrix(1)
    assert csr_forest.is_plain(A)
    lists, longer, other, strided = (A.copy() for _ in range(4))
    lists.data = A.data.tolist()
    longer.data = np.append(A.data, 1.0)
    other.data = A.data.astype(">f8")
    strided.data = np.repeat(A.data, 2)[::2]
    for given in (A.tocoo(), lists, longer, other, strided, A.toarray(), A.astype(np.longdouble)):
        assert not csr_forest.is_plain(given)


def test_words_that_do_not_fit_are_left_to_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends and the entry of an edge share one word: here 6, 6 and 8 bits."""
    A = matrix(1)
    monkeypatch.setattr(csr_forest, "_WORD", 20)
    assert_forest(A)
    monkeypatch.setattr(csr_forest, "_WORD", 19)
    assert csr_forest.forest_of_matrix(A, maximum=False) is None


def test_a_glance_tells_most_that_have_to_be_sorted() -> None:
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 500, (2, 4000))
    kept = u != v
    directed = sparse.csr_array((rng.random(kept.sum()), (u[kept], v[kept])), shape=(500, 500))
    upper = sparse.csr_array(sparse.triu(directed, 1))
    both = sparse.csr_array(upper + upper.T)
    both.sort_indices()
    assert csr_forest.seems_canonical(upper)
    assert csr_forest.seems_canonical(both)
    assert not csr_forest.seems_canonical(directed)
    assert not csr_forest.seems_canonical(sparse.csr_array(upper.T.tocsr()))
