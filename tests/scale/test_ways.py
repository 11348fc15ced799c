"""What holds of all ways that a stream's rows go: on the host, on the device, and by passes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import InvalidGraphError, StreamedWarning
from clmst.runtime import uploads
from clmst.runtime.device import Device
from clmst.scale import driver, rows, sinks, stream_sink
from clmst.scale.checkpoint import Checkpoint
from tests.scale.edges import (
    ALL_DTYPES,
    Edges,
    cut,
    forest_of_edges,
    limit_for,
    limit_for_passes,
    random_edges,
)
from tests.scale.test_checkpoint import KilledError

N, M = 600, 6000
EDGES = random_edges(N, M, n_weights=40)
ROWS = 701  # of a block: chunks and blocks begin at different rows


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way of rows, and the limit at which it takes several reductions or passes."""

    name: str
    device: Device
    limit: int

    def stream(
        self, chunks: Any, n: int | None = N, *, is_limited: bool = True, **given: Any
    ) -> clmst.Forest:
        """Return a forest that came this way."""
        if self.name == "passes" and isinstance(chunks, Iterator):
            chunks = [*chunks]  # which can be read again
        if is_limited or self.name == "passes":
            given = {"memory_limit": self.limit, **given}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StreamedWarning)
            found = clmst.stream_minimum_spanning_forest(chunks, n, device=self.device, **given)
        stats = found.stats
        assert stats["algorithm"] == "stream"
        if self.name == "passes":
            assert (stats["passes"] > 1, stats["reductions"]) == (True, 0)
        elif not stats["resumed_at"]:  # few edges that are left may be for the host
            on_device = 0 if self.name == "host" else stats["edges"]
            assert (stats["passes"], stats["edges_on_device"]) == (1, on_device)
        return found

    def check(self, chunks: Any, edges: Edges = EDGES, maximum: bool = False, **given: Any) -> None:
        """Check that the forest of chunks is the oracle's."""
        found = self.stream(chunks, maximum=maximum, **given)
        right = forest_of_edges(edges, N, maximum=maximum)
        assert found == right
        np.testing.assert_array_equal(found.edge_ids, right.edge_ids)
        assert found.stats["edges"] == M


def way_of(name: str, device: Device, monkeypatch: pytest.MonkeyPatch) -> Way:
    monkeypatch.setattr(sinks, "OPEN_FROM", 1 << 60 if name == "host" else 0)
    monkeypatch.setattr(sinks, "VERTICES_PER_EDGE", N)
    monkeypatch.setattr(stream_sink, "ROWS", dict.fromkeys(stream_sink.ROWS, ROWS))
    monkeypatch.setattr(rows, "_JOINED", 64)
    if name == "two queues":  # also where none is needed for uploads
        monkeypatch.setattr(uploads, "has_own_queue", lambda _: True)
    limits = {"host": limit_for(device, N, 3 * N), "passes": limit_for_passes(N, 150)}
    return Way(name=name, device=device, limit=limits.get(name, 250_000))


@pytest.fixture(params=["host", "device", "two queues", "passes"])
def way(request: pytest.FixtureRequest, any_device: Device, monkeypatch: pytest.MonkeyPatch) -> Way:
    return way_of(request.param, any_device, monkeypatch)


