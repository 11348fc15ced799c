"""Input and output of the command: tables, JSON, progress, and files, where ``-`` is a stream."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from clmst.cli.failure import understood
from clmst.core.long_work import Display, Line, LongWork, Silence, place_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.table import Table

    from clmst.bench.tables import Table as TextTable
    from clmst.io import Format

_SINGULARS = {"vertices": "vertex", "edges": "edge", "components": "component"}

_PIPED_WIDTH = 1 << 15  # columns of output to a pipe, so many that lines are usually not folded


def console(*, stderr: bool = False, piped_width: int = _PIPED_WIDTH) -> Console:
    """Return a rich console on stdout or stderr. Colours are used only on a terminal.

    If the stream is not a terminal, lines are folded at `piped_width` columns.
    """
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else piped_width
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def new_table(*headings: str, numbers: tuple[str, ...] = ()) -> Table:
    """Return an empty table with the given headings.

    Without headings the table has two columns, for names and values. `numbers` are the headings
    whose columns are aligned to the right.
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
    """Print tables of the benchmark on stdout, for people or as Markdown."""
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
    from clmst.io.file_edges import json_text

    click.echo(json_text(value))


def counted(count: int, things: str) -> str:
    """Return a count with its noun, such as ``1 vertex`` or ``1,000 edges``.

    `things` is the plural: "vertices", "edges" or "components".
    """
    if count == 1:
        return f"1 {_SINGULARS[things]}"
    return f"{count:,} {things}"


def duration(seconds: float) -> str:
    """Return a duration in seconds as text in a fitting unit, such as ``13.5 ms`` or ``2.41 s``."""
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def percentage(fraction: float | None) -> str:
    """Return a fraction from 0 to 1 as a percentage, such as ``42%``. For None return ""."""
    return "" if fraction is None else f"{min(fraction, 1.0):.0%}"


