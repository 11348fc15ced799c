"""Buffers of edges: marks, sorted graphs, forests and limits."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst.algorithms.edge_stream.edges import EdgeBuffer, EdgeChunk, FaultyEdgeError
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.paths import Hierarchy
from clmst.core.weight_keys import Array, order_keys
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher
from tests.scale.edges import random_edges


def chunk_of(device: Device, u: Array, v: Array, w: Array, first_id: int = 0) -> EdgeChunk:
    arrays = [DeviceArray.from_host(a, device) for a in (u.astype("u4"), v.astype("u4"), w)]
    return EdgeChunk(u=arrays[0], v=arrays[1], weights=arrays[2], first_id=first_id)


def buffer_of(device: Device, n: int, dtype: str, *, maximum: bool = False) -> EdgeBuffer:
    return EdgeBuffer(
        n_vertices=n, dtype=np.dtype(dtype), capacity=5000, launch=Launcher(device, device.queue),
        maximum=maximum,
    )  # fmt: skip


def reduced(buffer: EdgeBuffer, *, maximum: bool = False) -> DeviceForest:
    found = buffer.sorted()
    solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    forest = solve(found.graph, keep_on_device=True)
    assert isinstance(forest, DeviceForest)
    buffer.take(forest, found.numbers)
    return forest


@pytest.mark.parametrize("n", [2, 50, 3000])
def test_sorted_edges_are_the_graph(any_device: Device, n: int) -> None:
    """Also of vertices without edges, parallel edges and rows at both ends."""
    u, v, w = random_edges(n, 2000, dtype="float32")
    keep = u != v
    u, v, w = u[keep], v[keep], w[keep]
    buffer = buffer_of(any_device, n, "float32")
    chunk = chunk_of(any_device, u, v, w, first_id=1 << 40)
    marks = buffer.mark(chunk)
    assert buffer.read_count(marks) == u.size
    buffer.append(chunk, marks, u.size)
    found = buffer.sorted()
    right = clmst.Graph.from_edges(u, v, w, n)
    np.testing.assert_array_equal(found.graph.graph.indptr, right.indptr)
    np.testing.assert_array_equal(found.graph.graph.indices, right.indices)
    np.testing.assert_array_equal(found.graph.graph.weights, right.weights)
    np.testing.assert_array_equal(found.numbers.to_host(), right.edge_ids)
    ids = buffer.ids.to_host()[: buffer.size]
    np.testing.assert_array_equal(ids, (1 << 40) + np.arange(u.size))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64", "uint64"])
@pytest.mark.parametrize("maximum", [False, True])
def test_limits_are_those_of_the_host(any_device: Device, dtype: str, maximum: bool) -> None:
    """Several trees, vertices without edges, and later edges on either side of the limits."""
    n = 400
    u, v, w = random_edges(n, 380, dtype=dtype, n_weights=120)
    buffer = buffer_of(any_device, n, dtype, maximum=maximum)
    chunk = chunk_of(any_device, u, v, w)
    marks = buffer.mark(chunk)
    buffer.append(chunk, marks, buffer.read_count(marks))
    forest = reduced(buffer, maximum=maximum)
    buffer.limit_by(forest)
    host = forest.to_host()
    keys = order_keys(host.weights, descending=maximum)
    order = np.argsort(keys, kind="stable")
    hierarchy = Hierarchy(n, host.edges[order, 0], host.edges[order, 1])
    tree, reach = hierarchy.trees(), hierarchy.reaches
    a, b, later = random_edges(n, 3000, seed=1, dtype=dtype, n_weights=120)
    highest = np.maximum(reach[a], reach[b])
    above = order_keys(later, descending=maximum) > keys[order[np.maximum(highest, 0)]]
    stays = (a != b) & ((tree[a] != tree[b]) | (highest < 0) | ~above)
    assert 100 < stays.sum() < 2900
    for begin in (0, 1234):
        marks = buffer.mark(chunk_of(any_device, a, b, later), begin)
        positions = marks.positions.to_host()[: buffer.read_count(marks)]
        right = np.flatnonzero(stays)
        np.testing.assert_array_equal(positions, right[right >= begin])


def test_faults_are_found(any_device: Device) -> None:
    u, v, w = random_edges(100, 3000, dtype="float32")
    for column, value in ((0, 100), (1, 2**32 - 1), (2, np.nan)):
        bad_u, bad_v, bad_w = bad = u.astype("u4"), v.astype("u4"), w.copy()
        bad[column][[700, 2900]] = value
        buffer = buffer_of(any_device, 100, "float32")
        with pytest.raises(FaultyEdgeError) as raised:
            buffer.read_count(buffer.mark(chunk_of(any_device, bad_u, bad_v, bad_w)))
        assert raised.value.at == 700


def test_ends_of_64_bits_that_are_no_vertices(any_device: Device) -> None:
    """They become a number that no graph has, never a vertex by their last 32 bits."""
    ends = np.array([0, 5, 2**32 - 1, 2**32, 2**32 + 5, 2**63 - 1, -1, -(2**63)], np.int64)
    right = [0, 5, *(2**32 - 1,) * 6]
    buffer = buffer_of(any_device, 100, "float32")
    u = DeviceArray.from_host(ends.view(np.uint64), any_device)
    v = DeviceArray.from_host(ends[::-1].copy().view(np.uint64), any_device)
    narrow_u, narrow_v = buffer.narrowed(u, v)
    assert narrow_u.to_host().tolist() == right
    assert narrow_v.to_host().tolist() == right[::-1]
