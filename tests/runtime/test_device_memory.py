"""The host's memory: what of it is pinned, and huge pages for buffers that are in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst.core.weight_keys import Array
from clmst.runtime import device_memory
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_memory import is_pinned
from clmst.runtime.launcher import Launcher
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


# --------------------------------------------------------------------- huge pages


def test_once_for_each_large_buffer(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool hands the same memory out again, which has pages by then."""
    asked: list[int] = []
    monkeypatch.setattr(
        device_memory, "advise_huge_pages", lambda queue, buffer, n: asked.append(n)
    )
    any_device.release_memory()
    large, small = device_memory.HUGE_PAGES_FROM, device_memory.HUGE_PAGES_FROM - 1
    for n_bytes in (small, large, large):
        any_device.allocate(n_bytes).release()
    in_place = any_device.capabilities.host_arrays != "copied"
    assert asked == ([large] if in_place else [])


def test_contents_are_as_ever(any_device: Device) -> None:
    """Whatever the system says to it, a buffer keeps what is written to it."""
    values: np.ndarray[Any, Any] = np.arange(
        device_memory.HUGE_PAGES_FROM // 4 + 5, dtype=np.uint32
    )
    any_device.release_memory()
    buffer, launch = any_device.allocate(values.nbytes), Launcher(any_device, any_device.queue)
    launch.write(buffer, values)
    device_memory.advise_huge_pages(any_device.queue, buffer, values.nbytes)
    back = np.zeros_like(values)
    launch.read(buffer, back)
    np.testing.assert_array_equal(back, values)
