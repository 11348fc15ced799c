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
    """Return whether a child can be started.

    The answer is False if this process is a child itself, or if ``sys.executable`` is an
    application rather than a Python interpreter.
    """
    if getattr(sys, "frozen", False) or VARIABLE in os.environ:
        return False
    return bool(_INTERPRETER.fullmatch(Path(sys.executable or "").name))


def ending(status: int) -> str:
    """Describe an exit status: the name of a signal, or the number."""
    if status >= 0:
        return f"status {status}" if status < 1 << 16 else f"status {status:#x}"  # on Windows
    with suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"


def printable(words: bytes) -> str:
    """Return the beginning of the output `words` as printable text of one line."""
    text = words.decode(errors="replace")[:200]
    return "".join(letter for letter in text if letter.isprintable())
