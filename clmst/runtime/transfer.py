"""Transfers of large host arrays through pinned memory, by several threads of the host.

A driver copies ordinary, pageable memory through a small pinned buffer of its own, in one thread.
This is far slower than the bus. Here, every thread has a few blocks of pinned memory. While the
device reads one block, the thread fills its next one, and other threads fill theirs.
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
    """The division of the pinned memory for transfers. It never changes a result.

    Each of `threads` threads has `blocks` blocks of `block_bytes` bytes, a multiple of a page. With
    two blocks, a thread fills one while the device copies the other. The copy of a block must take
    much longer than the 20 us that Python needs to enqueue it, and all blocks together should
    nearly fit the host's caches. Transfers of fewer than `from_bytes` bytes are left to the driver,
    because waking the threads would take longer.
    """

    threads: int = 8
    blocks: int = 2
    block_bytes: int = 4 << 20
    # Copies of at least this number of bytes are staged, that is, go through pinned memory, which
    # the device can read directly. The number was chosen by the times from a SciPy matrix to a
    # forest on an H200. With 4 MiB and with 16 MiB they are: road_ny 3.46 and 1.66 ms, rmat16 2.45
    # and 1.54, cit 4.08 and 3.32, amazon 4.71 and 4.05. With 64 MiB, amazon takes 4.41 ms.
    from_bytes: int = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A contiguous, non-empty host array, and the buffer to or from which the array is copied.

    The copy begins at byte `offset` of the buffer. When a fetch has copied some bytes to the host,
    it calls `then(begin, end)` with the range of these bytes, in any order and from any thread.
    None as `then` means that nothing is called. Ranges begin and end at multiples of a page, or at
    the end of the array.
    """

    buffer: Memory
    array: Array
    offset: int = 0
    then: Callable[[int, int], None] | None = None

    def done(self, begin: int, end: int) -> None:
        """Report that the bytes from `begin` to `end` are copied, by a call of the function `then`.

        Do nothing if `then` is None.
        """
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
    """Do nothing. The default for a function that is called with each event."""


