"""Doubles by operations on integers, for devices without doubles, against NumPy's doubles."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from clmst import Device
from clmst.runtime import source
from clmst.runtime.trial import (
    compute_with_doubles,
    conversions_of_doubles,
    results_of_doubles,
)
from tests.helpers.kernel_sources import changed
from tests.helpers.variants import Variant, each_of, native_variants

Array: TypeAlias = np.ndarray

SIGN, FRACTION = np.uint64(1 << 63), np.uint64((1 << 52) - 1)
# Numbers at which operations change: zeros, the ends of the ranges of doubles and floats and of
# their subnormal numbers, and numbers that are no numbers.
SPECIAL = np.array([
    0.0, 1.0, 2.0, 0.5, 3.0, 5e-324, 1e-323, 2.0**-1022, np.nextafter(2.0**-1022, 0),
    np.finfo(np.float64).max, 2.0**1023, np.inf, np.nan, 2.0**-126, 2.0**-149, 2.0**-150,
    3 * 2.0**-151, np.finfo(np.float32).max, 2.0**128 - 2.0**103, 2.0**128, 2.0**31, 2.0**32 - 1,
    1 + 2.0**-24, 1 + 3 * 2.0**-24, 1 + 2.0**-52, 2 - 2.0**-52,
])  # fmt: skip


def numbers(rng: np.random.Generator, n: int) -> Array:
    """Return doubles of all exponents, near 1, subnormal, with few or many bits, and special."""
    bits = rng.integers(0, 2**64, (3, n), dtype=np.uint64)
    exponents = rng.integers(1023 - 60, 1023 + 60, n).astype(np.uint64) << np.uint64(52)
    kinds = (
        bits[0],
        exponents | bits[0] & (SIGN | FRACTION),
        bits[0] & bits[1] & bits[2],
        bits[0] | bits[1] | bits[2],
        bits[0] & (SIGN | FRACTION),
        rng.choice(SPECIAL, n).view(np.uint64) | bits[0] & SIGN,
        rng.integers(-1000, 1000, n).astype(np.float64).view(np.uint64),
    )
    return np.choose(rng.integers(0, len(kinds), n), kinds).view(np.float64)


def pairs(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Return pairs of doubles, of which some are equal, nearly cancel, or differ by half a step."""
    a, b = numbers(rng, n), numbers(rng, n)
    kind, steps = rng.integers(0, 12, n), rng.integers(0, 4, n).astype(np.uint64)
    b = np.where(kind == 0, a, b)
    nearly = (a.view(np.uint64) ^ SIGN ^ steps).view(np.float64)
    b = np.where(kind == 1, nearly, b)
    with np.errstate(all="ignore"):
        half = np.ldexp(np.spacing(np.abs(a)), -rng.integers(0, 4, n)) * rng.choice([-1.0, 1.0], n)
        b = np.where(kind == 2, half, b)
        b = np.where(kind == 3, np.nextafter(half, rng.choice([0.0, np.inf], n)), b)
    return a, b


def wrong(device: Device, seed: int, n: int) -> Iterator[str]:
    """Yield the operations that the device computes wrongly without doubles, each with a pair."""
    a, b = pairs(np.random.default_rng(seed), n)
    with np.errstate(all="ignore"):
        expected = results_of_doubles(a, b)
        converted = conversions_of_doubles(a)
    found = compute_with_doubles(device, "trial_doubles_compute", (a, b), len(expected), DOUBLES=0)
    has_nan = np.isnan(a) | np.isnan(b)
    for (what, right), computed in zip(expected.items(), found, strict=True):
        is_right = are_same(computed, right)
        if what in ("a maximum", "a minimum"):  # IEEE 754 leaves the sign of a zero open
            is_right |= computed == right
        if what == "a minimum":
            is_right |= has_nan
        yield from first_wrong(what, is_right, a, b)
    found = compute_with_doubles(device, "trial_doubles_convert", (a,), len(converted), DOUBLES=0)
    for (what, right), computed in zip(converted.items(), found, strict=True):
        is_right = are_same(computed, right)
        if what == "an integer":
            is_right |= (computed == right) | ~((a >= 0) & (a < 2.0**32))
        yield from first_wrong(what, is_right, a, b)


def are_same(computed: Array, right: Array) -> Array:
    """Return where two arrays have the same bits, or a NaN each."""
    same_bits: Array = computed.view(np.uint64) == right.view(np.uint64)
    both_nan: Array = np.isnan(computed) & np.isnan(right)
    same_bits |= both_nan
    return same_bits


def first_wrong(what: str, is_right: Array, a: Array, b: Array) -> Iterator[str]:
    """Yield a text about the first wrong result, if there is any."""
    for i in np.flatnonzero(~is_right)[:1]:
        yield f"{what} of {a[i].hex()} and {b[i].hex()}"


@each_of(native_variants())
def test_the_bits_of_doubles(variant: Variant) -> None:
    assert list(wrong(variant.device, 0, 100_000)) == []


@pytest.mark.exhaustive
@each_of(native_variants())
@pytest.mark.parametrize("tenth", range(10))
def test_the_bits_of_a_hundred_million_doubles(variant: Variant, tenth: int) -> None:
    for seed in range(10 * tenth + 1, 10 * tenth + 11):
        assert list(wrong(variant.device, seed, 1_000_000)) == []


# Changes of real_integers.cl whose results differ from IEEE 754 in rare cases only.
WRONG = {
    "halves are rounded down": ("+ odd) >> 11", ") >> 11"),
    "lost bits of a sum": ("shifted | (ulong)(shifted << shift != value)", "shifted"),
    "lost bits of a product": ("upper | (ulong)(lower != 0)", "upper"),
    "lost bits of a quotient": ("quotient << 9 | (ulong)(rest != 0)", "quotient << 9"),
    "two zeros": ("REAL_MAGNITUDE) ^ sign) - sign", "REAL_MAGNITUDE) ^ sign)"),
    "floats are cut off": ("(kept & 0xfffffffffful) + 0x7ffffffffful + odd", "0ul"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_rare_mistakes_are_seen(any_device: Device, tmp_path: Path, what: str) -> None:
    with changed(tmp_path, WRONG[what], file="real_integers.cl"):
        assert list(wrong(Device(any_device.cl_device, _trusted=True), 0, 20_000)) != []


def test_constants_have_their_bits() -> None:
    """The bits of a constant, beside it, are those of the number."""
    found = [
        (path.name, number, int(bits, 16))
        for path in source.root().rglob("*.cl")
        for number, bits in re.findall(r"\bREAL\(([-+. \w]+), 0x(\w+)\)", path.read_text())
    ]
    assert len(found) == sum(
        len(re.findall(r"\bREAL\((?!value)", path.read_text()))
        for path in source.root().rglob("*.cl")
    )
    assert len(found) > 20
    for name, number, bits in found:
        terms = re.fullmatch(r"(\S+)(?: ([-+]) (\S+))?", number)
        assert terms is not None
        first, sign, second = terms.groups(default="0")
        value = number_of(first) + (-1 if sign == "-" else 1) * number_of(second)
        assert struct.unpack("<Q", struct.pack("<d", value)) == (bits,), (name, number)


def number_of(text: str) -> float:
    """Return the value of a decimal or hexadecimal number."""
    return float.fromhex(text) if "x" in text else float(text)
