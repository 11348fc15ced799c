"""Run benchmark cases: parse options, open devices, time in turns, and print and write results.

A case is a function that yields the rows of a table, one by one as they are measured. :func:`case`
makes a command of it, with options that all cases have:

``--device NAME``      a device, as for ``clmst solve``; repeated if the case takes several
``--repetitions K``    number of turns; the table shows their median, minimum and maximum
``--clock cpu``        processor time of all threads, for CPU devices of a shared machine
``--least``            show the minimum of the times, not the median
``--json FILE``        write the times of every repetition, the machine, the date and how many
                       seconds the case has taken so far, after each row
``--plot FILE``        draw a picture, if the case has one
``--from FILE``        show and draw the rows of a file of ``--json``, without measuring
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import geometric_mean, median
from time import perf_counter
from typing import Any, TypeAlias

import click

import clmst
from benchmarks.timing import by_name
from clmst.bench.canvas import can_draw
from clmst.bench.harness import CLOCKS, Contestant, Harness
from clmst.bench.results import machine_facts, write_json
from clmst.bench.tables import digits, spread
from clmst.cli.failure import reported

# A row of a table is a dict of cells by the headings of their columns. A cell with a time is a list
# of the milliseconds of each repetition. A cell whose heading begins with "_" is not printed, but
# is in the record. A text in place of a row is a remark below the table.
Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = Iterable[Row | str]
Way: TypeAlias = Callable[[], Any]
Draw: TypeAlias = Callable[[Sequence[Row], Path, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The devices of a run, and the options that say how contestants are timed.

    The command-line options of these names are explained at the top of this module.
    """

    devices: Sequence[clmst.Device]
    repetitions: int = 9
    clock: str = "wall"
    least: bool = False
    measures: str = ""  # what the numbers of the table are, if they are not times

    @property
    def device(self) -> clmst.Device:
        """The first device of the run."""
        return self.devices[0]

    def harness(self, **how: Any) -> Harness:
        """Return a harness, which verifies compared functions and times them in turns.

        It has the repetitions and the clock of this run. `how` are further fields of
        :class:`clmst.bench.harness.Harness`.
        """
        return Harness(repetitions=self.repetitions, clock=CLOCKS[self.clock], **how)

    def turns(
        self,
        ways: Mapping[str, Way],
        difference: Callable[[Any], str] | None = None,
        *,
        wait: Way | None = None,
        before: Way | None = None,
        **how: Any,
    ) -> dict[str, list[float]]:
        """Verify the results of some functions, then time the functions in turns.

        Returns the milliseconds of each repetition, by the name of the function.

        Parameters
        ----------
        ways : mapping of str to callable
            The functions to time, by name.
        difference, wait, before : callable, optional
            See :class:`clmst.bench.harness.Contestant`.
        **how
            Fields of :class:`clmst.bench.harness.Harness`. By default each function is called once
            before it is timed, to warm up.
        """
        every = [
            Contestant(name=name, call=call, difference=difference, wait=wait, before=before)
            for name, call in ways.items()
        ]
        return by_name(self.harness(**{"warm_ups": 1, **how}).run(every))

    def of(self, times: Sequence[float]) -> float:
        """Return the median of some times, or their minimum if the run has the option --least."""
        return min(times) if self.least else median(times)

    def ratio(self, row: Row, slower: str, faster: str) -> float:
        """Return the time of the program `slower` divided by the time of `faster` in a row."""
        return self.of(row[slower]) / self.of(row[faster])

    def cell(self, value: Any) -> str:
        """Format a value as a cell of a table."""
        if isinstance(value, list):
            return digits(min(value)) if self.least and value else median_and_range(value)
        if isinstance(value, float):
            return f"{value:.3g}" if value < 100 else f"{value:,.0f}"
        return f"{value:,}" if isinstance(value, int) else str(value)

    def facts(self) -> str:
        """Return the line above a table: the devices, and what its numbers are."""
        on = "; ".join(f"{one.description}, driver {one.driver}" for one in self.devices)
        on = on or "no OpenCL device: the host computes"
        if self.measures:
            return f"{on}; {self.measures}"
        what = "least" if self.least else "median (least-greatest)"
        return f"{on}; ms of {self.clock} time: {what} of {self.repetitions}"


