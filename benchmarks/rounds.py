r"""Time many solves of one graph with new weights, and accumulate the times.

    python -m benchmarks rounds [GRAPH]... [--repetitions 30] [--contestant NAME]... [--plot FILE]
    python -m benchmarks rounds --device nvidia --device intel --contestant MP --contestant CU \
        --contestant Hybrid

This repeats Figure 9 of Ma and Wan. GRAPH is ``clustered`` (the paper's workload: 49,152 vertices,
16,384 of them in dense clusters), the name of a surrogate graph, a family as in
``clustered:n=4096,density=0.75``, or a file. A round is one solve with new weights, which are a
random permutation of the graph's own weights.

NAME is one of the contestants. ``one-shot`` is `minimum_spanning_forest` of a SciPy matrix with the
weights of the round and both directions of each edge stored. ``repeated`` is `RepeatedSolver.solve`
of an array of the weights. An algorithm can follow after a colon, with or without options, as in
``one-shot:ecl``. Four contestants are about the paper's own strategies. ``MP`` is
``one-shot:edge-parallel`` on the last device. ``CU`` is ``one-shot:dense reread=all`` on the first
device. ``MP+CU`` is the Hybrid as the paper describes it: CU solves the dense parts of the graph on
the first device, while MP solves the rest on the last device. The union of their forests is then
solved by MP on the first device, where the paper has a sequential pass. ``Hybrid`` is clmst's form
of it: ``repeated`` on all devices by the strategy "cores". All other contestants are on the first
device, which should be the GPU.

Times are from weights on the host to a forest on the host. Preparing a contestant makes its solver
from a SciPy matrix. It is repeated five times or for a second, and the accumulated time of a
contestant begins with the median time of preparing. The contestants solve each round one after the
other, and must find the same forest. Making weights and matrices is not timed. Before anything is
timed, each contestant is prepared and solves a round once, to build its kernels.

A contestant is left out if the device does not have enough memory for it. With ``--at-most`` it is
also left out, for later graphs too, if a round takes too long. If a round uses several devices, the
work of each device is printed below the table, and after how many rounds it has made up for its
longer preparation beside each other contestant (the break-even).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

import clmst
from benchmarks import stated
from benchmarks.agreement import Agreement
from benchmarks.repeated import CLUSTERED, Reweighted, as_it_comes
from benchmarks.runner import Row, Rows, Run, case
from clmst.algorithms.option_texts import read
from clmst.bench.canvas import GRID, legend_below, panels, plain_ticks, style
from clmst.bench.harness import Contestant, Times, WrongResultError
from clmst.core import topology
from clmst.core.coercion import as_listed
from clmst.repeated.assignments import plan
from clmst.repeated.rounds import RoundOptions
from clmst.repeated.several_devices import SeveralDevices

ONE_SHOT, REPEATED = "one-shot", "repeated"
MP, CU, BOTH, HYBRID = "MP", "CU", "MP+CU", "Hybrid"
REREAD = clmst.DenseOptions(reread="all")  # CU's, which reads the whole matrix in each step
DEFAULT = (ONE_SHOT, f"{ONE_SHOT}:filter-boruvka", f"{ONE_SHOT}:ecl", REPEATED)
MANY = 3  # with more graphs than this, all are drawn in one panel
_PREPARED, _PREPARED_MS = 5, 1000  # how often preparing is timed, and for how long at most

# The weights of a round (a solve with new weights) in two forms: an array with one weight for each
# edge, and a SciPy matrix.
Weights = tuple[np.ndarray, Any]
Solve = Callable[[Weights], clmst.Forest]


def one_shot(matrix: Any, devices: Sequence[clmst.Device], text: str) -> Solve:
    """Return a function that solves the graph of each round from the start, on the first device.

    A round is one solve with new weights. `text` is the name of an algorithm and its options.
    """
    del matrix
    algorithm, options = read(text)
    return lambda weights: clmst.minimum_spanning_forest(
        weights[1], algorithm=algorithm, options=options, device=devices[0]
    )


def repeated(matrix: Any, devices: Sequence[clmst.Device], text: str) -> Solve:
    """Return a function that solves each round with a RepeatedSolver, on the first device.

    The solver prepares the edges of `matrix` once and gets only the new weights of each round.
    `text` is the name of an algorithm and its options.
    """
    algorithm, options = read(text)
    solver = clmst.RepeatedSolver(matrix, devices=devices[0], algorithm=algorithm, options=options)
    return lambda weights: solver.solve(weights[0])


def hybrid(matrix: Any, devices: Sequence[clmst.Device], text: str) -> Solve:
    """Return a function that solves dense parts on one device, and all other edges on another.

    A dense part is a set of vertices of whose pairs at least half are edges. The function raises
    ClickException if the graph does not have a dense part. `text` is the name of an algorithm and
    its options.
    """
    algorithm, options = read(text)
    solver = clmst.RepeatedSolver(
        matrix, devices=[*devices], strategy="cores", algorithm=algorithm, options=options
    )

    def solve(weights: Weights) -> clmst.Forest:
        forest = solver.solve(weights[0])
        if forest.stats.get("strategy") != "cores":
            raise click.ClickException(f"{HYBRID}: the graph has no dense part, or one device")
        return forest

    return solve


def both(matrix: Any, devices: Sequence[clmst.Device], text: str) -> Solve:
    """Return a function that solves dense parts by CU on one device, and the rest by MP on another.

    This is the Hybrid of Ma and Wan. A last pass by MP, on the device of CU, solves the union of
    the forests. The function raises ClickException if the graph does not have a dense part, or if
    there is only one device.
    """
    del text
    edges = topology.edges_once(as_listed(matrix))
    divided = plan("cores", edges, devices, algorithm="edge-parallel", options=None)
    if len(divided.assignments) < 2:
        raise click.ClickException(f"{BOTH}: the graph has no dense part, or one device")
    dense, rest = divided.assignments
    parts = replace(divided, assignments=(replace(dense, options=REREAD), rest))
    solver = SeveralDevices(parts, maximum=False)

    def solve(weights: Weights) -> clmst.Forest:
        forest = solver.solve(weights[0], options=RoundOptions())
        assert isinstance(forest, clmst.Forest)
        return forest

    return solve


KINDS: dict[str, Callable[[Any, Sequence[clmst.Device], str], Solve]] = {
    ONE_SHOT: one_shot,
    REPEATED: repeated,
    MP: lambda matrix, devices, _: one_shot(matrix, devices[::-1], "edge-parallel"),
    CU: lambda matrix, devices, _: one_shot(matrix, devices, "dense reread=all"),
    BOTH: both,
    HYBRID: hybrid,
}
"""Functions that prepare a contestant, by the part of the contestant's name before the colon.

