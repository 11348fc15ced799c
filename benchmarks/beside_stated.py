"""Solves on the device beside times that others state: ``python -m benchmarks.beside_stated``.

    python -m benchmarks.beside_stated [NAME=FILE ...] [--device NAME] [--dtype float32]

Pull request 3118 of NVIDIA's RAFT, by ECL-MST's first author, states times on an H200 with weights
of 32-bit floating point. Ten of its graphs have a surrogate graph here, which is made unless a
file is given for it. 'Solve' leaves the forest as a flag a slot, which is what ECL-MST times; what
the stated times cover is not said. 'Forest' is the public call, with the forest on the device.
Every forest is proved before it is timed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import clmst
from benchmarks.options import Experiment, device_option, json_option, repetitions_option
from benchmarks.reweighted import load
from clmst.bench.agreement import Reference
from clmst.bench.contestants import finding_forest, solving
from clmst.bench.harness import Contestant, Harness
from clmst.bench.record import recorded
from clmst.bench.tables import digits
from clmst.core.errors import InvalidArgumentError

# What RAFT's pull request 3118 states for an H200, in ms.
STATED = {
    "internet": 0.296,
    "road_ny": 0.378,
    "rmat16": 0.537,
    "cit": 0.728,
    "amazon": 0.931,
    "grid20": 1.343,
    "copapers": 2.570,
    "patents": 6.450,
    "rmat22": 7.928,
    "road_usa": 10.166,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What a graph took, in milliseconds, and what is stated for the one that it stands for."""

    name: str
    n_slots: int
    stated: float
    solve: list[float]
    forest: list[float]

    @property
    def ratio(self) -> float:
        """Return how many times the stated time the median of the solves takes."""
        return self.stated / median(self.solve)


def measure(
    name: str, graph: clmst.Graph, device: clmst.Device, dtype: str, repetitions: int
) -> Point:
    """Prove the forest of a graph, and time its solves."""
    weighted = graph.replace(weights=graph.weights.astype(dtype))
    resident = clmst.to_device(weighted, device)
    proved = clmst.minimum_spanning_forest(resident, verify=True)
    reference = Reference(
        slots=np.asarray(proved.edge_ids), n_slots=weighted.n_slots,
        total_weight=proved.total_weight, how="proved",
    )  # fmt: skip
    ways = (
        solving(resident, "filter-boruvka", "solve"),
        finding_forest(resident, "filter-boruvka", "forest"),
    )
    every: list[Contestant[Any]] = [
        Contestant(name=one.name, call=one.call, difference=lambda of: of.difference(reference))
        for one in ways
    ]
    solve, forest = Harness(repetitions=repetitions, warm_ups=3).run(every)
    return Point(
        name=name,
        n_slots=weighted.n_slots,
        stated=STATED[name],
        solve=solve.milliseconds,
        forest=forest.milliseconds,
    )


def table_of(points: list[Point]) -> Table:
    """Return medians, spreads and ratios."""
    table = Table("graph", "slots", "stated", "solve", "its spread", "ratio", "forest")
    for one in points:
        table.add_row(
            one.name, f"{one.n_slots:,}", f"{one.stated:.3f}", digits(median(one.solve)),
            f"{digits(min(one.solve))}-{digits(max(one.solve))}", f"{one.ratio:.2f}",
            digits(median(one.forest)),
        )  # fmt: skip
    mean = geometric_mean(one.ratio for one in points)
    table.add_row("geometric mean", "", "", "", "", f"{mean:.2f}", "")
    return table


@click.command(cls=Experiment)
@click.argument("graphs", nargs=-1)
@device_option
@click.option("--dtype", default="float32", show_default=True, help="Of the weights.")
@repetitions_option
@json_option
def main(
    graphs: tuple[str, ...], device: str | None, dtype: str, repetitions: int,
    json_file: Path | None,
) -> None:  # fmt: skip
    """Time the surrogates of graphs that RAFT states times for; NAME=FILE gives a graph."""
    sources = dict(one.partition("=")[::2] for one in graphs) or dict.fromkeys(STATED, "")
    for name in sources:
        if name not in STATED:
            raise InvalidArgumentError(
                f"no time is stated for {name!r}; there are {', '.join(STATED)}"
            )
    on = clmst.get_device(device)
    measured = (
        measure(name, load(source or name), on, dtype, repetitions)
        for name, source in sources.items()
    )
    Console(width=120).print(table_of(recorded(on, measured, json_file, dtype=dtype)))


if __name__ == "__main__":
    main()
