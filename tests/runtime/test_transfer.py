"""Transfers: nothing lost, in whatever pieces and threads, through whatever memory and queue."""

from __future__ import annotations

import gc
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import clmst
from clmst import Device
from clmst.core.machine import usable_cores
from clmst.core.weight_keys import Array
from clmst.runtime import device_memory
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_memory import is_pinned
from clmst.runtime.launcher import Launcher, Profile
from clmst.runtime.transfer import Staging, StagingShape, Transfer
from clmst.runtime.uploads import Uploads
from tests.faults.injection import inject
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_same_forest

PAGE = 4096
SIZE, ROUNDS = 1 << 16, 20
SMALL = StagingShape(threads=3, blocks=2, block_bytes=2 * PAGE, from_bytes=1)
THREADS = min(SMALL.threads, usable_cores())


@pytest.fixture
def copying(any_device: Device) -> Device:
    """Return a device that copies like a GPU, through little memory and from few bytes on."""
    device = with_capabilities(any_device, host_arrays="copied")
    device.staging = Staging(device.queue, shape=SMALL)
    return device


def pinned(device: Device, size: int, dtype: Any) -> Array:
    """Return an array in memory that OpenCL has mapped."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
    buffer = cl.Buffer(device.context, flags, size * np.dtype(dtype).itemsize)
    access = cl.map_flags.READ | cl.map_flags.WRITE
    enqueue_map: Any = cl.enqueue_map_buffer  # whose stubs know no flags put together
    array: Array = enqueue_map(device.queue, buffer, access, 0, (size,), dtype)[0]
    return array


def numbers(n_bytes: int) -> Any:
    return np.random.default_rng(n_bytes).integers(0, 256, n_bytes, np.uint8)


def contents(device: Device, buffer: Any, like: Any) -> Any:
    found = np.zeros_like(like)
    cl.enqueue_copy(device.queue, found, buffer, is_blocking=True)
    return found


# --------------------------------------------------------------------- both directions


@pytest.mark.parametrize("blocks", [1, 2, 3])
@pytest.mark.parametrize("n_bytes", [1, PAGE - 1, PAGE, 12 * PAGE, 40 * PAGE + 3, 100 * PAGE])
def test_there_and_back(copying: Device, n_bytes: int, blocks: int) -> None:
    """Fewer pieces than threads, as many, and so many that every block is used again."""
    copying.staging = Staging(copying.queue, shape=replace(SMALL, blocks=blocks))
    array = numbers(n_bytes)
    buffer = copying.upload(array)
    np.testing.assert_array_equal(contents(copying, buffer, array), array)
    found = np.zeros_like(array)
    Launcher(copying, copying.queue).read(buffer, found)
    np.testing.assert_array_equal(found, array)


def test_several_arrays_at_once(copying: Device) -> None:
    arrays = [numbers(n).view(dtype) for n, dtype in ((80_008, "f8"), (0, "u1"), (70_004, "u4"))]
    for wait in (True, False):
        buffers = copying.upload_all(*arrays, wait=wait)
        for buffer, array in zip(buffers, arrays, strict=True):
            if array.size:
                np.testing.assert_array_equal(contents(copying, buffer, array), array)


def test_arrays_are_the_callers_again(copying: Device) -> None:
    """What is overwritten after an upload must have been taken before, waited for or not."""
    for turn in range(20):
        array = np.full(50 * PAGE, turn, np.uint8)
        buffer = copying.upload_all(array, wait=False)[0]
        array[:] = 255
        assert (contents(copying, buffer, array) == turn).all()


def test_offsets_and_ranges(copying: Device) -> None:
    """Each range that has come is announced once, and is there by then."""
    array = numbers(60 * PAGE + 8)
    buffer = copying.upload(array)
    found = np.zeros((30 * PAGE // 8, 2), np.uint32)
    ranges: list[tuple[int, int]] = []

    def then(begin: int, end: int) -> None:
        came = found.reshape(-1).view(np.uint8)[begin:end]
        np.testing.assert_array_equal(came, array[8 + begin : 8 + end])
        ranges.append((begin, end))

    one = Transfer(buffer=buffer, array=found, offset=8, then=then)
    Launcher(copying, copying.queue).read_all(one)
    begins, ends = zip(*sorted(ranges), strict=True)
    assert (*begins[1:], found.nbytes) == ends
    assert begins[0] == 0
    assert all(begin % PAGE == 0 for begin in begins)
    copying.staging.send(copying.queue, [Transfer(buffer=buffer, array=found, offset=0)])
    np.testing.assert_array_equal(
        contents(copying, buffer, array)[: found.nbytes], array[8 : 8 + found.nbytes]
    )


def test_reads_are_in_the_profile(any_device: Device, copying: Device) -> None:
    profile = Profile()
    buffer = copying.upload(numbers(20 * PAGE))
    launch = Launcher(copying, copying.profiling_queue, profile)
    launch.read(buffer, np.empty(20 * PAGE, np.uint8))
    copying.profiling_queue.finish()
    assert profile.summary()["(read back)"].launches >= 10


def test_several_threads(copying: Device) -> None:
    """One staging, several that want it."""
    arrays = [numbers(30 * PAGE + k) for k in range(12)]

    def there_and_back(array: Any) -> Any:
        found = np.zeros_like(array)
        Launcher(copying, copying.queue).read(copying.upload(array), found)
        return found

    with ThreadPoolExecutor(4) as pool:
        for found, array in zip(pool.map(there_and_back, arrays), arrays, strict=True):
            np.testing.assert_array_equal(found, array)


def test_forests(copying: Device) -> None:
    """With and without the caller's own edge ids, transfers and solve overlapping."""
    graph = clmst.generate("random", n=20_000, seed=3)
    for one in (graph, graph.symmetrised(), graph.replace(edge_ids=None)):
        forest = clmst.minimum_spanning_forest(one, device=copying)
        assert_same_forest(forest, clmst.kruskal(one))
        profiled = clmst.minimum_spanning_forest(one, device=copying, profile=True)
        assert_same_forest(profiled, forest)