class Stages:
    """The stages (steps) of a command, which are timed, and shown if they take long.

    A long stage shows a spinner if stderr is a terminal. With `quiet` nothing is shown. See
    :mod:`clmst.core.long_work`.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.seconds: dict[str, float] = {}  # duration of each stage, in order
        self._is_quiet = quiet

    @contextmanager
    def stage(
        self, name: str, text: str, *, done: Callable[[], str] | None = None
    ) -> Iterator[None]:
        """Time the body of a ``with`` as the stage `name`.

        Yields None. `text` says what is being done, as in "reading roads.gr". `done` returns the
        progress as text, as in "42%", and is called from another thread. With None no progress is
        shown.
        """
        with LongWork(text, done=done, display=display(quiet=self._is_quiet)):
            start = time.perf_counter()
            yield
            self.seconds[name] = time.perf_counter() - start


def display(*, quiet: bool) -> Display:
    """Create the display of long work: a spinner on a terminal, and elsewhere lines.

    If `quiet` is True, the display shows nothing.
    """
    if quiet:
        return Silence()
    return Spinner() if place_of(sys.stderr) == "terminal" else Line()


class Spinner:
    """A spinner on stderr, beside a text that says what is being done."""

    def __init__(self) -> None:
        self._status: Status | None = None

    def show(self, words: str, seconds: float) -> None:
        """Show the spinner with the text `words`, or replace the text of a spinner that is shown.

        `seconds` is not used.
        """
        from rich.text import Text

        text = Text(words)
        if self._status is None:
            self._status = console(stderr=True).status(text)
            self._status.start()
        else:
            self._status.update(text)

    def hide(self) -> None:
        """Remove the spinner."""
        if self._status is not None:
            self._status.stop()


# ------------------------------------------------------------------------------ files

STREAM = Path("-")  # stands for stdin or stdout


def find_format(path: Path, format_name: str | None, formats: Sequence[Format]) -> Format:
    """Return the format named `format_name`, or if that is None, the format by the name of `path`.

    A `path` of ``-`` is stdin. Raises a usage error that lists `formats` if none of them fits. A
    folder in place of a file raises the error of an unreadable file, not a usage error.
    """
    from clmst.io import registry

    with nullcontext() if os.path.isdir(path) else understood():
        return registry.find(sys.stdin.buffer if path == STREAM else path, format_name, formats)


@contextmanager
def reading(
    stages: Stages, stage: str, path: Path, format_name: str | None, *, points: bool = False,
    columns: object = None,
) -> Iterator[BinaryIO]:  # fmt: skip
    """Open a file or stdin for a ``with``, and show how much of it has been read if that is long.

    Yields the open file. The time is recorded as the stage called `stage` in `stages`.
    `format_name` is None if the format follows from the name of `path`. Before opening, raises a
    usage error if clmst cannot read a graph from this format (or points, if `points` are wanted),
    or if `columns` are given but the format does not take names of columns.
    """
    from clmst.io import files, registry

    formats = registry.POINT_FORMATS if points else registry.able("reader")
    chosen = find_format(path, format_name, formats)
    with understood():
        if not points:
            registry.ability(chosen, "reader", "reads no graph")
        if columns is not None:
            table = "rows_reader" if points else "table_reader"
            registry.ability(chosen, table, "names no columns")
    if path == STREAM:
        with stages.stage(stage, "reading stdin"):
            yield sys.stdin.buffer
        return
    with (
        files.open_file(path) as file,
        stages.stage(stage, f"reading {path}", done=_share_read(file)),
    ):
        yield file


def _share_read(file: BinaryIO) -> Callable[[], str]:
    """Return a function that returns the percentage of `file` that has been read so far.

    The function asks the system for the position in the file, so any code may do the reading. It
    returns "" for a pipe or a closed file.
    """
    descriptor = file.fileno()
    size = os.fstat(descriptor).st_size

    def share() -> str:
        try:
            return percentage(os.lseek(descriptor, 0, os.SEEK_CUR) / size if size else None)
        except OSError:  # the file is a pipe, or it is closed
            return ""

    return share


def target(path: Path) -> Path | BinaryIO:
    """Return the destination of an output: the path itself, or stdout if it is ``-``."""
    return sys.stdout.buffer if path == STREAM else path


def will_write(path: Path, format_name: str | None, ability: str, action: str) -> Format:
    """Check before the work begins that a file can be written, and return its format.

    Errors that would otherwise be raised at the end, when `path` is written, are raised at once. If
    `format_name` is None, the format follows from the name of the file. `ability` and `action` are
    the arguments of :func:`clmst.io.registry.ability`.
    """
    from clmst.core.atomic_file import replaceable
    from clmst.io import registry

    with understood():
        chosen = registry.find(target(path), format_name, registry.able(ability))
        registry.ability(chosen, ability, action)
    if path != STREAM:
        replaceable(path)
    return chosen


force_option: Callable[..., Any] = click.option(
    "--force", is_flag=True, help="Allow an output to replace the file that was read."
)


def refuse_to_replace(inputs: Sequence[Path], outputs: Sequence[Path], *, force: bool) -> None:
    """Raise a usage error if two outputs are the same file, or if an output is also an input.

    Symbolic links are followed. Stdin counts as an input if it is a file. With `force` an output
    may replace an input.
    """
    known: list[tuple[os.stat_result, Path]] = []
    for path in [] if force else inputs:
        with suppress(OSError, ValueError):  # the file is missing, or stdin is not a file
            known.append((os.fstat(sys.stdin.fileno()) if path == STREAM else path.stat(), path))
    files = [one for one in outputs if one != STREAM]
    for k, output in enumerate(files):
        real = os.path.realpath(output)
        if any(os.path.realpath(other) == real for other in files[:k]):
            raise click.UsageError(f"{output} would be written twice; two outputs need two files")
        with suppress(OSError, ValueError):
            found = output.stat()
            for one, path in known:
                if stat.S_ISREG(found.st_mode) and os.path.samestat(one, found):
                    also = "" if path == output else f", as {name_of(path, 'stdin')}"
                    raise click.UsageError(
                        f"{output} is the file that is read{also}; the output would replace it: "
                        "name another file, or give --force"
                    )


def warn_of_labels(chosen: Format, labels: Sequence[Any] | None) -> None:
    """Warn on stderr if the format of an output does not keep the vertex labels of the input.

    `chosen` is that format. `labels` is None if the input's vertices are numbers.
    """
    if not chosen.keeps(labels):
        kind = "no such" if chosen.takes_text is not None else "no"
        click.echo(
            f"clmst: warning: format {chosen.name} holds {kind} vertex labels; so its vertices "
            "are numbered in the order of the input's",
            err=True,
        )


def name_of(path: Path, stream: str = "stdout") -> str:
    """Return the name of the file `path` for messages.

    The name is `stream` if the path is ``-``, which means stdin or stdout.
    """
    return stream if path == STREAM else str(path)
