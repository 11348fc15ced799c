"""The ways in which a device is tested: as it is, reshaped, and with capabilities forced off.

Every usable device of the machine takes part; on CPU devices the GPU shape of the kernels
(work-groups, lanes, staging) runs as well, with sizes small enough to reach every overflow path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from clmst.runtime import discovery
from clmst.runtime.device import Device
from clmst.runtime.policy import Policy

GPU_SHAPE = Policy(
    work_group_size=64,
    groups_per_compute_unit=3,
    edges_per_item=2,
    rows_per_item=1,
    stage_capacity=64,
    hub_row=48,
    shares_per_compute_unit=2,
    bytes_per_item=32,
    compact_shares_per_compute_unit=2,
    compact_bytes_per_item=32,
    radix_bits=5,
    split_work_group_size=64,
    split_bytes_per_item=32,
    split_shares_per_compute_unit=2,
    slots_per_item=2,
    worklist_edges_per_item=2,
    max_registers=0,
    chase=2,
    filter_degree=3.0,
    filter_target=1.0,
    dense_degree=15.0,
    dense_filter_target=0.7,
    resident_groups_per_compute_unit=0,
    resident_work_group_size=64,
    resident_slots_per_item=2,
    resident_edges_per_item=2,
    resident_slots=1 << 20,
    separate_rounds=1,
    prim_vertices=0,
    prim_edges=0,
    solve_us=1.0,
    edge_ns=1.0,
    vertex_ns=1.0,
    cell_ns=1.0,
    upload_gb_s=1.0,
    download_gb_s=1.0,
)


@dataclass(frozen=True, slots=True)
class Variant:
    """A device in one of its guises."""

    name: str
    device: Device


@cache
def variants() -> tuple[Variant, ...]:
    """Return all guises of all usable devices, simulators left out (they have their own tests)."""
    return tuple(
        variant
        for listing in discovery.devices()
        if listing.usable and "oclgrind" not in listing.device.platform.lower()
        for variant in _guises(listing.device)
    )


def is_native(device: Device) -> bool:
    """Return whether a device is tested as it is: its own shape of kernels, nothing forced off."""
    return not device.without and device.policy is not GPU_SHAPE


def _guises(device: Device) -> Iterator[Variant]:
    name = (
        "pocl"
        if "Portable" in device.platform
        else device.platform.split("(")[0].split()[0].lower()
    )
    yield Variant(name, device)
    yield Variant(f"{name}-no-int64-atomics", device.forcing_off("int64-atomics"))
    shaped = device
    if device.capabilities.kind == "cpu":
        shaped = device.with_policy(GPU_SHAPE)
        yield Variant(f"{name}-gpu-shape", shaped)
    if shaped.capabilities.lanes != "local":
        yield Variant(f"{name}-no-lanes", shaped.forcing_off("lanes"))
    yield Variant(f"{name}-no-lanes-no-int64-atomics", shaped.forcing_off("lanes", "int64-atomics"))
