"""The memory of this machine."""

from __future__ import annotations

import os


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine, or None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
