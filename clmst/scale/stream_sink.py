"""Sinks: upload the rows of a stream, or generate its edges, and give them to kernels.

The rows of the caller go to the device as they are, in blocks. While a block is on its way, the
device looks at the one before it: it checks the rows, and marks the edges that count.

    bus      | block 0 | block 1 | block 2 | block 3 |
    kernels            | marks 0 | marks 1 | marks 2 |
    host                         | takes 0 | takes 1 |

Rows that bring their own ids are checked on the host.

Here is what all sinks do, and the one whose kernels see the stream several times. Borůvka's
algorithm by passes takes 28 bytes a vertex, a reduction (``scale/sinks.py``) more than a hundred.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream import generated, passes
from clmst.algorithms.edge_stream.edges import (
    EdgeChunk,
    EdgeKernels,
    EdgePart,
    FaultyEdgeError,
    Marks,
    joined,
)
from clmst.algorithms.edge_stream.passes import EdgePasses, in_canonical_order
from clmst.algorithms.families import EDGE_PASSES
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.kernel_family import case_of
from clmst.runtime.launcher import Launcher
from clmst.runtime.uploads import Uploads
from clmst.scale.checkpoint import Position
from clmst.scale.rows import EdgeBlock, GeneratedPiece, StreamPiece

# Rows of a block: on CPUs few enough for the caches.
ROWS = {"cpu": 1 << 18, "gpu": 1 << 22, "accelerator": 1 << 22}
BLOCKS = 3
LEAST_ROWS = 64  # of a pass at once; with fewer, nothing but launches would take time
_SHARE = 8  # chunks take at most so small a share of the memory
_ALSO = 13  # bytes of an edge of a chunk beside its weight: its ends, mark and position


def bytes_of_row(dtype: np.dtype[Any], *, is_generated: bool = False) -> int:
    """Return the bytes of a device for each row of a chunk, in all blocks."""
    blocks = dtype.itemsize if is_generated else BLOCKS * (16 + dtype.itemsize)
    return blocks + _ALSO


def most_rows(device: Device, *, is_generated: bool) -> int:
    """Return the most edges of a chunk."""
    return (generated.CHUNK if is_generated else ROWS)[device.capabilities.kind]


def rows_within(limit: int, device: Device, dtype: np.dtype[Any], *, is_generated: bool) -> int:
    """Return the rows of a chunk, if chunks take a small share of a limit of bytes."""
    a_row = bytes_of_row(dtype, is_generated=is_generated)
    return min(most_rows(device, is_generated=is_generated), limit // (_SHARE * a_row))


class StreamSink:
    """A sink of pieces of a stream, which it takes to kernels as chunks of edges.

    It keeps within a `limit` of bytes of the device. Positions have checksums of the edges only
    where these are asked for: `read` is behind what has come, `position` behind the `n_on_device`
    edges that have been taken. The `dtype` of weights is None until it is known. The `reducer` has
    the edges, and counts them.
    """

    reducer: Any  # when it is open, of EdgeKernels
    _uploads: Uploads

    def __init__(
        self, *, n_vertices: int, device: Device, limit: int, maximum: bool, has_checksums: bool
    ) -> None:
        self._n_vertices, self._device, self._limit = n_vertices, device, limit
        self._maximum, self._has_checksums = maximum, has_checksums
        self._launch = Launcher(device, device.queue)
        self._guard = Guard(device)
        self.dtype: np.dtype[Any] | None = None
        self.n_on_device = self._rows = 0
        self._chunk: EdgeChunk | None = None  # of generated edges
        self._free = deque[EdgeBlock]()
        self._filling: EdgeBlock | None = None
        self._sent = deque[EdgeBlock]()
        self._marked: tuple[EdgeChunk, Marks] | None = None  # of the first block that was sent
        self.begin_at(Position())

    def begin_at(self, position: Position) -> None:
        """Set the position of the next edges in the stream, while none is being copied."""
        self.read = self.position = position

    @property
    def is_open(self) -> bool:
        """Whether kernels have the edges that come."""
        return self._rows > 0

    def _behind(self, before: Position, edges: EdgePart | StreamPiece) -> Position:
        """Return the position behind edges, or packed rows, that come at a position."""
        if not self._has_checksums:
            return Position(n_edges=before.n_edges + edges.size)
        return before.after(edges if isinstance(edges, EdgePart) else edges.as_part())

    def _open(self, kernels: EdgeKernels, rows: int, *, is_generated: bool) -> None:
        """Give the edges that come to kernels from now on, up to `rows` at a time."""
        uploads = Uploads(self._device)
        guard = Guard(self._device, queues=uploads.queues)
        with self._device.lock, guard:
            n_blocks = 0 if is_generated else BLOCKS
            self._free = deque(
                EdgeBlock(rows, kernels.dtype, self._device, uploads) for _ in range(n_blocks)
            )
        self._uploads, self._guard = uploads, guard
        self.reducer, self.dtype, self._rows = kernels, kernels.dtype, rows

    def take(self, piece: StreamPiece | GeneratedPiece) -> Iterator[None]:
        """Take a piece; yield after each part of it. Then the piece is not read any more.

        An invalid edge of an earlier piece raises; what was before its piece is taken, the rest
        dropped.
        """
        begin = 0
        if not piece.is_consecutive:
            self.flush()
        while begin < piece.size:
            filled = 0 if self._filling is None else self._filling.size
            end = min(piece.size, begin + self._rows - filled)
            some = piece.rows(begin, end)
            if isinstance(some, GeneratedPiece):
                self._generate(some)
            elif some.is_consecutive:
                self._put(some)
            else:
                self._take_checked(some)
            begin = end
            yield
        with self._device.lock, self._guard:
            self._uploads.wait()

    def flush(self) -> None:
        """Take all that has come; raises as :meth:`take`."""
        with self._device.lock, self._guard:
            self._close()
            while self._sent:
                self._take()

    def close(self) -> None:
        """Wait for all copies: memory goes back only then."""
        if self.is_open:
            with self._device.lock, self._guard:
                self._uploads.finish()

    # ------------------------------------------------- generated edges, edges with ids

    def _generate(self, piece: GeneratedPiece) -> None:
        with self._device.lock, self._guard:
            if self._chunk is None:  # its memory stays in the caches of a CPU
                self._chunk = piece.edges.new_chunk(0, self._rows, self._device)
            chunk = replace(self._chunk.before(piece.size), first_id=piece.first)
            piece.edges.generate(chunk, self._launch)
            try:
                self.reducer.take(chunk)
            except FaultyEdgeError as error:
                raise piece.edges.fault_at(chunk, error.at, self._launch) from None
        sums = self.position.checksums
        if self._has_checksums and not any(sums):
            sums = piece.edges.checksums
        self.n_on_device += chunk.size
        self.begin_at(Position(n_edges=piece.first + piece.size, checksums=sums))

    def _take_checked(self, piece: StreamPiece) -> None:
        part = piece.checked(self._n_vertices, self.dtype)
        self.begin_at(self._behind(self.position, part))
        self._take_part(part)

    def _take_part(self, part: EdgePart) -> None:
        with self._device.lock, self._guard:
            self.reducer.take(part.on_device(self._device))
        self.n_on_device += part.size

    # --------------------------------------------------------------------------- blocks

    def _put(self, piece: StreamPiece) -> None:
        """Send rows to a block with ends as wide as theirs, and with ids that theirs follow."""
        assert self.dtype is not None, "an open sink knows the weights"
        rows = piece.packed(self.dtype)
        after, first_id = self._behind(self.read, rows), rows.first_id or 0
        is_wide = rows.is_wide(self._n_vertices)
        with self._device.lock, self._guard:
            block = self._filling
            if block and (first_id != block.next_id or (is_wide and not block.is_wide)):
                self._close()
                block = None
            if block is None:
                block = self._filling = self._free.popleft()
                block.open(self.read, first_id, is_wide=is_wide)
            self.read = after
            block.put(rows, after)
            if block.size == block.capacity:
                self._close()

    def _close(self) -> None:
        """Send the rest of the block that was filled, and queue it for its marks."""
        block, self._filling = self._filling, None
        if block is None:
            return
        block.send()
        block.sent = self._uploads.sent()
        self._sent.append(block)
        self._mark()
        while not self._free:
            self._take()

    def _mark(self) -> None:
        """Enqueue the marks of the first block that was sent, unless they are."""
        if self._sent and self._marked is None:
            self._uploads.let_kernels_wait(self._sent[0].sent)
            chunk = self._sent[0].chunk(self.reducer.narrowed)
            self._marked = chunk, self.reducer.mark(chunk)
            self._launch.queue.flush()

    def _take(self) -> None:
        assert self._marked is not None, "the first block is looked at"
        chunk, marks = self._marked
        self._marked, block = None, self._sent.popleft()
        self._free.append(block)
        try:
            self.reducer.take(chunk, marks)
        except FaultyEdgeError as error:
            self._take_before(chunk, block, error.at)
            raise block.fault(error.at, self._n_vertices, self._launch) from None
        block.read = self._uploads.enqueued()  # before the next one is looked at
        self.position = block.after
        self.n_on_device += chunk.size
        self._mark()

    def _take_before(self, chunk: EdgeChunk, block: EdgeBlock, at: int) -> None:
        """Take the pieces before a faulty row, and drop all that came later."""
        self._uploads.finish()
        self._free.extend(self._sent)
        self._sent.clear()
        if self._filling is not None:
            self._free.append(self._filling)
        self._filling = None
        size, position = block.rows_before(at)
        self.reducer.take(chunk.before(size))
        self.n_on_device += size
        self.begin_at(position)


class Passes(StreamSink):
    """A sink that finds the forest of a stream that is read several times, of one vertex at least.

    Earlier passes, `n_passes` of them, may have found edges of the forest, `known`. Raise where the
    limit does not hold the vertices, or the device fails the self-test of passes.
    """

    def __init__(
        self, *, dtype: np.dtype[Any], is_generated: bool, known: EdgePart | None, n_passes: int,
        **given: Any,
    ) -> None:  # fmt: skip
        super().__init__(**given)
        rows = self._rows_of_chunk(dtype, is_generated=is_generated)
        self._device.trust.require(EDGE_PASSES, case_of(dtype, maximum=self._maximum))
        with self._device.lock, Guard(self._device):
            kernels = EdgePasses(
                n_vertices=self._n_vertices, dtype=dtype, launch=self._launch, rows=rows,
                maximum=self._maximum,
            )  # fmt: skip
        self._open(kernels, rows, is_generated=is_generated)
        self._found = [EdgePart.empty(dtype)]
        self.n_passes = n_passes + 1
        if known is not None:
            self._join(known)

    def _rows_of_chunk(self, dtype: np.dtype[Any], *, is_generated: bool) -> int:
        """Return how many edges are on the device at once, within the limit."""
        device, n, limit = self._device, self._n_vertices, self._limit
        needed = n * passes.bytes_of_vertex(dtype)
        a_row = bytes_of_row(dtype, is_generated=is_generated)
        a_row += passes.bytes_of_row(dtype)  # as many of the forest leave at once
        rows = min(most_rows(device, is_generated=is_generated), (limit - needed) // a_row)
        if rows < LEAST_ROWS:
            raise OutOfDeviceMemoryError(
                f"{limit} bytes of {device.description} are too few for {n} vertices: passes over "
                f"the stream, which take the least, need {needed} and space for a chunk of it; the "
                "memory limit must be greater, or the device larger"
            )
        return rows

    def _join(self, forest: EdgePart) -> None:
        """Join the components that the edges of a forest join, by passes over these."""
        while not self.reducer.is_done:
            for begin in range(0, forest.size, self._rows):
                some = forest.take(slice(begin, begin + self._rows))
                with self._device.lock, Guard(self._device):
                    self.reducer.take(some.on_device(self._device))
            with self._device.lock, Guard(self._device):
                for _ in self.reducer.end_pass():  # the forest has them
                    pass
        self._found = [forest]

    def end(self) -> bool:
        """End a reading of the stream; return whether the forest is found."""
        self.flush()
        with self._device.lock, Guard(self._device):
            self._found += self.reducer.end_pass()
        return bool(self.reducer.is_done)

    def begin_again(self) -> None:
        """Begin the next reading."""
        self.n_passes += 1
        self.begin_at(Position())

    def edges_so_far(self) -> EdgePart:
        """Return the edges of the forest that the passes have found, in the order of passes."""
        self._found = [joined(self._found)]
        return self._found[0]

    def forest(self) -> EdgePart:
        """Return the forest, in canonical order; after :meth:`close`, once it is found."""
        found = self.edges_so_far()
        del self.reducer
        self._free.clear()
        self._chunk = None
        with self._device.lock, Guard(self._device):
            self._device.release_memory()  # of the passes: the sort takes no more than they did
            return in_canonical_order(found, n_vertices=self._n_vertices, launch=self._launch)
