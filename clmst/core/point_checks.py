"""Checks of points: their shape and range, and the range of their core distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.core import magnitude
from clmst.core.arguments import as_reals
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.mapped_rows import is_mapped, passes
from clmst.core.point_rows import of_one_dimension, rows_of
from clmst.core.quotients import DIVIDED
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array

if TYPE_CHECKING:
    from clmst.core.points import Metric

ON_A_SPHERE = ("great-circle", "haversine")
ROUNDED = ("rounded-euclidean", "great-circle")
# The metrics for which the distance to a box is a lower bound of the distances to all points in the
# box. They are neither rounded to integers nor measured on a sphere, and do not divide.
BOXED = ("euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "correlation")
# The metrics whose distances are neither rounded to integers nor measured on a sphere. Only with
# these metrics can points have core distances.
UNROUNDED = (*BOXED, *DIVIDED)
_TOO_FAR = 2.0**31  # a device stores rounded distances in 32 bits
_SUMMED_AT_ONCE = 1 << 20


def checked_coordinates(coordinates: Any, metric: Metric) -> tuple[Array, float, float]:
    """Convert coordinates to an array of shape (n, d), and return it with two magnitudes.

    The array is float64, except that an array that is mapped from a file keeps its dtype and stays
    in the file. The magnitudes are the greatest absolute value, and the least one other than 0.
    Raise InvalidGraphError if the coordinates are not finite real numbers, or have a shape that the
    metric does not take.
    """
    array = rows_of("coordinates", coordinates)
    stays = is_mapped(array) and array.dtype.kind in "biuf"
    if not stays:
        array = as_reals("coordinates", array)
    if array.size == 0 and array.ndim < 2:
        array = np.zeros((0, 2))
    if array.ndim != 2 or array.shape[1] == 0:
        remedy = of_one_dimension("coordinates") if array.ndim == 1 else ""
        raise InvalidGraphError(
            f"coordinates have shape {array.shape}; it must be (n, d), d > 0{remedy}"
        )
    if metric in ON_A_SPHERE and array.shape[1] != 2:
        raise InvalidGraphError(f"coordinates have shape {array.shape}; {metric} takes (n, 2)")
    if not stays:
        array = np.ascontiguousarray(array)
    greatest, least = magnitude.magnitudes(array)
    if not np.isfinite(greatest):
        check_finite(array)
    return array, greatest, least


def check_finite(rows: Array) -> None:
    """Raise InvalidGraphError unless all coordinates are finite. Each row is a point."""
    for some in passes(*rows.shape):
        if not are_finite(rows[some]):
            point, axis = np.argwhere(~np.isfinite(rows[some]))[0].tolist()
            point += some.start
            value = "NaN" if np.isnan(rows[point, axis]) else rows[point, axis]
            raise InvalidGraphError(
                f"coordinate {axis} of point {point} is {value}; all must be finite"
            )


def are_finite(rows: Array) -> bool:
    """Return whether all numbers of the two-dimensional array `rows` are finite.

    If a sum of numbers is finite, all of them are. Only if the sum is not finite is each number
    examined, which takes three times as long. Threads share large arrays.
    """
    runs = slices(len(rows), max(_SUMMED_AT_ONCE // max(rows.shape[1], 1), 1))

    def is_finite(some: slice) -> bool:
        piece = rows[some]
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(piece.sum()) or np.isfinite(piece).all())

    return all(in_threads(is_finite, runs))


def checked_core(given: Any, n: int, metric: Metric) -> npt.NDArray[np.float64]:
    """Return `given`, the core distances of n points, as float64, with -0.0 replaced by 0.0.

    Raise InvalidGraphError if there is not one for each point, or if one is negative or NaN. Raise
    InvalidArgumentError if the metric does not support core distances.
    """
    if metric not in UNROUNDED:
        raise InvalidArgumentError(
            f"core_distances are given for the metric {metric!r}; they go with "
            f"{', '.join(map(repr, UNROUNDED[:-1]))} and {UNROUNDED[-1]!r}"
        )
    core = np.ascontiguousarray(as_reals("core_distances", given))
    if core.shape != (n,):
        raise InvalidGraphError(
            f"core_distances have shape {core.shape}; there must be one for each of {n} points"
        )
    wrong = np.flatnonzero(~(core >= 0))
    if wrong.size:
        point = int(wrong[0])
        raise InvalidGraphError(f"core distance {point} is {core[point]}; none may be negative")
    return core + 0.0  # turns -0.0 into 0.0


def of_length_1(planes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scale each point, taken as a vector, to the length 1.

    `planes` and the result have one row for each dimension. Each point must have a coordinate other
    than 0. A point is first divided by its greatest absolute coordinate, so that no square
    overflows.
    """
    scaled = planes / np.abs(planes).max(axis=0)
    squares = np.zeros(planes.shape[1])
    for plane in scaled:
        squares = squares + plane * plane
    units: npt.NDArray[np.float64] = scaled / np.sqrt(squares)
    return units


