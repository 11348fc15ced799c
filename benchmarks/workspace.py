"""What all contestants of a run share: the device, its queue, and memory on it."""

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
    """A device with everything that contestants work in.

    Contestants of PyOpenCL work in the device's own queue, on the same buffers as clmst, and take
    their temporaries from a memory pool, as clmst does. `seed` is that of the random inputs.
    """

    def __init__(self, device: clmst.Device, seed: int = 0) -> None:
        self.device = device
        self.seed = seed

    @property
    def rng(self) -> np.random.Generator:
        """A new generator of the same random numbers: cases do not depend on one another."""
        return np.random.default_rng(self.seed)

    # -------------------------------------------------------------------- memory

    def put(self, values: Array) -> DeviceArray:
        """Return a copy on the device."""
        return DeviceArray.from_host(values, self.device)

    def empty(self, size: int, dtype: Any) -> DeviceArray:
        """Return memory on the device; contents undefined."""
        return DeviceArray.empty(size, dtype, self.device)

    def overwrite(self, arrays: Sequence[DeviceArray]) -> None:
        """Overwrite arrays, lest a result be read that another contestant left there."""
        launch = Launcher(self.device, self.device.queue)
        for array in arrays:
            launch.fill(array.memory, _STALE, array.nbytes, np.uint8)

    def finish(self) -> None:
        """Wait for everything enqueued."""
        self.device.queue.finish()

    @cached_property
    def pool(self) -> Any:
        """Where PyOpenCL's contestants get their temporaries."""
        from pyopencl.tools import ImmediateAllocator, MemoryPool

        return MemoryPool(ImmediateAllocator(self.device.queue))

    def theirs(self, array: DeviceArray, dtype: Any = None) -> Any:
        """Return a ``pyopencl.array.Array`` of the same memory, for elements of `dtype`."""
        import pyopencl.array

        dtype = array.dtype if dtype is None else np.dtype(dtype)
        given = {"allocator": self.pool, "data": array.memory}
        size = array.nbytes // dtype.itemsize
        return pyopencl.array.Array(self.device.queue, (size,), dtype, **given)

    @property
    def reads(self) -> int:
        """How often what is scanned or selects is read: once in one pass, else twice."""
        return 1 if chains_by_itself(self.device) else 2

    def release(self) -> None:
        """Give memory that is no longer used back to the device."""
        self.finish()
        self.pool.free_held()
        self.device.release_memory()

    # ------------------------------------------------------------------ identity

    @property
    def is_cpu(self) -> bool:
        """Whether the device is a CPU."""
        return self.device.capabilities.kind == "cpu"
