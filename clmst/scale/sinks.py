"""Sinks: what becomes of the edges of a stream. One reduces them, one makes passes over them.

A sink is given the pieces of a stream one after the other, and in the end it has the forest. There
are two, which differ in their kernels: :class:`ReductionSink` keeps the forest of the edges so far
and reduces it with later ones, in more than a hundred bytes a vertex. :class:`PassSink` sees the
stream once for each round of Borůvka's algorithm, in 28 bytes a vertex.

Both upload rows, or generate edges, in the same way (:class:`StreamSink`). The rows of the caller
go to the device as they are, in blocks. While a block is on its way, the device looks at the one
before it: it checks the rows, and marks the edges that count.

    bus      | block 0 | block 1 | block 2 | block 3 |
    kernels            | marks 0 | marks 1 | marks 2 |
    host                         | takes 0 | takes 1 |

Rows that bring their own ids are checked on the host.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.edge_stream import generated, passes
from clmst.algorithms.edge_stream.edges import (
    EdgeChunk,
    EdgeKernels,
    EdgePart,
    FaultyEdgeError,
    joined,
)
from clmst.algorithms.edge_stream.passes import EdgePasses, in_canonical_order
from clmst.algorithms.edge_stream.reducer import EdgeReducer
from clmst.algorithms.families import EDGE_PASSES, EDGE_STREAM
from clmst.core.errors import OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.route import StreamFacts
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.kernel_family import case_of
from clmst.runtime.launcher import Launcher
from clmst.runtime.uploads import Uploads
from clmst.scale import host_reducer
from clmst.scale.capacity import (
    LEAST_SHARE,
    most_edges,
    too_small,
)
from clmst.scale.checkpoint import Position, StreamState
from clmst.scale.host_reducer import HostReducer
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
        self._marked: EdgeChunk | None = None  # of the first block that was sent
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
            self._marked = self.reducer.mark(self._sent[0].chunk(self.reducer.narrowed))
            self._launch.queue.flush()

    def _take(self) -> None:
        chunk, self._marked, block = self._marked, None, self._sent.popleft()
        assert chunk is not None, "the first block is looked at"
        self._free.append(block)
        try:
            self.reducer.take(chunk)
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


class ReductionSink(StreamSink):
    """A sink that filters the edges of a stream, and reduces them to their forest.

    Edges go to the device as they are, as soon as there are enough of them. The host has them
    before that, where the device has not passed the self-test of streams, and where the memory
    limit leaves too little for what must be there. Generated edges are never on the host. The
    number of edges of the whole stream, if it is known, tells what pays.
    """

    n_passes = 1

    def __init__(self, *, n_edges: int | None, has_checksums: bool = False, **given: Any) -> None:
        super().__init__(has_checksums=has_checksums, **given)
        self._n_edges = n_edges
        self._host = HostReducer(
            n_vertices=self._n_vertices, device=self._device, limit=self._limit,
            maximum=self._maximum,
        )  # fmt: skip
        self.reducer: HostReducer | EdgeReducer = self._host  # until the device has the edges
        self._is_refused = False  # whether the device has no space, or is not trusted

    def go_on_from(self, known: StreamState) -> None:
        """Continue from the state of another stream, as if this one had read the edges."""
        if known.parts:
            self.dtype = known.parts[0].weights.dtype
        self.begin_at(known.position)
        self._host.go_on_from(known)

    # ------------------------------------------------------------------------- pieces

    def take(self, piece: StreamPiece | GeneratedPiece) -> Iterator[None]:
        """Take a piece of arrays; yield after each part. Then the piece is not read any more."""
        while piece.size:
            if self._host.is_full:
                self._host.reduce()
            if not self.is_open:
                self._open_if_it_pays(piece)
            if self.is_open:
                yield from super().take(piece)
                return
            assert isinstance(piece, StreamPiece), "generated edges are for the device"
            if self.dtype is None:
                self.dtype = piece.rows(0, 0).checked(self._n_vertices).weights.dtype
                self._host.expect(self.dtype)
            n = min(piece.size, host_reducer.ROWS, self._host.space)
            self._take_checked(piece.rows(0, n))
            piece = piece.rows(n, piece.size)
            yield

    def _take_part(self, part: EdgePart) -> None:
        if self.is_open:
            super()._take_part(part)
        else:
            to_come = None if self._n_edges is None else self._n_edges - self.position.n_edges
            self._host.take(part, to_come)

    # --------------------------------------------------------------- onto the device

    def _open_if_it_pays(self, piece: StreamPiece | GeneratedPiece) -> None:
        """Move the edges to the device if the router says so, those that came before as well."""
        is_generated, host = isinstance(piece, GeneratedPiece), self._host
        if not is_generated and self.dtype not in (None, piece.dtype):
            return  # other weights are an error, which the host has the words for
        facts = StreamFacts(
            n_vertices=self._n_vertices, n_new=host.n_waiting + host.n_filtered + piece.size,
            n_forest=host.n_forest, generated=is_generated, reduced=host.reductions > 0,
            refused=self._is_refused,
        )  # fmt: skip
        if route.way_of_stream(facts).record != route.REDUCED:
            return
        try:
            self._open_reducer(piece)
        except (OutOfDeviceMemoryError, UnsupportedDeviceError):
            if is_generated:
                raise
            self._is_refused = True

    def _open_reducer(self, piece: StreamPiece | GeneratedPiece) -> None:
        """Move the edges to the device, or raise if it has no space or is not trusted."""
        rows, capacity = self._rows_and_capacity(piece)
        case = case_of(piece.dtype, maximum=self._maximum)
        self._device.trust.require(EDGE_STREAM, case)
        known = self._host.state()
        with self._device.lock, Guard(self._device):
            reducer = EdgeReducer(
                n_vertices=self._n_vertices, dtype=piece.dtype, launch=self._launch,
                capacity=capacity, maximum=self._maximum, limit=self._limit,
            )  # fmt: skip
            if known.parts:
                has_forest = known.forest is not None
                reducer.go_on_from(joined(known.parts), has_forest=has_forest)
        self._open(reducer, rows, is_generated=isinstance(piece, GeneratedPiece))
        reducer.reductions, reducer.n_filtered = self._host.reductions, self._host.n_filtered
        self._host.go_on_from(StreamState(forest=None))

    def _rows_and_capacity(self, piece: StreamPiece | GeneratedPiece) -> tuple[int, int]:
        """Return the edges of a chunk, and those of a reduction, within the limit.

        Too little is a sixteenth of the forest's edges beside it for generated edges, and as many
        edges again for rows, which the host takes with less memory.
        """
        n, device, is_generated = self._n_vertices, self._device, isinstance(piece, GeneratedPiece)
        rows = rows_within(self._limit, device, piece.dtype, is_generated=is_generated)
        rows = min(rows, piece.size) if is_generated else rows
        a_row = bytes_of_row(piece.dtype, is_generated=is_generated)
        most = most_edges(device, self._limit - rows * a_row, n, piece.dtype, on_device=True)
        before = self._host.n_forest + self._host.n_waiting
        bound = min(n - 1, before + piece.size) if is_generated else n - 1
        share = LEAST_SHARE if is_generated else 1
        least = max(before + 1, bound + max(1, bound // share))
        if rows < 1 or most < least:
            raise too_small(self._limit, n, bound, device)
        if self._n_edges is not None:  # space for all of them is enough
            n_to_come = self._n_edges - self.position.n_edges
            most = min(most, max(before + n_to_come, 2 * bound, least))
        return rows, most

    # ---------------------------------------------------------------- what was found

    def reduce(self, *, is_last: bool = False) -> None:
        """Make one forest of the present one and what waits; after the last one nothing comes."""
        self.flush()
        if isinstance(self.reducer, HostReducer):
            self.reducer.reduce()
            return
        with self._device.lock, Guard(self._device):
            self.reducer.reduce(is_last=is_last)

    def end(self) -> bool:
        """End a reading of the stream; return whether the forest is found."""
        self.reduce(is_last=True)
        return True

    def state(self) -> StreamState:
        """Return the state for another stream, which has a position of its own."""
        self.flush()
        reducer = self.reducer
        if isinstance(reducer, HostReducer):
            return reducer.state()
        with self._device.lock, Guard(self._device):
            forest, waiting = reducer.forest(), reducer.waiting()
        return StreamState(
            forest=forest if forest.size else None, waiting=(waiting,) if waiting.size else ()
        )

    def edges_so_far(self) -> EdgePart | None:
        """Return the forest of the last reduction; None if there was none."""
        if isinstance(self.reducer, HostReducer):
            return self.reducer.forest
        with self._device.lock, Guard(self._device):
            return self.reducer.forest()

    forest = edges_so_far


class PassSink(StreamSink):
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
