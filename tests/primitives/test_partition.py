"""Partition and runs of equal keys: what the kernels of compaction do beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.primitives.compact import partition, unique_by_key
from clmst.runtime.array import DeviceArray
from tests.primitives.mistakes import assert_refused
from tests.primitives.selections import (
    KINDS,
    PREDICATES,
    QUAD,
    SCALARS,
    TRIPLE,
    Array,
    count_of,
    draw,
    flags,
    heads,
    holds,
    in_runs,
    lengths_for,
    predicate,
    same,
    with_shares,
    words,
)
from tests.primitives.shapes import each_shape

WORD = np.dtype(np.uint32)
TAIL = 5


def assert_partitions(
    device: Device, records: Array, mask: Array, values: Array | None = None, **rule: Any
) -> None:
    """Partition into longer memory, the tail of which must stay as it is."""
    order = np.concatenate([np.flatnonzero(mask), np.flatnonzero(~mask)])
    behind = draw(np.random.default_rng(1), records.dtype, records.size + TAIL)
    out = DeviceArray.from_host(behind, device)
    along = None if values is None else DeviceArray.from_host(values, device)
    given = DeviceArray.from_host(records, device)
    found, *found_values, count = partition(given, values=along, out=out, **rule)
    assert count_of(count) == int(mask.sum())
    assert found.size == records.size
    assert same(out.to_host(), np.concatenate([records[order], behind[records.size :]]))
    assert [same(x.to_host(), values[order]) for x in found_values if values is not None] == (
        [] if values is None else [True]
    )


@pytest.mark.parametrize("kind", KINDS)
@each_shape
def test_flagged_of_every_length(shape: Device, kind: str) -> None:
    device = with_shares(shape, 1)
    for length in lengths_for(device):
        rng = np.random.default_rng(length)
        records, chosen = draw(rng, WORD, length), flags(rng, kind, length)
        given = DeviceArray.from_host(chosen, device)
        assert_partitions(device, records, chosen != 0, flags=given)


@pytest.mark.parametrize("dtype", PREDICATES, ids=str)
@each_shape
def test_holding_of_every_dtype(shape: Device, dtype: np.dtype[Any]) -> None:
    for length in (1003, 2**17 + 77):
        records = draw(np.random.default_rng(length), dtype, length)
        assert_partitions(shape, records, holds(records), predicate=predicate(dtype))


@pytest.mark.parametrize("strategy", ["parallel", "sequential"])
@each_shape
def test_values_go_along(shape: Device, strategy: str) -> None:
    for length in (1003, 2**17 + 77):
        rng = np.random.default_rng(length)
        records, values = draw(rng, TRIPLE, length), draw(rng, words(6), length)
        chosen = flags(rng, "half", length)
        rule = {"flags": DeviceArray.from_host(chosen, shape), "strategy": strategy}
        assert_partitions(shape, records, chosen != 0, values, **rule)


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


def assert_unique(
    device: Device, keys: Array, values: Array | None = None, *, strategy: str = "parallel"
) -> None:
    mask = heads(keys)
    behind = draw(np.random.default_rng(1), keys.dtype, keys.size + TAIL)
    out = DeviceArray.from_host(behind, device)
    along = None if values is None else DeviceArray.from_host(values, device)
    given = DeviceArray.from_host(keys, device)
    options: dict[str, Any] = {"out": out, "strategy": strategy}
    found, *found_values, count = unique_by_key(given, along, **options)
    k = int(mask.sum())
    assert count_of(count) == k
    assert found.size == keys.size
    assert same(out.to_host(), np.concatenate([keys[mask], behind[k:]]))
    for array in found_values:
        assert values is not None
        assert same(array[:k].to_host(), values[mask])


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
            assert_unique(device, keys)


@pytest.mark.parametrize("dtype", [*SCALARS, TRIPLE, QUAD, words(16)], ids=str)
@each_shape
def test_runs_of_every_dtype(shape: Device, dtype: np.dtype[Any]) -> None:
    for length in (1003, 2**17 + 77):
        rng = np.random.default_rng(length)
        assert_unique(shape, in_runs(rng, draw(rng, dtype, length)))


@pytest.mark.parametrize("strategy", ["parallel", "sequential"])
@each_shape
def test_first_value_of_each_run(shape: Device, strategy: str) -> None:
    for length in (1003, 2**17 + 77):
        rng = np.random.default_rng(length)
        keys, values = in_runs(rng, draw(rng, WORD, length)), draw(rng, TRIPLE, length)
        assert_unique(shape, keys, values, strategy=strategy)


@each_shape
def test_keys_are_compared_bit_by_bit(shape: Device) -> None:
    """As numbers, zeros would be equal and a NaN would differ from itself."""
    assert_unique(shape, np.array([0.0, -0.0, -0.0, np.nan, np.nan, 1.0], np.float32))


@each_shape
def test_promise(shape: Device) -> None:
    keys = DeviceArray.from_host(np.arange(100, dtype=np.uint32), shape)
    found, count = unique_by_key(keys, at_most=10)
    assert found.to_host().tolist() == list(range(10))
    assert count_of(count) == 100
