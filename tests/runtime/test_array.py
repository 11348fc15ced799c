"""Device arrays: what goes in comes out, views are of the same bytes, mistakes are told."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from pyopencl.array import Array as ClArray
from pyopencl.tools import SVMAllocator

from clmst import Device, InvalidArgumentError, OutOfDeviceMemoryError, get_device
from clmst.runtime.array import DeviceArray
from tests.repeated.rounds import refused

VALUES = np.arange(1000, dtype=np.uint32)
OBJECTS = "a device's memory holds neither Python objects nor elements of 0 bytes"
PAIR = np.dtype([("key", "f4"), ("index", "u4")])


@pytest.fixture
def array(any_device: Device) -> DeviceArray:
    return DeviceArray.from_host(VALUES, any_device)


@pytest.fixture
def step(any_device: Device) -> int:
    """Return the elements of uint32 between places where a view may begin."""
    return any_device.capabilities.buffer_alignment // 4


# --------------------------------------------------------------------------- transfer


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f8", "S3", PAIR], ids=str)
@pytest.mark.parametrize("length", [0, 1, 3, 1000])
def test_what_goes_in_comes_out(device: Device, dtype: Any, length: int) -> None:
    """Arrays hold any dtype; what kernels compute with is another matter."""
    dtype = np.dtype(dtype)
    values = np.frombuffer(np.random.default_rng(1).bytes(length * dtype.itemsize), dtype)
    array = DeviceArray.from_host(values, device)
    assert (array.size, len(array), array.dtype) == (length, length, dtype)
    assert array.nbytes == values.nbytes
    assert array.device is device
    found = array.to_host()
    assert found.dtype == dtype
    assert found.tobytes() == values.tobytes()
    found[:] = values[::-1]  # a copy of the caller's own
    assert array.to_host().tobytes() == values.tobytes()


def test_input_of_any_layout(any_device: Device) -> None:
    for values in (VALUES[::-3], [3, 1, 4], (1.5, 2.5), range(4), np.asfortranarray(VALUES)):
        array = DeviceArray.from_host(values, any_device)
        np.testing.assert_array_equal(array.to_host(), np.asarray(values))


def test_write(array: DeviceArray, step: int) -> None:
    array.write(VALUES[::-1])
    array[step : 2 * step].write(VALUES[:step])
    array[:0].write(VALUES[:0])
    expected = VALUES[::-1].copy()
    expected[step : 2 * step] = VALUES[:step]
    np.testing.assert_array_equal(array.to_host(), expected)
    takes = "the array takes (1000,) and uint32"
    for values in (VALUES[:-1], VALUES.reshape(10, 100), VALUES.astype(np.int32), VALUES[:1]):
        message = refused(array.write, values)
        assert message == f"values have shape {values.shape} and dtype {values.dtype}; {takes}"
    np.testing.assert_array_equal(array.to_host(), expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda device: DeviceArray.from_host(VALUES.reshape(10, 100), device),
            "values have 2 dimensions; they must have one",
        ),
        # The addresses of objects would be copied, and point to nothing when they come back.
        (lambda device: DeviceArray.from_host([None, {}], device), OBJECTS),
        (lambda device: DeviceArray.empty(3, [("a", "u4"), ("b", "O")], device), OBJECTS),
        (
            lambda device: DeviceArray.empty(-1, np.uint32, device),
            "size is -1; it must not be negative",
        ),
    ],
)
def test_what_no_array_holds(any_device: Device, make: Any, message: str) -> None:
    assert refused(make, any_device).endswith(message)


def test_size_that_cannot_be(any_device: Device) -> None:
    limit = any_device.capabilities.max_allocation
    with pytest.raises(OutOfDeviceMemoryError, match=f"at most {limit} in one piece"):
        DeviceArray.empty(limit // 4 + 1, np.uint32, any_device)


def test_repr(array: DeviceArray) -> None:
    assert repr(array) == f"DeviceArray(1000 x uint32 on {array.device.description})"


def test_arrays_are_not_compared_by_value(array: DeviceArray) -> None:
    """That would need a transfer; they are keys of nothing but themselves."""
    assert array == array  # noqa: PLR0124
    assert array != array[:]
    assert len({array, array[:]}) == 2


# ------------------------------------------------------------------------------ views


def test_slices(device: Device) -> None:
    """As in NumPy, wherever they may begin."""
    array = DeviceArray.from_host(VALUES, device)
    step = device.capabilities.buffer_alignment // 4
    slices = [
        np.s_[:], np.s_[:0], np.s_[:7], np.s_[:-1], np.s_[: 10**6], np.s_[5:5], np.s_[9:3],
        np.s_[1000:], np.s_[step:], np.s_[step : step + 1], np.s_[2 * step : 3 * step],
        np.s_[(1000 // step) * step :], np.s_[-1000:10], np.s_[::1],
    ]  # fmt: skip
    for part in slices:
        view = array[part]
        np.testing.assert_array_equal(view.to_host(), VALUES[part])
        assert view.size == VALUES[part].size
        assert view.dtype == np.uint32


def test_views_are_of_the_same_bytes(device: Device) -> None:
    step = device.capabilities.buffer_alignment // 4
    array = DeviceArray.from_host(VALUES, device)
    inner = array[step : 6 * step][2 * step : 4 * step]
    np.testing.assert_array_equal(inner.to_host(), VALUES[3 * step : 5 * step])
    inner.write(np.zeros(2 * step, np.uint32))
    expected = VALUES.copy()
    expected[3 * step : 5 * step] = 0
    np.testing.assert_array_equal(array.to_host(), expected)


def test_view_keeps_its_memory(any_device: Device, step: int) -> None:
    """Memory comes from a pool: it must not go back there as long as a view is in use."""
    view = DeviceArray.from_host(VALUES, any_device)[step:]
    gc.collect()
    others = [DeviceArray.from_host(np.zeros_like(VALUES), any_device) for _ in range(3)]
    np.testing.assert_array_equal(view.to_host(), VALUES[step:])
    assert not any(view.overlaps(other) for other in others)


def test_view_that_begins_where_the_device_takes_none(array: DeviceArray) -> None:
    alignment = array.device.capabilities.buffer_alignment
    message = refused(lambda: array[3:])
    assert message == (
        f"the view begins at byte 12 of its buffer; on {array.device.description} it must be a "
        f"multiple of {alignment}"
    )
    assert refused(lambda: array[-1:]).startswith("the view begins at byte 3996 of its buffer")
    assert array[3:3].size == 0  # without a byte there is nothing to align


@pytest.mark.parametrize("step", [2, -1])
def test_no_views_of_other_steps(array: DeviceArray, step: int) -> None:
    message = refused(lambda: array[::step])
    assert message == f"the slice has step {step}; views take a step of 1"


def test_numpy_takes_it(array: DeviceArray) -> None:
    """``numpy.asarray`` is a copy by name; no index is tried."""
    values = array.to_host()
    for found in (np.asarray(array), np.array(array), np.asarray(array[:0])):
        np.testing.assert_array_equal(found, values[: found.size])
        assert found.dtype == array.dtype
    assert np.asarray(array, dtype=np.float64).dtype == np.float64
    assert np.sum(array) == values.sum()
    refused = "copy is False; the contents of a device's memory can only be copied"
    with pytest.raises(InvalidArgumentError, match=refused):
        array.__array__(copy=False)


def test_other_dtypes(array: DeviceArray, step: int) -> None:
    for dtype in (np.uint8, np.int32, np.float32, np.uint64, PAIR):
        view = array.view(dtype)
        assert view.to_host().tobytes() == VALUES.tobytes()
        assert view.size == VALUES.nbytes // np.dtype(dtype).itemsize
    part = array[step : 2 * step].view(np.uint64)
    np.testing.assert_array_equal(part.to_host(), VALUES[step : 2 * step].view(np.uint64))
    assert refused(array[:3].view, np.uint64) == (
        "the array has 12 bytes; they must be a multiple of the 8 of uint64"
    )


def test_overlaps(array: DeviceArray, step: int) -> None:
    """What has a byte in common; nothing has, not even where it would lie inside of something."""
    first, second, both = array[:step], array[step : 2 * step], array[: 2 * step]
    other = DeviceArray.from_host(VALUES, array.device)
    nothing = (array[:0], array[step:][:0], second[5:5])
    common = [(array, array), (array, second), (both, first), (both, second.view(np.uint8))]
    apart = [(first, second), (array, other), *((one, array) for one in nothing)]
    apart += [(one, one) for one in nothing]
    for pairs, expected in ((common, True), (apart, False)):
        for one, another in pairs:
            assert one.overlaps(another) is another.overlaps(one) is expected


# ---------------------------------------------------------------------- PyOpenCL arrays


@pytest.fixture
def foreign(any_device: Device) -> ClArray:
    """Return an array of PyOpenCL's."""
    found = ClArray(any_device.queue, VALUES.shape, VALUES.dtype)
    found.set(VALUES)
    return found


