"""Copies between devices: every byte, by both ways, whatever the size of blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clmst.core.errors import DeviceError
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_threads import DeviceFailure
from clmst.runtime.peer_copy import DeviceCopy, locks_in_order, move
from clmst.runtime.transfer import Staging, StagingShape
from tests.faults.injection import inject
from tests.repeated.device_sets import every_device_set


@every_device_set("two", "copying", "one twice")
@pytest.mark.parametrize("is_pinned", [False, True])
def test_every_block_arrives(devices: list[Device], is_pinned: bool) -> None:
    """Blocks are used again and again, and copies end with parts of one."""
    source, target = devices
    shape = StagingShape(threads=2, blocks=2, block_bytes=4096)
    staging = Staging(source.queue, pinned=is_pinned, shape=shape)
    source.staging = staging
    sizes = (0, 1, 4096, 50_001 if is_pinned else 9_000_001)
    values = [np.random.default_rng(n).integers(0, 256, n).astype(np.uint8) for n in sizes]
    found = DeviceArray.from_host(np.zeros(sum(sizes) + 5, np.uint8), target)
    sent = [DeviceArray.from_host(one, source) for one in values]
    offsets = np.cumsum([5, *sizes])[:-1].tolist()
    copies = [
        DeviceCopy(source=one.memory, target=found.memory, n_bytes=one.nbytes, offset=offset)
        for one, offset in zip(sent, offsets, strict=True)
    ]
    for _ in range(2):
        first, second = locks_in_order(source, target)
        with first, second:
            moved = move(copies, source, target)
    assert (moved.way, moved.n_bytes) == ("host", sum(sizes))
    assert (moved.source, moved.target) == (source.description, target.description)
    np.testing.assert_array_equal(found.to_host(), np.concatenate([np.zeros(5, np.uint8), *values]))
    staging.free()
    Device.staging.forget(source)


@every_device_set("two")
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_move_that_fails_blames_the_right_device(
    devices: list[Device], side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one whose driver refuses, source or target; then both can be used again."""
    bad = devices[side == "target"]
    values = np.arange(5000, dtype=np.uint8)
    buffers = [DeviceArray.from_host(values, one) for one in devices]
    copies = [DeviceCopy(source=buffers[0].memory, target=buffers[1].memory, n_bytes=values.nbytes)]
    with monkeypatch.context() as patch:
        inject(patch, "copy", bad).let_fail(lambda queue, *_: queue == bad.queue)
        first, second = locks_in_order(*devices)
        with first, second, pytest.raises(DeviceFailure, match="failed") as caught:
            move(copies, *devices)
    assert bad.description in str(caught.value)
    assert caught.value.device is bad
    assert isinstance(caught.value.error, DeviceError)
    first, second = locks_in_order(*devices)
    with first, second:
        move(copies, *devices)
    np.testing.assert_array_equal(buffers[1].to_host(), values)


def test_gpus_of_one_context_do_not_leave_it_to_the_driver(any_device: Device) -> None:
    """Which takes forty times as long as the host's memory there."""
    import pyopencl as cl

    values = np.arange(70_000, dtype=np.uint32)
    ways = []
    own = any_device.capabilities.host_arrays
    for way in (own, "copied"):
        queues = [cl.CommandQueue(any_device.context, any_device.cl_device) for _ in range(2)]
        pair = [Device(q.device, queue=q, without=any_device.without, _trusted=True)
                for q in queues]  # fmt: skip
        for one in pair:
            one.capabilities = replace(one.capabilities, host_arrays=way)
        sent = DeviceArray.from_host(values, pair[0])
        found = DeviceArray.from_host(np.zeros_like(values), pair[1])
        whole = DeviceCopy(source=sent.memory, target=found.memory, n_bytes=values.nbytes)
        first, second = locks_in_order(*pair)
        with first, second:
            ways.append(move([whole], *pair).way)
        np.testing.assert_array_equal(found.to_host(), values)
    assert ways == ["host" if own == "copied" else "driver", "host"]


@every_device_set("two")
def test_locks_are_taken_in_one_order(devices: list[Device]) -> None:
    """Else two threads that move in opposite directions would wait for each other."""
    locks = locks_in_order(*devices)
    assert locks == locks_in_order(*devices[::-1])
    assert {*map(id, locks)} == {id(one.lock) for one in devices}