# ---------------------------------------------------------------------- pinned arrays


def test_mapped_memory_is_pinned(any_device: Device) -> None:
    """Views of it, too; copies and arrays of NumPy are not."""
    array = pinned(any_device, 100, np.float32)
    for view in (array, array[3:], array.view(np.uint32)[5:9], array.reshape(10, 10)[2]):
        assert is_pinned(view)
    for other in (array.copy(), array + 1, np.zeros(5), np.zeros(5)[2:]):
        assert not is_pinned(other)


def test_pinned_arrays_need_no_threads(copying: Device) -> None:
    """The device copies them; ordinary arrays of the same transfer go through staging."""
    word = np.dtype(np.uint32)
    arrays = [pinned(copying, 5000, word), np.empty(5000, word), pinned(copying, 70, word)]
    for number, array in enumerate(arrays):
        array[:] = np.arange(array.size) + number
    targets = [DeviceArray.empty(one.size, word, copying) for one in arrays]
    transfers = [
        Transfer(buffer=target.memory, array=array)
        for target, array in zip(targets, arrays, strict=True)
    ]
    copying.release_memory()
    for sent, opens in ((transfers[::2], False), (transfers, True)):
        copying.staging.send(copying.queue, sent)
        assert is_open(copying) == opens
    for target, array in zip(targets, arrays, strict=True):
        np.testing.assert_array_equal(contents(copying, target.memory, array), array)


@pytest.mark.parametrize("has_own", [False, True])
@pytest.mark.parametrize("is_mapped", [False, True])
def test_copies_and_kernels_wait_for_each_other(
    any_device: Device, has_own: bool, is_mapped: bool
) -> None:
    """Round after round into the same memory: each copy of it has the values of its round."""
    device = with_capabilities(any_device, host_arrays="copied" if has_own else "wrapped")
    launch = Launcher(device, device.queue)
    sends, word = Uploads(device), np.dtype(np.uint32)
    assert len(sends.queues) == 1 + has_own
    target = DeviceArray.unchecked(SIZE, word, device)
    copies = [DeviceArray.unchecked(SIZE, word, device) for _ in range(ROUNDS)]
    array = pinned(device, SIZE, word) if is_mapped else np.empty(SIZE, word)
    for number, copy in enumerate(copies):
        array[:] = number
        sends.wait_for_kernels(sends.enqueued())
        sends.send([Transfer(buffer=target.memory, array=array)])
        sends.let_kernels_wait(sends.sent())
        launch.copy(target.memory, copy.memory, copy.nbytes)
        sends.wait()
    sends.finish()
    for number, copy in enumerate(copies):
        assert (copy.to_host() == number).all()


