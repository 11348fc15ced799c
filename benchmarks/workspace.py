"""What all compared programs of a run share: the device, its queue and its memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

import clmst
from clmst.core.weight_keys import Array
from clmst.primitives.chain import chains_by_itself
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

_STALE = 0xA5


class Workspace:
    """A device with its queue and memory, which all compared programs (contestants) use.

    PyOpenCL's functions use the queue of the device and the same input and output buffers as
    clmst's. They allocate temporary buffers from a memory pool, as clmst does. `seed` determines
    the random inputs.
    """

    def __init__(self, device: clmst.Device, seed: int = 0) -> None:
        self.device = device
        self.seed = seed

    @property
    def rng(self) -> np.random.Generator:
        """A new random generator with the seed, so that no case depends on the cases before it."""
        return np.random.default_rng(self.seed)

    # -------------------------------------------------------------------- memory

    def put(self, values: Array) -> DeviceArray:
        """Copy an array to the device."""
        return DeviceArray.from_host(values, self.device)

    def empty(self, size: int, dtype: Any) -> DeviceArray:
        """Return memory on the device with undefined contents."""
        return DeviceArray.empty(size, dtype, self.device)

    def overwrite(self, arrays: Sequence[DeviceArray]) -> None:
        """Overwrite arrays, so that no compared program can return the result of another one."""
        launch = Launcher(self.device, self.device.queue)
        for array in arrays:
            launch.fill(array.memory, _STALE, array.nbytes, np.uint8)

    def finish(self) -> None:
        """Wait until all work on the queue of the device is finished."""
        self.device.queue.finish()

    @cached_property
    def pool(self) -> Any:
        """The memory pool from which PyOpenCL's functions allocate their temporary buffers."""
        from pyopencl.tools import ImmediateAllocator, MemoryPool

        return MemoryPool(ImmediateAllocator(self.device.queue))

    def theirs(self, array: DeviceArray, dtype: Any = None) -> Any:
        """Return a ``pyopencl.array.Array`` that shares the memory of `array`.

        Its elements are of `dtype`, by default the dtype of `array`.
        """
        import pyopencl.array

        dtype = array.dtype if dtype is None else np.dtype(dtype)
        given = {"allocator": self.pool, "data": array.memory}
        size = array.nbytes // dtype.itemsize
        return pyopencl.array.Array(self.device.queue, (size,), dtype, **given)

    @property
    def reads(self) -> int:
        """How often a scan or a selection on this device reads its input: 1 or 2.

        It is 1 if the device can do scans and selections in a single pass.
        """
        return 1 if chains_by_itself(self.device) else 2

    def release(self) -> None:
        """Return unused device memory, which is kept for later arrays, to the driver."""
        self.finish()
        self.pool.free_held()
        self.device.release_memory()

    # ------------------------------------------------------------------ identity

    @property
    def is_cpu(self) -> bool:
        """Whether the device is a CPU."""
        return self.device.capabilities.kind == "cpu"
