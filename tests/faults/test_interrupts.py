"""Ctrl-C at random moments; a thousand by ``python -m tests.faults.interrupts``."""

from __future__ import annotations

import threading

import pytest

from clmst.runtime.discovery import get_device
from tests.faults.interrupts import interrupt_many
from tests.faults.subjects import SUBJECTS

CALLS = ("filter-boruvka-cpu", "resident", "solver", "update", "many", "canonical-csr", "sort")


@pytest.mark.slow
def test_calls_that_are_interrupted() -> None:
    """Each is followed by a right one, in this thread and in another: no lock stays taken."""
    assert set(CALLS) <= set(SUBJECTS)
    device = get_device().forcing_off()
    done = list(interrupt_many(device, CALLS, 21, seed=1))
    assert len({name for name, _ in done}) > 4
    other = threading.Thread(target=lambda: device.lock.acquire(timeout=20))
    other.start()
    other.join(10)
    assert not other.is_alive(), "the lock of the device is taken"


@pytest.mark.slow
def test_a_copying_device_in_the_shape_of_a_gpu() -> None:
    """Uploads through pinned memory, in threads of their own, are broken off too."""
    from dataclasses import replace

    from benchmarks.variants import GPU_SHAPE

    device = get_device().with_policy(GPU_SHAPE)
    device.capabilities = replace(device.capabilities, host_arrays="copied")
    assert len(list(interrupt_many(device, ("solver", "many", "canonical-csr"), 15, seed=2))) == 15
