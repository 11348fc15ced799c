"""``clmst tune``: the quickest shape of kernels on the device at hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from clmst.cli.failure import CommandFailure, Interruption
from clmst.cli.options import algorithm_option, device_option, json_option, quiet_option
from clmst.cli.terminal import Stages, console, print_json
from clmst.cli.tune_report import of_costs, of_search, parameters_table

if TYPE_CHECKING:
    from clmst.core.graph import Graph
    from clmst.runtime.device import Device
    from clmst.tune.graphs import Makers
    from clmst.tune.policy_benchmark import PolicyBenchmark
    from clmst.tune.search import Search, SearchOutcome


@click.command()
@device_option
@click.option(
    "--graph", "graph_names", metavar="NAME", multiple=True,
    help="What to time on: a file, or a family as in grid:rows=500,columns=800. May be repeated; "
    "generated graphs that suit the device when left out.",
)  # fmt: skip
@algorithm_option(
    text="What to tune for. One of {names}; 'auto': on each graph what it chooses there.",
    default="auto",
)
@click.option(
    "--parameters", metavar="NAMES", default="",
    help="What to vary, with commas between; all that matter to the algorithm when left out.",
)  # fmt: skip
@click.option(
    "--budget", metavar="SECONDS", type=click.FloatRange(min=0, min_open=True), default=600.0,
    show_default=True, help="When to stop trying; the best so far is kept.",
)  # fmt: skip
@click.option(
    "--repeat", "repetitions", metavar="N", type=click.IntRange(min=1), default=7,
    show_default=True, help="Timed solves of each candidate on each graph.",
)  # fmt: skip
@click.option(
    "--margin", metavar="PERCENT", type=click.FloatRange(min=0, max=100), default=2.0,
    show_default=True,
    help="By how much a candidate must be quicker; more where the device's times vary more.",
)  # fmt: skip
@click.option(
    "--costs", "is_for_costs", is_flag=True,
    help="Measure what solves and transfers cost, by which several devices of a RepeatedSolver "
    "share work out; search nothing.",
)  # fmt: skip
@click.option("--list", "lists", is_flag=True, help="Show what can be varied, and do nothing.")
@click.option("--dry-run", is_flag=True, help="Search, but write nothing.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path),
    help="The table that the result goes to, instead of your own.",
)  # fmt: skip
@json_option
@quiet_option
def tune(
    *,
    device_name: str | None,
    graph_names: tuple[str, ...],
    algorithm: str,
    parameters: str,
    budget: float,
    repetitions: int,
    margin: float,
    is_for_costs: bool,
    lists: bool,
    dry_run: bool,
    output: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the quickest shape of kernels on a device, and keep it in a table of yours.

    Values are varied one parameter at a time, each candidate raced against the best so far. The
    forest stays the same, which is checked every time. From then on clmst uses the values found
    whenever it works on that device with that driver; `clmst devices` shows it. If nothing was
    quicker, nothing is written. Ctrl-C ends the search and keeps the best so far.
    """
    from clmst.algorithms import solving
    from clmst.runtime import tuning_file
    from clmst.runtime.discovery import get_device
    from clmst.tune import costs, graphs, search

    algorithm, _ = solving.named(algorithm, None)  # a name that nothing has is refused first
    makers = graphs.named(graph_names)
    path = None if dry_run or lists else (output or tuning_file.user_path())
    if path is not None:
        tuning_file.check_writable(path)
    shows = not (quiet or as_json)
    stages = Stages(quiet=not shows)
    with stages.stage("open_device", "opening the device"):
        device = get_device(device_name)
    wanted = [part.strip() for part in parameters.split(",") if part.strip()]
    if not is_for_costs:  # names of parameters are refused before anything is made
        name, _ = solving.choose(algorithm, device)
        varied = search.chosen_parameters(wanted, [name], device.policy)
        if lists:
            console().print(parameters_table(varied, device.policy))
            return
    makers = makers or graphs.standard(device.capabilities)
    facts: dict[str, Any] = {"repetitions": repetitions, "graphs": tuple(makers)}
    if is_for_costs:
        with stages.stage("measure", f"measuring costs on {device.name}"):
            values = costs.measure(device, makers, repetitions)
        report = of_costs(values, device, path=path, **facts)
    else:
        benchmark = _prepared(stages, device, makers, algorithm, repetitions)
        varied = search.chosen_parameters(wanted, benchmark.algorithms, device.policy)
        searching = search.Search(
            benchmark.compare, device.policy, varied, margin=margin / 100, budget=budget
        )
        with _progress(searching, budget, shows=shows):
            outcome = searching.run()
        names = ", ".join(benchmark.algorithms)
        kept = path if outcome.has_gained else None
        report = of_search(outcome, names, device, path=kept, **facts)
    if report.path is not None:
        tuning_file.write(report.entry(), report.path)
    if as_json:
        print_json(report.as_json())
    elif not quiet:
        report.print(console())
    if not is_for_costs:
        _end(outcome)


def _end(outcome: SearchOutcome) -> None:
    """Give the exit status that the outcome deserves."""
    if outcome.wrong:
        found = "; ".join(f"{s.name} {s.value}: {s.note}" for s in outcome.wrong)
        raise CommandFailure(
            f"kernels of another shape gave another forest ({found}); these values were not "
            "taken. This is a bug in clmst or in the driver: please report it"
        )
    if outcome.ending == "interrupted":
        raise Interruption("interrupted; the best so far was kept")


def _prepared(
    stages: Stages, device: Device, makers: Makers, algorithm: str, repetitions: int
) -> PolicyBenchmark:
    """Put graphs on a device, and prove the forests that candidates must give."""
    from clmst.tune.policy_benchmark import PolicyBenchmark

    made: dict[str, Graph] = {}
    for name, make in makers.items():
        with stages.stage("graphs", f"making {name}"):
            made[name] = make()
    with stages.stage("prepare", f"bringing the graphs to {device.name}"):
        benchmark = PolicyBenchmark(device, made, algorithm=algorithm, repetitions=repetitions)
        benchmark.establish(device.policy)
        return benchmark


@contextmanager
def _progress(search: Search, budget: float, *, shows: bool) -> Iterator[None]:
    """Show on stderr, if that is a terminal, what is tried and what was gained so far."""
    screen = console(stderr=True)
    if not (shows and screen.is_terminal):
        yield
        return
    from rich.text import Text

    begin = monotonic()

    def on_progress(outcome: SearchOutcome, name: str, value: Any) -> None:
        present = getattr(outcome.best, name)
        status.update(
            Text(
                f"{name} {present} -> {value} ... {len(outcome.steps)} tried, best so far "
                f"{outcome.gain:.3f} of the time, {monotonic() - begin:.0f} of {budget:.0f} s"
            )
        )

    with screen.status(Text("measuring how much times vary ...")) as status:
        search.on_progress = on_progress
        yield
