"""Checks of memory that a caller passes: it must be as large as kernels assume."""

from __future__ import annotations

from clmst.core.arguments import check_kind, shown
from clmst.core.errors import InvalidArgumentError
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

    check_kind("device", device, Device)
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
