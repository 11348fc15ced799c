"""Streams of generated edges, chunk by chunk, and their self-test."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst.algorithms.edge_stream.family import EDGE_STREAM
from clmst.algorithms.edge_stream.self_test import edge_stream_failure
from clmst.algorithms.edge_stream.stream import EdgeStream
from clmst.algorithms.families import Case
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
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


def stream_of(edges: clmst.GeneratedEdges, device: Device, chunk: int, capacity: int) -> EdgeStream:
    def solve(graph: DeviceGraph) -> DeviceForest:
        forest = clmst.minimum_spanning_forest(graph, keep_on_device=True)
        assert isinstance(forest, DeviceForest)
        return forest

    launch = Launcher(device, device.queue)
    return EdgeStream(edges, launch, capacity=capacity, chunk=chunk, maximum=False, solve=solve)


@pytest.mark.parametrize(("chunk", "capacity"), [(1, 130), (97, 300), (5000, 5200)])
def test_chunks_and_capacities(any_device: Device, chunk: int, capacity: int) -> None:
    edges = random_graph()
    stream = stream_of(edges, any_device, chunk, capacity)
    while stream.n_left:
        stream.step()
    stream.reduce()
    before = stream.reductions
    stream.reduce()  # nothing waits
    assert stream.reductions == before
    right = clmst.kruskal(clmst.Graph.from_edges(*edges.edges(device=any_device), N))
    u, v, weights, ids = stream.columns()
    np.testing.assert_array_equal(np.column_stack((u, v)), right.edges)
    np.testing.assert_array_equal(weights, right.weights)
    np.testing.assert_array_equal(ids, right.edge_ids)
    assert stream.n_forest == right.n_edges
    assert (stream.reductions > 1) == (capacity < M)


@pytest.mark.parametrize("case", [Case(), Case(64, "float", maximum=True), Case(16, "signed")])
def test_self_test(any_device: Device, case: Case) -> None:
    assert edge_stream_failure(any_device, case) is None


def test_doubles_are_refused_before_anything_is_built(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a device has none; a compiler's message about its own text would be the reason."""
    device = with_capabilities(any_device, doubles=False)
    device.trust.given = False
    monkeypatch.setattr(Device, "program", None)  # nothing can be built
    verdict = device.trust.test(EDGE_STREAM, Case(64, "float", maximum=True))
    assert verdict.reason == (
        f"{device.description} has no arithmetic on doubles, which elements of float64 need"
    )
