"""Gather and scatter: every size of records, every length at which a tile ends differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.primitives.permute import gather, scatter
from clmst.runtime.array import DeviceArray
from tests.primitives.mistakes import assert_refused
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


@pytest.mark.parametrize("move", [gather, scatter])
def test_mistakes(any_device: Device, move: Any) -> None:
    """Among them outputs in place, which would be overwritten before they are read."""

    def new(dtype: Any, n: int = 100) -> DeviceArray:
        return DeviceArray.empty(n, dtype, any_device)

    right = {"values": new("u4"), "indices": new("u4"), "out": new("u4")}
    mistakes: list[tuple[str, dict[str, Any]]] = [
        ("17 bytes each; they must have 1 to 16 bytes", {"values": new("V17")}),
        ("68 bytes each; they must have 1 to 16 bytes", {"values": new("V68"), "out": new("V68")}),
        ("indices is of int32; it must be of uint32", {"indices": new("i4")}),
        ("out is of float32; it must be of uint32", {"out": new("f4")}),
        ("out has 99 elements; it must have at least 100", {"out": new("u4", 99)}),
        ("out and values overlap", {"out": right["values"]}),
        ("out and indices overlap", {"out": right["indices"]}),
        (
            "indices has 100 elements; it must have 9"
            if move is scatter
            else "there are 100 indices but no values",
            {"values": new("u4", 9 if move is scatter else 0)},
        ),
    ]
    assert_refused(move, right, mistakes, *right.values())
