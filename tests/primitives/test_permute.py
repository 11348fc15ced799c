"""Gather and scatter: every size of records, every length at which a tile ends differently."""

from __future__ import annotations

from typing import Any

import pytest

from clmst import Device
from clmst.primitives.permute import gather, scatter
from clmst.runtime.array import DeviceArray
from tests.primitives.mistakes import assert_refused

LENGTHS = (0, 1, 2, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 40_003)


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
