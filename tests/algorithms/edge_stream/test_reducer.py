"""Forests of chunks of edges: any chunks, capacities and orders of ids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import clmst
from clmst.algorithms.edge_stream.edges import EdgeChunk
from clmst.algorithms.edge_stream.reducer import EdgeReducer
from clmst.algorithms.families import EDGE_STREAM
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.kernel_family import Case
from clmst.runtime.launcher import Launcher
from tests.capabilities import with_capabilities

N, M = 120, 5000


def random_graph() -> clmst.GeneratedEdges:
    """Many equal weights, parallel edges and self-loops."""
    return clmst.GeneratedEdges(
        n_vertices=N, n_edges=M, preamble="uint h(uint x) { return (x ^ x >> 7) * 2654435761u; }",
        u="(h(id * 3u) >> 7) % 120", v="(h(id * 5u + 1) >> 9) % 64", weight="h(id) >> 29",
        weight_dtype=np.dtype("uint32"),
    )  # fmt: skip


def reducer_of(device: Device, capacity: int) -> EdgeReducer:
    def solve(graph: DeviceGraph) -> DeviceForest:
        forest = clmst.minimum_spanning_forest(graph, keep_on_device=True)
        assert isinstance(forest, DeviceForest)
        return forest

    launch = Launcher(device, device.queue)
    return EdgeReducer(
        n_vertices=N, dtype=np.dtype("u4"), launch=launch, capacity=capacity, maximum=False,
        solve=solve,
    )  # fmt: skip


def chunks_of(edges: clmst.GeneratedEdges, device: Device, size: int) -> list[EdgeChunk]:
    launch = Launcher(device, device.queue)
    chunks = [edges.new_chunk(k, min(size, M - k), device) for k in range(0, M, size)]
    for chunk in chunks:
        edges.generate(chunk, launch)
    return chunks


def check(reducer: EdgeReducer, edges: clmst.GeneratedEdges, device: Device) -> None:
    right = clmst.kruskal(clmst.Graph.from_edges(*edges.edges(device=device), N))
    u, v, weights, ids = reducer.columns()
    np.testing.assert_array_equal(np.column_stack((u, v)), right.edges)
    np.testing.assert_array_equal(weights, right.weights)
    np.testing.assert_array_equal(ids, right.edge_ids)
    assert reducer.n_forest == right.n_edges


@pytest.mark.parametrize(("chunk", "capacity"), [(1, 130), (97, 300), (5000, 5200)])
def test_chunks_and_capacities(any_device: Device, chunk: int, capacity: int) -> None:
    edges, reducer = random_graph(), reducer_of(any_device, capacity)
    for one in chunks_of(edges, any_device, chunk):
        reducer.take(one)
    reducer.reduce()
    before = reducer.reductions
    reducer.reduce()  # nothing waits
    assert reducer.reductions == before
    check(reducer, edges, any_device)
    assert (reducer.reductions > 1) == (capacity < M)


@pytest.mark.parametrize("capacity", [300, 5200])
@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_chunks_in_any_order(any_device: Device, capacity: int, order: str) -> None:
    """Of parallel edges of one weight the one with the least id is in the forest."""
    edges, reducer = random_graph(), reducer_of(any_device, capacity)
    chunks = chunks_of(edges, any_device, 97)[::-1]
    if order == "shuffled":
        np.random.default_rng(3).shuffle(chunks)
    for one in chunks:
        reducer.take(one)
    reducer.reduce()
    check(reducer, edges, any_device)


def test_ids_that_do_not_follow_one_another(any_device: Device) -> None:
    """Also more than 32 bits, of which the upper ones alone tell some edges from others."""
    edges, reducer = random_graph(), reducer_of(any_device, 700)
    for one in chunks_of(edges, any_device, 500)[::-1]:
        ids = (one.first_id + np.arange(one.size)).astype(np.uint64) * np.uint64((1 << 40) + 1)
        reducer.take(replace(one, first_id=0, ids=DeviceArray.from_host(ids, any_device)))
    reducer.reduce()
    right = clmst.kruskal(clmst.Graph.from_edges(*edges.edges(device=any_device), N))
    np.testing.assert_array_equal(
        reducer.columns()[3], right.edge_ids.astype(np.int64) * ((1 << 40) + 1)
    )


@pytest.mark.parametrize("has_forest", [False, True])
def test_edges_that_others_left_may_have_greater_ids(any_device: Device, has_forest: bool) -> None:
    edges, device = random_graph(), any_device
    first, *later = chunks_of(edges, device, 2500)[::-1]
    before = reducer_of(device, 5200)
    before.take(first)
    before.reduce()
    reducer = reducer_of(device, 5200)
    reducer.go_on_from(before.columns(), has_forest=has_forest)
    for one in later:
        reducer.take(one)
    reducer.reduce()
    check(reducer, edges, device)


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
