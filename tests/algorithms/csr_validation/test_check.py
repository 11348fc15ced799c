"""Matrices that a device checks itself: the same are used as they are as on the host."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device, Graph, InvalidGraphError
from clmst.algorithms.csr_validation import check as csr_validation
from clmst.algorithms.csr_validation.check import upload_canonical
from clmst.runtime.device_graph import DeviceGraph
from tests.forests import assert_same_forest
from tests.strategies import WEIGHT_DTYPES

shows_a_fault = csr_validation._shows_a_fault


@pytest.fixture
def copying(device: Device, monkeypatch: pytest.MonkeyPatch) -> Device:
    """Return the device as one that copies, for matrices of any size, and finds faults itself."""
    monkeypatch.setattr(csr_validation, "FROM_SLOTS", 1)
    monkeypatch.setattr(csr_validation, "_shows_a_fault", lambda _: False)
    capabilities = device.capabilities
    monkeypatch.setattr(device, "capabilities", replace(capabilities, host_arrays="copied"))
    return device


@pytest.fixture
def uploads(copying: Device, monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """Return what is put on the device, after a look at a few slots."""
    seen: list[Graph] = []
    put = DeviceGraph.of_keys

    def noted(graph: Graph, *arguments: Any, **named: Any) -> DeviceGraph:
        seen.append(graph)
        return put(graph, *arguments, **named)

    monkeypatch.setattr(csr_validation, "_shows_a_fault", shows_a_fault)
    monkeypatch.setattr(DeviceGraph, "of_keys", noted)
    return seen


def narrow(A: Any) -> Any:
    """Return a matrix with indices of 32 bits, which SciPy does not always choose."""
    parts = (A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=A.shape)


def matrix(n: int = 900, dtype: Any = np.int32, seed: int = 1) -> Any:
    """Return a symmetric matrix with loops, empty rows and one long row."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n // 2, (2, 4 * n))
    u[:n], v[:n] = 7, np.arange(n)
    w = rng.integers(0, 2 if np.dtype(dtype).kind == "b" else 100, u.size)
    A = sparse.coo_array((w, (np.minimum(u, v), np.maximum(u, v))), shape=(n, n)).tocsr()
    both = sparse.csr_array(A + sparse.triu(A, 1).T)
    both.sort_indices()
    return narrow(both.astype(dtype))


def assert_uploaded(A: Any, device: Device) -> None:
    """Check that the device takes it, as what the host makes of it."""
    resident, graph = upload_canonical(A, device), Graph.from_scipy(A)
    assert resident is not None
    assert graph.edge_ids is None
    assert resident.graph.is_symmetric == graph.is_symmetric
    for name in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(resident.graph, name), getattr(graph, name))
        assert getattr(resident.graph, name).dtype == getattr(graph, name).dtype
    assert resident.graph.n_input == graph.n_input


@pytest.mark.parametrize("dtype", [t for t in WEIGHT_DTYPES if t != np.float16], ids=str)
def test_symmetric_and_upper(copying: Device, dtype: np.dtype) -> None:
    A = matrix(dtype=dtype)
    assert_uploaded(A, copying)
    assert_uploaded(narrow(sparse.csr_array(sparse.triu(A))), copying)
    assert_uploaded(narrow(sparse.csr_array(sparse.triu(A, 1))), copying)


@pytest.mark.parametrize("n", [2, 63, 64, 65, 511, 512, 513, 1025, 3000])
def test_tiles(copying: Device, n: int) -> None:
    """Rows of one, and rows of all: wherever tiles begin and end."""
    ones: list[float] = [1.0] * (n - 1)
    path = sparse.csr_array(sparse.diags_array([ones, ones], offsets=[-1, 1]))
    assert_uploaded(narrow(path), copying)
    star = sparse.coo_array((np.arange(n), (np.zeros(n, int), np.arange(n))), shape=(n, n))
    assert_uploaded(narrow(sparse.csr_array(star + star.T).astype(np.int16)), copying)