# ------------------------------------------------------------------------- huge pages


def test_once_for_each_large_buffer(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool hands the same memory out again, which has pages by then."""
    maps = inject(monkeypatch, "map", any_device)
    any_device.release_memory()
    large, small = device_memory.HUGE_PAGES_FROM, device_memory.HUGE_PAGES_FROM - 1
    asked = []
    for n_bytes in (small, large, large):
        any_device.allocate(n_bytes).release()
        asked.append(maps.count)
    in_place = any_device.capabilities.host_arrays != "copied"
    assert asked == ([0, 1, 1] if in_place else [0, 0, 0])


def test_contents_are_as_ever(any_device: Device) -> None:
    """Whatever the system says to it, a buffer keeps what is written to it."""
    values: np.ndarray[Any, Any] = np.arange(
        device_memory.HUGE_PAGES_FROM // 4 + 5, dtype=np.uint32
    )
    any_device.release_memory()
    buffer, launch = any_device.allocate(values.nbytes), Launcher(any_device, any_device.queue)
    launch.write(buffer, values)
    device_memory.advise_huge_pages(any_device.queue, buffer, values.nbytes)
    back = np.zeros_like(values)
    launch.read(buffer, back)
    np.testing.assert_array_equal(back, values)


# ----------------------------------------------------------------- memory and failures


def is_open(device: Device) -> bool:
    return device.staging._workers is not None


def test_memory_is_taken_late_and_given_back(copying: Device) -> None:
    assert copying.staging.n_bytes == THREADS * 2 * 2 * PAGE
    copying.release_memory()
    array = numbers(30 * PAGE)
    for _ in range(2):
        assert not is_open(copying)
        buffer = copying.upload(array)
        assert is_open(copying)
        copying.release_memory()
    np.testing.assert_array_equal(contents(copying, buffer, array), array)


def test_device_goes_with_its_memory(copying: Device, any_device: Device) -> None:
    """Memory must outlive transfers that are on their way when the device is forgotten."""
    for _ in range(5):
        device = Device(any_device.cl_device)
        device.capabilities = copying.capabilities
        device.staging = Staging(device.queue, shape=SMALL)
        device.upload_all(numbers(50 * PAGE), wait=False)
        del device
        gc.collect()


def test_driver_without_pinned_memory(copying: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """One warning, and the driver's own way from then on."""
    array, found = numbers(30 * PAGE), np.zeros(30 * PAGE, np.uint8)
    inject(monkeypatch, "map", copying).let_fail()
    with pytest.warns(
        RuntimeWarning, match=f"not provide {4 * THREADS * PAGE} bytes of pin.*OF_HOST"
    ):
        buffer = copying.upload(array)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Launcher(copying, copying.queue).read(buffer, found)
    assert "OUT_OF_HOST_MEMORY" in str(copying.staging.failure)
    np.testing.assert_array_equal(found, array)


def test_errors_of_threads_are_the_callers(copying: Device) -> None:
    """If a transfer fails in a thread, the caller gets the error. The next transfer works."""
    array = numbers(30 * PAGE)
    buffer = cl.Buffer(copying.context, cl.mem_flags.READ_WRITE, 15 * PAGE)
    with pytest.raises(cl.LogicError):
        copying.staging.send(copying.queue, [Transfer(buffer=buffer, array=array)])
    with pytest.raises(cl.LogicError):
        copying.staging.fetch(copying.queue, [Transfer(buffer=buffer, array=array)])
    array = numbers(30 * PAGE)
    np.testing.assert_array_equal(contents(copying, copying.upload(array), array), array)


def test_small_transfers_take_no_memory(any_device: Device) -> None:
    """Nor do transfers of devices that work in the host's memory."""
    device = with_capabilities(any_device, host_arrays="copied")
    enough = StagingShape().from_bytes
    device.upload(numbers(enough - 1))
    assert not is_open(device)
    device.upload(numbers(enough))
    assert is_open(device)
    if any_device.capabilities.host_arrays != "copied":
        array = numbers(enough)
        one = Transfer(buffer=any_device.allocate(array.nbytes), array=array)
        any_device.staging.send(any_device.queue, [one])
        assert not is_open(any_device)
