"""A graph under weights that change: `RepeatedSolver` beside one-shot solves.

    python -m benchmarks.repeated GRAPH... [--device NAME] [--share 0.05] [--json FILE]

GRAPH is a surrogate graph by name, ``clustered``, or a file. Rounds have random permutations of the
graph's weights, in turn; those of "near" rounds differ from the graph's own by a random share of
up to 5 % either way. From host to host, `minimum_spanning_forest` of a SciPy matrix that has the
permuted ones already is timed beside `solve` of an array of them, beside `update` of a share of
them, both without warm starts, and beside `solve` of near ones by a solver that has been at it for
three rounds. On the device the public call for the graph as it is, with the weights it came with,
beside `solve` of arrays on the device; forests stay there. Every round's forest is compared with
the one-shot one's before anything is timed; contestants take turns. Preparing is timed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import clmst
from benchmarks.options import Experiment, device_option, json_option, repetitions_option
from benchmarks.reweighted import Reweighted, load
from clmst.bench.agreement import Agreement
from clmst.bench.harness import Contestant, Harness, WrongResultError, by_name, seconds_of
from clmst.bench.record import recorded
from clmst.bench.tables import digits

ROUNDS = 3
NEAR_BY = 0.05
ONE_SHOT, SOLVE, UPDATE, NEAR = "one-shot", "solve", "update", "solve, near"
RESIDENT, ON_DEVICE, NEAR_THERE = "one-shot, resident", "solve, on the device", "near, there"
BESIDE = {
    SOLVE: ONE_SHOT,
    UPDATE: ONE_SHOT,
    NEAR: ONE_SHOT,
    ON_DEVICE: RESIDENT,
    NEAR_THERE: RESIDENT,
}

Round = Callable[[int], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one graph took: milliseconds of every repetition, by contestant."""

    name: str
    n_vertices: int
    n_edges: int
    prepare: float
    milliseconds: Mapping[str, list[float]]

    def ratio(self, name: str) -> float:
        """Return the median of a contestant over that of the one-shot solve beside it."""
        return median(self.milliseconds[name]) / median(self.milliseconds[BESIDE[name]])


def in_turn(solve: Round) -> Callable[[], object]:
    """Return what solves rounds 0, 1, ..., and then the same again."""
    rounds = cycle(range(ROUNDS))
    return lambda: solve(next(rounds))


def measure(
    name: str, graph: clmst.Graph, device: clmst.Device, share: float, repetitions: int
) -> Point:
    """Return what a graph takes."""
    made: list[clmst.RepeatedSolver] = []
    make = partial(clmst.RepeatedSolver, graph, devices=device, warm_start=False)
    prepare = 1e3 * seconds_of(lambda: made.append(make()))
    (solver,) = made
    reweighted = Reweighted(graph)
    given = [reweighted.permuted(k) for k in range(ROUNDS)]
    resident = clmst.to_device(graph, device)
    matrices = [reweighted.matrix(weights) for weights in given]
    warm = clmst.RepeatedSolver(graph, devices=device)
    near = [reweighted.near(NEAR_BY, k) for k in range(ROUNDS)]
    stored, stored_near = (
        [clmst.DeviceArray.from_host(weights, device) for weights in every]
        for every in (given, near)
    )
    m = solver.n_edges
    some = np.sort(np.random.default_rng(0).choice(m, int(share * m), replace=False))
    changes = [weights[some] for weights in given]

    contestants: dict[str, Round] = {
        ONE_SHOT: lambda k: clmst.minimum_spanning_forest(matrices[k], device=device),
        SOLVE: lambda k: solver.solve(given[k]),
        UPDATE: lambda k: solver.update(some, changes[k]),
        NEAR: lambda k: warm.solve(near[k]),
        RESIDENT: lambda k: clmst.minimum_spanning_forest(resident, keep_on_device=True),
        ON_DEVICE: lambda k: solver.solve(stored[k], keep_on_device=True),
        NEAR_THERE: lambda k: warm.solve(stored_near[k], keep_on_device=True),
    }
    warm.solve(reweighted.own)
    for k in range(ROUNDS):
        for one, there, by in ((given[k], stored[k], solver), (near[k], stored_near[k], warm)):
            expected = clmst.minimum_spanning_forest(reweighted.matrix(one), device=device)
            agreement = Agreement("the one-shot solve", expected, by="edges")
            for weights in (one, there):
                if difference := agreement.difference(by.solve(weights)):
                    raise WrongResultError(f"{name}: {difference}")
    every = [
        Contestant(name=title, call=in_turn(solve), wait=device.queue.finish)
        for title, solve in contestants.items()
    ]
    times = by_name(Harness(repetitions=repetitions).run(every))
    solver.close()
    warm.close()
    device.release_memory()
    return Point(
        name=name,
        n_vertices=graph.n_vertices,
        n_edges=solver.n_edges,
        prepare=prepare,
        milliseconds=times,
    )


def table_of(points: list[Point]) -> Table:
    """Return medians, and what they are of the one-shot solve beside them."""
    names = [*points[0].milliseconds]
    table = Table("graph", "n", "edges", "prepare ms", *(f"{name} ms" for name in names))
    for point in points:
        cells = []
        for name in names:
            times = point.milliseconds[name]
            ratio = f", {point.ratio(name):.2f}" if name in BESIDE else ""
            cells.append(f"{digits(median(times))} ({digits(min(times))}{ratio})")
        sizes = f"{point.n_vertices:,}", f"{point.n_edges:,}", digits(point.prepare)
        table.add_row(point.name, *sizes, *cells)
    return table


@click.command(cls=Experiment)
@click.argument("graphs", nargs=-1, required=True)
@device_option
@click.option(
    "--share", type=click.FloatRange(0, 1), default=0.05, show_default=True,
    help="Of the edges, that an update changes.",
)  # fmt: skip
@repetitions_option
@json_option
def main(
    graphs: tuple[str, ...], device: str | None, share: float, repetitions: int,
    json_file: Path | None,
) -> None:  # fmt: skip
    """Time solves of graphs whose weights change: medians, in brackets least and ratio."""
    on = clmst.get_device(device)
    measured = (measure(Path(one).name, load(one), on, share, repetitions) for one in graphs)
    points = recorded(on, measured, json_file)
    Console(width=190).print(table_of(points))


if __name__ == "__main__":
    main()
