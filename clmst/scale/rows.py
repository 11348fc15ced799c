"""The rows of a piece of a stream: arrays of one length, of which some are checked at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from clmst.core.errors import InvalidGraphError
from clmst.scale.edge_part import EdgePart
from clmst.scale.source import StreamPiece, column_of

T = TypeVar("T")


def of_chunk(chunk: str, made: Callable[..., T], *given: Any, **named: Any) -> T:
    """Return what a function makes of a chunk, whose name its errors then have."""
    try:
        return made(*given, **named)
    except InvalidGraphError as error:
        raise InvalidGraphError(f"{chunk}: {error}") from error.__cause__ or error


def with_arrays(piece: StreamPiece) -> StreamPiece:
    """Return a piece whose columns are arrays of one length; mapped ones stay on the disk."""
    given = {"u": piece.u, "v": piece.v, "w": piece.weights, "edge ids": piece.edge_ids}
    arrays = {
        name: None if column is None else of_chunk(piece.chunk, column_of, name, column)
        for name, column in given.items()
    }
    shapes = {name: array.shape for name, array in arrays.items() if array is not None}
    if len(set(shapes.values())) != 1 or len(shapes["u"]) != 1:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InvalidGraphError(
            f"{piece.chunk}: the shapes are {listed}; the arrays must be one-dimensional and "
            "of one length"
        )
    u, v, weights, edge_ids = arrays.values()
    return replace(piece, u=u, v=v, weights=weights, edge_ids=edge_ids)


def some_rows(piece: StreamPiece, begin: int, end: int) -> StreamPiece:
    """Return some rows of a piece of arrays that brings no ids."""
    return replace(
        piece, first_row=piece.first_row + begin, u=piece.u[begin:end], v=piece.v[begin:end],
        weights=None if piece.weights is None else piece.weights[begin:end],
    )  # fmt: skip


def checked_rows(
    piece: StreamPiece, begin: int, end: int, *, first_id: int, n_vertices: int
) -> EdgePart:
    """Return some rows of a piece of arrays, checked.

    `first_id` is the id of the piece's first row, unless the piece has ids.
    """
    rows = slice(begin, end)
    first_id = (first_id if piece.first_id is None else piece.first_id) + begin
    return of_chunk(
        piece.chunk,
        EdgePart.checked,
        piece.u[rows],
        piece.v[rows],
        None if piece.weights is None else piece.weights[rows],
        first_id if piece.edge_ids is None else piece.edge_ids[rows],
        n_vertices=n_vertices,
        row=lambda at: f"row {piece.first_row + begin + at}",
    )


def checked_parts(
    piece: StreamPiece, most: Callable[[], int], *, first_id: int, n_vertices: int
) -> Iterator[EdgePart]:
    """Yield all rows of a piece as :func:`checked_rows`, `most()` rows at a time."""
    begin, last_id, n_rows = 0, -1, piece.u.size
    while begin < n_rows:
        end = begin + min(n_rows - begin, most())
        part = checked_rows(piece, begin, end, first_id=first_id, n_vertices=n_vertices)
        if int(part.edge_ids[0]) <= last_id:
            raise InvalidGraphError(
                f"{piece.chunk}: edge id {last_id} comes before {int(part.edge_ids[0])}; ids "
                "must rise within a chunk"
            )
        begin, last_id = end, int(part.edge_ids[-1])
        yield part
