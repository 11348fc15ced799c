"""Rows of a stream: as a caller has them, and as a device generates them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.core import csr
from clmst.core.arguments import as_array
from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array, as_weights
from clmst.scale.edge_part import EdgePart, check_same_dtype

T = TypeVar("T")

NO_WEIGHTS = np.dtype(np.float64)  # of a stream without rows
_HALF = 1 << 31  # negative numbers of 32 bits, read without a sign, are from here on


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPiece:
    """Consecutive rows of a chunk, as the caller has them; nothing is checked yet.

    Attributes
    ----------
    chunk : str
        The name of the chunk in messages.
    first_row : int
        The position of the first row in the chunk.
    u, v, weights, edge_ids : object
        Arrays, memory-mapped ones too, or what NumPy makes one of; the last two may be None.
    first_id : int, optional
        The id of the first row, if the piece has no ids; by default its position in the stream.
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
        """Number of rows, of a piece of arrays."""
        return int(self.u.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the weights, of a piece of arrays."""
        return np.dtype(np.uint8 if self.weights is None else self.weights.dtype).newbyteorder("=")

    @property
    def is_consecutive(self) -> bool:
        """Whether ids follow one another: the piece brings none."""
        return self.edge_ids is None

    def is_wide(self, n_vertices: int) -> bool:
        """Return whether 32 bits without a sign would not tell all errors of the ends."""
        return any(
            ends.dtype.itemsize == 8 or (ends.dtype.kind == "i" and n_vertices > _HALF)
            for ends in (self.u, self.v)
        )

    def with_arrays(self, position: int | None = None) -> StreamPiece:
        """Return a piece of arrays of one length, at a position of the stream if it is known.

        Mapped arrays stay on the disk.
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
        """Return some rows of a piece of arrays."""
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
        """Return the rows of a piece of arrays as edges, checked; of a dtype, if one is given."""
        part = self._named(
            EdgePart.checked, self.u, self.v, self.weights,
            self.first_id if self.edge_ids is None else self.edge_ids, n_vertices=n_vertices,
            row=lambda at: f"row {self.first_row + at}",
        )  # fmt: skip
        if dtype is not None:
            self._named(check_same_dtype, dtype, part.weights.dtype)
        return part

    def packed(self, dtype: np.dtype[Any]) -> StreamPiece:
        """Return the same rows with contiguous ends of 32 or 64 bits, and weights of a dtype.

        Raises
        ------
        InvalidGraphError
            Ends are no integers, or the weights have another dtype.
        """
        u, v = self._named(csr.check_pairs, self.u, self.v)
        weights = np.ones(self.size, np.uint8) if self.weights is None else self.weights
        weights = np.ascontiguousarray(self._named(as_weights, weights))
        self._named(check_same_dtype, dtype, weights.dtype)
        return replace(self, u=_packed_ends(u), v=_packed_ends(v), weights=weights)

    def copied(self) -> StreamPiece:
        """Return the same rows in arrays of their own."""
        return replace(self, u=self.u.copy(), v=self.v.copy(), weights=self.weights.copy())

    def as_part(self) -> EdgePart:
        """Return packed rows as edges; nothing is checked."""
        u, v = (ends.astype(np.uint32, copy=False) for ends in (self.u, self.v))
        first = self.first_id or 0
        ids = np.arange(first, first + self.size, dtype=np.int64)
        return EdgePart(u=u, v=v, weights=self.weights, edge_ids=ids)

    def _named(self, made: Callable[..., T], *given: Any, **named: Any) -> T:
        """Return what a function makes of the piece; its errors then have the chunk's name."""
        try:
            return made(*given, **named)
        except InvalidGraphError as error:
            raise InvalidGraphError(f"{self.chunk}: {error}") from error.__cause__ or error


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedPiece:
    """Consecutive edges that a device generates: so many from the id `first` on."""

    is_consecutive: ClassVar[bool] = True

    edges: GeneratedEdges
    first: int
    size: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the weights."""
        return self.edges.weight_dtype

    @property
    def chunk(self) -> str:
        """The name of the edges."""
        return self.edges.name

    def with_arrays(self, position: int) -> GeneratedPiece:
        """Return the edges from a position of the stream on."""
        return self.rows(position - self.first, self.size)

    def rows(self, begin: int, end: int) -> GeneratedPiece:
        """Return some of the edges."""
        return replace(self, first=self.first + begin, size=end - begin)


def _column_of(name: str, column: Any) -> Array:
    """Return a column of a chunk as an array; of a list of weights all elements are looked at."""
    if name == "w" and isinstance(column, list | tuple):
        return as_weights(column)
    array = as_array(name, column, error=InvalidGraphError)
    if array.dtype.kind == "U" and isinstance(column, list | tuple):
        array = np.array(column, object)  # numbers among names stay numbers
    return array if array.size else array.astype(np.int64) if name != "w" else array


def _packed_ends(column: Array) -> Array:
    """Return integers as contiguous ones of 32 or 64 bits, native; a copy if need be."""
    bits = 32 if column.dtype.itemsize <= 4 else 64
    return np.ascontiguousarray(column, np.dtype(f"{column.dtype.kind}{bits // 8}"))
