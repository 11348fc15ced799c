"""Other programs: run with a time limit, after which their process group is killed."""

from __future__ import annotations

import math
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from clmst.core.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a program.

    Attributes
    ----------
    output : str
        What it wrote to its standard output.
    status : int or None
        Its exit status; None if it could not be run, or was ended.
    trouble : {"", "timeout", "failed"}
        Empty if it ended normally.
    remark : str
        The reason if it did not; one line.
    """

    output: str = ""
    status: int | None = None
    trouble: str = ""
    remark: str = ""


def ask(command: Sequence[str], *, time_limit: float) -> Answer:
    """Run a program to its end.

    Failures are results, too. A late program is killed with its process group, and so is one that
    runs when the user interrupts.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell is involved.
    time_limit : float
        Seconds.
    """
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True,
            errors="replace", start_new_session=True,
        ) as process:  # fmt: skip
            try:
                output, complaint = process.communicate(timeout=time_limit)
            except BaseException:
                if sys.platform == "win32":  # which has no groups of processes
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
                raise
    except subprocess.TimeoutExpired:
        return Answer(trouble="timeout", remark=f"ended after {time_limit:g} s without an answer")
    except (OSError, ValueError) as error:  # a NUL in an argument is a ValueError
        return Answer(trouble="failed", remark=f"cannot be run: {error}")
    if process.returncode == 0:
        return Answer(output=output, status=0)
    return Answer(
        output=output,
        status=process.returncode,
        trouble="failed",
        remark=_end_of(process.returncode, complaint),
    )


def named_command(text: str) -> tuple[str, tuple[str, ...]]:
    """Read ``NAME=COMMAND``, the command in words as a shell would split it.

    Raises
    ------
    ValueError
        It is none.
    """
    name, separator, command = text.partition("=")
    words = tuple(shlex.split(command))
    if not (separator and name.strip() and words):
        raise InvalidArgumentError(f"{text!r} is no NAME=COMMAND")
    return name.strip(), words


def seconds_in(milliseconds: str) -> float:
    """Return so many milliseconds in seconds; NaN if the text is no finite number."""
    try:
        value = float(milliseconds) * 1e-3
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _end_of(status: int, complaint: str) -> str:
    last = (complaint.strip() or "no message").splitlines()[-1]
    if status < 0:
        return f"ended by signal {-status}: {last}"
    return f"exit status {status}: {last}"
