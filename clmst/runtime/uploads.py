"""Uploads to a device that run at the same time as kernels, in a queue of their own."""

from __future__ import annotations

from collections.abc import Sequence

from clmst.runtime.device import Device
from clmst.runtime.device_memory import is_pinned
from clmst.runtime.handles import Event, Queue
from clmst.runtime.transfer import Transfer


class Uploads:
    """Copies to a device that may run at the same time as the device's kernels.

    If the device has memory of its own, the copies use a second queue. Arrays in pinned memory are
    copied by the device directly, other arrays through :class:`~clmst.runtime.transfer.Staging`. If
    the device works in the host's memory, the copies use the queue of the kernels, because the same
    cores would do both.

    The caller must hold the device's lock, and guard its work by a
    :class:`~clmst.runtime.failures.Guard` with the attribute `queues` of this object, the queues in
    use.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._has_own = device.capabilities.host_arrays == "copied"
        self._queue: Queue = device.new_queue() if self._has_own else device.queue
        self.queues = (self._queue, device.queue) if self._has_own else (self._queue,)
        self._reading: list[Event] = []  # copies that may still read arrays of the caller

    def send(self, transfers: Sequence[Transfer]) -> None:
        """Start the copies that `transfers` describe.

        Arrays in pinned memory must not change before :meth:`wait` has returned.
        """
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
        """Block until no copy reads an array of the caller any more."""
        while self._reading:
            self._reading[-1].wait()  # the queue is in order, so the earlier copies have ended, too
            self._reading.clear()

    def finish(self) -> None:
        """Block until all copies are complete."""
        self.wait()
        if self._has_own:
            self._queue.finish()

    def sent(self) -> Event | None:
        """Return an event that ends when all copies so far have, for :meth:`let_kernels_wait`.

        Returns None if copies and kernels share a queue, so that kernels wait anyway.
        """
        return _end_of(self._queue) if self._has_own else None

    def let_kernels_wait(self, sent: Event | None) -> None:
        """Let kernels that are enqueued from now on wait for the event `sent`.

        Nothing happens if `sent` is None.
        """
        if sent is not None:
            _let_wait(self._device.queue, sent)

    def enqueued(self) -> Event | None:
        """Return an event that ends when all kernels so far have, for :meth:`wait_for_kernels`.

        Returns None if copies and kernels share a queue, so that copies wait anyway.
        """
        return _end_of(self._device.queue) if self._has_own else None

    def wait_for_kernels(self, enqueued: Event | None) -> None:
        """Let copies that are enqueued from now on wait for the event `enqueued`.

        Nothing happens if `enqueued` is None.
        """
        if enqueued is not None:
            _let_wait(self._queue, enqueued)


def _end_of(queue: Queue) -> Event:
    """Return an event that ends when all commands that are in a queue now have ended."""
    import pyopencl as cl

    event = cl.enqueue_marker(queue)
    queue.flush()  # otherwise the second queue could wait for ever
    return event


def _let_wait(queue: Queue, event: Event) -> None:
    """Let commands that are enqueued from now on in a queue wait for an event."""
    import pyopencl as cl

    cl.enqueue_barrier(queue, wait_for=[event])
    queue.flush()
