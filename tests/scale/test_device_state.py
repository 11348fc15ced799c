"""Rows that go to the device as they are: the forest, ids and errors are those of the host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.algorithms.edge_stream.reducer import EdgeReducer
from clmst.algorithms.families import EDGE_STREAM
from clmst.core.errors import (
    InvalidGraphError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.core.weight_keys import Array
from clmst.runtime import uploads
from clmst.runtime.device import Device
from clmst.runtime.device_memory import is_pinned
from clmst.runtime.kernel_family import KernelFamily
from clmst.runtime.trust import Trust
from clmst.scale import edge_block, reductions, stream_sink
from clmst.scale.rows import StreamPiece
from tests.runtime.test_transfer import pinned
from tests.scale.edges import Edges, cut, forest_of_edges, limit_for, random_edges

N, M = 120, 6000
EDGES = random_edges(N, M, n_weights=40)
ROWS = 701  # of a block: chunks and blocks begin at different rows
LIMIT = 80_000  # several reductions by a device in the shape of a GPU, too

stream = clmst.stream_minimum_spanning_forest


@pytest.fixture(autouse=True, params=["one queue", "two queues"])
def everything_to_the_device(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small blocks, from the first row on; also with a queue for uploads where none is needed."""
    monkeypatch.setattr(reductions, "OPEN_FROM", 0)
    monkeypatch.setattr(reductions, "VERTICES_PER_EDGE", N)
    monkeypatch.setattr(stream_sink, "ROWS", dict.fromkeys(stream_sink.ROWS, ROWS))
    monkeypatch.setattr(edge_block, "_JOINED", 64)
    if request.param == "two queues":
        monkeypatch.setattr(uploads, "has_own_queue", lambda _: True)


def check(found: clmst.Forest, edges: Edges = EDGES, n: int = N, *, maximum: bool = False) -> None:
    right = forest_of_edges(edges, n, maximum=maximum)
    assert found == right
    np.testing.assert_array_equal(found.edge_ids, right.edge_ids)


def check_went(found: clmst.Forest, n_rows: int = M) -> None:
    assert found.stats["edges_on_device"] == n_rows
    assert found.stats["edges"] >= n_rows


def test_numbers_of_32_bits_with_a_sign_where_all_bits_may_be_a_vertex() -> None:
    """Of a graph of more than 2**31 vertices, -5 is not vertex 2**32 - 5."""
    for dtype, n, is_wide in (
        ("i4", 2**31, False), ("i4", 2**31 + 1, True), ("u4", 2**32 - 2, False), ("i8", 5, True),
    ):  # fmt: skip
        ends = np.array([0, 5], dtype)
        rows = StreamPiece(chunk="", first_row=0, u=ends, v=ends, weights=ends, edge_ids=None)
        assert rows.is_wide(n) == is_wide


@pytest.mark.parametrize("open_from", [0, 3000])
def test_the_arrays_of_a_chunk_may_change_before_the_next(
    any_device: Device, open_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain arrays and pinned ones that the iterator fills again and again."""
    monkeypatch.setattr(reductions, "OPEN_FROM", open_from)
    for make in (np.empty, lambda size, dtype: pinned(any_device, size, dtype)):
        own = [make(ROWS + 200, column.dtype) for column in EDGES]
        assert is_pinned(own[0][3:9]) == (make is not np.empty)

        def chunks(own: list[Array] = own) -> Iterator[Any]:
            for k, some in enumerate(cut(EDGES, ROWS + 200)):
                size = some[0].size if k % 2 else some[0].size // 30
                for begin in range(0, some[0].size, size):
                    count = min(size, some[0].size - begin)
                    for column, values in zip(own, some, strict=True):
                        column[:count] = values[begin : begin + count]
                    yield tuple(column[:count] for column in own)
                    for column in own:
                        column[:] = 0

        found = stream(chunks(), N, device=any_device, memory_limit=LIMIT)
        check(found)
        assert (found.stats["edges_on_device"] == M) == (open_from == 0)


def test_few_edges_and_small_limits_are_for_the_host(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = limit_for(any_device, N, N + N // 8)
    found = stream(cut(EDGES, 500), N, device=any_device, memory_limit=limit)
    check(found)
    assert found.stats["edges_on_device"] == 0
    monkeypatch.setattr(reductions, "OPEN_FROM", 2500)
    found = stream(cut(EDGES, 500), N, device=any_device)
    check(found)
    check_went(found, M - 2000)
    found = stream([EDGES], N * M + 1, device=any_device)
    assert found.stats["edges_on_device"] == 0


def test_what_waits_on_the_host_comes_first(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forest and more edges go to the device, which gives back both where it has no space."""
    monkeypatch.setattr(reductions, "OPEN_FROM", 4000)
    found = stream(cut(EDGES, 300), N, device=any_device, memory_limit=LIMIT)
    check(found)
    assert 0 < found.stats["edges_on_device"] < M

    def refuse(*_: object, **__: object) -> None:
        raise OutOfDeviceMemoryError("no")

    monkeypatch.setattr(EdgeReducer, "go_on_from", refuse)
    found = stream(cut(EDGES, 300), N, device=any_device, memory_limit=LIMIT)
    check(found)
    assert found.stats["edges_on_device"] == 0


def test_a_device_that_fails_the_self_test_is_not_used(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:

    def require(_: Trust, family: KernelFamily, *__: object) -> None:
        if family is EDGE_STREAM:
            raise UnsupportedDeviceError("it is wrong")

    monkeypatch.setattr(Trust, "require", require)
    found = stream(cut(EDGES, 300), N, device=any_device)
    check(found)
    assert found.stats["edges_on_device"] == 0


# ------------------------------------------------------------------------ bad input


def test_the_first_error_is_raised(any_device: Device) -> None:
    """Rows that the device has not seen yet come before what the host sees at once."""
    good, bad = ([0, 1], [1, 2], [1.0, 2.0]), ([0, 9], [1, 2], [1.0, 2.0])

    def ends_in_an_error() -> Iterator[Any]:
        yield from (good, bad)
        raise OSError("the disk is gone")

    later: list[Any] = [7, ([0.5], [1], [1.0]), ([0], [1], [1]), ([0], [1, 2], [1.0])]
    for chunks in (*([good, bad, one] for one in later), ends_in_an_error()):
        with pytest.raises(InvalidGraphError, match=r"^chunk 1: u of row 1 is 9; it must"):
            stream(chunks, 4, device=any_device)
    for one in later:
        with pytest.raises(InvalidGraphError, match=r"^chunk 2"):
            stream([good, good, one], 4, device=any_device)


def test_an_interrupt_leaves_a_usable_device(any_device: Device) -> None:
    def interrupt(progress: clmst.StreamProgress) -> None:
        if progress.edges > M // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream(cut(EDGES, 90), N, device=any_device, on_progress=interrupt)
    check(stream(cut(EDGES, 90), N, device=any_device))


# ---------------------------------------------------------------------- checkpoints


def test_checksums_are_those_of_the_host(
    any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for k, open_from in enumerate((0, 1 << 60)):
        monkeypatch.setattr(reductions, "OPEN_FROM", open_from)
        files.append(tmp_path / f"{k}.ckpt")
        stream(cut(EDGES, 450), N, device=any_device, checkpoint=files[-1])
    assert files[0].read_bytes() == files[1].read_bytes()
