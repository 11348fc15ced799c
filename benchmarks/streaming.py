"""Time streams beside solves of whole graphs, and streams in which a worker process is killed.

    python -m benchmarks streaming chunks [--graph patents] [--chunks 8]
    python -m benchmarks streaming parquet [--rows 100000000] [--vertices 1000000] [--files 16]
    python -m benchmarks streaming limits [--rows 40000000] [--vertices 1000000]

A stream solves a graph that does not have to fit into memory. It collects edges and then reduces
them, that is, replaces them by their forest. With less memory, it makes several passes over all
edges.

`chunks` times solves of edge arrays, with the edges in random order: as a whole, in chunks, and in
chunks with so little memory that there are several passes. `parquet` streams Parquet files in this
process, and through a Dask cluster of two workers, one of which is killed while it has a task.
`limits` finds the best number of edges to collect before they are reduced. Every forest is compared
before any time is printed.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Cases, Row, Rows, Run, case
from benchmarks.timing import wall_and_processor_seconds
from clmst.bench.harness import CLOCKS
from clmst.scale import capacity

# Environment variables for the workers of Dask. By default, Dask lets malloc return free memory to
# the system immediately, so that each large array costs page faults. With these settings malloc
# keeps it. 32 MiB is the maximum that the GNU C library accepts as MALLOC_MMAP_THRESHOLD_.
KEEP_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": 32 << 20, "MALLOC_TRIM_THRESHOLD_": 1 << 32,
    "ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": 1,
}  # fmt: skip

LEAST_BYTES_A_VERTEX = 36  # enough for passes with weights of 32 bits, and chunks beside them

Times = tuple[float, float]  # elapsed seconds, and seconds of all processors


def timed(call: Callable[[], Any]) -> tuple[Any, Times]:
    """Call a function once, and return its result and its times.

    The times are a pair: wall seconds and processor seconds.
    """
    result, wall, cpu = wall_and_processor_seconds(call)
    return result, (wall, cpu)


def check(found: clmst.Forest, right: clmst.Forest, name: str) -> None:
    """Raise ClickException unless a forest is equal to the right one. `name` begins the message."""
    if found != right:
        raise click.ClickException(f"{name}: another forest; it must be that of the whole graph")


def limit_for(n: int, m: int, dtype: Any) -> int:
    """Return the memory limit, in bytes, with which a stream collects `m` edges at a time.

    It then replaces these edges by their forest. `n` is the number of vertices, and `dtype` the
    dtype of the weights.
    """
    return capacity.bytes_of_reduction(clmst.get_device(), n, m, np.dtype(dtype))


@click.group(cls=Cases)
def main() -> None:
    """Time streams."""


def pair_of(seconds: Times) -> Row:
    """Return the columns of a table row for the wall time and the processor time."""
    return {"elapsed s": seconds[0], "processor s": seconds[1]}


@main.add_command
@case(
    click.option("--graph", "name", default="patents", show_default=True),
    click.option("--chunks", "n_chunks", default=8, show_default=True),
    repetitions=3,
)
def chunks(run: Run, name: str, n_chunks: int) -> Rows:
    """Time solves of a surrogate graph as a whole and in chunks.

    A surrogate graph is generated in place of a real one.
    """
    from clmst.generators import surrogates

    u, v, w, _ = surrogates.find(name).build().edges()
    order = np.random.default_rng(0).permutation(u.size)
    u, v, w = u[order], v[order], w[order]
    n, m = int(max(u.max(), v.max())) + 1, u.size
    columns: list[Any] = [np.array_split(column, n_chunks) for column in (u, v, w)]
    pieces = list(zip(*columns, strict=True))
    graph = clmst.Graph.from_edges(u, v, w, n)
    limit, least = limit_for(n, n + m // n_chunks, w.dtype), LEAST_BYTES_A_VERTEX * n
    stream = partial(clmst.stream_minimum_spanning_forest, device=run.device)
    solve = partial(clmst.minimum_spanning_forest, device=run.device)
    ways: dict[str, Callable[[], clmst.Forest]] = {
        "whole, from edge arrays": lambda: solve(clmst.Graph.from_edges(u, v, w, n)),
        "whole, a Graph that is made": lambda: solve(graph),
        f"{n_chunks} chunks, no limit": lambda: stream(pieces, n),
        f"{n_chunks} chunks, {limit / 1e6:.0f} MB": lambda: stream(pieces, n, memory_limit=limit),
        f"{n_chunks} chunks, {least / 1e6:.0f} MB": lambda: stream(pieces, n, memory_limit=least),
    }
    warnings.simplefilter("ignore", clmst.StreamedWarning)
    right: dict[str, Any] = {}
    for way, call in ways.items():  # which warms up
        right[way] = call()
        check(right[way], right["whole, from edge arrays"], way)
    times = run.turns(ways, warm_ups=0)
    base = run.of(times["whole, from edge arrays"])
    for way, ms in times.items():
        stats = {"passes": 1, "reductions": 1, **right[way].stats}
        row: Row = {"way": way, "passes": stats["passes"], "solves": stats["reductions"]}
        yield row | {"ms": ms, "to the first": run.of(ms) / base}


def write_files(folder: Path, rows: int, n: int, files: int) -> None:
    """Write `rows` random edges among `n` vertices to Parquet files, whose number is `files`."""
    import pyarrow
    from pyarrow import parquet

    for k in range(files):
        random, m = np.random.default_rng(k), rows // files
        columns = {
            "u": random.integers(0, n, m, dtype=np.uint32),
            "v": random.integers(0, n, m, dtype=np.uint32),
            "w": random.random(m, dtype=np.float32),
        }
        path = folder / f"part-{k:04}.parquet"
        parquet.write_table(pyarrow.table(columns), path, compression="none", use_dictionary=False)


def warm_up() -> None:
    """Solve a tiny stream, so that a worker opens its device."""
    clmst.stream_minimum_spanning_forest([([0], [1], np.ones(1, np.float32))], 2)


def kill_one_at_work(client: Any, processes: dict[str, int]) -> None:
    """Kill the process of a Dask worker that has a task. If no worker has a task, do nothing.

    `client` is connected to the cluster. `processes` has the process id of each worker.
    """
    at_work = [worker for worker, tasks in client.processing().items() if tasks]
    for worker in at_work[:1]:
        os.kill(processes[worker], signal.SIGKILL)


@main.add_command
@case(
    click.option("--rows", default=100_000_000, show_default=True),
    click.option("--vertices", "n", default=1_000_000, show_default=True),
    click.option("--files", default=16, show_default=True),
    click.option("--folder", "at", type=click.Path(path_type=Path), help="Where the files are."),
    repetitions=1,
)
def parquet(run: Run, rows: int, n: int, files: int, at: Path | None) -> Rows:
    """Stream Parquet files, in this process and by two worker processes.

    The workers are timed twice. The second time one of them is killed while it has a task. Times
    are minima.
    """
    with tempfile.TemporaryDirectory(prefix="clmst-streaming-", dir=at) as name:
        folder = Path(name) / "edges"
        folder.mkdir()
        write_files(folder, rows, n, files)
        warm_up()
        seconds: dict[str, list[Times]] = {}
        for _ in range(run.repetitions):
            right, times = timed(partial(_streamed, folder, n))
            seconds.setdefault("this process", []).append(times)
            kill_after = None
            for kills in (0, 1):
                forest, times = _by_workers(folder, n, kill_after)
                check(forest, right, f"{kills} workers killed")
                seconds.setdefault(f"two workers, {kills} killed", []).append(times)
                kill_after = times[0] / 2
    here = min(wall for wall, _ in seconds["this process"])
    for by, turns in seconds.items():
        least = min(wall for wall, _ in turns), min(cpu for _, cpu in turns)
        row = {"by": by, **pair_of(least), "million edges a second": rows / least[0] / 1e6}
        yield row | {"to this process": least[0] / here}


def _by_workers(folder: Path, n: int, kill_after: float | None) -> tuple[clmst.Forest, Times]:
    """Solve with two worker processes of Dask, and return the forest and the times.

    One worker is killed after `kill_after` seconds, unless that is None. The processor time is
    summed over the processes of the cluster, without a killed worker.
    """
    dask: Any = import_module("dask")
    distributed: Any = import_module("distributed")
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": KEEP_MEMORY}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(warm_up)
        before = sum(client.run(CLOCKS["cpu"]).values())
        processes = client.run(os.getpid)
        killer = threading.Timer(kill_after or 0, kill_one_at_work, (client, processes))
        if kill_after is not None:
            killer.start()
        forest, (wall, cpu) = timed(partial(clmst.dask.minimum_spanning_forest, folder, n))
        client.wait_for_workers(2)
        lost = set(processes.values()) - set(client.run(os.getpid).values())
        if len(lost) != (kill_after is not None):
            raise click.ClickException(f"{len(lost)} workers were killed, while they had a task")
        cpu += sum(client.run(CLOCKS["cpu"]).values()) - before
    return forest, (wall, cpu)


@main.add_command
@case(
    click.option("--rows", default=40_000_000, show_default=True),
    click.option("--vertices", "n", default=1_000_000, show_default=True),
    repetitions=1,
)
def limits(run: Run, rows: int, n: int) -> Rows:
    """Stream Parquet files with several memory limits.

    The limit decides how many edges are collected before they are reduced to their forest.
    """
    del run
    warm_up()
    with tempfile.TemporaryDirectory(prefix="clmst-streaming-") as folder:
        write_files(Path(folder), rows, n, 4)
        right = None
        for factor in (2, 3, 4, 6):
            limit = limit_for(n, factor * n, np.float32)
            forest, seconds = timed(partial(_streamed, Path(folder), n, memory_limit=limit))
            right = right or forest
            check(forest, right, f"{factor} edges a vertex")
            done = {"reductions": forest.stats["reductions"]}
            done["filtered"] = forest.stats["edges_filtered"]
            yield {"edges of a reduction, a vertex": factor, **done, **pair_of(seconds)}


def _streamed(folder: Path, n: int, **options: Any) -> clmst.Forest:
    return clmst.stream_minimum_spanning_forest(folder, n, columns=("u", "v", "w"), **options)
