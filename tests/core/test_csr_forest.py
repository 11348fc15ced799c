"""Forests of SciPy matrices on the host equal the forests of the graphs made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from scipy import sparse

from clmst.core.from_scipy import is_plain, seems_canonical
from clmst.core.graph import Graph
from clmst.core.kruskal import entries_of_matrix, forest_of_matrix, kruskal
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest
from tests.helpers.matrices import every_fault, matrix
from tests.helpers.strategies import WEIGHT_DTYPES, EdgeArrays, edge_arrays

# SciPy's matrices lack float16.
DTYPES = [dtype for dtype in WEIGHT_DTYPES if dtype != np.float16]


def csr_of(raw: EdgeArrays, form: str = "any", index: str = "i4") -> Any:
    """Return a CSR of edges: of both directions, of upper entries, or with rows that fall."""
    order = np.argsort(raw.u, kind="stable")
    starts, columns, weights = (
        (np.searchsorted(raw.u[order], np.arange(raw.n + 1)), raw.v[order], raw.w[order])
        if form == "any"
        else raw.csr(symmetric=form == "symmetric")
    )
    arrays = (weights, columns.astype(index), starts.astype(index))
    matrix = sparse.csr_array(arrays, shape=(raw.n, raw.n))
    matrix.indices, matrix.indptr = arrays[1:]  # of the dtype that is asked for
    return matrix


def assert_forest(A: Any) -> None:
    assert is_plain(A)
    before = A.copy()
    for maximum in (False, True):
        found = forest_of_matrix(A, maximum=maximum)
        assert found is not None or maximum
        if found is not None:
            assert_same_forest(found, kruskal(Graph.from_scipy(A), maximum=maximum))
    for array in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(A, array), getattr(before, array))


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize("form", ["any", "upper", "symmetric"])
@given(raw=edge_arrays(min_vertices=1, max_vertices=40, max_edges=700, dtypes=DTYPES))
def test_matrices_in_any_form(form: str, index: str, raw: EdgeArrays) -> None:
    """Loops, parallel entries, ties, zeros of both signs, integers beyond doubles."""
    A = csr_of(raw, form, index)
    assume(A.nnz)
    assert_forest(A)


@every_fault
def test_faults_are_left_to_the_graph(message: str, spoil: Callable[[Any], None]) -> None:
    A = matrix()
    spoil(A)
    assert forest_of_matrix(A, maximum=False) is None
    assert entries_of_matrix(A) is None
    seems_canonical(A)  # which guesses, and reads nothing outside the arrays


def test_what_is_not_plain() -> None:
    A = matrix()
    assert is_plain(A)
    lists, longer, foreign, strided = (A.copy() for _ in range(4))
    lists.data = A.data.tolist()
    longer.data = np.append(A.data, 1.0)
    foreign.data = A.data.astype(">f8")
    strided.data = np.repeat(A.data, 2)[::2]
    for other in (A.tocoo(), lists, longer, foreign, strided, A.toarray(), A.astype(np.longdouble)):
        assert not is_plain(other)


def test_words_that_do_not_fit_are_left_to_the_graph() -> None:
    """Both ends and the entry of an edge share one word: here 6, 6 and 9 bits."""
    A = matrix()
    with bounds(kruskal_word_bits=21):
        assert_forest(A)
    with bounds(kruskal_word_bits=20):
        assert forest_of_matrix(A, maximum=False) is None


def test_a_glance_tells_most_that_have_to_be_sorted() -> None:
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 500, (2, 4000))
    kept = u != v
    directed = sparse.csr_array((rng.random(kept.sum()), (u[kept], v[kept])), shape=(500, 500))
    upper = sparse.csr_array(sparse.triu(directed, 1))
    both = sparse.csr_array(upper + upper.T)
    both.sort_indices()
    assert seems_canonical(upper)
    assert seems_canonical(both)
    assert not seems_canonical(directed)
    assert not seems_canonical(sparse.csr_array(upper.T.tocsr()))
