"""Compare ways to move data from the memory of one device to another.

    python -m benchmarks moves --device nvidia:0 --device nvidia:1 [--bytes 4e8]

The result of each way is verified byte for byte before the way is timed, and all ways are timed in
turns. "blocks" is what clmst does (``runtime/peer_copy.py``): it copies block by block, here with
blocks of several sizes, through memory of the host. "array" copies all data to an ordinary array on
the host, and then from there. "one context" lets the driver copy between the devices. "migrated"
first asks the driver to bring the buffer to the other device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Rows, Run, case
from benchmarks.several_gpus import together
from clmst.bench.harness import Contestant, WrongResultError
from clmst.runtime.peer_copy import DeviceCopy, locks_in_order, move
from clmst.runtime.transfer import Staging, StagingShape

_BLOCKS = (1 << 20, 4 << 20, 16 << 20)  # bytes


class Pair:
    """Two devices with a buffer on each, and methods that copy from the first to the second.

    `values` is uploaded to the buffer on the first device.
    """

    def __init__(self, devices: Sequence[clmst.Device], values: np.ndarray[Any, Any]) -> None:
        self.source, self.target = devices
        self.values = values
        self.sent = clmst.DeviceArray.from_host(values, self.source)
        self.found = clmst.DeviceArray.from_host(np.zeros_like(values), self.target)

    def by_blocks(self) -> None:
        """Move the data as clmst does, block by block through memory of the host."""
        copies = [
            DeviceCopy(
                source=self.sent.memory, target=self.found.memory, n_bytes=self.values.nbytes
            )
        ]
        first, second = locks_in_order(self.source, self.target)
        with first, second:
            move(copies, self.source, self.target)

    def by_array(self) -> None:
        """Copy the data to an array on the host, and from there to the other device."""
        self.found.write(self.sent.to_host())

    def by_driver(self) -> None:
        """Let the driver copy the data between the devices, which are in one OpenCL context."""
        import pyopencl as cl

        copy: Any = cl.enqueue_copy
        copy(self.target.queue, self.found.memory, self.sent.memory, byte_count=self.values.nbytes)
        self.target.queue.finish()

    def by_migration(self) -> None:
        """Migrate the buffer itself to the other device, copy it there, and migrate it back.

        The driver decides how it migrates a buffer. Both devices must be in one context.
        """
        import pyopencl as cl

        memory: Any = self.sent.memory
        whole: Any = cl.Buffer.from_int_ptr(memory.int_ptr)  # the pool's buffer that contains it
        for queue in (self.target.queue, self.source.queue):
            cl.enqueue_migrate_mem_objects(queue, [whole])
            if queue == self.target.queue:
                copy: Any = cl.enqueue_copy
                copy(queue, self.found.memory, self.sent.memory, byte_count=self.values.nbytes)
            queue.finish()

    def difference(self, _: object) -> str:
        """Return "" if the right bytes have arrived on the second device, and otherwise a message.

        Then clear the second device's buffer. The argument, which is the result of the timed call,
        is not used.
        """
        same = np.array_equal(self.found.to_host(), self.values)
        self.found.write(np.zeros_like(self.values))
        return "" if same else "other bytes arrived"


def ways(devices: Sequence[clmst.Device], values: np.ndarray[Any, Any]) -> list[Contestant[Any]]:
    """Return a contestant for each way of moving `values` from the first to the second device.

    A contestant has a function that is timed, and its name.

    If the devices belong to two OpenCL platforms, ways that need one context are left out.
    """
    found: list[Contestant[Any]] = []

    def add(name: str, pair: Pair, call: Callable[[], None]) -> None:
        found.append(Contestant(name=name, call=call, difference=pair.difference))

    for n_bytes in _BLOCKS:
        twins = [one.twin() for one in devices]
        shape = StagingShape(block_bytes=n_bytes)
        for device in twins:
            pinned = device.capabilities.host_arrays == "copied"
            device.staging = Staging(device.queue, pinned=pinned, shape=shape)
        pair = Pair(twins, values)
        add(f"blocks of {n_bytes >> 20} MiB", pair, pair.by_blocks)
        if n_bytes == StagingShape().block_bytes:
            add("array", pair, pair.by_array)
    if devices[0].cl_device.platform != devices[1].cl_device.platform:
        return found  # no context can have devices of two platforms
    pair = Pair(together(devices), values)
    add("one context", pair, pair.by_driver)
    add("one context, migrated", pair, pair.by_migration)
    return found


@case(
    click.option("--bytes", "n_bytes", type=float, default=4e8, show_default=True), devices=(2, 2)
)
def main(run: Run, n_bytes: float) -> Rows:
    """Time all ways to move data from the first device's memory to the second's."""
    values = np.random.default_rng(0).integers(0, 1 << 32, int(n_bytes) // 4, np.uint32)
    contestants, failed = [], []
    for one in ways(run.devices, values):
        try:
            one.call()
        except Exception as error:  # a driver may not support a way
            failed.append(f"{one.name}: {type(error).__name__}: {error}".splitlines()[0])
            continue
        contestants.append(one)
    if not contestants:
        raise WrongResultError("no way works: " + "; ".join(failed))
    for times in run.harness(warm_ups=1).run(contestants):
        rate = values.nbytes / run.of(times.milliseconds) / 1e6
        yield {"way": times.name, "ms": times.milliseconds, "GB/s": rate}
    yield from failed