def less_mean(planes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Subtract from each coordinate the mean of the coordinates of its point.

    `planes` and the result have one row for each dimension. Each point must have a coordinate other
    than 0. A point is first divided by its greatest absolute coordinate, so that no sum overflows.
    Then equal coordinates are 1 or -1, and their mean is exact.
    """
    scaled: npt.NDArray[np.float64] = planes / np.abs(planes).max(axis=0)
    sums = np.zeros(planes.shape[1])
    for plane in scaled:
        sums = sums + plane
    scaled -= sums / len(planes)
    return scaled


def check_directions(coordinates: Array, metric: Metric) -> None:
    """Raise InvalidGraphError for a point without a direction.

    For the metric "cosine", its coordinates are all 0. For "correlation", they are all equal.
    """
    for some in passes(*coordinates.shape):
        rows = coordinates[some]
        differs = rows if metric == "cosine" else rows != rows[:, :1]
        has_direction = differs.any(axis=1)
        if not has_direction.all():
            what = "0" if metric == "cosine" else "equal"
            raise InvalidGraphError(
                f"all coordinates of point {some.start + int(has_direction.argmin())} are {what}; "
                f"a point has a {metric} distance to others only if one of them is not"
            )


def check_degrees(coordinates: Array) -> None:
    """Raise InvalidGraphError unless coordinates are latitudes and longitudes in degrees."""
    for axis, (name, most) in enumerate((("latitude", 90), ("longitude", 360))):
        wrong = np.flatnonzero(np.abs(coordinates[:, axis], dtype=np.float64) > most)
        if wrong.size:
            point = int(wrong[0])
            raise InvalidGraphError(
                f"point {point} has the {name} {coordinates[point, axis]}; a point is latitude and "
                f"longitude in degrees, and a {name} goes from -{most} to {most}"
            )


def check_rounded_extent(coordinates: Array) -> None:
    """Raise InvalidGraphError if a rounded distance of `coordinates` may need more than 31 bits."""
    if coordinates.size == 0:
        return
    most, least = (f(axis=0).astype(np.float64) for f in (coordinates.max, coordinates.min))
    sides = most - least
    longest = float(np.sqrt((sides * sides).sum()))
    if not longest < _TOO_FAR - 1:
        raise InvalidGraphError(
            f"the points are up to {longest:g} apart; rounded distances must be below 2**31"
        )


def check_divided_core(
    core: npt.NDArray[np.float64], exponent: int, coordinates: npt.NDArray[np.float64]
) -> None:
    """Raise InvalidGraphError if dividing a core distance by ``2**exponent`` loses bits.

    `coordinates` are the points, for the message.
    """
    with np.errstate(over="ignore", under="ignore"):
        is_exact = np.ldexp(np.ldexp(core, -exponent), exponent) == core
    if not is_exact.all():
        point, greatest = int(is_exact.argmin()), float(np.abs(coordinates).max())
        low, high = magnitude.multiplied_range(exponent)
        raise InvalidGraphError(
            f"core distance {point} is {core[point]:.3g}, and coordinates go up to "
            f"{greatest:.3g}; with such coordinates it must be 0, or from {low:.3g} to {high:.3g}"
        )
