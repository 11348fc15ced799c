"""Partition and runs of equal keys: what the kernels of compaction do beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.primitives.compact import partition, unique_by_key
from clmst.primitives.shares import Strategy
from clmst.runtime.array import DeviceArray
from tests.primitives.compact_cases import partitions, takes_heads
from tests.primitives.mistakes import assert_refused
from tests.primitives.selections import (
    KINDS,
    PREDICATES,
    QUAD,
    SCALARS,
    TRIPLE,
    count_of,
    draw,
    flags,
    holds,
    in_runs,
    lengths_for,
    predicate,
    with_shares,
    words,
)
from tests.primitives.shapes import each_shape

WORD = np.dtype(np.uint32)
TAIL = 5


@pytest.mark.parametrize("kind", KINDS)
@each_shape
def test_flagged_of_every_length(shape: Device, kind: str) -> None:
    device = with_shares(shape, 1)
    for length in lengths_for(device):
        rng = np.random.default_rng(length)
        records, chosen = draw(rng, WORD, length), flags(rng, kind, length)
        given = DeviceArray.from_host(chosen, device)
        assert partitions(device, records, chosen != 0, flags=given)


@pytest.mark.parametrize("dtype", PREDICATES, ids=str)
@each_shape
def test_holding_of_every_dtype(shape: Device, dtype: np.dtype[Any]) -> None:
    for length in (1003, 2**17 + 77):
        records = draw(np.random.default_rng(length), dtype, length)
        assert partitions(shape, records, holds(records), predicate=predicate(dtype))


@pytest.mark.parametrize("strategy", ["parallel", "sequential"])
@each_shape
def test_values_go_along(shape: Device, strategy: str) -> None:
    for length in (1003, 2**17 + 77):
        rng = np.random.default_rng(length)
        records, values = draw(rng, TRIPLE, length), draw(rng, words(6), length)
        chosen = flags(rng, "half", length)
        rule = {"flags": DeviceArray.from_host(chosen, shape), "strategy": strategy}
        assert partitions(shape, records, chosen != 0, values, **rule)


def test_out_must_hold_all(any_device: Device) -> None:
    """Unlike compaction it has no promise that would allow for less."""
    records, chosen = DeviceArray.empty(9, WORD, any_device), DeviceArray.empty(9, "u1", any_device)
    short = DeviceArray.empty(8, WORD, any_device)
    mistakes = [
        ("out has 8 elements; it must have at least 9", {"out": short}),
        ("out and records overlap", {"out": records}),
    ]
    assert_refused(partition, {"records": records, "flags": chosen}, mistakes, records)


# ------------------------------------------------------------------------------ runs


@each_shape
def test_runs_of_every_length(shape: Device) -> None:
    """A run may go on over rows, tiles and shares, or end with one; there may be one only."""
    device = with_shares(shape, 1)
    for length in lengths_for(device):
        rng = np.random.default_rng(length)
        for keys in (
            in_runs(rng, draw(rng, WORD, length)),
            np.repeat(draw(rng, WORD, length // 300 + 1), 300)[:length],
            np.zeros(length, WORD),
            np.arange(length, dtype=WORD),
        ):
            assert takes_heads(device, keys)


@pytest.mark.parametrize("dtype", [*SCALARS, TRIPLE, QUAD, words(16)], ids=str)
@each_shape
def test_runs_of_every_dtype(shape: Device, dtype: np.dtype[Any]) -> None:
    for length in (1003, 2**17 + 77):
        rng = np.random.default_rng(length)
        assert takes_heads(shape, in_runs(rng, draw(rng, dtype, length)))


@pytest.mark.parametrize("strategy", ["parallel", "sequential"])
@each_shape
def test_first_value_of_each_run(shape: Device, strategy: Strategy) -> None:
    for length in (1003, 2**17 + 77):
        rng = np.random.default_rng(length)
        keys, values = in_runs(rng, draw(rng, WORD, length)), draw(rng, TRIPLE, length)
        assert takes_heads(shape, keys, values, strategy=strategy)


@each_shape
def test_keys_are_compared_bit_by_bit(shape: Device) -> None:
    """As numbers, zeros would be equal and a NaN would differ from itself."""
    assert takes_heads(shape, np.array([0.0, -0.0, -0.0, np.nan, np.nan, 1.0], np.float32))


@each_shape
def test_promise(shape: Device) -> None:
    keys = DeviceArray.from_host(np.arange(100, dtype=np.uint32), shape)
    found, count = unique_by_key(keys, at_most=10)
    assert found.to_host().tolist() == list(range(10))
    assert count_of(count) == 100
