"""Memory of a call on the device is free once its result is dropped."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import cluster
from clmst.algorithms.registry import ALGORITHMS
from clmst.core.errors import UnsupportedDeviceError
from clmst.runtime import device_memory
from clmst.runtime.device import Device
from tests.helpers.peak import Peak, collecting_no_cycles

GRAPH = clmst.generate("random", n=5000, average_degree=6)
MANY = clmst.generate("random", n=25_000, average_degree=16, seed=2)
RANDOM = np.random.default_rng(1)
FEW, WIDE = RANDOM.random((1500, 3)), RANDOM.random((1500, 9))
CELLS = RANDOM.random((200, 200))
MATRIX = sparse.csr_array((GRAPH.weights, GRAPH.indices.astype("i4"), GRAPH.indptr.astype("i4")))
solve = clmst.minimum_spanning_forest


def repeated(device: Device) -> object:
    with clmst.RepeatedSolver(clmst.to_device(GRAPH, device)) as solver:
        solver.solve(GRAPH.weights)
        return solver.update([3], [5])


CALLS: dict[str, Callable[[Device], object]] = {
    "verified": lambda device: solve(GRAPH, device=device, verify=True),
    "profiled": lambda device: solve(GRAPH, device=device, profile=True),
    "left on the device": lambda device: solve(GRAPH, device=device, keep_on_device=True),
    "both directions": lambda device: solve(GRAPH.symmetrised(), device=device),
    "a matrix": lambda device: solve(MATRIX, device=device),
    "a graph on the device": lambda device: solve(clmst.to_device(GRAPH, device)),
    "several devices": lambda device: solve(GRAPH, devices=[device]),
    "points": lambda device: solve(clmst.Points(FEW), device=device),
    "points of many dimensions": lambda device: solve(clmst.Points(WIDE), device=device),
    "complete": lambda device: solve(clmst.DenseGraph(CELLS + CELLS.T), device=device),
    "repeated": repeated,
    "core numbers": lambda device: clmst.core_numbers(GRAPH, device=device),
    "core distances": lambda device: clmst.core_distances(FEW, 4, device=device),
    "clusters": lambda device: cluster.HDBSCAN(min_cluster_size=9, device=device).fit(FEW),
}


def check_nothing_is_left(call: Callable[[Device], object], device: Device) -> None:
    call(device)  # what is kept for later calls
    with collecting_no_cycles():
        before = device._pool.active_bytes
        call(device)
        assert device._pool.active_bytes == before


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_left(any_device: Device, name: str) -> None:
    """Without a collection of cycles. Streams: tests/scale/test_memory.py."""
    check_nothing_is_left(CALLS[name], any_device)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_leave_nothing(any_device: Device, algorithm: str) -> None:
    try:
        check_nothing_is_left(
            lambda device: solve(GRAPH, device=device, algorithm=algorithm), any_device
        )
    except UnsupportedDeviceError as error:
        pytest.skip(str(error))


def shuffled_list() -> tuple[Any, int]:
    """Return a list of edges in any order, and its bytes."""
    order = np.random.default_rng(3).permutation(MANY.n_edges)
    u, v, _, _ = (part[order].astype(np.int32) for part in MANY.edges())
    weights = order.astype(np.float64)
    return clmst.Graph.from_edges(u, v, weights), u.nbytes + v.nbytes + weights.nbytes


def falling_matrix() -> tuple[Any, int]:
    """Return a matrix of both directions of these edges whose columns fall, and its bytes."""
    u, v, _, _ = MANY.edges()
    ends, weights = np.concatenate([u, v]), np.arange(2.0 * u.size) % u.size
    others = np.concatenate([v, u])
    order = np.lexsort((-others.astype(int), ends))
    indptr = np.searchsorted(ends[order], np.arange(MANY.n_vertices + 1)).astype(np.int32)
    parts = (weights[order], others[order].astype(np.int32), indptr)
    return sparse.csr_array(parts), sum(part.nbytes for part in parts)


@pytest.mark.parametrize(("given", "most"), [(shuffled_list, 27), (falling_matrix, 26)])
def test_edges_are_ordered_in_two_arrays_of_words(
    any_device: Device, given: Callable[[], tuple[Any, int]], most: int
) -> None:
    """Bytes an edge or slot that the pool has had at once; a third array takes 8 more."""
    device = any_device.forcing_off()
    device.trust.given = True  # self-tests would be measured, too
    graph, n_bytes = given()
    clmst.to_device(graph, device)
    copied = n_bytes if device.capabilities.host_arrays == "copied" else 0
    m = MANY.n_edges * (2 if given is falling_matrix else 1)
    assert 20 * m < device._pool.managed_bytes - 1.07 * copied < most * m


def test_what_scipy_has_converted_goes_before_the_graph_comes(any_device: Device) -> None:
    """A COO matrix in CSR form takes 12 bytes an entry, which are free for the last buffers."""
    device = any_device.forcing_off()
    device.trust.given = True
    held: list[int] = []

    class Noting(Peak):
        def allocate(self, n_bytes: int) -> Any:
            held.append(tracemalloc.get_traced_memory()[0])
            return super().allocate(n_bytes)

    matrix = sparse.tril(falling_matrix()[0], format="coo")  # which has to be turned over
    device._pool = Noting(device._pool)
    tracemalloc.start()
    try:
        assert clmst.to_device(matrix, device).graph.n_slots == MANY.n_edges
    finally:
        tracemalloc.stop()
    assert max(held) > 12 * matrix.nnz
    assert held[-1] < 2 * matrix.nnz


def test_lists_take_the_pages_that_they_fill(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of a solve are seldom full.

    Their empty ends must not be resident, also with huge pages.
    """
    asked: list[int] = []
    monkeypatch.setattr(device_memory, "HUGE_PAGES_FROM", 1 << 12)
    monkeypatch.setattr(device_memory, "advise_huge_pages", lambda *given: asked.append(given[2]))
    device = any_device.forcing_off()
    resident = clmst.to_device(MANY, device)
    solve(resident, options=clmst.FilterBoruvkaOptions(shape="cpu"))
    n, m = MANY.n_vertices, MANY.n_edges
    if device.capabilities.host_arrays != "copied":
        assert 12 * n in asked
    assert max(asked, default=0) < 8 * m


def test_a_solve_leaves_weights_on_the_device(any_device: Device) -> None:
    """The ends of windows need a sample of them; the host copied all, 8 bytes an edge."""
    resident = clmst.to_device(shuffled_list()[0], any_device)
    options = clmst.FilterBoruvkaOptions(shape="cpu", targets=(1.0,))
    solve(resident, options=options, keep_on_device=True)
    tracemalloc.start()
    try:
        solve(resident, options=options, keep_on_device=True)
        assert tracemalloc.get_traced_memory()[1] < 4 * MANY.n_edges
    finally:
        tracemalloc.stop()
