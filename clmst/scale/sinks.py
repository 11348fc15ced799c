"""Sinks, which are objects that receive the edges of a stream and compute their forest.

There are two kinds, with different kernels. :class:`ReductionSink` keeps the forest of the edges so
far, and again and again computes the forest of these and further edges together. It reads the
stream once, and needs more than a hundred bytes of the device's memory per vertex.
:class:`PassSink` reads the stream once for each round of Borůvka's algorithm, and needs 28 bytes
per vertex.

:class:`StreamSink` passes the edges to the kernels of both. A caller's edges are uploaded
unchanged, in blocks. While one block is uploaded, kernels process the block before it: they check
its edges, and mark those that may enter the forest. Of the block before that, the marked edges are
collected.

    bus      | block 0 | block 1 | block 2 | block 3 |
    kernels            | marks 0 | marks 1 | marks 2 |
    host                         | takes 0 | takes 1 |

Edges that have ids of their own are checked on the host instead.
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
from clmst.route import StreamFacts, Way
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

# Number of edges (rows) that are uploaded together as a block, by the kind of device. On a CPU a
# block fits into the caches.
ROWS = {"cpu": 1 << 18, "gpu": 1 << 22, "accelerator": 1 << 22}
BLOCKS = 3
# Minimum number of edges in a block, the edges that are uploaded together, if the stream is read
# several times. With fewer, launches would take most of the time.
LEAST_ROWS = 64
_SHARE = 8  # the edges that kernels process at a time take at most 1/8 of the memory limit
# Bytes of an edge in the arrays of the kernels that process a block, without its weight: two ends
# of 32 bits, a mark and a position.
_ALSO = 13


def bytes_of_row(dtype: np.dtype[Any], *, is_generated: bool = False) -> int:
    """Return the bytes of device memory that a sink allocates for each edge of a block's capacity.

    A block is a buffer for the edges that are uploaded together. A sink has BLOCKS blocks of the
    same capacity, and kernels need further arrays for the edges of one block. The result is the sum
    over all blocks and these arrays, divided by the capacity of one block. `dtype` is the dtype of
    the weights. If the device generates the edges (`is_generated`), blocks are not needed, and the
    result is for the arrays alone.
    """
    blocks = dtype.itemsize if is_generated else BLOCKS * (16 + dtype.itemsize)
    return blocks + _ALSO


def most_rows(device: Device, *, is_generated: bool) -> int:
    """Return the maximum number of edges of a stream that kernels on `device` take at a time.

    `is_generated` says whether the device itself generates the edges; the maximum differs then.
    """
    return (generated.CHUNK if is_generated else ROWS)[device.capabilities.kind]


def rows_within(limit: int, device: Device, dtype: np.dtype[Any], *, is_generated: bool) -> int:
    """Return the number of edges that kernels take at a time within `limit` bytes of a device.

    The arrays for these edges take at most 1/8 of the limit. `dtype` is the dtype of the weights,
    and `is_generated` says whether the device generates the edges. The result is 0 if not even one
    edge fits.
    """
    a_row = bytes_of_row(dtype, is_generated=is_generated)
    return min(most_rows(device, is_generated=is_generated), limit // (_SHARE * a_row))


class StreamSink:
    """Base class of ReductionSink and PassSink, which passes the edges of a stream to kernels.

    The edges are passed in chunks. A chunk holds the edges that kernels process at a time.

    Parameters
    ----------
    n_vertices, device, maximum
        The number of vertices, the device of the kernels, and whether the maximum spanning forest
        is wanted.
    limit : int
        Bytes of the device that the sink may use.
    has_checksums : bool
        Whether to store a checksum of all earlier edges with each position in the stream.
        Checkpoints need the checksums, to recognise the same stream later.

    Attributes
    ----------
    read : Position
        The position in the stream after the last edge that the sink has received.
    position : Position
        The position in the stream after the last edge that kernels have processed.
    n_on_device : int
        Number of edges that kernels on the device have processed.
    dtype : numpy.dtype or None
        The dtype of the weights, or None until it is known.
    reducer : EdgeKernels
        The object that keeps the edges and runs the kernels.
    way : Way
        The router's last answer: where the edges are kept, and the facts that decided.
    """

    reducer: Any  # an object of the type EdgeKernels, once the edges go to the device
    way: Way
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
        self._chunk: EdgeChunk | None = None  # the arrays of generated edges, for all pieces
        self._free = deque[EdgeBlock]()
        self._filling: EdgeBlock | None = None
        self._sent = deque[EdgeBlock]()
        self._marked: EdgeChunk | None = None  # the marked edges of the first block in `_sent`
        self.begin_at(Position())

    def begin_at(self, position: Position) -> None:
        """Set the position in the stream from which the next edges come.

        All earlier edges must have been processed.
        """
        self.read = self.position = position

    @property
    def is_open(self) -> bool:
        """Whether new edges are passed to kernels on the device.

        Before that, the edges are kept on the host, and no memory is allocated on the device.
        """
        return self._rows > 0

    def _behind(self, before: Position, edges: EdgePart | StreamPiece) -> Position:
        """Return the position in the stream after `edges`, which begin at the position `before`."""
        if not self._has_checksums:
            return Position(n_edges=before.n_edges + edges.size)
        return before.after(edges if isinstance(edges, EdgePart) else edges.as_part())

    def _open(self, kernels: EdgeKernels, rows: int, *, is_generated: bool) -> None:
        """Allocate blocks for edges on the device. New edges are passed to `kernels` from now on.

        The kernels take at most `rows` edges at a time. Edges that the device generates
        (`is_generated`) do not need blocks.
        """
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
        """Pass the edges of a piece of the stream to the kernels. Yield None from time to time.

        The caller has to exhaust the iterator. After that, the arrays of the piece are not read any
        more, although its edges may still wait in a block. The edges are checked some time after
        they were taken. So the call may raise InvalidGraphError for an edge of an earlier piece.
        All pieces before the faulty piece have been processed then, and all later edges are
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
        """Let the kernels process all edges that were not processed yet, and wait for that.

        Raise InvalidGraphError at an invalid edge, as :meth:`take` does.
        """
        with self._device.lock, self._guard:
            self._close()
            while self._sent:
                self._take()

    def close(self) -> None:
        """Block until all copies are complete, so that the memory of the blocks can be freed."""
        if self.is_open:
            with self._device.lock, self._guard:
                self._uploads.finish()

    # ------------------------------------------------- generated edges, edges with ids

    def _generate(self, piece: GeneratedPiece) -> None:
        """Let the device generate the edges of a piece of the stream, and pass them to kernels."""
        with self._device.lock, self._guard:
            if self._chunk is None:  # arrays that are used again stay in the caches of a CPU
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
        """Check the edges of a piece of the stream on the host, then let kernels process them."""
        part = piece.checked(self._n_vertices, self.dtype)
        self.begin_at(self._behind(self.position, part))
        self._take_part(part)

    def _take_part(self, part: EdgePart) -> None:
        """Upload the edges of `part`, which the host has checked, for the kernels to process."""
        with self._device.lock, self._guard:
            self.reducer.take(part.on_device(self._device))
        self.n_on_device += part.size

    # --------------------------------------------------------------------------- blocks

    def _put(self, piece: StreamPiece) -> None:
        """Add the edges of a piece to the block that is being filled, or to a new block.

        All edges of a block have consecutive ids. So a new block is begun if the ids of the piece
        do not follow the block's ids. A new block is also begun if the block has ends of 32 bits,
        and the piece has ends that must be checked in 64 bits.
        """
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
        """Finish the block that is being filled: upload its last rows, and queue it for kernels.

        Do nothing if no block is being filled. If all blocks are in use afterwards, wait until the
        edges of the oldest block have been processed, so that it becomes free.
        """
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
        """Enqueue the kernels that check and mark the edges of the oldest uploaded block.

        An edge is marked if it may enter the forest. Do nothing if these kernels are enqueued
        already. The kernels wait, on the device, for the end of the block's upload.
        """
        if self._sent and self._marked is None:
            self._uploads.let_kernels_wait(self._sent[0].sent)
            self._marked = self.reducer.mark(self._sent[0].chunk(self.reducer.narrowed))
            self._launch.queue.flush()

    def _take(self) -> None:
        """Process the marked edges of the oldest uploaded block, and begin to mark the next block.

        An edge is marked if it may enter the forest. The call waits until the marked edges are
        processed. If an edge of the block is invalid, the pieces before its piece are processed,
        and InvalidGraphError is raised, which names the edge.
        """
        chunk, self._marked, block = self._marked, None, self._sent.popleft()
        assert chunk is not None, "the first block is looked at"
        self._free.append(block)
        try:
            self.reducer.take(chunk)
        except FaultyEdgeError as error:
            self._take_before(chunk, block, error.at)
            raise block.fault(error.at, self._n_vertices, self._launch) from None
        block.read = self._uploads.enqueued()  # before kernels for the next block are enqueued
        self.position = block.after
        self.n_on_device += chunk.size
        self._mark()

    def _take_before(self, chunk: EdgeChunk, block: EdgeBlock, at: int) -> None:
        """Process the pieces of a block before the one with an invalid edge, and drop the rest.

        A block is a buffer of uploaded edges, which came in pieces of the stream. `at` is the row
        of the invalid edge in `block`. `chunk` has the edges of the block. All later edges of the
        stream are dropped, too.
        """
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
    """Receives the edges of a stream, filters them, and reduces them to their forest.

    The first edges are kept on the host. Once :func:`clmst.route.way_of_stream` says that there are
    enough of them, they and all later edges are passed to the device, which checks, filters and
    reduces them. The edges stay on the host if the device has failed the self-test of streams, or
    if the memory limit does not leave space for them on the device. Generated edges are always on
    the device.

    `n_edges` is the number of edges of the whole stream, or None if it is unknown. It helps to
    decide where the edges are kept and whether they are filtered.
    """

    n_passes = 1

    def __init__(self, *, n_edges: int | None, has_checksums: bool = False, **given: Any) -> None:
        super().__init__(has_checksums=has_checksums, **given)
        self._n_edges = n_edges
        self._host = HostReducer(
            n_vertices=self._n_vertices, device=self._device, limit=self._limit,
            maximum=self._maximum,
        )  # fmt: skip
        # Reduces the edges: a HostReducer on the host, or later an EdgeReducer on the device.
        self.reducer: HostReducer | EdgeReducer = self._host
        self._is_refused = False  # whether the device lacks space, or has failed its self-test
        self.way = route.way_of_stream(
            StreamFacts(n_vertices=self._n_vertices, n_new=0, n_forest=0)
        )

    def go_on_from(self, known: StreamState) -> None:
        """Continue from the forest and the edges of another stream, as if they had been taken here.

        This object must not have taken any edges before.
        """
        if known.parts:
            self.dtype = known.parts[0].weights.dtype
        self.begin_at(known.position)
        self._host.go_on_from(known)

    # ------------------------------------------------------------------------- pieces

    def take(self, piece: StreamPiece | GeneratedPiece) -> Iterator[None]:
        """Take the next edges of the stream, and compute forests of them. Yield None at times.

        The columns of the piece must be arrays. The caller has to exhaust the iterator. After that,
        the arrays are not read any more. Raise InvalidGraphError at an invalid edge, which may
        belong to an earlier piece.
        """
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
        """Pass edges that the host has checked to the object that computes the forest.

        This object is an EdgeReducer, on the device, once the memory on the device was allocated.
        Before that it is a HostReducer.
        """
        if self.is_open:
            super()._take_part(part)
        else:
            to_come = None if self._n_edges is None else self._n_edges - self.position.n_edges
            self._host.take(part, to_come)

    # --------------------------------------------------------------- onto the device

    def _open_if_it_pays(self, piece: StreamPiece | GeneratedPiece) -> None:
        """Move all edges so far to the device, and reduce later ones there, if that is faster.

        :func:`clmst.route.way_of_stream` decides, by the number of edges so far and by `piece`, the
        next piece. If the device lacks space or has failed its self-test, the edges stay on the
        host. For edges that the device would generate, an error is raised instead.
        """
        is_generated, host = isinstance(piece, GeneratedPiece), self._host
        if not is_generated and self.dtype not in (None, piece.dtype):
            return  # the dtype has changed, for which the check on the host raises an error
        facts = StreamFacts(
            n_vertices=self._n_vertices, n_new=host.n_waiting + host.n_filtered + piece.size,
            n_forest=host.n_forest, generated=is_generated, reduced=host.reductions > 0,
            refused=self._is_refused,
        )  # fmt: skip
        self.way = route.way_of_stream(facts)
        if self.way.record != route.REDUCED:
            return
        try:
            self._open_reducer(piece)
        except (OutOfDeviceMemoryError, UnsupportedDeviceError):
            if is_generated:
                raise
            self._is_refused = True
            self.way = route.way_of_stream(facts._replace(refused=True))

    def _open_reducer(self, piece: StreamPiece | GeneratedPiece) -> None:
        """Move all edges so far to the device, and pass all later edges to the device.

        `piece` has the dtype of the weights, and says whether the device generates the edges. Raise
        OutOfDeviceMemoryError if the device lacks space, or UnsupportedDeviceError if it has failed
        the self-test of streams.
        """
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
        """Return the number of edges that kernels take at a time, and that are reduced together.

        With both numbers, the memory limit is observed. A reduction replaces the forest so far and
        the edges that wait by their forest. `piece` has the dtype of the weights, and says whether
        the device generates the edges. Raise NoSpaceForReductionError if there is too little space
        for new edges beside the forest. Generated edges need space for 1/16 as many edges as the
        forest has. Uploaded edges need space for as many as the forest has. With less, the host can
        reduce them in its own memory.
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
        if self._n_edges is not None:  # takes no more space than all edges of the stream need
            n_to_come = self._n_edges - self.position.n_edges
            most = min(most, max(before + n_to_come, 2 * bound, least))
        return rows, most

    def facts_at_end(self, first: StreamPiece) -> StreamFacts:
        """Predict the facts about the stream at its end, without reading it.

        `first` is a piece of the stream. No edge may have been taken yet, and the number of edges
        must be known. The forest is assumed to have as many edges as the numbers of vertices and
        edges allow. The call may run a self-test of the device.
        """
        assert self._n_edges is not None, "the number of edges is known"
        n_forest, dtype = max(0, min(self._n_vertices - 1, self._n_edges)), first.dtype
        capacity = most_edges(self._device, self._limit, self._n_vertices, dtype)
        refusal = self._device.trust.refusal(EDGE_STREAM, case_of(dtype, maximum=self._maximum))
        try:
            self._rows_and_capacity(first)
        except OutOfDeviceMemoryError:
            refusal = refusal or "the device has no space for the edges"
        return StreamFacts(
            n_vertices=self._n_vertices, n_new=self._n_edges, n_forest=0,
            reduced=self._n_edges > capacity, refused=refusal is not None,
            has_space=capacity - n_forest >= max(1, n_forest // LEAST_SHARE),
        )  # fmt: skip

    # ---------------------------------------------------------------- what was found

    def reduce(self, *, is_last: bool = False) -> None:
        """Replace the forest so far and the edges added since by the forest of all of them. Blocks.

        If `is_last` is True, no edges may follow, because no filter for them is built from the new
        forest.
        """
        self.flush()
        if isinstance(self.reducer, HostReducer):
            self.reducer.reduce()
            return
        with self._device.lock, Guard(self._device):
            self.reducer.reduce(is_last=is_last)

    def end(self) -> bool:
        """Merge the remaining edges into the forest at the end of the stream.

        Always returns True, because the stream does not have to be read again.
        """
        self.reduce(is_last=True)
        return True

    def state(self) -> StreamState:
        """Return the forest so far and later edges, from which another stream can continue.

        Block until both are on the host. The `position` of the result is not set.
        """
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
        """Return, in the host's memory, the forest as it was last computed.

        Edges that were taken later are not in it. If the edges are on the host, the result is None
        before a forest was computed for the first time.
        """
        if isinstance(self.reducer, HostReducer):
            return self.reducer.forest
        with self._device.lock, Guard(self._device):
            return self.reducer.forest()

    forest = edges_so_far


class PassSink(StreamSink):
    """Receives the edges of a stream that is read once for each round of Borůvka's algorithm.

    The graph must have at least one vertex. To continue from a checkpoint, `known` has the edges of
    the forest that earlier passes have found, and `n_passes` is the number of these passes.
    Otherwise `known` is None and `n_passes` is 0.

    Raises
    ------
    OutOfDeviceMemoryError
        The memory limit is too small for the vertices.
    UnsupportedDeviceError
        The device has failed the self-test of passes.
    """

    def __init__(
        self, *, dtype: np.dtype[Any], is_generated: bool, known: EdgePart | None, n_passes: int,
        way: Way, **given: Any,
    ) -> None:  # fmt: skip
        super().__init__(**given)
        self.way = way
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
        """Return the number of edges that kernels take at a time within the memory limit.

        `dtype` is the dtype of the weights, and `is_generated` says whether the device generates
        the edges. Raise OutOfDeviceMemoryError if there is space for fewer than 64.
        """
        device, n, limit = self._device, self._n_vertices, self._limit
        needed = n * passes.bytes_of_vertex(dtype)
        a_row = bytes_of_row(dtype, is_generated=is_generated)
        a_row += passes.bytes_of_row(dtype)  # forest edges are read back in chunks of this size
        rows = min(most_rows(device, is_generated=is_generated), (limit - needed) // a_row)
        if rows < LEAST_ROWS:
            raise OutOfDeviceMemoryError(
                f"{limit} bytes of {device.description} are too few for {n} vertices: passes over "
                f"the stream, which take the least, need {needed} and space for a chunk of it; the "
                "memory limit must be greater, or the device larger"
            )
        return rows

    def _join(self, forest: EdgePart) -> None:
        """Restore the component of each vertex from the forest edges that a checkpoint stores.

        Rounds of Borůvka's algorithm are run on these edges, until each tree of `forest` is one
        component. So a checkpoint does not need to store components.
        """
        while not self.reducer.is_done:
            for begin in range(0, forest.size, self._rows):
                some = forest.take(slice(begin, begin + self._rows))
                with self._device.lock, Guard(self._device):
                    self.reducer.take(some.on_device(self._device))
            with self._device.lock, Guard(self._device):
                # The loop is needed only because it ends the pass. The edges that the pass yields
                # are known already: they are edges of `forest`.
                for _ in self.reducer.end_pass():
                    pass
        self._found = [forest]

    def end(self) -> bool:
        """End a pass: add the edges that it has found to the forest, and merge the components.

        Return whether the forest is complete. If it is not, another pass over the stream is needed.
        Block until the edges are on the host.
        """
        self.flush()
        with self._device.lock, Guard(self._device):
            self._found += self.reducer.end_pass()
        return bool(self.reducer.is_done)

    def begin_again(self) -> None:
        """Begin the next pass, at the first edge of the stream."""
        self.n_passes += 1
        self.begin_at(Position())

    def edges_so_far(self) -> EdgePart:
        """Return the edges of the forest that were found so far, in the order of the passes."""
        self._found = [joined(self._found)]
        return self._found[0]

    def forest(self) -> EdgePart:
        """Return the forest in canonical order, and free the memory of the passes.

        Call it once, after :meth:`close`, when :meth:`end` has returned True. The device sorts the
        edges.
        """
        found = self.edges_so_far()
        del self.reducer
        self._free.clear()
        self._chunk = None
        with self._device.lock, Guard(self._device):
            self._device.release_memory()  # so that the sort does not need memory beyond the limit
            return in_canonical_order(found, n_vertices=self._n_vertices, launch=self._launch)
