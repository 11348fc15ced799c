"""Self-tests of primitives: their results must equal the results of NumPy, bit for bit.

Each test yields answers. An answer consists of a name, the result that the device has computed, and
the result that NumPy computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps

import numpy as np

from clmst.core.weight_keys import Array
from clmst.primitives.compact import compact, partition, positions, unique_by_key
from clmst.primitives.histogram import histogram
from clmst.primitives.map import Map, map
from clmst.primitives.permute import gather, scatter
from clmst.primitives.scan import exclusive_scan, inclusive_scan, reduce, segmented_scan
from clmst.primitives.segments import end_flags, head_flags, segmented_reduce
from clmst.primitives.sort import argsort, sort, sort_by_key
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Answer

# The lengths of the tested arrays: one element, fewer elements than a tile, and many tiles of which
# the last one is not full.
_LENGTHS = (1, 100, (1 << 17) + 77)

Answers = Iterator[Answer]


def _of_each_length(test: Callable[[Device, int], Answers]) -> Callable[[Device, object], Answers]:
    """Turn a test for arrays of `n` elements into a self-test for each length in `_LENGTHS`."""

    @wraps(test)
    def answers(device: Device, _: object) -> Answers:
        for n in _LENGTHS:
            for name, found, expected in test(device, n):
                yield f"elements of {name} of {n}", found, expected

    return answers


@_of_each_length
def scan_answers(device: Device, n: int) -> Answers:
    """Compute prefix sums and a sum of `n` random integers on a device, to test it.

    Sums exceed 32 bits, so they wrap around. Yields triples: a name, the device's result and the
    right result.
    """
    rng = np.random.default_rng(n)
    host = rng.integers(0, 1 << 32, n, dtype=np.uint32)  # sums wrap
    values = DeviceArray.from_host(host, device)
    sums = np.cumsum(host, dtype=np.uint32)
    yield "exclusive_scan", exclusive_scan(values), sums - host
    in_three = exclusive_scan(values, strategy="reduce-then-scan")
    yield "exclusive_scan in three launches", in_three, sums - host
    yield "inclusive_scan", inclusive_scan(values), sums
    yield "reduce", reduce(values), sums[-1:]
    heads = _heads(rng, n)
    segmented = segmented_scan(values, DeviceArray.from_host(heads, device))
    yield "segmented_scan", segmented, _sums_of_segments(host, heads)


@_of_each_length
def segments_answers(device: Device, n: int) -> Answers:
    """Compute flags and sums of segments on a device, to test it.

    The segments have `n` elements together. Yields triples: a name, the device's result and the
    right result.
    """
    rng = np.random.default_rng(n)
    heads = _heads(rng, n)
    starts = np.flatnonzero(heads)
    host = rng.integers(0, 1 << 20, n, dtype=np.uint32)
    offsets = DeviceArray.from_host(np.append(starts, n).astype(np.uint32), device)
    yield "head_flags", head_flags(offsets, n), heads
    yield "end_flags", end_flags(DeviceArray.from_host(heads, device)), np.append(heads[1:], 1)
    sums = segmented_reduce(DeviceArray.from_host(host, device), offsets=offsets)
    yield "segmented_reduce", sums, np.add.reduceat(host, starts, dtype=np.uint32)


@_of_each_length
def split_answers(device: Device, n: int) -> Answers:
    """Sort `n` numbers on a device, and split numbers by some bits, to test it.

    Yields triples: a name, the device's result and the right result.
    """
    rng = np.random.default_rng(n)
    for dtype in (np.uint32, np.float64):
        keys = rng.integers(-500, 500, n).astype(np.float64)
        host = keys.astype(np.int32).view(np.uint32) if dtype is np.uint32 else keys
        order = np.argsort(host, kind="stable")
        yield "sort", sort(DeviceArray.from_host(host, device)), host[order]
        values = DeviceArray.from_host(np.arange(n, dtype=np.uint32), device)
        _, moved = sort_by_key(DeviceArray.from_host(host, device), values)
        yield "sort_by_key", moved, order.astype(np.uint32)
    short = rng.integers(-128, 128, n).astype(np.int8)
    risen = np.argsort(short, kind="stable").astype(np.uint32)
    yield "argsort", argsort(DeviceArray.from_host(short, device)), risen
    words = rng.integers(0, 1 << 32, n, dtype=np.uint32)
    by_digit = np.argsort(words >> 3 & 0x7FF, kind="stable")
    moved = split(DeviceArray.from_host(words, device), key_bits=11, start_bit=3)
    yield "split", moved, words[by_digit]


@_of_each_length
def compact_answers(device: Device, n: int) -> Answers:
    """Select some of `n` elements on a device, by flags and by key, to test it.

    Yields triples: a name, the selected elements and the right ones. This also tests the number of
    selected elements, because the device's count says how many elements are compared.
    """
    rng = np.random.default_rng(n)
    words, flags = rng.integers(0, 50, n, dtype=np.uint32), rng.integers(0, 2, n, dtype=np.uint8)
    records, kept = DeviceArray.from_host(words, device), DeviceArray.from_host(flags, device)
    some, count = compact(records, kept)
    k = int(count.to_host()[0])
    yield "compact", some[:k], words[flags == 1]
    both, _ = partition(records, kept)
    yield "partition", both, np.concatenate([words[flags == 1], words[flags == 0]])
    found, count = positions(kept)
    yield "positions", found[: int(count.to_host()[0])], np.flatnonzero(flags).astype(np.uint32)
    heads = np.append(1, words[1:] != words[:-1])
    firsts, count = unique_by_key(records)
    yield "unique_by_key", firsts[: int(count.to_host()[0])], words[heads == 1]


@_of_each_length
def permute_answers(device: Device, n: int) -> Answers:
    """Gather and scatter by a permutation of `n` elements on a device, to test it.

    Yields triples: a name, the device's result and the right result.
    """
    rng = np.random.default_rng(n)
    order = rng.permutation(n).astype(np.uint32)
    indices = DeviceArray.from_host(order, device)
    for dtype in (np.uint32, np.uint64):
        host = rng.integers(0, np.iinfo(dtype).max, n, dtype=dtype)
        values = DeviceArray.from_host(host, device)
        yield "gather", gather(values, indices), host[order]
        out = DeviceArray.empty(n, dtype, device)
        yield "scatter", scatter(values, indices, out), host[np.argsort(order)]


@_of_each_length
def map_answers(device: Device, n: int) -> Answers:
    """Compute maps and histograms of `n` elements on a device, to test it.

    There are a map with arguments, two maps of packed records, and histograms of two sizes. Yields
    triples: a name, the device's result and the right result.
    """
    rng = np.random.default_rng(n)
    host, other = rng.integers(0, 1 << 16, (2, n), dtype=np.uint16)
    values, others = DeviceArray.from_host(host, device), DeviceArray.from_host(other, device)
    blend = Map(
        dtype=host.dtype, result=np.dtype(np.uint32), expression="x * factor + other[i] + i",
        scalars={"factor": "u4"}, arrays={"other": "u2"},
    )  # fmt: skip
    expected = host.astype(np.uint32) * 7 + other + np.arange(n, dtype=np.uint32)
    yield "map", map(values, blend(factor=7, other=others)), expected
    packed = np.dtype([("tag", "u1"), ("weight", "f4"), ("id", "i8")])  # fields are not aligned
    records, turned = np.zeros(n, packed), np.zeros(n, [("id", "i8"), ("weight", "f4")])
    records["tag"], records["weight"], records["id"] = host & 255, host, -other.astype("i8")
    turned["id"], turned["weight"] = records["id"] - records["tag"], -records["weight"]
    turn = Map(dtype=packed, result=turned.dtype, expression="result(x.id - x.tag, -x.weight)")
    yield "map of records", map(DeviceArray.from_host(records, device), turn), turned
    mixed = np.dtype([("tag", "u2"), ("weight", "f8"), ("id", "i2"), ("more", "f4")])
    given, subtracted = np.zeros(n, mixed), np.zeros(n, [("weight", "f8"), ("id", "i8")])
    given["tag"], given["weight"], given["more"] = host, host, -other.astype("f4")
    subtracted["weight"], subtracted["id"] = other, host % 100
    subtract = Map(
        dtype=subtracted.dtype, result=mixed, arrays={"other": mixed},
        expression="result(other[i].tag, other[i].weight - x.weight, x.id, other[i].more)",
    )  # fmt: skip
    expected_records = given.copy()
    expected_records["weight"] -= subtracted["weight"]
    expected_records["id"] = subtracted["id"]
    on_device = subtract(other=DeviceArray.from_host(given, device))
    found = map(DeviceArray.from_host(subtracted, device), on_device)
    yield "map of an array of records", found, expected_records
    for n_bins in (1000, 5000):
        counts = np.bincount(host, minlength=n_bins)[:n_bins].astype(np.uint32)
        yield f"histogram of {n_bins} bins", histogram(values, n_bins), counts


def _heads(rng: np.random.Generator, n: int) -> Array:
    """Create `n` flags that mark the first elements of random segments.

    There are many short segments, and one of half the array. `rng` gives the random numbers.
    """
    heads = (rng.random(n) < 0.2).astype(np.uint8)
    heads[n // 4 : 3 * n // 4] = 0
    heads[0] = 1
    return heads


def _sums_of_segments(values: Array, heads: Array) -> Array:
    sums = np.cumsum(values, dtype=values.dtype)
    before = (sums - values)[heads == 1]
    found: Array = sums - before[np.cumsum(heads, dtype=np.int64) - 1]
    return found
