"""Partitions as an engine holds them: data, files that paths mean, and lanes of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import as_array
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.tables import arrays_of
from clmst.io import pieces as files
from clmst.scale.partition_names import PartitionNumbers, without_names
from clmst.scale.rows import StreamPiece
from clmst.scale.source import pieces_of_file, read_ahead

if TYPE_CHECKING:
    from clmst.scale.partitions import PartitionJob

ROW_BITS = 32  # of an id: the partition above, the row below
_MOST_PARTITIONS = 2**31 - 1


def piece_of(data: Any, job: PartitionJob, number: int) -> StreamPiece:
    """Return a partition as a piece of a stream, or raise.

    It is a data frame, an Arrow table, a mapping of arrays, or a tuple (u, v), (u, v, w) or (u, v,
    w, edge ids). Ids are the partition's number and the row, unless there is a column of ids.
    """
    name = f"partition {number}"
    u, v, weights, ids = arrays_of(data, job.columns, job.edge_id, name)
    if (ids is None) != (job.edge_id is None):
        raise InvalidGraphError(
            f"{name} has {len(data)} arrays and edge_id is {job.edge_id!r}; a fourth array and "
            "edge_id go together"
        )
    u = as_array(f"u of {name}", u, error=InvalidGraphError)
    check_rows(u.size, number)
    first_id = None if ids is not None else number << ROW_BITS
    return StreamPiece(
        chunk=name, first_row=0, u=u, v=v, weights=weights, edge_ids=ids, first_id=first_id
    )


def by_ids(piece: StreamPiece) -> StreamPiece:
    """Return a piece of arrays with its rows in the order of their edge ids, if it brings ids.

    An engine that reads files in threads may give the rows of a partition in any order.
    """
    ids = piece.edge_ids
    if ids is None or ids.ndim != 1 or not (ids[1:] < ids[:-1]).any():
        return piece
    order = np.argsort(ids, kind="stable")
    return replace(
        piece, chunk=f"{piece.chunk}, its rows in the order of edge ids", u=piece.u[order],
        v=piece.v[order], weights=None if piece.weights is None else piece.weights[order],
        edge_ids=ids[order],
    )  # fmt: skip


def named_pieces(
    pieces: Iterator[StreamPiece], names: PartitionNumbers | None
) -> Iterator[StreamPiece]:
    """Return the pieces of a partition with vertex numbers; `names` has the numbers of names."""
    return without_names(pieces) if names is None else names.numbered(pieces)


def parts_of(edges: Any, job: PartitionJob) -> list[Any] | None:
    """Return the parts of a list, or of a path; None if it is neither.

    Paths in it become those of their files, each a partition, a folder's in the order of names.
    """
    if isinstance(edges, str | PathLike):
        edges = [edges]
    if not isinstance(edges, list | tuple):
        return None
    paths = [one for one in edges if isinstance(one, str | PathLike)]
    if paths and len(paths) < len(edges):
        raise InvalidArgumentError(
            f"{len(paths)} of {len(edges)} edges are paths; all must be, or none"
        )
    return [str(file.resolve()) for path in paths for file in _listed(path, job)] or list(edges)


def _listed(path: str | PathLike[str], job: PartitionJob) -> list[Path]:
    if job.edge_id is not None:
        raise InvalidArgumentError(
            f"edge_id is {job.edge_id!r} and the edges are in files; ids of files are positions"
        )
    return files.listed(path)


def check_rows(n_rows: int, number: int) -> None:
    """Raise unless the rows of a partition have ids."""
    if n_rows >> ROW_BITS or number > _MOST_PARTITIONS:
        raise InvalidGraphError(
            f"partition {number} has {n_rows} rows; there may be 2**32 - 1 in each of 2**31 "
            "partitions"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLane:
    """Files that one worker takes one after the other, and the numbers of their partitions.

    `names` has, for each file, the numbers of its vertices' names; None if they are numbers.
    """

    numbers: tuple[int, ...]
    paths: tuple[str, ...]
    names: tuple[PartitionNumbers, ...] | None = None


def lanes_of(parts: Sequence[Any], names: Sequence[PartitionNumbers] | None = None) -> Any:
    """Return a function that makes lanes of partitions, if all are files, else None."""
    if not parts or not all(isinstance(part, str) for part in parts):
        return None

    def lane(numbers: Sequence[int]) -> FileLane:
        return FileLane(
            numbers=tuple(numbers), paths=tuple(parts[k] for k in numbers),
            names=None if names is None else tuple(names[k] for k in numbers),
        )  # fmt: skip

    return lane


def pieces_of_lane(lane: FileLane, columns: Any) -> tuple[Iterator[StreamPiece], dict[int, int]]:
    """Return the pieces of a lane's files, and the rows of each partition of the lane.

    An id is the number of the partition, above, and the row.
    """
    paths = [Path(path) for path in lane.paths]
    n_rows = {
        number: files.n_rows(path, columns)
        for number, path in zip(lane.numbers, paths, strict=True)
    }
    for number, length in n_rows.items():
        check_rows(length, number)
    every = [None] * len(paths) if lane.names is None else lane.names
    pieces = (
        replace(piece, first_id=(number << ROW_BITS) + piece.first_row)
        for number, path, names in zip(lane.numbers, paths, every, strict=True)
        for piece in named_pieces(pieces_of_file(path, columns, f"partition {number}"), names)
    )
    return read_ahead(iter([lambda: pieces]), 1), n_rows
