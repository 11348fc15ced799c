"""Scans: every length at which a share ends differently, every operator, every way of calling."""

from __future__ import annotations

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
    ScanStrategy,
    exclusive_scan,
    inclusive_scan,
)
from clmst.primitives.shares import Shares, tile_and_lane_groups
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher, Profile
from tests.primitives.mistakes import APART, IN_PLACE, NO_ARRAY, assert_refused
from tests.primitives.operators import (
    AFFINE,
    FIRST,
    LAST,
    OPERATORS,
    SUM,
    Operator,
    assert_equal,
    draw,
    find,
    reduced,
    scanned,
)
from tests.primitives.scan_cases import scans
from tests.primitives.shapes import (
    SPINE_ITEMS,
    crowded,
    each_compiler,
    each_pair,
    each_shape,
    landmarks,
    lengths_for,
    small,
)

each_strategy = pytest.mark.parametrize("strategy", SCAN_STRATEGIES)


# --------------------------------------------------------------------- what is compared to


@pytest.mark.parametrize("operator", [SUM, FIRST, *OPERATORS], ids=lambda operator: operator.name)
def test_reference(operator: Operator) -> None:
    """Results are compared to what NumPy finds by doubling: here that, by definition."""
    values = draw(operator, 37)
    heads = np.arange(values.size) % 11 == 3
    combined = [operator.identity]
    exclusive, inclusive, within = [], [], []
    run = operator.identity
    for value, head in zip(values.reshape(-1, 1), heads, strict=True):
        exclusive.append(combined[-1])
        combined.append(operator.combine(combined[-1], value))
        inclusive.append(combined[-1])
        run = value if head else operator.combine(run, value)
        within.append(run)
    assert_equal(scanned(operator, values, exclusive=True), np.concatenate(exclusive))
    assert_equal(scanned(operator, values, exclusive=False), np.concatenate(inclusive))
    assert_equal(scanned(operator, values, heads, exclusive=False), np.concatenate(within))
    before = np.where(heads, operator.identity, np.concatenate([operator.identity, *within[:-1]]))
    assert_equal(scanned(operator, values, heads, exclusive=True), before)
    assert_equal(reduced(operator, values), combined[-1])
    assert_equal(reduced(operator, values[:0]), operator.identity)
    assert_equal(scanned(operator, values[:0], exclusive=True), values[:0])


# ----------------------------------------------------------------------------- results


def test_every_length(device: Device) -> None:
    """A chunk, tile, share or work-group that is just filled, or not, must lose nothing."""
    device = small(device)
    for length in lengths_for(device, 4):
        assert scans(SUM, draw(SUM, length), device, exclusive=True, strategy="reduce-then-scan")


@each_shape
def test_every_length_inclusive(shape: Device) -> None:
    device = small(shape)
    for length in lengths_for(device, 4):
        assert scans(SUM, draw(SUM, length), device, exclusive=False, strategy="reduce-then-scan")


@each_strategy
@each_shape
def test_every_length_in_order(shape: Device, strategy: ScanStrategy) -> None:
    """An operator that does not commute: whatever changes places shows."""
    device = small(shape)
    for length in lengths_for(device, AFFINE.dtype.itemsize):
        values = draw(AFFINE, length)
        assert scans(AFFINE, values, device, exclusive=True, strategy=strategy)


@each_pair("exclusive", "inclusive")
def test_operators(shape: Device, operator: Operator, kind: str) -> None:
    device = small(shape)
    lengths = lengths_for(device, operator.dtype.itemsize)
    exclusive = kind == "exclusive"
    for length in (lengths[3], lengths[-1]):
        values = draw(operator, length)
        assert scans(operator, values, device, exclusive=exclusive, strategy="reduce-then-scan")


@pytest.mark.parametrize("strategy", SCAN_STRATEGIES[1:])
@each_shape
def test_inclusive_by_other_strategies(shape: Device, strategy: ScanStrategy) -> None:
    device = small(shape)
    values = draw(LAST, lengths_for(device, 4)[-1])
    assert scans(LAST, values, device, exclusive=False, strategy=strategy)


def test_many_tiles_a_share(device: Device) -> None:
    values = draw(SUM, 2**20 + 7)
    given = DeviceArray.from_host(values, device)
    expected = np.cumsum(values, dtype=np.uint32) - values
    assert_equal(exclusive_scan(given).to_host(), expected)


@each_compiler
def test_results_larger_than_the_caches(plain: Device) -> None:
    """On a CPU they go past the caches, line by line; the last line is not full."""
    device = small(plain)
    for operator in (SUM, find("uint64 product")):
        marks = landmarks(device, operator.dtype.itemsize)
        tiles = 2**20 // (marks["tile"] * operator.dtype.itemsize)
        length = (tiles + 1) * marks["all shares"] - 3
        values = draw(operator, length)
        assert scans(operator, values, device, exclusive=True, strategy="reduce-then-scan")


