"""The division of points into blocks of near points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.blocks.regions import Cloud, Doubles, Numbers
from clmst.core.mapped_rows import PlacedRows, RowFile, is_mapped, passes
from clmst.core.points import TURNED_AT_ONCE, Points
from clmst.core.threads import chosen, in_threads, slices

_AT_ONCE = 1 << 18  # numbers that a thread takes at a time
_SAMPLE = 1 << 16  # values of which a quantile bounds the quantile of all values
_MARGIN = 1 << 10  # positions in the sample between a bound and the quantile: 8 standard deviations


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some of the points, which lie near one another."""

    cloud: Cloud

    @property
    def numbers(self) -> Numbers:
        """The numbers of its points among all points, in the order of `cloud`."""
        return self.cloud.numbers


def divide(points: Points, most: int) -> tuple[list[Block], Points]:
    """Divide points into blocks of at most `most` points each, as a k-d tree does.

    Each part is divided at its widest dimension until it has at most `most` points. So blocks have
    about the same size, more than half of `most`. O(n log n) time. The result takes 8 bytes for
    each point. During the call there are 25 more for each point, and the coordinates of one block.

    Returns the blocks, and the points from which blocks are read. These are the given points,
    unless they are mapped from a file. Then they are a copy in a temporary file of the same dtype,
    in the order of the blocks, so that a block is read in one piece.
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
    """Return the coordinates of a part of the points in the dimension in which it is the widest.

    Of a large part, a sample tells which dimension that is.
    """
    rows = _rows_at_once(points.dimensions)
    sample = points.subset(part[:: part.size // rows + 1]).planes
    widest = int(np.argmax(np.ptp(sample, axis=1)))
    along = np.empty(part.size)

    def read(run: slice) -> None:
        along[run] = points.subset(part[run]).planes[widest]

    in_threads(read, slices(part.size, rows))
    return along


def _rows_at_once(dimensions: int) -> int:
    """Return the number of points that a thread reads at a time: 4 MiB at most, or one point."""
    return int(next(passes(TURNED_AT_ONCE, dimensions)).stop)


def _halves(part: Numbers, coordinates: Doubles, n_blocks: int) -> list[Numbers]:
    """Divide a set of points in two, so that both together give `n_blocks` equal blocks.

    `part` has the points, and `coordinates` one coordinate of each of them, by which they are
    divided.
    """
    is_low = _are_lowest(coordinates, part.size * (n_blocks // 2) // n_blocks)
    return [*chosen(is_low, part), *chosen(~is_low, part)]


def _are_lowest(values: Doubles, count: int) -> npt.NDArray[np.bool_]:
    """Return a mask of `count` values that are not greater than any other value.

    The mask leaves out a value at least. Two values of a sorted sample bound the greatest of these
    values. Only the values between the bounds are sorted, or all values if the bounds are wrong.
    """
    if values.size > _AT_ONCE:
        sample = np.sort(values[:: values.size // _SAMPLE + 1])
        at = count * sample.size // values.size
        low = sample[at - _MARGIN] if at >= _MARGIN else -np.inf
        high = sample[at + _MARGIN] if at + _MARGIN < sample.size else np.inf
        found = _lowest_by_bounds(values, count, low, high)
        if found is not None:
            return found
    is_low = np.zeros(values.size, bool)
    is_low[np.argpartition(values, count)[:count]] = True
    return is_low


def _lowest_by_bounds(
    values: Doubles, count: int, low: float, high: float
) -> npt.NDArray[np.bool_] | None:
    """Return a mask of the `count` lowest values, of which those below `low` are a part.

    All values of the mask are at most `high`. Returns None if the bounds are wrong.
    """
    runs = list(slices(values.size, _AT_ONCE))
    is_low: npt.NDArray[np.bool_] = np.concatenate(in_threads(lambda run: values[run] < low, runs))

    def near(run: slice) -> Numbers:
        """Return the positions of the values of a run that are between the bounds."""
        found: Numbers = np.flatnonzero(~is_low[run] & (values[run] <= high))
        found += run.start
        return found

    between: Numbers = np.concatenate(in_threads(near, runs))
    missing = count - int(np.count_nonzero(is_low))
    if not 0 <= missing < between.size:
        return None
    is_low[between[np.argpartition(values[between], missing)[:missing]]] = True
    return is_low


class _OrderedRows:
    """The rows of points, in a temporary file in the order of their blocks."""

    def __init__(self, points: Points) -> None:
        rows = points.coordinates
        self._points, self._n_rows = points, 0
        self._file = RowFile(rows.dtype, rows.shape[1])
        self._places = np.empty(points.n_vertices, np.uint32)

    def append(self, numbers: Numbers) -> None:
        """Append the coordinates of the points of a block."""
        self._file.append(self._points.coordinates[numbers])
        self._places[numbers] = np.arange(self._n_rows, self._n_rows + numbers.size)
        self._n_rows += numbers.size

    def points(self) -> Points:
        """Return the points, which read their rows from the file."""
        return self._points.with_rows(PlacedRows(self._file.mapped(), self._places))
