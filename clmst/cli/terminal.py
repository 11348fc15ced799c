"""Output to the screen: tables, JSON, and a spinner while something takes long."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from clmst.core.threads import TaskThread
from clmst.runtime import long_work

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from clmst.bench.tables import Table as TextTable

_Command = TypeVar("_Command", bound=Callable[..., Any])

_SINGULARS = {"vertices": "vertex", "edges": "edge", "components": "component"}

_PIPED_WIDTH = 1 << 15  # columns: output to a pipe is not folded
_PATIENCE = 1.0  # seconds before a stage shows that it is at work

device_option: Callable[[_Command], _Command] = click.option(
    "--device",
    "device_name",
    metavar="NAME",
    help='"gpu", "cpu" or part of a name that `clmst devices` shows; the best one when left out.',
)
devices_option: Callable[[_Command], _Command] = click.option(
    "--device",
    "device_names",
    metavar="NAME",
    multiple=True,
    help='"gpu", "cpu" or part of a name that `clmst devices` shows; the best one when left out. '
    "Repeated, it names several, each of which solves a part of the graph.",
)
quiet_option: Callable[[_Command], _Command] = click.option(
    "-q", "--quiet", is_flag=True, help="No summary and no progress; the exit status tells."
)
json_option: Callable[[_Command], _Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value on stdout instead of tables."
)


def console(*, stderr: bool = False) -> Console:
    """Return a console on stdout or stderr; colours only on a terminal, lines whole elsewhere."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def new_table(*headings: str, numbers: tuple[str, ...] = ()) -> Table:
    """Return an empty table; without headings it has two columns, of names and values.

    `numbers` are the headings of columns of numbers, which are flush right.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_header=bool(headings), show_edge=False)
    for heading in headings:
        is_number = heading in numbers
        table.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    if not headings:
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
    return table


def print_tables(tables: Sequence[TextTable], *, markdown: bool = False) -> None:
    """Print tables of texts, for people or as Markdown."""
    screen = console()
    for table in tables:
        if markdown:
            click.echo(table.as_markdown())
            continue
        drawn = new_table(*table.headings, numbers=table.headings[table.n_names :])
        for row in table.rows:
            drawn.add_row(*row)
        screen.print(f"\n{table.title}", style="bold")
        screen.print(drawn)
        for note in table.notes:
            screen.print(note, style="dim")


def print_json(value: Any) -> None:
    """Print a value as JSON on stdout."""
    click.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def json_number(number: int | float) -> int | float | str:
    """Return `number` as JSON can hold it: infinities and NaN, for which it has no word, as text.

    Exact integers of any size pass.
    """
    return str(number) if isinstance(number, float) and not math.isfinite(number) else number


def counted(count: int, things: str) -> str:
    """Return a count with its noun, given in the plural: ``1 vertex``, ``1,000 edges``."""
    if count == 1:
        return f"1 {_SINGULARS[things]}"
    return f"{count:,} {things}"


def duration(seconds: float) -> str:
    """Return a duration as it is read best: ``13.5 ms``, ``2.41 s``."""
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def percentage(fraction: float | None) -> str:
    """Return how much is done, of 0 to 1: ``42%``; nothing if it is not known."""
    return "" if fraction is None else f"{min(fraction, 1.0):.0%}"


class Stages:
    """The stages of a command, each timed; one that lasts shows a spinner.

    The spinner is on stderr, and only if that is a terminal; never if `quiet`.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.seconds: dict[str, float] = {}  # what each stage took, in the order they ran
        self._shows = not quiet and sys.stderr.isatty()

    @contextmanager
    def stage(
        self, name: str, text: str, *, done: Callable[[], str] | None = None
    ) -> Iterator[None]:
        """Run a stage; `text` says what is being done, as in "reading roads.gr".

        `done` tells how far it has come, as in "42%"; it is called from another thread.
        """
        with _spinner(text, done) if self._shows else nullcontext():
            start = time.perf_counter()
            yield
            self.seconds[name] = time.perf_counter() - start


class Progress:
    """What a stage shows: its text, and kernels that are built or, if known, how far it is."""

    def __init__(self, text: str, done: Callable[[], str] | None) -> None:
        self._text, self._done = text, done

    def __rich__(self) -> Text:
        from rich.text import Text

        done = long_work.under_way() or ("" if self._done is None else self._done())
        return Text(f"{self._text} ... {done}".rstrip())


@contextmanager
def _spinner(text: str, done: Callable[[], str] | None) -> Iterator[None]:
    status = console(stderr=True).status(cast(Any, Progress(text, done)))
    under_way = threading.Lock()
    under_way.acquire()

    def show() -> None:
        if not under_way.acquire(timeout=_PATIENCE):
            status.start()

    patience = TaskThread("clmst-patience").start(show)
    try:
        yield
    finally:
        under_way.release()
        patience.wait()  # it may be starting the spinner right now
        status.stop()
