"""Accumulated time of many rounds under new weights: Figure 9 of Ma and Wan.

    python -m benchmarks.rounds [GRAPH] [--rounds 30] [--contestant NAME]... [--device NAME]
        [--json FILE] [--plot FILE]

GRAPH is ``clustered`` (their workload: 49,152 vertices, 16,384 of them in dense clusters), a
surrogate graph by name, or a file. Every round has a random permutation of the graph's weights. A
contestant is ``one-shot``: `minimum_spanning_forest` of a SciPy matrix that has the weights of the
round, both directions stored; or ``repeated``: `RepeatedSolver.solve` of an array of them. Behind
a colon stands an algorithm: ``one-shot:ecl``. Times are from host to host. Preparing, which is from
a SciPy matrix to a solver, is timed five times, and its median is what a contestant begins with.
All contestants solve a round in turn, and must give the same forest; making weights and matrices
is not timed, nor are a first preparing and a first round of each, which build kernels. A
contestant that the device has no memory for is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import clmst
from benchmarks.options import Experiment, device_option, json_option
from benchmarks.reweighted import CLUSTERED, Reweighted, load
from clmst.bench.agreement import Agreement
from clmst.bench.canvas import GRID, panels, style
from clmst.bench.harness import Contestant, Harness, Times, WrongResultError
from clmst.bench.record import write_record
from clmst.bench.tables import digits

ONE_SHOT, REPEATED = "one-shot", "repeated"
DEFAULT = (ONE_SHOT, f"{ONE_SHOT}:filter-boruvka", f"{ONE_SHOT}:ecl", REPEATED)
_PREPARED = 5  # times
_NOTHING = 0.05  # ms: what it takes to prepare nothing

# What a round gives to contestants: the weights by edge, and a matrix that has them.
Weights = tuple[np.ndarray, Any]


class Solver(Protocol):
    """What is prepared for rounds."""

    def solve(self, weights: Weights) -> clmst.Forest:
        """Return the forest of a round."""

    def close(self) -> None:
        """Give memory back."""


class OneShot:
    """Every round is a graph of its own."""

    def __init__(self, matrix: Any, device: clmst.Device, algorithm: str) -> None:
        self.device, self.algorithm = device, algorithm

    def solve(self, weights: Weights) -> clmst.Forest:
        """Solve the matrix."""
        return clmst.minimum_spanning_forest(
            weights[1], algorithm=self.algorithm, device=self.device
        )

    def close(self) -> None:
        """Let go of nothing."""


class Repeated:
    """The edges are prepared once."""

    def __init__(self, matrix: Any, device: clmst.Device, algorithm: str) -> None:
        self._solver = clmst.RepeatedSolver(matrix, devices=device, algorithm=algorithm)

    def solve(self, weights: Weights) -> clmst.Forest:
        """Solve the weights by edge."""
        return self._solver.solve(weights[0])

    def close(self) -> None:
        """Close the solver."""
        self._solver.close()


KINDS: dict[str, Callable[[Any, clmst.Device, str], Solver]] = {
    ONE_SHOT: OneShot,
    REPEATED: Repeated,
}
"""Contestants by what stands before the colon: each is made of a matrix, to be timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a contestant got on: milliseconds of each preparing, and of each round."""

    name: str
    prepare: list[float]
    rounds: list[float]

    @property
    def prepares(self) -> bool:
        """Whether it prepares anything worth the name."""
        return median(self.prepare) > _NOTHING

    @property
    def per_round(self) -> float:
        """Median of a round."""
        return median(self.rounds)

    @property
    def accumulated(self) -> list[float]:
        """Milliseconds after preparing, and after each round."""
        return list(accumulate(self.rounds, initial=median(self.prepare)))

    def repaid_beside(self, other: Course) -> int | None:
        """Return the first round after which no more time has passed than for another, or None."""
        both = zip(self.accumulated, other.accumulated, strict=True)
        return next((k for k, (own, its) in enumerate(both) if k and own <= its), None)


# ----------------------------------------------------------------------- measurement


def timed(call: Callable[[Any], Any], argument: Any) -> tuple[Any, float]:
    """Return what a call gives, and its milliseconds."""
    once: Times[Any] = Times(contestant=Contestant(name="", call=partial(call, argument)))
    seconds, result = Harness(repetitions=1).clocked(once)
    return result, 1e3 * seconds


def lined_up(name: str, weights: Weights, device: clmst.Device) -> tuple[Course, Solver] | None:
    """Return a contestant, prepared, with kernels built; None if the device cannot hold it."""
    kind, _, algorithm = name.partition(":")

    def prepared(matrix: Any) -> Solver:
        return KINDS[kind](matrix, device, algorithm or "auto")

    course = Course(name=name, prepare=[], rounds=[])
    try:
        with closing(prepared(weights[1])) as solver:
            solver.solve(weights)
    except clmst.OutOfDeviceMemoryError as error:
        click.echo(f"{name} is left out: {error}", err=True)
        device.release_memory()
        return None
    for _ in range(_PREPARED):
        solver.close()
        solver, milliseconds = timed(prepared, weights[1])
        course.prepare.append(milliseconds)
    solver.solve(weights)
    return course, solver


def race(
    reweighted: Reweighted, names: Sequence[str], device: clmst.Device, rounds: int
) -> list[Course]:
    """Return how contestants got on, those that the device can hold."""
    first = reweighted.own, reweighted.matrix(reweighted.own)
    runners = [one for name in names if (one := lined_up(name, first, device)) is not None]
    if not runners:
        raise click.ClickException("the device can hold none of the contestants")
    for number in range(rounds):
        by_edge = reweighted.permuted(number)
        weights = by_edge, reweighted.matrix(by_edge)
        forests = []
        for course, solver in runners:
            forest, milliseconds = timed(solver.solve, weights)
            course.rounds.append(milliseconds)
            forests.append(forest)
        agreement = Agreement(runners[0][0].name, forests[0], by="edges")
        for (course, _), forest in zip(runners, forests, strict=True):
            if difference := agreement.difference(forest):
                raise WrongResultError(f"round {number}: {course.name}: {difference}")
    for _, solver in runners:
        solver.close()
    device.release_memory()
    return [course for course, _ in runners]


# --------------------------------------------------------------------------- telling


def table_of(courses: Sequence[Course]) -> Table:
    """Return what preparing and rounds took, beside the first contestant."""
    first = courses[0]
    table = Table(
        "contestant", "prepare ms", "round ms", "its spread", f"of {first.name}", "repaid in round",
        "all rounds s",
    )  # fmt: skip
    for course in courses:
        repaid = course.repaid_beside(first)
        table.add_row(
            course.name,
            digits(median(course.prepare)) if course.prepares else "",
            digits(course.per_round),
            f"{digits(min(course.rounds))}-{digits(max(course.rounds))}",
            f"{course.per_round / first.per_round:.2f}",
            "" if course is first else "never" if repaid is None else str(repaid),
            digits(course.accumulated[-1] / 1e3),
        )
    return table


def draw(courses: Sequence[Course], title: str, file: Path) -> None:
    """Draw accumulated times over rounds, as the paper's Figure 9; the slowest comes first."""
    ranked = sorted(courses, key=lambda course: course.accumulated[-1], reverse=True)
    with panels(file, 1, (7, 4.6), title=title) as (panel,):
        for number, course in zip(reversed(range(len(ranked))), ranked, strict=True):
            seconds = [milliseconds / 1e3 for milliseconds in course.accumulated]
            panel.plot(range(len(seconds)), seconds, label=course.name, markersize=4,
                       **style(number))  # fmt: skip
        panel.set_xlabel("rounds of new weights; at 0, what preparing took")
        panel.set_ylabel("seconds, accumulated")
        panel.set_xlim(left=0)
        panel.set_ylim(bottom=0)
        panel.grid(**GRID)
        panel.legend(loc="upper left", frameon=False)


