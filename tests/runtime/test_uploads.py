"""Uploads beside kernels: what is pinned, and what waits for what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst.core.weight_keys import Array
from clmst.runtime import uploads
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer
from clmst.runtime.uploads import Uploads, is_pinned

SIZE, ROUNDS = 1 << 16, 20


def pinned(device: Device, size: int, dtype: Any) -> Array:
    """Return an array in memory that OpenCL has mapped."""
    import pyopencl as cl

    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
    buffer = cl.Buffer(device.context, flags, size * np.dtype(dtype).itemsize)
    access = cl.map_flags.READ | cl.map_flags.WRITE
    enqueue_map: Any = cl.enqueue_map_buffer  # whose stubs know no flags put together
    array: Array = enqueue_map(device.queue, buffer, access, 0, (size,), dtype)[0]
    return array


def test_mapped_memory_is_pinned(any_device: Device) -> None:
    """Views of it, too; copies and arrays of NumPy are not."""
    array = pinned(any_device, 100, np.float32)
    for view in (array, array[3:], array.view(np.uint32)[5:9], array.reshape(10, 10)[2]):
        assert is_pinned(view)
    for other in (array.copy(), array + 1, np.zeros(5), np.zeros(5)[2:]):
        assert not is_pinned(other)


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
