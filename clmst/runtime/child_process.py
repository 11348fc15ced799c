"""Whether another process of Python can be started, and how a process has ended."""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

# Set in a child, which starts no other: Python may run code of the user's when it starts.
VARIABLE = "CLMST_IN_SELF_TEST"
_INTERPRETER = re.compile(r"(python|pypy|graalpy)w?[0-9.]*[dt]*([.]exe)?", re.IGNORECASE)


def may_start() -> bool:
    """Return whether Python is there to be started: the executable may be an application."""
    if getattr(sys, "frozen", False) or VARIABLE in os.environ:
        return False
    return bool(_INTERPRETER.fullmatch(Path(sys.executable or "").name))


def ending(status: int) -> str:
    """Return how a process has ended, by its status: the name of a signal, or a number."""
    if status >= 0:
        return f"status {status}" if status < 1 << 16 else f"status {status:#x}"  # of Windows
    with suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"


def printable(words: bytes) -> str:
    """Return the beginning of what a process wrote, as a text of one line."""
    text = words.decode(errors="replace")[:200]
    return "".join(letter for letter in text if letter.isprintable())
