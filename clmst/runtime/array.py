"""One-dimensional arrays on a device: what primitives take and return."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import as_array, check_dtype, check_integer, check_kind, shown, unchecked
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_memory import check_capacity
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard, check_memory
from clmst.runtime.handles import Buffer, Memory, Queue
from clmst.runtime.launcher import Launcher
from clmst.runtime.pending import NO_FAULT, PendingCheck
from clmst.runtime.transfer import Transfer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceArray:
    """A one-dimensional array in a device's memory.

    Make one with :meth:`from_host`, :meth:`empty` or :meth:`from_pyopencl`. ``len(array)`` and
    slices with step 1 work as in NumPy; a slice is a view.

    Attributes
    ----------
    device : Device
        The device whose memory it is in.
    dtype : numpy.dtype
        The dtype of the elements; a structured dtype for records.
    size : int
        Number of elements.
    memory : pyopencl.Buffer
        What kernels take.
    base, offset : pyopencl.Buffer, int
        The whole buffer, and where in it the array begins, in bytes.
    """

    device: Device
    dtype: np.dtype[Any]
    size: int
    memory: Memory
    base: Any
    offset: int = 0
    # What the device checks while it computes the array; to_host raises the error of a fault.
    checks: tuple[PendingCheck, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the memory is as large as the array."""
        check_kind("device", self.device, Device)
        object.__setattr__(self, "dtype", _checked_dtype(self.dtype))
        object.__setattr__(self, "size", check_integer("size", self.size, low=0))
        object.__setattr__(self, "offset", check_integer("offset", self.offset, low=0))
        check_capacity("memory", self.memory, self.nbytes, self.device)
        check_capacity("base", self.base, self.offset + self.nbytes, self.device)
        for name, value in zip(("base", "offset"), _whole(self.base, self.offset), strict=True):
            object.__setattr__(self, name, value)

    # -------------------------------------------------------------- construction

    @classmethod
    def empty(cls, size: int, dtype: npt.DTypeLike, device: Any = None) -> DeviceArray:
        """Return a new array; contents undefined.

        Parameters
        ----------
        size : int
            Number of elements.
        dtype : data-type
        device : None, str, Device or pyopencl.CommandQueue
            See :func:`clmst.get_device`.

        Raises
        ------
        InvalidArgumentError
            A negative size, or elements that are Python objects.
        OutOfDeviceMemoryError
        """
        device = get_device(device)
        return cls.unchecked(check_integer("size", size, low=0), _checked_dtype(dtype), device)

    @classmethod
    def unchecked(
        cls, size: int, dtype: np.dtype[Any], device: Device, memory: Buffer | None = None
    ) -> DeviceArray:
        """Return an array in a buffer, by default a new one, of arguments that need no checks."""
        if memory is None:
            memory = device.allocate(size * dtype.itemsize)
        return unchecked(
            cls, device=device, dtype=dtype, size=size, memory=memory, base=memory, offset=0,
            checks=(),
        )  # fmt: skip

    @classmethod
    def from_host(cls, values: Any, device: Any = None) -> DeviceArray:
        """Return a copy of a host array, of its dtype; waits for the transfer. O(n)."""
        if isinstance(values, cls):
            raise InvalidArgumentError("values are a DeviceArray; from_host takes a host array")
        values = as_array("values", values)
        values = np.ascontiguousarray(values) if values.ndim else values
        if values.ndim != 1:
            raise InvalidArgumentError(f"values have {values.ndim} dimensions; they must have one")
        array = cls.empty(values.size, values.dtype, device)
        array.write(values)
        return array

    @classmethod
    def from_pyopencl(cls, array: Any, device: Device) -> DeviceArray:
        """Return a view of a ``pyopencl.array.Array``, which stays the owner of the memory.

        Parameters
        ----------
        array : pyopencl.array.Array
            One dimension, contiguous.
        device : Device
            Made of a queue of the array's own context: ``clmst.get_device(queue)``.
        """
        import pyopencl.array as cl_array

        check_kind("device", device, Device)
        check_kind("array", array, cl_array.Array, rule="it must be a pyopencl.array.Array")
        _checked_dtype(array.dtype)
        if array.ndim != 1 or not array.flags.forc:
            raise InvalidArgumentError(
                f"the array has shape {array.shape} and strides {array.strides}; it must have one "
                "dimension and be contiguous"
            )
        if array.context != device.context:
            raise InvalidArgumentError(
                f"the array belongs to another context than {device!r}; "
                "make the device of the array's own queue"
            )
        base, offset = _whole(array.base_data, array.offset)
        return cls._within(base, offset, array.size, array.dtype, device)

    def to_pyopencl(self, queue: Queue | None = None) -> Any:
        """Return a ``pyopencl.array.Array`` of the same memory, without a copy.

        Parameters
        ----------
        queue : pyopencl.CommandQueue, optional
            Of the array's context; by default the device's own, for which another one must wait.
        """
        import pyopencl as cl
        import pyopencl.array as cl_array

        check_memory(self.device, self.base)
        own = self.device.queue if queue is None else queue
        if not isinstance(own, cl.CommandQueue) or own.context != self.device.context:
            raise InvalidArgumentError(
                f"queue is {shown(queue)}; it must be a pyopencl.CommandQueue of the context of "
                f"{self.device!r}"
            )
        if not isinstance(self.base, cl.MemoryObjectHolder):
            raise InvalidArgumentError(
                f"the array is in a {type(self.base).__name__}; only a buffer can be shared"
            )
        return cl_array.Array(own, (self.size,), self.dtype, data=self.base, offset=self.offset)

    @classmethod
    def in_context(cls, values: Any, device: Device) -> DeviceArray | None:
        """Return an array of the device as a DeviceArray, without a copy; None for host values.

        Parameters
        ----------
        values : object
            A DeviceArray or ``pyopencl.array.Array`` of the device's context. If its queue is not
            the device's own, the call waits for all work in that queue.
        device : Device

        Raises
        ------
        InvalidArgumentError
            It is of another context.
        """
        check_kind("device", device, Device)
        array_module = sys.modules.get("pyopencl.array")  # without it there is no such array
        if isinstance(values, cls):
            if values.device is not device and values.device.context != device.context:
                raise InvalidArgumentError(
                    f"the array is on {values.device!r}, another context than that of {device!r}; "
                    "one solve takes place in one context"
                )
            if values.device is not device and values.device.queue != device.queue:
                values.device.queue.finish()
            return values
        if array_module is None or not isinstance(values, array_module.Array):
            return None
        view = cls.from_pyopencl(values, device)
        for event in values.events:
            event.wait()
        if values.queue is not None and values.queue != device.queue:
            values.queue.finish()
        return view

    # ------------------------------------------------------------------ transfer

    def to_host(self) -> Array:
        """Return a copy as a NumPy array; waits for everything enqueued before. O(n).

        Raises
        ------
        InvalidArgumentError
            The array is a result of arguments in which the device has found a fault, such as
            offsets that fall.
        """
        check_memory(self.device, self.base)
        values = np.empty(self.size, self.dtype)
        if self.size or self.checks:
            launch = Launcher(self.device, self.device.queue)
            with Guard(self.device):
                faults = self._read(launch, values)
            for check, fault in zip(self.checks, faults, strict=True):
                if fault != NO_FAULT:
                    raise check.error(fault)
        return values

    def _read(self, launch: Launcher, values: Array) -> list[int]:
        """Copy the array to the host; return the faults that its checks have found, in one wait."""
        if not self.checks:
            launch.read(self.memory, values)
            return []
        words = [np.empty(1, np.uint32) for _ in self.checks]
        reads = [Transfer(buffer=self.memory, array=values)] if self.size else []
        pairs = zip(self.checks, words, strict=True)
        launch.read_all(*reads, *(Transfer(buffer=one.word, array=word) for one, word in pairs))
        return [int(word[0]) for word in words]

    def checked_by(self, checks: tuple[PendingCheck, ...]) -> DeviceArray:
        """Return the array with more checks, whose errors :meth:`to_host` raises."""
        if not checks:
            return self
        attributes = {one.name: getattr(self, one.name) for one in fields(self)}
        return unchecked(DeviceArray, **attributes | {"checks": (*self.checks, *checks)})

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return a copy, as ``numpy.asarray`` wants it; else as :meth:`to_host`."""
        if copy is False:
            raise InvalidArgumentError(
                "copy is False; what a device has in its memory can only be copied"
            )
        return self.to_host().astype(self.dtype if dtype is None else dtype, copy=False)

    def write(self, values: Array) -> None:
        """Overwrite the array with a host array of the same length and dtype; waits. O(n)."""
        check_kind("values", values, np.ndarray, rule="it must be a NumPy array")
        if values.shape != (self.size,) or values.dtype != self.dtype:
            raise InvalidArgumentError(
                f"values have shape {values.shape} and dtype {values.dtype}; the array takes "
                f"{(self.size,)} and {self.dtype}"
            )
        check_memory(self.device, self.base)
        if self.size:
            transfer = Transfer(buffer=self.memory, array=np.ascontiguousarray(values))
            self.device.send([transfer])

    # --------------------------------------------------------------------- views

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: slice) -> DeviceArray:
        """Return a view of consecutive elements.

        Its first byte must be aligned as the device wants it of a buffer, unless it begins where
        the array does.
        """
        if not isinstance(key, slice):
            raise InvalidArgumentError(
                f"the index is {shown(key)}; a DeviceArray takes slices (to_host() copies elements)"
            )
        try:
            start, stop, step = key.indices(self.size)
        except Exception as error:
            raise InvalidArgumentError(
                f"the slice is {shown(key)}; its ends and step must be integers, the step not 0"
            ) from error
        if step != 1:
            raise InvalidArgumentError(f"the slice has step {step}; views take a step of 1")
        size = max(stop - start, 0)
        offset = self.offset + start * self.dtype.itemsize if size else self.offset
        part = self._within(self.base, offset, size, self.dtype, self.device)
        return part.checked_by(self.checks)

    @classmethod
    def _within(
        cls, base: Any, offset: int, size: int, dtype: np.dtype[Any], device: Device
    ) -> DeviceArray:
        """Return the array that begins at a byte of a buffer."""
        memory = _region(device, base, offset, size * dtype.itemsize)
        return unchecked(
            cls, device=device, dtype=dtype, size=size, memory=memory, base=base, offset=offset,
            checks=(),
        )  # fmt: skip

    def view(self, dtype: npt.DTypeLike) -> DeviceArray:
        """Return the same bytes as elements of another dtype."""
        dtype = _checked_dtype(dtype)
        if self.nbytes % dtype.itemsize:
            raise InvalidArgumentError(
                f"the array has {self.nbytes} bytes; they must be a multiple of the "
                f"{dtype.itemsize} of {dtype}"
            )
        return unchecked(
            DeviceArray, device=self.device, dtype=dtype, size=self.nbytes // dtype.itemsize,
            memory=self.memory, base=self.base, offset=self.offset, checks=self.checks,
        )  # fmt: skip

    def is_at(self, other: DeviceArray) -> bool:
        """Return whether the two begin at the same byte."""
        check_kind("other", other, DeviceArray)
        return bool(self.base == other.base and self.offset == other.offset)

    def overlaps(self, other: DeviceArray) -> bool:
        """Return whether the two have a byte in common."""
        check_kind("other", other, DeviceArray)
        begin = max(self.offset, other.offset)
        end = min(self.offset + self.nbytes, other.offset + other.nbytes)
        return self.base == other.base and begin < end

    def __repr__(self) -> str:
        return f"DeviceArray({self.size} x {self.dtype} on {self.device.description})"


def _checked_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype of elements; raise for Python objects and empty types."""
    checked = check_dtype("dtype", dtype)
    if checked.hasobject or checked.itemsize == 0:
        raise InvalidArgumentError(
            f"elements are {checked}; Python objects, and what has no bytes, have no place in a "
            "device's memory"
        )
    return checked