def test_pyopencl_array_is_shared(any_device: Device, foreign: ClArray, step: int) -> None:
    array = DeviceArray.from_pyopencl(foreign, any_device)
    np.testing.assert_array_equal(array.to_host(), VALUES)
    array[step : 2 * step].write(np.zeros(step, np.uint32))
    expected = VALUES.copy()
    expected[step : 2 * step] = 0
    np.testing.assert_array_equal(foreign.get(), expected)


def test_pyopencl_array_in_part_of_a_buffer(
    any_device: Device, foreign: ClArray, step: int
) -> None:
    """OpenCL does not make parts of parts, and overlaps are visible in the whole buffer only."""
    assert isinstance(foreign.base_data, cl.Buffer)
    part = foreign.base_data.get_sub_region(4 * step, 20 * step)
    array = ClArray(any_device.queue, 5 * step, np.uint32, data=part)
    whole = DeviceArray.from_pyopencl(foreign, any_device)
    for one, end in ((array, 6 * step), (foreign[step:-5], -5)):
        found = DeviceArray.from_pyopencl(one, any_device)
        np.testing.assert_array_equal(found.to_host(), VALUES[step:end])
        np.testing.assert_array_equal(found[2 * step :].to_host(), VALUES[3 * step : end])
        assert found.overlaps(whole)
        assert not found.overlaps(whole[:step])
    made = DeviceArray(device=any_device, dtype=VALUES.dtype, size=5 * step, memory=part, base=part)
    assert made.overlaps(whole)
    assert not made.overlaps(whole[:step])
    assert DeviceArray.from_pyopencl(foreign[:0], any_device).to_host().size == 0


