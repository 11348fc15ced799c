"""Measure how fast a stream takes edges from the memory of the host, and what limits it.

    python -m benchmarks stream_rates [--rows 2e8] [--vertices 1e6] [--folder /dev/shm]
        [--without-files] [--chunk 16777216] [--block EDGES] [--blocks NUMBER] [--checked 2e6]

Edges are random and take 12 bytes: two vertex numbers and a weight of 32 bits. The rate of the bus
is the rate of a copy from pinned memory to the device. The rate of a stream is measured from pinned
memory, from ordinary memory, from `.npy` files and, if pyarrow is installed, from Parquet files.
Two steps of a stream are also timed on one core of the host, which does them if the device does
not: the check of edges and the filter. --without-files measures only the bus and the streams from
memory.

All forests are compared with one another. The forest of the first --checked edges is also compared
with Kruskal's algorithm on the host. Edges are copied to the device in blocks. --block is the
number of edges in a block, and --blocks the number of blocks that are in use at the same time. The
table is printed in Markdown.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Row, Rows, Run, case
from benchmarks.several_gpus import pinned_bytes
from benchmarks.streaming import check, write_files
from benchmarks.timing import seconds_of
from clmst.algorithms.edge_stream.edges import EdgePart
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.scale import sinks
from clmst.scale.host_reducer import CycleFilter, reduce, without_loops
from clmst.scale.source import EdgeSource

_EDGE_BYTES = 12
_AT_ONCE = 1 << 24  # number of edges that are made at a time
_FILES = 8
_COLUMNS = ("u", "v", "w")
Way = tuple[int, Callable[[], object]]


def bus_seconds(device: Device, memory: Array) -> float:
    """Return the seconds that a copy of `memory`, which is pinned, to the device takes."""
    import pyopencl as cl

    copied = cl.Buffer(device.queue.context, cl.mem_flags.READ_WRITE, memory.nbytes)

    def copy() -> None:
        cl.enqueue_copy(device.queue, copied, memory, is_blocking=False)
        device.queue.finish()

    return seconds_of(copy)


class _Edges:
    """Random edges in pinned memory, which a device can read directly, and streams of them.

    There are `rows` edges among `n` vertices. A stream gets `chunk` edges at a time.
    """

    def __init__(self, device: Device, rows: int, n: int, chunk: int) -> None:
        self.device, self.rows, self.n, self.chunk = device, rows, n, chunk
        self.memory = pinned_bytes(device, rows * _EDGE_BYTES)
        u, v, w = (self.memory.view(np.uint32)[k * rows : (k + 1) * rows] for k in range(3))
        self.columns = u, v, w.view(np.float32)
        for begin in range(0, rows, _AT_ONCE):
            some, random = slice(begin, begin + _AT_ONCE), np.random.default_rng(begin)
            size = u[some].size
            u[some], v[some] = random.integers(0, n, (2, size), dtype=np.uint32)
            self.columns[2][some] = random.random(size, dtype=np.float32)

    def chunks(self, *, pinned: bool) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the edges in chunks (u, v, weights), from pinned or from ordinary memory."""
        u, v, w = self.columns if pinned else self.ordinary
        for begin in range(0, self.rows, self.chunk):
            some = slice(begin, begin + self.chunk)
            yield u[some], v[some], w[some]

    @cached_property
    def ordinary(self) -> tuple[Array, Array, Array]:
        """A copy of the edges in memory that is not pinned."""
        u, v, w = (np.array(column) for column in self.columns)
        return u, v, w

    def stream(self, source: Any) -> clmst.Forest:
        """Solve a stream of edges on the device and return the forest.

        `source` is an iterable of chunks of edges, or a folder of files.
        """
        return clmst.stream_minimum_spanning_forest(
            source, self.n, device=self.device, columns=_COLUMNS
        )

    def part(self) -> EdgePart:
        """Return the first chunk of edges, checked on the host."""
        u, v, w = next(self.chunks(pinned=True))
        return EdgePart.checked(u, v, w, 0, n_vertices=self.n, row=str)

    def write_npy(self, folder: Path) -> None:
        """Write the edges as files of structured arrays."""
        folder.mkdir()
        for k, rows in enumerate(np.array_split(np.arange(self.rows), _FILES)):
            some = slice(int(rows[0]), int(rows[-1]) + 1)
            array = np.empty(rows.size, [("u", "u4"), ("v", "u4"), ("w", "f4")])
            for name, column in zip(_COLUMNS, self.columns, strict=True):
                array[name] = column[some]
            np.save(folder / f"part-{k:04}.npy", array)


