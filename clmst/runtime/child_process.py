"""Find out whether another process of Python can be started, and how a process has ended."""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

# An environment variable that is set in a child, so that the child does not start children itself.
# When Python starts, it may run code of the user, and that code may use clmst.
VARIABLE = "CLMST_IN_SELF_TEST"
_INTERPRETER = re.compile(r"(python|pypy|graalpy)w?[0-9.]*[dt]*([.]exe)?", re.IGNORECASE)


def may_start() -> bool:
    """Return whether this process can start a child process of Python, which runs self-tests.

    The answer is False if this process is such a child itself, or if ``sys.executable`` is an
    application rather than a Python interpreter.
    """
    if getattr(sys, "frozen", False) or VARIABLE in os.environ:
        return False
    return bool(_INTERPRETER.fullmatch(Path(sys.executable or "").name))


def ending(status: int) -> str:
    """Describe the exit status of a process, as `subprocess` reports it, for a message.

    A process that a signal has ended has a negative status. It is described by the signal's name.
    """
    if status >= 0:
        return f"status {status}" if status < 1 << 16 else f"status {status:#x}"  # on Windows
    with suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"


def printable(words: bytes) -> str:
    """Return the first 200 characters of a process's output as one line of printable text."""
    text = words.decode(errors="replace")[:200]
    return "".join(letter for letter in text if letter.isprintable())
