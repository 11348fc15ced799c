"""What becomes of a device that fails: errors in clmst's terms, and another context if need be."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import clmst
from clmst.core.errors import ClmstError, DeviceError, OutOfDeviceMemoryError
from clmst.runtime import failures
from clmst.runtime.device import Device
from clmst.runtime.discovery import get_device
from tests.faults.injection import inject, lose, opencl_error
from tests.faults.interrupting import Steps
from tests.faults.subjects import forest, graph, solve, weights
from tests.helpers.forests import assert_same_forest

# Steps until settling has begun: the profile function is set, the guard is left, settling begins.
_BEGUN = 3


@pytest.fixture
def fresh(any_device: Device) -> Device:
    """Return a device of this test's own."""
    return any_device.forcing_off()


def test_a_second_interrupt_while_a_device_is_settled(fresh: Device) -> None:
    """Wherever it comes once that has begun: what was enqueued is over, and the first is raised."""
    values = clmst.DeviceArray.from_host(np.arange(1 << 18, dtype=np.uint32)[::-1].copy(), fresh)
    clmst.primitives.sort(values).to_host()
    first, markers = KeyboardInterrupt("first"), list[cl.Event]()

    def break_off(steps: Steps) -> None:
        try:
            with fresh.lock, failures.Guard(fresh):
                clmst.primitives.sort(values)
                markers.append(cl.enqueue_marker(fresh.queue))
                gc.disable()  # an interrupt in a finalizer is lost
                sys.setprofile(steps)
                raise first
        finally:
            sys.setprofile(None)
            gc.enable()

    for at in count(_BEGUN):
        steps = Steps(at=at)
        with pytest.raises(KeyboardInterrupt) as raised:
            break_off(steps)
        assert raised.value is first
        assert markers[-1].command_execution_status == cl.command_execution_status.COMPLETE
        if not steps.has_raised:
            break
    assert at > _BEGUN + 5


@pytest.mark.usefixtures("in_steps")
def test_a_lost_device_gets_another_context(fresh: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same object solves again; what was in its memory is told to be lost."""
    stored = clmst.to_device(graph(), fresh)
    kept = clmst.minimum_spanning_forest(stored, keep_on_device=True)
    array = clmst.DeviceArray.from_host(np.arange(3, dtype=np.uint32), fresh)
    solver = clmst.RepeatedSolver(graph(), devices=fresh)
    before = fresh.context
    lose(monkeypatch, fresh)
    with pytest.raises(DeviceError, match=r"clmst opened it anew: what was in its memory is lost"):
        solve(graph(), "auto", fresh)
    assert fresh.context != before
    assert_same_forest(solve(graph(), "auto", fresh), forest())
    monkeypatch.undo()
    calls: list[Callable[[], object]] = [
        kept.to_host,
        array.to_host,
        lambda: array.write(np.zeros(3, np.uint32)),
        lambda: solver.solve(weights(1)),
        lambda: solver.update([0], [1]),
    ]
    if fresh.capabilities.host_arrays == "copied":
        calls.append(lambda: solve(stored, "auto", None))
    for call in calls:
        with pytest.raises(DeviceError, match=r"failed (after|since) this"):
            call()
    with clmst.RepeatedSolver(graph(), devices=fresh) as another:
        assert_same_forest(another.solve(weights(1)), forest(1))


@pytest.mark.usefixtures("in_steps")
def test_a_queue_of_the_callers_stays_theirs(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = cl.Context([any_device.cl_device])
    device = get_device(cl.CommandQueue(context))
    queue = device.queue
    lose(monkeypatch, device)
    with pytest.raises(DeviceError, match="the caller's, who must make another one"):
        solve(graph(), "auto", device)
    assert device.queue is queue


@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (opencl_error(-4, "clEnqueueNDRangeKernel"), OutOfDeviceMemoryError, "no memory left"),
        (opencl_error(-6, "clEnqueueNDRangeKernel"), OutOfDeviceMemoryError, "OUT_OF_HOST_MEMORY"),
        (opencl_error(-61, "clCreateBuffer"), OutOfDeviceMemoryError, "INVALID_BUFFER_SIZE"),
        (opencl_error(-5, "clFinish"), DeviceError, r"failed \(clFinish says OUT_OF_RESOURCES\)"),
        (opencl_error(-9999, "clFinish"), DeviceError, "-9999"),
        (cl.RuntimeError("in words\nand more"), DeviceError, "in words"),
    ],
)
def test_errors_in_clmsts_terms(
    fresh: Device, error: Exception, expected: type[ClmstError], words: str
) -> None:
    """One line each; an application that catches ``ClmstError`` misses none."""
    reported = failures.explained(fresh, error)
    assert type(reported) is expected
    assert "\n" not in str(reported)
    with pytest.raises(expected, match=words):
        raise reported


@pytest.mark.parametrize("error", [MemoryError("numpy"), ValueError("bug"), KeyboardInterrupt()])
def test_others_stay_what_they_are(fresh: Device, error: BaseException) -> None:
    """The host's lack of memory is not the device's, and NumPy says how much it wanted."""
    with pytest.raises(type(error)) as raised, failures.Guard(fresh):
        raise error
    assert raised.value is error


def test_memory_in_cycles_is_found(fresh: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python frees cycles when it likes; a device that is full cannot wait for that."""
    fresh.queue.finish()
    pool = fresh._pool
    inject(monkeypatch, "allocate", fresh).let_fail(lambda _: pool.active_bytes > 0)
    cycle: list[Any] = [fresh.allocate(1000)]
    cycle.append(cycle)
    words = rf"^1000 bytes more are needed than .* {fresh.capabilities.global_memory} .*uses \d+$"
    with pytest.raises(OutOfDeviceMemoryError, match=words):
        fresh.allocate(1000)
    del cycle
    assert fresh.allocate(1000).size >= 1000
