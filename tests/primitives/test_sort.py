"""Sorting numbers of each dtype, alone and with values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError
from clmst.primitives.sort import argsort, sort, sort_by_key
from clmst.runtime.array import DeviceArray
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


RECORDS = np.dtype([("name", "S3"), ("weight", ">f4"), ("id", "u4"), ("part", "u1")])


@pytest.mark.parametrize(
    ("dtype", "how", "message"),
    [
        (
            RECORDS,
            {"key": "wight"},
            "key is 'wight', which is not a field of .*; its fields are na",
        ),
        (RECORDS, {"key": 3}, "key is 3, which is not a field of"),
        (RECORDS, {"key": "name"}, r"the field name is of \|S3; they must be of \(u\)int8"),
        (RECORDS, {"key": "weight"}, "the field weight is of >f4; they must be .* byte order"),
        (RECORDS, {}, "keys are of .*; for records, name the field to sort by: key="),
        (
            "u4",
            {"key": "id"},
            "key is 'id', which is not a field of uint32; records have such fiel",
        ),
        (RECORDS, {"key": "part", "start_bit": 8}, "key_bits is 0; a key has 1 to 64 bits"),
        (RECORDS, {"key": "part", "key_bits": 9}, "to bit 9; the field part is of 8 bits, and it"),
    ],
)
def test_keys_that_records_do_not_have(
    any_device: Device, dtype: np.dtype[Any], how: dict[str, Any], message: str
) -> None:
    given = DeviceArray.from_host(np.zeros(3, dtype), any_device)
    values = DeviceArray.from_host(np.zeros(3, "u4"), any_device)
    with pytest.raises(InvalidArgumentError, match=message):
        sort_by_key(given, values, **how)


def test_records_with_fields_that_kernels_do_not_have(any_device: Device) -> None:
    """Only the key must be a number: whatever else a record has moves along."""
    records = np.array([("abc", 1, 7, 200), ("x", 2, 5, 3), ("yz", 3, 6, 200)], RECORDS)
    given = DeviceArray.from_host(records, any_device)
    assert sort(given, key="id").to_host().tolist() == records[[1, 2, 0]].tolist()
    assert sort(given, key="part", descending=True).to_host().tolist() == (
        records[[0, 2, 1]].tolist()
    )