They take a matrix, the devices, and the text after the colon, and return a function that solves.
"""


# ----------------------------------------------------------------------- measurement


def timed(run: Run, call: Callable[[Any], Any], argument: Any) -> tuple[Any, float]:
    """Call a function once, and return its result and its milliseconds."""
    once: Times[Any] = Times(contestant=Contestant(name="", call=partial(call, argument)))
    seconds, result = run.harness().clocked(once)
    return result, 1e3 * seconds


def prepared(
    run: Run, name: str, weights: Weights, at_most: float | None
) -> tuple[Solve, list[float]] | None:
    """Make the contestant `name`, build its kernels, and time how long it takes to prepare.

    Returns the function that solves a round, and a list of the milliseconds that preparing took,
    which is repeated a few times. Returns None if the contestant is left out, because the device
    does not have enough memory or a round takes more than `at_most` seconds.
    """
    kind, _, algorithm = name.partition(":")

    def make(matrix: Any) -> Solve:
        return KINDS[kind](matrix, run.devices, algorithm or "auto")

    try:
        solve = make(weights[1])
        solve(weights)
    except clmst.OutOfDeviceMemoryError as error:
        click.echo(f"{name} is left out: {error}", err=True)
        run.device.release_memory()
        return None
    times = list[float]()
    while len(times) < _PREPARED and sum(times) < _PREPARED_MS:
        del solve
        solve, milliseconds = timed(run, make, weights[1])
        times.append(milliseconds)
    _, milliseconds = timed(run, solve, weights)
    if at_most is not None and milliseconds > 1e3 * at_most:
        fact = f"a round takes {milliseconds / 1e3:.3g} s; --at-most is {at_most:g}"
        click.echo(f"{name} is left out: {fact}", err=True)
        return None
    return solve, times


def race(
    run: Run, reweighted: Reweighted, names: Sequence[str], at_most: float | None = None
) -> dict[str, Row]:
    """Time all contestants in turns, and return a dict of results for each, by name.

    `names` are the contestants, which are the compared ways of solving rounds. The results are the
    milliseconds of preparing ("prepare") and of each round ("round"), and the statistics of rounds
    on several devices ("_stats"). A contestant is left out, and missing in the result, if the
    device does not have enough memory for it or if a round takes more than `at_most` seconds.
    Raises WrongResultError if the forests of a round differ.
    """
    first = reweighted.own, reweighted.matrix(reweighted.own)
    every = ((name, prepared(run, name, first, at_most)) for name in names)
    runners = {name: one for name, one in every if one is not None}
    if not runners:
        return {}
    rows: dict[str, Row] = {
        name: {"prepare": times, "round": [], "_stats": []} for name, (_, times) in runners.items()
    }
    for number in range(run.repetitions):
        by_edge = reweighted.permuted(number)
        weights = by_edge, reweighted.matrix(by_edge)
        agreement = Agreement(next(iter(runners)), by="edges")
        for name, (solve, _) in runners.items():
            forest, milliseconds = timed(run, solve, weights)
            rows[name]["round"].append(milliseconds)
            if "last_pass" in forest.stats:
                rows[name]["_stats"].append(forest.stats)
            if difference := agreement.difference(forest):
                raise WrongResultError(f"round {number}: {name}: {difference}")
    return rows


def course(rounds: Sequence[Any]) -> str:
    """Describe, as text, what each device does in a round (a solve with new weights), and when.

    `rounds` has the statistics of each round. Times are medians over all rounds, in milliseconds
    since the beginning of the round.
    """

    def at(of: Callable[[Any], Any], *steps: str) -> str:
        return f"{median(sum(of(one)[f'{step}ms'] for step in steps) for one in rounds):.3g}"

    parts = list[str]()
    for k, one in enumerate(rounds[-1]["devices"]):
        of = partial(lambda stats, k: stats["devices"][k], k=k)
        parts.append(
            f"{one['device']}: {one['edges']:,} edges by {', '.join(one['algorithms'])}, weights "
            f"{at(of, 'began_')} to {at(of, 'began_', 'upload_')}, "
            f"forests to {at(of, 'began_', 'upload_', 'solve_')}, sent {at(of, 'ended_')}"
        )
    last = rounds[-1]["last_pass"]
    begin, end = (at(operator.itemgetter("last_pass"), *of) for of in (["began_"], ["began_", ""]))
    parts.append(f"union of {last['edges']:,} edges on {last['device']}: {begin} to {end}")
    return "; ".join(parts)


def accumulated(row: Row) -> list[float]:
    """Return one contestant's milliseconds so far, after preparing and after each round."""
    return list(accumulate(row["round"], initial=median(row["prepare"])))


