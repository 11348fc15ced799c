"""The ways in which a device is tested: as it is, reshaped, and with capabilities forced off.

Every usable device of the machine takes part; on CPU devices the GPU shape of the kernels
(work-groups, lanes, staging) runs as well, with sizes small enough to reach every overflow path.

Three rules keep building and running kernels short, which is most of the time of all tests:

* What a variant forces off is the kernels' own business, and what a driver makes of it the
  driver's. The contract suite and the tests of primitives run each pair of the two. Other tests
  run variants that force something off on the first driver alone (`variants_elsewhere`).
* The same holds for the shape of a GPU: elsewhere, drivers after the first one take the first case
  of each test in it (`takes_first_cases_only`).
* Devices as they are compile with optimisation where a test asks for variants. All else compiles
  without it, in a third to a seventh of the time: no CPU lacks 64-bit atomics, nobody gets the
  shape of a GPU on one, and what optimisation does to a kernel does not depend on the call.

``CLMST_TESTED_DEVICES=every`` does without them, and the proof by volume
(`tests.prove`) runs every variant optimised.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

import pytest

from clmst.algorithms import ecl, filter_boruvka
from clmst.algorithms.filter_boruvka import gpu_launches, plan
from clmst.primitives import chain, radix, shares
from clmst.runtime import discovery
from clmst.runtime.device import Device
from clmst.runtime.policy import GPU

# Set to "every", all variants of all devices run in all tests, optimised. Set to "chosen", only the
# device that is used when none is asked for takes part, as it is: enough where not kernels but
# Python packages are what changes. Set to "chosen, unoptimised", compilers do without optimisation
# for every device that tests make: enough before a commit.
DEVICES_VARIABLE = "CLMST_TESTED_DEVICES"
_TESTED = os.environ.get(DEVICES_VARIABLE, "")
CHOSEN_ALONE = _TESTED.startswith("chosen")
UNOPTIMISED = _TESTED.endswith("unoptimised")
EVERY = _TESTED == "every"

# Small work-groups, with sizes that reach every overflow path on graphs of some hundred edges.
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
        plan.CHASE: 2,
        plan.RESIDENT_ITEMS: 64,
        plan.RESIDENT_SLOTS_PER_ITEM: 2,
        plan.RESIDENT_EDGES_PER_ITEM: 2,
        plan.FINISH_GROUPS: 1,
        plan.FINISH_ITEMS: 64,
        plan.DIRECT_VERTICES: 1 << 9,
        filter_boruvka.RESIDENT_SLOTS: 1 << 20,
        gpu_launches.HALF_RESIDENT_SLOTS: 1 << 10,
        gpu_launches.SEPARATE_ROUNDS: 1,
    }
)

# Whether a variant takes the shape of a GPU, and what it does without.
VARIANTS: dict[str, tuple[bool, tuple[str, ...]]] = {
    "native": (False, ()),
    "no-int64-atomics": (False, ("int64-atomics",)),
    "gpu-shape": (True, ()),
    "no-lanes": (True, ("lanes",)),
    "no-lanes-no-int64-atomics": (True, ("lanes", "int64-atomics")),
}


def as_variant(device: Device, name: str) -> Device:
    """Return a variant of a device; a GPU has the shape of one already."""
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
    """Return all variants of all usable devices but simulators, which have their own tests."""
    every = (
        variant
        for listing in discovery.devices()
        if listing.usable and "oclgrind" not in listing.device.platform.lower()
        for variant in _variants_of(_tried(listing.device))
    )
    return tuple(islice(every, 1 if CHOSEN_ALONE else None))


@cache
def variants_elsewhere() -> tuple[Variant, ...]:
    """Return the variants for all tests but those of the contract and of primitives.

    What is forced off is forced off on the first driver alone, and lanes not alone: they are
    forced off together with 64-bit atomics, and on these alone in the shape of a CPU.
    """
    every = variants()
    return tuple(
        one
        for one in every
        if EVERY
        or not one.device.without
        or (one.device.platform == every[0].device.platform and one.device.without != ("lanes",))
    )


def takes_first_cases_only(device: Device) -> bool:
    """Return whether a device takes one case of each test, outside of these two suites.

    It is the shape of a GPU on another driver than the first one, which takes all of them.
    """
    is_first = device.platform == variants()[0].device.platform
    return device.policy is GPU_SHAPE and not (is_first or EVERY)


def extreme_variants() -> list[Variant]:
    """Return the first device as it is, and with all forced off that can be; none without one."""
    every = [one for one in variants() if one.device.platform == variants()[0].device.platform]
    return [every[0], every[-1]] if every else []


def native_variants() -> list[Variant]:
    """Return devices as they are, each driver's."""
    return [one for one in variants() if is_native(one.device)]


def shaped_variants() -> list[Variant]:
    """Return devices as they are, and those in the shape of a GPU's kernels.

    Each width of weights is a build: what needs many of them runs on these, not on all variants.
    """
    return native_variants() + [one for one in variants() if one.name.endswith("gpu-shape")]


def each_of(some: Iterable[Variant]) -> pytest.MarkDecorator:
    """Return the mark of a test that takes each of some variants as `variant`."""
    return pytest.mark.parametrize("variant", some, ids=lambda one: one.name)


@cache
def unoptimised(device: Device) -> Device:
    """Return a device as it is, for programs that compile without optimisation."""
    return device if EVERY else _trusted(device, optimised=False)


def _trusted(device: Device, *, optimised: bool = True) -> Device:
    """Return a device that needs no self-tests: tests compare all of its answers themselves."""
    made = Device(
        device.cl_device,
        without=device.without,
        _trusted=True,
        _optimised=optimised and not UNOPTIMISED,
    )
    made.capabilities = device.capabilities  # without what its trial found wrong
    return made


def _tried(device: Device) -> Device:
    """Return a device that needs no self-tests, without lanes if their trial ends processes."""
    made = _trusted(device)
    made.capabilities = device.with_policy(GPU_SHAPE).capabilities
    return made


def is_native(device: Device) -> bool:
    """Return whether a device is tested as it is: its own shape of kernels, nothing forced off."""
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
