"""Small cases of segments by offsets and of their results, for Oclgrind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from clmst import Device, DeviceArray
from clmst.primitives import Monoid, end_flags, head_flags, segmented_reduce
from tests.primitives.shapes import landmarks

EMPTY = np.uint32(np.iinfo(np.uint32).max)


def cases() -> Iterator[tuple[str, Callable[[Device], bool]]]:
    """Yield the name of each case, and what returns whether a device does it right."""
    for name in ("one lane group", "tile"):
        yield f"rows of {name}", partial(rows_are_right, at=name)
        yield f"flagged minima of {name}", partial(flagged_are_right, at=name)
    yield "no rows", no_rows_are_right


def random_offsets(rng: np.random.Generator, length: int, n_segments: int) -> np.ndarray:
    """Return the offsets of so many segments, some of them empty."""
    cuts = np.sort(rng.integers(0, length + 1, n_segments - 1))
    return np.concatenate([[0], cuts, [length]]).astype(np.uint32)


def minima_of_rows(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the minimum of every row, by the definition."""
    rows = [values[begin:end] for begin, end in pairwise(offsets)]
    return np.array([row.min(initial=EMPTY) for row in rows], np.uint32)


def rows_are_right(device: Device, *, at: str, more: int = 7) -> bool:
    length = landmarks(device, 4, segmented=True)[at] + more
    rng = np.random.default_rng(length)
    values = rng.integers(0, 1 << 32, length, dtype=np.uint32)
    offsets = random_offsets(rng, length, max(length // 5, 1))
    found = segmented_reduce(
        DeviceArray.from_host(values, device),
        offsets=DeviceArray.from_host(offsets, device),
        monoid=Monoid.minimum(np.uint32),
    )
    return np.array_equal(found.to_host(), minima_of_rows(values, offsets))


def flagged_are_right(device: Device, *, at: str, more: int = 7) -> bool:
    length = landmarks(device, 4, segmented=True)[at] + more
    rng = np.random.default_rng(length)
    values = rng.integers(0, 1 << 32, length, dtype=np.uint32)
    offsets = np.unique(random_offsets(rng, length, max(length // 5, 1)))
    flags = head_flags(DeviceArray.from_host(offsets, device), length)
    expected = np.zeros(length, np.uint8)
    expected[offsets[:-1]] = 1
    ends = np.roll(expected, -1)
    results, count = segmented_reduce(
        DeviceArray.from_host(values, device), flags, monoid=Monoid.minimum(np.uint32)
    )
    n_segments = int(count.to_host()[0])
    return (
        np.array_equal(flags.to_host(), expected)
        and np.array_equal(end_flags(flags).to_host(), ends)
        and n_segments == offsets.size - 1
        and np.array_equal(results[:n_segments].to_host(), minima_of_rows(values, offsets))
    )


def no_rows_are_right(device: Device) -> bool:
    nothing = DeviceArray.empty(0, np.uint32, device)
    offsets = DeviceArray.from_host(np.zeros(4, np.uint32), device)
    sums = segmented_reduce(nothing, offsets=offsets).to_host()
    none = segmented_reduce(nothing, offsets=offsets[:1])
    return sums.tolist() == [0, 0, 0] and none.size == 0 and head_flags(offsets, 0).size == 0
