"""Measure how fast text files of graphs are read, and how much memory that takes.

    python -m benchmarks text_files --edges 10000000

Each file is read in a process of its own. The process has read a small file before, so that
libraries are loaded. The memory is the amount by which the peak memory of the process grows. It is
given as a multiple of the size of the graph's three arrays.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import numpy as np

import clmst
from benchmarks.runner import Cases, Run, show
from clmst.bench.harness import CLOCKS
from clmst.io import edge_text, file_edges, write_graph

_SCATTERED = ".scattered.gr"  # arcs in random order, so that opposite arcs are not adjacent
FORMATS = (".gr", _SCATTERED, ".txt", ".mtx", ".csv", ".graph", ".egr")
_WARM_VERTICES = 20_000


def write(folder: Path, name: str, edges: int) -> None:
    """Write a random graph with `edges` edges to `folder` in every format.

    The names of the files begin with `name`. The edges in the edge list (.txt) are not sorted.
    """
    rng = np.random.default_rng(1)
    n = max(edges // 5, 2)
    u, v, w = rng.integers(0, n, edges), rng.integers(0, n, edges), rng.integers(1, 10**6, edges)
    graph = clmst.Graph.from_edges(u, v, w, n_vertices=n)
    for suffix in FORMATS:
        if suffix == ".txt":
            with (folder / f"{name}{suffix}").open("wb") as file:
                file_edges.write_rows(file, "%d %d %r\n", u, v, w)
        elif suffix == _SCATTERED:
            with (folder / f"{name}{suffix}").open("wb") as file:
                file.write(b"p sp %d %d\n" % (n, 2 * edges))
                order = rng.permutation(2 * edges)
                ends = (np.concatenate([u, v])[order] + 1, np.concatenate([v, u])[order] + 1)
                file_edges.write_rows(file, "a %d %d %r\n", *ends, np.tile(w, 2)[order])
        else:
            write_graph(graph, folder / f"{name}{suffix}")


def read(folder: Path, suffix: str, *, own: bool) -> dict[str, float]:
    """Read one file in this process, and return the time and the memory that this takes.

    `folder` has the files and `suffix` is the format to read. If `own` is true, clmst's own parser
    reads the file instead of pyarrow.
    """
    if own:
        edge_text.ARROW_BYTES = 1 << 62  # longer than any block
    clmst.read_graph(folder / f"small{suffix}")
    path = folder / f"large{suffix}"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = {name: clock() for name, clock in CLOCKS.items()}
    graph = clmst.read_graph(path)
    seconds, used = (CLOCKS[name]() - start[name] for name in ("wall", "cpu"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arrays = graph.indptr.nbytes + graph.indices.nbytes + graph.weights.nbytes
    size = path.stat().st_size / 1e6
    row = {"megabytes": round(size), "seconds": round(seconds, 2)}
    row |= {"processor_seconds": round(used, 2), "megabytes_a_processor_second": round(size / used)}
    return row | {"memory_by_arrays": round((peak - before) * 1024 / arrays, 2)}


def own_process(*words: object) -> str:
    """Run a subcommand of this benchmark in a new process, and return its output.

    `words` are the name of the subcommand and its arguments. The help text does not list these
    subcommands, because they are only meant to be called from here.
    """
    command = [sys.executable, "-m", "benchmarks", "text_files", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@click.group(cls=Cases, invoke_without_command=True)
@click.option("--edges", default=10_000_000, show_default=True)
@click.pass_context
def main(context: click.Context, edges: int) -> None:
    """Write files, and read each in a new process."""
    if context.invoked_subcommand is not None:
        return
    with tempfile.TemporaryDirectory(prefix="clmst-text-") as folder:
        # The files are written in another process, because the peak memory of a child process
        # starts at the memory of its parent.
        own_process("write", folder, edges)
        rows = (
            {"file": suffix, "parser": way, **json.loads(own_process("read", folder, suffix, way))}
            for suffix in FORMATS
            for way in (("own",) if suffix in (".graph", ".egr") else ("pyarrow", "own"))
        )
        for _ in show(rows, Run(devices=())):
            pass


@main.command("write", hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("edges", type=int)
def write_files(folder: Path, edges: int) -> None:
    """Write a small file and a large file of each format."""
    write(folder, "small", _WARM_VERTICES * 5)
    write(folder, "large", edges)


@main.command("read", hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("suffix")
@click.argument("parser")
def read_file(folder: Path, suffix: str, parser: str) -> None:
    """Read a file in this process, and print the time and memory as JSON."""
    click.echo(json.dumps(read(folder, suffix, own=parser == "own")))
