"""Scans, segmented scans and reductions: heads, roundings, launches, operators that fail.

What they return of every length and operator is in ``test_results.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from clmst import Device, KernelBuildError
from clmst.primitives.chain import chains_by_itself
from clmst.primitives.scan import (
    _BLOCK_TILES,
    SCAN_STRATEGIES,
    exclusive_scan,
    inclusive_scan,
    reduce,
    segmented_scan,
)
from clmst.primitives.shares import Shares, tile_and_lane_groups
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher, Profile
from clmst.runtime.specialisation import Prelude
from tests.helpers.strategies import Array
from tests.primitives.shapes import (
    crowded,
    each_compiler,
    each_shape,
    landmarks,
    lengths_for,
    put,
    small,
)
from tests.prove.primitives.operators import operator, reduced, scanned

SUM, LAST = operator("sum of u4"), operator("last of u4")


@each_shape
def test_levels_of_propagation(shape: Device) -> None:
    """Totals of more blocks than fit a block; each level but the last has what puts them back."""
    tile, _ = tile_and_lane_groups(shape, 4)
    block = _BLOCK_TILES * tile
    for length in (block, block + 1, min(block**2 + 1, 2**20 + 1)):
        values = LAST.draw(length)
        given = DeviceArray.from_host(values, shape)
        launch = Launcher(shape, shape.queue)
        options: dict[str, Any] = {"monoid": LAST.monoid, "strategy": "scan-then-propagate"}
        result = inclusive_scan(given, launch=launch, **options)
        expected = scanned(LAST, values, None, exclusive=False)
        assert result.to_host().tolist() == expected.tolist()
        levels = 1 if length <= block else 2 if length <= block**2 else 3
        assert launch.launches == 2 * levels - 1


def within_segments(values: DeviceArray) -> DeviceArray:
    """Return a scan within segments of 997 elements."""
    heads = (np.arange(values.size) % 997 == 0).astype(np.uint8)
    return segmented_scan(values, *put(values.device, heads))


@pytest.mark.parametrize("function", [reduce, inclusive_scan, within_segments])
@each_shape
def test_rounded_sums_repeat(shape: Device, function: Callable[..., DeviceArray]) -> None:
    """Rounding depends on the order of additions, which depends on the length and device only."""
    device = small(shape)
    values = np.random.default_rng(4).random(40_003, np.float32)
    first, *others = (function(*put(device, values)).to_host() for _ in range(4))
    assert all(np.array_equal(first, other) for other in others)
    sums = np.cumsum(values.astype("f8"))
    last = values[-(values.size % 997) :] if function is within_segments else values
    expected = last.sum(dtype="f8")
    tolerance = 4 * np.sqrt(values.size) * np.finfo(np.float32).eps
    np.testing.assert_allclose(first[-1], expected, rtol=tolerance)
    if function is inclusive_scan:
        np.testing.assert_allclose(first, sums, rtol=tolerance)


# ------------------------------------------------------------------------ ways of calling


@each_shape
def test_sum_is_the_default(shape: Device) -> None:
    given = DeviceArray.from_host(np.array([3, 1, 4, 1, 5], np.uint32), shape)
    assert exclusive_scan(given).to_host().tolist() == [0, 3, 4, 8, 9]
    assert inclusive_scan(given).to_host().tolist() == [3, 4, 8, 9, 14]
    for strategy in SCAN_STRATEGIES:
        longer = DeviceArray.empty(9, np.uint32, shape)
        found = inclusive_scan(given, out=longer, strategy=strategy)
        assert found.to_host().tolist() == [3, 4, 8, 9, 14]


def test_parts_of_one_array_that_lie_apart(device: Device) -> None:
    """Input, output and total of one buffer, without a byte in common."""
    step = device.capabilities.buffer_alignment // 4
    values = SUM.draw(7 * step)
    whole = DeviceArray.from_host(values, device)
    parts = whole[: 3 * step], whole[3 * step : 6 * step], whole[6 * step : 6 * step + 1]
    exclusive_scan(parts[0], out=parts[1], total=parts[2])
    expected = values.copy()
    expected[3 * step : 6 * step] = scanned(SUM, values[: 3 * step], None, exclusive=True)
    expected[6 * step] = reduced(SUM, values[: 3 * step])[0]
    assert whole.to_host().tolist() == expected.tolist()


def test_three_launches_whatever_the_length(device: Device) -> None:
    device = small(device)
    total = DeviceArray.empty(1, np.uint32, device)
    for length in (*lengths_for(device, 4), 10**6):
        given = DeviceArray.empty(length, np.uint32, device)
        alone = Shares.divide(device, length, 4).alone
        launch = Launcher(device, device.queue)
        exclusive_scan(given, launch=launch, strategy="reduce-then-scan")
        assert launch.launches == (1 if alone else 3)
        exclusive_scan(given, total=total, launch=launch, strategy="reduce-then-scan")
        assert launch.launches == (4 if alone else 6)


@each_shape
def test_given_queue_is_worked_in(shape: Device) -> None:
    """Every launch of every strategy goes to the launcher's queue, and so into its profile."""
    device = small(shape)
    values = SUM.draw(50_000)
    given = DeviceArray.from_host(values, device)
    profile = Profile()
    launch = Launcher(device, device.profiling_queue, profile)
    results = [exclusive_scan(given, strategy=s, launch=launch) for s in SCAN_STRATEGIES]
    device.profiling_queue.finish()
    right = scanned(SUM, values, None, exclusive=True)
    assert all(np.array_equal(result.to_host(), right) for result in results)
    launches = {name: time.launches for name, time in profile.summary().items()}
    chained = int(chains_by_itself(device))
    assert launches.pop("scan_chain_tiles", 0) == launches.pop("(fill)", 0) == chained
    assert launches.pop("scan_write_ranges") == 3 - chained
    assert launches.pop("scan_propagate_scan_blocks") > 1
    assert launches.keys() == {
        "scan_reduce_ranges",
        "scan_scan_spine",
        "scan_propagate_add_totals",
    }


