"""Rows that go to the device as they are: the forest, ids and errors are those of the host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.algorithms.edge_stream.family import EDGE_STREAM
from clmst.algorithms.edge_stream.reducer import EdgeReducer
from clmst.core.errors import (
    InvalidGraphError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.core.weight_keys import Array
from clmst.runtime import uploads
from clmst.runtime.device import Device
from clmst.runtime.pinned import is_pinned
from clmst.runtime.trust import KernelFamily, Trust
from clmst.scale import driver, edge_block, reductions, stream_sink
from clmst.scale.checkpoint import Checkpoint
from clmst.scale.rows import StreamPiece
from tests.runtime.test_pinned import pinned
from tests.scale.edges import ALL_DTYPES, Edges, forest_of_edges, random_edges
from tests.scale.test_stream import cut, limit_for

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


@pytest.mark.parametrize("size", [1, 63, 64, 1000, M])
@pytest.mark.parametrize("limit", [None, LIMIT])
@pytest.mark.parametrize("maximum", [False, True])
def test_any_size_of_chunks(
    any_device: Device, size: int, limit: int | None, maximum: bool
) -> None:
    found = stream(cut(EDGES, size), N, device=any_device, memory_limit=limit, maximum=maximum)
    check(found, maximum=maximum)
    check_went(found)
    assert (found.stats["reductions"] > 1) == (limit is not None)
    assert found.stats["edges_filtered"] > (M // 2 if limit is not None else 0)


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_weights_of_every_dtype(any_device: Device, dtype: str) -> None:
    edges = random_edges(N, M, dtype=dtype, n_weights=2 if dtype == "bool" else 40)
    found = stream(cut(edges, 999), N, device=any_device, memory_limit=LIMIT)
    check(found, edges)
    check_went(found)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_ends_of_every_dtype(any_device: Device, dtype: str) -> None:
    u, v, w = EDGES
    found = stream(
        cut((u.astype(dtype), v.astype(dtype), w), 999), N, device=any_device, memory_limit=LIMIT
    )
    check(found)
    check_went(found)


def test_ends_of_several_dtypes_in_one_stream(any_device: Device) -> None:
    """Also of both orders of bytes, and not contiguous."""
    dtypes = ("u4", "i4", "i8", "u1", ">u8", ">i4", "u8", "i2")
    chunks: list[Any] = []
    for k, (u, v, w) in enumerate(cut(EDGES, 250)):
        pairs = np.column_stack((u, v)).astype(dtypes[k % len(dtypes)])
        other = pairs.astype(dtypes[k // 3 % len(dtypes)])
        chunks.append((pairs[:, 0], other[:, 1], w.astype(">i4")))
    found = stream(chunks, N, device=any_device, memory_limit=LIMIT)
    check(found)
    check_went(found)


def test_a_graph(any_device: Device) -> None:
    """Its ids are slots, and its labels stay."""
    graph = clmst.Graph.from_edges(EDGES[0] * 3, EDGES[1] * 3, EDGES[2], relabel=True)
    for given in (graph, graph.symmetrised()):
        found = stream(given, device=any_device, memory_limit=LIMIT)
        assert found == clmst.kruskal(graph)
        check_went(found, given.n_slots)


def test_lists_and_no_weights(any_device: Device) -> None:
    found = stream([([0, 1], [1, 2]), ([2, 3], [0, 3])], 4, device=any_device)
    assert found.edge_ids.tolist() == [0, 2]
    check_went(found, 4)


def test_numbers_of_32_bits_with_a_sign_where_all_bits_may_be_a_vertex() -> None:
    """Of a graph of more than 2**31 vertices, -5 is not vertex 2**32 - 5."""
    for dtype, n, is_wide in (
        ("i4", 2**31, False), ("i4", 2**31 + 1, True), ("u4", 2**32 - 2, False), ("i8", 5, True),
    ):  # fmt: skip
        ends = np.array([0, 5], dtype)
        rows = StreamPiece(chunk="", first_row=0, u=ends, v=ends, weights=ends, edge_ids=None)
        assert rows.is_wide(n) == is_wide


def test_memory_mapped_arrays(any_device: Device, tmp_path: Path) -> None:
    mapped = []
    for name, column in zip("uvw", EDGES, strict=True):
        np.save(tmp_path / f"{name}.npy", column)
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    found = stream([tuple(mapped)], N, device=any_device, memory_limit=LIMIT)
    check(found)
    check_went(found)


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


def test_some_chunks_bring_their_ids(any_device: Device) -> None:
    u, v, w = EDGES
    ids = np.arange(M)
    for limit in (None, LIMIT):
        chunks: list[Any] = [(u[:3000], v[:3000], w[:3000])]
        chunks += [(*one, i) for *one, i in cut((u, v, w, ids), 500)][6:]
        found = stream(chunks, N, device=any_device, memory_limit=limit)
        check(found)
        check_went(found)


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


@pytest.mark.parametrize("size", [50, 640, M])
@pytest.mark.parametrize("at", [0, 3456, M - 1])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (0, N, "u of row {row} is 120; it must be from 0 to below 120"),
        (0, -1, "u of row {row} is -1; it must be from 0"),
        (1, 2**40 + 1, "v of row {row} is 1099511627777; it must"),
        (2, np.nan, r"the weight of row {row} \(\d+, \d+\) is NaN"),
    ],
)
def test_a_bad_row_is_named(  # noqa: PLR0917 - pytest gives them by name
    any_device: Device, tmp_path: Path, size: int, at: int, column: int, value: float, message: str
) -> None:
    """Its chunk and row as the host names them; the checkpoint has all chunks before."""
    u, v, w = (one.copy() for one in EDGES)
    edges = (u if column < 2 and abs(value) > 2**31 else u.astype("i4"), v, w.astype("f4"))
    edges[column][[at, *range(at + 1, M, 7)]] = value
    path = tmp_path / "stream.ckpt"
    words = f"^chunk {at // size}: {message.format(row=at % size)}"
    for checkpoint in (None, path):
        with pytest.raises(InvalidGraphError, match=words):
            stream(
                cut(edges, size), N, device=any_device, memory_limit=LIMIT, checkpoint=checkpoint
            )
    kept = Checkpoint.read(path, n_vertices=N, maximum=False)
    n_kept = 0 if kept is None else kept.position.n_edges
    assert at // size * size <= n_kept <= at
    good = (*EDGES[:2], EDGES[2].astype("f4"))
    found = stream(cut(good, 333), N, device=any_device, memory_limit=LIMIT, checkpoint=path)
    check(found, good)
    assert found.stats["resumed_at"] == n_kept


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


class KilledError(BaseException):
    """Stands for the end of the process: nothing of clmst handles it."""


def test_killed_at_ten_points_and_resumed(
    any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the device, on the host, and with other chunks: each goes on from the one before."""
    monkeypatch.setattr(driver, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(driver, "PACE", 0)
    path, resumed = tmp_path / "stream.ckpt", []
    given: dict[str, Any] = {"device": any_device, "memory_limit": LIMIT, "checkpoint": path}
    for k, until in enumerate(range(2500, M - 100, 350)):

        def kill(progress: clmst.StreamProgress, until: int = until) -> None:
            if progress.edges >= until:
                raise KilledError

        monkeypatch.setattr(reductions, "OPEN_FROM", 1 << 60 if k % 3 == 2 else 0)
        with pytest.raises(KilledError):
            stream(cut(EDGES, 1 + until % 97), N, on_progress=kill, **given)
        one = Checkpoint.read(path, n_vertices=N, maximum=False)
        assert one is not None
        resumed.append(one.position.n_edges)
    assert len(resumed) == 10
    monkeypatch.setattr(reductions, "OPEN_FROM", 0)
    found = stream([EDGES], N, **given)
    check(found)
    assert resumed == sorted(resumed)
    assert found.stats["resumed_at"] == resumed[-1] > M // 2
    assert found.stats["edges_on_device"] == M - resumed[-1]
    again = stream(cut(EDGES, 11), N, **given)
    check(again)
    assert (again.stats["resumed_at"], again.stats["reductions"]) == (M, 0)


def test_checksums_are_those_of_the_host(
    any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for k, open_from in enumerate((0, 1 << 60)):
        monkeypatch.setattr(reductions, "OPEN_FROM", open_from)
        files.append(tmp_path / f"{k}.ckpt")
        stream(cut(EDGES, 450), N, device=any_device, checkpoint=files[-1])
    assert files[0].read_bytes() == files[1].read_bytes()


def test_progress(any_device: Device) -> None:
    seen: list[clmst.StreamProgress] = []
    stream(cut(EDGES, 50), N, device=any_device, on_progress=seen.append, memory_limit=LIMIT)
    assert seen[-1].edges == M
    assert [one.edges for one in seen] == sorted(one.edges for one in seen)
    assert seen[-1].forest_edges == N - 1
