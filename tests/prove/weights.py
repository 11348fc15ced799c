"""Weights of every dtype: what is easiest to get wrong in each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clmst.core.weight_keys import Array
from tests.prove.draws import Draws, by_name

DTYPES = ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")


def extremes(dtype: np.dtype[Any]) -> Array:
    """Return the greatest, the least and the odd values of a dtype, -0.0 beside 0.0."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        whole = np.iinfo(dtype)
        return np.array([whole.min, whole.min + 1, 0, 1, whole.max - 1, whole.max], dtype)
    info = np.finfo(dtype)
    tiny, least = info.smallest_normal, info.smallest_subnormal
    positive = np.array([0, least, tiny - least, tiny, 1, 1 + info.eps, info.max, np.inf], dtype)
    return np.concatenate([-positive[::-1], positive])


def any_bits(draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return weights of any bit pattern but NaN."""
    words = draws.words(m)
    if dtype.kind == "b":
        return (words & np.uint64(1)).astype(bool)
    weights = words.astype(f"u{dtype.itemsize}").view(dtype)
    return weights if dtype.kind != "f" else np.where(np.isnan(weights), dtype.type(0), weights)


def small(draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return integers from 0 to 5, from -5 in dtypes that have negative ones."""
    low = 5 if dtype.kind in "if" else 0
    return (draws.integers(6 + low, m) - low).astype(dtype)


def tied(draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return weights of two values."""
    return draws.pick(any_bits(draws, 2, dtype), m)


def equal(draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return weights that are all the same."""
    return np.repeat(any_bits(draws, 1, dtype), m)


def special(draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return extremes only."""
    return draws.pick(extremes(dtype), m)


def neighbours(draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return weights whose bit patterns are a few apart, about some pattern."""
    if dtype.kind == "b":
        return any_bits(draws, m, dtype)
    base = int(any_bits(draws, 1, dtype).view(f"u{dtype.itemsize}")[0])
    steps = draws.integers(max(m // 2, 4), m).astype(np.uint64)
    words = (steps + np.uint64(base)).astype(f"u{dtype.itemsize}")
    weights = words.view(dtype)
    return weights if dtype.kind != "f" else np.where(np.isnan(weights), dtype.type(1), weights)


def of_ranks(ranks: Array, dtype: np.dtype[Any]) -> Array:
    """Return weights that rise with ranks 0 .. m - 1, with ties where a dtype is too small."""
    m = max(ranks.size, 1)
    if dtype.kind == "b":
        return 2 * ranks >= m
    if dtype.kind == "f":
        return (ranks - m // 2).astype(dtype)
    info = np.iinfo(dtype)
    span = int(info.max) - int(info.min) + 1
    steps = ranks if m <= span else ranks * span // m
    return (steps + max(int(info.min), -(m // 2), -(1 << 62))).astype(dtype)


def rising(_draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return weights that rise along the edges."""
    return of_ranks(np.arange(m), dtype)


def falling(_draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return weights that fall along the edges."""
    return of_ranks(np.arange(m)[::-1], dtype)


def bit_reversed(_draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return the ranks with their bits in reverse order: what pairs up level by level."""
    bits = max(m - 1, 1).bit_length()
    indices = np.arange(m)
    reverse = np.zeros(m, np.int64)
    for bit in range(bits):
        reverse |= (indices >> bit & 1) << (bits - 1 - bit)
    return of_ranks(np.argsort(np.argsort(reverse, kind="stable"), kind="stable"), dtype)


def ruler(_draws: Draws, m: int, dtype: np.dtype[Any]) -> Array:
    """Return the number of trailing zero bits of 1, 2, 3, ...: most rounds of Boruvka on a path."""
    indices = np.arange(1, m + 1)
    zeros = np.zeros(m, np.int64)
    for bit in range(1, m.bit_length()):
        zeros += indices % (1 << bit) == 0
    return zeros.astype(dtype)


Weights = Callable[[Draws, int, np.dtype[Any]], Array]

RANDOM: dict[str, Weights] = by_name(small, tied, equal, special, neighbours, any_bits)
ORDERED: dict[str, Weights] = {
    **by_name(rising, falling), "bit-reversed": bit_reversed, "ruler": ruler,
}  # fmt: skip
