"""The shapes in which primitives are tested, and the lengths at which each does something else.

Results are checked by the proof by volume: ``tests.prove.primitives`` calls a primitive on what it
draws, new, in place, into longer memory or a view of it, and compares with NumPy bit for bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pyopencl as cl
import pytest
from _pytest.mark import ParameterSet

from clmst import Device, DeviceArray, route
from clmst.primitives import selection
from clmst.primitives.radix import Shape
from clmst.primitives.shares import tile_and_lane_groups
from clmst.primitives.sweeps import Segments, sweep_defines
from tests.helpers.capabilities import with_capabilities
from tests.helpers.variants import Variant, first_optimised, takes_part
from tests.prove.draws import Draws
from tests.prove.primitives.bench import Bench
from tests.prove.primitives.case import run
from tests.prove.primitives.kinds import Kind

# Those of 8, 4 and 16 bytes that do not commute first; then scalars and keys of each dtype.
QUICK_OPERATORS = (
    "affine maps", "last of u4", "products of matrices", "minimum of i4", "sum of f4",
    "product of u8", "bitwise_xor of i8", "maximum of f8", "minimum by key of u4",
    "minimum by key of i4", "minimum by key of f4", "minimum by key of f8", "sum of 4 i4",
)  # fmt: skip
OPERATORS = (
    *QUICK_OPERATORS, "minimum by key of u8", "minimum by key of i8", "4 affine maps of u4",
    "4 affine maps of u8",
)  # fmt: skip


def _distinct() -> list[Variant]:
    """Return the variants without those that differ in 64-bit atomics only, which play no part."""
    found: dict[Hashable, Variant] = {}
    for one in first_optimised():
        device = one.device
        shape = (device.cl_device, device.policy, device.capabilities.lanes)
        found.setdefault(shape, one)
    return list(found.values())


SHAPES = _distinct()
PLAIN = [one for one in first_optimised() if "-" not in one.name]

each_shape = pytest.mark.parametrize(
    "shape",
    [
        pytest.param(
            one.device,
            id=one.name,
            marks=[] if takes_part(one.device, "", in_suite=True) else pytest.mark.exhaustive,
        )
        for one in SHAPES
    ],
)

each_compiler = pytest.mark.parametrize("plain", [pytest.param(v.device, id=v.name) for v in PLAIN])

COMPUTE_UNITS = 2
SPINE_ITEMS = 16  # of cl/primitives/scan.cl, at most

KINDS = ("exclusive", "segmented exclusive", "inclusive", "segmented inclusive")


def _lane_group(device: Device) -> str:
    """Return the form that a lane group of ``cl/device/lane_group.cl`` has on a device."""
    return "alone" if device.policy.work_group_size == 1 else device.capabilities.lanes


def _pairs() -> Iterator[ParameterSet]:
    """Yield pairs of a shape and an operator, such as all kinds together make up.

    What compilers take for a program, a second or more, does not allow for every kind of every
    pair. Each operator comes to each kind of lane group, on one vendor's compiler or the other's in
    turn; each kind to each shape; each operator to several kinds.
    """
    lane_groups = sorted({_lane_group(one.device) for one in SHAPES})
    for (i, name), (j, lane_group) in product(enumerate(OPERATORS), enumerate(lane_groups)):
        same = [one for one in SHAPES if _lane_group(one.device) == lane_group]
        one = same[i % len(same)]
        if _is_tried(name, one.device):
            kind = KINDS[(i // len(same) + j) % len(KINDS)]
            yield pytest.param(one.device, name, kind, id=f"{one.name}-{name}".replace(" ", "-"))


def _is_tried(name: str, device: Device) -> bool:
    """Return whether a device can do it, and soon enough.

    Intel's compiler takes up to ten seconds for what sub-groups do with long elements.
    """
    if name.endswith("f8") and not device.capabilities.doubles:
        return False
    return _lane_group(device) != "khr" or name in QUICK_OPERATORS


each_pair = pytest.mark.parametrize(("shape", "name", "kind"), [*_pairs()])


def assert_right(device: Device, lengths: Iterable[int], kind: Kind, *, draws: int = 2) -> None:
    """Call a primitive several times on arrays of each length; compare with NumPy bit for bit."""
    for length in lengths:
        for seed in range(draws):
            wrong = run(kind, Bench(device, Draws(length, seed), length))
            assert wrong is None, (length, seed)


def put(device: Device, *hosts: np.ndarray) -> list[DeviceArray]:
    """Return copies of host arrays."""
    return [DeviceArray.from_host(host, device) for host in hosts]


@cache
def small(device: Device) -> Device:
    """Return the device with as few shares as it can have, so that short arrays fill them."""
    return _with_shares(device, 1)


@cache
def crowded(device: Device) -> Device:
    """Return the device with more work-groups than the spine takes at a time."""
    _, lane_groups = tile_and_lane_groups(device, 4)
    lane_group = device.policy.work_group_size // lane_groups
    return _with_shares(device, -(-(SPINE_ITEMS + 1) * lane_group // COMPUTE_UNITS))


def _with_shares(device: Device, shares_per_compute_unit: int) -> Device:
    """Return the device as if it were a small one, so that a test does the same on any machine."""
    tuning = replace(device.policy, shares_per_compute_unit=shares_per_compute_unit)
    return with_capabilities(device.with_policy(tuning), compute_units=COMPUTE_UNITS)


def landmarks(device: Device, element_bytes: int, *, segmented: bool = False) -> dict[str, int]:
    """Return the lengths at which kernels begin something new, in elements."""
    segments = Segments.FLAGS if segmented else Segments.NONE
    defines = sweep_defines(device.policy, segments=segments, exclusive=False)
    bytes_per_item = int(defines["BYTES_PER_ITEM"])
    tile, lane_groups = tile_and_lane_groups(device, element_bytes, bytes_per_item=bytes_per_item)
    chunk = max(16 // element_bytes, 1)
    all_shares = (
        device.capabilities.compute_units * device.policy.shares_per_compute_unit * lane_groups
    )
    marks = {
        "chunk": chunk,
        "row": chunk * device.policy.work_group_size // lane_groups,
        "tile": tile,
        "one lane group": route.LIMITS.scan_one_launch * tile,
        "work-group": lane_groups * tile,
        "all shares": all_shares * tile,
        "two tiles a share": 2 * all_shares * tile,
    }
    if device.policy.work_group_size == 1:  # see cl/primitives/scan_serial.cl
        marks["columns in all shares"] = all_shares * max(256 // element_bytes, 4)
    return marks


def lengths_for(device: Device, element_bytes: int, *, segmented: bool = False) -> list[int]:
    """Return lengths around the landmarks, and one far from all of them.

    The last length fills all shares.
    """
    marks = landmarks(device, element_bytes, segmented=segmented)
    around = [mark + d for mark in marks.values() for d in (-1, 0, 1)]
    longest = max(3 * marks["all shares"], 2 * marks["one lane group"], 2500) + 3 * marks["row"] + 1
    return sorted({0, 1, 2, *around, 5 * marks["tile"] - 3, longest})


# ------------------------------------------------------------------------- selections


@cache
def with_shares(device: Device, shares: int) -> Device:
    """Return the device with a number of work-groups a compute unit for selections."""
    return device.with_policy(replace(device.policy, compact_shares_per_compute_unit=shares))


def landmarks_of_selections(device: Device) -> dict[str, int]:
    """Return the lengths at which selections begin something new."""
    wide, size = selection.divide(device, 2**20), device.policy.work_group_size
    tile = selection._ROWS * size // wide.lane_groups
    groups = device.capabilities.compute_units * device.policy.compact_shares_per_compute_unit
    return {
        "vector of flags": 16,
        "row or run": 32,
        "tile": tile,
        "as far as bytes count": 16 * 255,
        "one work-group": route.LIMITS.selection_serial
        if size == 1
        else route.LIMITS.selection_one_launch * size,
        "all shares": groups * wide.lane_groups * tile,
    }


def lengths_of_selections(device: Device) -> list[int]:
    """Return lengths around the landmarks, and some far from all of them.

    The last length fills all shares.
    """
    marks = landmarks_of_selections(device)
    around = {mark + d for mark in marks.values() for d in (-1, 0, 1)}
    longest = max(2 * marks["one work-group"], 3 * marks["all shares"]) + marks["tile"] + 7
    return sorted({0, 1, 2, *around, 5 * marks["tile"] - 3, longest})


def shape_of(device: Device, words: int = 1) -> Shape:
    """Return the shape in which a device splits elements of some words."""
    return Shape.choose(device.capabilities, device.policy, words)


def built(device: Device, text: str, options: Sequence[str] = ("-cl-std=CL1.2",)) -> cl.Program:
    """Return a program of a test's own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program: cl.Program = cl.Program(device.context, text).build(list(options))
        return program