def test_zeros_have_one_sign(copying: Device) -> None:
    A = matrix(dtype=np.float32)
    A.data[A.data < 50] = 0
    A.data[(A.data == 0) & (np.arange(A.nnz) % 2 == 0)] = -0.0
    assert_uploaded(A, copying)


def spoil_weight(A: Any) -> None:
    row = int(np.flatnonzero(np.diff(A.indptr))[-1])
    assert A.indices[A.indptr[row]] < row
    A.data[A.indptr[row]] += 1


def spoil_column(A: Any) -> None:
    """Let a row lead elsewhere, still rising."""
    last = int(A.indptr[8]) - 1
    A.indices[last - 1 : last + 1] = (A.shape[0] - 3, A.shape[0] - 2)


def swap(A: Any) -> None:
    A.indices[:2], A.data[:2] = A.indices[1::-1].copy(), A.data[1::-1].copy()


def repeat(A: Any) -> None:
    A.indices[1] = A.indices[0]


def exchange_weights(A: Any) -> None:
    """Let two edges have each other's weight, in one direction each."""
    row = int(np.flatnonzero(np.diff(A.indptr) > 2)[-1])
    first, second = A.indptr[row : row + 2] - np.array([0, 2])
    A.data[first], A.data[second] = A.data[second] + 1, A.data[first] + 1


@pytest.mark.parametrize("spoil", [spoil_weight, spoil_column, swap, repeat, exchange_weights])
def test_what_the_host_rearranges(copying: Device, spoil: Callable[[Any], None]) -> None:
    """None of these is canonical; the way round by the host gives the same forest."""
    A = matrix()
    spoil(A)
    A.has_sorted_indices = False
    assert upload_canonical(A, copying) is None
    graph = Graph.from_scipy(A)
    assert graph.edge_ids is not None
    assert_same_forest(clmst.minimum_spanning_forest(A, device=copying), clmst.kruskal(graph))


@pytest.mark.parametrize("keys", [(0, 0), (2**64 - 1, 1), (12345, 2**63)])
def test_symmetry_is_seen_by_any_keys(
    copying: Device, monkeypatch: pytest.MonkeyPatch, keys: tuple[int, int]
) -> None:
    """One edge that differs in the last bit of its weight or of a vertex leaves a fingerprint."""
    secret = np.array(keys, np.uint64)
    monkeypatch.setattr(csr_validation, "_secret_keys", lambda: tuple(secret))
    A = matrix(dtype=np.uint64, seed=3)
    assert_uploaded(A, copying)
    last = int(np.flatnonzero(A.indices < np.repeat(np.arange(900), np.diff(A.indptr)))[-1])
    for bit in (0, 31, 32, 63):
        other = A.copy()
        other.data[last] ^= np.uint64(1 << bit)
        assert upload_canonical(other, copying) is None


def test_keys_are_secret() -> None:
    """They are as good as unknown before the process begins, and stay what they are."""
    assert csr_validation._secret_keys() == csr_validation._secret_keys()
    source = "from clmst.algorithms.csr_validation import check; print(*check._secret_keys())"
    run = [sys.executable, "-c", source]
    keys = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert not set(map(int, keys)) & set(map(int, csr_validation._secret_keys()))


def test_lower_triangle_is_not_as_it_is(copying: Device) -> None:
    """All its slots have one direction: without a count each could pass for matched."""
    A = narrow(sparse.csr_array(sparse.tril(matrix(), -1)))
    assert upload_canonical(A, copying) is None
    star = sparse.csr_array((np.ones(5), np.zeros(5, int), [0, 0, 1, 2, 3, 4, 5]), shape=(6, 6))
    assert upload_canonical(narrow(star), copying) is None


