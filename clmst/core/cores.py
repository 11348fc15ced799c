"""How many cores there are to work with."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return how many cores this process may use, which on a shared machine is not all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
