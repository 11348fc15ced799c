"""Points in the order of a k-d tree, and searches for the points that are near to others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from clmst.core.points import Points
from clmst.core.threads import gathered, in_threads, slices

Doubles = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_FAN = 8  # strips into which a part is divided at once by all threads
_LEAF = 512  # points in a leaf; a search compares with the boxes of leaves first
_MOST_LEAVES = 1 << 13  # if leaves of that size would be more, they have more points
_AT_ONCE = 1 << 18  # points that a thread takes at a time
_COORDINATES = 1 << 17  # coordinates of points that a thread compares with a box at a time
_LEAVES_AT_ONCE = 64  # leaves that a thread takes at a time
_SPARSE = 32  # marks for each number, above which numbers are sorted without marks
_PARTS_FOR_THREADS = 64  # as many parts of points, or more, keep all threads busy
_SAMPLE = 1 << 14  # points whose quantiles divide a part
_PROBE = 32  # points of a group that tell in which dimension the group is divided
# To search for points that are near to a set of points, boxes are put around the points of the set.
# This is the maximum number of boxes.
_MOST_BOXES = 64
_FEWEST_IN_A_BOX = 32
_ONE_IN = 16  # points of a leaf, of which one is in the sample
_MOST_NEAR = 0.5  # the share of near points in the sample above which all points are taken
_SEARCHED = 1 << 12  # points that a thread compares with boxes at a time, which fit the caches


@dataclass(frozen=True, slots=True, eq=False)
class BoxArray:
    """Boxes in the coordinates from which distances are computed.

    `low` and `high` have shape (dimensions, n): the least and the greatest coordinates in each of
    the n boxes.
    """

    low: Doubles
    high: Doubles

    @classmethod
    def joined(cls, boxes: list[BoxArray]) -> Self:
        """Return all boxes of a list as one object."""
        return cls(
            np.concatenate([one.low for one in boxes], axis=1),
            np.concatenate([one.high for one in boxes], axis=1),
        )

    def hull(self) -> BoxArray:
        """Return one box around all of these boxes."""
        return BoxArray(self.low.min(axis=1, keepdims=True), self.high.max(axis=1, keepdims=True))

    def __getitem__(self, at: Numbers | slice) -> BoxArray:
        """Return the boxes at the positions `at`, an array or a slice."""
        if isinstance(at, slice):
            return BoxArray(self.low[:, at], self.high[:, at])
        low = np.take(self.low, at, axis=1)  # in rows, which an index would not return
        is_of_points = self.high is self.low
        return BoxArray(low, low if is_of_points else np.take(self.high, at, axis=1))

    def gaps_to(self, other: BoxArray) -> Doubles:
        """Return the distances between these boxes and the boxes `other` in each dimension.

        The gap is 0 where ranges overlap. The numbers of boxes must be equal, or 1 on one of both
        sides. Points are boxes whose `low` and `high` are equal.
        """
        gaps = np.maximum(self.low - other.high, other.low - self.high)
        return np.maximum(gaps, 0.0, out=gaps)


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Points in the order of the leaves of a k-d tree.

    Their coordinates are not kept. They are read from the points of the solve when a search needs
    them.

    Attributes
    ----------
    numbers : array of int, shape (n,)
        The numbers of the points among all points.
    starts : array of int, shape (k + 1,)
        Leaf i has the points from ``starts[i]`` to below ``starts[i + 1]``.
    leaves : BoxArray
        The box around the points of each leaf.
    box : BoxArray
        The one box around all points.
    """

    numbers: Numbers
    starts: Numbers
    leaves: BoxArray
    box: BoxArray

    @classmethod
    def of(cls, points: Points, numbers: Numbers) -> tuple[Self, Numbers]:
        """Put some of the points into the order of a k-d tree.

        `numbers` has shape (n,), n > 0. Returns the cloud, and the order as positions in `numbers`.
        O(n log(n / leaf size)) time by the threads of all cores. Needs 16 bytes for each coordinate
        of a point meanwhile.
        """
        planes = points.subset(numbers).planes
        order, starts, boxes = _leaves(planes, max(_LEAF, numbers.size // _MOST_LEAVES))
        return cls(gathered(numbers, order), starts, boxes, boxes.hull()), order

    def points_at(self, points: Points, at: Numbers) -> BoxArray:
        """Return the points at the positions `at` as boxes of size 0. `points` are all points."""
        planes = points.subset(self.numbers[at]).planes
        return BoxArray(planes, planes)

    def of_leaves(self, leaves: Numbers) -> Numbers:
        """Return the positions of all points of some leaves, in rising order."""
        sizes = self.starts[leaves + 1] - self.starts[leaves]
        ends = np.cumsum(sizes)
        first = np.repeat(self.starts[leaves] - (ends - sizes), sizes)
        return first + np.arange(int(ends[-1]) if sizes.size else 0)

    def greatest_of_leaves(self, values: Doubles) -> Doubles:
        """Return the greatest of the values of each leaf's points. `values` has shape (n,)."""
        found = np.empty(self.starts.size - 1)

        def reduce(some: slice) -> None:
            first, end = self.starts[some.start], self.starts[some.stop]
            found[some] = np.maximum.reduceat(values[first:end], self.starts[some] - first)

        in_threads(reduce, slices(found.size, _LEAVES_AT_ONCE))
        return found


def _leaves(planes: Doubles, most: int) -> tuple[Numbers, Numbers, BoxArray]:
    """Divide points into the leaves of a k-d tree, of at most `most` points each.

    `planes` has shape (dimensions, n). Returns the positions of the points in the order of the
    leaves, the positions in this order at which leaves begin, with n at the end, and the box around
    each leaf. As long as parts are large, all threads divide one of them, and then each thread
    divides parts.
    """
    parts, n_before = [np.arange(planes.shape[1])], 0
    while n_before < len(parts) < _PARTS_FOR_THREADS and max(map(len, parts)) > _AT_ONCE:
        n_before = len(parts)  # equal points cannot be divided
        parts = [strip for part in parts for strip in _strips(planes, part)]
    ends = np.cumsum([0, *map(len, parts)])
    order = np.empty(planes.shape[1], np.int64)

    def divide(number: int) -> tuple[Numbers, BoxArray]:
        into = order[ends[number] : ends[number + 1]]
        return _leaves_of_part(planes, parts[number], most, into)

    sizes, boxes = zip(*in_threads(divide, range(len(parts))), strict=True)
    return order, np.cumsum([0, *np.concatenate(sizes)]), BoxArray.joined([*boxes])


def _strips(planes: Doubles, part: Numbers) -> list[Numbers]:
    """Divide points at their widest dimension into about equal parts, by quantiles of a sample.

    `part` has the positions of the points. Returns the positions of the points of each part.
    """
    sample = np.take(planes, part[:: part.size // _SAMPLE + 1], axis=1)
    widest = np.argmax(np.ptp(sample, axis=1))
    along, sample = planes[widest], np.sort(sample[widest])
    bounds = sample[np.linspace(0, sample.size, _FAN + 1).astype(np.int64)[1:-1]]

    def sort(run: slice) -> list[Numbers]:
        """Return the positions of the points of a run that are in each strip."""
        values, strip = np.take(along, part[run]), np.zeros(run.stop - run.start, np.uint8)
        for bound in bounds:  # a search for each value would take several times as long
            strip += values > bound
        order = part[run][np.argsort(strip, kind="stable")]
        return np.split(order, np.cumsum(np.bincount(strip, minlength=_FAN))[:-1])

    strips = zip(*in_threads(sort, slices(part.size, _AT_ONCE)), strict=True)
    return [strip for strip in in_threads(np.concatenate, strips) if strip.size]


def _leaves_of_part(
    planes: Doubles, part: Numbers, most: int, order: Numbers
) -> tuple[Numbers, BoxArray]:
    """Divide the points at the positions `part` into leaves, as :func:`_leaves` does.

    The positions are stored in `order`, in the order of the leaves. Returns the number of points of
    each leaf, and the boxes around the leaves.

    All groups of points are divided in two at the same time, by a few calls of NumPy for large
    arrays. Calls for each group would be so many that threads wait for one another's turn to call.
    For that all groups have the same size. Some points occur twice at first to fill the groups, and
    are taken out of the leaves.
    """
    n_leaves = 1 << (-(-part.size // most) - 1).bit_length()
    size = -(-part.size // n_leaves) * n_leaves
    extra = np.linspace(0, part.size - 1, size - part.size).astype(np.int64)
    own = np.take(planes, np.concatenate([part, part[extra]]), axis=1)
    groups = np.arange(size)[None]
    while (n_groups := len(groups)) < n_leaves:
        length = groups.shape[1]
        some = np.take(own, groups[:, :: length // _PROBE + 1], axis=1)
        widest = np.argmax(np.ptp(some, axis=2), axis=0)
        values = np.take(own, groups + size * widest[:, None])  # of the widest dimension
        halves = np.argpartition(values, length // 2, axis=1)
        halves += length * np.arange(n_groups)[:, None]
        groups = np.take(groups, halves).reshape(2 * n_groups, -1)
    is_first = groups < part.size  # and not a point that occurs for the second time
    sizes = np.count_nonzero(is_first, axis=1)
    order[:] = part[groups[is_first]]
    groups, is_first, sizes = groups[sizes > 0], is_first[sizes > 0], sizes[sizes > 0]
    first = np.take_along_axis(groups, np.argmax(is_first, axis=1)[:, None], axis=1)
    groups = np.where(is_first, groups, first)
    in_leaves = np.take(own, groups, axis=1)
    return sizes, BoxArray(in_leaves.min(axis=2), in_leaves.max(axis=2))


def rising(numbers: Numbers) -> Numbers:
    """Return distinct numbers of points in rising order.

    If they are many of the numbers between the least and the greatest of them, threads set a mark
    for each.
    """
    least, end = int(numbers.min()), int(numbers.max()) + 1
    if numbers.size < max(_AT_ONCE, (end - least) // _SPARSE):
        return np.sort(numbers)
    marks = np.zeros(end - least, bool)

    def mark(run: slice) -> None:
        marks[numbers[run] - least] = True

    in_threads(mark, slices(numbers.size, _AT_ONCE))
    found: Numbers = np.flatnonzero(marks)
    found += least
    return found


def near_a_box(
    points: Points, cloud: Cloud, greatest: Doubles, reaches: Callable[[Numbers], Doubles],
    box: BoxArray, *, below: bool = False,
) -> Numbers:  # fmt: skip
    """Find the points of a cloud from which a box is within reach.

    Parameters
    ----------
    points : Points
        All points, including the points of the cloud.
    cloud : Cloud
        The points to look through.
    greatest : array of float64, shape (k,)
        For each leaf of the cloud, the greatest reach of a point, or more. A reach is a distance.
        It is -inf for a point, or a leaf, that is not wanted.
    reaches : callable
        Returns the reaches of points, given their positions. It is only called for the points of
        leaves that may be near to the box.
    box : BoxArray
        One box.
    below : bool
        Whether only distances below the reach count, and not those equal to it.

    Returns
    -------
    array of int
        The positions of the points, in rising order.
    """

    def within(least: Doubles, reach: Doubles) -> npt.NDArray[np.bool_]:
        return least < reach if below else least <= reach

    least = points.least_distances(cloud.leaves.gaps_to(box))
    at = cloud.of_leaves(np.flatnonzero(within(least, greatest)))

    def is_near(some: slice) -> npt.NDArray[np.bool_]:
        least = points.least_distances(cloud.points_at(points, at[some]).gaps_to(box))
        return within(least, reaches(at[some]))

    at_once = max(_COORDINATES // cloud.box.low.shape[0], 1)
    found = in_threads(is_near, slices(at.size, at_once))
    return at[np.concatenate(found)] if found else at


def near_to_points(
    points: Points, cloud: Cloud, at: Numbers, reaches: Doubles, others: Cloud, *,
    below: bool = False, roughly: bool = False,
) -> Numbers:  # fmt: skip
    """Find the points of another cloud that may be within reach of some points of a cloud.

    Parameters
    ----------
    points : Points
        All points, including the points of the clouds.
    cloud, at : Cloud, array of int, shape (q,)
        The points from which is searched, as positions in rising order.
    reaches : array of float64, shape (q,)
        The reach of each of them, a distance.
    others : Cloud
        The points among which those within reach are looked for.
    below : bool
        Whether only distances below the reach count, and not those equal to it.
    roughly : bool
        Whether all points of some leaves are returned if most points of a sample of them are within
        reach. In many dimensions most points are, and to compare all of them takes longer than a
        device takes for the points that this would leave out. The number of points that are
        returned then does not fall with the reaches.

    Returns
    -------
    array of int
        Positions in `others`, in rising order. Points that are not within reach may be included,
        because the points `at` are put into some boxes, and the distance to a box is a lower bound
        of the distances to its points.
    """
    is_found = np.zeros(others.numbers.size, bool)
    for boxes, greatest in _boxes_around(points, cloud, at, reaches):
        _mark_near(points, others, boxes, greatest, is_found, below=below, roughly=roughly)
    return np.flatnonzero(is_found)


def _mark_near(
    points: Points, others: Cloud, boxes: BoxArray, greatest: Doubles,
    is_found: npt.NDArray[np.bool_], *, below: bool, roughly: bool,
) -> None:  # fmt: skip
    """Set the marks `is_found` of the points of a cloud that are near to one of some boxes.

    `greatest` has the greatest distance of each box at which a point is near to it, or below which
    with `below`. `roughly` is as in :func:`near_to_points`.
    """

    def within(least: Doubles, reach: Any) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = least < reach if below else least <= reach
        return found

    gaps = BoxArray(boxes.low[:, :, None], boxes.high[:, :, None]).gaps_to(
        BoxArray(others.leaves.low[:, None], others.leaves.high[:, None])
    )
    least = points.least_distances(gaps)
    is_near = within(least, greatest[:, None])
    leaves = np.flatnonzero(is_near.any(axis=0))
    of_leaf = max(others.numbers.size // (others.starts.size - 1), 1)

    def mark(at: Numbers, some: Numbers) -> None:
        """Mark the points at the positions `at` that are near. They are of the leaves `some`.

        The nearest boxes come first, since most points are near to them.
        """
        rest = others.points_at(points, at)
        for box in np.argsort(least[:, some].min(axis=1)):
            if at.size and is_near[box, some].any():
                gaps = rest.gaps_to(boxes[box : box + 1])
                near = within(points.least_distances(gaps), greatest[box])
                is_found[at[near]] = True
                away = np.flatnonzero(~near)
                at, rest = at[away], rest[away]

    def mark_leaves(run: slice) -> None:
        """Mark the near points of some leaves, or with `roughly` perhaps all of their points."""
        at = others.of_leaves(leaves[run])
        if roughly:
            sample = at[::_ONE_IN]
            mark(sample, leaves[run])
            if np.count_nonzero(is_found[sample]) > _MOST_NEAR * sample.size:
                is_found[at] = True
                return
            at = at[~is_found[at]]
        mark(at, leaves[run])

    in_threads(mark_leaves, slices(leaves.size, max(_SEARCHED // of_leaf, 1)))


def _boxes_around(
    points: Points, cloud: Cloud, at: Numbers, reaches: Doubles
) -> Iterator[tuple[BoxArray, Doubles]]:
    """Yield boxes around some points of a cloud, and the greatest reach of the points in each box.

    The reach of a point is the distance within which other points are looked for. The points are at
    the positions `at` of the cloud, and `reaches` has their reaches. A box holds points that are
    near to one another. Points whose reach is more than twice the median get boxes of their own, so
    that a few points do not widen the search around all others.
    """
    if not at.size:
        return
    is_far = reaches > 2 * np.median(reaches)
    for group in (np.flatnonzero(~is_far), np.flatnonzero(is_far)):
        if group.size:
            runs = [*slices(group.size, max(_FEWEST_IN_A_BOX, -(-group.size // _MOST_BOXES)))]

            def box(run: slice, own: Numbers = at[group]) -> BoxArray:
                return cloud.points_at(points, own[run]).hull()

            boxes = BoxArray.joined(in_threads(box, runs))
            yield boxes, np.array([reaches[group[run]].max() for run in runs])
