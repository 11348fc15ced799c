"""Maps: every dtype in and out, in place, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError, KernelBuildError
from clmst.primitives.map import Map, map
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

WORD = np.dtype(np.uint32)
NEXT = Map(dtype=WORD, expression="x + 1")


@pytest.mark.parametrize("result", ["u1", "i1", "u2", "i2", "u4", "i4", "f4", "u8", "i8"])
def test_every_result(any_device: Device, result: str) -> None:
    host = np.array([0, 1, 100], np.int8)
    twice = Map(dtype=np.dtype("i1"), result=np.dtype(result), expression="x + 20")
    found = map(DeviceArray.from_host(host, any_device), twice).to_host()
    assert found.dtype == np.dtype(result)
    assert found.tolist() == [20, 21, 120]


def test_vectors(any_device: Device) -> None:
    pair = np.dtype([("x", "f4"), ("y", "f4")])
    host = np.array([(3, 4), (6, 8)], pair)
    length = Map(dtype=pair, result=np.dtype("f4"), expression="length(x)")
    assert map(DeviceArray.from_host(host, any_device), length).to_host().tolist() == [5, 10]


def test_bits_as_another_dtype_in_place(any_device: Device) -> None:
    values = DeviceArray.from_host(np.array([1.0, -2.0], np.float32), any_device)
    bits = Map(dtype=np.dtype("f4"), result=WORD, expression="as_uint(x)")
    found = map(values, bits, out=values.view(WORD)).to_host()
    assert found.tolist() == [0x3F800000, 0xC0000000]


def test_refused(any_device: Device) -> None:
    values = DeviceArray.empty(8, WORD, any_device)
    short = Map(dtype=WORD, result=np.dtype("u2"), expression="x")
    add = Map(dtype=WORD, expression="x + other[i]", arrays={"other": "u4"})
    launch = Launcher(any_device, any_device.queue)
    for options, message in (
        ({"function": None}, "function is None; it must be a Map"),
        ({"function": Map(dtype=np.dtype("f4"), expression="x")}, "must agree"),
        ({"function": NEXT, "out": values[:7]}, "out has 7 elements; it must have at least 8"),
        ({"function": NEXT, "out": DeviceArray.empty(8, "f4", any_device)}, "out is of float32"),
        ({"function": short, "out": values.view("u2")}, "in place both must have one size"),
        ({"function": add(other=values), "out": values}, "out and other overlap"),
        ({"function": add}, "its arguments are other"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            map(values, launch=launch, **options)
    assert launch.launches == 0


def test_overlap_in_part(any_device: Device) -> None:
    step = any_device.capabilities.buffer_alignment // 4
    values = DeviceArray.empty(3 * step, WORD, any_device)
    with pytest.raises(InvalidArgumentError, match="overlap without being equal"):
        map(values[: 2 * step], NEXT, out=values[step:])


def test_error_names_the_map(any_device: Device) -> None:
    bad = Map(dtype=WORD, expression="x.w + 1", name="of no vector")
    with pytest.raises(KernelBuildError, match="of no vector"):
        map(DeviceArray.empty(1, WORD, any_device), bad)
