"""Memory of a call on the device is free once its result is dropped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import cluster
from clmst.algorithms.registry import ALGORITHMS
from clmst.core.errors import UnsupportedDeviceError
from clmst.runtime.device import Device
from tests.peak import collecting_no_cycles

GRAPH = clmst.generate("random", n=5000, average_degree=6)
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
