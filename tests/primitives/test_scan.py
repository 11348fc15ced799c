"""Scans: every length at which a share ends differently, every operator, every way of calling."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.primitives.chain import chains_by_itself
from clmst.primitives.monoid import Monoid
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
from tests.primitives.mistakes import APART, IN_PLACE, NO_ARRAY, assert_refused
from tests.primitives.shapes import (
    each_shape,
    lengths_for,
    put,
    small,
)
from tests.prove.primitives.operators import operator, reduced, scanned

SUM, LAST = operator("sum of u4"), operator("last of u4")
SCANS = ["exclusive_scan", "inclusive_scan"]
RTS = "reduce-then-scan"
AFFINE = "affine maps"  # an operator that does not commute: whatever changes places shows

# ----------------------------------------------------------------------------- results


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


# ------------------------------------------------------------------------------- errors

VALUES = np.arange(1000, dtype=np.uint32)


@pytest.mark.parametrize("function", [exclusive_scan, inclusive_scan])
def test_mistakes(any_device: Device, function: Any) -> None:
    """Among them arrays on another device, even if it is the same chip: another context."""
    given, out = (DeviceArray.from_host(VALUES, any_device) for _ in range(2))
    integers = DeviceArray.from_host(VALUES.astype(np.int32), any_device)
    elsewhere = DeviceArray.from_host(VALUES, Device(any_device.cl_device))
    part = given[384:900]
    halves = DeviceArray.from_host(np.zeros(10, np.float16), any_device)
    for no_array in (VALUES, [1, 2], None, b"1234"):
        kind = type(no_array).__name__
        mistake = (f"values is a {kind}; {NO_ARRAY}", {"values": no_array})
        assert_refused(function, {}, [mistake], given)
    mistakes: list[tuple[str, dict[str, Any]]] = [
        *(
            (message, {name: array})
            for name in ("out", "total")
            for message, array in (
                (f"{name} is a ndarray; {NO_ARRAY}", VALUES),
                (f"{name} is of int32; it must be of uint32", integers),
                (
                    f"{name} is on {elsewhere.device!r}, another array on {any_device!r}; all must "
                    "be in one context",
                    elsewhere,
                ),
            )
        ),
        ("out has 999 elements; it must have at least 1000", {"out": out[:999]}),
        ("total has 0 elements; it must have at least 1", {"total": out[:0]}),
        (f"out and values {IN_PLACE}", {"values": given[:500], "out": part}),
        (f"out and values {IN_PLACE}", {"values": given[384:700], "out": given[:400]}),
        (f"total and values {APART}", {"total": given[:1], "out": out}),
        (f"total and out {APART}", {"total": out[128:129], "out": out}),
        (f"total and values {APART}", {"total": given[:1], "out": given}),
        (
            "no strategy is called 'decoupled-look-back'; there are 'auto', 'reduce-then-scan', "
            "'scan-then-propagate', 'sequential'",
            {"strategy": "decoupled-look-back"},
        ),
        (
            "the monoid is of float32, values are of uint32; they must agree",
            {"monoid": Monoid.sum(np.float32)},
        ),
        (
            "scan-then-propagate has no total; it takes no `total`",
            {"total": out[:1], "out": given, "strategy": "scan-then-propagate"},
        ),
        ("elements are float16; they must be (u)int8,", {"values": halves}),
    ]
    assert_refused(function, {"values": given}, mistakes, given, out, integers, elsewhere)
