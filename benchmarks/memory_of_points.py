"""Memory that trees and clusters of points take: the most that a process holds, a process each.

    python -m benchmarks.memory_of_points 1e6 3e6 1e7 [--dimensions 2] [--what tree]

Points are uniform. What is counted is the resident memory at its peak, less what the process held
right before the call: that is the interpreter, the driver, compiled kernels and the points
themselves. A small call goes before. On CPUs the memory of the device is in it; on GPUs it is not.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.options import Experiment
from clmst.bench.harness import wall_and_processor_seconds
from clmst.cluster import HDBSCAN, single_linkage

CALLS: dict[str, Callable[[Any], Any]] = {
    "tree": lambda X: clmst.minimum_spanning_forest(clmst.Points(X)),
    "linkage": single_linkage,
    "hdbscan": lambda X: HDBSCAN(10).fit(X),
}


def row_of(what: str, n: int, dimensions: int) -> str:
    """Return the row of one call, made in this process, which must be a fresh one."""
    rng = np.random.default_rng(0)
    CALLS[what](rng.random((2000, dimensions)))
    X = rng.random((n, dimensions))
    resident_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    before = resident_pages * resource.getpagesize()
    result, _, seconds = wall_and_processor_seconds(lambda: CALLS[what](X))
    most = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del result
    return (
        f"| {what} | {n:,} | {dimensions} | {most / 1e6:,.0f} | {(most - before) / n:.0f} "
        f"| {seconds:.1f} |"
    )


@click.command(cls=Experiment)
@click.argument("numbers", nargs=-1, required=True, type=float)
@click.option("--dimensions", default=2, show_default=True)
@click.option("--what", multiple=True, type=click.Choice(list(CALLS)), default=list(CALLS))
@click.option("--here", is_flag=True, help="In this process, which then takes one call only.")
def main(numbers: tuple[float, ...], dimensions: int, what: tuple[str, ...], here: bool) -> None:
    """Measure memory that calls take."""
    if here:
        click.echo(row_of(what[0], int(numbers[0]), dimensions))
        return
    click.echo("| what | points | dimensions | MB in all | bytes a point | processor, s |")
    click.echo("|---|--:|--:|--:|--:|--:|")
    for name in what:
        for number in numbers:
            options = ["--what", name, "--dimensions", str(dimensions), "--here"]
            command = [sys.executable, "-m", "benchmarks.memory_of_points", str(number), *options]
            click.echo(
                subprocess.run(command, check=True, capture_output=True, text=True).stdout, nl=False
            )


if __name__ == "__main__":
    main()
