"""Files that a command reads and writes: paths, and ``-`` for stdin and stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click

from clmst.cli import completion
from clmst.cli.terminal import Stages, percentage

STREAM = Path("-")  # stdin, or stdout

columns_option: Callable[..., Any] = click.option(
    "--columns",
    metavar="NAMES",
    callback=lambda _context, _option, text: _names(text),
    help="Of a CSV or Parquet file: the columns of the edges' ends and, if there are weights, of "
    "these, with commas between.",
)


def format_option(*names: str, text: str) -> Callable[..., Any]:
    """Return an option that takes the name of a file format; `text` is its help."""
    return click.option(*names, metavar="NAME", shell_complete=completion.formats, help=text)


def _names(text: str | None) -> tuple[str, ...] | None:
    """Return the names in a list, where commas separate them."""
    if text is None:
        return None
    names = tuple(text.split(","))
    if len(names) not in (2, 3) or not all(names):
        raise click.BadParameter(
            f"{text!r} has {len(names)} names; it must be SOURCE,TARGET or SOURCE,TARGET,WEIGHT"
        )
    return names


@contextmanager
def reading(stages: Stages, stage: str, path: Path, format_name: str | None) -> Iterator[BinaryIO]:
    """Open a file, or stdin, during a stage that shows how much of it has been read."""
    from clmst.io import files, registry

    if path == STREAM:
        file = sys.stdin.buffer
        registry.find(file, format_name)
        with stages.stage(stage, "reading stdin"):
            yield file
        return
    registry.find(path, format_name)
    with (
        files.open_file(path) as file,
        stages.stage(stage, f"reading {path}", done=_share_read(file)),
    ):
        yield file


def _share_read(file: BinaryIO) -> Callable[[], str]:
    """Return a function that tells how much of a file has been read, by any reader."""
    descriptor = file.fileno()
    size = os.fstat(descriptor).st_size

    def share() -> str:
        try:
            return percentage(os.lseek(descriptor, 0, os.SEEK_CUR) / size if size else None)
        except OSError:  # a pipe, or closed by now
            return ""

    return share


def target(path: Path) -> Path | BinaryIO:
    """Return what to write to: a path, or stdout."""
    return sys.stdout.buffer if path == STREAM else path


def name_of(path: Path) -> str:
    """Return how messages call a file that is written."""
    return "stdout" if path == STREAM else str(path)
