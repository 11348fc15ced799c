"""How the command reports errors: one line on stderr, and an exit status."""

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
    """An error that ends a command with the exit status 1 and ``clmst: error: ...`` on stderr."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message on stderr. `file` replaces stderr, as in click, unless it is None."""
        click.echo(f"clmst: error: {self.message}", file=file, err=True)


class Interruption(CommandFailure):
    """The end of a command after Ctrl-C, with the exit status that shells use for SIGINT."""

    exit_code = 130


@contextmanager
def reported() -> Iterator[None]:
    """Replace any error that is raised inside the ``with`` by a :class:`CommandFailure`.

    Yields None. With ``CLMST_TRACEBACK=1`` errors pass unchanged and show their traceback.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise  # click's own errors, or a pipe whose reader has gone, which needs no message
    except KeyboardInterrupt as interrupt:
        raise Interruption("interrupted") from interrupt
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE) == "1":
            raise
        raise CommandFailure(describe(error)) from error


@contextmanager
def understood() -> Iterator[None]:
    """Replace an :class:`InvalidArgumentError` raised inside the ``with`` by a usage error.

    Yields None. The exit status of a usage error is 2. Use this function only around code that
    checks names and numbers given on the command line. A missing file passes unchanged, because it
    is not a usage error. With ``CLMST_TRACEBACK=1`` all errors pass unchanged.
    """
    try:
        yield
    except InvalidArgumentError as error:
        if isinstance(error, MissingFileError) or os.environ.get(TRACEBACK_VARIABLE) == "1":
            raise
        raise click.UsageError(str(error), click.get_current_context(silent=True)) from error


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Show clmst's own warnings on stderr, each in one line, inside the ``with``.

    Yields None. The line is ``clmst: warning: ...``. Warnings of other packages are shown as Python
    shows them.
    """
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
    """Return the message for an error. The first line of the message says what is wrong."""
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
