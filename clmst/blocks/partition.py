"""The division of points into blocks of near points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.blocks.regions import BoxArray, Cloud, Doubles, Numbers
from clmst.core.mapped_rows import PlacedRows, RowFile, is_mapped, passes
from clmst.core.points import Points


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some of the points, which lie near one another."""

    cloud: Cloud

    @property
    def numbers(self) -> Numbers:
        """The numbers of its points among all points, in the order of `cloud`."""
        return self.cloud.numbers


def divide(points: Points, most: int) -> tuple[list[Block], Points]:
    """Divide points into blocks of at most `most` points each, as the nodes of a k-d tree.

    Each part is divided at its widest dimension until it has at most `most` points. So blocks have
    about the same size, more than half of `most`. O(n log n) time. Needs 8 bytes for each point,
    and meanwhile 25 more and the planes of a block.

    Returns the blocks, and the same points to read the blocks from. If the points are mapped from a
    file, these are in a temporary file in the order of the blocks, so that a block is read in one
    piece. Its dtype is that of the given file.
    """
    blocks, parts = list[Block](), [np.arange(points.n_vertices)]
    ordered = _OrderedRows(points) if is_mapped(points.coordinates) else None
    while parts:
        part = parts.pop()
        if part.size <= most:
            blocks.append(Block(Cloud.of(points, part)[0]))
            if ordered is not None:
                ordered.append(blocks[-1].numbers)
            continue
        parts += _halves(part, _along_widest(points, part), -(-part.size // most))
    return blocks, points if ordered is None else ordered.points()


def _along_widest(points: Points, part: Numbers) -> Doubles:
    """Return the coordinates of a part of the points in the dimension in which it is the widest."""
    runs = list(passes(part.size, points.dimensions))
    boxes = BoxArray.joined([BoxArray.around(points.subset(part[run]).planes) for run in runs])
    widest = int(np.argmax(boxes.high.max(axis=1) - boxes.low.min(axis=1)))
    along = np.empty(part.size)
    for run in runs:
        along[run] = points.subset(part[run]).planes[widest]
    return along


def _halves(part: Numbers, coordinates: Doubles, n_blocks: int) -> list[Numbers]:
    """Divide a set of points in two, so that both together give `n_blocks` equal blocks.

    `part` has the points, and `coordinates` one coordinate of each of them, by which they are
    divided.
    """
    middle = part.size * (n_blocks // 2) // n_blocks
    is_low = np.zeros(part.size, bool)
    is_low[np.argpartition(coordinates, middle)[:middle]] = True
    return [part[is_low], part[~is_low]]


class _OrderedRows:
    """The rows of points, in a temporary file in the order of their blocks."""

    def __init__(self, points: Points) -> None:
        rows = points.coordinates
        self._points, self._n_rows = points, 0
        self._file = RowFile(rows.dtype, rows.shape[1])
        self._places = np.empty(points.n_vertices, np.uint32)

    def append(self, numbers: Numbers) -> None:
        """Append the rows of a block."""
        self._file.append(self._points.coordinates[numbers])
        self._places[numbers] = np.arange(self._n_rows, self._n_rows + numbers.size)
        self._n_rows += numbers.size

    def points(self) -> Points:
        """Return the points, which read their rows from the file."""
        return self._points.with_rows(PlacedRows(self._file.mapped(), self._places))
