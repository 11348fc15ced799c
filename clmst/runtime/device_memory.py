"""Memory as kernels need it: a caller's buffers, and arrays of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import check_kind, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array

if TYPE_CHECKING:
    from clmst.runtime.device import Device


def check_capacity(name: str, memory: object, n_bytes: int, device: Device) -> None:
    """Raise unless `memory` is a device's, of at least `n_bytes`, in the context of `device`.

    Parameters
    ----------
    name : str
        Its name in messages.
    memory : object
        A ``pyopencl.Buffer``, or ``pyopencl.SVM`` around a host array.
    n_bytes : int
    device : Device
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
    """Raise unless `memory` is memory of a device."""
    import pyopencl as cl

    if not isinstance(memory, cl.MemoryObjectHolder | cl.SVM):
        raise InvalidArgumentError(f"{name} is {shown(memory)}; it must be a pyopencl.Buffer")


def check_uploaded(array: Any) -> None:
    """Raise unless a device can take the array."""
    if type(array) is not np.ndarray:
        check_kind("array", array, np.ndarray, rule="it must be a NumPy array")
    if array.dtype.hasobject or not array.flags.c_contiguous:
        raise InvalidArgumentError(
            f"the array has shape {array.shape}, strides {array.strides} and dtype {array.dtype}; "
            "it must be contiguous, and of no Python objects"
        )


class ReadAlone:
    """The memory of a read-only array, for PyOpenCL, whose SVM must be writable.

    Kernels take what is uploaded as ``const``.
    """

    def __init__(self, array: Array) -> None:
        self._array = array  # whatever holds the memory
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}
