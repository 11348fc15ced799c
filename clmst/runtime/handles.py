"""Names for PyOpenCL's types, for annotations only, so that PyOpenCL is not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl

    from clmst.core.weight_keys import Array
    from clmst.runtime.array import DeviceArray

# A buffer, a sub-buffer, or memory lent by a pool, which PyOpenCL accepts as a buffer.
Buffer: TypeAlias = "cl.Buffer"
# Memory that kernels read and write: a buffer, or a host array that a device uses in place.
Memory: TypeAlias = "Buffer | cl.SVM[Array]"
Context: TypeAlias = "cl.Context"
Queue: TypeAlias = "cl.CommandQueue"
Event: TypeAlias = "cl.Event"
Kernel: TypeAlias = "cl.Kernel"
# The arguments of a kernel. A DeviceArray stands for its memory, a Python integer for a 32-bit
# word.
KernelArgument: TypeAlias = (
    "DeviceArray | Memory | np.generic | Array | int | cl.LocalMemory | None"
)


class Pool(Protocol):
    """The methods of ``pyopencl.tools.MemoryPool`` that clmst uses, with the types that they have.

    PyOpenCL's own type stub does not say that `allocate` returns a Buffer.
    """

    active_bytes: int
    managed_bytes: int
    held_blocks: int

    def allocate(self, size: int) -> Buffer:
        """Return a buffer of at least `size` bytes from the pool, with undefined contents."""

    def free_held(self) -> None:
        """Free the memory that the pool keeps for later, and that is not in use."""
