"""Rows of a stream, which are its edges: a caller's arrays, generated edges, blocks on a device."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeChunk, EdgePart, check_same_dtype
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.core import csr
from clmst.core.arguments import as_array
from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array, as_weights
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.handles import Event
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer
from clmst.runtime.uploads import Uploads
from clmst.scale.checkpoint import Position

T = TypeVar("T")
Ends: TypeAlias = tuple[DeviceArray, DeviceArray]

NO_WEIGHTS = np.dtype(np.float64)  # dtype of the weights of a stream without rows
_HALF = 1 << 31  # a negative int32 that is read as a uint32 is at least this
JOINED = 1 << 16  # pieces with fewer rows are joined before they are uploaded


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPiece:
    """Consecutive rows of a chunk, as the caller gave them. The values have not been checked.

    The columns `u`, `v`, `weights` and `edge_ids` may be anything that NumPy converts to an array,
    including memory-mapped arrays, until :meth:`with_arrays` converts them. Without `weights` every
    weight is 1. Without `edge_ids` the ids are consecutive from `first_id` on, which is the
    position in the stream by default. `chunk` is the name of the chunk and `first_row` the first
    row within it, for messages.
    """

    chunk: str
    first_row: int
    u: Any
    v: Any
    weights: Any
    edge_ids: Any
    first_id: int | None = None

    @property
    def size(self) -> int:
        """Number of rows. The columns must be arrays already."""
        return int(self.u.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the weights in native byte order. The columns must be arrays already."""
        return np.dtype(np.uint8 if self.weights is None else self.weights.dtype).newbyteorder("=")

    @property
    def n_bytes(self) -> int:
        """Number of bytes of all columns. The columns must be arrays already."""
        columns = (self.u, self.v, self.weights, self.edge_ids)
        return sum(one.nbytes for one in columns if one is not None)

    @property
    def is_consecutive(self) -> bool:
        """Whether edge ids are consecutive, because the piece does not have a column of ids."""
        return self.edge_ids is None

    def is_wide(self, n_vertices: int) -> bool:
        """Return whether vertex numbers must be checked in 64 bits.

        Conversion to uint32 could make an invalid number look valid: a 64-bit number loses its
        upper bits, and a negative number becomes a large one, which may be below `n_vertices`.
        """
        return any(
            ends.dtype.itemsize == 8 or (ends.dtype.kind == "i" and n_vertices > _HALF)
            for ends in (self.u, self.v)
        )

    def with_arrays(self, position: int | None = None) -> StreamPiece:
        """Convert all columns to arrays, and return the piece.

        `position` is the number of edges of the stream before the piece, or None if that is
        unknown. Edge ids begin there unless the piece has its own. Memory-mapped arrays are not
        read. Raise InvalidGraphError unless all columns are one-dimensional and equally long.
        """
        given = {"u": self.u, "v": self.v, "w": self.weights, "edge ids": self.edge_ids}
        arrays = {
            name: None if column is None else self._named(_column_of, name, column)
            for name, column in given.items()
        }
        shapes = {name: array.shape for name, array in arrays.items() if array is not None}
        if len(set(shapes.values())) != 1 or len(shapes["u"]) != 1:
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise InvalidGraphError(
                f"{self.chunk}: the shapes are {listed}; the arrays must be one-dimensional and "
                "of one length"
            )
        u, v, weights, edge_ids = arrays.values()
        first_id = position if self.first_id is None else self.first_id
        return replace(self, u=u, v=v, weights=weights, edge_ids=edge_ids, first_id=first_id)

    def rows(self, begin: int, end: int) -> StreamPiece:
        """Return the rows from `begin` to below `end`. The columns must be arrays already.

        Raise InvalidGraphError if the id of row `begin` is not greater than the id before it.
        """
        ids = self.edge_ids
        if ids is not None and 0 < begin < ids.size and ids[begin] <= ids[begin - 1]:
            raise InvalidGraphError(
                f"{self.chunk}: edge id {int(ids[begin - 1])} comes before {int(ids[begin])}; ids "
                "must rise within a chunk"
            )
        some = slice(begin, end)
        return replace(
            self, first_row=self.first_row + begin, u=self.u[some], v=self.v[some],
            weights=None if self.weights is None else self.weights[some],
            edge_ids=None if ids is None else ids[some], first_id=(self.first_id or 0) + begin,
        )  # fmt: skip

    def checked(self, n_vertices: int, dtype: np.dtype[Any] | None = None) -> EdgePart:
        """Check the rows on the host, and return edges. The columns must be arrays already.

        Raise InvalidGraphError, with the chunk and the row, if an end is not less than
        `n_vertices`, a weight is NaN, or the weights have another dtype than `dtype`. None as
        `dtype` allows any.
        """
        part = self._named(
            EdgePart.checked, self.u, self.v, self.weights,
            self.first_id if self.edge_ids is None else self.edge_ids, n_vertices=n_vertices,
            row=lambda at: f"row {self.first_row + at}",
        )  # fmt: skip
        if dtype is not None:
            self._named(check_same_dtype, dtype, part.weights.dtype)
        return part

    def packed(self, dtype: np.dtype[Any]) -> StreamPiece:
        """Return the rows in the form in which rows are uploaded.

        Ends are contiguous integers of 32 or 64 bits, and weights are a contiguous array. The
        values are not checked. Raise InvalidGraphError if the ends are not integers or the weights
        do not have the dtype `dtype`.
        """
        u, v = self._named(csr.check_pairs, self.u, self.v)
        weights = np.ones(self.size, np.uint8) if self.weights is None else self.weights
        weights = np.ascontiguousarray(self._named(as_weights, weights))
        self._named(check_same_dtype, dtype, weights.dtype)
        return replace(self, u=_packed_ends(u), v=_packed_ends(v), weights=weights)

    def emptied(self) -> StreamPiece:
        """Return a piece with the names and dtypes of this packed piece, but without rows."""
        u, v, weights = (np.empty(0, one.dtype) for one in (self.u, self.v, self.weights))
        return replace(self, u=u, v=v, weights=weights)

    def copied(self) -> StreamPiece:
        """Return a copy of the piece, whose ends and weights are arrays of its own."""
        return replace(self, u=self.u.copy(), v=self.v.copy(), weights=self.weights.copy())

    def as_part(self) -> EdgePart:
        """Return packed rows as edges, without a check of the values."""
        u, v = (ends.astype(np.uint32, copy=False) for ends in (self.u, self.v))
        first = self.first_id or 0
        ids = np.arange(first, first + self.size, dtype=np.int64)
        return EdgePart(u=u, v=v, weights=self.weights, edge_ids=ids)

    def _named(self, made: Callable[..., T], *given: Any, **named: Any) -> T:
        """Call the function `made`, and add the name of the chunk to an InvalidGraphError from it.

        `given` and `named` are the arguments.
        """
        try:
            return made(*given, **named)
        except InvalidGraphError as error:
            raise InvalidGraphError(f"{self.chunk}: {error}") from error.__cause__


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedPiece:
    """Consecutive edges that a device generates: `size` edges, with the ids from `first` on."""

    is_consecutive: ClassVar[bool] = True

    edges: GeneratedEdges
    first: int
    size: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the weights."""
        return self.edges.weight_dtype

    @property
    def chunk(self) -> str:
        """The name of the generated edges, for messages."""
        return self.edges.name

    def with_arrays(self, position: int) -> GeneratedPiece:
        """Return the edges from a position of the stream on, which do not have arrays."""
        return self.rows(position - self.first, self.size)

    def rows(self, begin: int, end: int) -> GeneratedPiece:
        """Return the edges from index `begin` to below `end` of this piece."""
        return replace(self, first=self.first + begin, size=end - begin)


def _column_of(name: str, column: Any) -> Array:
    """Convert a column of a chunk to an array.

    `name` is the name of the column: "u", "v", "w" or another for messages. Raise InvalidGraphError
    if the conversion is impossible. Every element of a list of weights ("w") is checked.
    """
    if name == "w" and isinstance(column, list | tuple):
        return as_weights(column)
    array = as_array(name, column, error=InvalidGraphError)
    if array.dtype.kind == "U" and isinstance(column, list | tuple):
        # If a column mixes names and numbers, NumPy has converted the numbers to strings. An array
        # of objects keeps the numbers.
        array = np.array(column, object)
    return array if array.size else array.astype(np.int64) if name != "w" else array


def _packed_ends(column: Array) -> Array:
    """Convert the integers in `column` to an array of 32 or 64 bits, contiguous and native.

    An array that has this form already is not copied.
    """
    bits = 32 if column.dtype.itemsize <= 4 else 64
    return np.ascontiguousarray(column, np.dtype(f"{column.dtype.kind}{bits // 8}"))


class EdgeBlock:
    """A buffer on a device for consecutive rows of a stream, which is filled again and again.

    The rows of a block have consecutive edge ids, the last of which is `next_id` - 1. For each
    piece that was put into it, the block keeps the names and dtypes, the row behind the piece, and
    the position of the stream behind the piece, so that an error can name a row. The event `sent`
    marks the end of the block's copies, once the block is full. The event `read` marks the end of
    the kernels that read it.
    """

    def __init__(
        self, capacity: int, dtype: np.dtype[Any], device: Device, uploads: Uploads
    ) -> None:
        self.capacity, self._device, self._uploads = capacity, device, uploads
        self._weights = DeviceArray.unchecked(capacity, dtype, device)
        self._ends: Ends | None = None
        self._pieces: list[tuple[StreamPiece, int, Position]] = []
        self._small: list[StreamPiece] = []  # copies of small pieces that have not been sent yet
        self._before = Position()
        self.size = self.next_id = self._n_sent = 0
        self.sent: Event | None = None
        self.read: Event | None = None

    @property
    def is_wide(self) -> bool:
        """Whether the ends of edges take 64 bits each in this block."""
        return self._ends is not None and self._ends[0].dtype.itemsize == 8

    @property
    def after(self) -> Position:
        """The position of the stream behind the rows of this block."""
        return self._pieces[-1][2] if self._pieces else self._before

    def open(self, before: Position, first_id: int, *, is_wide: bool) -> None:
        """Empty the block, and begin to fill it at the position `before` of the stream.

        `first_id` is the edge id of the first row. `is_wide` says whether ends have 64 bits. The
        copies that follow wait, on the device, for the kernels that read the earlier rows. The call
        itself does not block.
        """
        self._pieces, self._small, self._before = [], [], before
        self.size = self._n_sent = 0
        self.next_id = first_id
        if self._ends is None or self.is_wide != is_wide:
            self._ends = None  # frees the arrays, so that their memory can be allocated again
            dtype = np.dtype(np.uint64 if is_wide else np.uint32)
            u, v = (DeviceArray.unchecked(self.capacity, dtype, self._device) for _ in range(2))
            self._ends = u, v
            # This block gets memory from the pool of freed buffers. Kernels that were enqueued
            # earlier may still use that memory.
            self.read = self._uploads.enqueued()
        self._uploads.wait_for_kernels(self.read)

    def put(self, rows: StreamPiece, after: Position) -> None:
        """Add packed rows to the block, which must have space for them.

        `after` is the position of the stream behind the rows. Large pieces are copied to the device
        at once, small ones later together. If the arrays are in pinned memory, the device may still
        read them after the call.
        """
        self.size += rows.size
        self.next_id += rows.size
        self._pieces.append((rows.emptied(), self.size, after))
        if rows.size < JOINED:
            self._small.append(rows.copied())
            if self.size - self._n_sent >= JOINED:
                self.send()
        else:
            self.send()
            self._send([rows])

    def send(self) -> None:
        """Start the copy of all small pieces that have not been sent to the device yet."""
        if self._small:
            self._send(self._small)
            self._small = []

    def _send(self, pieces: Sequence[StreamPiece]) -> None:
        """Start the copy of packed pieces to the device, behind the rows that were sent before."""
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
        """Return the rows of the block as a chunk of edges, which kernels can process.

        If the ends have 64 bits, the function `narrowed` is called, which enqueues their conversion
        to 32 bits.
        """
        assert self._ends is not None, "a block is opened first"
        u, v = (ends[: self.size] for ends in self._ends)
        if self.is_wide:
            u, v = narrowed(u, v)
        first_id = self.next_id - self.size
        return EdgeChunk(u=u, v=v, weights=self._weights[: self.size], first_id=first_id)

    def rows_before(self, at: int) -> tuple[int, Position]:
        """Return the number of rows before the piece that contains row `at` of the block.

        The second result is the position in the stream at which that piece begins.
        """
        number, begin = self._piece_with(at)
        return begin, self._pieces[number - 1][2] if number else self._before

    def _piece_with(self, at: int) -> tuple[int, int]:
        """Return which piece of the block contains row `at`, and the first row of that piece."""
        ends = [end for _, end, _ in self._pieces]
        number = bisect_right(ends, at)
        return number, ends[number - 1] if number else 0

    def fault(self, at: int, n_vertices: int, launch: Launcher) -> InvalidGraphError:
        """Read row `at`, in which a kernel has found a fault, and return the error for the row.

        The fault is an end that is not less than `n_vertices`, or a weight that is NaN. Block until
        the row has been read.
        """
        assert self._ends is not None, "a block is opened first"
        number, begin = self._piece_with(at)
        piece = self._pieces[number][0]
        values = [np.empty(1, array.dtype) for array in (*self._ends, self._weights)]
        for array, value in zip((*self._ends, self._weights), values, strict=True):
            launch.read(array.memory, value, offset=at * array.dtype.itemsize)
        u, v = (
            value.view(f"{ends.dtype.kind}{value.itemsize}")
            for value, ends in zip(values, (piece.u, piece.v), strict=False)
        )
        row = replace(
            piece, first_row=piece.first_row + at - begin, u=u, v=v, weights=values[2], first_id=0
        )
        try:
            row.checked(n_vertices)
        except InvalidGraphError as error:
            return error
        raise AssertionError(f"row {row.first_row} of {row.chunk} has no fault")


def _words(ends: Array, bits: int) -> Array:
    """Return ends as unsigned integers of 32 or 64 bits. Negative numbers are sign-extended."""
    words: Array = ends.astype(f"{ends.dtype.kind}{bits // 8}", copy=False).view(f"u{bits // 8}")
    return words
