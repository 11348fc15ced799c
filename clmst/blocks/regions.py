"""Points in the order of a k-d tree, and searches for the points that are near to others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from clmst.core.points import Points

Doubles = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_FAN = 8  # children of a node of the k-d tree
_LEAF = 512  # points in a leaf; a search compares with the boxes of leaves first
# Maximum number of boxes that are put around the points of a set, in a search for other points that
# are near to the set.
_MOST_BOXES = 64
_FEWEST_IN_A_BOX = 32


@dataclass(frozen=True, slots=True, eq=False)
class BoxArray:
    """Boxes in the coordinates from which distances are computed.

    `low` and `high` have shape (dimensions, n): the least and the greatest coordinates in each of
    the n boxes.
    """

    low: Doubles
    high: Doubles

    @classmethod
    def around(cls, planes: Doubles, starts: Numbers | None = None) -> Self:
        """Return boxes around runs of points.

        `planes` has shape (dimensions, m), and `starts` are the positions at which runs begin. None
        means one run of all points. There is a point in each run.
        """
        at = np.zeros(1, np.int64) if starts is None else starts
        return cls(np.minimum.reduceat(planes, at, axis=1), np.maximum.reduceat(planes, at, axis=1))

    @classmethod
    def joined(cls, boxes: list[BoxArray]) -> Self:
        """Return all boxes of a list as one object."""
        return cls(
            np.concatenate([one.low for one in boxes], axis=1),
            np.concatenate([one.high for one in boxes], axis=1),
        )

    def __getitem__(self, at: Numbers | slice) -> BoxArray:
        """Return the boxes at the positions `at`, an array or a slice."""
        low = self.low[:, at]
        return BoxArray(low, low if self.high is self.low else self.high[:, at])  # points: one copy

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
        O(n log(n / leaf size)) time. Needs 16 bytes for each coordinate of a point meanwhile.
        """
        planes = points.subset(numbers).planes
        leaves, parts = [], [np.arange(numbers.size)]
        while parts:
            part = parts.pop()
            if part.size <= _LEAF:
                leaves.append(part)
                continue
            own = planes[:, part]
            widest = own[np.argmax(own.max(axis=1) - own.min(axis=1))]
            ends = np.linspace(0, part.size, min(_FAN, -(-part.size // _LEAF)) + 1).astype(np.int64)
            order = part[np.argpartition(widest, ends[1:-1])]
            parts += [order[low:high] for low, high in pairwise(ends)]
        order = np.concatenate(leaves)
        starts = np.cumsum([0, *(leaf.size for leaf in leaves)])
        ordered = planes[:, order]
        boxes = BoxArray.around(ordered, starts[:-1])
        return cls(numbers[order], starts, boxes, BoxArray.around(ordered)), order

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
        return np.asarray(np.maximum.reduceat(values, self.starts[:-1]))


def near_a_box(
    points: Points, cloud: Cloud, reaches: Doubles, box: BoxArray, *, below: bool = False
) -> Numbers:
    """Find the points of a cloud from which a box is within reach.

    Parameters
    ----------
    points : Points
        All points, those of the cloud included.
    cloud : Cloud
        The points to look through.
    reaches : array of float64, shape (n,)
        The reach of each point, a distance.
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
    at = cloud.of_leaves(np.flatnonzero(within(least, cloud.greatest_of_leaves(reaches))))
    least = points.least_distances(cloud.points_at(points, at).gaps_to(box))
    return at[within(least, reaches[at])]


def near_to_points(
    points: Points, cloud: Cloud, at: Numbers, reaches: Doubles, others: Cloud, *,
    below: bool = False,
) -> Numbers:  # fmt: skip
    """Find the points of another cloud that may be within reach of some points of a cloud.

    Parameters
    ----------
    points : Points
        All points, those of the clouds included.
    cloud, at : Cloud, array of int, shape (q,)
        The points from which is searched, as positions in rising order.
    reaches : array of float64, shape (q,)
        The reach of each of them, a distance.
    others : Cloud
        The points among which those within reach are looked for.
    below : bool
        Whether only distances below the reach count, and not those equal to it.

    Returns
    -------
    array of int
        Positions in `others`, in rising order. Points that are not within reach may be included,
        because the points `at` are put into some boxes, and the distance to a box is a lower bound
        of the distances to its points.
    """
    is_found = np.zeros(others.numbers.size, bool)
    for boxes, greatest in _boxes_around(points, cloud, at, reaches):
        gaps = BoxArray(boxes.low[:, :, None], boxes.high[:, :, None]).gaps_to(
            BoxArray(others.leaves.low[:, None], others.leaves.high[:, None])
        )
        least = points.least_distances(gaps)
        near = least < greatest[:, None] if below else least <= greatest[:, None]
        every = others.of_leaves(np.flatnonzero(near.any(axis=0)))
        place = np.empty(is_found.size, np.int64)
        place[every] = np.arange(every.size)
        candidates = others.points_at(points, every)  # read once, not for each of the boxes
        for which in np.flatnonzero(near.any(axis=1)):
            some = others.of_leaves(np.flatnonzero(near[which]))
            some = some[~is_found[some]]
            gaps = candidates[place[some]].gaps_to(boxes[which : which + 1])
            own = points.least_distances(gaps)
            within = own < greatest[which] if below else own <= greatest[which]
            is_found[some[within]] = True
    return np.flatnonzero(is_found)


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
            starts = np.arange(0, group.size, max(_FEWEST_IN_A_BOX, -(-group.size // _MOST_BOXES)))
            planes = points.subset(cloud.numbers[at[group]]).planes
            boxes = BoxArray.around(planes, starts)
            yield boxes, np.maximum.reduceat(reaches[group], starts)
