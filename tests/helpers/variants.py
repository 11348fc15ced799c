"""The variants in which a device is tested: as it is, reshaped, and with capabilities forced off.

Every usable device of the machine takes part. On CPU devices the GPU shape of the kernels
(work-groups, lanes, staging) runs as well, with sizes small enough to reach every overflow path.

Three rules keep building and running kernels short, which is most of the time of all tests:

* What a variant forces off concerns the kernels, and how a driver compiles them concerns the
  driver. The contract suite and the tests of primitives run each pair of the two with
  ``run.py test --all``; what the standard run leaves out is in `takes_part`. Other tests run
  variants that force something off only on the first driver (`variants_elsewhere`).
* The same holds for the shape of a GPU. Elsewhere, drivers after the first one take only the first
  case of each test in this shape (`takes_first_cases_only`). In the standard run, tests elsewhere
  take turns between two shapes of a GPU, and every fourth one takes the other drivers.
* Devices as they are compile with optimisation in the contract suite and the tests of primitives,
  there on the first driver (`first_optimised`), and in the self-tests of all families of kernels,
  for which drivers take turns (``tests/whole/test_families.py``). Everything else compiles without
  it, in a third to a seventh of the time: all CPUs have 64-bit atomics, no user gets the shape of a
  GPU on one, and the effect of optimisation on a kernel does not depend on the call. Most programs
  are then built once for all tests.

``CLMST_TESTED_DEVICES=optimised``, as in ``run.py test --all``, lets devices as they are compile
with optimisation in all tests that ask for variants. ``CLMST_TESTED_DEVICES=every`` lifts all three
rules, and the proof by volume (`tests.prove`) runs every variant optimised.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from zlib import crc32

import pytest

from clmst.algorithms import ecl, filter_boruvka
from clmst.algorithms.filter_boruvka import gpu, workspace
from clmst.primitives import chain, radix, shares
from clmst.runtime import discovery
from clmst.runtime.device import Device
from clmst.runtime.policy import GPU

# With "every", all variants of all devices run in all tests, optimised. With "optimised", devices
# as they are compile with optimisation in all tests. With "chosen", only the default device takes
# part, as it is. That is enough if Python packages change, not kernels. With "chosen, unoptimised",
# every device that tests make compiles without optimisation, which is enough before a commit.
DEVICES_VARIABLE = "CLMST_TESTED_DEVICES"
_TESTED = os.environ.get(DEVICES_VARIABLE, "")
CHOSEN_ALONE = _TESTED.startswith("chosen")
UNOPTIMISED = _TESTED.endswith("unoptimised")
EVERY = _TESTED == "every"
OPTIMISED = EVERY or _TESTED == "optimised"

# Files of tests that run on every driver in the standard run.
TESTS_OF_DRIVERS = ("tests/runtime/", "tests/whole/")

# This policy has small work-groups, and sizes with which graphs of some hundred edges reach every
# code path for overflows.
GPU_SHAPE = replace(
    GPU,
    work_group_size=64,
    groups_per_compute_unit=3,
    edges_per_item=2,
    stage_capacity=64,
    shares_per_compute_unit=2,
    chain_bytes_per_item=32,
    compact_shares_per_compute_unit=2,
    split_bytes_per_item=32,
    split_shares_per_compute_unit=2,
    slots_per_item=2,
    worklist_edges_per_item=2,
    filter_degree=3.0,
    filter_edges=0,
).with_constants(
    {
        ecl.HUB_ROW: 48,
        shares.BYTES_PER_ITEM: 32,
        chain.WORK_ITEMS: 64,
        radix.RADIX_BITS: 5,
        radix.WORK_ITEMS: 64,
        workspace.POINTER_STEPS: 2,
        workspace.RESIDENT_ITEMS: 64,
        workspace.RESIDENT_SLOTS_PER_ITEM: 2,
        workspace.RESIDENT_EDGES_PER_ITEM: 2,
        workspace.FINISH_GROUPS: 1,
        workspace.FINISH_ITEMS: 64,
        workspace.DIRECT_VERTICES: 1 << 9,
        filter_boruvka.RESIDENT_SLOTS: 1 << 20,
        gpu.HALF_RESIDENT_SLOTS: 1 << 10,
        gpu.SEPARATE_ROUNDS: 1,
    }
)

# Whether a variant has the shape of a GPU, and which capabilities it lacks.
VARIANTS: dict[str, tuple[bool, tuple[str, ...]]] = {
    "native": (False, ()),
    "no-int64-atomics": (False, ("int64-atomics",)),
    "gpu-shape": (True, ()),
    "no-lanes": (True, ("lanes",)),
    "no-lanes-no-int64-atomics": (True, ("lanes", "int64-atomics")),
}


def as_variant(device: Device, name: str) -> Device:
    """Return a variant of a device. A GPU already has the shape of a GPU."""
    shaped, without = VARIANTS[name]
    if shaped and device.capabilities.kind == "cpu":
        device = device.with_policy(GPU_SHAPE)
    return device.forcing_off(*without) if without else device


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant of a device."""

    name: str
    device: Device


@cache
def variants() -> tuple[Variant, ...]:
    """Return all variants of all usable devices, except simulators, which have own tests."""
    every = (
        variant
        for listing in discovery.devices()
        if listing.usable and "oclgrind" not in listing.device.platform.lower()
        for variant in _variants_of(_tried(listing.device))
    )
    return tuple(islice(every, 1 if CHOSEN_ALONE else None))


