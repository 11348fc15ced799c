"""How fast a stream takes edges from the host's memory, and what holds it back.

    python -m benchmarks.stream_rates [--rows 2e8] [--vertices 1e6] [--device NAME]
        [--folder /dev/shm] [--repetitions 3]

Random edges of 12 bytes: two vertex numbers and a weight of 32 bits. Rates are those of the bus (a
copy from pinned memory to the device), of the stream from pinned memory, from `.npy` files and, if
pyarrow is installed, from Parquet files, and of steps of the stream by themselves: reading the
files, checking the edges, and filtering them by a forest, on one core of the host. All forests are
compared. A table in Markdown goes to standard output.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.options import Experiment, device_option
from benchmarks.streaming import check, write_files
from clmst.bench.harness import seconds_of
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.scale.cycle_filter import CycleFilter, without_loops
from clmst.scale.edge_part import EdgePart
from clmst.scale.reduce import reduce
from clmst.scale.source import open_source

_EDGE_BYTES = 12
_CHUNK = 1 << 24  # edges
_FILES = 8
_COLUMNS = ("u", "v", "w")


def pinned(device: Device, n_bytes: int) -> Array:
    """Return an array of bytes in memory that the device's driver has pinned."""
    import pyopencl as cl

    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
    buffer = cl.Buffer(device.queue.context, flags, n_bytes)
    access = cl.map_flags.READ | cl.map_flags.WRITE
    enqueue_map: Any = cl.enqueue_map_buffer  # whose stubs know no flags put together
    array: Array = enqueue_map(device.queue, buffer, access, 0, (n_bytes,), np.uint8)[0]
    return array


def bus_seconds(device: Device, memory: Array) -> float:
    """Return how long the device takes to copy pinned memory."""
    import pyopencl as cl

    copied = cl.Buffer(device.queue.context, cl.mem_flags.READ_WRITE, memory.nbytes)

    def copy() -> None:
        cl.enqueue_copy(device.queue, copied, memory, is_blocking=False)
        device.queue.finish()

    return seconds_of(copy)


class _Edges:
    """Random edges in pinned memory, and what the stream does with them."""

    def __init__(self, device: Device, rows: int, n: int) -> None:
        self.device, self.rows, self.n = device, rows, n
        self.memory = pinned(device, rows * _EDGE_BYTES)
        u, v, w = (self.memory.view(np.uint32)[k * rows : (k + 1) * rows] for k in range(3))
        self.columns = u, v, w.view(np.float32)
        for begin in range(0, rows, _CHUNK):
            some, random = slice(begin, begin + _CHUNK), np.random.default_rng(begin)
            size = u[some].size
            u[some], v[some] = random.integers(0, n, (2, size), dtype=np.uint32)
            self.columns[2][some] = random.random(size, dtype=np.float32)

    def chunks(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the edges, a chunk at a time."""
        for begin in range(0, self.rows, _CHUNK):
            some = slice(begin, begin + _CHUNK)
            u, v, w = self.columns
            yield u[some], v[some], w[some]

    def stream(self, source: Any) -> clmst.Forest:
        """Return the forest of a stream."""
        return clmst.stream_minimum_spanning_forest(
            source, self.n, device=self.device, columns=_COLUMNS
        )

    def part(self) -> EdgePart:
        """Return the first chunk, checked."""
        u, v, w = next(self.chunks())
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
    """Read files as a stream does, and look at nothing."""
    for piece in open_source(folder, _COLUMNS).pieces:
        for column in (piece.u, piece.v, piece.weights):
            np.ascontiguousarray(column).max()


@click.command(cls=Experiment)
@click.option("--rows", default=2e8, show_default=True)
@click.option("--vertices", default=1e6, show_default=True)
@click.option("--folder", "at", default="/dev/shm", show_default=True)
@click.option("--repetitions", default=3, show_default=True)
@device_option
def main(rows: float, vertices: float, at: str, repetitions: int, device: str | None) -> None:
    """Time the bus, streams and their steps."""
    found = clmst.get_device(device)
    edges = _Edges(found, int(rows), int(vertices))
    first = edges.part()
    forest = reduce([first], n_vertices=edges.n, device=found)
    known = CycleFilter(forest, edges.n, maximum=False)
    right = edges.stream(edges.chunks())
    all_rows, some_rows = edges.rows, first.size
    ways: dict[str, tuple[int, Callable[[], object]]] = {
        "stream from pinned memory": (all_rows, lambda: edges.stream(edges.chunks())),
        "check of edges, one core": (some_rows, lambda: without_loops(edges.part())),
        "filter, one core": (some_rows, lambda: known.kept(first)),
    }
    with tempfile.TemporaryDirectory(prefix="clmst-rates-", dir=at) as name:
        npy, parquet = Path(name) / "npy", Path(name) / "parquet"
        edges.write_npy(npy)
        check(edges.stream(npy), right, "from .npy files")
        ways["stream from .npy files"] = (all_rows, lambda: edges.stream(npy))
        ways["reading .npy files"] = (all_rows, lambda: read_through(npy))
        if find_spec("pyarrow"):
            parquet.mkdir()
            write_files(parquet, edges.rows, edges.n, _FILES)
            ways["stream from Parquet files"] = (all_rows, lambda: edges.stream(parquet))
            ways["reading Parquet files"] = (all_rows, lambda: read_through(parquet))
        bus = min(bus_seconds(found, edges.memory) for _ in range(repetitions + 1))
        seconds = {
            way: min(seconds_of(call) for _ in range(repetitions))
            for way, (_, call) in ways.items()
        }
    print(
        f"{found.description}: {all_rows:,} edges, {edges.n:,} vertices, least of {repetitions}\n"
    )
    print("| what | million edges a second | GB/s | to the bus |\n|---|--:|--:|--:|")
    per_second = all_rows / bus
    rates = {"copy from pinned memory to the device": per_second}
    rates |= {way: count / seconds[way] for way, (count, _) in ways.items()}
    for way, rate in rates.items():
        row = f"| {way} | {rate / 1e6:,.1f} | {rate * _EDGE_BYTES / 1e9:.2f} "
        print(f"{row}| {rate / per_second:.3f} |")


if __name__ == "__main__":
    main()
