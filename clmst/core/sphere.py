"""Great-circle distances with reproducible bits, for TSPLIB's GEO and for decimal degrees.

In TSPLIB, coordinates are DDD.MM, degrees and minutes, and the distance on a sphere of radius
6378.388 km is ``int(6378.388 * acos(...) + 1)``. Cosines of different libraries differ in their
last bits, so this module does not use any. Polynomials, evaluated with additions and
multiplications only, map points to the unit sphere. The squared chord between two points is then
compared with the squared chords at which the number of kilometres changes. A distance differs from
TSPLIB's formula only if it is within about 1e-7 km of a whole number, where the formula itself
depends on the library's cosines.
"""

from __future__ import annotations

from math import factorial

import numpy as np
import numpy.typing as npt

RADIUS = 6378.388  # radius of the earth in kilometres, in TSPLIB's formula
PI = 3.141592  # the value in TSPLIB's formula
# Half the circumference of the earth in kilometres, rounded up. It must equal the macro
# GREAT_CIRCLE_STEPS of cl/device/distance.cl.
STEPS = 20039

EARTH_RADIUS = 637_100_880  # the mean radius of the earth in centimetres

Doubles = npt.NDArray[np.float64]

# A right angle, pi / 2, as the sum of two doubles.
_HALF_PI, _HALF_PI_REST = 1.5707963267948966, 6.123233995736766e-17
_TERMS = 10  # (pi / 4)**20 / 20! is below 2**-65


def sine_and_cosine(angles: Doubles) -> tuple[Doubles, Doubles]:
    """Return sines and cosines of angles in radians, exact to 2**-51.

    The angles may be a few times 2 pi at most.
    """
    quadrant = np.rint(angles / _HALF_PI)
    rest = (angles - quadrant * _HALF_PI) - quadrant * _HALF_PI_REST
    square = rest * rest
    sine, cosine = np.zeros_like(rest), np.zeros_like(rest)
    for k in range(_TERMS, -1, -1):
        sine = sine * square + (-1) ** k / factorial(2 * k + 1)
        cosine = cosine * square + (-1) ** k / factorial(2 * k)
    sine = sine * rest
    turn = quadrant.astype(np.int64) % 4
    sines = np.choose(turn, [sine, cosine, -sine, -cosine])
    cosines = np.choose(turn, [cosine, -sine, -cosine, sine])
    return sines, cosines


def _directions(radians: Doubles) -> Doubles:
    """Convert (latitude, longitude) in radians, shape (n, 2), to x, y, z on the unit sphere.

    The result has the shape (3, n).
    """
    (sine, sine_of_longitude), (cosine, cosine_of_longitude) = (
        part.T for part in sine_and_cosine(radians)
    )
    return np.stack([cosine * cosine_of_longitude, cosine * sine_of_longitude, sine])


def on_unit_sphere(coordinates: Doubles) -> Doubles:
    """Convert (latitude, longitude) in DDD.MM to x, y, z on the unit sphere, shape (3, n).

    `coordinates` has the shape (n, 2). DDD.MM stands for degrees and minutes.
    """
    degrees = np.trunc(coordinates)
    return _directions(PI * (degrees + 5.0 * (coordinates - degrees) / 3.0) / 180.0)


def squared_chords() -> Doubles:
    """Return the squared chords, on the unit sphere, of distances of 0, 1, 2, ... kilometres.

    The shape is (STEPS,).
    """
    half_angles = np.arange(STEPS, dtype=np.float64) / (2.0 * RADIUS)
    sines, _ = sine_and_cosine(half_angles)
    chords: Doubles = 4.0 * (sines * sines)
    return chords


# ------------------------------------------------------------------ decimal degrees


def on_earth(coordinates: Doubles) -> Doubles:
    """Convert (latitude, longitude) in decimal degrees to x, y, z in cm, shape (3, n).

    `coordinates` has the shape (n, 2).
    """
    return EARTH_RADIUS * _directions(coordinates * (np.pi / 180.0))


def kilometres(chords: npt.NDArray[np.int64]) -> Doubles:
    """Convert chords in whole centimetres to the lengths of the arcs on the Earth, in kilometres.

    Longer chords always have longer arcs. Chords that are longer than the diameter because of
    rounding give half the circumference. Only square roots, divisions and other exactly rounded
    operations are used, so the bits are the same everywhere.
    """
    half = np.minimum(chords / (2.0 * EARTH_RADIUS), 1.0)  # the sine of half the angle
    # First compute the tangent of a quarter of the angle. Each step of the loop halves the angle.
    tangent = half / (1.0 + np.sqrt((1.0 - half) * (1.0 + half)))
    for _ in range(2):  # the result is the tangent of a sixteenth of the angle
        tangent = tangent / (1.0 + np.sqrt(1.0 + tangent * tangent))
    square = tangent * tangent  # below 0.04, so 13 terms of the arctangent series are enough
    angle = np.zeros_like(square)
    for k in range(12, -1, -1):
        angle = angle * square + (-1) ** k / (2 * k + 1)
    arcs: Doubles = 16.0 * (angle * tangent) * (EARTH_RADIUS * 1e-5)
    return arcs
