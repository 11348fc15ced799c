"""Gather and scatter: every size of records, every length at which a tile ends differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError
from clmst.primitives.permute import gather, scatter
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from tests.primitives.selections import SCALARS, draw, same, words
from tests.primitives.shapes import each_shape

WORD = np.dtype(np.uint32)
TAIL = 5
LENGTHS = (0, 1, 2, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 40_003)


@pytest.mark.parametrize("dtype", [*SCALARS, *map(words, (3, 4, 6, 7, 16))], ids=str)
@each_shape
def test_gather(shape: Device, dtype: np.dtype[Any]) -> None:
    """Of some values, one of them several times, into longer memory."""
    for length in LENGTHS:
        rng = np.random.default_rng(length)
        values, behind = draw(rng, dtype, 2 * length + 1), draw(rng, dtype, length + TAIL)
        indices = rng.integers(0, values.size, length, dtype=np.uint32)
        out = DeviceArray.from_host(behind, shape)
        given = DeviceArray.from_host(values, shape), DeviceArray.from_host(indices, shape)
        assert same(gather(*given).to_host(), values[indices])
        assert gather(*given, out).size == length
        assert same(out.to_host(), np.concatenate([values[indices], behind[length:]]))


@pytest.mark.parametrize("dtype", [*SCALARS, *map(words, (3, 4, 6, 7, 16))], ids=str)
@each_shape
def test_scatter(shape: Device, dtype: np.dtype[Any]) -> None:
    """To some places; the others stay as they are."""
    for length in LENGTHS:
        rng = np.random.default_rng(length)
        values, others = draw(rng, dtype, length), draw(rng, dtype, 2 * length + 1)
        indices = rng.permutation(others.size)[:length].astype(np.uint32)
        out = DeviceArray.from_host(others, shape)
        given = DeviceArray.from_host(values, shape), DeviceArray.from_host(indices, shape)
        assert scatter(*given, out) is out
        expected = others.copy()
        expected[indices] = values
        assert same(out.to_host(), expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"values": "V17"}, "17 bytes each; they must have 1 to 16 bytes"),
        (
            {"values": "V68", "out": "V68"},
            "68 bytes each; they must have 1 to 16 bytes, or a multiple of 4",
        ),
        ({"indices": "i4"}, "indices is of int32; it must be of uint32"),
        ({"out": "f4"}, "out is of float32; it must be of uint32"),
    ],
)
@pytest.mark.parametrize("move", [gather, scatter])
def test_dtypes_that_do_not_fit(
    any_device: Device, move: Any, given: dict[str, str], message: str
) -> None:
    dtypes = {"values": "u4", "indices": "u4", "out": "u4"} | given
    arrays = [DeviceArray.empty(100, dtype, any_device) for dtype in dtypes.values()]
    launch = Launcher(any_device, any_device.queue)
    with pytest.raises(InvalidArgumentError, match=message):
        move(*arrays, launch=launch)
    assert launch.launches == 0


def test_lengths_that_do_not_fit(any_device: Device) -> None:
    nine, ten = (DeviceArray.empty(n, WORD, any_device) for n in (9, 10))
    launch = Launcher(any_device, any_device.queue)
    with pytest.raises(InvalidArgumentError, match="out has 9 elements; it must have at least 10"):
        gather(nine, ten, nine, launch=launch)
    with pytest.raises(InvalidArgumentError, match="there are 10 indices but no values"):
        gather(nine[:0], ten, launch=launch)
    with pytest.raises(InvalidArgumentError, match="indices has 10 elements; it must have 9"):
        scatter(nine, ten, ten, launch=launch)
    with pytest.raises(InvalidArgumentError, match="out has 9 elements; it must have at least 10"):
        scatter(ten, DeviceArray.empty(10, WORD, any_device), nine, launch=launch)
    assert launch.launches == 0


@pytest.mark.parametrize("move", [gather, scatter])
def test_overlaps(any_device: Device, move: Any) -> None:
    """In place, values would be overwritten before they are read."""
    values, indices = (DeviceArray.empty(100, WORD, any_device) for _ in range(2))
    launch = Launcher(any_device, any_device.queue)
    for out, name in ((values, "values"), (indices, "indices")):
        with pytest.raises(InvalidArgumentError, match=f"out and {name} overlap"):
            move(values, indices, out, launch=launch)
    assert launch.launches == 0