def read_through(folder: Path) -> None:
    """Read files as a stream does, and discard what is read."""
    for piece in EdgeSource.checked(folder, n_vertices=0, columns=_COLUMNS).pieces():
        for column in (piece.u, piece.v, piece.weights):
            np.ascontiguousarray(column).max()


def check_some(edges: _Edges, count: int) -> None:
    """Raise unless the stream of `count` edges finds the forest of the host, edge for edge."""
    u, v, w = (column[:count] for column in edges.columns)
    right = clmst.kruskal(clmst.Graph.from_edges(u, v, w, edges.n))
    check(edges.stream([(u, v, w)]), right, f"from {u.size} edges")


def ways_of_the_host(edges: _Edges) -> dict[str, Way]:
    """Return, by name, two steps that the host can do in place of the device.

    The first checks edges. The second filters out edges that cannot enter the forest. Each value of
    the dict is a number of edges and a function that does the step for these edges.
    """
    first = edges.part()
    forest = reduce([first], n_vertices=edges.n, device=edges.device)
    known = CycleFilter(forest, edges.n, maximum=False)
    return {
        "check of edges, one core": (first.size, lambda: without_loops(edges.part())),
        "filter, one core": (first.size, lambda: known.kept(first)),
    }


def ways_from_files(edges: _Edges, folder: Path, right: clmst.Forest) -> dict[str, Way]:
    """Write the edges to files, and return functions that stream the files or only read them.

    Each value of the dict is the number of edges and a function. `right` is the expected forest.
    """
    npy, parquet, rows = folder / "npy", folder / "parquet", edges.rows
    edges.write_npy(npy)
    check(edges.stream(npy), right, "from .npy files")
    ways: dict[str, Way] = {
        "stream from `.npy` files": (rows, lambda: edges.stream(npy)),
        "reading `.npy` files": (rows, lambda: read_through(npy)),
    }
    if find_spec("pyarrow"):
        parquet.mkdir()
        write_files(parquet, rows, edges.n, _FILES)
        ways["stream from Parquet files"] = (rows, lambda: edges.stream(parquet))
        ways["reading Parquet files"] = (rows, lambda: read_through(parquet))
    return ways


@case(
    click.option("--rows", default=2e8, show_default=True),
    click.option("--vertices", default=1e6, show_default=True),
    click.option("--folder", "at", default="/dev/shm", show_default=True),
    click.option("--without-files", is_flag=True),
    click.option("--chunk", default=1 << 24, show_default=True, help="Edges of a chunk."),
    click.option("--block", type=int, default=None, help="Edges of a block."),
    click.option("--blocks", default=sinks.BLOCKS, show_default=True),
    click.option("--checked", default=2e6, show_default=True),
    repetitions=3,
)
def main(
    run: Run, *, rows: float, vertices: float, at: str, without_files: bool, chunk: int,
    block: int | None, blocks: int, checked: float,
) -> Rows:  # fmt: skip
    """Time copies over the bus, streams of edges, and the steps of a stream.

    Rates are computed from minimum times.
    """
    sinks.BLOCKS = blocks
    if block is not None:
        sinks.ROWS[run.device.capabilities.kind] = block
    edges = _Edges(run.device, int(rows), int(vertices), chunk)
    check_some(edges, int(checked))
    right = edges.stream(edges.chunks(pinned=True))
    check(edges.stream(edges.chunks(pinned=False)), right, "from ordinary memory")
    ways: dict[str, Way] = {
        f"stream from {kind} memory": (edges.rows, partial(_streamed, edges, kind == "pinned"))
        for kind in ("pinned", "ordinary")
    }
    with tempfile.TemporaryDirectory(prefix="clmst-rates-", dir=at) as name:
        if not without_files:
            ways |= ways_of_the_host(edges) | ways_from_files(edges, Path(name), right)
        bus = min(bus_seconds(run.device, edges.memory) for _ in range(run.repetitions + 1))
        times = run.turns({way: call for way, (_, call) in ways.items()}, warm_ups=0)
    yield (
        f"{edges.rows:,} edges, {right.stats['edges_on_device']:,} of them checked and filtered by "
        f"the device, {edges.n:,} vertices, chunks of {chunk:,}, {right.stats['reductions']} "
        "reductions"
    )
    rates = {"copy from pinned memory to the device": edges.rows / bus}
    rates |= {way: 1e3 * count / min(times[way]) for way, (count, _) in ways.items()}
    for way, rate in rates.items():
        row: Row = {"what": way, "million edges a second": rate / 1e6}
        row |= {"GB/s": rate * _EDGE_BYTES / 1e9, "to the bus": rate * bus / edges.rows}
        yield row | {"_ms": times.get(way)}


def _streamed(edges: _Edges, pinned: bool) -> clmst.Forest:
    return edges.stream(edges.chunks(pinned=pinned))
