"""The state of a stream whose rows a device checks and filters, as far as it can."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream.family import EDGE_STREAM
from clmst.algorithms.families import Case
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.weight_keys import Array, weight_kind_or_none
from clmst.runtime.device import Device
from clmst.scale.capacity import VERTICES_PER_EDGE
from clmst.scale.checkpoint import Position
from clmst.scale.device_way import DeviceWay, rows_and_capacity
from clmst.scale.edge_block import raw_rows
from clmst.scale.edge_part import EdgePart, joined
from clmst.scale.rows import some_rows, with_arrays
from clmst.scale.source import StreamPiece
from clmst.scale.stream_state import PACE, StreamState

OPEN_FROM = 1 << 20  # edges so far, from which a device's buffers pay


class DeviceStreamState(StreamState):
    """As :class:`StreamState`, but rows go to the device as they are.

    The host has the rows instead, as long as there are few, before a checkpoint, where chunks
    bring their own edge ids, where the device has not passed the self-test of streams or has no
    such weights, and where the memory limit leaves less than a forest's edges beside a forest.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._way: DeviceWay | None = None
        self._is_for_host = self.n_vertices == 0
        self._counted = (0, 0, 0)  # reductions, filtered edges and rows of the way
        self._n_on_device = 0

    @property
    def n_forest(self) -> int:
        """Edges of the present forest."""
        return super().n_forest if self._way is None else self._way.n_forest

    def stats(self) -> dict[str, Any]:
        """Return what the forest tells of the stream."""
        return {**super().stats(), "edges_on_device": self._n_on_device}

    # -------------------------------------------------------------------- input

    def feed(self, piece: StreamPiece) -> Iterator[None]:
        """Take a piece; yield after each part of it. Then the piece is not read any more."""
        piece = with_arrays(piece)
        if piece.edge_ids is not None or piece.first_id is not None:
            self._leave()
            yield from super().feed(piece)
            return
        n_rows = piece.u.size
        passed = min(n_rows, max(0, self.resumed_at - self.position.n_edges))
        if self._way is None and passed:
            yield from super().feed(some_rows(piece, 0, passed))
            piece = some_rows(piece, passed, n_rows)
        if piece.u.size and (self._way is not None or self._enters(piece)):
            assert self._way is not None
            yield from self._send(piece, self._way)
        else:
            yield from super().feed(piece)

    def _send(self, piece: StreamPiece, way: DeviceWay) -> Iterator[None]:
        """Put the rows of a piece on the way, a part of a block at a time."""
        rows = raw_rows(piece, lambda: way.space, dtype=self.dtype, behind=self._behind)
        for some in rows:
            self._read = some.after
            way.put(some)
            self._advance(way)
            yield
        way.wait()

    def _behind(self, u: Array, v: Array, weights: Array) -> Position:
        """Return the position behind rows; with a checkpoint, the host makes their checksums."""
        if self._path is None:
            return Position(n_edges=self._read.n_edges + u.size)
        return self._read.after_rows(u, v, weights)

    def _filtered(self, part: EdgePart) -> EdgePart:
        """Return what may enter the forest, in arrays that the caller does not have."""
        return super()._filtered(part).owned()

    def _advance(self, way: DeviceWay) -> None:
        """Note how far the way has come, and write a checkpoint if it is time."""
        before = self.reductions
        self._note(way)
        if self._path is not None and (self.reductions > before or self._is_due()):
            began = monotonic()
            if began - self._saved_at >= PACE * self._seconds_to_save:
                self._reduce()
                self._write(began)

    def _note(self, way: DeviceWay) -> None:
        reductions, n_filtered, n_rows = self._counted
        self._counted = way.reductions, way.n_filtered, way.n_rows
        self.reductions += way.reductions - reductions
        self._n_filtered += way.n_filtered - n_filtered
        self._n_on_device += way.n_rows - n_rows
        self.position = way.position

    # ------------------------------------------------------------ to and fro

    def _enters(self, piece: StreamPiece) -> bool:
        """Return whether a piece goes to the device, which then has all that came before."""
        n_known = self.position.n_edges + piece.u.size
        if self.has_own_ids or self._is_for_host:
            return False
        if n_known < OPEN_FROM or n_known * VERTICES_PER_EDGE < self.n_vertices:
            return False
        dtype = np.dtype(np.uint8) if piece.weights is None else piece.weights.dtype
        dtype = dtype.newbyteorder("=")
        if self._capacity >= 0 and dtype != self.dtype:
            return False  # an error, which the host has the words for
        self._is_for_host = not self._opened(dtype)
        return not self._is_for_host

    def _opened(self, dtype: np.dtype[Any]) -> bool:
        """Open the way if the device can go it; return whether it can."""
        n_before = self.n_forest + self._n_pending
        rows, capacity = rows_and_capacity(self._device, self._limit, self.n_vertices, dtype)
        bound = self.n_vertices - 1
        if rows < 1 or capacity < max(2 * bound, bound + 1, n_before + 1):
            return False
        if not _takes(self._device, dtype, maximum=self._maximum):
            return False
        if self.n_edges is not None:  # space for all of them is enough
            capacity = min(capacity, max(self.n_edges, 2 * bound, bound + 1, n_before + 1))
        try:
            way = DeviceWay(
                n_vertices=self.n_vertices, dtype=dtype, device=self._device, limit=self._limit,
                rows=rows, capacity=capacity, maximum=self._maximum,
            )  # fmt: skip
            self._bring(way)
        except OutOfDeviceMemoryError:
            return False
        self._way, self.dtype, self._counted = way, dtype, (0, 0, 0)
        self.forest, self._pending, self._n_pending, self._filter = None, [], 0, None
        return True

    def _bring(self, way: DeviceWay) -> None:
        """Let a way have the forest and the edges that wait."""
        self._read = way.position = self.position
        parts = self.carried.parts
        if parts:
            columns = joined(parts).columns
            way.go_on_from(self.position, columns, has_forest=self.forest is not None)

    def _leave(self) -> None:
        """Let the host go on with what is on the device."""
        way, self._is_for_host = self._way, True
        if way is None:
            return
        way.flush()
        self._note(way)
        waiting = EdgePart.of_columns(way.waiting())
        self.forest = EdgePart.of_columns(way.columns()) if way.n_forest else None
        self._pending, self._n_pending, self._is_forest_new = [waiting], waiting.size, True
        self._way = None
        way.close()
        self._know(waiting)
        if self._is_full():
            self._reduce()

    # ------------------------------------------------------- reductions and ends

    def _reduce(self) -> None:
        """Make one forest of the present one and what waits."""
        if self._way is None:
            super()._reduce()
            return
        self._way.flush()
        self._way.reduce()
        self._note(self._way)
        self.forest = EdgePart.of_columns(self._way.columns())

    def save(self) -> None:
        """Keep what has come after an error of the stream; that of an earlier row is raised."""
        if self._way is not None:
            try:
                self._way.flush()
            finally:
                super().save()
        else:
            super().save()

    def finish(self) -> None:
        """Reduce what waits; the stream has ended."""
        if self._way is not None:
            self._way.flush()
            self._way.reduce(is_last=True)
        super().finish()

    def close(self) -> None:
        """Let nothing run on the device any more."""
        if self._way is not None:
            self._way.close()


def _takes(device: Device, dtype: np.dtype[Any], *, maximum: bool) -> bool:
    """Return whether a device streams weights of a dtype, and passes the self-test of that."""
    kind = weight_kind_or_none(dtype)
    if kind is None:
        return False
    return device.trust.refusal(EDGE_STREAM, Case(8 * dtype.itemsize, kind, maximum)) is None
