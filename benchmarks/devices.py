"""Several devices at one solve: `RepeatedSolver` on each alone, and on all by every strategy.

    python -m benchmarks.devices GRAPH... --device nvidia:0 --device nvidia:1 [--json FILE]

GRAPH is a surrogate graph by name, a file, or a family as in random:n=100000,average_degree=64.
Weights are random floats, others in every round. A round is from an array on the host to a forest
there; "prefetched" are rounds of `solve_many`, which uploads weights while those before are solved.
Every round's forest is compared with that of the first device alone before anything is timed;
contestants take turns. A ratio is the best device's time alone over that of several. The choice of
"auto" is beside it. The second table has one round of each strategy, device by device.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import clmst
from benchmarks.options import Experiment, json_option, repetitions_option
from clmst.bench import machine
from clmst.bench.agreement import Agreement
from clmst.bench.harness import Contestant, Harness, Times, WrongResultError, seconds_of
from clmst.bench.record import recorded
from clmst.bench.tables import digits
from clmst.generators.surrogates import SURROGATES
from clmst.tune import graphs as sources

ROUNDS = 3
STRATEGIES = ("split", "cores", "auto")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The times of one graph.

    Attributes
    ----------
    prepare : mapping of str to float
        Milliseconds, by contestant.
    milliseconds, prefetched : mapping of str to list of float
        Of every repetition, by contestant: a single round, and a round of `solve_many`.
    stats : mapping of str to mapping
        The ``stats`` of a round.
    """

    name: str
    n_vertices: int
    n_edges: int
    prepare: Mapping[str, float]
    milliseconds: Mapping[str, list[float]]
    prefetched: Mapping[str, list[float]]
    stats: Mapping[str, Mapping[str, Any]]

    def best_alone(self) -> float:
        """Return the median of the quickest device by itself."""
        alone = [times for name, times in self.milliseconds.items() if name not in STRATEGIES]
        return min(median(times) for times in alone)

    def ratio(self, name: str) -> float:
        """Return the speedup of a contestant over the best single device."""
        return self.best_alone() / median(self.milliseconds[name])


def load(name: str) -> clmst.Graph:
    """Return the graph that an argument names."""
    if name in SURROGATES:
        return SURROGATES[name].load()
    (make,) = sources.named([name]).values()
    return make()


def measure(name: str, graph: clmst.Graph, devices: list[clmst.Device], repetitions: int) -> Point:
    """Return the times of a graph."""
    makes: dict[str, dict[str, Any]] = {
        f"{number}: {device.name}": {"devices": device} for number, device in enumerate(devices)
    }
    makes |= {strategy: {"devices": devices, "strategy": strategy} for strategy in STRATEGIES}
    solvers: dict[str, clmst.RepeatedSolver] = {}
    prepare = {}
    for contestant, options in makes.items():
        make = partial(clmst.RepeatedSolver, graph, **options)
        seconds = seconds_of(lambda: solvers.update({contestant: make()}))  # noqa: B023
        prepare[contestant] = 1e3 * seconds
    first = next(iter(solvers.values()))
    rng = np.random.default_rng(0)
    given = [rng.random(first.n_edges, dtype=np.float32) for _ in range(ROUNDS)]
    for weights in given:
        agreement = Agreement("the first device", first.solve(weights))
        for contestant, solver in solvers.items():
            if difference := agreement.difference(solver.solve(weights)):
                raise WrongResultError(f"{name}: {contestant}: {difference}")
    every = {
        contestant: (rounds_of(solver, given), prefetched_rounds(solver, given))
        for contestant, solver in solvers.items()
    }
    harness = Harness(repetitions=repetitions)
    for turn in range(repetitions):
        harness.take_turn([one for pair in every.values() for one in pair], turn)
    times = {contestant: one.milliseconds for contestant, (one, _) in every.items()}
    prefetched = {
        contestant: [each / ROUNDS for each in many.milliseconds]
        for contestant, (_, many) in every.items()
    }
    stats = {name: _stats_of(solver.solve(given[0]).stats) for name, solver in solvers.items()}
    for solver in solvers.values():
        solver.close()
    for device in devices:
        device.release_memory()
    return Point(
        name=name,
        n_vertices=graph.n_vertices,
        n_edges=first.n_edges,
        prepare=prepare,
        milliseconds=times,
        prefetched=prefetched,
        stats=stats,
    )


