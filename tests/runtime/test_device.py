"""Devices: memory, kernels, the trial, and launching."""

from __future__ import annotations

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import clmst
from clmst import Device, OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.runtime.capabilities import HostArrays
from clmst.runtime.launcher import Launcher
from tests.faults.injection import inject
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_same_forest
from tests.helpers.kernel_sources import changed
from tests.helpers.variants import GPU_SHAPE


@pytest.fixture
def fresh(any_device: Device) -> Device:
    """Return a device object of this test's own."""
    return Device(any_device.cl_device)


def contents(device: Device, buffer: Any, length: int) -> list[int]:
    words = np.empty(length, np.uint32)
    Launcher(device, device.queue).read(buffer, words)
    return words.tolist()


# -------------------------------------------------------------------------- identity


def test_names(fresh: Device) -> None:
    assert fresh.description == f"{fresh.name} ({fresh.platform})"
    assert repr(fresh) == f"Device({fresh.name!r}, platform={fresh.platform!r})"
    assert repr(fresh.forcing_off("lanes")).endswith(", without=('lanes',))")
    assert fresh.driver


def test_a_device_goes_with_its_last_reference(any_device: Device) -> None:
    """Its context takes 526 MiB of a GPU: that must not wait for the collector of cycles."""
    device = Device(any_device.cl_device, _trusted=True)
    clmst.minimum_spanning_forest(clmst.generate("grid", rows=9, columns=9), device=device)
    gc.disable()
    try:
        left = weakref.ref(device)
        del device
        assert left() is None
    finally:
        gc.enable()


def test_other_variants_are_other_devices(fresh: Device) -> None:
    """The one at hand stays as it is; what was forced off before stays off."""
    shaped = fresh.forcing_off("lanes").with_policy(GPU_SHAPE).forcing_off("int64-atomics")
    assert shaped.without == ("lanes", "int64-atomics")
    assert shaped.policy == GPU_SHAPE
    assert not shaped.capabilities.int64_atomics
    assert fresh.without == ()
    assert fresh.policy != GPU_SHAPE


def test_variants_keep_the_callers_queue(any_device: Device) -> None:
    queue = cl.CommandQueue(any_device.context)
    device = Device(any_device.cl_device, queue=queue)
    for variant in (device, device.forcing_off("lanes"), device.with_policy(GPU_SHAPE)):
        assert variant.queue is queue
        assert variant.context == queue.context
        assert variant.profiling_queue.context == queue.context


# ---------------------------------------------------------------------------- memory


def test_graph_too_large(fresh: Device) -> None:
    """The error must be clmst's own wherever in a solve memory runs out."""
    fresh.capabilities = replace(fresh.capabilities, max_allocation=1 << 16)
    graph = clmst.generate("random", n=5000, seed=1)
    with pytest.raises(OutOfDeviceMemoryError, match="at most 65536 in one piece"):
        clmst.minimum_spanning_forest(graph, device=fresh)


def test_buffer_of_nothing(device: Device) -> None:
    """OpenCL has none; kernels still need something to be called with."""
    assert device.allocate(0).size > 0


def test_memory_returns_to_the_pool(fresh: Device) -> None:
    first = fresh.allocate(1 << 20)
    address = first.int_ptr
    first.release()
    assert fresh.allocate(1 << 20).int_ptr == address
    fresh.release_memory()
    assert fresh._pool.held_blocks == 0


def test_upload(device: Device) -> None:
    """Wherever an array ends up, kernels read what is in it: each way, down from the best here."""
    ways: list[HostArrays] = ["shared", "wrapped", "copied"]
    graph = clmst.generate("random", n=700, seed=4)
    for array in (graph.indptr, graph.indices, graph.weights):
        array.flags.writeable = False  # as a memory map, or an array of another library
    for way in ways[ways.index(device.capabilities.host_arrays) :]:
        other = with_capabilities(device, host_arrays=way)
        other.trust.given = True  # the oracle tells here
        forest = clmst.minimum_spanning_forest(graph, device=other)
        assert_same_forest(forest, clmst.kruskal(graph))
        array = np.arange(1000, dtype=np.uint32)
        assert isinstance(other.upload(array), cl.SVM) == (way == "shared")
        assert not isinstance(other.upload(array[:0]), cl.SVM)


def test_upload_in_place_is_no_copy(device: Device) -> None:
    array = np.arange(1 << 16, dtype=np.uint32)
    uploaded: Any = device.upload(array)
    if device.capabilities.host_arrays == "shared":
        assert uploaded.mem is array
    elif device.capabilities.host_arrays == "wrapped":
        assert uploaded.flags & cl.mem_flags.USE_HOST_PTR
    else:
        array[:] = 0
        assert contents(device, uploaded, 3) == [0, 1, 2]


# ----------------------------------------------------------------------------- trial


