"""Histograms: few and many bins, bins of one's own, what is in none, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError
from clmst.primitives.histogram import LOCAL_BINS, histogram
from clmst.primitives.map import Map
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

WORD = np.dtype(np.uint32)


@pytest.mark.parametrize("n_bins", [0, 1, LOCAL_BINS, LOCAL_BINS + 1])
def test_one_bin_has_all(any_device: Device, n_bins: int) -> None:
    """All atomic additions meet in one word."""
    values = DeviceArray.from_host(np.zeros(50_000, np.uint8), any_device)
    counts = histogram(values, n_bins).to_host()
    assert counts.tolist() == ([50_000] + [0] * (n_bins - 1) if n_bins else [])


def test_no_values(any_device: Device) -> None:
    """Counts of an output that is used again must not stay."""
    out = DeviceArray.from_host(np.array([5, 6, 7], np.uint32), any_device)
    assert histogram(DeviceArray.empty(0, WORD, any_device), 2, out=out).to_host().tolist() == [
        0,
        0,
    ]
    assert out.to_host().tolist() == [0, 0, 7]


def test_numbers_of_64_bits_are_not_cut(any_device: Device) -> None:
    values = DeviceArray.from_host(np.array([1, 2**32 + 1, 2**64 - 1], np.uint64), any_device)
    assert histogram(values, 3).to_host().tolist() == [0, 1, 0]


def test_bins_of_ones_own(any_device: Device) -> None:
    host = np.random.default_rng(0).random(10_000).astype(np.float32) * 2 - 0.5
    even = Map(
        dtype=np.dtype("f4"), result=WORD,
        expression="x >= least ? (uint)((x - least) * scale) : UINT_MAX",
        scalars={"least": "f4", "scale": "f4"},
    )  # fmt: skip
    counts = histogram(DeviceArray.from_host(host, any_device), 8, bin_of=even(least=0, scale=8))
    assert counts.to_host().tolist() == np.histogram(host, 8, range=(0, 1))[0].tolist()


def test_refused(any_device: Device) -> None:
    signed, values = (DeviceArray.empty(8, dtype, any_device) for dtype in (np.int32, WORD))
    launch = Launcher(any_device, any_device.queue)
    half = Map(dtype=WORD, result=np.dtype("u2"), expression="x")
    for given, n_bins, options, message in (
        (signed, 3, {}, "values are of int32; unless bin_of tells their bins"),
        (values, -1, {}, "n_bins is -1"),
        (values, 3, {"bin_of": half}, "bin_of has a result of uint16; the number of a bin"),
        (values, 3, {"bin_of": "x"}, "bin_of is 'x'; it must be a Map"),
        (values, 9, {"out": DeviceArray.empty(8, WORD, any_device)}, "out has 8 elements"),
        (values, 8, {"out": values}, "out and values overlap"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            histogram(given, n_bins, launch=launch, **options)
    assert launch.launches == 0
