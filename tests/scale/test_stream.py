"""Streams: rules that hold for rows on the host, on the device, and by passes.

The file also tests small graphs, bad input, and whether host or device has the edges.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.algorithms.families import EDGE_STREAM
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
    StreamedWarning,
)
from clmst.core.graph_checks import MAX_VERTICES
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_memory import is_pinned
from clmst.runtime.kernel_family import case_of
from clmst.runtime.verdicts import Verdict
from clmst.scale import rows
from clmst.scale.checkpoint import read_checkpoint
from tests.faults.injection import inject
from tests.helpers.bounds import bounds
from tests.helpers.caches import use_own_cache
from tests.helpers.capabilities import with_capabilities
from tests.runtime.test_transfer import pinned
from tests.scale.edges import (
    ALL_DTYPES,
    Edges,
    KilledError,
    assert_forest,
    cut,
    forest_of_edges,
    kill_at,
    limit_for,
    limit_for_passes,
    random_edges,
)

N, M = 600, 6000
EDGES = random_edges(N, M, n_weights=40)
ROWS = 901  # of a chunk, and of more than two blocks where there is a limit

stream = clmst.stream_minimum_spanning_forest


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
            found = stream(chunks, n, device=self.device, **given)
        stats = found.stats
        assert stats["algorithm"] == "stream"
        if self.name == "passes":
            assert (stats["passes"] > 1, stats["reductions"]) == (True, 0)
        elif not stats["resumed_at"]:  # few edges that are left may be for the host
            least = max(0, stats["edges"] - N // 8)  # fewer are for the host
            on_device = (0, 0) if self.name == "host" else (least, stats["edges"])
            assert on_device[0] <= stats["edges_on_device"] <= on_device[1]
            assert stats["passes"] == 1
        return found

    def check(self, chunks: Any, edges: Edges = EDGES, maximum: bool = False, **given: Any) -> None:
        """Check that the forest of chunks is the oracle's."""
        found = self.stream(chunks, maximum=maximum, **given)
        assert_forest(found, edges, N, maximum=maximum)
        assert found.stats["edges"] == M


def opens_from(way: str) -> Any:
    """Let streams of so few edges go to the device at once, or stay on the host."""
    return bounds(stream_opens_from=1 << 60 if way == "host" else 0)


@pytest.fixture(params=["host", "device", "two queues", "passes"])
def way(request: pytest.FixtureRequest, any_device: Device) -> Iterator[Way]:
    name, device = request.param, any_device
    if name == "two queues":  # as where memory is not the host's
        device = with_capabilities(any_device, host_arrays="copied")
    limits = {"host": limit_for(device, N, 3 * N), "passes": limit_for_passes(N, 150)}
    with opens_from(name), bounds(stream_joined_below=64):
        yield Way(name=name, device=device, limit=limits.get(name, 250_000))


# Ways that read a stream once, and ways for tests to which queues of uploads do not matter.
by_reductions = pytest.mark.parametrize("way", ["host", "device", "two queues"], indirect=True)
by_device = pytest.mark.parametrize("way", ["device", "two queues"], indirect=True)
by_one_queue = pytest.mark.parametrize("way", ["host", "device", "passes"], indirect=True)


