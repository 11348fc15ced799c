"""One-dimensional arrays on a device, which the primitives (scan, selection, sort) work on."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import as_array, check_dtype, check_integer, check_kind, shown, unchecked
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array
from clmst.runtime.deferred_check import NO_FAULT, DeferredCheck
from clmst.runtime.device import Device
from clmst.runtime.device_memory import check_capacity
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard, check_memory
from clmst.runtime.handles import Memory, Queue
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceArray:
    """A one-dimensional array in the memory of a device.

    :meth:`from_host`, :meth:`empty` and :meth:`from_pyopencl` create arrays. ``len(array)`` and
    slices with step 1 work as in NumPy. A slice is a view: it shares the array's memory.

    Attributes
    ----------
    device : Device
        The device in whose memory the array is.
    dtype : numpy.dtype
        The dtype of the elements. It is a structured dtype if the elements are records.
    size : int
        Number of elements.
    memory : pyopencl.Buffer
        The kernel argument that stands for the array.
    base, offset : pyopencl.Buffer, int
        The buffer that contains the array, and the byte of that buffer at which the array begins.

    Examples
    --------
    >>> import clmst
    >>> import numpy as np
    >>> from clmst.runtime.array import DeviceArray
    >>> array = DeviceArray.from_host(np.arange(5), clmst.get_device())
    >>> array[:2].to_host()
    array([0, 1])
    """

    device: Device
    dtype: np.dtype[Any]
    size: int
    memory: Memory
    base: Any
    offset: int = 0
    # Checks that kernels make while they compute the array, whose results the host has not read
    # yet. If a check has found a fault, `to_host` raises the error of this check.
    checks: tuple[DeferredCheck, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the dtype, and that the memory is large enough and in the device's context."""
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
        """Create an array without initialising its contents.

        Parameters
        ----------
        size : int
            Number of elements.
        dtype : data-type
            The dtype of the elements.
        device : None, str, Device or pyopencl.CommandQueue
            See :func:`clmst.get_device`.

        Raises
        ------
        InvalidArgumentError
            The size is negative, or the dtype holds Python objects.
        OutOfDeviceMemoryError
            The device has too little free memory.

        Examples
        --------
        >>> import clmst
        >>> array = clmst.DeviceArray.empty(3, "u4")
        >>> len(array), array.nbytes
        (3, 12)
        """
        device = get_device(device)
        return cls.unchecked(check_integer("size", size, low=0), _checked_dtype(dtype), device)

    @classmethod
    def unchecked(
        cls, size: int, dtype: np.dtype[Any], device: Device, memory: Memory | None = None
    ) -> DeviceArray:
        """Create an array of a size and dtype without checking the arguments.

        The elements are in `memory`, or in a new buffer if it is None.
        """
        if memory is None:
            memory = device.allocate(size * dtype.itemsize)
        return unchecked(
            cls, device=device, dtype=dtype, size=size, memory=memory, base=memory, offset=0,
            checks=(),
        )  # fmt: skip

    @classmethod
    def from_host(cls, values: Any, device: Any = None) -> DeviceArray:
        """Copy a one-dimensional host array of any dtype to a device.

        Blocks until the copy is there.

        The copy has the dtype of `values`. `device` is passed to :func:`clmst.get_device`. Raises
        InvalidArgumentError if `values` are not one-dimensional, hold Python objects, or are on a
        device already.

        Examples
        --------
        >>> import clmst
        >>> import numpy as np
        >>> clmst.DeviceArray.from_host(np.array([1.5, 2.5])).to_host()
        array([1.5, 2.5])
        """
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
        """Create a view of a ``pyopencl.array.Array``, which stays the owner of the memory.

        Parameters
        ----------
        array : pyopencl.array.Array
            A contiguous array of one dimension.
        device : Device
            A device in the array's own context, such as ``clmst.get_device(queue)`` for the array's
            queue.

        Raises
        ------
        InvalidArgumentError
            The array is not contiguous, has several dimensions, or belongs to another context.

        Examples
        --------
        >>> import clmst
        >>> import numpy as np
        >>> import pyopencl.array as cl_array
        >>> device = clmst.get_device()
        >>> theirs = cl_array.to_device(device.queue, np.arange(3))
        >>> ours = clmst.DeviceArray.from_pyopencl(theirs, device)

        The two share their memory, so a change of one is a change of the other:

        >>> ours.write(np.array([7, 8, 9]))
        >>> theirs.get()
        array([7, 8, 9])
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
        """Create a ``pyopencl.array.Array`` on the same memory, without a copy.

        Parameters
        ----------
        queue : pyopencl.CommandQueue, optional
            The queue of the new array, in the context of this one. By default it is the device's
            own queue. Work in any other queue must wait for the device's queue first.
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
        """Return an array of the device's context as a DeviceArray, or None for any other object.

        No data are copied.

        Parameters
        ----------
        values : object
            A DeviceArray or ``pyopencl.array.Array``. If its queue is not the device's own, the
            call blocks until all work in that queue has finished. For anything else, such as an
            array of the host, the result is None.
        device : Device
            The device that is going to read the array.

        Raises
        ------
        InvalidArgumentError
            The array belongs to another context.
        """
        check_kind("device", device, Device)
        # If pyopencl.array has not been imported, `values` cannot be one of its arrays.
        array_module = sys.modules.get("pyopencl.array")
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
        """Copy the array to the host, and block until all commands enqueued before have finished.

        Returns
        -------
        numpy.ndarray
            A new array.

        Raises
        ------
        InvalidArgumentError
            A kernel that computed this array found a fault in its own input, such as decreasing
            offsets.
        DeviceLostError
            The array's memory was lost when the device failed.

        Examples
        --------
        >>> import clmst
        >>> import numpy as np
        >>> array = clmst.DeviceArray.from_host(np.array([5, 6, 7]))
        >>> array[:2].to_host()
        array([5, 6])
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
        """Copy the array into `values`, wait, and return one number for each of `self.checks`.

        The number says which fault the check has found first, or is NO_FAULT.
        """
        if not self.checks:
            launch.read(self.memory, values)
            return []
        words = [np.empty(1, np.uint32) for _ in self.checks]
        reads = [Transfer(buffer=self.memory, array=values)] if self.size else []
        pairs = zip(self.checks, words, strict=True)
        launch.read_all(*reads, *(Transfer(buffer=one.word, array=word) for one, word in pairs))
        return [int(word[0]) for word in words]

    def checked_by(self, checks: tuple[DeferredCheck, ...]) -> DeviceArray:
        """Return a view of the array to which further checks belong.

        A check has been made by a kernel, and the host has not read its outcome yet. If a check has
        found a fault, :meth:`to_host` of the view raises its error.
        """
        if not checks:
            return self
        attributes = {one.name: getattr(self, one.name) for one in fields(self)}
        return unchecked(DeviceArray, **attributes | {"checks": (*self.checks, *checks)})

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Copy the array to the host for ``numpy.asarray``, blocking as :meth:`to_host` does.

        The copy has `dtype`, or the array's own dtype if that is None. Raises InvalidArgumentError
        if `copy` is False, because memory of a device can only be copied.
        """
        if copy is False:
            raise InvalidArgumentError(
                "copy is False; the contents of a device's memory can only be copied"
            )
        return self.to_host().astype(self.dtype if dtype is None else dtype, copy=False)

    def write(self, values: Array) -> None:
        """Overwrite the array with `values`, a host array of equal length and dtype. Blocks.

        Raises InvalidArgumentError if `values` is not a host array, or differs in length or dtype.
        """
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
        """Size of the array in bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: slice) -> DeviceArray:
        """Return a view of consecutive elements.

        The first byte of the view must be aligned in its buffer as the device requires of
        sub-buffers, unless the view begins at the start of the array. Raises InvalidArgumentError
        if it is not aligned, if the key is not a slice, or if the step is not 1.
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
        """Create a view of `size` elements in the buffer `base`, beginning at byte `offset`."""
        memory = _region(device, base, offset, size * dtype.itemsize)
        return unchecked(
            cls, device=device, dtype=dtype, size=size, memory=memory, base=base, offset=offset,
            checks=(),
        )  # fmt: skip

    def view(self, dtype: npt.DTypeLike) -> DeviceArray:
        """Return a view of the array's bytes as elements of another dtype.

        Raises InvalidArgumentError if the size in bytes is not a multiple of the dtype's.

        Examples
        --------
        >>> import clmst
        >>> import numpy as np
        >>> array = clmst.DeviceArray.from_host(np.zeros(2, np.uint64))
        >>> array.view("u4").size
        4
        """
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
        """Return whether this array and `other` begin at the same byte of the same buffer."""
        check_kind("other", other, DeviceArray)
        return bool(self.base == other.base and self.offset == other.offset)

    def overlaps(self, other: DeviceArray) -> bool:
        """Return whether this array and `other` share at least one byte."""
        check_kind("other", other, DeviceArray)
        begin = max(self.offset, other.offset)
        end = min(self.offset + self.nbytes, other.offset + other.nbytes)
        return self.base == other.base and begin < end

    def __repr__(self) -> str:
        return f"DeviceArray({self.size} x {self.dtype} on {self.device.description})"


