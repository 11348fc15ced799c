"""Buffers for kernels: allocation, checks of a caller's buffers, and host arrays in place."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import check_kind, shown
from clmst.core.errors import InvalidArgumentError, OutOfDeviceMemoryError
from clmst.core.weight_keys import Array
from clmst.runtime import failures
from clmst.runtime.handles import Buffer, Memory, Pool, Queue

if TYPE_CHECKING:
    from clmst.runtime.device import Device


def allocate_small(device: Device, pool: Pool, sizes: Sequence[int]) -> list[Buffer]:
    """Allocate small buffers of the given sizes in bytes from a pool.

    The device's lock is taken once for all of them. That saves time, since a solve needs a dozen.
    """
    import pyopencl as cl

    buffers: list[Buffer] = []
    try:
        with device.lock:
            buffers = [pool.allocate(size if size > 16 else 16) for size in sizes]
    except cl.Error as error:
        if not failures.is_out_of_memory(error):
            raise failures.explained(device, error) from error
    return buffers or [allocate_again(device, pool, max(size, 16)) for size in sizes]


def allocate_again(device: Device, pool: Pool, n_bytes: int) -> Buffer:
    """Allocate `n_bytes` from a pool after a first attempt has failed.

    Garbage is collected first. Raises OutOfDeviceMemoryError if the second attempt fails as well.
    """
    import pyopencl as cl

    gc.collect()  # objects in reference cycles still own their memory
    try:
        with device.lock:
            return pool.allocate(n_bytes)
    except cl.Error as error:
        raise OutOfDeviceMemoryError(
            f"{n_bytes} bytes more are needed than {device.description} has left; "
            f"{device.memory_in_words()}"
        ) from error


def check_capacity(name: str, memory: object, n_bytes: int, device: Device) -> None:
    """Raise InvalidArgumentError unless `memory` is in a device's context and large enough.

    It must have at least `n_bytes` bytes. `name` is the name of the argument, for the message.
    """
    import pyopencl as cl

    check_is_memory(memory, name)
    if isinstance(memory, cl.MemoryObjectHolder):
        has: int = memory.size
        context = memory.get_info(cl.mem_info.CONTEXT)
        if context != device.context:
            raise InvalidArgumentError(f"{name} is in another context than that of {device!r}")
    else:
        assert isinstance(memory, cl.SVM)
        has = memory.mem.nbytes
    if has < n_bytes:
        raise InvalidArgumentError(f"{name} has {has} bytes; it must have {n_bytes}")


def check_is_memory(memory: object, name: str = "edges") -> None:
    """Raise InvalidArgumentError unless `memory` is a buffer or SVM of PyOpenCL.

    `name` is the name of the argument, for the message.
    """
    import pyopencl as cl

    if not isinstance(memory, cl.MemoryObjectHolder | cl.SVM):
        raise InvalidArgumentError(f"{name} is {shown(memory)}; it must be a pyopencl.Buffer")


def check_uploaded(array: Any) -> None:
    """Raise InvalidArgumentError unless `array` is a contiguous NumPy array without objects."""
    if type(array) is not np.ndarray:
        check_kind("array", array, np.ndarray, rule="it must be a NumPy array")
    if array.dtype.hasobject or not array.flags.c_contiguous:
        raise InvalidArgumentError(
            f"the array has shape {array.shape}, strides {array.strides} and dtype {array.dtype}; "
            "it must be contiguous, and of no Python objects"
        )


class ReadAlone:
    """A wrapper that presents a read-only array as writable, because PyOpenCL's SVM requires that.

    Kernels declare uploaded memory ``const``, so they do not write to it.
    """

    def __init__(self, array: Array) -> None:
        self._array = array  # keeps the memory alive
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def in_place(device: Device, array: Array) -> Memory | None:
    """Return a host array as a read-only kernel argument, or None if the device needs a copy."""
    import pyopencl as cl

    access = device.capabilities.host_arrays if array.nbytes else "copied"
    if access == "shared":
        return cl.SVM(array if array.flags.writeable else np.asarray(ReadAlone(array)))
    if access == "wrapped":
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
        return cl.Buffer(device.context, flags, hostbuf=array)
    return None


def result_in_place(device: Device, array: Array) -> Memory | None:
    """Return a host array as a kernel argument for output, or None if the device needs a buffer.

    Keep the array alive, and wait for the kernel before reading it. Writing in place saves a read:
    Intel's runtime takes 40 us or more to read 12 KB back, because it wakes other threads for it.
    """
    import pyopencl as cl

    is_shared = device.capabilities.host_arrays == "shared" and array.nbytes > 0
    return cl.SVM(array) if is_shared else None


def is_pinned(array: Array) -> bool:
    """Return whether an array is in memory that a driver has mapped, which is pinned.

    The system does not page pinned memory out, so a device can copy from it directly.
    """
    import pyopencl as cl

    base: Any = array
    while base is not None and not isinstance(base, cl.MemoryMap):
        base = getattr(base, "base", None)
    return base is not None


# advise_huge_pages ignores buffers with fewer bytes than this.
HUGE_PAGES_FROM = 4 << 20

_HUGE = 2 << 20
_MADV_HUGEPAGE = 14


def advise_huge_pages(queue: Queue, buffer: Memory, n_bytes: int) -> None:
    """Ask the system for huge pages for a buffer of `n_bytes` bytes in the host's memory.

    The buffer must not have been written yet. It is mapped by `queue`. If kernels access tens of
    megabytes at random, page look-ups take longer than the accesses themselves, above all in
    virtual machines. NumPy asks for huge pages for its arrays, but drivers do not. The call does
    nothing if the system does not have huge pages, or if the driver does not map its own memory.
    """
    import pyopencl as cl

    if sys.platform != "linux" or n_bytes < HUGE_PAGES_FROM:
        return
    enqueue_map: Any = cl.enqueue_map_buffer  # because its type stub does not accept combined flags
    access = cl.map_flags.READ | cl.map_flags.WRITE
    view, _ = enqueue_map(queue, buffer, access, 0, (n_bytes,), np.uint8)
    begin = -(-view.ctypes.data // _HUGE) * _HUGE
    end = (view.ctypes.data + n_bytes) // _HUGE * _HUGE
    libc = ctypes.CDLL(None)
    libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), _MADV_HUGEPAGE)
    view.base.release(queue)
