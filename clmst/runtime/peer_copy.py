"""Copies from the memory of one device to that of another.

The bytes go through pinned memory of the host, block by block: while one block goes to the target,
others come from the source. Two devices of one OpenCL context that work in the host's memory let
the driver copy. GPUs do not: between two H200 the driver takes 347 ms for 400 MB, blocks of 4 MiB
7.9 (docs/several_devices.md).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_threads import failures_of
from clmst.runtime.handles import Event, Memory, Queue

_BLOCKS, _BLOCK_BYTES = 4, 4 << 20  # of ordinary memory, where neither device takes pinned memory


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCopy:
    """A copy of bytes from one device's buffer into another's."""

    source: Memory
    target: Memory
    n_bytes: int
    begin: int = 0  # the first byte in the source
    offset: int = 0  # and in the target


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMove:
    """The figures of copies between two devices."""

    source: str  # the devices' descriptions
    target: str
    n_bytes: int
    way: str  # "driver", which copied by itself, or "host", through whose memory it went
    began: float  # by ``time.perf_counter``
    ms: float


def locks_in_order(one: Device, other: Device) -> list[AbstractContextManager[object]]:
    """Return the locks of two devices, always in the same order, to be taken by one ``with``."""
    return [device.lock for device in sorted((one, other), key=id)]


def move(
    copies: Sequence[DeviceCopy], source: Device, target: Device, *, queue: Queue | None = None
) -> DeviceMove:
    """Copy buffers after all that is enqueued on both devices; waits.

    The caller has the locks of both devices (:func:`locks_in_order`); or that of `source`, and a
    queue of the target's context, after whose commands alone the copies come.
    """
    began = time.perf_counter()
    queue = target.queue if queue is None else queue
    is_shared = source.context == target.context and not any(
        one.capabilities.host_arrays == "copied" for one in (source, target)
    )
    if is_shared:
        with failures_of(source):
            source.queue.finish()
        _by_the_driver(copies, target, queue)
    else:
        _through_the_host(copies, source, target, queue)
    with failures_of(target):
        queue.finish()
    return DeviceMove(
        source=source.description,
        target=target.description,
        n_bytes=sum(one.n_bytes for one in copies),
        way="driver" if is_shared else "host",
        began=began,
        ms=1e3 * (time.perf_counter() - began),
    )


def _by_the_driver(copies: Sequence[DeviceCopy], target: Device, queue: Queue) -> None:
    import pyopencl as cl

    enqueue: Any = cl.enqueue_copy  # whose stub knows no host arrays in place
    for one in copies:
        if one.n_bytes:
            with failures_of(target):
                enqueue(
                    queue, one.target, one.source, byte_count=one.n_bytes, src_offset=one.begin,
                    dst_offset=one.offset,
                )  # fmt: skip


@dataclass(slots=True)
class _OnTheWay:
    """A block that the source is writing, or the target is reading."""

    event: Event
    copy: DeviceCopy
    begin: int
    end: int
    block: Array  # a whole one, whose beginning has the bytes


def _through_the_host(
    copies: Sequence[DeviceCopy], source: Device, target: Device, queue: Queue
) -> None:
    """Let blocks come from the source while others go to the target."""
    import pyopencl as cl

    staging = (source if source.staging.pinned else target).staging
    with staging.lock:
        blocks = staging.blocks()
        if blocks is None:
            blocks = np.empty((_BLOCKS, _BLOCK_BYTES), np.uint8)
        coming, going, free = deque[_OnTheWay](), deque[_OnTheWay](), deque(blocks)
        try:
            for one, begin, end in _cut(copies, blocks.shape[1]):
                if not free:
                    with failures_of(target):
                        going[0].event.wait()
                    free.append(going.popleft().block)
                block = free.popleft()
                with failures_of(source):
                    event = cl.enqueue_copy(
                        source.queue, block[: end - begin], one.source,
                        src_offset=one.begin + begin, is_blocking=False,
                    )  # fmt: skip
                    source.queue.flush()
                coming.append(_OnTheWay(event, one, begin, end, block))
                if len(coming) >= len(blocks) // 2:
                    _pass_on(coming, going, source, target, queue)
            while coming:
                _pass_on(coming, going, source, target, queue)
        finally:  # only then are the blocks free
            for left, device in (*((one, source) for one in coming),
                                 *((one, target) for one in going)):  # fmt: skip
                with failures_of(device):
                    left.event.wait()


def _pass_on(
    coming: deque[_OnTheWay], going: deque[_OnTheWay], source: Device, target: Device, queue: Queue
) -> None:
    """Enqueue the write of the oldest block to the target, once the source has written it."""
    import pyopencl as cl

    block = coming[0]
    with failures_of(source):
        block.event.wait()
    with failures_of(target):
        block.event = cl.enqueue_copy(
            queue, block.copy.target, block.block[: block.end - block.begin],
            dst_offset=block.copy.offset + block.begin, is_blocking=False,
        )  # fmt: skip
        queue.flush()
    going.append(coming.popleft())


def _cut(copies: Sequence[DeviceCopy], size: int) -> Iterator[tuple[DeviceCopy, int, int]]:
    for one in copies:
        for begin in range(0, one.n_bytes, size):
            yield one, begin, min(begin + size, one.n_bytes)
