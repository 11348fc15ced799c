"""Conversion of partitions of Dask or Ray to pieces of a stream.

A partition is a table, arrays or a file. A piece is a run of consecutive edges. Several files that
one worker reads in sequence form a lane.
"""

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

ROW_BITS = 32  # an edge id has the row in its lower 32 bits, and the partition's number above
_MOST_PARTITIONS = 2**31 - 1


def piece_of(data: Any, job: PartitionJob, number: int) -> StreamPiece:
    """Convert a partition of edges to a piece of a stream, which is a run of edges.

    `data` is a data frame, an Arrow table, a mapping of arrays, or a tuple (u, v), (u, v, w) or (u,
    v, w, edge ids). `number` is the number of the partition. `job` has the names of the columns.
    Unless it names a column of edge ids, an edge id has the number of the partition in its upper
    bits and the row in its lower 32. Raise InvalidGraphError if `data` does not have the columns.
    """
    name = f"partition {number}"
    u, v, weights, ids = arrays_of(data, job.columns, job.edge_id, name)
    if (ids is None) != (job.edge_id is None):
        raise InvalidGraphError(
            f"{name} has {len(data)} arrays and edge_id is {job.edge_id!r}; there must "
            "be a fourth array, the edge ids, exactly if edge_id is given"
        )
    u = as_array(f"u of {name}", u, error=InvalidGraphError)
    check_rows(u.size, number)
    first_id = None if ids is not None else number << ROW_BITS
    return StreamPiece(
        chunk=name, first_row=0, u=u, v=v, weights=weights, edge_ids=ids, first_id=first_id
    )


def by_ids(piece: StreamPiece) -> StreamPiece:
    """Sort the rows of a piece of a table by edge id. A piece without ids is returned unchanged.

    An engine that reads files in several threads may give the rows of a partition in any order.
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
    """Yield the pieces of a partition, with vertex numbers in place of names.

    `names` are the numbers of the partition's names. If it is None, the vertices must be numbers,
    and NamesFoundError is raised at a piece that has names.
    """
    return without_names(pieces) if names is None else names.numbered(pieces)


def parts_of(edges: Any, job: PartitionJob) -> list[Any] | None:
    """Return the partitions that a caller gives, as a list, or None for any other argument.

    `edges` may be a list or tuple of partitions, a path, or a list of paths. Paths are replaced by
    the absolute paths of their files, each of which is a partition. The files of a folder come in
    the order of their names. Raise InvalidArgumentError if only some elements are paths, or if
    there are files and `job` names a column of edge ids.
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
    """Return the file at a path, or the files of the folder there.

    Raise InvalidArgumentError if `job` names a column of edge ids, which files do not have.
    """
    if job.edge_id is not None:
        raise InvalidArgumentError(
            f"edge_id is {job.edge_id!r} and the edges are in files; ids of files are positions"
        )
    return files.listed(path)


def check_rows(n_rows: int, number: int) -> None:
    """Raise InvalidGraphError if a partition's number or row numbers do not fit into edge ids."""
    if n_rows >> ROW_BITS or number > _MOST_PARTITIONS:
        raise InvalidGraphError(
            f"partition {number} has {n_rows} rows; there may be 2**32 - 1 in each of 2**31 "
            "partitions"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLane:
    """Files that one worker reads in sequence, and the partition number of each.

    `names` has for each file the numbers of the vertex names in it. It is None if vertices are
    numbers.
    """

    numbers: tuple[int, ...]
    paths: tuple[str, ...]
    names: tuple[PartitionNumbers, ...] | None = None


def lanes_of(parts: Sequence[Any], names: Sequence[PartitionNumbers] | None = None) -> Any:
    """Return a function that creates a FileLane from a list of partition numbers.

    A FileLane is the files that one worker reads in sequence. `parts` are the paths of all
    partitions. `names` has the numbers of the vertex names of each partition, or is None if
    vertices are numbers. Return None if `parts` is empty, or has anything other than paths.
    """
    if not parts or not all(isinstance(part, str) for part in parts):
        return None

    def lane(numbers: Sequence[int]) -> FileLane:
        return FileLane(
            numbers=tuple(numbers), paths=tuple(parts[k] for k in numbers),
            names=None if names is None else tuple(names[k] for k in numbers),
        )  # fmt: skip

    return lane


def pieces_of_lane(lane: FileLane, columns: Any) -> tuple[Iterator[StreamPiece], dict[int, int]]:
    """Return an iterator over the pieces of a lane's files, and the number of rows of each file.

    A lane is a list of files that one worker reads in sequence. `columns` are the names of the
    columns to read, or None for the usual ones. The second result maps partition numbers to numbers
    of rows. A thread reads one piece ahead. An edge id has the number of the partition in its upper
    bits and the row in its lower 32.
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
