"""Great-circle distances, bitwise reproducible: as TSPLIB defines them, and of decimal degrees.

TSPLIB: coordinates are DDD.MM, degrees and minutes; the distance on a sphere of 6378.388 km is
``int(6378.388 * acos(...) + 1)``. Cosines of two libraries differ in their last bits, so none is
used here. Polynomials, which take additions and multiplications only, put points on the unit
sphere. Squared chords are then compared with those at which the kilometres change. A distance
differs from TSPLIB's formula only if it is within some 1e-7 km of a whole number; there the formula
itself depends on the library's cosines.
"""

from __future__ import annotations

from math import factorial

import numpy as np
import numpy.typing as npt

RADIUS = 6378.388  # kilometres
PI = 3.141592  # TSPLIB's
# Half the circumference: GREAT_CIRCLE_STEPS of cl/device/distance.cl.
STEPS = 20039

EARTH_RADIUS = 637_100_880  # centimetres: the mean radius of the earth

Doubles = npt.NDArray[np.float64]

# Half a right angle as the sum of two doubles.
_HALF_PI, _HALF_PI_REST = 1.5707963267948966, 6.123233995736766e-17
_TERMS = 10  # (pi / 4)**20 / 20! is below 2**-65


def sine_and_cosine(angles: Doubles) -> tuple[Doubles, Doubles]:
    """Return sines and cosines of angles in radians, at most a few times 2 pi; exact to 2**-51."""
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
    """Return points (latitude, longitude) as x, y and z on the unit sphere, shape (3, n)."""
    (sine, sine_of_longitude), (cosine, cosine_of_longitude) = (
        part.T for part in sine_and_cosine(radians)
    )
    return np.stack([cosine * cosine_of_longitude, cosine * sine_of_longitude, sine])


def on_unit_sphere(coordinates: Doubles) -> Doubles:
    """Return points (latitude, longitude) in DDD.MM as x, y and z, shape (3, n)."""
    degrees = np.trunc(coordinates)
    return _directions(PI * (degrees + 5.0 * (coordinates - degrees) / 3.0) / 180.0)


def squared_chords() -> Doubles:
    """Return the squared chord of each whole number of kilometres from 0 on, shape (STEPS,)."""
    half_angles = np.arange(STEPS, dtype=np.float64) / (2.0 * RADIUS)
    sines, _ = sine_and_cosine(half_angles)
    chords: Doubles = 4.0 * (sines * sines)
    return chords


# ------------------------------------------------------------------ decimal degrees


def on_earth(coordinates: Doubles) -> Doubles:
    """Return points (latitude, longitude) in decimal degrees as x, y, z in cm, shape (3, n)."""
    return EARTH_RADIUS * _directions(coordinates * (np.pi / 180.0))


def kilometres(chords: npt.NDArray[np.int64]) -> Doubles:
    """Return the arcs over chords in whole centimetres; rising strictly with them.

    Chords that rounding makes longer than the diameter stand for half the circumference. Square
    roots and divisions only: as all else here, it has the same bits everywhere.
    """
    half = np.minimum(chords / (2.0 * EARTH_RADIUS), 1.0)  # the sine of half the angle
    tangent = half / (1.0 + np.sqrt((1.0 - half) * (1.0 + half)))  # of a quarter
    for _ in range(2):  # then of a sixteenth
        tangent = tangent / (1.0 + np.sqrt(1.0 + tangent * tangent))
    square = tangent * tangent  # below 0.04: 13 terms of the series of the arcus tangent
    angle = np.zeros_like(square)
    for k in range(12, -1, -1):
        angle = angle * square + (-1) ** k / (2 * k + 1)
    arcs: Doubles = 16.0 * (angle * tangent) * (EARTH_RADIUS * 1e-5)
    return arcs
