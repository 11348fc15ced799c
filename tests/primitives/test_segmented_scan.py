"""Segmented scans: segments of every kind, at every place where kernels begin something new."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as for_all

from clmst import Device
from clmst.primitives.chain import chains_by_itself
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import exclusive_scan, inclusive_scan, segmented_scan
from clmst.primitives.shares import STRATEGIES
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from tests.primitives.mistakes import APART, IN_PLACE, NO_ARRAY, assert_refused
from tests.primitives.operators import (
    AFFINE,
    SUM,
    Array,
    Operator,
    any_bits,
    assert_equal,
    draw,
    find,
    minimum_by_key,
    scanned,
)
from tests.primitives.shapes import (
    crowded,
    each_compiler,
    each_pair,
    each_shape,
    landmarks,
    lengths_for,
    small,
)
from tests.strategies import SegmentedValues, segments

TAIL = 5

either = pytest.mark.parametrize("exclusive", [True, False], ids=["exclusive", "inclusive"])


def lengths_of(device: Device, operator: Operator) -> list[int]:
    return lengths_for(device, operator.dtype.itemsize, segmented=True)


def flags_of(heads: Array) -> Array:
    """Return byte flags: any byte but 0 where there is a head."""
    return (heads * (1 + np.arange(heads.size) * 37 % 255)).astype(np.uint8)


def scan(operator: Operator, values: Array, heads: Array, device: Device, **options: Any) -> Array:
    given, flags = (DeviceArray.from_host(a, device) for a in (values, flags_of(heads)))
    return segmented_scan(given, flags, monoid=operator.monoid, **options).to_host()


def assert_scans(
    operator: Operator, values: Array, heads: Array, device: Device, *, exclusive: bool
) -> None:
    expected = scanned(operator, values, heads, exclusive=exclusive)
    assert_equal(scan(operator, values, heads, device, exclusive=exclusive), expected)


def random_heads(rng: np.random.Generator, length: int) -> Array:
    """Return heads: none, all, few or many of them, evenly or in clusters."""
    density = rng.choice([0, 0.001, 0.01, 0.1, 0.5, 0.9, 1])
    heads: Array = rng.random(length) < density
    if rng.random() < 0.3:
        period = rng.integers(2, 500)
        heads &= np.arange(length) % period < rng.integers(1, period)
    return heads


# ----------------------------------------------------------------------------- results


@each_shape
def test_random_segmentations(shape: Device) -> None:
    """Segments that end anywhere, through a hundred and more divisions of arrays of any length."""
    device = small(shape)
    longest = lengths_of(device, SUM)[-1]
    rng = np.random.default_rng(5)
    for k in range(120):
        length = int(rng.integers(1, longest + 1))
        heads = random_heads(rng, length)
        assert_scans(SUM, draw(SUM, length), heads, device, exclusive=k % 2 == 0)


@either
@each_shape
def test_every_length(shape: Device, *, exclusive: bool) -> None:
    device = small(shape)
    for length in lengths_of(device, SUM):
        heads = np.random.default_rng(length).random(length) < 0.05
        assert_scans(SUM, draw(SUM, length), heads, device, exclusive=exclusive)


@each_shape
def test_single_heads(shape: Device) -> None:
    """One head, at the begin or end of a chunk, tile or share: what is before it is cut off."""
    device = small(shape)
    places = lengths_of(device, SUM)
    values = draw(SUM, places[-1] + 5)
    for k, at in enumerate(places):
        heads = np.arange(values.size) == at
        assert_scans(SUM, values, heads, device, exclusive=k % 2 == 0)


@each_shape
def test_two_heads(shape: Device) -> None:
    """A segment that begins in one share and ends in another, with whole shares between them."""
    device = small(shape)
    places = sorted(landmarks(device, 4, segmented=True).values())
    values = draw(SUM, places[-1] + 5)
    for first in places:
        for second in places:
            heads = np.isin(np.arange(values.size), [first, second - 1])
            assert_scans(SUM, values, heads, device, exclusive=first < second)


@each_pair("segmented exclusive", "segmented inclusive")
def test_operators(shape: Device, operator: Operator, kind: str) -> None:
    device = small(shape)
    lengths = lengths_of(device, operator)
    for length, density in ((lengths[3], 0.3), (lengths[-1], 0), (lengths[-1], 0.02)):
        heads = np.random.default_rng(length).random(length) < density
        exclusive = kind == "segmented exclusive"
        assert_scans(operator, draw(operator, length), heads, device, exclusive=exclusive)


@either
@each_shape
def test_more_work_groups_than_the_spine_takes_at_a_time(shape: Device, *, exclusive: bool) -> None:
    """With a segment over most of them, and with segments that end within one."""
    device = crowded(shape)
    length = landmarks(device, 4, segmented=True)["all shares"] - 3
    values = draw(SUM, length)
    for heads in (np.arange(length) == length // 9, np.arange(length) % 7919 == 3):
        assert_scans(SUM, values, heads, device, exclusive=exclusive)


@each_shape
def test_one_segment_is_a_plain_scan(shape: Device) -> None:
    device = small(shape)
    values = draw(SUM, lengths_of(device, SUM)[-1])
    given = DeviceArray.from_host(values, device)
    plain = exclusive_scan(given).to_host(), inclusive_scan(given).to_host()
    for first in (0, 1):  # the first element begins a segment anyway
        heads = np.zeros(values.size, bool)
        heads[0] = first
        for exclusive, expected in zip((True, False), plain, strict=True):
            assert_equal(scan(SUM, values, heads, device, exclusive=exclusive), expected)


@each_shape
def test_segments_of_one(shape: Device) -> None:
    device = small(shape)
    values = draw(SUM, lengths_of(device, SUM)[-1])
    heads = np.ones(values.size, bool)
    assert_equal(scan(SUM, values, heads, device), values)
    assert not scan(SUM, values, heads, device, exclusive=True).any()


@for_all(case=segments())
@each_shape
def test_segments_are_scanned_one_by_one(shape: Device, case: SegmentedValues) -> None:
    """By definition, whatever the segments: against NumPy on each of them."""
    device = small(shape)
    parts = np.split(case.values, np.flatnonzero(case.heads[1:]) + 1)
    expected = np.concatenate([np.cumsum(part, dtype=np.uint32) for part in parts])
    inclusive = scan(SUM, case.values, case.heads, device)
    assert_equal(inclusive, expected)
    exclusive = scan(SUM, case.values, case.heads, device, exclusive=True)
    assert_equal(exclusive, expected - case.values)


def test_large(device: Device) -> None:
    values = draw(SUM, 2**20 + 7)
    heads = np.random.default_rng(1).random(values.size) < 1e-4
    sums = np.cumsum(values, dtype=np.uint32)
    starts = np.maximum.accumulate(np.where(heads, np.arange(values.size), 0))
    expected = sums - np.where(starts > 0, sums[starts - 1], 0).astype(np.uint32)
    assert_equal(scan(SUM, values, heads, device), expected)


@each_compiler
def test_results_larger_than_the_caches(plain: Device) -> None:
    """On a CPU they go past the caches, line by line, unless a share begins within a line."""
    device = small(plain)
    product, maximum = (find(name) for name in ("uint64 product", "float64 maximum"))
    for operator in (SUM, product, maximum if plain.capabilities.doubles else SUM):
        marks = landmarks(device, operator.dtype.itemsize, segmented=True)
        tiles = 2**20 // (marks["tile"] * operator.dtype.itemsize)
        for tiles_a_share in (tiles, tiles + 1):
            length = tiles_a_share * marks["all shares"] - 3
            heads = np.random.default_rng(length).random(length) < 1e-3
            assert_scans(operator, draw(operator, length), heads, device, exclusive=False)


# ------------------------------------------------------------------------- packed flags


def assert_scans_packed(dtype: str, device: Device, *, exclusive: bool) -> None:
    monoid = Monoid.maximum(dtype)
    maximum = Operator(
        monoid=monoid, combine=np.maximum, identity=np.zeros(1, dtype), draw=any_bits(dtype)
    )
    top = np.dtype(dtype).type(1 << (8 * monoid.dtype.itemsize - 1))
    rng = np.random.default_rng(7)
    for length in lengths_of(device, maximum):
        values, heads = draw(maximum, length) & ~top, random_heads(rng, length)
        packed = values | np.where(heads, top, 0).astype(dtype)
        expected = scanned(maximum, values, heads, exclusive=exclusive)
        given = DeviceArray.from_host(packed, device)
        result = segmented_scan(given, monoid=monoid, exclusive=exclusive)
        assert_equal(result.to_host(), expected)
        assert_equal(given.to_host(), packed)
        segmented_scan(given, monoid=monoid, exclusive=exclusive, out=given)
        assert_equal(given.to_host(), expected)


@each_shape
def test_packed_flags(shape: Device) -> None:
    """The top bit is a flag, and no part of the value."""
    assert_scans_packed("u4", small(shape), exclusive=False)


@each_compiler
def test_packed_flags_of_long_values(plain: Device) -> None:
    assert_scans_packed("u8", small(plain), exclusive=True)


def test_sums_of_packed_values_may_reach_the_top_bit(any_device: Device) -> None:
    """What is combined is the lower bits; the results are no flags."""
    values = np.array([2**31 + 2**30, 2**30, 5, 2**31 + 7, 1], np.uint32)
    found = segmented_scan(DeviceArray.from_host(values, any_device))
    assert found.to_host().tolist() == [2**30, 2**31, 2**31 + 5, 7, 8]


# ------------------------------------------------------------------------ ways of calling


@pytest.mark.parametrize("strategy", STRATEGIES)
@each_shape
def test_in_place_and_apart(shape: Device, strategy: str) -> None:
    """Neither the values nor the flags nor what lies behind the result may change."""
    device = small(shape)
    for length in lengths_of(device, AFFINE)[::3]:
        values, behind = draw(AFFINE, length), draw(AFFINE, TAIL, seed=1)
        flags = flags_of(np.random.default_rng(length).random(length) < 0.05)
        expected = scanned(AFFINE, values, flags, exclusive=False)
        given, heads = (DeviceArray.from_host(a, device) for a in (values, flags))
        out = DeviceArray.from_host(np.concatenate([values, behind]), device)
        options: dict[str, Any] = {"monoid": AFFINE.monoid, "strategy": strategy}
        assert_equal(segmented_scan(given, heads, out=out, **options).to_host(), expected)
        assert_equal(out.to_host(), np.concatenate([expected, behind]))
        assert_equal(given.to_host(), values)
        segmented_scan(given, heads, out=given, **options)
        assert_equal(given.to_host(), expected)
        assert_equal(heads.to_host(), flags)


def test_views(device: Device) -> None:
    """Values and flags from the middle of arrays, into the middle of one."""
    step = device.capabilities.buffer_alignment
    values = draw(SUM, 5 * step)
    flags = flags_of(np.random.default_rng(2).random(values.size) < 0.05)
    given, heads, out = (DeviceArray.from_host(a, device) for a in (values, flags, values))
    part = slice(step, 4 * step - 3)
    expected = values.copy()
    expected[part] = scanned(SUM, values[part], flags[part], exclusive=False)
    segmented_scan(given[part], heads[part], out=out[part])
    assert_equal(out.to_host(), expected)
    assert_equal(given.to_host(), values)


def test_three_launches_whatever_the_length(device: Device) -> None:
    device = small(device)
    one_lane_group = landmarks(device, 4, segmented=True)["one lane group"]
    for length in (0, 1, one_lane_group, one_lane_group + 1, 10**6):
        given = DeviceArray.from_host(np.zeros(length, np.uint32), device)
        flags = DeviceArray.from_host(np.zeros(length, np.uint8), device)
        launch = Launcher(device, device.queue)
        segmented_scan(given, flags, launch=launch)
        is_one = length <= one_lane_group or chains_by_itself(device)
        assert launch.launches == (1 if is_one else 3)


def test_rounded_sums_repeat(any_device: Device) -> None:
    device = small(any_device)
    values = np.random.default_rng(4).random(40_003, np.float32)
    heads = np.random.default_rng(4).random(values.size) < 0.001
    results = [
        segmented_scan(*(DeviceArray.from_host(a, device) for a in (values, flags_of(heads))))
        for _ in range(3)
    ]
    first = results[0].to_host()
    for other in results[1:]:
        assert_equal(other.to_host(), first)
    parts = np.split(values.astype("f8"), np.flatnonzero(heads[1:]) + 1)
    expected = np.concatenate([np.cumsum(part) for part in parts])
    tolerance = 4 * np.sqrt(max(map(len, parts))) * np.finfo(np.float32).eps
    np.testing.assert_allclose(first, expected, rtol=tolerance)


def test_lightest_of_each_row(any_device: Device) -> None:
    """What the primitives are for: the least (weight, slot) of each row of a graph."""
    device = small(any_device)
    operator = minimum_by_key(np.dtype("f4"))
    values = draw(operator, 3000)
    values["index"] = np.arange(values.size)
    heads = np.random.default_rng(3).random(values.size) < 0.01
    starts = np.flatnonzero(heads | (np.arange(values.size) == 0))
    last = np.append(starts[1:], values.size) - 1
    lightest = scan(operator, values, heads, device)[last]
    rows = np.split(values, starts[1:])
    expected = np.array([row[np.argmin(row["key"])] for row in rows], operator.dtype)
    assert_equal(lightest, expected)


# ------------------------------------------------------------------------------- errors

VALUES = np.arange(1000, dtype=np.uint32)
FLAGS = (VALUES % 7 == 0).astype(np.uint8)


def test_mistakes(any_device: Device) -> None:
    given, flags = (DeviceArray.from_host(array, any_device) for array in (VALUES, FLAGS))
    elsewhere = DeviceArray.from_host(FLAGS, Device(any_device.cl_device))
    part = given.view(np.uint8)[1024:1280]
    mistakes: list[tuple[str, dict[str, Any]]] = [
        *(
            (f"flags is of {np.dtype(dtype)}; it must be of uint8", {"flags": other})
            for dtype in (np.int8, np.uint32, bool)
            for other in [DeviceArray.from_host(FLAGS.astype(dtype), any_device)]
        ),
        *(
            (f"flags has {n} elements; it must have 1000", {"flags": other})
            for n in (0, 999, 1001)
            for other in [DeviceArray.from_host(np.ones(n, np.uint8), any_device)]
        ),
        (f"flags is a ndarray; {NO_ARRAY}", {"flags": FLAGS}),
        (f"flags is on {elsewhere.device!r}, another array on", {"flags": elsewhere}),
        (f"out and flags {APART}", {"values": given[:256], "flags": part, "out": given[256:512]}),
        (
            f"out and values {IN_PLACE}",
            {"values": given[:500], "flags": flags[:500], "out": given[128:628]},
        ),
        ("out has 999 elements; it must have at least 1000", {"out": given[:999]}),
        (
            "no strategy is called 'scan-then-propagate'; there are 'parallel', 'sequential'",
            {"strategy": "scan-then-propagate"},
        ),
        (
            f"the monoid is of {AFFINE.dtype}, values are of uint32; they must agree",
            {"monoid": AFFINE.monoid},
        ),
    ]
    right = {"values": given, "flags": flags, "out": given}
    assert_refused(segmented_scan, right, mistakes, given, flags)


@pytest.mark.parametrize("dtype", ["i4", "f4", "i8", "f8", Monoid.minimum_by_key("u4").dtype])
def test_no_flags_with_values_that_cannot_hold_them(any_device: Device, dtype: Any) -> None:
    given = DeviceArray.from_host(np.zeros(10, dtype), any_device)
    message = (
        f"there are no flags, and values are of {given.dtype}; flags are packed into the top bits "
        "of unsigned integers only"
    )
    assert_refused(segmented_scan, {"values": given, "out": given}, [(message, {})], given)