def test_several_threads_on_one_device(device: Device) -> None:
    """Kernels carry their arguments, and carries come from a pool: none must be mixed up."""
    device = small(device)
    lengths = [10_000 + 997 * k for k in range(12)]

    def is_right(length: int) -> bool:
        values = SUM.draw(length)
        given = DeviceArray.from_host(values, device)
        total = DeviceArray.empty(1, np.uint32, device)
        scans = [inclusive_scan(given, total=total).to_host() for _ in range(5)]
        expected = np.cumsum(values, dtype=np.uint32)
        return total.to_host()[0] == expected[-1] and all(
            np.array_equal(s, expected) for s in scans
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(is_right, lengths))


# --------------------------------------------------------------------------------------- segments


def assert_scans(values: Array, heads: Array, device: Device, *, exclusive: bool) -> None:
    given, flags = put(device, values, heads.astype(np.uint8))
    found = segmented_scan(given, flags, exclusive=exclusive).to_host()
    np.testing.assert_array_equal(found, scanned(SUM, values, heads, exclusive=exclusive))


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


@each_shape
def test_more_work_groups_than_the_spine_takes_at_a_time(shape: Device) -> None:
    """With a segment over most of them, and with segments that end within one."""
    device = crowded(shape)
    places = np.arange(landmarks(device, 4, segmented=True)["all shares"] - 3)
    for heads in (places == places.size // 9, places % 7919 == 3):
        for exclusive in (False, True):
            assert_scans(SUM.draw(places.size), heads, device, exclusive=exclusive)


def test_sums_of_packed_values_may_reach_the_top_bit(any_device: Device) -> None:
    """What is combined is the lower bits; the results are not flags."""
    values = np.array([2**31 + 2**30, 2**30, 5, 2**31 + 7, 1], np.uint32)
    found = segmented_scan(DeviceArray.from_host(values, any_device))
    assert found.to_host().tolist() == [2**30, 2**31, 2**31 + 5, 7, 8]


# ------------------------------------------------------------------------ ways of calling


def test_three_launches_for_segments(device: Device) -> None:
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


# ------------------------------------------------------------------------------------- reductions


VALUES = np.arange(1000, dtype=np.uint32)


def test_two_launches_whatever_the_length(device: Device) -> None:
    for length in (0, 1, 10_000, 10**6):
        launch = Launcher(device, device.queue)
        reduce(DeviceArray.empty(length, np.uint32, device), launch=launch)
        assert launch.launches == 2


@each_compiler
def test_element_of_another_size_does_not_compile(plain: Device) -> None:
    """An operator of other elements than the arrays have would read behind them."""
    prelude = Prelude(name="wide", text="#define T ulong\n#define T_BYTES 4")
    with pytest.raises(KernelBuildError, match="monoid_element_has_the_size_of_its_dtype"):
        plain.program("primitives/scan.cl", prelude)