def _checked_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the argument as a dtype.

    Raises InvalidArgumentError for Python objects and for elements of zero bytes.
    """
    checked = check_dtype("dtype", dtype)
    if checked.hasobject or checked.itemsize == 0:
        raise InvalidArgumentError(
            f"elements are {checked}; a device's memory holds neither Python objects nor "
            "elements of 0 bytes"
        )
    return checked


def _region(device: Device, base: Memory, offset: int, n_bytes: int) -> Memory:
    """Return a kernel argument for `n_bytes` bytes of the buffer `base`, from byte `offset` on."""
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
            f"the array is in a {type(base).__name__}; only a buffer can be viewed from its middle"
        )
    whole: Any = base if isinstance(base, cl.Buffer) else cl.Buffer.from_int_ptr(base.int_ptr)
    with Guard(device):
        region: Memory = whole.get_sub_region(offset, n_bytes)
    return region


def _whole(base: Any, offset: int) -> tuple[Any, int]:
    """Return the top-level buffer that contains `base`, and the offset from its beginning.

    `offset` counts from the beginning of `base`. OpenCL does not allow sub-buffers of sub-buffers.
    :meth:`DeviceArray.overlaps` compares offsets, so they must all count from the beginning of the
    top-level buffer.
    """
    import pyopencl as cl

    if isinstance(base, cl.Buffer):
        parent: Any = base.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT)
        before: Any = base.get_info(cl.mem_info.OFFSET)
        if parent is not None:
            return parent, offset + before
    return base, offset


def array_on_host(array: Array | DeviceArray) -> Array:
    """Return an array on the host: the argument itself, or a copy if it is on a device."""
    return array.to_host() if isinstance(array, DeviceArray) else array
