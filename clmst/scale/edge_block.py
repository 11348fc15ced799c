"""A block of a stream's rows on a device, as the caller has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeChunk
from clmst.core import csr
from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array, as_weights
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.handles import Event
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer
from clmst.runtime.uploads import Uploads
from clmst.scale.checkpoint import Position
from clmst.scale.edge_part import EdgePart, check_same_dtype
from clmst.scale.rows import of_chunk
from clmst.scale.source import StreamPiece

Ends: TypeAlias = tuple[DeviceArray, DeviceArray]

_NARROW, _WIDE = np.dtype(np.uint32), np.dtype(np.uint64)
_HALF = 1 << 31  # negative numbers of 32 bits, read without a sign, are from here on


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawRows:
    """Consecutive rows of a piece.

    Attributes
    ----------
    chunk : str
        The name of the chunk in messages.
    first_row : int
        Of the chunk.
    u, v : ndarray of 32 or 64 bits, shape (m,)
        With or without a sign, contiguous; nothing is checked.
    weights : ndarray, shape (m,)
        Contiguous.
    after : Position
        Of the stream, behind these rows.
    """

    chunk: str
    first_row: int
    u: Array
    v: Array
    weights: Array
    after: Position

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.u.size

    def is_wide(self, n_vertices: int) -> bool:
        """Whether 32 bits without a sign would not tell all errors."""
        return any(
            ends.dtype.itemsize == 8 or (ends.dtype.kind == "i" and n_vertices > _HALF)
            for ends in (self.u, self.v)
        )

    def copied(self) -> RawRows:
        """Return the same with arrays of its own."""
        return RawRows(
            chunk=self.chunk, first_row=self.first_row, u=self.u.copy(), v=self.v.copy(),
            weights=self.weights.copy(), after=self.after,
        )  # fmt: skip


def ends_of(column: Array) -> Array:
    """Return integers as contiguous ones of 32 or 64 bits, native; a copy if need be."""
    bits = 32 if column.dtype.itemsize <= 4 else 64
    return np.ascontiguousarray(column, np.dtype(f"{column.dtype.kind}{bits // 8}"))


def raw_rows(
    piece: StreamPiece,
    most: Callable[[], int],
    *,
    dtype: np.dtype[Any],
    behind: Callable[[Array, Array, Array], Position],
) -> Iterator[RawRows]:
    """Yield the rows of a piece of arrays, `most()` rows at a time.

    Parameters
    ----------
    piece : StreamPiece
    most : callable
    dtype : numpy.dtype
        Of all weights of the stream.
    behind : callable
        Takes ends and weights of rows; returns the position behind them.

    Raises
    ------
    InvalidGraphError
        Ends are no integers, or the weights have another dtype.
    """
    u, v = of_chunk(piece.chunk, csr.check_pairs, piece.u, piece.v)
    begin = 0
    while begin < u.size:
        some = slice(begin, begin + min(u.size - begin, most()))
        size = some.stop - begin
        weights = np.ones(size, np.uint8) if piece.weights is None else piece.weights[some]
        weights = np.ascontiguousarray(of_chunk(piece.chunk, as_weights, weights))
        of_chunk(piece.chunk, check_same_dtype, dtype, weights.dtype)
        ends = ends_of(u[some]), ends_of(v[some])
        yield RawRows(
            chunk=piece.chunk, first_row=piece.first_row + begin, u=ends[0], v=ends[1],
            weights=weights, after=behind(*ends, weights),
        )  # fmt: skip
        begin += size


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """Where rows are in a block, and how their ends are to be read."""

    chunk: str
    first_row: int
    begin: int
    size: int
    kinds: tuple[str, str]
    after: Position


class EdgeBlock:
    """Rows of a stream on a device.

    Parameters
    ----------
    capacity : int
        RawRows.
    dtype : numpy.dtype
        Of the weights.
    device : Device

    Attributes
    ----------
    size : int
        RawRows that are in it.
    sent : event or None
        The end of its copies, once it is full.
    read : event or None
        The end of the kernels that read it.
    """

    def __init__(self, capacity: int, dtype: np.dtype[Any], device: Device) -> None:
        self.capacity, self._device = capacity, device
        self._weights = DeviceArray.unchecked(capacity, dtype, device)
        self._ends: Ends | None = None
        self._segments: list[_Segment] = []
        self._before = Position()
        self.size = 0
        self.sent: Event | None = None
        self.read: Event | None = None

    @property
    def is_wide(self) -> bool:
        """Whether ends have 64 bits."""
        return self._ends is not None and self._ends[0].dtype == _WIDE

    @property
    def after(self) -> Position:
        """The position of the stream behind its rows."""
        return self._segments[-1].after if self._segments else self._before

    def open(self, before: Position, uploads: Uploads, *, is_wide: bool) -> None:
        """Begin anew, at a position of the stream; copies wait for the kernels that read it."""
        self._segments, self._before, self.size = [], before, 0
        if self._ends is None or self.is_wide != is_wide:
            self._ends = None  # its memory may be used again
            dtype = _WIDE if is_wide else _NARROW
            u, v = (DeviceArray.unchecked(self.capacity, dtype, self._device) for _ in range(2))
            self._ends = u, v
            self.read = uploads.enqueued()  # of those that had the memory before
        uploads.wait_for_kernels(self.read)

    def put(self, rows: Sequence[RawRows], uploads: Uploads) -> None:
        """Copy rows to the device; there must be space for them."""
        assert self._ends is not None, "a block is opened first"
        begin = self.size
        for one in rows:
            self._segments.append(
                _Segment(
                    chunk=one.chunk,
                    first_row=one.first_row,
                    begin=self.size,
                    size=one.size,
                    kinds=(one.u.dtype.kind, one.v.dtype.kind),
                    after=one.after,
                )
            )
            self.size += one.size
        bits = 64 if self.is_wide else 32
        columns = (
            (self._ends[0], [_of_bits(one.u, bits) for one in rows]),
            (self._ends[1], [_of_bits(one.v, bits) for one in rows]),
            (self._weights, [one.weights for one in rows]),
        )
        uploads.send(
            [
                Transfer(
                    buffer=array.memory,
                    array=parts[0] if len(parts) == 1 else _joined(parts),
                    offset=begin * array.dtype.itemsize,
                )
                for array, parts in columns
            ]
        )

    def chunk(self, narrowed: Callable[[DeviceArray, DeviceArray], Ends]) -> EdgeChunk:
        """Enqueue that its rows become a chunk of edges; `narrowed` makes ends of 32 bits."""
        assert self._ends is not None, "a block is opened first"
        u, v = (ends[: self.size] for ends in self._ends)
        if self.is_wide:
            u, v = narrowed(u, v)
        weights = self._weights[: self.size]
        return EdgeChunk(u=u, v=v, weights=weights, first_id=self._before.n_edges)

    def rows_before(self, at: int) -> tuple[int, Position]:
        """Return how many rows are whole pieces before a row, and the position behind them."""
        number = next(k for k, one in enumerate(self._segments) if at < one.begin + one.size)
        before = self._segments[number - 1].after if number else self._before
        return self._segments[number].begin, before

    def fault(self, at: int, n_vertices: int, launch: Launcher) -> InvalidGraphError:
        """Return the error of a row whose end is no vertex, or whose weight is NaN."""
        assert self._ends is not None, "a block is opened first"
        segment = next(one for one in self._segments if at < one.begin + one.size)
        values = []
        for array in (*self._ends, self._weights):
            value = np.empty(1, array.dtype)
            launch.read(array.memory, value, offset=at * array.dtype.itemsize)
            values.append(value)
        u, v = (
            value.view(f"{kind}{value.itemsize}")
            for value, kind in zip(values, segment.kinds, strict=False)
        )
        row = segment.first_row + at - segment.begin
        try:
            EdgePart.checked(u, v, values[2], 0, n_vertices=n_vertices, row=lambda _: f"row {row}")
        except InvalidGraphError as error:
            return InvalidGraphError(f"{segment.chunk}: {error}")
        raise AssertionError(f"row {row} of {segment.chunk} has no fault")


def _of_bits(ends: Array, bits: int) -> Array:
    """Return ends as words of so many bits; those with a sign keep it."""
    words: Array = ends.astype(f"{ends.dtype.kind}{bits // 8}", copy=False).view(f"u{bits // 8}")
    return words


def _joined(parts: Sequence[Array]) -> Array:
    joined: Array = np.concatenate(parts)
    return joined
