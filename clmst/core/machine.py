"""Facts about the machine, its packages and processes, and the folder of clmst's cache."""

from __future__ import annotations

import os
import platform
import re
import signal
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CACHE_VARIABLE = "CLMST_CACHE"
# An environment variable that is set in a child, so that the child does not start children itself.
# When Python starts, it may run code of the user, and that code may use clmst.
CHILD_VARIABLE = "CLMST_IN_SELF_TEST"
_INTERPRETER = re.compile(r"(python|pypy|graalpy)w?[0-9.]*[dt]*([.]exe)?", re.IGNORECASE)


def processor() -> str:
    """Return the model name of the host's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def usable_cores() -> int:
    """Return the number of cores that this process may use, which may be less than all cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def physical_memory() -> int | None:
    """Return the machine's memory in bytes. Return None if the system does not report the size."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def version_of(name: str) -> str | None:
    """Return the version of the package `name`, or None if the package is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def may_write(folder: Path) -> bool:
    """Return whether this process may write files to a folder, or create the folder."""
    existing = next((one for one in (folder, *folder.parents) if one.exists()), None)
    return existing is not None and existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def cache_folder() -> Path:
    """Return the folder of the cache, which may not exist yet.

    The environment variable ``CLMST_CACHE`` names it. By default it is in the user's cache folder.
    """
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("clmst", appauthor=False)


def may_start() -> bool:
    """Return whether this process can start a child process of Python, which runs self-tests.

    The answer is False if this process is itself a child that runs self-tests, or if
    ``sys.executable`` is an application rather than a Python interpreter.
    """
    if getattr(sys, "frozen", False) or CHILD_VARIABLE in os.environ:
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
