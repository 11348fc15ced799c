"""The variants of a device: its own settings, in the shape of a GPU, with capabilities forced off.

Tests and the proof by volume run in all of them. The shape is one of small work-groups, with sizes
that reach every overflow path on graphs of some hundred edges.
"""

from __future__ import annotations

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
    chain_work_group_size=64,
    chain_bytes_per_item=32,
    chain_registers=0,
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
    probe_edges=1 << 12,
    resident_groups_per_compute_unit=0,
    resident_work_group_size=64,
    resident_slots_per_item=2,
    resident_edges_per_item=2,
    finish_groups_per_compute_unit=1,
    finish_work_group_size=64,
    finish_edges_per_item=2,
    resident_slots=1 << 20,
    half_resident_slots=1 << 10,
    direct_vertices=1 << 9,
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
