"""Reductions: every length at which a share ends differently, every operator, every error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from clmst import Device, KernelBuildError, UnsupportedDeviceError
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import reduce
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from clmst.runtime.specialisation import Prelude
from tests.primitives.mistakes import APART, NO_ARRAY, assert_refused
from tests.primitives.shapes import (
    each_compiler,
)

VALUES = np.arange(1000, dtype=np.uint32)


def test_two_launches_whatever_the_length(device: Device) -> None:
    for length in (0, 1, 10_000, 10**6):
        launch = Launcher(device, device.queue)
        reduce(DeviceArray.empty(length, np.uint32, device), launch=launch)
        assert launch.launches == 2


# ------------------------------------------------------------------------------- errors


def test_mistakes(any_device: Device) -> None:
    """In place is not meant: other work-groups still read what would be overwritten."""
    given = DeviceArray.from_host(VALUES, any_device)
    other = Device(any_device.cl_device)
    overlap = f"out and values {APART}"
    mistakes: list[tuple[str, dict[str, Any]]] = [
        (f"values is a ndarray; {NO_ARRAY}", {"values": VALUES}),
        *((overlap, {"out": out}) for out in (given, given[:1], given[896:])),
        (
            "out is of float32; it must be of uint32",
            {"out": DeviceArray.empty(1, "f4", any_device)},
        ),
        (
            "out has 0 elements; it must have at least 1",
            {"out": DeviceArray.empty(0, "u4", any_device)},
        ),
        (
            f"out is on {other!r}, another array on {any_device!r}; all must be in one context",
            {"out": DeviceArray.empty(1, "u4", other)},
        ),
        (
            "no strategy is called 'tree'; there are 'parallel', 'sequential'",
            {"strategy": "tree"},
        ),
        (
            "the monoid is of uint64, values are of uint32; they must agree",
            {"monoid": Monoid.sum("u8")},
        ),
    ]
    assert_refused(reduce, {"values": given}, mistakes, given)


def test_device_without_doubles(any_device: Device) -> None:
    device = Device(any_device.cl_device)
    given = DeviceArray.from_host(VALUES.astype("f8"), device)
    device.capabilities = replace(device.capabilities, doubles=False)
    with pytest.raises(UnsupportedDeviceError, match=r"no arithmetic on doubles, .* float64 need"):
        reduce(given)


@each_compiler
def test_combination_that_does_not_compile(plain: Device) -> None:
    """The label names the operator, and the log the macro that it stands in."""
    monoid = Monoid(dtype=np.dtype("u4"), combine="a + b.w", identity="0", name="bad sum")
    out = DeviceArray.from_host(VALUES, plain)
    with pytest.raises(KernelBuildError) as caught:
        reduce(DeviceArray.from_host(VALUES, plain), monoid=monoid, out=out)
    assert caught.value.label.startswith("scan[bad sum,")
    assert "bad sum:" in caught.value.log
    assert "a + b.w" in caught.value.log
    np.testing.assert_array_equal(out.to_host(), VALUES)


@each_compiler
def test_preamble_that_does_not_compile(plain: Device) -> None:
    """Its lines are counted from 1, whatever is put round it."""
    monoid = Monoid(
        dtype=np.dtype("u4"),
        combine="added(a, b)",
        identity="0",
        preamble="static inline uint added(uint a, uint b) {\n  return a + b.w;\n}",
        name="bad sum",
    )
    with pytest.raises(KernelBuildError) as caught:
        reduce(DeviceArray.from_host(VALUES, plain), monoid=monoid)
    assert caught.value.label.startswith("scan[bad sum,")
    assert "bad sum:2:" in caught.value.log
    assert "b.w" in caught.value.log


@each_compiler
def test_element_of_another_size_does_not_compile(plain: Device) -> None:
    """An operator of other elements than the arrays have would read behind them."""
    prelude = Prelude(name="wide", text="#define T ulong\n#define T_BYTES 4")
    with pytest.raises(KernelBuildError, match="monoid_element_has_the_size_of_its_dtype"):
        plain.program("primitives/scan.cl", prelude)