def test_pyopencl_arrays_that_are_none_of_ours(any_device: Device, foreign: ClArray) -> None:
    queue = any_device.queue
    rule = "it must have one dimension and be contiguous"
    table = ClArray(queue, (10, 100), np.uint32)
    message = refused(DeviceArray.from_pyopencl, table, any_device)
    assert message == f"the array has shape (10, 100) and strides (400, 4); {rule}"
    message = refused(DeviceArray.from_pyopencl, foreign[::2], any_device)
    assert message == f"the array has shape (500,) and strides (8,); {rule}"
    other = Device(any_device.cl_device)
    assert refused(DeviceArray.from_pyopencl, foreign, other) == (
        f"the array belongs to another context than {other!r}; make the device of the array's own "
        "queue"
    )
    alignment = any_device.capabilities.buffer_alignment
    message = refused(DeviceArray.from_pyopencl, foreign[1:], any_device)
    assert message.startswith("the view begins at byte 4 of its buffer; ")
    assert message.endswith(f"must be a multiple of {alignment}")


def test_what_is_on_the_device_already(any_device: Device) -> None:
    """As it is, whoever made it, once it has been written; host arrays are not."""
    own = DeviceArray.from_host(VALUES, any_device)
    assert DeviceArray.in_context(own, any_device) is own
    queue = cl.CommandQueue(any_device.context)
    beside = DeviceArray.from_host(VALUES, get_device(queue))
    assert DeviceArray.in_context(beside, any_device) is beside
    foreign = cl.array.to_device(queue, VALUES, async_=True)
    view = DeviceArray.in_context(foreign, any_device)
    assert view is not None
    assert view.to_host().tolist() == VALUES.tolist()
    for values in (VALUES, VALUES.tolist(), 5, None):
        assert DeviceArray.in_context(values, any_device) is None
    other = Device(any_device.cl_device)
    assert "another context" in refused(DeviceArray.in_context, own, other)
    assert "another context" in refused(DeviceArray.in_context, foreign, other)


def test_queue_of_the_callers_own(any_device: Device) -> None:
    """The way in for whoever has arrays in a context of their own."""
    context = cl.Context([any_device.cl_device])
    queue = cl.CommandQueue(context)
    foreign = ClArray(queue, VALUES.shape, VALUES.dtype)
    foreign.set(VALUES)
    array = DeviceArray.from_pyopencl(foreign, get_device(queue))
    np.testing.assert_array_equal(array.to_host(), VALUES)


def test_shared_virtual_memory(any_device: Device, step: int) -> None:
    """As a whole it is as good as a buffer; kernels do not take parts of it."""
    try:
        allocator = SVMAllocator(any_device.context, alignment=0, queue=any_device.queue)
        foreign = ClArray(any_device.queue, VALUES.shape, VALUES.dtype, allocator=allocator)
    except cl.Error:
        pytest.skip("the device has no shared virtual memory")
    foreign.set(VALUES)
    array = DeviceArray.from_pyopencl(foreign, any_device)
    np.testing.assert_array_equal(array.to_host(), VALUES)
    message = refused(lambda: array[step:])
    assert message == "the array is in a SVMAllocation; only a buffer can be viewed from its middle"


# ------------------------------------------------------------------------- to PyOpenCL


def test_pyopencl_has_the_same_memory(array: DeviceArray, step: int) -> None:
    whole, part = array.to_pyopencl(), array[step:].to_pyopencl()
    assert isinstance(whole, ClArray)
    assert whole.get().tolist() == VALUES.tolist()
    part.fill(7)
    assert array.to_host()[step:].tolist() == [7] * (VALUES.size - step)
    again = DeviceArray.from_pyopencl(part, array.device)
    assert again.is_at(array[step:])


def test_pyopencl_by_another_queue(array: DeviceArray) -> None:
    queue = cl.CommandQueue(array.device.context)
    assert array.to_pyopencl(queue).queue == queue
    assert "must be a pyopencl.CommandQueue" in refused(array.to_pyopencl, "gpu")
    context = cl.Context(array.device.context.devices)
    other = cl.CommandQueue(context)
    assert "of the context of" in refused(array.to_pyopencl, other)
