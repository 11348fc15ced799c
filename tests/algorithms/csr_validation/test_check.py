"""Matrices that a device checks itself: the same are used as they are as on the host."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device, Graph, InvalidGraphError
from clmst.algorithms.csr_validation import check as csr_validation
from clmst.algorithms.csr_validation.check import put_matrix
from clmst.runtime.transfer import Staging
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_forests, assert_same_arrays, assert_same_forest
from tests.helpers.matrices import (
    any_weights,
    every_fault,
    every_spoilt,
    matrix,
    repeated,
    with_indices,
)
from tests.helpers.strategies import WEIGHT_DTYPES
from tests.helpers.wrong_families import WrongFamilies


@pytest.fixture
def copying(device: Device) -> Iterator[Device]:
    """Return the device as one that copies, for matrices of any size, and finds faults itself."""
    with bounds(checked_from=1, arranged_from=1):
        yield as_copying(device)


as_copying = cache(partial(with_capabilities, host_arrays="copied"))


class Noted(Staging):
    """Transfers to a device, which notes the sizes of arrays that are sent."""

    def __init__(self, device: Device) -> None:
        super().__init__(device.queue)
        self.sizes: list[int] = []

    def send(self, queue: Any, transfers: Any) -> None:
        self.sizes += [one.array.size for one in transfers]
        super().send(queue, transfers)


def assert_uploaded(A: Any, device: Device) -> None:
    """Check that the device takes it, as what the host makes of it."""
    graph = Graph.from_scipy(A)
    resident: Any = put_matrix(A, device, arrange=False)
    assert graph.edge_ids is None
    assert_same_arrays(resident, graph)
    assert resident.graph.is_symmetric == graph.is_symmetric


@pytest.mark.parametrize("dtype", [t for t in WEIGHT_DTYPES if t != np.float16], ids=str)
def test_symmetric_and_upper(copying: Device, dtype: np.dtype) -> None:
    A = matrix(900, dtype=dtype)
    assert_uploaded(A, copying)
    assert_uploaded(with_indices(sparse.csr_array(sparse.triu(A))), copying)
    assert_uploaded(with_indices(sparse.csr_array(sparse.triu(A, 1))), copying)


@pytest.mark.parametrize("n", [2, 63, 64, 65, 511, 512, 513, 1025, 3000])
def test_tiles(copying: Device, n: int) -> None:
    """Rows of one, and rows of all: wherever tiles begin and end."""
    ones: list[float] = [1.0] * (n - 1)
    path = sparse.csr_array(sparse.diags_array([ones, ones], offsets=[-1, 1]))
    assert_uploaded(with_indices(path), copying)
    star = sparse.coo_array((np.arange(n), (np.zeros(n, int), np.arange(n))), shape=(n, n))
    assert_uploaded(with_indices(sparse.csr_array(star + star.T).astype(np.int16)), copying)


def test_zeros_have_one_sign(copying: Device) -> None:
    A = matrix(900, dtype=np.float32)
    A.data[A.data < 50] = 0
    A.data[(A.data == 0) & (np.arange(A.nnz) % 2 == 0)] = -0.0
    assert_uploaded(A, copying)


def assert_rearranged(A: Any, device: Device) -> None:
    """Check that the device makes of it what the host makes of it."""
    assert put_matrix(A, device, arrange=False) is None
    graph = Graph.from_scipy(A)
    resident: Any = put_matrix(A, device)
    assert graph.edge_ids is not None
    assert graph.n_input == A.nnz
    assert_same_arrays(resident, graph)
    assert not resident.graph.is_symmetric
    for given in (A, resident):
        assert_forests(given, device, graph)


@every_spoilt
def test_what_the_device_rearranges(copying: Device, spoil: Callable[[Any], None]) -> None:
    """None of these is canonical; the device brings it into the order that the host would."""
    A = matrix(900)
    spoil(A)
    A.has_sorted_indices = False
    assert_rearranged(A, copying)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32, np.uint8, np.bool_], ids=str)
def test_lesser_of_two_directions(copying: Device, dtype: Any) -> None:
    """On a tie the upper one: it comes first; zeros of both signs tie."""
    A = matrix(900, dtype=np.int32)
    least = -2 if np.dtype(dtype).kind in "if" else 0
    A.data[:] = np.random.default_rng(4).integers(least, 2, A.nnz)
    A = A.astype(dtype)
    if A.dtype.kind == "f":
        A.data[(A.data == 0) & (np.arange(A.nnz) % 2 == 0)] = -0.0
    assert_rearranged(A, copying)


def test_very_many_entries_at_one_place(copying: Device) -> None:
    """No work-item compares so many; the host does."""
    m = 3000
    weights = np.random.default_rng(5).integers(0, 1000, m)
    columns = np.ones(m, np.int32)
    columns[-1] = 0  # so that the row falls
    A = sparse.csr_array((weights, columns, np.array([0, m, m], np.int32)), shape=(2, 2))
    assert put_matrix(A, copying) is None
    forest = clmst.minimum_spanning_forest(A, device=copying)
    assert forest.edge_ids.tolist() == [int(np.argmin(weights[:-1]))]


def test_parallel_entries_of_rising_rows(copying: Device) -> None:
    """The host takes such a matrix as it is, if it is symmetric or upper triangular."""
    upper = with_indices(sparse.csr_array(sparse.triu(matrix(900), 1)))
    repeated(upper)
    twice = np.array([3, 5, 3, 5]), np.array([1, 1, 0, 0], np.int32), np.array([0, 2, 4], np.int32)
    for A in (upper, sparse.csr_array(twice, shape=(2, 2))):
        assert put_matrix(A, copying) is None
        graph = Graph.from_scipy(A)
        assert graph.edge_ids is None
        assert_forests(A, copying, graph)


@pytest.mark.parametrize("keys", [(0, 0), (2**64 - 1, 1), (12345, 2**63)])
def test_symmetry_is_seen_by_any_keys(
    copying: Device, monkeypatch: pytest.MonkeyPatch, keys: tuple[int, int]
) -> None:
    """One edge that differs in the last bit of its weight or of a vertex leaves a fingerprint."""
    secret = np.array(keys, np.uint64)
    monkeypatch.setattr(csr_validation, "_secret_keys", lambda: tuple(secret))
    A = matrix(900, dtype=np.uint64, seed=3)
    assert_uploaded(A, copying)
    last = int(np.flatnonzero(A.indices < np.repeat(np.arange(900), np.diff(A.indptr)))[-1])
    for bit in (0, 31, 32, 63):
        other = A.copy()
        other.data[last] ^= np.uint64(1 << bit)
        assert put_matrix(other, copying, arrange=False) is None


def test_keys_are_secret() -> None:
    """They are as good as unknown before the process begins, and stay what they are."""
    assert csr_validation._secret_keys() == csr_validation._secret_keys()
    source = "from clmst.algorithms.csr_validation import check; print(*check._secret_keys())"
    run = [sys.executable, "-c", source]
    keys = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert not set(map(int, keys)) & set(map(int, csr_validation._secret_keys()))


def test_lower_triangle_is_not_as_it_is(copying: Device) -> None:
    """All its slots have one direction: without a count each could pass for matched."""
    A = with_indices(sparse.csr_array(sparse.tril(matrix(900), -1)))
    assert put_matrix(A, copying, arrange=False) is None
    star = sparse.csr_array((np.ones(5), np.zeros(5, int), [0, 0, 1, 2, 3, 4, 5]), shape=(6, 6))
    assert put_matrix(with_indices(star), copying, arrange=False) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_fault
def test_faults_are_the_hosts_to_name(
    copying: Device, message: str, spoil: Callable[[Any], None], dtype: Any
) -> None:
    A = matrix(900, dtype=dtype)
    spoil(A)
    assert put_matrix(A, copying, arrange=False) is None
    with pytest.raises(InvalidGraphError, match=message):
        clmst.minimum_spanning_forest(A, device=copying)


def test_other_forms(copying: Device) -> None:
    """SciPy makes a CSR of CSC and COO; indices of 64 bits become such of 32."""
    A = matrix(900)
    wide = A.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for other in (A.tocsc(), A.tocoo(), wide):
        assert_uploaded(other, copying)
    any_weights(A)
    for other in (A.tocsc(), A.tocoo()):
        assert_rearranged(other, copying)
    wide.indices[5] = 2**40 + 7
    assert put_matrix(wide, copying) is None
    with pytest.raises(InvalidGraphError, match="must be below 900"):
        clmst.minimum_spanning_forest(wide, device=copying)


def test_what_is_left_to_the_host(copying: Device) -> None:
    A = matrix(900)
    assert put_matrix(A.tolil(), copying) is None
    assert put_matrix(clmst.Graph.from_scipy(A), copying) is None
    with bounds(checked_from=A.nnz + 1):
        assert put_matrix(A, copying) is None
    with bounds(checked_from=A.nnz):
        assert put_matrix(A, copying) is not None


def test_what_is_canonical_is_uploaded_once(copying: Device) -> None:
    usual, copying.staging = copying.staging, Noted(copying)
    for A in (matrix(3000), with_indices(sparse.csr_array(sparse.triu(matrix(3000))))):
        copying.staging.sizes.clear()
        forest = clmst.minimum_spanning_forest(A, device=copying)
        assert copying.staging.sizes.count(A.nnz) == 2  # columns and weights
        assert_same_forest(forest, clmst.kruskal(Graph.from_scipy(A)))
    copying.staging = usual


def test_an_untrusted_device_gets_no_upload(copying: Device, wrong: WrongFamilies) -> None:
    wrong.names = {"csr-check"}
    careful = with_capabilities(Device(copying.cl_device), host_arrays="copied")
    careful.staging = Noted(careful)
    assert put_matrix(matrix(900), careful) is None
    assert wrong.tested == ["csr-check"]
    assert careful.staging.sizes == []


def test_a_device_that_is_not_trusted_to_sort_leaves_it_to_the_host(
    copying: Device, wrong: WrongFamilies
) -> None:
    wrong.names = {"canonical-csr"}
    careful = with_capabilities(Device(copying.cl_device), host_arrays="copied")
    A = matrix(900)
    assert put_matrix(A, careful) is not None
    any_weights(A)
    assert put_matrix(A, careful) is None
    assert "canonical-csr" in wrong.tested
    assert_forests(A, careful, Graph.from_scipy(A))
