"""Sorting numbers of each dtype, alone and with values."""

from __future__ import annotations

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError
from clmst.primitives.sort import argsort, sort_by_key
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
