"""Transfers of large host arrays: through pinned memory, with several threads of the host.

A driver copies from and to ordinary, pageable memory through a small pinned buffer of its own, in
one thread. That is far slower than the bus. Here every thread has a few blocks of pinned memory.
While the device reads one block, the thread fills the next one, and the other threads fill theirs.
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.core.machine import usable_cores
from clmst.core.threads import TaskThread, share
from clmst.core.weight_keys import Array
from clmst.runtime import forking
from clmst.runtime.device_memory import is_pinned
from clmst.runtime.handles import Event, Memory, Queue

_PAGE = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class StagingShape:
    """The division of pinned memory; never changes a result.

    With two blocks a thread fills one while the device fetches the other. The copy of a block of
    `block_bytes`, a multiple of a page, must take much longer than the 20 us that Python needs to
    enqueue one; all blocks together should nearly fit the host's caches. Transfers of less than
    `from_bytes` are left to the driver: waking the threads would take longer.
    """

    threads: int = 8
    blocks: int = 2
    block_bytes: int = 4 << 20
    # On an H200, from a SciPy matrix to a forest, with staging from 4 and from 16 MiB: road_ny 3.46
    # and 1.66 ms, rmat16 2.45 and 1.54, cit 4.08 and 3.32, amazon 4.71 and 4.05; from 64 MiB amazon
    # takes 4.41.
    from_bytes: int = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A host array, contiguous and not empty, and a buffer's bytes that it is copied to or from.

    `then` is called with each range ``(begin, end)`` of bytes that a fetch has copied, in any order
    and from any thread; ranges begin and end at multiples of a page, or with the array.
    """

    buffer: Memory
    array: Array
    offset: int = 0
    then: Callable[[int, int], None] | None = None

    def done(self, begin: int, end: int) -> None:
        """Call `then` with a range that was copied."""
        if self.then is not None:
            self.then(begin, end)


@dataclass(frozen=True, slots=True)
class _TransferPiece:
    transfer: Transfer
    begin: int
    end: int

    @property
    def host(self) -> Array:
        return self.transfer.array.reshape(-1).view(np.uint8)[self.begin : self.end]

    @property
    def offset(self) -> int:
        return self.transfer.offset + self.begin


def _forget(event: Event) -> None:
    """Ignore an event."""


