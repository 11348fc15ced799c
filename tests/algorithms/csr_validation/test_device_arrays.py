"""Graphs of arrays that are on a device already: no copy, the same forest, every fault found."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyopencl.array as cl_array
import pytest

import clmst
from clmst import Device, DeviceArray, DeviceGraph, Graph, InvalidArgumentError, InvalidGraphError
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest
from tests.helpers.matrices import FAULTS, another_weight, matrix, swapped
from tests.helpers.wrong_families import WrongFamilies


@pytest.fixture
def by_device(any_device: Device) -> Iterator[Device]:
    """Return a device that checks small graphs, too."""
    with bounds(checked_from=1):
        yield any_device


def on(device: Device, A: Any, *, integer: Any = np.int32) -> list[DeviceArray]:
    """Return the arrays of a CSR matrix on a device."""
    parts = (A.indptr.astype(integer), A.indices.astype(integer), A.data)
    return [DeviceArray.from_host(part, device) for part in parts]


@pytest.mark.parametrize("least", [1, 1 << 40], ids=["by the device", "by the host"])
@pytest.mark.parametrize("upper", [False, True])
def test_the_forest_is_that_of_the_matrix(any_device: Device, least: int, upper: bool) -> None:
    A = matrix(500, symmetric=not upper)
    with bounds(checked_from=least):
        graph = DeviceGraph.from_arrays(*on(any_device, A))
    assert graph.graph.is_symmetric != upper
    assert (graph.n_vertices, graph.n_slots) == (A.shape[0], A.nnz)
    for solve in (clmst.minimum_spanning_forest, clmst.maximum_spanning_forest):
        expected = kruskal(A, maximum=solve is clmst.maximum_spanning_forest)
        assert_same_forest(solve(graph), expected)
    assert clmst.minimum_spanning_forest(graph, verify=True).stats["proof"]


def test_nothing_is_copied_to_the_host(by_device: Device) -> None:
    """Until the host asks for it: then each array comes by itself."""
    A = matrix(500, dtype=np.int32)
    arrays = on(by_device, A)
    graph = DeviceGraph.from_arrays(*arrays)
    assert graph.indices is arrays[1].memory
    forest = clmst.minimum_spanning_forest(graph, keep_on_device=True)
    edges, weights, slots = forest.edges_array(), forest.weights_array(), forest.slots_array()
    host = forest.to_host()
    names = {"indptr", "indices", "weights"}
    assert not names & vars(graph.graph).keys()
    assert edges.to_host().reshape(-1, 2).tolist() == host.edges.tolist()
    assert weights.to_host().tolist() == host.weights.tolist()
    assert weights.dtype == host.weights.dtype == np.int32
    assert slots.to_host().tolist() == host.edge_ids.tolist()
    assert graph.graph.weights.tolist() == A.data.tolist()
    assert names & vars(graph.graph).keys() == {"weights"}
    again = pickle.loads(pickle.dumps(graph.graph))
    assert type(again) is Graph
    assert again.indptr.tolist() == A.indptr.tolist()
    with pytest.raises(AttributeError, match="no attribute 'what'"):
        _ = graph.graph.what  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f4", "i8", "u8", "f8"])
def test_weights_of_any_dtype(any_device: Device, dtype: str) -> None:
    A = matrix(dtype=dtype)
    graph = DeviceGraph.from_arrays(*on(any_device, A, integer=np.uint32))
    forest = clmst.minimum_spanning_forest(graph)
    assert_same_forest(forest, kruskal(A))
    assert forest.weights.dtype == A.dtype


def test_arrays_of_pyopencl(any_device: Device) -> None:
    """Also views into the middle of a buffer, and results go back without a copy."""
    A = matrix(500, dtype=np.float32)
    queue = any_device.queue
    step = any_device.capabilities.buffer_alignment
    parts = []
    for part in (A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data):
        whole = cl_array.zeros(queue, step + part.size, part.dtype)
        whole[step:].set(part)
        parts.append(whole[step:])
    indptr, indices, weights = parts
    graph = DeviceGraph.from_arrays(indptr, indices, weights, device=any_device)
    assert_same_forest(clmst.minimum_spanning_forest(graph), kruskal(A))
    forest = clmst.minimum_spanning_forest(
        DeviceGraph.from_arrays(indptr, indices, weights), keep_on_device=True
    )  # the queue's own device
    weights = forest.weights_array().to_pyopencl()
    assert isinstance(weights, cl_array.Array)
    total = float(cl_array.sum(weights).get())
    assert total == pytest.approx(kruskal(A).total_weight)
    edges = forest.edges_array().to_pyopencl().reshape(-1, 2).get()
    assert edges.tolist() == kruskal(A).edges.tolist()


def test_forests_of_other_graphs_are_arrays_too(any_device: Device) -> None:
    points = clmst.to_device(clmst.Points([[0, 0], [0, 3], [4, 3]]), any_device)
    forest = clmst.minimum_spanning_forest(points, keep_on_device=True)
    assert forest.weights_array().to_host().tolist() == [3.0, 4.0]
    assert forest.edges_array().to_host().tolist() == [0, 1, 1, 2]
    with pytest.raises(InvalidArgumentError, match="only a stored graph has slots"):
        forest.slots_array()
    narrowed = clmst.to_device(Graph.from_edges([0, 1], [1, 2], [1 << 40, 3]), any_device)
    forest = clmst.minimum_spanning_forest(narrowed, keep_on_device=True)
    assert forest.weights_array().to_host().tolist() == [1 << 40, 3]


@pytest.mark.parametrize("n", [0, 1, 4])
def test_graphs_without_edges(any_device: Device, n: int) -> None:
    parts: list[Array] = [np.zeros(n + 1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)]
    graph = DeviceGraph.from_arrays(*(DeviceArray.from_host(part, any_device) for part in parts))
    assert clmst.minimum_spanning_forest(graph).n_components == n


# ------------------------------------------------------------------------- what is wrong


def a_weight_missing(A: Any) -> None:
    A.data = A.data[:-1]


NOT_CANONICAL = (
    "the columns of a row do not rise, or the matrix is neither symmetric nor upper triangular"
)


@pytest.mark.parametrize(
    ("message", "spoil"),
    [
        *((message.replace("negative", "it must be below"), spoil) for message, spoil in FAULTS),
        (NOT_CANONICAL, another_weight),
        (NOT_CANONICAL, swapped),
        ("indices has .* entries but weights", a_weight_missing),
    ],
)
@pytest.mark.parametrize("least", [1, 1 << 40])
def test_every_fault_is_found(any_device: Device, *, message: str, spoil: Any, least: int) -> None:
    A = matrix(500)
    spoil(A)
    with bounds(checked_from=least), pytest.raises(InvalidGraphError, match=message):
        DeviceGraph.from_arrays(*on(any_device, A))


def test_a_device_that_is_not_trusted_leaves_it_to_the_host(
    wrong: WrongFamilies, by_device: Device
) -> None:
    wrong.names = {"csr-check"}
    A = matrix(500)
    graph = DeviceGraph.from_arrays(*on(Device(by_device.cl_device), A))
    assert wrong.tested == ["csr-check"]
    assert_same_forest(clmst.minimum_spanning_forest(graph), kruskal(A))


def test_misuse_is_told(any_device: Device) -> None:
    indptr, indices, weights = on(any_device, matrix(500))
    take = DeviceGraph.from_arrays
    with pytest.raises(
        InvalidArgumentError,
        match=r"indptr is array\(.*to_device takes host "
        "arrays",
    ):
        take(np.zeros(3), indices, weights)
    with pytest.raises(InvalidArgumentError, match="weights is None; it must be a DeviceArray"):
        take(indptr, indices, None)
    wide = DeviceArray.from_host(np.zeros(3, np.int64), any_device)
    with pytest.raises(InvalidGraphError, match=r"indices is int64; .* int32 or uint32"):
        take(indptr, wide, weights)
    pairs = DeviceArray.from_host(np.zeros(indices.size, [("a", "u4"), ("b", "u4")]), any_device)
    with pytest.raises(InvalidGraphError, match="they must be one of bool, int8-64"):
        take(indptr, indices, pairs)
    empty = DeviceArray.from_host(np.zeros(0, np.int32), any_device)
    with pytest.raises(InvalidGraphError, match="indptr is empty"):
        take(empty, indices, weights)
