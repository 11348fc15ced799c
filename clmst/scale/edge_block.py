"""A block of a stream's rows on a device, as the caller has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeChunk
from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.handles import Event
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer
from clmst.runtime.uploads import Uploads
from clmst.scale.checkpoint import Position
from clmst.scale.rows import StreamPiece

Ends: TypeAlias = tuple[DeviceArray, DeviceArray]

_JOINED = 1 << 16  # rows of small pieces that are sent together; larger ones go by themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """Where rows are in a block, how their ends are to be read, and the position behind them."""

    chunk: str
    first_row: int
    begin: int
    end: int
    kinds: tuple[str, str]
    after: Position


class EdgeBlock:
    """Consecutive rows of a stream on a device, with consecutive ids.

    Attributes
    ----------
    size, next_id : int
        Rows that have been put into it, and the id behind theirs.
    sent, read : event or None
        The end of its copies, once it is full, and of the kernels that read it.
    """

    def __init__(
        self, capacity: int, dtype: np.dtype[Any], device: Device, uploads: Uploads
    ) -> None:
        self.capacity, self._device, self._uploads = capacity, device, uploads
        self._weights = DeviceArray.unchecked(capacity, dtype, device)
        self._ends: Ends | None = None
        self._segments: list[_Segment] = []
        self._small: list[StreamPiece] = []  # rows that have not been sent
        self._before = Position()
        self.size = self.next_id = self._n_sent = 0
        self.sent: Event | None = None
        self.read: Event | None = None

    @property
    def is_wide(self) -> bool:
        """Whether ends have 64 bits."""
        return self._ends is not None and self._ends[0].dtype.itemsize == 8

    @property
    def after(self) -> Position:
        """The position of the stream behind its rows."""
        return self._segments[-1].after if self._segments else self._before

    def open(self, before: Position, first_id: int, *, is_wide: bool) -> None:
        """Begin anew, at a position of the stream; copies wait for the kernels that read it."""
        self._segments, self._small, self._before = [], [], before
        self.size = self._n_sent = 0
        self.next_id = first_id
        if self._ends is None or self.is_wide != is_wide:
            self._ends = None  # its memory may be used again
            dtype = np.dtype(np.uint64 if is_wide else np.uint32)
            u, v = (DeviceArray.unchecked(self.capacity, dtype, self._device) for _ in range(2))
            self._ends = u, v
            self.read = self._uploads.enqueued()  # of those that had the memory before
        self._uploads.wait_for_kernels(self.read)

    def put(self, rows: StreamPiece, after: Position) -> None:
        """Put packed rows into it, with the position behind them, if there is space.

        Arrays in pinned memory may be read later.
        """
        begin, self.size = self.size, self.size + rows.size
        self.next_id += rows.size
        self._segments.append(
            _Segment(
                chunk=rows.chunk, first_row=rows.first_row, begin=begin, end=self.size,
                kinds=(rows.u.dtype.kind, rows.v.dtype.kind), after=after,
            )
        )  # fmt: skip
        if rows.size < _JOINED:
            self._small.append(rows.copied())
            if self.size - self._n_sent >= _JOINED:
                self.send()
        else:
            self.send()
            self._send([rows])

    def send(self) -> None:
        """Copy small pieces to the device that have not been."""
        if self._small:
            self._send(self._small)
            self._small = []

    def _send(self, pieces: Sequence[StreamPiece]) -> None:
        assert self._ends is not None, "a block is opened first"
        bits = 64 if self.is_wide else 32
        columns = (
            (self._ends[0], [_words(one.u, bits) for one in pieces]),
            (self._ends[1], [_words(one.v, bits) for one in pieces]),
            (self._weights, [one.weights for one in pieces]),
        )
        self._uploads.send(
            [
                Transfer(
                    buffer=array.memory,
                    array=parts[0] if len(parts) == 1 else np.concatenate(parts),
                    offset=self._n_sent * array.dtype.itemsize,
                )
                for array, parts in columns
            ]
        )
        self._n_sent += sum(one.size for one in pieces)

    def chunk(self, narrowed: Callable[[DeviceArray, DeviceArray], Ends]) -> EdgeChunk:
        """Enqueue the chunk of edges of its rows; `narrowed` makes ends of 32 bits."""
        assert self._ends is not None, "a block is opened first"
        u, v = (ends[: self.size] for ends in self._ends)
        if self.is_wide:
            u, v = narrowed(u, v)
        first_id = self.next_id - self.size
        return EdgeChunk(u=u, v=v, weights=self._weights[: self.size], first_id=first_id)

    def rows_before(self, at: int) -> tuple[int, Position]:
        """Return how many rows are whole pieces before a row, and the position behind them."""
        number = next(k for k, one in enumerate(self._segments) if at < one.end)
        before = self._segments[number - 1].after if number else self._before
        return self._segments[number].begin, before

    def fault(self, at: int, n_vertices: int, launch: Launcher) -> InvalidGraphError:
        """Return the error of a row whose end is no vertex, or whose weight is NaN."""
        assert self._ends is not None, "a block is opened first"
        segment = next(one for one in self._segments if at < one.end)
        values = [np.empty(1, array.dtype) for array in (*self._ends, self._weights)]
        for array, value in zip((*self._ends, self._weights), values, strict=True):
            launch.read(array.memory, value, offset=at * array.dtype.itemsize)
        u, v = (
            value.view(f"{kind}{value.itemsize}")
            for value, kind in zip(values, segment.kinds, strict=False)
        )
        row = StreamPiece(
            chunk=segment.chunk, first_row=segment.first_row + at - segment.begin, u=u, v=v,
            weights=values[2], edge_ids=None, first_id=0,
        )  # fmt: skip
        try:
            row.checked(n_vertices)
        except InvalidGraphError as error:
            return error
        raise AssertionError(f"row {row.first_row} of {row.chunk} has no fault")


def _words(ends: Array, bits: int) -> Array:
    """Return ends as words of so many bits; those with a sign keep it."""
    words: Array = ends.astype(f"{ends.dtype.kind}{bits // 8}", copy=False).view(f"u{bits // 8}")
    return words
