"""The number of usable cores."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return how many cores this process may use; on a shared machine these are not all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
