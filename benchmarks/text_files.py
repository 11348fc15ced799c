"""How quickly text files are read, and how much memory that takes.

    python -m benchmarks.text_files --edges 10000000

Each file is read in a process of its own, which has read a small one before: so libraries are
loaded. Memory is what the process grows by at its peak, as a multiple of the graph's three arrays.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import clmst
from clmst.bench.harness import CLOCKS
from clmst.io import file_edges, numbers, write_graph

_SCATTERED = ".scattered.gr"  # arcs in random order, so that opposite ones stand apart
FORMATS = (".gr", _SCATTERED, ".txt", ".mtx", ".csv", ".graph", ".egr")
_WARM_VERTICES = 20_000


def write(folder: Path, name: str, edges: int) -> None:
    """Write a random graph in every format; the edges of an edge list are in no order."""
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
    """Return seconds and memory of reading one file in this process."""
    if own:
        numbers.ARROW_BYTES = 1 << 62  # no block is that long
    clmst.read_graph(folder / f"small{suffix}")
    path = folder / f"large{suffix}"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = {name: clock() for name, clock in CLOCKS.items()}
    graph = clmst.read_graph(path)
    seconds, used = (CLOCKS[name]() - start[name] for name in ("wall", "cpu"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arrays = graph.indptr.nbytes + graph.indices.nbytes + graph.weights.nbytes
    size = path.stat().st_size / 1e6
    return {
        "megabytes": round(size),
        "seconds": round(seconds, 2),
        "processor_seconds": round(used, 2),
        "megabytes_a_processor_second": round(size / used),
        "memory_by_arrays": round((peak - before) * 1024 / arrays, 2),
    }


def main() -> None:
    """Write the files, read each in a new process, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--write", metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument("--child", nargs=3, metavar=("FOLDER", "SUFFIX", "PARSER"))
    options = parser.parse_args()
    if options.child:
        folder, suffix, parser_name = options.child
        print(json.dumps(read(Path(folder), suffix, own=parser_name == "own")))
        return
    if options.write:
        write(Path(options.write), "small", _WARM_VERTICES * 5)
        write(Path(options.write), "large", options.edges)
        return
    module = [sys.executable, "-m", "benchmarks.text_files"]
    with tempfile.TemporaryDirectory(prefix="clmst-text-") as name:
        # Not in this process: a child's peak begins with what its parent has.
        subprocess.run([*module, "--edges", str(options.edges), "--write", name], check=True)
        for suffix in FORMATS:
            for parser_name in ("pyarrow", "own") if suffix not in (".graph", ".egr") else ("own",):
                command = [*module, "--child", name, suffix, parser_name]
                done = subprocess.run(
                    command, capture_output=True, text=True, check=True, env=os.environ
                )
                print(suffix, parser_name, done.stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
