"""Errors as a user of the command sees them: one line on stderr, and an exit status."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from clmst.core.errors import ClmstError, InvalidArgumentError, MissingFileError

TRACEBACK_VARIABLE = "CLMST_TRACEBACK"


class CommandFailure(click.ClickException):
    """An error that ends a command, as ``clmst: error: ...``; the exit status is 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message on stderr."""
        click.echo(f"clmst: error: {self.message}", file=file, err=True)


class Interruption(CommandFailure):
    """The user's Ctrl-C; the exit status is what shells give to SIGINT."""

    exit_code = 130


@contextmanager
def reported() -> Iterator[None]:
    """Turn any error into a :class:`CommandFailure`.

    With ``CLMST_TRACEBACK=1`` errors pass unchanged, with their traceback.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise  # click's own errors; and a pipe that its reader has closed, which needs no message
    except KeyboardInterrupt as interrupt:
        raise Interruption("interrupted") from interrupt
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE) == "1":
            raise
        raise CommandFailure(describe(error)) from error


@contextmanager
def understood() -> Iterator[None]:
    """Turn an error about the command line's own words into a usage error; the exit status is 2.

    Around code that looks at names and numbers of the command line alone. A file that is not there
    is no such error. With ``CLMST_TRACEBACK=1`` errors pass unchanged.
    """
    try:
        yield
    except InvalidArgumentError as error:
        if isinstance(error, MissingFileError) or os.environ.get(TRACEBACK_VARIABLE) == "1":
            raise
        raise click.UsageError(str(error), click.get_current_context(silent=True)) from error


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Show clmst's own warnings as ``clmst: warning: ...`` on stderr, in one line."""
    plainly = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *location: Any, **more: Any) -> None:
        if category.__module__.startswith("clmst."):
            click.echo(f"clmst: warning: {message}", err=True)
        else:
            plainly(message, category, *location, **more)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def describe(error: Exception) -> str:
    """Return the message for what a command ran into; its first line says what is wrong."""
    if isinstance(error, ClmstError):
        return str(error)
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"this machine has not enough memory: {error}" if str(error) else "out of memory"
    return (
        f"unexpected {type(error).__name__}: {error}\n"
        f"This is a bug in clmst; {TRACEBACK_VARIABLE}=1 shows where."
    )
