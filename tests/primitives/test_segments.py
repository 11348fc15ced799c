"""Segments by offsets, and one result a segment."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from clmst import Device, DeviceArray
from clmst.core.errors import ClmstError
from clmst.primitives import Monoid, end_flags, head_flags, segmented_reduce
from clmst.primitives.shares import Strategy
from tests.primitives.operators import AFFINE, assert_equal, reduced
from tests.primitives.segments_cases import (
    cases,
    flagged_are_right,
    minima_of_rows,
    random_offsets,
    rows_are_right,
)


def test_small_cases(device: Device) -> None:
    assert [name for name, is_right in cases() if not is_right(device)] == []


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("at", ["chunk", "row", "work-group", "all shares"])
def test_every_length(device: Device, at: str, more: int) -> None:
    assert rows_are_right(device, at=at, more=more)
    assert flagged_are_right(device, at=at, more=more)


def test_many_empty_rows_and_a_long_one(device: Device) -> None:
    """Rows need not have elements: at the front, in between, at the end."""
    n = 100_000
    rng = np.random.default_rng(1)
    values = rng.integers(0, 1 << 32, n, dtype=np.uint32)
    cuts = np.concatenate([np.zeros(1000), np.full(5000, 3), random_offsets(rng, n - 3, 500) + 3])
    offsets = np.concatenate([cuts, np.full(2000, n)]).astype(np.uint32)
    found = segmented_reduce(
        DeviceArray.from_host(values, device),
        offsets=DeviceArray.from_host(offsets, device),
        monoid=Monoid.minimum(np.uint32),
    )
    np.testing.assert_array_equal(found.to_host(), minima_of_rows(values, offsets))


@pytest.mark.parametrize("strategy", ["parallel", "sequential"])
def test_order_within_segments(device: Device, strategy: Strategy) -> None:
    """Composition of affine maps does not commute."""
    rng = np.random.default_rng(2)
    maps, offsets = AFFINE.draw(rng, 5000), random_offsets(rng, 5000, 300)
    found = segmented_reduce(
        DeviceArray.from_host(maps, device),
        offsets=DeviceArray.from_host(offsets, device),
        monoid=AFFINE.monoid,
        strategy=strategy,
    )
    rows = [reduced(AFFINE, maps[begin:end]) for begin, end in pairwise(offsets)]
    assert_equal(found.to_host(), np.concatenate(rows))


def test_outputs_keep_their_tails(device: Device) -> None:
    values = DeviceArray.from_host(np.arange(10, dtype=np.uint32), device)
    offsets = DeviceArray.from_host(np.array([0, 4, 10], np.uint32), device)
    out = DeviceArray.from_host(np.full(5, 77, np.uint32), device)
    assert segmented_reduce(values, offsets=offsets, out=out).to_host().tolist() == [6, 39]
    assert out.to_host().tolist() == [6, 39, 77, 77, 77]
    flags = DeviceArray.from_host(np.full(12, 9, np.uint8), device)
    assert head_flags(offsets, 10, out=flags).size == 10
    assert flags.to_host().tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 9, 9]


def refusals(device: Device) -> dict[str, tuple[Callable[[], object], str]]:
    """Return bad calls, and words of the errors that they must get."""
    values = DeviceArray.from_host(np.arange(8, dtype=np.uint32), device)
    flags = DeviceArray.from_host(np.zeros(8, np.uint8), device)
    offsets = DeviceArray.from_host(np.array([0, 8], np.uint32), device)
    none = DeviceArray.empty(0, np.uint32, device)
    reduce_any: Any = segmented_reduce  # whose types refuse some of these
    return {
        "both": (lambda: reduce_any(values, flags, offsets=offsets), "one way"),
        "neither": (lambda: reduce_any(values), "one way"),
        "short flags": (lambda: segmented_reduce(values, flags[:7]), "must have 8"),
        "no offsets": (lambda: segmented_reduce(values, offsets=none), "one more than"),
        "no offsets for flags": (lambda: head_flags(none, 3), "one more than"),
        "wide offsets": (lambda: head_flags(values.view(np.uint64), 3), "must be of uint32"),
        "small out": (lambda: segmented_reduce(values, flags, out=values[:1]), "at least"),
        "out is read": (lambda: segmented_reduce(values, flags, out=values), "overlap"),
        "ends over heads": (lambda: end_flags(flags, out=flags), "overlap"),
        "ends of words": (lambda: end_flags(values), "must be of uint8"),
        "array": (lambda: reduce_any(np.arange(3), flags), "device arrays"),
    }


def test_refusals(any_device: Device) -> None:
    """Each bad call gets one clear error, whichever way it is bad."""
    for name, (call, words) in refusals(any_device).items():
        with pytest.raises(ClmstError) as caught:
            call()
        assert words in str(caught.value), name
