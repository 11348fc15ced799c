"""Small cases of maps, histograms and short elements for Oclgrind, the broadest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import Device
from clmst.primitives.compact import compact
from clmst.primitives.function import Predicate
from clmst.primitives.histogram import histogram
from clmst.primitives.map import Map, map
from clmst.primitives.monoid import Monoid
from clmst.primitives.permute import gather
from clmst.primitives.scan import inclusive_scan
from clmst.primitives.segments import segmented_reduce
from clmst.primitives.sort import argsort, sort
from clmst.runtime.array import DeviceArray

Array = npt.NDArray[Any]

SHORT = ("u1", "i1", "u2", "i2")
COLOUR = np.dtype("u1,u1,u1")


def cases() -> Iterator[tuple[str, Callable[[Device], bool]]]:
    """Yield the name of each case, and what returns whether a device does it right."""
    yield "map with arguments", map_is_right
    yield "histogram", histogram_is_right
    for code in SHORT:
        yield f"scans of {code}", partial(scans_are_right, code, length=300)
        yield f"sorts of {code}", partial(sorts_are_right, code, length=300)
    yield "selection by a predicate with arguments", selection_is_right
    yield "colours", colours_are_right


def draw(code: str, length: int) -> Array:
    limits = np.iinfo(code)
    rng = np.random.default_rng(length)
    return rng.integers(limits.min, limits.max, length, endpoint=True).astype(code)


def map_is_right(device: Device) -> bool:
    host, other = draw("i2", 300), draw("u1", 300)
    blend = Map(
        dtype=np.dtype("i2"), result=np.dtype("i4"), expression="x * factor - other[i] + i",
        scalars={"factor": "i1"}, arrays={"other": "u1"},
    )  # fmt: skip
    arguments = {"factor": -3, "other": DeviceArray.from_host(other, device)}
    found = map(DeviceArray.from_host(host, device), blend(**arguments))
    expected = host.astype("i4") * -3 - other + np.arange(300, dtype="i4")
    return bool(np.array_equal(found.to_host(), expected))


def histogram_is_right(device: Device, length: int = 300) -> bool:
    host = draw("u2", length) % 3000
    values = DeviceArray.from_host(host.astype("u2"), device)
    return all(
        np.array_equal(
            histogram(values, n_bins).to_host(), np.bincount(host, minlength=n_bins)[:n_bins]
        )
        for n_bins in (1, 1000, 2048, 2049, 5000)
    )


def scans_are_right(code: str, device: Device, *, length: int) -> bool:
    host = draw(code, length)
    heads = (np.arange(length) % 7 == 0).astype(np.uint8)
    values, flags = DeviceArray.from_host(host, device), DeviceArray.from_host(heads, device)
    least, count = segmented_reduce(values, flags, monoid=Monoid.minimum(code))
    rows = np.minimum.reduceat(host, np.flatnonzero(heads))
    return bool(
        np.array_equal(inclusive_scan(values).to_host(), np.cumsum(host, dtype=code))
        and np.array_equal(least.to_host()[: count.to_host()[0]], rows)
    )


def sorts_are_right(code: str, device: Device, *, length: int) -> bool:
    host = draw(code, length)
    values = DeviceArray.from_host(host, device)
    falling = sort(values, descending=True).to_host()
    order = argsort(values).to_host()
    return bool(
        np.array_equal(falling, np.sort(host)[::-1])
        and np.array_equal(order, np.argsort(host, kind="stable"))
        and np.array_equal(values.to_host(), host)
    )


def selection_is_right(device: Device) -> bool:
    host = draw("i1", 300)
    rule = Predicate(dtype=np.dtype("i1"), expression="x < limit", scalars={"limit": "i1"})
    some, count = compact(DeviceArray.from_host(host, device), predicate=rule(limit=-5))
    return bool(np.array_equal(some.to_host()[: count.to_host()[0]], host[host < -5]))


def colours_are_right(device: Device) -> bool:
    """Return whether records of three bytes move, which are no whole words."""
    host = draw("u1", 900).view(COLOUR)
    order = np.random.default_rng(1).permutation(300).astype(np.uint32)
    values = DeviceArray.from_host(host, device)
    moved = gather(values, DeviceArray.from_host(order, device))
    flags = DeviceArray.from_host((order % 3 == 0).astype(np.uint8), device)
    some, count = compact(moved, flags)
    expected = host[order]
    return bool(
        np.array_equal(moved.to_host(), expected)
        and np.array_equal(some.to_host()[: count.to_host()[0]], expected[order % 3 == 0])
    )
