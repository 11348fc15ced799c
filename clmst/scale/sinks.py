"""The sink of a stream that reduces its edges to their forest, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clmst.algorithms.edge_stream.edges import EdgePart, joined
from clmst.algorithms.edge_stream.reducer import EdgeReducer
from clmst.algorithms.families import EDGE_STREAM
from clmst.core.errors import OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.runtime.failures import Guard
from clmst.runtime.kernel_family import case_of
from clmst.scale.capacity import (
    LEAST_SHARE,
    VERTICES_PER_EDGE,
    most_edges,
    too_small,
)
from clmst.scale.checkpoint import Position
from clmst.scale.host_reducer import ROWS, HostReducer, StreamSnapshot
from clmst.scale.rows import GeneratedPiece, StreamPiece
from clmst.scale.stream_sink import StreamSink, bytes_of_row, rows_within

OPEN_FROM = 1 << 20  # edges so far, from which a device's buffers pay


class Reductions(StreamSink):
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
        self._is_for_host = self._n_vertices == 0

    def go_on_from(self, known: StreamSnapshot, position: Position) -> None:
        """Continue from the state of another stream, as if this one had read the edges."""
        if known.parts:
            self.dtype = known.parts[0].weights.dtype
        self.begin_at(position)
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
            n = min(piece.size, ROWS, self._host.space)
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
        """Move the edges to the device if that pays, those that came before as well."""
        if isinstance(piece, GeneratedPiece):
            self._open_reducer(piece)
            return
        if self._is_for_host or self.dtype not in (None, piece.dtype):
            return  # other weights are an error, which the host has the words for
        host = self._host
        n_new = host.n_waiting + host.n_filtered + piece.size
        if (n_new + host.n_forest) * VERTICES_PER_EDGE < self._n_vertices:
            return
        if n_new < max(OPEN_FROM, host.n_forest) and not host.reductions:
            return
        try:
            self._open_reducer(piece)
        except (OutOfDeviceMemoryError, UnsupportedDeviceError):
            self._is_for_host = True

    def _open_reducer(self, piece: StreamPiece | GeneratedPiece) -> None:
        """Move the edges to the device, or raise if it has no space or is not trusted."""
        rows, capacity = self._rows_and_capacity(piece)
        case = case_of(piece.dtype, maximum=self._maximum)
        self._device.trust.require(EDGE_STREAM, case)
        known = self._host.snapshot()
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
        self._host.go_on_from(StreamSnapshot(forest=None))

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

    def snapshot(self) -> StreamSnapshot:
        """Return the state for another stream."""
        self.flush()
        reducer = self.reducer
        if isinstance(reducer, HostReducer):
            return reducer.snapshot()
        with self._device.lock, Guard(self._device):
            forest, waiting = reducer.forest(), reducer.waiting()
        return StreamSnapshot(
            forest=forest if forest.size else None, waiting=(waiting,) if waiting.size else ()
        )

    def edges_so_far(self) -> EdgePart | None:
        """Return the forest of the last reduction; None if there was none."""
        if isinstance(self.reducer, HostReducer):
            return self.reducer.forest
        with self._device.lock, Guard(self._device):
            return self.reducer.forest()

    forest = edges_so_far