def _region(device: Device, base: Memory, offset: int, n_bytes: int) -> Memory:
    """Return the kernel argument for the bytes of `base` from `offset` on."""
    if offset == 0 or n_bytes == 0:
        return base
    alignment = device.capabilities.buffer_alignment
    if offset % alignment:
        raise InvalidArgumentError(
            f"the view begins at byte {offset} of its buffer; on {device.description} it must be a "
            f"multiple of {alignment}"
        )
    import pyopencl as cl

    if not isinstance(base, cl.MemoryObjectHolder):
        raise InvalidArgumentError(
            f"the array is in a {type(base).__name__}; views into the middle are of buffers only"
        )
    whole: Any = base if isinstance(base, cl.Buffer) else cl.Buffer.from_int_ptr(base.int_ptr)
    with Guard(device):
        region: Memory = whole.get_sub_region(offset, n_bytes)
    return region


def _whole(base: Any, offset: int) -> tuple[Any, int]:
    """Return the buffer that `base` is part of, and the offset of `base` in it plus `offset`.

    OpenCL has no sub-buffers of sub-buffers, and two sub-buffers are compared by their offsets.
    """
    import pyopencl as cl

    if isinstance(base, cl.Buffer):
        parent: Any = base.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT)
        before: Any = base.get_info(cl.mem_info.OFFSET)
        if parent is not None:
            return parent, offset + before
    return base, offset


def array_on_host(array: Array | DeviceArray) -> Array:
    """Return an array that is on the host as it is, and a copy of one that is on a device."""
    return array.to_host() if isinstance(array, DeviceArray) else array