def repaid(row: Row, other: Row) -> int | None:
    """Return the number of rounds after which a contestant has made up for a longer preparation.

    `row` and `other` have the times of two contestants. After the returned number of rounds, the
    contestant of `row` has taken at most as long as the contestant of `other`, preparations
    included. Returns None if the contestant of `row` has taken longer after every measured round.
    """
    both = zip(accumulated(row), accumulated(other), strict=True)
    return next((k for k, (own, its) in enumerate(both) if k and own <= its), None)


def repaid_after(run: Run, row: Row, other: Row) -> float | None:
    """Return after how many rounds a contestant will have made up for its longer preparation.

    `row` and `other` have the times of two contestants. The number is computed from the medians of
    their times, so it may be greater than the number of measured rounds. It is 0 if the contestant
    of `row` does not take longer to prepare, and None if its rounds are not faster.
    """
    gained = run.of(other["round"]) - run.of(row["round"])
    if gained <= 0:
        return None
    return max(run.of(row["prepare"]) - run.of(other["prepare"]), 0) / gained


def break_even(run: Run, name: str, found: Mapping[str, Row]) -> str:
    """Return a text that says when the contestant `name` has made up for its longer preparation.

    `found` has the times of all contestants, by name.
    """
    said = []
    for other, row in found.items():
        if other != name:
            after = repaid_after(run, found[name], row)
            said.append(f"{other}: {'never' if after is None else f'after {after:.1f} rounds'}")
    return f"{name}: preparing is repaid beside {', '.join(said)}"


def draw(rows: Sequence[Row], file: Path, device: str) -> None:
    """Draw accumulated times by round for each graph, as in the paper's Figure 9.

    The legend names the slowest solver first. If there are many graphs, one panel shows the time of
    a round for all of them instead.
    """
    graphs = list(dict.fromkeys(row["_graph"] for row in rows))
    if len(graphs) > MANY:
        draw_many(rows, graphs, file, device)
        return
    wide = 7 * len(graphs)
    title = device if len(graphs) > 1 else f"{graphs[0].rpartition(': ')[2]}, {device}"
    with panels(file, len(graphs), (wide, 4.6), title=title) as every:
        for panel, graph in zip(every, graphs, strict=True):
            shown = [row for row in rows if row["_graph"] == graph]
            ranked = sorted(shown, key=lambda row: accumulated(row)[-1], reverse=True)
            for number, row in zip(reversed(range(len(ranked))), ranked, strict=True):
                seconds, look = [ms / 1e3 for ms in accumulated(row)], style(number)
                name = row["contestant"]
                panel.plot(range(len(seconds)), seconds, label=name, markersize=4, **look)
            panel.set_title(graph if len(graphs) > 1 else "")
            panel.set_xlabel("rounds of new weights; at 0, what preparing took")
            panel.set_ylabel("seconds, accumulated")
            panel.set_xlim(left=0)
            panel.set_ylim(bottom=0)
            panel.grid(**GRID)
        legend_below(every[0])