def known(context: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> list[str]:
    """Return names of contestants, each once, or refuse them."""
    algorithms = {"auto", *clmst.algorithms.ALGORITHMS}
    for name in names:
        kind, _, algorithm = name.partition(":")
        if kind not in KINDS or (algorithm or "auto") not in algorithms:
            raise click.BadParameter(
                f"{name!r} is no contestant; there are {', '.join(KINDS)}, each alone or with an "
                f"algorithm, as in {ONE_SHOT}:ecl"
            )
    return list(dict.fromkeys(names or DEFAULT))


@click.command(cls=Experiment)
@click.argument("graph", default=CLUSTERED)
@device_option
@click.option("--rounds", type=click.IntRange(min=1), default=30, show_default=True)
@click.option(
    "--contestant", "names", multiple=True, callback=known,
    help=f"Who takes part, the first being what others are compared to: {', '.join(DEFAULT)} "
    "if none is named.",
)  # fmt: skip
@json_option
@click.option("--plot", type=click.Path(path_type=Path), help="Draw them here.")
def main(  # noqa: PLR0917 -- click passes by keyword
    graph: str, device: str | None, rounds: int, names: list[str], json_file: Path | None,
    plot: Path | None,
) -> None:  # fmt: skip
    """Time rounds of new weights, accumulated."""
    on = clmst.get_device(device)
    reweighted = Reweighted(load(graph))
    courses = race(reweighted, names, on, rounds)
    size = f"{reweighted.graph.n_vertices:,} vertices, {reweighted.own.size:,} edges"
    title = f"{Path(graph).name}: {size}"
    Console(width=120).print(title, table_of(courses))
    write_record(on, courses, json_file, graph=title)
    if plot is not None:
        draw(courses, title, plot)


if __name__ == "__main__":
    main()