def means(run: Run, rows: Iterable[Row], slower: str) -> str:
    """Return a text that says how many times as fast as `slower` each other program is.

    `slower` is the name of a compared program. Each number is the geometric mean over all rows.
    """
    ratios: dict[str, list[float]] = {}
    for row in rows:
        for name, times in row.items():
            if isinstance(times, list) and name not in (slower, "_"):
                ratios.setdefault(name, []).append(run.ratio(row, slower, name))
    cells = (f"{name} {geometric_mean(values):.2f}" for name, values in ratios.items())
    return f"times as fast as {slower}, geometric means: {', '.join(cells)}"


def show(rows: Rows, run: Run) -> Iterator[Row]:
    """Print rows as a Markdown table, each as soon as it is measured, and yield them.

    A new heading is printed whenever the columns change. A text in place of a row is printed as a
    remark and is not yielded.
    """
    columns: list[str] = []
    for row in rows:
        if isinstance(row, str):
            click.echo(f"\n{row}")
            continue
        names = [name for name in row if not name.startswith("_")]
        if names != columns:
            rules = "|".join("---" if isinstance(row[name], str) else "--:" for name in names)
            click.echo(f"\n| {' | '.join(names)} |\n|{rules}|")
            columns = names
        click.echo(f"| {' | '.join(run.cell(row[name]) for name in names)} |")
        yield row
    if not columns:
        click.echo("there is nothing of these names to measure or show")


class Reported(click.Command):
    """A click command that reports an error in one line instead of a traceback."""

    def invoke(self, context: click.Context) -> object:
        """Run the command."""
        with reported():
            return super().invoke(context)


class Cases(click.Group):
    """A click command whose subcommands are benchmark cases."""

    command_class = Reported


def _opened(names: Sequence[str], least: int, most: int) -> list[clmst.Device]:
    if not least <= len(names) <= most and (names or least > 1):
        counts = f"{least}" if least == most else f"{least} to {most}"
        raise click.UsageError(f"{len(names)} devices are given with --device; it takes {counts}")
    try:
        return [clmst.get_device(name) for name in names or (None,)]
    except clmst.UnsupportedDeviceError:
        if names or least > 0:
            raise
        return []  # the host computes


