"""Uploads behind the kernels of earlier uploads: a queue of their own, where that pays."""

from __future__ import annotations

from collections.abc import Sequence

from clmst.runtime.device import Device
from clmst.runtime.device_memory import is_pinned
from clmst.runtime.handles import Event, Queue
from clmst.runtime.transfer import Transfer


class Uploads:
    """Copies to a device that run beside its kernels.

    A device that has memory of its own gets a second queue for them. It copies arrays in pinned
    memory by itself; others go through :class:`~clmst.runtime.transfer.Staging`. A device that
    works in the host's memory copies in the queue of its kernels: the same cores do both. The
    caller holds the device's lock, and has a :class:`~clmst.runtime.failures.Guard` of `queues`,
    all those in use.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._has_own = device.capabilities.host_arrays == "copied"
        self._queue: Queue = device.new_queue() if self._has_own else device.queue
        self.queues = (self._queue, device.queue) if self._has_own else (self._queue,)
        self._reading: list[Event] = []  # copies that still read arrays of the caller

    def send(self, transfers: Sequence[Transfer]) -> None:
        """Enqueue copies. Arrays in pinned memory must not change before :meth:`wait`."""
        import pyopencl as cl

        staged = []
        for one in transfers:
            if not (self._has_own and is_pinned(one.array)):
                staged.append(one)
                continue
            self._reading.append(
                cl.enqueue_copy(
                    self._queue, one.buffer, one.array, dst_offset=one.offset, is_blocking=False
                )
            )
        self._queue.flush()
        if staged:
            self._device.staging.send(self._queue, staged)

    def wait(self) -> None:
        """Wait until no array of the caller is read any more."""
        while self._reading:
            self._reading[-1].wait()  # the queue is in order
            self._reading.clear()

    def finish(self) -> None:
        """Wait for all copies."""
        self.wait()
        if self._has_own:
            self._queue.finish()

    def sent(self) -> Event | None:
        """Return what :meth:`let_kernels_wait` takes: the end of the copies so far."""
        return _end_of(self._queue) if self._has_own else None

    def let_kernels_wait(self, sent: Event | None) -> None:
        """Let kernels that are enqueued from now on wait for copies."""
        if sent is not None:
            _let_wait(self._device.queue, sent)

    def enqueued(self) -> Event | None:
        """Return what :meth:`wait_for_kernels` takes: the end of the kernels so far."""
        return _end_of(self._device.queue) if self._has_own else None

    def wait_for_kernels(self, enqueued: Event | None) -> None:
        """Let copies that are enqueued from now on wait for kernels."""
        if enqueued is not None:
            _let_wait(self._queue, enqueued)


def _end_of(queue: Queue) -> Event:
    """Return an event that ends with what is in a queue."""
    import pyopencl as cl

    event = cl.enqueue_marker(queue)
    queue.flush()  # else the other queue could wait for ever
    return event


def _let_wait(queue: Queue, event: Event) -> None:
    """Let what is enqueued in a queue from now on wait for an event."""
    import pyopencl as cl

    cl.enqueue_barrier(queue, wait_for=[event])
    queue.flush()
