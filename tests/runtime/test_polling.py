"""Polling: it waits for all that is enqueued, and what is read then is whole."""

from __future__ import annotations

import time

import numpy as np
import pytest

from clmst import Device, DeviceArray
from clmst.runtime.launcher import Launcher


def test_it_waits_for_all_that_is_enqueued(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for an event that is not complete when it is first asked."""
    import pyopencl as cl

    gate, pauses = cl.UserEvent(any_device.context), list[float]()
    values = np.arange(1000, dtype=np.uint32)
    array = DeviceArray.from_host(values, any_device)
    inner = time.sleep

    def sleep(seconds: float) -> None:
        inner(seconds)
        pauses.append(seconds)
        if len(pauses) == 5:
            gate.set_status(cl.command_execution_status.COMPLETE)

    cl.enqueue_marker(any_device.queue, wait_for=[gate])
    monkeypatch.setattr(time, "sleep", sleep)
    out = np.empty(1000, np.uint32)
    Launcher(any_device, any_device.queue, polls=True).read(array.memory, out)
    np.testing.assert_array_equal(out, values)
    assert len(pauses) >= 5
