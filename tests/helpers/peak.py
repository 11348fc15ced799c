"""Measure the memory that a device's pool has in use, and switch off the collection of cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from clmst import Device


class Peak:
    """A pool that records the maximum of the memory in use.

    Attributes
    ----------
    before, most : int
        Bytes in use when this object was made, and the maximum since then.
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
    """Record the maximum of the memory in use in a device's pool while the body runs."""
    with patch.object(device, "_pool", Peak(device._pool)) as peak:
        yield peak


@contextmanager
def collecting_no_cycles() -> Iterator[None]:
    """Switch off the collection of reference cycles while the body runs.

    Cycles then stay in memory, as they may for a long time in a program.
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
