"""Resident memory: of trees and clusters of points, and over many rounds of a solver.

    python -m benchmarks memory points 1e6 3e6 1e7 [--dimensions 2] [--what tree]
    python -m benchmarks memory rounds --algorithm pma --vertices 100000 --rounds 200

``points``: points are uniform; a process each. What is counted is the resident memory at its peak,
less what the process held right before the call: that is the interpreter, the driver, compiled
kernels and the points themselves. A small call goes before. On CPUs the memory of the device is in
it; on GPUs it is not. ``rounds`` prints the memory after 1, 2, 5, 10, ... rounds of a
`RepeatedSolver`, each of other weights: whether it goes on growing.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Cases, Rows, Run, case
from benchmarks.timing import wall_and_processor_seconds
from clmst.cluster import HDBSCAN, single_linkage

CALLS: dict[str, Callable[[Any], Any]] = {
    "tree": lambda X: clmst.minimum_spanning_forest(clmst.Points(X)),
    "linkage": single_linkage,
    "hdbscan": lambda X: HDBSCAN(10).fit(X),
}


def resident_bytes() -> int:
    """Return the memory of this process that is resident now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


@click.group(cls=Cases)
def main() -> None:
    """Measure resident memory."""


@main.add_command
@case(
    click.argument("numbers", nargs=-1, required=True, type=float),
    click.option("--dimensions", default=2, show_default=True),
    click.option("--what", multiple=True, type=click.Choice(list(CALLS)), default=list(CALLS)),
    repetitions=1,
)
def points(run: Run, numbers: tuple[float, ...], dimensions: int, what: tuple[str, ...]) -> Rows:
    """Measure the memory that calls take; a process each."""
    del run
    for name in what:
        for number in numbers:
            command = [sys.executable, "-m", "benchmarks", "memory", "call", name]
            command += [str(int(number)), str(dimensions)]
            yield json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


@main.command(hidden=True)
@click.argument("what", type=click.Choice(list(CALLS)))
@click.argument("n", type=int)
@click.argument("dimensions", type=int)
def call(what: str, n: int, dimensions: int) -> None:
    """Print the row of one call, made in this process."""
    rng = np.random.default_rng(0)
    CALLS[what](rng.random((2000, dimensions)))
    X = rng.random((n, dimensions))
    before = resident_bytes()
    result, _, seconds = wall_and_processor_seconds(lambda: CALLS[what](X))
    most = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del result
    row = {"what": what, "points": n, "dimensions": dimensions, "MB in all": round(most / 1e6)}
    row |= {"bytes a point": round((most - before) / n), "processor, s": seconds}
    click.echo(json.dumps(row))


@main.add_command
@case(
    click.option("--algorithm", default="auto", show_default=True),
    click.option("--vertices", default=20_000, show_default=True),
    click.option("--rounds", "n_rounds", default=2000, show_default=True),
    repetitions=1,
)
def rounds(run: Run, algorithm: str, vertices: int, n_rounds: int) -> Rows:
    """Print the memory of this process after rounds of a solver."""
    graph = clmst.generate("random", n=vertices, average_degree=8.0, seed=1)
    solver = clmst.RepeatedSolver(graph, devices=run.device, algorithm=algorithm)
    shown = {step * 10**power for step in (1, 2, 5) for power in range(7)} | {n_rounds}
    rng = np.random.default_rng(0)
    for k in range(1, n_rounds + 1):
        forest = solver.solve(rng.random(graph.n_edges))
        if forest.edges.shape[0] and k in shown:
            yield {"rounds": k, "MiB": f"{resident_bytes() / 2**20:.1f}"}
