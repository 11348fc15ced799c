"""What a device's pool has in use: at most, and without Python's collection of cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from clmst import Device


class Peak:
    """A pool that notes the most that was in use.

    Attributes
    ----------
    before, most : int
        Bytes in use when it was made, and at most since then.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.before = self.most = inner.active_bytes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def allocate(self, n_bytes: int) -> Any:
        buffer = self._inner.allocate(n_bytes)
        self.most = max(self.most, self._inner.active_bytes)
        return buffer


@contextmanager
def peak_of(device: Device) -> Iterator[Peak]:
    """Note the most that a device's pool has in use meanwhile."""
    with patch.object(device, "_pool", Peak(device._pool)) as peak:  # which does all that one does
        yield peak


@contextmanager
def collecting_no_cycles() -> Iterator[None]:
    """Let objects that keep one another stay, as they may in a program for long."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