@pytest.fixture(params=["host", "device", "two queues"])
def reducing_way(
    request: pytest.FixtureRequest, any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> Way:
    """Return a way that reads a stream once."""
    return way_of(request.param, any_device, monkeypatch)


@pytest.fixture(params=["host", "device", "passes"])
def other_way(
    request: pytest.FixtureRequest, any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> Way:
    """Return a way for tests to which queues of uploads do not matter."""
    return way_of(request.param, any_device, monkeypatch)


@pytest.mark.parametrize("size", [1, 63, 64, 1000, M])
@pytest.mark.parametrize("is_limited", [False, True])
@pytest.mark.parametrize("maximum", [False, True])
def test_any_size_of_chunks(reducing_way: Way, size: int, is_limited: bool, maximum: bool) -> None:
    found = reducing_way.stream(cut(EDGES, size), is_limited=is_limited, maximum=maximum)
    assert found == forest_of_edges(EDGES, N, maximum=maximum)
    assert (found.stats["reductions"] > 1) == is_limited
    assert (found.stats["edges_filtered"] > M // 5) == is_limited


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
def test_weights_of_every_dtype(other_way: Way, dtype: str, maximum: bool) -> None:
    """Many equal weights, parallel edges, loops, several components, greatest and least keys."""
    u, v, w = random_edges(N, M, dtype=dtype, n_weights=2 if dtype == "bool" else 40)
    if dtype != "bool":
        ends = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
        w[::7], w[3::7] = ends.max, ends.min
    other_way.check(cut((u, v, w), 999), (u, v, w), maximum)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_ends_of_every_dtype(other_way: Way, dtype: str) -> None:
    """Of either end, beside another dtype."""
    edges = EDGES[0] % 100, *EDGES[1:]
    pairs = [(u.astype(dtype), v, w) for u, v, w in cut(edges, 999)]
    other_way.check([(v, u, w) if k % 2 else (u, v, w) for k, (u, v, w) in enumerate(pairs)], edges)


def test_ends_of_several_dtypes_in_one_stream(way: Way) -> None:
    """Also of both orders of bytes, and not contiguous."""
    dtypes = ("u4", "i4", "i8", "u2", ">u8", ">i4", "u8", "i2")
    chunks: list[Any] = []
    for k, (u, v, w) in enumerate(cut(EDGES, 250)):
        pairs = np.column_stack((u, v)).astype(dtypes[k % len(dtypes)])
        other = pairs.astype(dtypes[k // 3 % len(dtypes)])
        chunks.append((pairs[:, 0], other[:, 1], w.astype(">i4")))
    way.check(chunks)


def test_a_graph_keeps_its_ids_and_labels(way: Way) -> None:
    graph = clmst.Graph.from_edges(EDGES[0] * 3, EDGES[1] * 3, EDGES[2], relabel=True)
    for given in (graph, graph.symmetrised()):
        found = way.stream(given, None)
        assert found == clmst.kruskal(graph)
        assert found.stats["edges"] == given.n_slots


def test_lists_and_no_weights(other_way: Way) -> None:
    u, v, _ = EDGES
    chunks = [(a.tolist(), b.tolist()) for a, b in cut((u, v), 999)]
    other_way.check(chunks, (u, v, np.ones(M, np.uint8)))


def test_memory_mapped_arrays(way: Way, tmp_path: Path) -> None:
    mapped = []
    for name, column in zip("uvw", EDGES, strict=True):
        np.save(tmp_path / f"{name}.npy", column)
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    way.check([tuple(mapped)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("factor", [1, (1 << 40) + 1])
def test_any_order_of_chunks_with_their_ids(other_way: Way, seed: int, factor: int) -> None:
    """Of many parallel edges; also ids of which the upper words alone tell some from others."""
    ids, edges = np.arange(M) * factor, (EDGES[0], (EDGES[0] + EDGES[1] % 4) % N, EDGES[2] % 2)
    chunks = [*cut((*edges, ids), 170)]
    np.random.default_rng(seed).shuffle(chunks)
    found, right = other_way.stream(chunks), forest_of_edges(edges, N)
    np.testing.assert_array_equal(found.edge_ids, ids[right.edge_ids])
    np.testing.assert_array_equal(found.edges, right.edges)


@pytest.mark.parametrize("is_limited", [False, True])
def test_some_chunks_bring_their_ids(way: Way, is_limited: bool) -> None:
    """Those that bring none go on from the position in the stream."""
    chunks: list[Any] = []
    for k, (*edges, ids) in enumerate(cut((*EDGES, np.arange(M)), 170)):
        chunks.append((*edges, ids) if k % 4 == 1 or k > 30 else tuple(edges))
    way.check(chunks, is_limited=is_limited)


def test_progress(way: Way) -> None:
    seen: list[clmst.StreamProgress] = []
    found = way.stream(cut(EDGES, 50), on_progress=seen.append, n_edges=M)
    assert seen[-1].edges == seen[-1].n_edges == M
    last = [one.edges for one in seen if one.passes == found.stats["passes"]]
    assert last == sorted(last)
    assert seen[-1].edges_per_second > 0
    assert seen[-1].seconds_left == 0
    if way.name != "passes":
        assert seen[-1].forest_edges > N // 2
    assert clmst.StreamProgress(
        edges=10, n_edges=30, edges_now=10, seconds=2.0, forest_edges=1, reductions=1
    ).seconds_left == pytest.approx(4.0)


@pytest.mark.parametrize("first", ["host", "device"])
def test_killed_at_ten_points_and_resumed(
    reducing_way: Way, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the device, on the host, and with other chunks: each goes on from the one before."""
    monkeypatch.setattr(driver, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(driver, "PACE", 0)  # the disk may be slow
    path, resumed, open_from = tmp_path / "stream.ckpt", [], sinks.OPEN_FROM
    for k, until in enumerate(range(2500, M - 100, 350)):

        def kill(progress: clmst.StreamProgress, until: int = until) -> None:
            if progress.edges >= until:
                raise KilledError

        if k % 3 == 2:
            monkeypatch.setattr(sinks, "OPEN_FROM", 1 << 60 if first == "host" else 0)
        else:
            monkeypatch.setattr(sinks, "OPEN_FROM", open_from)
        with pytest.raises(KilledError):
            reducing_way.stream(cut(EDGES, 1 + until % 97), on_progress=kill, checkpoint=path)
        one = Checkpoint.read(path, n_vertices=N, maximum=False)
        assert one is not None
        resumed.append(one.position.n_edges)
    assert len(resumed) == 10
    assert resumed == sorted(resumed)
    monkeypatch.setattr(sinks, "OPEN_FROM", open_from)
    found = reducing_way.stream([EDGES], checkpoint=path)
    assert found == forest_of_edges(EDGES, N)
    assert found.stats["resumed_at"] == resumed[-1] > M // 2
    again = reducing_way.stream(cut(EDGES, 11), checkpoint=path)
    assert again == found
    assert (again.stats["resumed_at"], again.stats["reductions"]) == (M, 0)


@pytest.mark.parametrize("size", [50, 640, M])
@pytest.mark.parametrize("at", [0, 3456, M - 1])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (0, N, "u of row {row} is 600; it must be from 0 to below 600"),
        (0, -1, "u of row {row} is -1; it must be from 0"),
        (1, 2**40 + 1, "v of row {row} is 1099511627777; it must"),
        (2, np.nan, r"the weight of row {row} \(\d+, \d+\) is NaN"),
    ],
)
def test_a_bad_row_is_named(  # noqa: PLR0917 - pytest gives them by name
    reducing_way: Way, tmp_path: Path, size: int, at: int, column: int, value: float, message: str
) -> None:
    """Its chunk and row as the host names them; the checkpoint has all chunks before."""
    u, v, w = (one.copy() for one in EDGES)
    edges = (u if column < 2 and abs(value) > 2**31 else u.astype("i4"), v, w.astype("f4"))
    edges[column][[at, *range(at + 1, M, 7)]] = value
    path = tmp_path / "stream.ckpt"
    words = f"^chunk {at // size}: {message.format(row=at % size)}"
    for checkpoint in (None, path):
        with pytest.raises(InvalidGraphError, match=words):
            reducing_way.stream(cut(edges, size), checkpoint=checkpoint)
    kept = Checkpoint.read(path, n_vertices=N, maximum=False)
    n_kept = 0 if kept is None else kept.position.n_edges
    assert at // size * size <= n_kept <= at
    good = (*EDGES[:2], EDGES[2].astype("f4"))
    found = reducing_way.stream(cut(good, 333), checkpoint=path)
    assert found == forest_of_edges(good, N)
    assert found.stats["resumed_at"] == n_kept
