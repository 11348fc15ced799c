"""Records that are no whole words: sorted, split and moved as if they were."""

from __future__ import annotations

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError
from clmst.primitives.compact import partition, unique_by_key
from clmst.primitives.function import Predicate
from clmst.primitives.scan import exclusive_scan, segmented_scan
from clmst.primitives.sort import sort, sort_by_key
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from tests.primitives.map_cases import (
    COLOUR,
    SHORT,
    colours_are_right,
    draw,
    scans_are_right,
    sorts_are_right,
)
from tests.primitives.shapes import each_shape

LONG = 40_001  # several work-groups, in every shape


@pytest.mark.parametrize("code", ["u1", "i2"])
@each_shape
def test_scans(shape: Device, code: str) -> None:
    """Lanes exchange whole words, tiles have as many short elements as words."""
    assert scans_are_right(code, shape, length=LONG)


@pytest.mark.parametrize("code", ["i1", "u2"])
@each_shape
def test_sorts(shape: Device, code: str) -> None:
    assert sorts_are_right(code, shape, length=LONG)


@each_shape
def test_colours(shape: Device) -> None:
    assert colours_are_right(shape)


@pytest.mark.parametrize("code", SHORT)
def test_every_dtype(any_device: Device, code: str) -> None:
    assert scans_are_right(code, any_device, length=5000)
    assert sorts_are_right(code, any_device, length=5000)


@pytest.mark.parametrize("code", SHORT)
def test_in_place_and_in_three_launches(any_device: Device, code: str) -> None:
    """Heads lie behind sums of one byte, at the next whole word."""
    host = draw(code, LONG)
    values = DeviceArray.from_host(host, any_device)
    exclusive_scan(values, out=values)
    assert np.array_equal(values.to_host(), np.cumsum(host, dtype=code) - host)
    heads = np.zeros(LONG, np.uint8)
    heads[[0, 20_000, 39_999]] = 1
    found = segmented_scan(
        DeviceArray.from_host(host, any_device), DeviceArray.from_host(heads, any_device)
    )
    pieces = np.split(host, [20_000, 39_999])
    expected = np.concatenate([np.cumsum(piece, dtype=code) for piece in pieces])
    assert np.array_equal(found.to_host(), expected)


def test_flags_in_the_top_bit_of_a_byte(any_device: Device) -> None:
    host = np.array([3, 1, 0x80 | 5, 2], np.uint8)
    found = segmented_scan(DeviceArray.from_host(host, any_device)).to_host()
    assert found.tolist() == [3, 4, 5, 7]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 15])
def test_split_by_bits_of_short_records(any_device: Device, size: int) -> None:
    rng = np.random.default_rng(size)
    host = np.frombuffer(rng.bytes(size * 999), f"V{size}")
    first = host.view("u1").reshape(-1, size)[:, 0]
    moved, along = split(
        DeviceArray.from_host(host, any_device), key_bits=3, start_bit=5,
        values=DeviceArray.from_host(np.arange(999, dtype=np.uint16), any_device),
    )  # fmt: skip
    order = np.argsort(first >> 5, kind="stable")
    assert np.array_equal(moved.to_host(), host[order])
    assert along.to_host().tolist() == order.tolist()


def test_short_values_go_along(any_device: Device) -> None:
    keys = np.random.default_rng(1).random(999).astype(np.float32)
    colours = draw("u1", 999 * 3).view(COLOUR)
    given = DeviceArray.from_host(colours, any_device)
    sort_by_key(DeviceArray.from_host(keys, any_device), given, values_out=given)
    assert np.array_equal(given.to_host(), colours[np.argsort(keys, kind="stable")])


def test_selections_of_bytes(any_device: Device) -> None:
    host = np.sort(draw("i1", 999))
    values = DeviceArray.from_host(host, any_device)
    firsts, count = unique_by_key(values)
    assert np.array_equal(firsts.to_host()[: count.to_host()[0]], np.unique(host))
    odd = Predicate(dtype=host.dtype, expression="(x & 1) != 0")
    both, _ = partition(values, predicate=odd)
    assert np.array_equal(
        both.to_host(), np.concatenate([host[host % 2 == 1], host[host % 2 == 0]])
    )


def test_refused(any_device: Device) -> None:
    halves = DeviceArray.empty(3, np.float16, any_device)
    with pytest.raises(InvalidArgumentError, match="keys are of float16"):
        sort(halves)
    with pytest.raises(InvalidArgumentError, match="elements are float16"):
        exclusive_scan(halves)
    with pytest.raises(InvalidArgumentError, match="the key goes from bit 7 to bit 9"):
        split(DeviceArray.empty(3, np.uint8, any_device), key_bits=2, start_bit=7)
    with pytest.raises(InvalidArgumentError, match="1 to 16 bytes, or a multiple of 4 up to 64"):
        unique_by_key(DeviceArray.empty(3, "V17", any_device))
