"""Lock files: a process holds a lock on a file, by which other processes see that it is running."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def locked(path: Path, flags: int = 0) -> int | None:
    """Open and lock the file `path`, and return the descriptor. A missing file is created.

    Returns None if another process holds the lock, or if the file cannot be opened or locked. The
    lock ends when the descriptor is closed, or when the process ends in any way. On systems other
    than POSIX nothing is locked. `flags` are further flags of :func:`os.open`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o644)
    except OSError:
        return None
    try:
        with suppress(ImportError):  # not a POSIX system
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file