FAULTS: dict[str, Callable[[Any], None]] = {
    "negative": lambda A: A.indices.__setitem__(5, -1),
    "must be below 900": lambda A: A.indices.__setitem__(5, 900),
    "must not decrease": lambda A: A.indptr.__setitem__(3, A.nnz - 1),
    "is NaN": lambda A: A.data.__setitem__(A.nnz - 1, np.nan),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("message", FAULTS)
def test_faults_are_the_hosts_to_name(copying: Device, message: str, dtype: Any) -> None:
    A = matrix(dtype=dtype)
    FAULTS[message](A)
    assert upload_canonical(A, copying) is None
    with pytest.raises(InvalidGraphError, match=message):
        clmst.minimum_spanning_forest(A, device=copying)


def test_what_is_left_to_the_host(copying: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    A = matrix()
    assert upload_canonical(A.tocoo(), copying) is None
    assert upload_canonical(clmst.Graph.from_scipy(A), copying) is None
    wide = A.copy()
    wide.indices = wide.indices.astype(np.int64)
    assert upload_canonical(wide, copying) is None
    monkeypatch.setattr(csr_validation, "FROM_SLOTS", A.nnz + 1)
    assert upload_canonical(A, copying) is None
    monkeypatch.setattr(csr_validation, "FROM_SLOTS", A.nnz)
    assert upload_canonical(A, copying) is not None


def test_forests(copying: Device) -> None:
    A = matrix(n=3000, seed=5)
    expected = clmst.kruskal(Graph.from_scipy(A))
    for given in (A, clmst.to_device(A, copying)):
        assert_same_forest(clmst.minimum_spanning_forest(given, device=copying), expected)
    upper = narrow(sparse.csr_array(sparse.triu(A)))
    expected = clmst.kruskal(Graph.from_scipy(upper))
    assert_same_forest(clmst.minimum_spanning_forest(upper, device=copying), expected)


def other_weights(A: Any) -> None:
    A.data[:] = np.arange(A.nnz)


def falling_rows(A: Any) -> None:
    for row in range(A.shape[0]):
        slots = slice(A.indptr[row], A.indptr[row + 1])
        A.indices[slots], A.data[slots] = A.indices[slots][::-1], A.data[slots][::-1]


def outside(A: Any) -> None:
    A.indices[:] = A.shape[0]


@pytest.mark.parametrize("spoil", [other_weights, falling_rows, outside])
def test_what_is_faulty_all_over_is_not_uploaded(
    copying: Device, uploads: list[Graph], spoil: Callable[[Any], None]
) -> None:
    """The host would have to convert it, so the copy on the device would be thrown away."""
    A = matrix(n=3000)
    spoil(A)
    assert upload_canonical(A, copying) is None
    lower = narrow(sparse.csr_array(sparse.tril(matrix(n=3000), -1)))
    assert upload_canonical(lower, copying) is None
    assert uploads == []


def test_what_is_canonical_is_uploaded_once(copying: Device, uploads: list[Graph]) -> None:
    for A in (matrix(n=3000), narrow(sparse.csr_array(sparse.triu(matrix(n=3000))))):
        forest = clmst.minimum_spanning_forest(A, device=copying)
        assert len(uploads) == 1
        assert uploads.pop().n_slots == A.nnz
        assert_same_forest(forest, clmst.kruskal(Graph.from_scipy(A)))


@pytest.mark.parametrize("seed", range(20))
def test_a_few_slots_show_no_fault_of_what_is_canonical(seed: int) -> None:
    """A canonical matrix that were refused here would be transposed by the host, for nothing."""
    A = matrix(n=20 + 50 * seed, seed=seed)
    for one in (A, narrow(sparse.csr_array(sparse.triu(A)))):
        assert not shows_a_fault(Graph.from_scipy(one))


def test_an_untrusted_device_gets_no_upload(
    copying: Device, uploads: list[Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csr_validation, "is_trusted", lambda *_: False)
    assert upload_canonical(matrix(), copying) is None
    assert uploads == []
