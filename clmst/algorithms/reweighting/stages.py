"""Buffers that weights are uploaded to while another round is solved."""

from __future__ import annotations

import threading

from clmst.runtime import forking
from clmst.runtime.device import Device
from clmst.runtime.handles import Buffer


class UploadBuffers:
    """Buffers of one device that are used again and again, by any thread.

    A buffer in use has one user. If a round fails before it gives its buffer back, the buffer
    returns to the pool with its last reference.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._free: list[Buffer] = []
        self._in_use: set[int] = set()  # by what they are
        self._lock = threading.Lock()
        forking.replace_locks(self, "_lock")

    def take(self, n_bytes: int) -> Buffer:
        """Return a buffer that nothing is under way to or from.

        One that is new comes from the pool, where commands of the queue may still be under way to
        it.
        """
        with self._lock:
            while self._free:
                stage = self._free.pop()
                if stage.size >= n_bytes:
                    self._in_use.add(id(stage))
                    return stage
        with self._device.lock:
            self._device.queue.finish()
            stage = self._device.allocate(n_bytes)
        with self._lock:
            self._in_use.add(id(stage))
        return stage

    def put_back(self, stage: Buffer | None) -> None:
        """Return an idle buffer, once."""
        with self._lock:
            if stage is not None and id(stage) in self._in_use:
                self._in_use.remove(id(stage))
                self._free.append(stage)
