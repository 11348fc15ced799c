"""Sorting numbers of each dtype, alone and with values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError
from clmst.primitives.sort import argsort, sort, sort_by_key
from clmst.runtime.array import DeviceArray
from tests.primitives.mistakes import assert_refused
from tests.primitives.shapes import each_shape

# What floats have beside numbers; the signs of NaNs play no part, nor what they carry.
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-40, -1e-40)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("descending", [False, True], ids=["rising", "falling"])
@each_shape
def test_what_is_no_ordinary_number(shape: Device, dtype: str, descending: bool) -> None:
    """Zeros are equal and NaNs are, whatever their signs; NaNs are above infinity."""
    keys = np.array(SPECIAL * 2, dtype)
    values = DeviceArray.from_host(np.arange(keys.size, dtype="u4"), shape)
    found, moved = sort_by_key(DeviceArray.from_host(keys, shape), values, descending=descending)
    rising = [3, 11, 7, 15, 0, 1, 8, 9, 6, 14, 2, 10, 4, 5, 12, 13]
    falling = [4, 5, 12, 13, 2, 10, 6, 14, 0, 1, 8, 9, 7, 15, 3, 11]
    order = falling if descending else rising
    assert moved.to_host().tolist() == order
    assert found.to_host().tobytes() == keys[order].tobytes()


# ------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("dtype", ["V1", ">i2", "f2", ">u4", "?", "V4", [("a", "u4")]])
def test_keys_must_be_numbers(any_device: Device, dtype: Any) -> None:
    keys = DeviceArray.from_host(np.zeros(4, dtype), any_device)
    values = DeviceArray.from_host(np.zeros(4, "u4"), any_device)
    for call in (lambda: sort(keys), lambda: sort_by_key(keys, values)):
        with pytest.raises(
            InvalidArgumentError, match=r"keys are of .*; they must be of \(u\)int8"
        ):
            call()


def test_arrays_must_fit(any_device: Device) -> None:
    keys = DeviceArray.from_host(np.arange(8, dtype="i4")[::-1].copy(), any_device)
    values = DeviceArray.from_host(np.arange(8, dtype="u4"), any_device)
    short = values[:7]
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("keys_out has 0 elements", {"keys_out": keys[:0]}),
        ("keys_out is of uint32; it must be of int32", {"keys_out": values}),
        ("values has 7 elements; it must have 8", {"values": short}),
        ("values is a NoneType", {"values": None}),
        ("values has elements of", {"values": DeviceArray.empty(8, "V17", any_device)}),
        ("values_out has 7", {"values_out": short}),
        ("key_bits is 0; a key has 1 to 64 bits", {"key_bits": 0}),
        ("key_bits is 0; a key has 1 to 64 bits", {"start_bit": 32}),
        ("the key goes from bit 1 to bit 33; keys has", {"start_bit": 1, "key_bits": 32}),
        ("no strategy is called 'quick'", {"strategy": "quick"}),
    ]
    assert_refused(sort_by_key, {"keys": keys, "keys_out": keys, "values": values}, wrong, keys)
    wrong = [("out has 0", {"out": keys[:0]}), ("no strategy", {"strategy": "quick"})]
    assert_refused(sort, {"keys": keys}, wrong, keys)


def test_order_of_equal_and_falling_keys(any_device: Device) -> None:
    """Equal keys keep their order in both directions; the keys stay."""
    keys = np.array([2.0, -1.0, 2.0, np.nan, -0.0, 0.0], np.float32)
    given = DeviceArray.from_host(keys, any_device)
    out = DeviceArray.from_host(np.full(8, 9, np.uint32), any_device)
    assert argsort(given, out=out).to_host().tolist() == [1, 4, 5, 0, 2, 3]
    assert out.to_host().tolist()[6:] == [9, 9]
    assert argsort(given, descending=True).to_host().tolist() == [3, 0, 2, 4, 5, 1]
    assert given.to_host().tobytes() == keys.tobytes()
    with pytest.raises(InvalidArgumentError, match="out and keys overlap"):
        argsort(given, out=given.view(np.uint32))
