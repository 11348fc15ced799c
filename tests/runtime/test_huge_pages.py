"""Huge pages: asked for once for each large buffer of a CPU device, and never in the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.runtime import huge_pages
from clmst.runtime.launcher import Launcher


def test_once_for_each_large_buffer(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool hands the same memory out again, which has pages by then."""
    asked: list[int] = []
    monkeypatch.setattr(huge_pages, "advise", lambda queue, buffer, n: asked.append(n))
    any_device.release_memory()
    large, small = huge_pages.ADVISED_FROM, huge_pages.ADVISED_FROM - 1
    for n_bytes in (small, large, large):
        any_device.allocate(n_bytes).release()
    in_place = any_device.capabilities.host_arrays != "copied"
    assert asked == ([large] if in_place else [])


def test_contents_are_as_ever(any_device: Device) -> None:
    """Whatever the system says to it, a buffer keeps what is written to it."""
    values: np.ndarray[Any, Any] = np.arange(huge_pages.ADVISED_FROM // 4 + 5, dtype=np.uint32)
    any_device.release_memory()
    buffer, launch = any_device.allocate(values.nbytes), Launcher(any_device, any_device.queue)
    launch.write(buffer, values)
    huge_pages.advise(any_device.queue, buffer, values.nbytes)
    back = np.zeros_like(values)
    launch.read(buffer, back)
    np.testing.assert_array_equal(back, values)