@cache
def variants_elsewhere() -> tuple[Variant, ...]:
    """Return the variants for all tests except the contract suite and the tests of primitives.

    Capabilities are forced off only on the first driver. Lanes are not forced off alone, but
    together with 64-bit atomics. 64-bit atomics are forced off alone in the shape of a CPU. Devices
    as they are compile without optimisation, except with `OPTIMISED`.
    """
    every = variants()
    return tuple(
        _quickly(one)
        for one in every
        if EVERY
        or not one.device.without
        or (one.device.platform == every[0].device.platform and one.device.without != ("lanes",))
    )


@cache
def first_optimised() -> tuple[Variant, ...]:
    """Return all variants, of which only those of the first driver compile with optimisation.

    With `OPTIMISED`, all devices as they are compile with optimisation.
    """
    first = variants()[:1]
    return first + tuple(map(_quickly, variants()[1:]))


def _quickly(one: Variant) -> Variant:
    """Return a variant that compiles without optimisation, except on a GPU or with `OPTIMISED`."""
    is_cpu = one.device.capabilities.kind == "cpu"
    if OPTIMISED or not is_cpu or not is_native(one.device):  # other variants compile so already
        return one
    return replace(one, device=unoptimised(one.device))


def takes_first_cases_only(device: Device) -> bool:
    """Return whether a device runs only the first case of each test, outside of these two suites.

    That holds for the shape of a GPU on all drivers except the first.
    """
    is_first = device.platform == variants()[0].device.platform
    return device.policy is GPU_SHAPE and not (is_first or EVERY)


def takes_part(device: Device, test: str, *, in_suite: bool) -> bool:
    """Return whether the standard run takes a variant.

    `in_suite` says whether the test is of the contract suite or the tests of primitives. These
    suites take all variants of the first driver, and devices as they are on the others. No user
    gets the shape of a GPU on a CPU, so that it need not be compiled by the compilers of several.

    Other tests leave out, on the first driver, the shape of a CPU without 64-bit atomics, which no
    CPU lacks. There they take one of the two shapes of a GPU: with lanes and 64-bit atomics, or
    without both. They take turns, by a checksum of `test`, the test's file and name. Every fourth
    test takes the other drivers. Tests of the runtime, and of clmst as a whole, all take them
    (`TESTS_OF_DRIVERS`).
    """
    is_first, turn = device.platform == variants()[0].device.platform, crc32(test.encode())
    if not is_first:
        takes_drivers = turn & 6 == 2 or test.startswith(TESTS_OF_DRIVERS)
        return is_native(device) and (in_suite or takes_drivers)
    if in_suite or is_native(device):
        return True
    return device.policy is GPU_SHAPE and bool(device.without) == bool(turn & 1)


def extreme_variants() -> list[Variant]:
    """Return the first device as it is, and with everything forced off. Empty without a device."""
    every = variants_elsewhere()
    every = tuple(one for one in every if one.device.platform == every[0].device.platform)
    return [every[0], every[-1]] if every else []


def native_variants() -> list[Variant]:
    """Return the devices of all drivers as they are."""
    return [one for one in variants_elsewhere() if is_native(one.device)]


def optimised_variants() -> list[Variant]:
    """Return the devices of all drivers as they are, whose programs compile with optimisation."""
    return [one for one in variants() if is_native(one.device)]


def shaped_variants() -> list[Variant]:
    """Return the devices as they are, and the devices in the shape of a GPU.

    Tests with many widths of weights, each of which is a build, use these instead of all variants.
    """
    shaped = [one for one in variants_elsewhere() if one.name.endswith("gpu-shape")]
    return native_variants() + shaped


def each_of(some: Iterable[Variant]) -> pytest.MarkDecorator:
    """Return a mark that runs a test with each of some variants as the argument `variant`."""
    return pytest.mark.parametrize("variant", some, ids=lambda one: one.name)


@cache
def unoptimised(device: Device) -> Device:
    """Return a device as it is, whose programs compile without optimisation."""
    return device if EVERY else _trusted(device, optimised=False)


def _trusted(device: Device, *, optimised: bool = True) -> Device:
    """Return a device that needs no self-tests, since tests compare all its answers themselves."""
    made = Device(
        device.cl_device,
        without=device.without,
        _trusted=True,
        _optimised=optimised and not UNOPTIMISED,
    )
    made.capabilities = device.capabilities  # without what its trial found wrong
    return made


def _tried(device: Device) -> Device:
    """Return a device that needs no self-tests, and without lanes if their trial ends processes."""
    made = _trusted(device)
    made.capabilities = device.with_policy(GPU_SHAPE).capabilities
    return made


def is_native(device: Device) -> bool:
    """Return whether a device is tested as it is: in its own shape, with nothing forced off."""
    return not device.without and device.policy is not GPU_SHAPE


def _variants_of(device: Device) -> Iterator[Variant]:
    name = (
        "pocl"
        if "Portable" in device.platform
        else device.platform.split("(")[0].split()[0].lower()
    )
    yield Variant(name, device)
    quickly = _trusted(device, optimised=EVERY or device.capabilities.kind != "cpu")
    yield Variant(f"{name}-no-int64-atomics", as_variant(quickly, "no-int64-atomics"))
    if device.capabilities.kind == "cpu":
        yield Variant(f"{name}-gpu-shape", as_variant(quickly, "gpu-shape"))
    if as_variant(device, "gpu-shape").capabilities.lanes != "local":
        yield Variant(f"{name}-no-lanes", as_variant(quickly, "no-lanes"))
    without_both = as_variant(quickly, "no-lanes-no-int64-atomics")
    yield Variant(f"{name}-no-lanes-no-int64-atomics", without_both)
