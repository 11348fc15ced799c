"""Where a call into clmst came from, for warnings."""

from __future__ import annotations

import sys


def callers_level() -> int:
    """Return how far up the first caller from outside the package is, as warnings count.

    The level is that of the function which calls this one.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("clmst."):
        level, frame = level + 1, frame.f_back
    return level