class Staging:
    """Pinned memory of a context, and the threads that copy between it and ordinary memory.

    Memory and threads are created at the first large transfer, and exist until :meth:`free`.
    `queue` is used to map the memory. Each transfer names its own queue. If the driver provides no
    pinned memory, a warning is given once, `failure` holds the reason, and transfers are left to
    the driver.

    Several threads may call the methods. Transfers run one at a time, under `lock`. Each thread of
    the pool has its own blocks and events, and works in order, so an interrupted transfer cannot
    harm the next one.
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
        self._blocks: Array | None = None  # shape (threads, blocks, bytes)
        self._events: list[list[Event | None]] = []
        self._workers: list[TaskThread] | None = None

    @property
    def n_bytes(self) -> int:
        """Number of bytes of pinned memory that the threads have, once it is allocated."""
        return self.n_threads * self.shape.blocks * self.shape.block_bytes

    def send(self, queue: Queue, transfers: Sequence[Transfer]) -> None:
        """Copy the host arrays of `transfers` to the device, in any order.

        Arrays in pinned memory are copied by the device directly. When the call returns, the caller
        may change the arrays. Copies may still be running in `queue`, so commands in another queue
        must wait for that queue.
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
        """Copy from the device into the host arrays of `transfers`. Blocks.

        The copies are enqueued in `queue`. `note` is called with the event of every copy.
        """
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
        """Return the pinned memory as an array of blocks, or None if there is none.

        The call waits until earlier transfers no longer use the blocks. The caller must hold
        `lock`, and keep it until all its own copies from or to the blocks have finished.
        """
        if not self.pinned or not self._open():
            return None
        assert self._blocks is not None
        for thread in range(self.n_threads):
            self._wait_for_events(thread)
        blocks: Array = self._blocks.reshape(-1, self.shape.block_bytes)
        return blocks

    def free(self) -> None:
        """Free the pinned memory and end the threads.

        The next large transfer creates both again.
        """
        with self.lock:
            if self._workers is None or self._blocks is None:
                return
            self._settle()
            mapping: Any = self._blocks.base
            self._workers, self._blocks, self._events = None, None, []
            mapping.release(self._queue)

    # ------------------------------------------------------------------ opening

    def _open(self) -> bool:
        """Create the pinned memory and the threads, unless both exist already.

        Return False if the driver does not provide pinned memory.
        """
        import pyopencl as cl

        if self._workers is not None or self.failure is not None:
            return self.failure is None
        try:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
            buffer = cl.Buffer(self._queue.context, flags, self.n_bytes)
            shape = (self.n_threads, self.shape.blocks, self.shape.block_bytes)
            access = cl.map_flags.READ | cl.map_flags.WRITE
            enqueue_map: Any = cl.enqueue_map_buffer  # its type stub does not accept combined flags
            self._blocks, _ = enqueue_map(self._queue, buffer, access, 0, shape, np.uint8)
        except (cl.Error, MemoryError) as error:
            self.failure = str(error).splitlines()[0]
            warnings.warn(
                f"{self._queue.device.name.strip()} did not provide {self.n_bytes} bytes of "
                f"pinned host memory ({self.failure}); transfers are slower without it",
                RuntimeWarning,
                stacklevel=2,
            )
            return False
        self._events = [[None] * self.shape.blocks for _ in range(self.n_threads)]
        # The threads are set last, because other code takes their presence as a sign that
        # everything else exists.
        self._workers = [TaskThread("clmst-transfer") for _ in range(self.n_threads)]
        return True

    # ------------------------------------------------------------------ threads

    def _share(
        self, work: Callable[[int, Iterator[_TransferPiece]], None], transfers: Sequence[Transfer]
    ) -> bool:
        """Cut `transfers` into pieces that all threads process, if that is faster, and wait.

        ``work(thread, pieces)`` is called once in each thread, with the number of the thread, and
        takes pieces from an iterator that all threads share. Returns False, without having done
        anything, if the arrays are so small that threads are not faster, or if pinned memory is not
        available. After an error or an interrupt, all threads and copies have stopped when the
        exception is raised.
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
        """Block until all threads are idle and all copies that they have enqueued have ended."""
        assert self._workers is not None
        share(self._workers, range(self.n_threads), lambda thread, _: self._wait_for_events(thread))

    def _wait_for_events(self, thread: int) -> None:
        for event in filter(None, self._events[thread]):
            with suppress(Exception):  # the event of a failed command raises
                event.wait()
        self._events[thread] = [None] * self.shape.blocks

    def _cut(self, transfers: Sequence[Transfer]) -> Iterator[_TransferPiece]:
        """Cut the arrays of `transfers` into pieces of one block or less.

        Pieces are smaller than a block if every thread would otherwise get fewer than two.
        """
        total = sum(one.array.nbytes for one in transfers)
        share = -(-total // (2 * self.n_threads * _PAGE)) * _PAGE
        size = min(self.shape.block_bytes, max(share, _PAGE))
        for one in transfers:
            for begin in range(0, one.array.nbytes, size):
                yield _TransferPiece(one, begin, min(begin + size, one.array.nbytes))

    def _fill(self, queue: Queue, thread: int, pieces: Iterator[_TransferPiece]) -> None:
        """Fill this thread's blocks of pinned memory in turn, each after the device has read it.

        `pieces` are the parts of host arrays that this thread copies. The copies to the device are
        enqueued in `queue`.
        """
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
        """Let the device write this thread's blocks of pinned memory, and copy each to the host.

        `pieces` are the parts of host arrays that this thread fills. The copies from the device are
        enqueued in `queue`. `note` is called with the event of every copy.
        """
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
        """Yield a block of a thread's pinned memory for each piece, as soon as the block is free.

        Yields triples: the number of the block, as many bytes of the block as the piece has, and
        the piece. `thread` is the number of the thread.
        """
        assert self._blocks is not None
        for turn, piece in enumerate(pieces):
            block = turn % self.shape.blocks
            if (event := self._events[thread][block]) is not None:
                event.wait()
            yield block, self._blocks[thread, block, : piece.end - piece.begin], piece


def _take_over(event: Event, staged: Array, piece: _TransferPiece) -> None:
    """Wait until the device has written a block of pinned memory, then copy it to the host array.

    `event` is the event of the device's copy, `staged` the block, and `piece` the part of the host
    array that the block is copied to.
    """
    event.wait()
    np.copyto(piece.host, staged)
    piece.transfer.done(piece.begin, piece.end)