def draw_many(rows: Sequence[Row], graphs: Sequence[str], file: Path, device: str) -> None:
    """Draw the time of a round by every compared solver, with a line for each graph.

    The times that the paper states are drawn, too.
    """
    with panels(file, 1, (10, 2 + 0.35 * len(graphs)), title=f"A round, {device}") as (panel,):
        for number, name in enumerate(dict.fromkeys(row["contestant"] for row in rows)):
            own = {row["_graph"]: median(row["round"]) for row in rows if row["contestant"] == name}
            look = {"linestyle": "", "markersize": 8, **style(number)}
            panel.plot(own.values(), [graphs.index(one) for one in own], label=name, **look)
            if name == CU:
                label, hollow = f"{stated.HYBRID} of {CU}: {HYBRID} in the paper", stated.LOOK
                its = {graph: ms for graph, ms in own.items() if stated.HYBRID_SIZE in graph}
                half, where = [stated.HYBRID * ms for ms in its.values()], map(graphs.index, its)
                panel.plot(half, [*where], "*", color="#000000", label=label, **hollow)
        panel.set(xscale="log", xlabel="milliseconds of a round")
        plain_ticks(panel.xaxis, (1, 2, 5))
        panel.set_yticks(range(len(graphs)), [of_clusters(graph) for graph in graphs], fontsize=9)
        panel.invert_yaxis()
        panel.grid(**GRID)
        legend_below(panel)


def of_clusters(graph: str) -> str:
    """Return the label of a graph for a picture.

    The label has the sizes of the graph, and the density of its clusters. If the name of the graph
    does not have a density, the label is the name and the sizes.
    """
    name, _, sizes = graph.rpartition(": ")
    _, said, density = name.partition("density=")
    return f"{sizes}, density {density}" if said else f"{name}: {sizes}"


def known(context: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> list[str]:
    """Check the names of compared solvers, and return them without duplicates.

    Raises a usage error if a name is unknown.
    """
    for name in names:
        kind, _, algorithm = name.partition(":")
        try:
            read(algorithm or "auto")
        except clmst.InvalidArgumentError as error:
            raise click.BadParameter(f"{name!r} is no contestant; {error}") from error
        if kind not in KINDS:
            raise click.BadParameter(
                f"{name!r} is no contestant; there are {', '.join(KINDS)}, each alone or with an "
                f"algorithm, as in {ONE_SHOT}:ecl"
            )
    return list(dict.fromkeys(names or DEFAULT))


@case(
    click.argument("graphs", nargs=-1),
    click.option(
        "--contestant", "names", multiple=True, callback=known,
        help=f"Who takes part; others are compared with the first. {', '.join(DEFAULT)} if none.",
    ),
    click.option(
        "--at-most", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
        help="Leave out who takes longer for a round, of later graphs, too.",
    ),
    repetitions=30,
    devices=(1, 8),
    draw=draw,
)  # fmt: skip
def main(run: Run, graphs: tuple[str, ...], names: list[str], at_most: float | None) -> Rows:
    """Time rounds of new weights, accumulated."""
    courses = list[str]()
    for graph in graphs or (CLUSTERED,):
        reweighted = Reweighted(as_it_comes(graph))
        size = f"{reweighted.graph.n_vertices:,} vertices, {reweighted.own.size:,} edges"
        found = race(run, reweighted, names, at_most)
        names = [name for name in names if name in found]
        if not found:
            courses.append(f"{size}: all contestants are left out")
            break
        first = next(iter(found.values()))
        for name, times in found.items():
            after = repaid(times, first)
            row: Row = {"graph": graph} if len(graphs) > 1 else {}
            row |= {"contestant": name, **times}
            row["of the first"] = run.of(times["round"]) / run.of(first["round"])
            row["repaid in round"] = (
                "" if times is first else "never" if after is None else str(after)
            )
            row["all rounds s"] = accumulated(times)[-1] / 1e3
            yield row | {"_graph": f"{Path(graph).name}: {size}"}
            if times["_stats"]:
                facts = f"{name}, {size}, ms since a round began"
                courses.append(f"{facts}: {course(times['_stats'])}")
                if len(found) > 1:
                    courses.append(f"{size}, {break_even(run, name, found)}")
    yield from courses