def rounds_of(solver: clmst.RepeatedSolver, given: list[np.ndarray]) -> Times[Any]:
    """Return the times of single rounds, whose weights come in turn."""
    weights = cycle(given)
    return Times(contestant=Contestant(name="round", call=lambda: solver.solve(next(weights))))


def prefetched_rounds(solver: clmst.RepeatedSolver, given: list[np.ndarray]) -> Times[Any]:
    """Return the times of rounds by `solve_many`."""

    def solve() -> None:
        for _ in solver.solve_many(given):
            pass

    return Times(contestant=Contestant(name="rounds", call=solve))


def _stats_of(stats: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stats of a forest that describe the devices' work."""
    wanted = ("strategy", "algorithm", "device", "devices", "last_pass")
    return {name: stats[name] for name in wanted if name in stats}


def table_of(points: list[Point]) -> Table:
    """Return medians: of a round, and of one of several; ratios for strategies of several."""
    names = [*points[0].milliseconds]
    table = Table("graph", "n", "edges", *(f"{name} ms (prefetched)" for name in names))
    for point in points:
        cells = []
        for name in names:
            times = f"{digits(median(point.milliseconds[name]))}"
            times += f" ({digits(median(point.prefetched[name]))})"
            if name in STRATEGIES:
                chosen = point.stats[name]["strategy"]
                times += f", {point.ratio(name):.2f}" + (f", {chosen}" if chosen != name else "")
            cells.append(times)
        table.add_row(point.name, f"{point.n_vertices:,}", f"{point.n_edges:,}", *cells)
    return table


def parts_of(points: list[Point]) -> Table:
    """Return the devices' work in a round of each strategy for several devices."""
    steps = ("began_ms", "upload_ms", "solve_ms", "send_ms", "wait_ms")
    table = Table("graph", "strategy", "device", "vertices", "edges", "algorithms", *steps, "last")
    for point in points:
        for name in STRATEGIES:
            stats = point.stats[name]
            for index, part in enumerate(stats.get("devices", ())):
                last = stats["last_pass"]
                table.add_row(
                    point.name,
                    name,
                    part["device"],
                    f"{part['vertices']:,}",
                    f"{part['edges']:,}",
                    ", ".join(part["algorithms"]),
                    *(digits(max(part[step], 0)) for step in steps),
                    f"{last['edges']:,} edges, {digits(last['ms'])} ms" if index == 0 else "",
                )
    return table


def mean_ratio(points: list[Point], name: str) -> float:
    """Return the geometric mean of a contestant's ratios."""
    return math.exp(sum(math.log(point.ratio(name)) for point in points) / len(points))


@click.command(cls=Experiment)
@click.argument("graphs", nargs=-1, required=True)
@click.option(
    "--device", "names", multiple=True, required=True,
    help="Two or more, each as of clmst solve, as in nvidia:0 and nvidia:1.",
)  # fmt: skip
@repetitions_option
@json_option
def main(
    graphs: tuple[str, ...], names: tuple[str, ...], repetitions: int, json_file: Path | None
) -> None:
    """Time rounds on several devices: medians, in brackets those with prefetch."""
    devices = [clmst.get_device(name) for name in names]
    if len(devices) < 2:
        raise click.UsageError("one --device is given; strategies are for two or more")
    measured = (measure(Path(one).name, load(one), devices, repetitions) for one in graphs)
    every = [machine.facts(device) for device in devices]
    points = recorded(devices[0], measured, json_file, devices=every)
    console = Console(width=200)
    console.print(table_of(points))
    console.print(parts_of(points))
    means = (f"{name} {mean_ratio(points, name):.2f}" for name in STRATEGIES)
    console.print(f"Speed-up over the best device alone, geometric mean: {', '.join(means)}")


if __name__ == "__main__":
    main()
