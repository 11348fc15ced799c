"""Uploads beside kernels: what is pinned, and what waits for what."""

from __future__ import annotations

import numpy as np
import pytest

from clmst.runtime import uploads
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer
from clmst.runtime.uploads import Uploads
from tests.runtime.test_device_memory import pinned

SIZE, ROUNDS = 1 << 16, 20


@pytest.mark.parametrize("has_own", [False, True])
@pytest.mark.parametrize("is_mapped", [False, True])
def test_copies_and_kernels_wait_for_each_other(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, has_own: bool, is_mapped: bool
) -> None:
    """Round after round into the same memory: each copy of it has the values of its round."""
    monkeypatch.setattr(uploads, "has_own_queue", lambda _: has_own)
    device, launch = any_device, Launcher(any_device, any_device.queue)
    sends, word = Uploads(device), np.dtype(np.uint32)
    assert len(sends.queues) == 1 + has_own
    target = DeviceArray.unchecked(SIZE, word, device)
    copies = [DeviceArray.unchecked(SIZE, word, device) for _ in range(ROUNDS)]
    array = pinned(device, SIZE, word) if is_mapped else np.empty(SIZE, word)
    for number, copy in enumerate(copies):
        array[:] = number
        sends.wait_for_kernels(sends.enqueued())
        sends.send([Transfer(buffer=target.memory, array=array)])
        sends.let_kernels_wait(sends.sent())
        launch.copy(target.memory, copy.memory, copy.nbytes)
        sends.wait()
    sends.finish()
    for number, copy in enumerate(copies):
        assert (copy.to_host() == number).all()
