"""Powers and roots of Minkowski's distance, with the same bits on the host and on every device.

The function `pow` of a C library rounds differently on every device. Here powers are computed by
multiplications and square roots only, for which IEEE 754 defines one result. A root is defined by
the powers, so its bits do not depend on how it is found. cl/device/power.cl computes the same
powers.
"""

from __future__ import annotations

from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from clmst.core.arguments import shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array

GREATEST_POWER = 64  # the powers of coordinates that differ much would leave the range of doubles
# The least normal double. Powers below it lose bits, so smaller sums have the root 0.
LEAST_NORMAL = 2.0**-1022
# The metrics that are Minkowski distances of a power, and are computed without powers and roots.
NAME_OF_POWER = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}


def checked_power(p: Any) -> float:
    """Return the power of Minkowski's distance as a float.

    Raises InvalidArgumentError unless `p` is a number from 1 to GREATEST_POWER, or infinity.
    """
    is_number = isinstance(p, Real) and not isinstance(p, bool | np.bool_)
    if not is_number or not (1 <= float(p) <= GREATEST_POWER or float(p) == np.inf):
        raise InvalidArgumentError(
            f"p is {shown(p)}; the metric 'minkowski' takes a number from 1 to {GREATEST_POWER}, "
            "or infinity"
        )
    return float(p)


def digits(p: float) -> tuple[int, int]:
    """Return the whole part of a power, and its fraction multiplied by 2**64.

    Both are exact integers, because a double from 1 on has at most 52 digits of a fraction.
    """
    whole = int(p)
    return whole, int((Fraction(p) - whole) * 2**64)


def power(bases: Array, p: float) -> Array:
    """Return each of the `bases`, which must not be negative, to the power `p`.

    The result is a product. For each binary digit 1 of the whole part of `p`, from the lowest on,
    it has a factor that is computed by repeated squaring. For each binary digit 1 of the fraction
    of `p`, from the highest on, it has a factor that is computed by repeated square roots. Each
    operation is rounded to the nearest double, and increases with its operands. So the result never
    falls when a base grows. The relative error is less than 2**-53 times the whole part of `p` plus
    twice the number of digits 1 of the fraction.
    """
    whole, fraction = digits(p)
    square, root = bases, bases
    result: Array | None = None
    with np.errstate(over="ignore", under="ignore"):
        while whole:
            if whole & 1:
                result = square if result is None else result * square
            whole >>= 1
            if whole:
                square = square * square
        assert result is not None, "the whole part is 1 or more"
        while fraction:
            root, fraction = np.sqrt(root), fraction << 1
            if fraction >> 64:
                result, fraction = result * root, fraction & (2**64 - 1)
    return result


def root(sums: Array, p: float) -> Array:
    """Return the root of each of the `sums`, which must not be negative, for the power `p`.

    The root is the greatest double whose :func:`power` is at most the sum. It is 0 for sums below
    the least normal double, and infinite for infinity. So it never falls when a sum grows. It
    differs from the exact root by a few units in the last place.
    """
    sums = np.asarray(sums, np.float64)
    is_usual = (sums >= LEAST_NORMAL) & (sums < np.inf)
    some = sums[is_usual]
    with np.errstate(over="ignore", under="ignore"):
        found = some ** (1 / p)
        of_found = power(found, p)
        found = found - (of_found - some) / (of_found / found * p)  # a step of Newton's method
        open_ = np.flatnonzero(power(found, p) > some)
        while open_.size:
            found[open_] = np.nextafter(found[open_], 0.0)
            open_ = open_[power(found[open_], p) > some[open_]]
        open_ = np.flatnonzero(power(np.nextafter(found, np.inf), p) <= some)
        while open_.size:
            found[open_] = np.nextafter(found[open_], np.inf)
            open_ = open_[power(np.nextafter(found[open_], np.inf), p) <= some[open_]]
    roots = np.where(sums < np.inf, 0.0, np.inf)
    roots[is_usual] = found
    return roots