@pytest.mark.parametrize("size", [1, 63, 64, 1000, M])
@pytest.mark.parametrize("is_limited", [False, True])
@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.covering("way size", "way is_limited maximum")
def test_any_size_of_chunks(way: Way, size: int, is_limited: bool, maximum: bool) -> None:
    found = way.stream(cut(EDGES, size), is_limited=is_limited, maximum=maximum)
    assert found == forest_of_edges(EDGES, N, maximum=maximum)
    if way.name != "passes":
        assert (found.stats["reductions"] > 1) == is_limited
        assert (found.stats["edges_filtered"] > M // 5) == is_limited


@by_one_queue
@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
@pytest.mark.covering("way dtype")
def test_weights_of_every_dtype(way: Way, dtype: str, maximum: bool) -> None:
    """Many equal weights, parallel edges, loops, several components, greatest and least keys."""
    u, v, w = random_edges(N, M, dtype=dtype, n_weights=2 if dtype == "bool" else 40)
    if dtype != "bool":
        ends = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
        w[::7], w[3::7] = ends.max, ends.min
    way.check(cut((u, v, w), 999), (u, v, w), maximum)


def test_ends_of_several_dtypes_in_one_stream(way: Way) -> None:
    """Of either end, also of both orders of bytes, and not contiguous."""
    wide = ("u4", "i4", "i8", "u2", ">u8", ">i4", "u8", "i2")
    dtypes = (*wide, "i1", "u1")
    edges = EDGES[0] % 100, *EDGES[1:]
    chunks: list[Any] = []
    for k, (u, v, w) in enumerate(cut(edges, 250)):
        pair = np.repeat(u.astype(dtypes[k % 10]), 2)[::2], v.astype(wide[k // 3 % 8])
        chunks.append((*(pair[::-1] if k // 10 % 2 else pair), w.astype(">i4")))
    way.check(chunks, edges)


def test_a_graph_keeps_its_ids_and_labels(way: Way) -> None:
    graph = clmst.Graph.from_edges(EDGES[0] * 3, EDGES[1] * 3, EDGES[2], relabel=True)
    for given in (graph, graph.symmetrised()):
        found = way.stream(given, None)
        assert found == clmst.kruskal(graph)
        assert found.stats["edges"] == given.n_slots


@by_one_queue
def test_lists_and_no_weights(way: Way) -> None:
    u, v, _ = EDGES
    chunks = [(a.tolist(), b.tolist()) for a, b in cut((u, v), 999)]
    way.check(chunks, (u, v, np.ones(M, np.uint8)))


def test_memory_mapped_arrays(way: Way, tmp_path: Path) -> None:
    for name, column in zip("uvw", EDGES, strict=True):
        np.save(tmp_path / f"{name}.npy", column)
    way.check([tuple(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "uvw")])


@by_one_queue
def test_zeros_keep_their_signs(way: Way) -> None:
    """They are equal weights, so the lesser ends decide; the weights stay as they are."""
    w = np.where(np.arange(M) % 3 == 0, -0.0, 0.0).astype(np.float32)
    edges = (*EDGES[:2], w)
    found = way.stream(cut(edges, 999))
    assert_forest(found, edges, N)
    np.testing.assert_array_equal(np.signbit(found.weights), np.signbit(w[found.edge_ids]))


@by_one_queue
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("factor", [1, (1 << 40) + 1])
def test_any_order_of_chunks_with_their_ids(way: Way, seed: int, factor: int) -> None:
    """Of many parallel edges; also ids of which the upper words alone tell some from others."""
    ids, edges = np.arange(M) * factor, (EDGES[0], (EDGES[0] + EDGES[1] % 4) % N, EDGES[2] % 2)
    chunks = [*cut((*edges, ids), 170)]
    np.random.default_rng(seed).shuffle(chunks)
    assert_forest(way.stream(chunks), edges, N, ids=ids)


@pytest.mark.parametrize("is_limited", [False, True])
def test_some_chunks_bring_their_ids(way: Way, is_limited: bool) -> None:
    """Those that bring none go on from the position in the stream."""
    chunks: list[Any] = []
    for k, (*edges, ids) in enumerate(cut((*EDGES, np.arange(M)), 170)):
        chunks.append((*edges, ids) if k % 4 == 1 or k > 30 else tuple(edges))
    way.check(chunks, is_limited=is_limited)


def test_progress_in_words(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """``print`` shows it; so does the logger from time to time, without being asked."""
    given: Any = {"n_vertices": N, "n_edges": M}
    clmst.stream_minimum_spanning_forest(cut(EDGES, 50), on_progress=print, **given)
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1].startswith("100%, ")
    assert printed[-1].endswith(" million edges/s, 0.0 s left")
    with bounds(stream_patience=0.0), caplog.at_level(logging.INFO, "clmst"):
        clmst.stream_minimum_spanning_forest(cut(EDGES, 50), **given)
    logged = [one.getMessage() for one in caplog.records if one.getMessage().startswith("stream")]
    assert len(logged) > 1
    assert re.search(r"^stream on .*: 100%, [\d.]+ million edges/s, 0.0 s left$", logged[-1])


@pytest.mark.parametrize("n_edges", [None, M])
def test_progress(way: Way, n_edges: int | None) -> None:
    seen: list[clmst.StreamProgress] = []
    found = way.stream(cut(EDGES, 50), on_progress=seen.append, n_edges=n_edges)
    passes, last = found.stats["passes"], seen[-1]
    assert {one.passes for one in seen} == set(range(1, passes + 1))
    for number in range(1 + (passes > 1), passes + 1):  # before passes, reductions were tried
        edges = [one.edges for one in seen if one.passes == number]
        assert edges == sorted(edges)
        assert edges[-1] == M
    assert last.n_edges == (n_edges if passes == 1 else M)  # known since the first pass
    assert last.edges_now == passes * M
    assert last.edges_per_second > 0
    assert last.seconds_left == (None if last.n_edges is None else 0)
    assert passes > 1 or last.forest_edges > N // 2
    assert clmst.StreamProgress(
        edges=10, n_edges=30, edges_now=10, seconds=2.0, forest_edges=1, reductions=1
    ).seconds_left == pytest.approx(4.0)


@by_reductions
@pytest.mark.parametrize("first", ["host", "device"])
@bounds(checkpoint_seconds=0.0, checkpoint_pace=0)  # the disk may be slow
@pytest.mark.covering
def test_killed_at_ten_points_and_resumed(way: Way, first: str, tmp_path: Path) -> None:
    """On the device, on the host, and with other chunks: each goes on from the one before."""
    path, resumed = tmp_path / "stream.ckpt", []
    for k, until in enumerate(range(2500, M - 100, 350)):
        with opens_from(first if k % 3 == 2 else way.name), pytest.raises(KilledError):
            way.stream(cut(EDGES, 1 + until % 97), on_progress=kill_at(until), checkpoint=path)
        one = read_checkpoint(path, n_vertices=N, maximum=False)
        assert one is not None
        resumed.append(one.position.n_edges)
    assert len(resumed) == 10
    assert resumed == sorted(resumed)
    found = way.stream([EDGES], checkpoint=path)
    assert found == forest_of_edges(EDGES, N)
    assert found.stats["resumed_at"] == resumed[-1] > M // 2
    again = way.stream(cut(EDGES, 11), checkpoint=path)
    assert again == found
    assert (again.stats["resumed_at"], again.stats["reductions"]) == (M, 0)


@pytest.mark.covering("way size", "way message")
@pytest.mark.parametrize("size", [50, M])
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
    way: Way, tmp_path: Path, size: int, at: int, column: int, value: float, message: str
) -> None:
    """Its chunk and row as the host names them; the checkpoint has all chunks before."""
    u, v, w = (one.copy() for one in EDGES)
    edges = (u if column < 2 and abs(value) > 2**31 else u.astype("i4"), v, w.astype("f4"))
    edges[column][[at, *range(at + 1, M, 7)]] = value
    path = tmp_path / "stream.ckpt"
    words = f"^chunk {at // size}: {message.format(row=at % size)}"
    for checkpoint in (None, path):
        with pytest.raises(InvalidGraphError, match=words):
            way.stream(cut(edges, size), checkpoint=checkpoint)
    if way.name == "passes":  # whose checkpoints are of whole passes
        return
    kept = read_checkpoint(path, n_vertices=N, maximum=False)
    n_kept = 0 if kept is None else kept.position.n_edges
    assert at // size * size <= n_kept <= at
    good = (*EDGES[:2], EDGES[2].astype("f4"))
    found = way.stream(cut(good, 333), checkpoint=path)
    assert found == forest_of_edges(good, N)
    assert found.stats["resumed_at"] == n_kept


# ----------------------------------------------------------------------------- small graphs

FAR = MAX_VERTICES - 1
SMALL: dict[str, tuple[Any, int, list[int]]] = {
    "no chunk": ([], 3, []),
    "no vertex": ([([], [], [])], 0, []),
    "no edge": ([([], [], np.zeros(0, np.int16))], 5, []),
    "loops": ([([0, 1], [0, 1], [1, 2])], 2, []),
    "few of many vertices": (
        [([FAR, 5, 2**31, FAR], [5, 2**31, FAR, 2**31], [1, 2, 2, 2])], MAX_VERTICES, [1, 0],
    ),
    "words that differ in the last bit": (
        [([0, 0, 1, 1], [1, 1, 2, 2], np.array([2**63, 2**63 - 1, 0, 2**64 - 1], np.uint64))], 3,
        [1, 2],
    ),
    "parallel edges in any order": (
        [([0] * 2, [1] * 2, [1.0] * 2, ids) for ids in ([5, 6], [2, 7], [3, 4])], 2, [2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(any_device: Device, name: str) -> None:
    """Vertex numbers up to the greatest that there may be, without arrays of their number."""
    chunks, n, right = SMALL[name]
    found = stream(chunks, n, device=any_device)
    assert found.edge_ids.tolist() == right
    assert found.n_components == n - len(right)


def test_a_tenth_of_the_graph(any_device: Device) -> None:
    """The limit is a tenth of what the arrays of the edges take, ids left out."""
    edges = random_edges(200, 200_000, n_weights=1000, dtype="float32")
    limit = (200_000 * (4 + 4 + 4)) // 10
    found = stream(cut(edges, 30_000), 200, device=any_device, memory_limit=limit)
    assert_forest(found, edges, 200)
    assert found.stats["edges_filtered"] > 100_000
    assert found.stats["reductions"] > 1


def test_parts_of_a_road_map(any_device: Device) -> None:
    """Many of them touch few vertices; each is reduced by itself."""
    graph = clmst.generate("road", n=3000, seed=1)
    n, chunks = graph.n_vertices, [tuple(c[k::40] for c in graph.edges()) for k in range(40)]
    found = stream(chunks, n, device=any_device, memory_limit=limit_for(any_device, n, n + 500))
    assert found == clmst.kruskal(graph)


# ------------------------------------------------------------------------ bad input

GOOD = ([0, 1], [1, 2], np.array([1.0, 2.0]))


BAD: list[tuple[Any, str, dict[str, Any]]] = [
    ([GOOD, ([0, 4], [1, 2], np.ones(2))], "^chunk 1: u of row 1 is 4; it must be from 0", {}),
    ([GOOD, ([0, 1], [1, -1], np.ones(2))], "^chunk 1: v of row 1 is -1", {}),
    ([GOOD, GOOD, ([0], [1], np.array([np.nan]))], r"^chunk 2: the weight of row 0 \(0, 1\)", {}),
    ([GOOD, ([0], [1, 2], np.ones(2))], r"^chunk 1: the shapes are u \(1,\), v \(2,\)", {}),
    ([GOOD, ([0], [1], np.ones(1, np.float32))], "^chunk 1: .* float32 after float64; all", {}),
    ([GOOD, ([0.5], [1], np.ones(1))], "^chunk 1: u has dtype float64", {}),
    ([GOOD, 7], "^chunk 1 is 7; it must be", {}),
    ([GOOD, (*GOOD, [0, 1], 7)], "^chunk 1 is .*; it must be", {}),
    ([GOOD, ([0],)], "^chunk 1 is .*; it must be", {}),
    ([GOOD, (1, 2, 3)], r"^chunk 1: the shapes are u \(\)", {}),
    ([(*GOOD, [3, 3])], "^chunk 0: edge id 3 comes before 3; ids must rise", {}),
    ([(*GOOD, [-1, 3])], "^chunk 0: edge ids go from -1 to 3", {}),
    ([(*GOOD, [0.5, 1])], "^chunk 0: .* dtype float64", {}),
    ([(*GOOD, [0])], r"^chunk 0: the shapes are .* edge ids \(1,\)", {}),
    ([(*GOOD, [1, 2]), ([2], [3], np.array([0.0]), [2])], "two edges have the id 2", {}),
    (5, "chunks is 5; it must be an iterable", {}),
    (iter([GOOD]), "n_vertices is missing, and an iterator", {"n_vertices": None}),
    ([([0], [2**40])], "the graph has 1099511627777 vertices", {"n_vertices": None}),
    ([GOOD], "n_vertices is -1", {"n_vertices": -1}),
    ([GOOD], "2\\*\\*32 - 2 = 4294967294, in a stream", {"n_vertices": 2**32 - 1}),
    ([GOOD], "memory_limit is 0", {"memory_limit": 0}),
    ([GOOD], "on_progress is 3", {"on_progress": 3}),
    ([GOOD], "the stream has 2 edges, not 3", {"n_edges": 3}),
]


@pytest.mark.parametrize(("chunks", "message", "given"), BAD)
def test_bad_input_is_named(chunks: Any, message: str, given: dict[str, Any]) -> None:
    with pytest.raises((InvalidGraphError, InvalidArgumentError), match=message):
        stream(chunks, **{"n_vertices": 4, **given})


@by_device
@pytest.mark.parametrize("of_caller", [OSError(5, "the disk is gone"), KeyError(1), MemoryError()])
def test_errors_of_the_callers_iterator_and_progress_pass(way: Way, of_caller: Exception) -> None:
    """They are neither wrapped nor replaced, as in `solve_many`."""

    def chunks() -> Iterator[Any]:
        yield [0], [1], [5]
        raise of_caller

    def progress(_: object) -> None:
        raise of_caller

    with pytest.raises(type(of_caller)) as error:
        stream(chunks(), 4, device=way.device)
    assert error.value is of_caller
    with pytest.raises(type(of_caller)) as error:
        stream([GOOD], 4, device=way.device, on_progress=progress)
    assert error.value is of_caller


@by_device
def test_the_first_error_is_raised(way: Way) -> None:
    """Rows that the device has not seen yet come before what the host sees at once."""
    good, bad = ([0, 1], [1, 2], [1.0, 2.0]), ([0, 9], [1, 2], [1.0, 2.0])

    def ends_in_an_error() -> Iterator[Any]:
        yield from (good, bad)
        raise OSError("the disk is gone")

    later: list[Any] = [7, ([0.5], [1], [1.0]), ([0], [1], [1]), ([0], [1, 2], [1.0])]
    for chunks in (*([good, bad, one] for one in later), ends_in_an_error()):
        with pytest.raises(InvalidGraphError, match=r"^chunk 1: u of row 1 is 9; it must"):
            stream(chunks, 4, device=way.device)
    for one in later:
        with pytest.raises(InvalidGraphError, match=r"^chunk 2"):
            stream([good, good, one], 4, device=way.device)


def test_a_limit_below_the_forest(any_device: Device) -> None:
    limit = limit_for(any_device, N, N // 2)
    with pytest.raises(OutOfDeviceMemoryError, match="the memory limit must be greater"):
        stream(cut(EDGES, 99), N, device=any_device, memory_limit=limit)


# -------------------------------------------------------------- on the host, or on the device


def test_numbers_of_32_bits_with_a_sign_where_all_bits_may_be_a_vertex() -> None:
    """Of a graph of more than 2**31 vertices, -5 is not vertex 2**32 - 5."""
    for dtype, n, is_wide in (
        ("i4", 2**31, False), ("i4", 2**31 + 1, True), ("u4", 2**32 - 2, False), ("i8", 5, True),
    ):  # fmt: skip
        ends = np.array([0, 5], dtype)
        one = rows.StreamPiece(chunk="", first_row=0, u=ends, v=ends, weights=ends, edge_ids=None)
        assert one.is_wide(n) == is_wide


@by_device
@pytest.mark.parametrize("open_from", [0, 3000])
def test_the_arrays_of_a_chunk_may_change_before_the_next(way: Way, open_from: int) -> None:
    """Plain arrays and pinned ones that the iterator fills again and again."""
    for make in (np.empty, lambda size, dtype: pinned(way.device, size, dtype)):
        own = [make(ROWS, column.dtype) for column in EDGES]
        assert is_pinned(own[0][3:9]) == (make is not np.empty)

        def chunks(own: list[Array] = own) -> Iterator[Any]:
            for k, some in enumerate(cut(EDGES, ROWS)):
                for piece in cut(some, some[0].size if k % 2 else some[0].size // 30):
                    for column, values in zip(own, piece, strict=True):
                        column[: values.size] = values
                    yield tuple(column[: piece[0].size] for column in own)
                    for column in own:
                        column[:] = 0

        with bounds(stream_opens_from=open_from):
            found = stream(chunks(), N, device=way.device, memory_limit=way.limit)
        assert_forest(found, EDGES, N)
        assert (found.stats["edges_on_device"] > M - N) == (open_from == 0)


@by_device
def test_who_has_the_edges(way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host solves few edges, and streams with a small limit or an untrusted device.

    What waits on the host comes first: it goes to the device, which gives all back where it has no
    space.
    """
    chunks, small = [*cut(EDGES, 500)], limit_for(way.device, N, N + N // 8)

    def n_on_device(open_from: int, limit: int | None = None, device: Device = way.device) -> int:
        with bounds(stream_opens_from=open_from):
            found = stream(chunks, N, device=device, memory_limit=limit)
        assert_forest(found, EDGES, N)
        n: int = found.stats["edges_on_device"]
        return n

    assert n_on_device(0, small) == 0
    assert n_on_device(2500) == M - 2000
    assert 0 < n_on_device(4000, 2 * way.limit) < M
    for number in (0, 3):  # of the buffers of a device that is to take the edges
        with monkeypatch.context() as patch:
            fault = inject(patch, "allocate", way.device)
            fault.arm(number)
            assert n_on_device(4000, 2 * way.limit) == 0
            fault.disarm()
    many = stream([EDGES], N * M + 1, device=way.device)  # vertices
    assert many.stats["edges_on_device"] == 0
    use_own_cache(monkeypatch, tmp_path / "cache")
    wrong = Device(way.device.cl_device)
    case = str(case_of(EDGES[2].dtype, maximum=False))
    wrong.trust.store.keep(Verdict(family=EDGE_STREAM.name, case=case, reason="it is wrong"))
    assert n_on_device(0, device=wrong) == 0
