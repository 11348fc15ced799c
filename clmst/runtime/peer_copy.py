"""Copy from the memory of one device to the memory of another.

The bytes go through pinned memory of the host in blocks. While one block goes to the target, others
come from the source. If two devices share an OpenCL context and work in the host's memory, the
driver copies directly instead. GPUs do not use this: between two H200, the driver takes 347 ms for
400 MB, and blocks of 4 MiB take 7.9 ms (docs/several_devices.md).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.runtime.device import Device
from clmst.runtime.device_threads import failures_of
from clmst.runtime.handles import Event, Memory, Queue

# Number and size in bytes of the blocks of ordinary host memory through which bytes are copied if
# neither device provides pinned memory.
_BLOCKS, _BLOCK_BYTES = 4, 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCopy:
    """A range of bytes to copy from one device's buffer into another's."""

    source: Memory
    target: Memory
    n_bytes: int
    begin: int = 0  # the first byte in the source
    offset: int = 0  # the first byte in the target


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMove:
    """A record of a finished copy between two devices: number of bytes, route and duration."""

    source: str  # the devices' descriptions
    target: str
    n_bytes: int
    way: str  # "driver" if the driver copied directly, "host" if through the host's memory
    began: float  # start, by ``time.perf_counter``
    ms: float  # duration in milliseconds


def locks_in_order(one: Device, other: Device) -> list[AbstractContextManager[object]]:
    """Return the locks of two devices in the order in which they must be acquired.

    A ``with`` acquires both. The fixed order avoids a deadlock between two threads that copy in
    opposite directions.
    """
    return [device.lock for device in sorted((one, other), key=id)]


def move(
    copies: Sequence[DeviceCopy], source: Device, target: Device, *, queue: Queue | None = None
) -> DeviceMove:
    """Copy buffers from `source` to `target`, and block until the copies are complete.

    If `queue` is None, the copies are made after all commands that were enqueued on both devices,
    and the caller must hold the locks of both (:func:`locks_in_order`). Otherwise `queue` is a
    queue of the target's context. The copies are then made after the commands of that queue and of
    `source` only, and the lock of `source` suffices.
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

    enqueue: Any = cl.enqueue_copy  # because its type stub does not accept SVM
    for one in copies:
        if one.n_bytes:
            with failures_of(target):
                enqueue(
                    queue, one.target, one.source, byte_count=one.n_bytes, src_offset=one.begin,
                    dst_offset=one.offset,
                )  # fmt: skip


def _through_the_host(
    copies: Sequence[DeviceCopy], source: Device, target: Device, queue: Queue
) -> None:
    """Copy from `source` to `target` through blocks of host memory.

    Up to half of the blocks are read ahead of those that are being written. `queue` is the queue of
    the target.
    """
    import pyopencl as cl

    coming, going = dict[int, Event](), dict[int, Event]()  # by the number of the piece

    def read(number: int) -> None:
        if (last := going.get(number - len(blocks))) is not None:
            with failures_of(target):
                last.wait()
            del going[number - len(blocks)]
        one, begin, end = pieces[number]
        block = blocks[number % len(blocks)][: end - begin]
        begin += one.begin
        with failures_of(source):
            coming[number] = cl.enqueue_copy(
                source.queue, block, one.source, src_offset=begin, is_blocking=False
            )
            source.queue.flush()

    def write(number: int) -> None:
        one, begin, end = pieces[number]
        block = blocks[number % len(blocks)][: end - begin]
        begin += one.offset
        with failures_of(source):
            coming[number].wait()
        with failures_of(target):
            going[number] = cl.enqueue_copy(
                queue, one.target, block, dst_offset=begin, is_blocking=False
            )
            queue.flush()
        del coming[number]

    staging = (source if source.staging.pinned else target).staging
    with staging.lock:
        pinned = staging.blocks()
        blocks = np.empty((_BLOCKS, _BLOCK_BYTES), np.uint8) if pinned is None else pinned
        pieces, ahead = list(_cut(copies, blocks.shape[1])), max(len(blocks) // 2 - 1, 0)
        try:
            for number in range(len(pieces) + ahead):
                if number < len(pieces):
                    read(number)
                if number >= ahead:
                    write(number - ahead)
        finally:  # wait for all copies, so that the blocks of host memory can be used again
            for device, events in ((source, coming), (target, going)):
                for event in events.values():
                    with failures_of(device):
                        event.wait()


def _cut(copies: Sequence[DeviceCopy], size: int) -> Iterator[tuple[DeviceCopy, int, int]]:
    for one in copies:
        for begin in range(0, one.n_bytes, size):
            yield one, begin, min(begin + size, one.n_bytes)
