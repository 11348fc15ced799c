"""A lane whose partitions are files: its worker streams all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clmst.io import pieces as files
from clmst.scale.partition_pieces import ROW_BITS, check_rows
from clmst.scale.rows import StreamPiece
from clmst.scale.source import one_ahead, pieces_of_file


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLane:
    """Files that one worker takes one after the other, and the numbers of their partitions."""

    numbers: tuple[int, ...]
    paths: tuple[str, ...]


def lanes_of(parts: Sequence[Any]) -> Any:
    """Return what makes a lane of some partitions, if all of these are files, else None."""
    if not parts or not all(isinstance(part, str) for part in parts):
        return None

    def lane(numbers: Sequence[int]) -> FileLane:
        return FileLane(numbers=tuple(numbers), paths=tuple(parts[k] for k in numbers))

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
    pieces = (
        replace(piece, first_id=(number << ROW_BITS) + piece.first_row)
        for number, path in zip(lane.numbers, paths, strict=True)
        for piece in pieces_of_file(path, columns, f"partition {number}")
    )
    return one_ahead(pieces), n_rows