@each_shape
def test_levels_of_propagation(shape: Device) -> None:
    """Totals of more blocks than fit a block; each level but the last has what puts them back."""
    tile, _ = tile_and_lane_groups(shape, 4)
    block = _BLOCK_TILES * tile
    for length in (block, block + 1, min(block**2 + 1, 2**20 + 1)):
        values = draw(LAST, length)
        given = DeviceArray.from_host(values, shape)
        launch = Launcher(shape, shape.queue)
        options: dict[str, Any] = {"monoid": LAST.monoid, "strategy": "scan-then-propagate"}
        result = inclusive_scan(given, launch=launch, **options)
        assert_equal(result.to_host(), scanned(LAST, values, exclusive=False))
        levels = 1 if length <= block else 2 if length <= block**2 else 3
        assert launch.launches == 2 * levels - 1


@each_shape
def test_more_work_groups_than_the_spine_takes_at_a_time(shape: Device) -> None:
    """Their totals are scanned in several tiles; nothing may be lost between those."""
    device = crowded(shape)
    for operator in (SUM, AFFINE):
        length = landmarks(device, operator.dtype.itemsize)["all shares"] - 3
        shares = Shares.divide(device, length, operator.dtype.itemsize)
        assert shares.groups > SPINE_ITEMS * device.policy.work_group_size // shares.lane_groups
        values = draw(operator, length)
        assert scans(operator, values, device, exclusive=True, strategy="reduce-then-scan")


@each_shape
def test_rounded_sums_repeat(shape: Device) -> None:
    """Rounding depends on the order of additions, which depends on the length and device only."""
    device = small(shape)
    values = np.random.default_rng(4).random(40_003, np.float32)
    given = DeviceArray.from_host(values, device)
    first = exclusive_scan(given).to_host()
    for _ in range(3):
        out = DeviceArray.from_host(values, device)
        assert_equal(exclusive_scan(out, out=out).to_host(), first)
    expected = np.concatenate([[0], np.cumsum(values.astype("f8"))[:-1]])
    tolerance = 4 * np.sqrt(values.size) * np.finfo(np.float32).eps
    np.testing.assert_allclose(first, expected, rtol=tolerance)


# ------------------------------------------------------------------------ ways of calling


@each_shape
def test_sum_is_the_default(shape: Device) -> None:
    given = DeviceArray.from_host(np.array([3, 1, 4, 1, 5], np.uint32), shape)
    assert exclusive_scan(given).to_host().tolist() == [0, 3, 4, 8, 9]
    assert inclusive_scan(given).to_host().tolist() == [3, 4, 8, 9, 14]


@each_strategy
@each_shape
def test_views(shape: Device, strategy: ScanStrategy) -> None:
    """From the middle of an array into the middle of another one, and of itself."""
    step = shape.capabilities.buffer_alignment // 4
    values = draw(SUM, 9 * step)
    given = DeviceArray.from_host(values, shape)
    out = DeviceArray.from_host(values, shape)
    part = slice(2 * step, 7 * step + 3)
    expected = values.copy()
    expected[part] = scanned(SUM, values[part], exclusive=True)
    result = exclusive_scan(given[part], out=out[part], strategy=strategy)
    assert_equal(result.to_host(), expected[part])
    assert_equal(out.to_host(), expected)
    assert_equal(given.to_host(), values)
    exclusive_scan(given[part], out=given[part], strategy=strategy)
    assert_equal(given.to_host(), expected)


def test_parts_of_one_array_that_lie_apart(device: Device) -> None:
    """Input, output and total of one buffer, without a byte in common."""
    step = device.capabilities.buffer_alignment // 4
    values = draw(SUM, 7 * step)
    whole = DeviceArray.from_host(values, device)
    parts = whole[: 3 * step], whole[3 * step : 6 * step], whole[6 * step : 6 * step + 1]
    exclusive_scan(parts[0], out=parts[1], total=parts[2])
    expected = values.copy()
    expected[3 * step : 6 * step] = scanned(SUM, values[: 3 * step], exclusive=True)
    expected[6 * step] = reduced(SUM, values[: 3 * step])[0]
    assert_equal(whole.to_host(), expected)


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
    values = draw(SUM, 50_000)
    given = DeviceArray.from_host(values, device)
    profile = Profile()
    launch = Launcher(device, device.profiling_queue, profile)
    results = [exclusive_scan(given, strategy=s, launch=launch) for s in SCAN_STRATEGIES]
    device.profiling_queue.finish()
    for result in results:
        assert_equal(result.to_host(), scanned(SUM, values, exclusive=True))
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
        values = draw(SUM, length)
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