class Staging:
    """Pinned memory of a context, and the threads that copy to and from it.

    Memory and threads exist from the first large transfer until :meth:`free`; `queue` maps the
    memory, and transfers name their own. If the driver has no such memory, there is one warning,
    `failure` keeps the reason, and transfers are left to the driver. Several threads may call;
    transfers run one at a time, under `lock`.

    Each thread has blocks and events of its own, and does one thing after the other, so a transfer
    that is broken off cannot harm the next one.
    """

    def __init__(
        self, queue: Queue, *, pinned: bool = True, shape: StagingShape = StagingShape()
    ) -> None:
        self.pinned = pinned
        self.shape = shape
        self.n_threads = min(shape.threads, usable_cores())
        self.failure: str | None = None
        self._queue = queue
        self.lock = threading.Lock()
        forking.replace_locks(self, "lock")
        self._blocks: Array | None = None  # threads x blocks x bytes
        self._events: list[list[Event | None]] = []
        self._workers: list[TaskThread] | None = None

    @property
    def n_bytes(self) -> int:
        """Pinned bytes, once allocated."""
        return self.n_threads * self.shape.blocks * self.shape.block_bytes

    def send(self, queue: Queue, transfers: Sequence[Transfer]) -> None:
        """Copy host arrays to the device, in no particular order.

        The device itself copies arrays in pinned memory. When it returns, the arrays may change.
        Copies may still run in `queue`, so commands of another queue must wait for it.
        """
        import pyopencl as cl

        if self._is_for_threads(transfers):
            pageable = [one for one in transfers if not is_pinned(one.array)]
            if self._share(lambda thread, pieces: self._fill(queue, thread, pieces), pageable):
                transfers = [one for one in transfers if is_pinned(one.array)]
        for one in transfers:
            cl.enqueue_copy(queue, one.buffer, one.array, dst_offset=one.offset, is_blocking=True)

    def fetch(
        self, queue: Queue, transfers: Sequence[Transfer], note: Callable[[Event], object] = _forget
    ) -> None:
        """Copy from the device into host arrays, and wait; `note` is given every event."""
        import pyopencl as cl

        if self._share(lambda thread, pieces: self._empty(queue, thread, pieces, note), transfers):
            return
        for one in transfers:
            note(
                cl.enqueue_copy(
                    queue, one.array, one.buffer, src_offset=one.offset, is_blocking=True
                )
            )
            one.done(0, one.array.nbytes)

    def blocks(self) -> Array | None:
        """Return the pinned memory as blocks of bytes, or None where there is none; waits.

        The caller holds `lock`, and releases it when no copy from or to them is under way.
        """
        if not self.pinned or not self._open():
            return None
        assert self._blocks is not None
        for thread in range(self.n_threads):
            self._wait_for_events(thread)
        blocks: Array = self._blocks.reshape(-1, self.shape.block_bytes)
        return blocks

    def free(self) -> None:
        """Free memory and threads; the next large transfer makes them again."""
        with self.lock:
            if self._workers is None or self._blocks is None:
                return
            self._settle()
            mapping: Any = self._blocks.base
            self._workers, self._blocks, self._events = None, None, []
            mapping.release(self._queue)

    # ------------------------------------------------------------------ opening

    def _open(self) -> bool:
        """Make memory and threads unless they exist; return whether they exist."""
        import pyopencl as cl

        if self._workers is not None or self.failure is not None:
            return self.failure is None
        try:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
            buffer = cl.Buffer(self._queue.context, flags, self.n_bytes)
            shape = (self.n_threads, self.shape.blocks, self.shape.block_bytes)
            access = cl.map_flags.READ | cl.map_flags.WRITE
            enqueue_map: Any = cl.enqueue_map_buffer  # whose stubs know no flags put together
            self._blocks, _ = enqueue_map(self._queue, buffer, access, 0, shape, np.uint8)
        except (cl.Error, MemoryError) as error:
            self.failure = str(error).splitlines()[0]
            warnings.warn(
                f"{self._queue.device.name.strip()} gives no {self.n_bytes} bytes of pinned host "
                f"memory ({self.failure}); transfers are slower without",
                RuntimeWarning,
                stacklevel=2,
            )
            return False
        self._events = [[None] * self.shape.blocks for _ in range(self.n_threads)]
        # Set last: all of it exists.
        self._workers = [TaskThread("clmst-transfer") for _ in range(self.n_threads)]
        return True

    # ------------------------------------------------------------------ threads

    def _share(
        self, work: Callable[[int, Iterator[_TransferPiece]], None], transfers: Sequence[Transfer]
    ) -> bool:
        """Let all threads take pieces until none is left, and wait for them, if that pays.

        Returns whether it did. If anything fails, Ctrl-C included, no thread works and no copy runs
        any more when this returns.
        """
        if not self._is_for_threads(transfers):
            return False
        with self.lock:
            if not self._open():
                return False
            assert self._workers is not None
            try:
                share(self._workers, list(self._cut(transfers)), work)
            except BaseException:
                self._settle()
                raise
        return True

    def _is_for_threads(self, transfers: Sequence[Transfer]) -> bool:
        n_bytes = sum([one.array.nbytes for one in transfers])
        return self.pinned and n_bytes >= self.shape.from_bytes

    def _settle(self) -> None:
        """Wait for threads and what they enqueued."""
        assert self._workers is not None
        share(self._workers, range(self.n_threads), lambda thread, _: self._wait_for_events(thread))

    def _wait_for_events(self, thread: int) -> None:
        for event in filter(None, self._events[thread]):
            with suppress(Exception):  # of a command that failed
                event.wait()
        self._events[thread] = [None] * self.shape.blocks

    def _cut(self, transfers: Sequence[Transfer]) -> Iterator[_TransferPiece]:
        """Yield pieces of a block, or smaller ones if there would be fewer pieces than threads."""
        total = sum(one.array.nbytes for one in transfers)
        share = -(-total // (2 * self.n_threads * _PAGE)) * _PAGE
        size = min(self.shape.block_bytes, max(share, _PAGE))
        for one in transfers:
            for begin in range(0, one.array.nbytes, size):
                yield _TransferPiece(one, begin, min(begin + size, one.array.nbytes))

    def _fill(self, queue: Queue, thread: int, pieces: Iterator[_TransferPiece]) -> None:
        """Fill this thread's blocks in turn, each after the device has read it."""
        import pyopencl as cl

        for block, staged, piece in self._turns(thread, pieces):
            np.copyto(staged, piece.host)
            self._events[thread][block] = cl.enqueue_copy(
                queue, piece.transfer.buffer, staged, dst_offset=piece.offset, is_blocking=False
            )
            queue.flush()

    def _empty(
        self,
        queue: Queue,
        thread: int,
        pieces: Iterator[_TransferPiece],
        note: Callable[[Event], object],
    ) -> None:
        """Empty this thread's blocks in turn, while the device writes the others."""
        import pyopencl as cl

        coming: deque[tuple[Event, Array, _TransferPiece]] = deque()
        for block, staged, piece in self._turns(thread, pieces):
            event = self._events[thread][block] = cl.enqueue_copy(
                queue, staged, piece.transfer.buffer, src_offset=piece.offset, is_blocking=False
            )
            queue.flush()
            note(event)
            coming.append((event, staged, piece))
            if len(coming) == self.shape.blocks:
                _take_over(*coming.popleft())
        while coming:
            _take_over(*coming.popleft())

    def _turns(
        self, thread: int, pieces: Iterator[_TransferPiece]
    ) -> Iterator[tuple[int, Array, _TransferPiece]]:
        """Yield the number of a block, its bytes once nothing uses them, and the next piece."""
        assert self._blocks is not None
        for turn, piece in enumerate(pieces):
            block = turn % self.shape.blocks
            if (event := self._events[thread][block]) is not None:
                event.wait()
            yield block, self._blocks[thread, block, : piece.end - piece.begin], piece


def _take_over(event: Event, staged: Array, piece: _TransferPiece) -> None:
    """Copy a block to the host array, after the device has written it."""
    event.wait()
    np.copyto(piece.host, staged)
    piece.transfer.done(piece.begin, piece.end)
