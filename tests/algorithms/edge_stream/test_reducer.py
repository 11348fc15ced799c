"""Forests of chunks of edges: any chunks, capacities and orders of ids; marks, limits, faults."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst.algorithms.edge_stream.edges import EdgeChunk, FaultyEdgeError
from clmst.algorithms.edge_stream.reducer import EdgeReducer
from clmst.algorithms.families import EDGE_STREAM
from clmst.core.paths import Hierarchy
from clmst.core.weight_keys import Array, order_keys
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Case
from clmst.runtime.launcher import Launcher
from tests.capabilities import with_capabilities
from tests.scale.edges import forest_of_edges, random_edges

N, M = 120, 5000


def random_graph() -> clmst.GeneratedEdges:
    """Many equal weights, parallel edges and self-loops."""
    return clmst.GeneratedEdges(
        n_vertices=N, n_edges=M, preamble="uint h(uint x) { return (x ^ x >> 7) * 2654435761u; }",
        u="(h(id * 3u) >> 7) % 120", v="(h(id * 5u + 1) >> 9) % 64", weight="h(id) >> 29",
        weight_dtype=np.dtype("uint32"),
    )  # fmt: skip


def reducer_of(
    device: Device, capacity: int, n: int = N, dtype: str = "u4", *, maximum: bool = False
) -> EdgeReducer:
    return EdgeReducer(
        n_vertices=n, dtype=np.dtype(dtype), launch=Launcher(device, device.queue),
        capacity=capacity, maximum=maximum,
    )  # fmt: skip


def chunk_of(device: Device, u: Array, v: Array, w: Array, first_id: int = 0) -> EdgeChunk:
    arrays = [DeviceArray.from_host(a, device) for a in (u.astype("u4"), v.astype("u4"), w)]
    return EdgeChunk(u=arrays[0], v=arrays[1], weights=arrays[2], first_id=first_id)


def chunks_of(edges: clmst.GeneratedEdges, device: Device, size: int) -> list[EdgeChunk]:
    launch = Launcher(device, device.queue)
    chunks = [edges.new_chunk(k, min(size, M - k), device) for k in range(0, M, size)]
    for chunk in chunks:
        edges.generate(chunk, launch)
    return chunks


def check(reducer: EdgeReducer, edges: clmst.GeneratedEdges, device: Device) -> None:
    right = clmst.kruskal(clmst.Graph.from_edges(*edges.edges(device=device), N))
    u, v, weights, ids = reducer.forest().columns
    np.testing.assert_array_equal(np.column_stack((u, v)), right.edges)
    np.testing.assert_array_equal(weights, right.weights)
    np.testing.assert_array_equal(ids, right.edge_ids)
    assert reducer.n_forest == right.n_edges


@pytest.mark.parametrize(("chunk", "capacity"), [(1, 130), (97, 300), (5000, 5200)])
@pytest.mark.parametrize("step", [1, -1])
def test_chunks_and_capacities(any_device: Device, chunk: int, capacity: int, step: int) -> None:
    """Of parallel edges of one weight the one with the least id is in the forest."""
    edges, reducer = random_graph(), reducer_of(any_device, capacity)
    for one in chunks_of(edges, any_device, chunk)[::step]:
        reducer.take(one)
    reducer.reduce()
    before = reducer.reductions
    reducer.reduce()  # nothing waits
    assert reducer.reductions == before
    check(reducer, edges, any_device)
    assert (reducer.reductions > 1) == (capacity < M)


@pytest.mark.parametrize(
    "case", [Case(), Case(64, "float", maximum=True), Case(16, "signed"), Case(16, "float")]
)
def test_self_test(any_device: Device, case: Case) -> None:
    assert EDGE_STREAM.failure(any_device, case) is None


def test_doubles_need_no_arithmetic(any_device: Device) -> None:
    """Where a device has none, their words are compared."""
    device = with_capabilities(any_device, doubles=False)
    device.trust.given = False
    assert device.trust.refusal(EDGE_STREAM, Case(64, "float", maximum=True)) is None


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64", "uint64"])
@pytest.mark.parametrize("maximum", [False, True])
def test_limits_are_those_of_the_host(any_device: Device, dtype: str, maximum: bool) -> None:
    """Several trees, vertices without edges, and later edges on either side of the limits."""
    n = 400
    edges = random_edges(n, 380, dtype=dtype, n_weights=120)
    reducer = reducer_of(any_device, 5000, n, dtype, maximum=maximum)
    reducer.take(chunk_of(any_device, *edges))
    reducer.reduce()
    host = forest_of_edges(edges, n, maximum=maximum)
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
        positions, count = reducer.mark(chunk_of(any_device, a, b, later), begin)
        right = np.flatnonzero(stays)
        right = right[right >= begin]
        assert count.to_host().tolist() == [right.size]
        np.testing.assert_array_equal(positions.to_host()[: right.size], right)


def test_faults_are_found(any_device: Device) -> None:
    u, v, w = random_edges(100, 3000, dtype="float32")
    for column, value in ((0, 100), (1, 2**32 - 1), (2, np.nan)):
        bad = u.astype("u4"), v.astype("u4"), w.copy()
        bad[column][[700, 2900]] = value
        reducer = reducer_of(any_device, 5000, 100, "float32")
        with pytest.raises(FaultyEdgeError) as raised:
            reducer.take(chunk_of(any_device, *bad))
        assert raised.value.at == 700
        assert reducer.n_waiting == 0


def test_ends_of_64_bits_that_are_no_vertices(any_device: Device) -> None:
    """They become a number that no graph has, never a vertex by their last 32 bits."""
    ends = np.array([0, 5, 2**32 - 1, 2**32, 2**32 + 5, 2**63 - 1, -1, -(2**63)], np.int64)
    right = [0, 5, *(2**32 - 1,) * 6]
    both = (DeviceArray.from_host(e.copy().view(np.uint64), any_device) for e in (ends, ends[::-1]))
    u, v = reducer_of(any_device, 500).narrowed(*both)
    assert u.to_host().tolist() == right
    assert v.to_host().tolist() == right[::-1]
