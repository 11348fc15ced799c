"""What selections are tried on, and what they mean, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import Device
from clmst.primitives import selection
from clmst.primitives.function import Predicate
from clmst.runtime.array import DeviceArray

Array = npt.NDArray[Any]


def words(n: int) -> np.dtype[Any]:
    """Return a dtype of so many unsigned words."""
    return np.dtype([(f"f{k}", np.uint32) for k in range(n)])


TRIPLE, QUAD = words(3), words(4)
SCALARS = tuple(map(np.dtype, ("u4", "i4", "f4", "u8", "i8", "f8")))

# What holds of about half of the records that `draw` makes, and the same in NumPy.
PREDICATES: dict[np.dtype[Any], tuple[str, Callable[[Array], Array]]] = {
    np.dtype("u4"): ("x > 0x80000000u", lambda x: x > 2**31),
    np.dtype("i4"): ("x < 0", lambda x: x < 0),
    np.dtype("f4"): ("x < 0.5f", lambda x: x < np.float32(0.5)),
    np.dtype("u8"): ("(x & 1) != 0", lambda x: x % 2 == 1),
    np.dtype("i8"): ("x > 0 && x % 5 != 1", lambda x: (x > 0) & (x % 5 != 1)),
    np.dtype("f8"): ("x * x < 0.25", lambda x: x * x < 0.25),
    QUAD: ("x.x < x.y || x.w == 7", lambda x: (x["f0"] < x["f1"]) | (x["f3"] == 7)),
}


def predicate(dtype: np.dtype[Any]) -> Predicate:
    return Predicate(dtype=dtype, expression=PREDICATES[dtype][0], name=f"predicate of {dtype}")


def holds(records: Array) -> Array:
    """Return a mask of the records of which the predicate of their dtype holds."""
    return PREDICATES[records.dtype][1](records)


def draw(rng: np.random.Generator, dtype: np.dtype[Any], length: int) -> Array:
    """Return random records: any bits, or fractions."""
    if dtype.kind == "f":
        return rng.random(length).astype(dtype)
    return np.frombuffer(rng.bytes(length * dtype.itemsize), dtype)


def in_runs(rng: np.random.Generator, records: Array) -> Array:
    """Return as many of the records, in runs of two on average."""
    picked = np.sort(rng.integers(0, max(records.size // 2, 1), records.size))
    return records[picked]


def heads(keys: Array) -> Array:
    """Return a mask of the first key of each run of keys that are equal bit by bit."""
    rows = keys.view(np.uint32).reshape(keys.size, keys.dtype.itemsize // 4)
    mask = np.ones(keys.size, np.bool_)
    mask[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return mask


KINDS = ("none", "all", "half", "few", "clustered", "last")


def flags(rng: np.random.Generator, kind: str, length: int) -> Array:
    """Return byte flags, those that are set being any bytes but 0."""
    chosen = {
        "none": np.zeros(length, np.bool_),
        "all": np.ones(length, np.bool_),
        "half": rng.random(length) < 0.5,
        "few": rng.random(length) < 0.02,
        "clustered": np.repeat(rng.random(length // 100 + 1) < 0.3, 100)[:length],
        "last": np.arange(length) == length - 1,
    }[kind]
    values: Array = (chosen * rng.integers(1, 256, length)).astype(np.uint8)
    return values


def same(left: Array, right: Array) -> bool:
    """Return whether two arrays are equal bit by bit."""
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


def count_of(count: DeviceArray) -> int:
    (number,) = count.to_host().tolist()
    return int(number)


# --------------------------------------------------------------------------- lengths


@cache
def with_shares(device: Device, shares: int) -> Device:
    """Return the device with so many work-groups a compute unit for selections."""
    return device.with_policy(replace(device.policy, compact_shares_per_compute_unit=shares))


def landmarks(device: Device) -> dict[str, int]:
    """Return the lengths at which kernels begin something new."""
    wide = selection.divide(device, 2**20)
    serial = device.policy.work_group_size == 1
    lane_group = 1 if serial else device.policy.work_group_size // wide.lane_groups
    few = (
        selection._RECORDS_SERIAL
        if serial
        else selection._RECORDS_ONE_GROUP * lane_group * wide.lane_groups
    )
    groups = device.capabilities.compute_units * device.policy.compact_shares_per_compute_unit
    tile = selection._ROWS * lane_group
    return {
        "vector of flags": 16,
        "row or run": 32,
        "tile": tile,
        "as far as bytes count": 16 * 255,
        "one work-group": few,
        "all shares": groups * wide.lane_groups * tile,
    }


def lengths_for(device: Device) -> Sequence[int]:
    """Return lengths around the landmarks, and some that are none; the last has all shares."""
    marks = landmarks(device)
    around = {mark + d for mark in marks.values() for d in (-1, 0, 1)}
    longest = max(2 * marks["one work-group"], 3 * marks["all shares"]) + marks["tile"] + 7
    return sorted({0, 1, 2, *around, 5 * marks["tile"] - 3, longest})
