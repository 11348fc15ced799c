"""Sums of weights: exact for integers, correctly rounded for floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from clmst.core.weight_keys import Array


def exact_sum(weights: Array) -> int | float:
    """Sum `weights` exactly (bool and integers) or correctly rounded to float64 (floats)."""
    if weights.dtype.kind in "bui" and weights.dtype.itemsize <= 4:
        # Fewer than 2**32 of less than 2**32, or of at most 2**31 either way: neither overflows.
        return int(weights.sum(dtype=np.int64 if weights.dtype.kind == "i" else np.uint64))
    if weights.dtype.kind in "bu":
        return _sum_unsigned(weights.astype(np.uint64))
    if weights.dtype.kind == "i":
        sign = np.uint64(1 << 63)
        shifted = weights.astype(np.int64).view(np.uint64) ^ sign  # w + 2**63
        return _sum_unsigned(shifted) - (weights.size << 63)
    return _rounded_sum(weights)


def _rounded_sum(weights: Array) -> float:
    values = weights.astype(np.float64)
    special = values[~np.isfinite(values)]
    if special.size:
        with np.errstate(invalid="ignore"):
            return float(special.sum())  # an infinity, or NaN of both
    try:
        return math.fsum(values)
    except OverflowError:  # in a partial sum; the sum itself may be in range
        total = sum(map(Fraction, values.tolist()), Fraction(0))
        try:
            return float(total)
        except OverflowError:
            return math.inf if total > 0 else -math.inf


def _sum_unsigned(words: npt.NDArray[np.uint64]) -> int:
    """Sum 64-bit words without overflow, by halves; exact below 2**32 words."""
    low = int((words & np.uint64(0xFFFFFFFF)).sum(dtype=np.uint64))
    high = int((words >> np.uint64(32)).sum(dtype=np.uint64))
    return (high << 32) + low
