"""Segmented scans: segments of every kind, at every place where kernels begin something new."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.primitives.chain import chains_by_itself
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import segmented_scan
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from tests.primitives.mistakes import APART, IN_PLACE, NO_ARRAY, assert_refused
from tests.primitives.shapes import (
    crowded,
    each_shape,
    landmarks,
    lengths_for,
    put,
    small,
)
from tests.prove.primitives.operators import operator, scanned
from tests.strategies import Array

AFFINE, SUM = operator("affine maps"), operator("sum of u4")
PACKED = "flags in the values"

either = pytest.mark.parametrize("primitive", ["segmented_scan", "segmented_scan exclusive"])


def assert_scans(values: Array, heads: Array, device: Device, *, exclusive: bool) -> None:
    given, flags = put(device, values, heads.astype(np.uint8))
    found = segmented_scan(given, flags, exclusive=exclusive).to_host()
    np.testing.assert_array_equal(found, scanned(SUM, values, heads, exclusive=exclusive))


# ----------------------------------------------------------------------------- results


@each_shape
def test_single_heads(shape: Device) -> None:
    """One head, at the begin or end of a chunk, tile or share: what is before it is cut off."""
    device = small(shape)
    places = lengths_for(device, 4, segmented=True)
    values = SUM.draw(places[-1] + 5)
    for k, at in enumerate(places):
        heads = np.arange(values.size) == at
        assert_scans(values, heads, device, exclusive=k % 2 == 0)


@each_shape
def test_two_heads(shape: Device) -> None:
    """A segment that begins in one share and ends in another, with whole shares between them."""
    device = small(shape)
    places = sorted(landmarks(device, 4, segmented=True).values())
    values = SUM.draw(places[-1] + 5)
    for first in places:
        for second in places:
            heads = np.isin(np.arange(values.size), [first, second - 1])
            assert_scans(values, heads, device, exclusive=first < second)


@either
@each_shape
def test_more_work_groups_than_the_spine_takes_at_a_time(shape: Device, primitive: str) -> None:
    """With a segment over most of them, and with segments that end within one."""
    device = crowded(shape)
    length = landmarks(device, 4, segmented=True)["all shares"] - 3
    values = SUM.draw(length)
    for heads in (np.arange(length) == length // 9, np.arange(length) % 7919 == 3):
        assert_scans(values, heads, device, exclusive=primitive.endswith("exclusive"))


# ------------------------------------------------------------------------- packed flags


def test_sums_of_packed_values_may_reach_the_top_bit(any_device: Device) -> None:
    """What is combined is the lower bits; the results are no flags."""
    values = np.array([2**31 + 2**30, 2**30, 5, 2**31 + 7, 1], np.uint32)
    found = segmented_scan(DeviceArray.from_host(values, any_device))
    assert found.to_host().tolist() == [2**30, 2**31, 2**31 + 5, 7, 8]


# ------------------------------------------------------------------------ ways of calling


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
        launch = Launcher(device, device.queue)
        segmented_scan(given, flags, launch=launch, strategy="reduce-then-scan")
        assert launch.launches == (1 if length <= one_lane_group else 3)


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
            "no strategy is called 'scan-then-propagate'; there are 'parallel', "
            "'reduce-then-scan', 'sequential'",
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