@pytest.mark.parametrize(
    ("kind", "said", "reason"),
    [
        ("build", "one\n  a.cl:3: ERROR: no such thing\nthree", "a.cl:3: ERROR: no such thing"),
        ("build", "clBuildProgram failed\nunknown target 'generic'\n", "unknown target 'generic'"),
        ("build", "Segmentation fault", "Segmentation fault"),
        ("build", "", "the compiler gives no reason"),
        ("kernel", "clEnqueue: OUT_OF_RESOURCES\nmore", "clEnqueue: OUT_OF_RESOURCES"),
    ],
)
def test_device_that_fails_its_trial(
    fresh: Device, monkeypatch: pytest.MonkeyPatch, kind: str, said: str, reason: str
) -> None:
    inject(monkeypatch, kind, fresh).let_fail(error=cl.RuntimeError(said))
    assert_refused(fresh, f"cannot {'run' if kind == 'kernel' else kind} a kernel: {reason}")


def test_device_whose_trial_comes_out_wrong(fresh: Device, tmp_path: Path) -> None:
    with changed(tmp_path, ("i < length; i += get", "i < 0; i += get"), file="trial.cl"):
        assert_refused(fresh, f"computes wrongly: a minimum came out as {[2**32 - 1] * 2}")


def test_device_with_too_little_memory_for_its_trial(fresh: Device) -> None:
    fresh.capabilities = replace(fresh.capabilities, max_allocation=4)
    assert_refused(fresh, "cannot run a kernel: a buffer of 8 bytes")


def assert_refused(device: Device, reason: str) -> None:
    assert str(device.trial_failure).startswith(reason)
    with pytest.raises(UnsupportedDeviceError) as caught:
        device.check_usable()
    assert str(caught.value).startswith(f"{device.description} {reason}")


# ------------------------------------------------------------------------- launching


def test_groups(device: Device) -> None:
    """As many as there are tiles, but no more than the policy wants on the device."""
    most = device.capabilities.compute_units * device.policy.groups_per_compute_unit
    groups_for = Launcher(device, device.queue).groups_for
    assert [groups_for(k) for k in (0, 1, most, most + 1, 10**9)] == [1, 1, most, most, most]


def test_kernel_of_any_number_of_groups(device: Device) -> None:
    """Fewer than there are tiles, and more."""
    program = device.program("device/trial.cl")
    for groups in (1, 2, 7):
        for length in (1, program.grid_tile, 3 * program.grid_tile + 5):
            words = device.allocate(8)
            launch = Launcher(device, device.queue)
            launch.fill(words, 2**32 - 1, 2)
            launch(program, "trial_take_minimum", groups, words, np.uint32(length))
            assert contents(device, words, 2) == [length - 1, 1]
            assert launch.launches == 1


@pytest.mark.parametrize("least", [0, 1 << 30])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000, 20_011])
def test_read_write_fill(device: Device, dtype: type[Any], count: int, least: int) -> None:
    """What is filled, by a kernel where it is large, or by the driver, is not larger by a byte."""
    value = 0x0123456789ABCDEF & np.iinfo(dtype).max
    expected = np.arange(count + 16).astype(dtype)
    launch, buffer = Launcher(device, device.queue), device.allocate(expected.nbytes)
    launch.write(buffer, expected)
    with bounds(filled_by_driver=least):
        launch.fill(buffer, value, count, dtype)
    expected[:count] = value
    for skipped in (0, 3):
        found = np.empty_like(expected[skipped:])
        launch.read(buffer, found, offset=skipped * expected.itemsize)
        np.testing.assert_array_equal(found, expected[skipped:])


def test_one_device_in_several_threads(device: Device) -> None:
    """Kernels carry their arguments: threads that mixed them would mix graphs."""
    graphs = [clmst.generate("random", n=200 + 50 * k, seed=k) for k in range(8)]
    with ThreadPoolExecutor(4) as pool:
        forests = pool.map(lambda g: clmst.minimum_spanning_forest(g, device=device), graphs)
        for graph, forest in zip(graphs, forests, strict=True):
            assert_same_forest(forest, clmst.kruskal(graph))


def test_what_a_profiled_solve_reads_is_not_overwritten(fresh: Device) -> None:
    """The pool gives memory out again while kernels of another queue still read it."""
    fresh.capabilities = replace(fresh.capabilities, host_arrays="copied")
    old, new = np.arange(1000, dtype=np.uint32), np.zeros(1000, np.uint32)
    read, copy = fresh.allocate(old.nbytes), fresh.allocate(old.nbytes)
    Launcher(fresh, fresh.queue).write(read, old)
    gate, queue = cl.UserEvent(fresh.context), fresh.profiling_queue
    cl.enqueue_barrier(queue, wait_for=[gate])
    Launcher(fresh, queue).copy(read, copy, old.nbytes)
    queue.flush()
    read.release()
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(fresh.upload, new)
        time.sleep(0.05)
        assert not written.done()
        gate.set_status(cl.command_execution_status.COMPLETE)
        assert contents(fresh, written.result(timeout=60), 1000) == new.tolist()
    assert contents(fresh, copy, 1000) == old.tolist()


def test_new_buffers_are_made_under_the_lock(any_device: Device) -> None:
    """NVIDIA's driver does not survive a new buffer while another thread waits in the queue."""
    with ThreadPoolExecutor(1) as pool:
        with any_device.lock:
            made = pool.submit(any_device.allocate, 4096)
            time.sleep(0.05)
            assert not made.done()
        assert made.result(timeout=60) is not None
