"""What is in pinned memory, and how it is uploaded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.pinned import is_pinned
from clmst.runtime.transfer import Staging, StagingShape, Transfer


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


def test_pinned_arrays_need_no_threads(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device copies them; ordinary arrays of the same transfer go through staging."""
    monkeypatch.setattr("clmst.runtime.transfer.STAGED_FROM", 1)
    shared: list[int] = []
    share = Staging._share

    def counted(self: Staging, work: Any, transfers: Any) -> None:
        shared.append(len(transfers))
        share(self, work, transfers)

    monkeypatch.setattr(Staging, "_share", counted)
    staging = Staging(any_device.queue, shape=StagingShape(block_bytes=4096))
    word = np.dtype(np.uint32)
    arrays = [pinned(any_device, 5000, word), np.empty(5000, word), pinned(any_device, 70, word)]
    targets = [DeviceArray.unchecked(one.size, word, any_device) for one in arrays]
    for number, array in enumerate(arrays):
        array[:] = np.arange(array.size) + number
    transfers = [
        Transfer(buffer=target.memory, array=array)
        for target, array in zip(targets, arrays, strict=True)
    ]
    staging.send(any_device.queue, transfers)
    staging.send(any_device.queue, transfers[:1])
    assert shared == [1]
    for target, array in zip(targets, arrays, strict=True):
        np.testing.assert_array_equal(target.to_host(), array)
    staging.free()
