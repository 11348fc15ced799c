"""The way of a caller's rows to a device: raw blocks are sent, checked and taken.

The rows of the caller go to the device as they are. While a block is on its way, the device looks
at the one before it: it checks the rows, and marks the edges that count.

    bus      | block 0 | block 1 | block 2 | block 3 |
    kernels            | marks 0 | marks 1 | marks 2 |
    host                         | takes 0 | takes 1 |
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeChunk, FaultyEdgeError, Marks
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.uploads import Uploads
from clmst.scale.checkpoint import Position
from clmst.scale.edge_block import EdgeBlock, RawRows

# Rows of a block: on CPUs few enough for the caches.
ROWS = {"cpu": 1 << 18, "gpu": 1 << 22, "accelerator": 1 << 22}
BLOCKS = 3
_BLOCKS_SHARE = 8  # blocks take at most so small a share of the memory
_ALSO = 13  # bytes of a row of one block: its ends in 32 bits, mark and position
_JOINED = 1 << 16  # rows of small chunks that are sent together; larger ones go by themselves


def bytes_of_row(dtype: np.dtype[Any]) -> int:
    """Return what all blocks take of a device for each row that one of them has."""
    return BLOCKS * (16 + dtype.itemsize) + _ALSO


def rows_within(limit: int, device: Device, dtype: np.dtype[Any]) -> int:
    """Return the rows of a block, if blocks take a small share of a limit of bytes."""
    return min(ROWS[device.capabilities.kind], limit // (_BLOCKS_SHARE * bytes_of_row(dtype)))


class Sink(Protocol):
    """Takes the chunks of edges that blocks are made into."""

    def narrowed(self, u: DeviceArray, v: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Enqueue that ends of 64 bits become ends of 32."""

    def mark(self, chunk: EdgeChunk) -> Marks:
        """Enqueue a search for the edges that count."""

    def take(self, chunk: EdgeChunk, marks: Marks | None = None) -> None:
        """Take the marked edges; raises :class:`FaultyEdgeError`."""


class BlockWay:
    """Blocks of rows on their way to a sink.

    Parameters
    ----------
    n_vertices : int
    dtype : numpy.dtype
        Of the weights.
    device : Device
    rows : int
        Of a block.
    sink : Sink

    Attributes
    ----------
    position : Position
        Of the stream, behind what has been taken.
    n_rows : int
        Rows that have been taken.
    """

    def __init__(
        self, *, n_vertices: int, dtype: np.dtype[Any], device: Device, rows: int, sink: Sink
    ) -> None:
        self._device, self._n_vertices, self._sink = device, n_vertices, sink
        self._launch = Launcher(device, device.queue)
        self._uploads = Uploads(device)
        self.position, self.n_rows = Position(), 0
        with device.lock, Guard(device, queues=self._uploads.queues):
            self._free = deque(EdgeBlock(rows, dtype, device) for _ in range(BLOCKS))
        self._filling: EdgeBlock | None = None
        self._small: list[RawRows] = []
        self._sent = deque[EdgeBlock]()
        self._marked: tuple[EdgeChunk, Marks] | None = None  # of the first block that was sent
        self._rows_of_block = rows

    @property
    def space(self) -> int:
        """How many rows the next call of :meth:`put` may bring."""
        filled = 0 if self._filling is None else self._filling.size
        return self._rows_of_block - filled - self._n_small

    @property
    def _n_small(self) -> int:
        return sum(one.size for one in self._small)

    def put(self, rows: RawRows) -> None:
        """Take some rows; arrays in pinned memory may be read until :meth:`wait`.

        Raises
        ------
        InvalidGraphError
            A row that came before is none. What was before its piece is taken, the rest dropped.
        """
        with self._device.lock, Guard(self._device, queues=self._uploads.queues):
            self._open_for(rows)
            block = self._filling
            assert block is not None
            if rows.size < _JOINED:
                self._small.append(rows.copied())
                if self._n_small >= _JOINED or self.space == 0:
                    self._send_small()
            else:
                self._send_small()
                block.put([rows], self._uploads)
            if block.size == block.capacity:
                self._close()

    def wait(self) -> None:
        """Wait until no array of the caller is read any more."""
        with self._device.lock, Guard(self._device, queues=self._uploads.queues):
            self._uploads.wait()

    def flush(self) -> None:
        """Take all that has come; raises as :meth:`put`."""
        with self._device.lock, Guard(self._device, queues=self._uploads.queues):
            self._close()
            while self._sent:
                self._take()

    def _open_for(self, rows: RawRows) -> None:
        """Have a block that is being filled, with ends as wide as some rows need."""
        is_wide, before = rows.is_wide(self._n_vertices), self.position
        if self._filling is not None and is_wide and not self._filling.is_wide:
            self._close()
        if self._filling is None:
            if self._sent:
                before = self._sent[-1].after
            self._filling = self._free.popleft()
            self._filling.open(before, self._uploads, is_wide=is_wide)

    def _send_small(self) -> None:
        if self._small:
            assert self._filling is not None
            self._filling.put(self._small, self._uploads)
            self._small = []

    def _close(self) -> None:
        """Let the device look at the block that was filled."""
        self._send_small()
        block, self._filling = self._filling, None
        if block is None:
            return
        block.sent = self._uploads.sent()
        self._sent.append(block)
        self._mark()
        while not self._free:
            self._take()

    def _mark(self) -> None:
        """Let the device look at the first block that was sent, unless it does."""
        if self._sent and self._marked is None:
            self._uploads.let_kernels_wait(self._sent[0].sent)
            chunk = self._sent[0].chunk(self._sink.narrowed)
            self._marked = chunk, self._sink.mark(chunk)
            self._launch.queue.flush()

    def _take(self) -> None:
        """Take the first block that was sent; waits for it."""
        assert self._marked is not None, "the first block is looked at"
        chunk, marks = self._marked
        self._marked, block = None, self._sent.popleft()
        self._free.append(block)
        try:
            self._sink.take(chunk, marks)
        except FaultyEdgeError as error:
            self._take_before(chunk, block, error.at)
            raise block.fault(error.at, self._n_vertices, self._launch) from None
        block.read = self._uploads.enqueued()  # before the next one is looked at
        self.position = block.after
        self.n_rows += chunk.size
        self._mark()

    def _take_before(self, chunk: EdgeChunk, block: EdgeBlock, at: int) -> None:
        """Take the pieces before a faulty row, and drop all that came later."""
        self._uploads.finish()
        self._free.extend(self._sent)
        self._sent.clear()
        if self._filling is not None:
            self._free.append(self._filling)
        self._filling, self._small = None, []
        size, position = block.rows_before(at)
        self._sink.take(
            EdgeChunk(
                u=chunk.u[:size],
                v=chunk.v[:size],
                weights=chunk.weights[:size],
                first_id=chunk.first_id,
            )
        )
        self.position = position
        self.n_rows += size

    def close(self) -> None:
        """Wait for all copies: memory goes back only then."""
        with self._device.lock, Guard(self._device, queues=self._uploads.queues):
            self._uploads.finish()
