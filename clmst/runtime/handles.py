"""Types of PyOpenCL's classes, for annotations alone: nothing is imported for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl

    from clmst.core.weight_keys import Array
    from clmst.runtime.array import DeviceArray

# A buffer, a part of one, or what a pool lends: PyOpenCL takes that for a buffer everywhere.
Buffer: TypeAlias = "cl.Buffer"
# What kernels read and write: a buffer, or a host array that a device works on in place.
Memory: TypeAlias = "Buffer | cl.SVM[Array]"
Context: TypeAlias = "cl.Context"
Queue: TypeAlias = "cl.CommandQueue"
Event: TypeAlias = "cl.Event"
Kernel: TypeAlias = "cl.Kernel"
# What a launch takes: arrays stand for their memory, Python's integers for 32-bit words.
KernelArgument: TypeAlias = (
    "DeviceArray | Memory | np.generic | Array | int | cl.LocalMemory | None"
)


class Pool(Protocol):
    """The part of ``pyopencl.tools.MemoryPool`` in use; its stub says that it lends no buffers."""

    active_bytes: int
    managed_bytes: int
    held_blocks: int

    def allocate(self, size: int) -> Buffer:
        """Return a buffer of at least `size` bytes."""

    def free_held(self) -> None:
        """Give unused memory back to the device."""
