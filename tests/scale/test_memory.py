"""What streams take of a device's memory: within their limit, and nothing once they are done."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import clmst
from clmst.runtime.device import Device
from tests.helpers.peak import collecting_no_cycles, peak_of
from tests.scale.edges import cut, random_edges

N, M = 20_000, 300_000
EDGES = random_edges(N, M)
GENERATED = clmst.GeneratedEdges(
    n_vertices=N, n_edges=M, u=f"id * 7919 % {N}", v=f"(id * 104729 + 1) % {N}",
    weight="id % 977", weight_dtype=np.dtype("uint32"),
)  # fmt: skip
Stream = Callable[[Device, int | None], clmst.Forest]


def by_rows(device: Device, limit: int | None) -> clmst.Forest:
    chunks = list(cut(EDGES, 25_000))
    return clmst.stream_minimum_spanning_forest(chunks, N, device=device, memory_limit=limit)


def by_ids(device: Device, limit: int | None) -> clmst.Forest:
    chunks = list(cut((*EDGES, np.arange(M)), 25_000))[::-1]
    return clmst.stream_minimum_spanning_forest(chunks, N, device=device, memory_limit=limit)


def by_generated(device: Device, limit: int | None) -> clmst.Forest:
    return clmst.stream_minimum_spanning_forest(GENERATED(), device=device, memory_limit=limit)


streams = pytest.mark.parametrize("stream", [by_rows, by_ids, by_generated])


@streams
@pytest.mark.parametrize(("bytes_of_vertex", "passes"), [(400, False), (280, False), (36, True)])
@pytest.mark.filterwarnings("ignore::clmst.StreamedWarning")
def test_a_limit_holds(
    any_device: Device, stream: Stream, bytes_of_vertex: int, passes: bool
) -> None:
    limit = bytes_of_vertex * N
    stream(any_device, limit)  # builds the kernels
    any_device.release_memory()
    with collecting_no_cycles(), peak_of(any_device) as peak:
        found = stream(any_device, limit)
    assert (found.stats["passes"] > 1) == passes
    assert found.stats["edges_on_device"] >= M // 4  # the host has those before a reduction
    assert found.stats["memory_limit"] == limit
    assert 0.2 * limit < peak.most - peak.before <= limit


@streams
@pytest.mark.parametrize("limit", [400 * N, 280 * N, 36 * N])
@pytest.mark.filterwarnings("ignore::clmst.StreamedWarning")
def test_nothing_is_left(any_device: Device, stream: Stream, limit: int | None) -> None:
    """Without a collection of cycles, which a program may not see for long."""
    stream(any_device, limit)
    with collecting_no_cycles():
        before = any_device._pool.active_bytes
        found = stream(any_device, limit)
        assert found.n_edges > N // 2
        assert found.stats["edges_on_device"] > 0
        assert any_device._pool.active_bytes == before
