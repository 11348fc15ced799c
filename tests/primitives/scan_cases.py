"""Small cases of reduce and scan for Oclgrind, the broadest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from clmst import Device
from clmst.primitives.scan import (
    ScanStrategy,
    exclusive_scan,
    inclusive_scan,
    reduce,
    segmented_scan,
)
from clmst.runtime.array import DeviceArray
from tests.primitives.operators import (
    AFFINE,
    FIRST,
    MATRICES,
    OPERATORS,
    SUM,
    Array,
    Operator,
    minimum_by_key,
    reduced,
    scanned,
)
from tests.primitives.selections import same
from tests.primitives.shapes import landmarks

TAIL = 3


def cases() -> Iterator[tuple[str, Callable[[Device], bool]]]:
    """Yield the name of each case, and what returns whether a device does it right."""
    yield "scan in several shares", partial(scan_is_right, AFFINE, at="all shares", more=-5)
    yield (
        "segments in several shares",
        partial(segments_are_right, MATRICES, at="one lane group", more=9),
    )
    yield "sum in several shares", partial(reduce_is_right, SUM, at="one lane group", more=7)
    for at, ends in {
        "chunk": [1],
        "row": [1],
        "tile": [-1, 0, 1],
        "one lane group": [0, 1],
    }.items():
        for more in ends:
            yield f"scan of {at} {more:+}", partial(scan_is_right, AFFINE, at=at, more=more)
    for at in ("tile", "one lane group"):
        for more in (0, 1):
            yield f"sum of {at} {more:+}", partial(reduce_is_right, SUM, at=at, more=more)
            yield f"segments of {at} {more:+}", partial(segments_are_right, FIRST, at=at, more=more)
    for at in ("tile", "work-group"):
        yield f"packed segments of {at}", partial(packed_segments_are_right, at=at)
    for strategy in ("sequential", "scan-then-propagate"):
        yield (
            strategy,
            partial(scan_is_right, AFFINE, at="one lane group", more=3, strategy=strategy),
        )
    for operator in OPERATORS[2:]:
        yield operator.name, partial(scan_in_place_is_right, operator, at="tile", more=3)
    keyed = minimum_by_key(np.dtype("f4"))
    yield "segments by key", partial(segments_are_right, keyed, at="one lane group", more=3)
    yield "results larger than the caches", large_results_are_right
    yield "nothing", nothing_is_right


def _values(operator: Operator, device: Device, at: str, more: int) -> Array:
    length = landmarks(device, operator.dtype.itemsize)[at] + more
    return operator.draw(np.random.default_rng(length), max(length, 0))


def scans(
    operator: Operator,
    values: Array,
    device: Device,
    *,
    exclusive: bool,
    strategy: ScanStrategy,
    then_exclusive: bool | None = None,
) -> bool:
    """Scan out of place with a total and a tail behind the result, and then in place."""
    then_exclusive = exclusive if then_exclusive is None else then_exclusive
    given = DeviceArray.from_host(values, device)
    behind = operator.draw(np.random.default_rng(0), TAIL)
    out = DeviceArray.from_host(np.concatenate([values, behind]), device)
    total = None
    if strategy != "scan-then-propagate":
        total = DeviceArray.from_host(behind[:2], device)
    options: dict[str, Any] = {"monoid": operator.monoid, "strategy": strategy}
    apart, within = (
        exclusive_scan if one else inclusive_scan for one in (exclusive, then_exclusive)
    )
    result = apart(given, out=out, total=total, **options)
    expected = scanned(operator, values, exclusive=exclusive)
    is_right = (
        same(result.to_host(), expected)
        and same(out.to_host(), np.concatenate([expected, behind]))
        and same(given.to_host(), values)
    )
    if total is not None:
        right = np.concatenate([reduced(operator, values), behind[1:2]])
        is_right &= same(total.to_host(), right)
    in_place = within(given, out=given, **options)
    expected = scanned(operator, values, exclusive=then_exclusive)
    return is_right and in_place.size == values.size and same(given.to_host(), expected)


def scan_is_right(
    operator: Operator,
    device: Device,
    *,
    at: str,
    more: int,
    strategy: ScanStrategy = "reduce-then-scan",
) -> bool:
    """Scan `more` elements than a landmark: into longer memory with a total, and in place."""
    values = _values(operator, device, at, more)
    return scans(operator, values, device, exclusive=True, strategy=strategy, then_exclusive=False)


def scan_in_place_is_right(operator: Operator, device: Device, *, at: str, more: int) -> bool:
    """Scan in place with a total, which takes all of reduce's kernels too."""
    values = _values(operator, device, at, more)
    given = DeviceArray.from_host(values, device)
    total = DeviceArray.empty(1, operator.dtype, device)
    exclusive_scan(given, monoid=operator.monoid, out=given, total=total)
    expected = scanned(operator, values, exclusive=True)
    return np.array_equal(given.to_host(), expected) and np.array_equal(
        total.to_host(), reduced(operator, values)
    )


def reduce_is_right(operator: Operator, device: Device, *, at: str, more: int) -> bool:
    values = _values(operator, device, at, more)
    found = reduce(DeviceArray.from_host(values, device), monoid=operator.monoid)
    return np.array_equal(found.to_host(), reduced(operator, values))


def segments_are_right(operator: Operator, device: Device, *, at: str, more: int) -> bool:
    """Scan segments of random lengths, the flags being any bytes but 0."""
    values = _values(operator, device, at, more)
    rng = np.random.default_rng(1)
    flags = rng.integers(1, 256, values.size) * (rng.random(values.size) < 0.1)
    heads = DeviceArray.from_host(flags.astype(np.uint8), device)
    given = DeviceArray.from_host(values, device)
    apart = segmented_scan(given, heads, monoid=operator.monoid, exclusive=True)
    segmented_scan(given, heads, monoid=operator.monoid, out=given)
    return np.array_equal(
        apart.to_host(), scanned(operator, values, flags, exclusive=True)
    ) and np.array_equal(given.to_host(), scanned(operator, values, flags, exclusive=False))


def packed_segments_are_right(device: Device, *, at: str) -> bool:
    values = _values(SUM, device, at, 1)
    found = segmented_scan(DeviceArray.from_host(values, device))
    heads, rest = values >> np.uint32(31), values & np.uint32(2**31 - 1)
    return np.array_equal(found.to_host(), scanned(SUM, rest, heads, exclusive=False))


def large_results_are_right(device: Device) -> bool:
    """Scan a mebibyte by a single work-item, which stores full lines past the caches."""
    operator = OPERATORS[-1]
    values = operator.draw(np.random.default_rng(0), 2**20 // operator.dtype.itemsize)
    given = DeviceArray.from_host(values, device)
    inclusive_scan(given, monoid=operator.monoid, out=given, strategy="sequential")
    return np.array_equal(given.to_host(), scanned(operator, values, exclusive=False))


def nothing_is_right(device: Device) -> bool:
    """Do everything to no elements at all."""
    nothing = DeviceArray.empty(0, np.uint32, device)
    total = reduce(nothing)
    exclusive_scan(nothing, total=total)
    inclusive_scan(nothing, out=nothing)
    inclusive_scan(nothing, strategy="scan-then-propagate")
    segmented_scan(nothing, DeviceArray.empty(0, np.uint8, device))
    totals: list[int] = total.to_host().tolist()
    return totals == [0]
