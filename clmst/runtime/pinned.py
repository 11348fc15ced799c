"""Pinned memory: of the host, never paged out, so that a device copies from it by itself."""

from __future__ import annotations

from typing import Any

from clmst.core.weight_keys import Array


def is_pinned(array: Array) -> bool:
    """Return whether an array is in memory that an OpenCL driver has mapped, and so has pinned."""
    import pyopencl as cl

    base: Any = array
    while base is not None and not isinstance(base, cl.MemoryMap):
        base = getattr(base, "base", None)
    return base is not None
