"""Small matrices with two weights a pair, solved in one launch: the entries that SciPy chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph as scipys

import clmst
from clmst import Device, Graph, InvalidGraphError
from clmst.algorithms.small_matrix import pairs
from clmst.algorithms.small_matrix import solve as small_matrix

KINDS = ["few bytes", "few doubles", "doubles", "zeros of both signs", "tied doubles", "wide", "f4"]


@pytest.fixture(autouse=True)
def _on_one_launch(any_device: Device) -> None:
    if not small_matrix.works_on(any_device):
        pytest.skip("the device goes the usual way")


def weights_of(kind: str, size: int) -> Any:
    rng = np.random.default_rng(size)
    doubles = rng.random(size)
    return {
        "few bytes": rng.integers(-3, 3, size).astype(np.int8),
        "few doubles": rng.integers(1, 9, size).astype(np.float64),
        "doubles": doubles,
        "zeros of both signs": rng.choice([0.0, -0.0, 0.1, 0.2], size),
        "tied doubles": np.where(np.arange(size) % 2, doubles, np.round(doubles, 2)),
        "wide": rng.choice([2**62, 2**62 + 1, -5], size),
        "f4": doubles.astype(np.float32),
    }[kind]


def matrix(kind: str, n: int = 300, seed: int = 0) -> Any:
    """Return a matrix that stores each pair twice, with loops and empty rows."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n - 20, (2, 4 * n))
    A = sparse.coo_array((np.ones(u.size), (u, v)), shape=(n, n)).tocsr()
    A = sparse.csr_array(A + A.T)
    A.sort_indices()
    parts = (weights_of(kind, A.nnz), A.indices.astype(np.int32), A.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=A.shape)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_entries_are_those_of_the_forest(kind: str, seed: int) -> None:
    """The lesser weight of a pair counts, and of equal ones the entry that comes first."""
    A = matrix(kind, seed=seed)
    found = pairs.entries_of_forest(A)
    assert found is not None
    ranks = np.lexsort((np.arange(A.nnz), A.data)).argsort()
    by_rank = sparse.csr_array((ranks + 1.0, A.indices, A.indptr), shape=A.shape)
    expected = np.sort(scipys.minimum_spanning_tree(by_rank).data) - 1
    assert np.sort(ranks[found]).tolist() == expected.tolist()
    assert (np.diff(found) > 0).all()
    forest = clmst.kruskal(Graph.from_scipy(A))
    assert sorted(A.data[found].tolist()) == sorted(forest.weights.tolist())


def test_other_matrices_go_the_usual_way() -> None:
    A = matrix("doubles")
    assert pairs.entries_of_forest(sparse.csr_array(sparse.triu(A))) is None
    parts = (A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64))
    wide = sparse.csr_array(parts, shape=A.shape)
    wide.indices, wide.indptr = parts[1:]
    assert pairs.entries_of_forest(wide) is None
    longer = matrix("doubles")
    longer.data, longer.indices = np.append(A.data, 5.0), np.append(A.indices, np.int32(900))
    assert pairs.entries_of_forest(longer) is None  # SciPy allows unused entries at the end
    assert pairs.entries_of_forest(A.astype(np.longdouble)) is None
    A.data[7] = np.nan
    assert pairs.entries_of_forest(A) is None
    unsorted = matrix("doubles")
    row = unsorted.indptr[5]
    unsorted.indices[row : row + 2] = unsorted.indices[row : row + 2][::-1].copy()
    assert pairs.entries_of_forest(unsorted) is None


def test_arrays_that_contradict_each_other_are_refused() -> None:
    """Before SciPy's code goes through them."""
    for value in (-1, 300, 2**30):
        A = matrix("doubles")
        A.indices[11] = value
        with pytest.raises(InvalidGraphError):
            pairs.entries_of_forest(A)
    A = matrix("doubles")
    A.indptr[4] = A.indptr[-1] + 3  # beyond the last entry, after which it falls
    with pytest.raises(InvalidGraphError):
        pairs.entries_of_forest(A)
