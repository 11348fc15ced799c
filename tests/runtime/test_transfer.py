"""Transfers through pinned memory: nothing lost, in whatever pieces and threads."""

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
from clmst.runtime import transfer
from clmst.runtime.launcher import Launcher, Profile
from clmst.runtime.transfer import Staging, StagingShape, Transfer
from tests.forests import assert_same_forest

PAGE = 4096
SMALL = StagingShape(threads=3, blocks=2, block_bytes=2 * PAGE)


@pytest.fixture
def copying(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> Device:
    """Return a device that copies like a GPU, through little memory and from few bytes on."""
    monkeypatch.setattr("clmst.runtime.transfer.STAGED_FROM", 1)
    monkeypatch.setattr("clmst.runtime.launcher.STAGED_FROM", 1)
    monkeypatch.setattr("clmst.runtime.transfer.usable_cores", lambda: 3)
    device = Device(any_device.cl_device)
    device.capabilities = replace(device.capabilities, host_arrays="copied")
    device.staging = Staging(device.queue, shape=SMALL)
    return device


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


# ----------------------------------------------------------------- memory and failures


def is_open(device: Device) -> bool:
    return device.staging._workers is not None


def test_memory_is_taken_late_and_given_back(copying: Device) -> None:
    assert copying.staging.n_bytes == 3 * 2 * 2 * PAGE
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

    def refuse(*_: object, **__: object) -> None:
        raise cl.MemoryError("clCreateBuffer failed: OUT_OF_HOST_MEMORY")

    array, found = numbers(30 * PAGE), np.zeros(30 * PAGE, np.uint8)
    monkeypatch.setattr("pyopencl.enqueue_map_buffer", refuse)
    with pytest.warns(RuntimeWarning, match="no 49152 bytes of pinned.*OUT_OF_HOST_MEMORY"):
        buffer = copying.upload(array)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Launcher(copying, copying.queue).read(buffer, found)
    assert copying.staging.failure == "clCreateBuffer failed: OUT_OF_HOST_MEMORY"
    np.testing.assert_array_equal(found, array)


def test_errors_of_threads_are_the_callers(copying: Device) -> None:
    """A transfer that failed in a thread must not look done; the next one works."""
    array = numbers(30 * PAGE)
    buffer = cl.Buffer(copying.context, cl.mem_flags.READ_WRITE, 15 * PAGE)
    with pytest.raises(cl.LogicError):
        copying.staging.send(copying.queue, [Transfer(buffer=buffer, array=array)])
    with pytest.raises(cl.LogicError):
        copying.staging.fetch(copying.queue, [Transfer(buffer=buffer, array=array)])
    array = numbers(30 * PAGE)
    np.testing.assert_array_equal(contents(copying, copying.upload(array), array), array)


def test_small_transfers_take_no_memory(any_device: Device) -> None:
    device = Device(any_device.cl_device)
    device.capabilities = replace(device.capabilities, host_arrays="copied")
    device.upload(numbers(transfer.STAGED_FROM - 1))
    assert not is_open(device)
    device.upload(numbers(transfer.STAGED_FROM))
    assert is_open(device)


def test_devices_in_the_hosts_memory_take_none(any_device: Device) -> None:
    device = Device(any_device.cl_device)
    if device.capabilities.host_arrays == "copied":
        pytest.skip("the device has memory of its own")
    device.staging.send(
        device.queue,
        [Transfer(buffer=device.allocate(1 << 23), array=numbers(1 << 23))],
    )
    assert not is_open(device)
