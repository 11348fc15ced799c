"""Copies between devices: every byte, by both ways, whatever the size of blocks."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from clmst.runtime import relay
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.relay import DeviceCopy, both_locked, move
from clmst.runtime.transfer import Staging, StagingShape
from tests.repeated.device_sets import every_device_set


@every_device_set("two", "copying", "one twice")
@pytest.mark.parametrize("is_pinned", [False, True])
def test_every_block_arrives(
    devices: list[Device], monkeypatch: pytest.MonkeyPatch, is_pinned: bool
) -> None:
    """Blocks are used again and again, and copies end with parts of one."""
    source, target = devices
    monkeypatch.setattr(relay, "_BLOCK_BYTES", 4096)
    shape = StagingShape(threads=2, blocks=2, block_bytes=4096)
    staging = Staging(source.queue, pinned=is_pinned, shape=shape)
    monkeypatch.setitem(source.__dict__, "staging", staging)
    sizes = (0, 1, 4096, 50_001)
    values = [np.random.default_rng(n).integers(0, 256, n).astype(np.uint8) for n in sizes]
    found = DeviceArray.from_host(np.zeros(sum(sizes) + 5, np.uint8), target)
    sent = [DeviceArray.from_host(one, source) for one in values]
    offsets = np.cumsum([5, *sizes])[:-1].tolist()
    copies = [
        DeviceCopy(source=one.memory, target=found.memory, n_bytes=one.nbytes, offset=offset)
        for one, offset in zip(sent, offsets, strict=True)
    ]
    for _ in range(2):
        with both_locked(source, target):
            moved = move(copies, source, target)
    assert (moved.way, moved.n_bytes) == ("host", sum(sizes))
    assert (moved.source, moved.target) == (source.description, target.description)
    np.testing.assert_array_equal(found.to_host(), np.concatenate([np.zeros(5, np.uint8), *values]))
    staging.free()


@every_device_set("two")
def test_locks_are_taken_in_one_order(devices: list[Device]) -> None:
    """Else two threads that move in opposite directions would wait for each other."""
    inside = threading.Barrier(1)

    def take(first: Device, second: Device) -> None:
        for _ in range(300):
            with both_locked(first, second):
                inside.wait()

    threads = [threading.Thread(target=take, args=order) for order in (devices, devices[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert not any(thread.is_alive() for thread in threads)
