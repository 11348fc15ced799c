"""Scale coordinates by powers of two, so that powers of differences stay in the range of doubles.

The square of a double overflows from 2**512 on, and loses bits below 2**-511. Higher powers, as of
Minkowski's distance, do so earlier. Very large or very small coordinates are therefore divided by a
power of two before distances are computed from them, and the distances are multiplied by the same
power. Both operations are exact.
"""

from __future__ import annotations

from math import frexp, inf, isnan, ldexp, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.errors import InvalidGraphError
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array

Doubles = npt.NDArray[np.float64]

# _OF_A_THREAD is the number of coordinates that a thread takes at a time. _OF_A_CACHE is the number
# of coordinates that fit into a core's cache.
_OF_A_THREAD, _OF_A_CACHE = 1 << 20, 1 << 15
_ONE = np.uint64(1)
# Coordinates whose magnitude is below 2**_GREATEST have distances in the range of doubles.
_GREATEST = 500
# Coordinates are divided by a power of two, chosen so that the sum of the powers of their
# differences stays below 2**_SUM. Doubles end at 2**1024. The remaining bits are for other points
# that are compared with these points later, and are divided by the same power of two.
_SUM = 1003
_NORMAL = -1022  # 2**-1022 is the least normal double, which has the full precision
_OVERFLOW = 1024  # 2**1024 is the first power of two beyond the range of doubles
# Number of bits of a double's fraction. Two different doubles differ by at least 2**-52 times the
# lesser one.
_FRACTION = 52
# Coordinates are divided by a power of two that is chosen for some points. Other points, which are
# compared with them later, are divided by the same power of two. A difference of their coordinates,
# raised to the metric's power, may be greater by this number of bits.
_SPARE = 16