def _drawable(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Return the value of the option --plot, which is the path of a picture, unchanged.

    Raises a usage error, before anything is measured, if Matplotlib is not installed.
    """
    if path is not None and not can_draw():
        raise click.BadParameter("pictures need Matplotlib: pip install matplotlib")
    return path


def case(
    *parameters: Callable[[Any], Any],
    name: str | None = None,
    repetitions: int = 9,
    devices: tuple[int, int] = (1, 1),
    draw: Draw | None = None,
    description: str | None = None,
    measures: str = "",
) -> Callable[[Callable[..., Rows]], click.Command]:
    """Return a decorator that turns a function which yields the rows of a table into a command.

    The command is a click command. The function takes a :class:`Run`, followed by the values of its
    own options.

    Parameters
    ----------
    *parameters : decorators
        The arguments and options of the case itself, as for click.
    name : str, optional
        The name of the command. By default it is the name of the function.
    repetitions : int
        The default number of repetitions.
    devices : (int, int)
        The minimum and the maximum number of devices. If the minimum is 0, the case also runs on
        a machine without a usable device, where the host computes. `Run.devices` is then empty.
    draw : callable, optional
        Draws a picture of all rows. It gets the rows, the path of a file or folder, and the name of
        the device.
    description : str, optional
        The text for ``--help``. By default it is the docstring of the function.
    measures : str
        What the numbers of the table are, such as "per cent of the vertices", if not times.
    """

    def decorate(function: Callable[..., Rows]) -> click.Command:
        def call(
            *, device: tuple[str, ...], repetitions: int, clock: str, least: bool,
            json_file: Path | None, record: Path | None = None, plot: Path | None = None,
            **given: Any,
        ) -> None:  # fmt: skip
            if record is not None:
                known = json.loads(record.read_text(encoding="utf-8"))
                run, rows = Run(devices=(), least=least), known["points"]
                title, facts = known["device"], f"{known['device']}, driver {known['driver']}"
            else:
                opened = _opened(device, *devices)
                run = Run(
                    devices=opened, repetitions=repetitions, clock=clock, least=least,
                    measures=measures,
                )  # fmt: skip
                rows, facts = function(run, **given), run.facts()
                title = opened[0].name if opened else "host"
            click.echo(facts)
            found: list[Row] = []
            date, began = datetime.now(UTC).date().isoformat(), perf_counter()

            def write(**state: bool) -> None:
                """Write all rows so far to the record."""
                if record is not None or json_file is None:
                    return
                every = [machine_facts(one) for one in run.devices or (None,)]
                json_file.parent.mkdir(parents=True, exist_ok=True)
                when = {"date": date, "took_seconds": round(perf_counter() - began, 1)}
                more = {"clock": clock, **when, **state, "devices": every, "points": found}
                write_json(json_file, {**every[0], **more})

            for row in show(rows, run):
                found.append(row)
                write(complete=False)  # in case that the run is stopped
            if found:
                write()
            if plot is not None and draw is not None:
                draw(found, plot, title)

        path: Any = click.Path(path_type=Path)
        more = [*parameters]
        if draw is not None:
            more += [
                click.option("--plot", type=path, callback=_drawable, help="Draw a picture here."),
                click.option("--from", "record", type=path, help="A record, drawn again."),
            ]
        more += [
            click.option("--device", multiple=True, help="As of clmst solve."),
            click.option(
                "--repetitions", type=click.IntRange(1), default=repetitions, show_default=True
            ),
            click.option(
                "--clock", type=click.Choice(sorted(CLOCKS)), default="wall", show_default=True
            ),
            click.option("--least", is_flag=True, help="The least time, not the median."),
            click.option("--json", "json_file", type=path, help="Write all values here."),
        ]
        for decorator in reversed(more):
            call = decorator(call)
        title = name or function.__name__.replace("_", "-")
        made = click.command(name=title, cls=Reported, help=description or function.__doc__)
        return made(call)

    return decorate


def installed(name: str) -> Any:
    """Import a module of another package, and return it. Return None if it is not installed."""
    return import_module(name) if find_spec(name.partition(".")[0]) else None


def graphs_argument(**more: Any) -> Callable[[Any], Any]:
    """Return a decorator that adds the argument ``graphs``, any number of names, to a command.

    `more` are further options of ``click.argument``.
    """
    return click.argument("graphs", nargs=-1, **more)


def solving(graph: clmst.DeviceGraph, algorithm: str, options: Any = None) -> Way:
    """Return a function that solves a graph on a device, and leaves the forest there."""
    return lambda: clmst.minimum_spanning_forest(
        graph, algorithm=algorithm, options=options, keep_on_device=True
    )


def sizes_up_to(largest: int, least: int = 512) -> list[int]:
    """Return `least`, 2 * `least`, 4 * `least` and so on, up to `largest`."""
    return [least << k for k in range((largest // least).bit_length())]


def median_and_range(milliseconds: Sequence[float]) -> str:
    """Format a median, with the least and the greatest time in brackets.

    Returns "" if there are no times.
    """
    if len(milliseconds) < 2:
        return digits(milliseconds[0]) if milliseconds else ""
    return f"{digits(median(milliseconds))} ({spread(milliseconds)})"
