"""Pairs of points of different components that may be edges of the minimum spanning tree.

An edge that is heavier than each edge of a path between its ends is not in the tree. Paths are
known from a few edges between the components. Lower bounds of the weights of all other pairs, from
boxes around near points and then from the points themselves, show that few pairs can be in the
tree. Each of these gives a shorter path, so that the bounds exclude more of the remaining pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from clmst import route
from clmst.core.point_search import Floats, Numbers
from clmst.core.points import Points

# The number of points in a box is half the square root of the number of points, within limits: the
# pairs of boxes are then as many as the points, and their bounds fit into memory.
_FEWEST_IN_BOX = 12
_MOST_BOXES = 1024  # without those that end with their component
# Number of pairs of points in the first pairs of boxes that are compared, and the greatest number
# in later ones. The first ones give short paths, with which all others are compared.
_PAIRS_AT_FIRST = 1 << 16
_PAIRS_AT_ONCE = 1 << 19

Pairs = tuple[Numbers, Numbers, Floats]  # both ends and the weight of each pair
Weigh = Callable[[Numbers, Numbers], Floats]


def pairs_between(
    points: Points, *, component: Numbers, bounds: Floats, near: Numbers, listed: Pairs,
    weigh: Weigh,
) -> Pairs | None:  # fmt: skip
    """Find the pairs of points of different components that may be edges of the spanning tree.

    Parameters
    ----------
    points : Points
        All points, of which there are n. Their core distances are not used.
    component : array of int64, shape (n,)
        The component of each point, numbered from 0. The points of a component are joined by edges
        of the tree.
    bounds : array of float64, shape (n,)
        No edge of a point to another component is lighter than the bound of the point, unless the
        edge is in `listed`.
    near : array of int64, shape (m,)
        The points whose pairs are wanted. They are found quickly if points that follow one another
        are near to one another.
    listed : tuple of arrays
        The ends and the weights of pairs of different components that are known. They need not be
        found.
    weigh : function
        Computes the exact weights of pairs, of which it gets the two arrays of ends.

    Returns
    -------
    tuple of arrays or None
        The ends of the pairs, and their weights. Each edge of the minimum spanning tree that joins
        two components, and whose ends are in `near`, is among these pairs or in `listed`. None if
        more pairs have to be compared than :func:`clmst.route.ends_comparison` allows.
    """
    boxes = _NearBoxes(points, component, bounds, near)
    of_boxes, least = boxes.component, boxes.least_weights()
    paths = _paths(boxes, least, component, listed, weigh)
    one, other = np.nonzero(np.triu(least <= paths[of_boxes[:, None], of_boxes]))
    order = np.argsort(least[one, other])
    one, other, least = one[order], other[order], least[one[order], other[order]]
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    n_compared, at_once = 0, _PAIRS_AT_FIRST
    while one.size:
        ends = np.cumsum(boxes.sizes[one] * boxes.sizes[other])
        count = int(np.searchsorted(ends, at_once)) + 1
        at_once = min(2 * at_once, _PAIRS_AT_ONCE)
        some, to = one[:count], other[:count]
        limits = paths[of_boxes[some], of_boxes[to]]
        u, of_u = boxes.near(some, to, limits)
        left = np.flatnonzero(np.bincount(of_u, minlength=some.size))
        v, of_v = boxes.near(to[left], some[left], limits[left])
        n_compared += int(boxes.sizes[some].sum() + boxes.sizes[to[left]].sum())
        u, v, pair = _products((u, of_u), (v, left[of_v]))
        n_compared += u.size
        if route.ends_comparison(n_compared, near.size):
            return None
        weights = weigh(u, v)
        is_light = weights <= limits[pair]
        u, v, weights = u[is_light], v[is_light], weights[is_light]
        found.append((u, v, weights))
        _shorten(paths, component[u], component[v], weights)
        one, other, least = one[count:], other[count:], least[count:]
        is_left = least <= paths[of_boxes[one], of_boxes[other]]
        one, other, least = one[is_left], other[is_left], least[is_left]
    u, v, weights = (np.concatenate(each) for each in zip(*found, strict=True))
    is_light = weights <= paths[component[u], component[v]]
    return u[is_light], v[is_light], weights[is_light]


class _NearBoxes:
    """Bounding boxes, each around some points of one component that are near to one another.

    The boxes are in the order of their components.
    """

    def __init__(self, points: Points, component: Numbers, bounds: Floats, near: Numbers) -> None:
        ids = near[np.argsort(component[near], kind="stable")]
        of_points, at = component[ids], np.arange(ids.size)
        in_box = max(isqrt(ids.size) // 2, _FEWEST_IN_BOX, ids.size // _MOST_BOXES)
        begins = np.diff(of_points, prepend=-1) > 0
        in_component = at - np.maximum.accumulate(np.where(begins, at, 0))
        self.first = np.flatnonzero(in_component % in_box == 0)
        self.sizes = np.diff(self.first, append=ids.size)
        self.points, self.ids, self.bounds = points, ids, bounds
        self.component = of_points[self.first]
        rows = points.planes[:, ids]
        self.low = np.minimum.reduceat(rows, self.first, axis=1)
        self.high = np.maximum.reduceat(rows, self.first, axis=1)
        self.least_bounds = np.minimum.reduceat(bounds[ids], self.first)

    def least_weights(self) -> Floats:
        """Return a lower bound of the weights of all edges between two boxes, except listed ones.

        The result has a row and a column for each box.
        """
        gaps = (low[:, None] - high for low, high in zip(self.low, self.high, strict=True))
        least = self.points.least_compared(_not_negative(gap, gap.T) for gap in gaps)
        bounds = self.least_bounds
        return np.maximum(np.maximum(least, bounds[:, None]), bounds)

    def near(self, boxes: Numbers, others: Numbers, limits: Floats) -> tuple[Numbers, Numbers]:
        """Find the points in boxes that may have a light edge to another box.

        The points of each box in `boxes` are compared with the box at the same position in
        `others`. An edge is light if its weight is at most the number in `limits` at this position.
        Returns the points, and the positions, which rise.
        """
        at, position = _ranges(self.first[boxes], self.sizes[boxes])
        u = self.ids[at]
        is_near = self.bounds[u] <= limits[position]
        u, position = u[is_near], position[is_near]
        to = others[position]
        least = self.points.least_compared(
            _not_negative(low[to] - x, x - high[to])
            for x, low, high in zip(self.points.planes[:, u], self.low, self.high, strict=True)
        )
        is_near = least <= limits[position]
        return u[is_near], position[is_near]


def _not_negative(one: Floats, other: Floats) -> Floats:
    """Return the greater of two numbers, or 0 if both are negative, for each pair of elements."""
    greater: Floats = np.maximum(one, other)
    return np.maximum(greater, 0.0, out=greater)


def _ranges(first: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """List the integers of several ranges, and for each integer the position of its range.

    The range at position i has ``sizes[i]`` integers and begins with ``first[i]``.
    """
    position = np.repeat(np.arange(sizes.size), sizes)
    before = np.cumsum(sizes) - sizes
    return np.arange(position.size) + (first - before)[position], position


def _products(
    one: tuple[Numbers, Numbers], other: tuple[Numbers, Numbers]
) -> tuple[Numbers, Numbers, Numbers]:
    """List all pairs of a point of one set and a point of the other set, for several pairs of sets.

    `one` and `other` are results of :meth:`_NearBoxes.near`: points, and the position of the pair
    of sets to which each of them belongs. Returns both points of each pair, and the position.
    """
    (u, of_u), (v, of_v) = one, other
    first = np.searchsorted(of_v, of_u, side="left")
    sizes = np.searchsorted(of_v, of_u, side="right") - first
    to, at = _ranges(first, sizes)
    return u[at], v[to], of_u[at]


def _paths(
    boxes: _NearBoxes, least: Floats, component: Numbers, listed: Pairs, weigh: Weigh
) -> Floats:
    """Return an upper bound of the heaviest edge on the best path between two components.

    The best path is the one whose heaviest edge is lightest. The edges of the paths are the
    `listed` pairs, and between each two components a pair of the boxes that are nearest by `least`,
    the result of :meth:`_NearBoxes.least_weights`. The result has a row and a column for each
    component. It is -1 for a component and itself.
    """
    begins = np.diff(boxes.component, prepend=-1) > 0
    first, number = np.flatnonzero(begins), np.cumsum(begins) - 1
    nearest = np.minimum.reduceat(np.minimum.reduceat(least, first, axis=0), first, axis=1)
    one, other = np.nonzero(np.triu(least == nearest[number[:, None], number]))
    middle = boxes.ids[boxes.first + boxes.sizes // 2]
    n_components = int(component.max()) + 1
    paths = np.full((n_components, n_components), np.inf)
    u, v, weights = listed
    _shorten(paths, component[u], component[v], weights)
    u, v = middle[one], middle[other]
    _shorten(paths, component[u], component[v], weigh(u, v))
    return paths


def _shorten(paths: Floats, one: Numbers, other: Numbers, weights: Floats) -> None:
    """Lower the numbers in `paths`, a result of :func:`_paths`, in place, by further edges.

    The edges join the components in `one` and `other` and have `weights`. By the method of Floyd
    and Warshall, a path may run through each of these components.
    """
    np.minimum.at(paths, (one, other), weights)
    np.minimum(paths, paths.T.copy(), out=paths)
    for between in np.unique(np.concatenate([one, other])):
        np.minimum(paths, np.maximum(paths[:, [between]], paths[between]), out=paths)
    np.fill_diagonal(paths, -1.0)
