"""A lane whose partitions are files: its worker streams all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.io import pieces as files
from clmst.scale.carried import Carried
from clmst.scale.checkpoint import Position
from clmst.scale.device_state import DeviceStreamState
from clmst.scale.partition_pieces import ROW_BITS, check_rows
from clmst.scale.source import StreamPiece, one_ahead, pieces_of_file

if TYPE_CHECKING:
    from clmst.scale.partitions import PartitionJob


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLane:
    """Files that one worker takes one after the other.

    Attributes
    ----------
    numbers : tuple of int
        Of the partitions, rising.
    paths : tuple of str
        The file of each.
    """

    numbers: tuple[int, ...]
    paths: tuple[str, ...]


def lanes_of(parts: Sequence[Any]) -> Any:
    """Return what makes a lane of some partitions, if all of these are files, else None."""
    if not parts or not all(isinstance(part, str) for part in parts):
        return None

    def lane(numbers: Sequence[int]) -> FileLane:
        return FileLane(numbers=tuple(numbers), paths=tuple(parts[k] for k in numbers))

    return lane


def take_lane(
    lane: FileLane, job: PartitionJob, state: DeviceStreamState, before: Carried | None
) -> tuple[Carried, np.dtype[Any], dict[int, int]]:
    """Stream the files of a lane behind what other partitions left.

    A stream's ids are positions, and its device counts on that. So the edges that are known already
    get the first positions, in the order of their ids: theirs are less than those of this lane's
    rows. At the end positions become ids again.

    Parameters
    ----------
    lane : FileLane
    job : PartitionJob
    state : DeviceStreamState
        A new one.
    before : Carried, optional
        From partitions with lesser numbers.

    Returns
    -------
    carried : Carried
        The forest of all these edges; nothing waits.
    dtype : dtype
        Of the weights.
    n_rows : dict of int to int
        The rows of each partition of the lane.
    """
    paths = [Path(path) for path in lane.paths]
    columns = job.columns
    lengths = [files.n_rows(path, columns) for path in paths]
    for number, length in zip(lane.numbers, lengths, strict=True):
        check_rows(length, number)
    known = np.zeros(0, np.int64)
    if before is not None and before.size:
        known, ranked = _renumbered(before)
        state.go_on_from(ranked)
        state.position = Position(n_edges=known.size)
    state.n_edges = known.size + sum(lengths)
    dtype = np.dtype(np.uint8)
    try:
        for piece in one_ahead(_pieces(lane.numbers, paths, columns)):
            dtype = dtype if piece.weights is None else np.asarray(piece.weights[:0]).dtype
            for _ in state.feed(piece):
                pass
        state.finish()
    finally:
        state.close()
    forest = state.forest
    if forest is not None:
        dtype = forest.weights.dtype
        ids = _ids_at(forest.edge_ids, known, lane.numbers, lengths)
        forest = replace(forest, edge_ids=ids)
    carried = Carried(forest=forest, waiting=(), by_forest=None)
    return carried, dtype, dict(zip(lane.numbers, lengths, strict=True))


def _pieces(numbers: Sequence[int], paths: Sequence[Path], columns: Any) -> Iterator[StreamPiece]:
    for number, path in zip(numbers, paths, strict=True):
        yield from pieces_of_file(path, columns, f"partition {number}")


def _renumbered(before: Carried) -> tuple[npt.NDArray[np.int64], Carried]:
    """Return the ids of all edges that others left, rising, and the edges by their ranks there."""
    ids = np.concatenate([part.edge_ids for part in before.parts])
    order = np.argsort(ids)
    ranks = np.empty(ids.size, np.int64)
    ranks[order] = np.arange(ids.size)
    ends = np.cumsum([part.size for part in before.parts])
    ranked = [
        replace(part, edge_ids=ranks[end - part.size : end])
        for part, end in zip(before.parts, ends, strict=True)
    ]
    forest = None if before.forest is None else ranked.pop(0)
    return ids[order], Carried(forest=forest, waiting=tuple(ranked), by_forest=None)


def _ids_at(
    positions: npt.NDArray[np.int64],
    known: npt.NDArray[np.int64],
    numbers: Sequence[int],
    lengths: Sequence[int],
) -> npt.NDArray[np.int64]:
    """Return the ids of edges by their positions: known ones come first, then the lane's rows."""
    starts = known.size + np.concatenate(
        (np.zeros(1, np.int64), np.cumsum(lengths[:-1], dtype=np.int64))
    )
    at = np.searchsorted(starts, positions, side="right") - 1
    ids: npt.NDArray[np.int64] = (np.asarray(numbers, np.int64)[at] << ROW_BITS) + (
        positions - starts[at]
    )
    old = positions < known.size
    ids[old] = known[positions[old]]
    return ids