def magnitudes(coordinates: Array) -> tuple[float, float]:
    """Return the greatest absolute value of an array, and the least absolute value other than 0.

    The array has two dimensions. If any value is NaN, the greatest is NaN; otherwise, if any is
    infinite, the greatest is infinite. If all values are 0, the least is infinite. Threads share
    the work on large arrays, of which no part is copied that is larger than 8 MiB.
    """
    if coordinates.size <= _OF_A_CACHE:  # true in most calls
        flat = coordinates.reshape(-1)
        return _of_piece(flat, np.empty(flat.size)) if flat.size else (0.0, inf)
    runs = slices(len(coordinates), max(_OF_A_THREAD // coordinates.shape[1], 1))
    return _of_all(in_threads(lambda rows: _of_pieces(coordinates[rows].reshape(-1)), runs))


def _of_all(found: list[tuple[float, float]]) -> tuple[float, float]:
    """Combine the (greatest, least) magnitudes of several parts of an array into one pair."""
    greatest = [one for one, _ in found]
    return nan if any(map(isnan, greatest)) else max(greatest), min(least for _, least in found)


def _of_pieces(piece: Array) -> tuple[float, float]:
    """Compute :func:`magnitudes` of a one-dimensional array, in pieces that fit into a cache."""
    space = np.empty(_OF_A_CACHE)
    return _of_all([_of_piece(piece[some], space) for some in slices(piece.size, _OF_A_CACHE)])


def _of_piece(piece: Array, space: Doubles) -> tuple[float, float]:
    """Return the greatest and the least magnitude of `piece`, a part of an array.

    `space` is memory for the absolute values of its numbers.
    """
    sizes = np.abs(piece, out=space[: piece.size], dtype=np.float64)
    greatest, least = float(np.maximum.reduce(sizes)), float(np.minimum.reduce(sizes))
    if least == 0:
        # Find the least value other than 0. Positive doubles have the same order as their bits
        # taken as unsigned integers. Subtracting 1 turns 0 into the greatest integer, which the
        # minimum ignores.
        words = sizes.view(np.uint64)
        words -= _ONE
        word = int(words.min()) + 1
        least = float(np.uint64(word).view(np.float64)) if word < 1 << 64 else inf
    return greatest, least


def exponent_of(greatest: float, least: float, dimensions: int, power: float = 2.0) -> int:
    """Choose the power of two by which to divide coordinates, and return its exponent.

    `greatest` and `least` are as :func:`magnitudes` returns them, and `dimensions` is the number of
    terms of a distance, each of which is a difference of coordinates to the `power`. The exponent
    is 0 if no term can overflow or lose bits without a division.
    """
    top = _top(dimensions, power)
    if greatest < ldexp(1.0, top) and least >= ldexp(1.0, _least(power) + _FRACTION):
        return 0
    return frexp(greatest)[1] - top


def suits(
    exponent: int, greatest: float, least: float, dimensions: int, power: float = 2.0
) -> bool:
    """Return whether an exponent chosen for some points also suits other points.

    Coordinates are divided by ``2**exponent``. The exponent suits points if, after the division, no
    difference of coordinates to the `power` overflows or loses bits. `greatest` and `least` are the
    magnitudes of the other points' coordinates, as :func:`magnitudes` returns them, and
    `dimensions` is the number of coordinates of a point. A few more bits are allowed than in
    :func:`exponent_of`, which chooses the exponent.
    """
    top = _top(dimensions, power) + int(_SPARE / power)
    return frexp(greatest)[1] - exponent <= top and not may_be_too_near(exponent, least, power)


def _top(dimensions: int, power: float) -> int:
    """Return the exponent of the power of two below which coordinates must be after the division.

    The bound decreases with the number of dimensions, because terms add up. The difference of two
    coordinates may be twice as great as a coordinate. The result is 500 for squares in 2
    dimensions.
    """
    return int((_SUM - dimensions.bit_length()) / power) - 1


def _least(power: float) -> int:
    """Return the least e for which 2**e, raised to `power`, is a normal double.

    It is -511 for squares.
    """
    return -int(-_NORMAL / power)


def least_difference(exponent: int, power: float = 2.0) -> float:
    """Return the least difference of two coordinates from which a distance can be computed exactly.

    The coordinates are divided by ``2**exponent``. If they differ by at least the result, their
    difference to the `power` does not lose bits to underflow. Distances of at least the result also
    keep all bits when they are multiplied again.
    """
    return ldexp(1.0, max(exponent + _least(power), _NORMAL))


def multiplied_range(exponent: int) -> tuple[float, float]:
    """Return the range of positive doubles that keep all bits when divided by ``2**exponent``.

    The result is the least and the greatest of these doubles.
    """
    low, high = max(exponent, 0) + _NORMAL, min(exponent, 0) + _OVERFLOW - 1
    return ldexp(1.0, low), ldexp(2 - 2.0**-_FRACTION, high)


def may_be_too_near(exponent: int, least: float, power: float = 2.0) -> bool:
    """Return whether two different coordinates may be so near that their powers lose bits.

    This is the case if they may differ by less than :func:`least_difference` of the exponent.
    `least` is the least absolute value of the coordinates other than 0, and `power` the power of
    differences.
    """
    return ldexp(least, -_FRACTION) < least_difference(exponent, power)


def check_nearness(
    coordinates: Doubles, exponent: int, greatest: float, power: float = 2.0
) -> None:
    """Raise InvalidGraphError if two different points are too near to each other.

    Points are too near if they differ by less than :func:`least_difference` of the exponent and the
    `power` in every dimension. `greatest` is the greatest absolute coordinate, for the message. In
    each dimension the sorted values are divided into groups wherever two neighbours are at least
    that far apart. Of the points that are in the same group in all dimensions, the nearest are
    found by a k-d tree. O(n d log n) time if they are few.
    """
    least = least_difference(exponent, power)
    rows = np.arange(len(coordinates))
    group = np.zeros(rows.size, np.int64)
    for axis in coordinates.T:
        order = np.lexsort((axis[rows], group))
        rows, group = rows[order], group[order]
        with np.errstate(over="ignore"):
            is_far = np.diff(axis[rows]) >= least
        group = np.append(0, np.cumsum(is_far | (np.diff(group) != 0)))
        is_shared = np.bincount(group)[group] > 1
        rows, group = rows[is_shared], group[is_shared]
        if not rows.size:
            return
    from scipy.spatial import cKDTree  # takes a tenth of a second

    different, first = np.unique(
        coordinates[rows].astype(np.float64) + 0.0, axis=0, return_index=True
    )
    if len(different) < 2:
        return
    different *= 0.25  # so that sums of two coordinates do not overflow
    found: Any = cKDTree(different).query(different, k=2, p=np.inf)
    apart_from, near = found
    wrong = np.flatnonzero(apart_from[:, 1] < 0.25 * least)
    if wrong.size:
        u, v = sorted(rows[first[near[wrong[0]]]].tolist())
        apart = np.abs(coordinates[u] - coordinates[v]).max()
        raise InvalidGraphError(
            f"points {u} and {v} differ by at most {apart:.3g} in each coordinate, and coordinates "
            f"go up to {greatest:.3g}; with such coordinates, two points must be equal or differ "
            f"by at least {least:.3g} in some coordinate (round all coordinates to multiples of "
            "that, or solve groups of near points separately)"
        )


def check_extent(coordinates: Doubles, metric: str, greatest: float) -> None:
    """Raise InvalidGraphError if a distance by the metric may exceed the range of doubles.

    The bound is the distance between two opposite corners of the bounding box of the coordinates.
    `greatest` is the greatest absolute coordinate.
    """
    if greatest < ldexp(1.0, _GREATEST):
        return
    exponent = frexp(greatest)[1]  # divided coordinates are below 1
    scaled = np.ldexp(coordinates, -exponent)
    sides = scaled.max(axis=0) - scaled.min(axis=0)
    of_sides = {"euclidean": lambda: np.sqrt((sides * sides).sum()), "chebyshev": sides.max}
    with np.errstate(over="ignore"):
        longest = np.ldexp(of_sides.get(metric, sides.sum)() * (1 + 2.0**-40), exponent)
    if not np.isfinite(longest):
        raise InvalidGraphError(
            f"coordinates go up to {greatest:.3g}, so distances may be beyond the greatest double, "
            "1.8e308; divide the coordinates by a number"
        )
