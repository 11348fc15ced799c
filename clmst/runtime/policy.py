"""Tuning policies: how kernels are shaped for a kind of device. They never change a result.

Each entry states what it was measured on; what matches nothing gets the entry of its kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from clmst.runtime.capabilities import Capabilities, DeviceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The shape of kernels and launches.

    Attributes
    ----------
    work_group_size : int
        Work-items; 1 on CPUs, where one fat work-item a work-group needs no barriers.
    groups_per_compute_unit : int
        Work-groups of a grid-stride launch.
    edges_per_item : int
        Edges that a work-item takes from each tile of a worklist.
    rows_per_item : int
        Rows that a lone work-item takes from each tile of a graph (`work_group_size` 1 only).
    stage_capacity : int
        Edges staged in local memory before they are appended to a worklist.
    hub_row : int
        Slots from which on a row is cut into pieces of so many, a lane group each (work-groups of
        more than one work-item only).
    shares_per_compute_unit : int
        Work-groups among which reduce-then-scan shares an array out: as many as are resident.
    bytes_per_item : int
        Bytes that a work-item loads from each tile of its share; a multiple of 16.
    compact_shares_per_compute_unit : int
        Work-groups among which a selection shares an array out.
    compact_bytes_per_item : int
        Bytes of records and values that a work-item of a selection loads before it uses any; a
        multiple of 16.
    radix_bits : int
        Bits of a digit where lanes rank records, or work-items are alone: 1 to 8. Elsewhere 4.
    split_work_group_size : int
        Work-items where records are split; 1 where `work_group_size` is. Without ranking lanes 256
        at most.
    split_bytes_per_item : int
        Bytes of records that a work-item takes from each tile, at most; of values likewise. A tile
        and 13 KiB beside fit local memory. Without ranking lanes 32 at most.
    split_shares_per_compute_unit : int
        Work-groups among which records are shared out.
    """

    work_group_size: int
    groups_per_compute_unit: int
    edges_per_item: int
    rows_per_item: int
    stage_capacity: int
    hub_row: int
    shares_per_compute_unit: int
    bytes_per_item: int
    compact_shares_per_compute_unit: int
    compact_bytes_per_item: int
    radix_bits: int
    split_work_group_size: int
    split_bytes_per_item: int
    split_shares_per_compute_unit: int


# Figures: geometric mean of the times of the fifteen benchmark graphs on an NVIDIA H200, relative
# to these values with 2 edges an item; the same values again gave 0.998 (docs/performance.md).
# Other GPUs get the same until they are measured.
_DEFAULTS: dict[DeviceKind, Policy] = {
    "gpu": Policy(
        work_group_size=256,  # 128: 1.076, 512: 1.071
        # Many work-groups that the hardware schedules beat resident ones that stride: 8: 1.179,
        # 64: 1.035, 1024: 1.016.
        groups_per_compute_unit=256,
        edges_per_item=1,  # 1: 0.965, 4: 1.038, 8: 1.081
        rows_per_item=1,
        stage_capacity=1024,  # 512: 1.033, 2048: 1.088
        hub_row=128,  # 64: 0.976, but 1.2 on clique-like copapers; 256: 1.042
        # Exclusive scan of 2**28 uint32: 0.819 ms. 8: 0.837, 16: 0.884, 64: 0.819; with 128 bytes
        # an item 0.812, with 32 0.827.
        shares_per_compute_unit=32,
        bytes_per_item=64,
        # Compaction of 2**28 uint32 by flags, by a predicate, and of runs, in ms: 0.590, 0.704,
        # 0.960. 32, 64: 0.574, 0.689, 1.077; 16, 32: 0.587, 0.713, 1.005; 64, 16: 0.619, 0.745,
        # 1.017.
        compact_shares_per_compute_unit=32,
        compact_bytes_per_item=32,
        # Sort of 2**26 pairs of uint32, and 6 passes over 2**25 of uint64 with uint32, in ms: 3.36
        # and 3.79. 512, 64, 4: 3.56 and 4.01; 384, 64, 6: 4.07 and 3.73; 256, 64, 6: 4.04 and 4.64.
        radix_bits=8,
        split_work_group_size=512,
        split_bytes_per_item=48,
        split_shares_per_compute_unit=8,
    ),
    "cpu": Policy(
        work_group_size=1,
        groups_per_compute_unit=16,
        edges_per_item=256,
        rows_per_item=256,
        stage_capacity=256,
        hub_row=128,
        shares_per_compute_unit=4,
        bytes_per_item=64,
        compact_shares_per_compute_unit=4,
        compact_bytes_per_item=64,
        radix_bits=8,
        split_work_group_size=1,
        split_bytes_per_item=64,
        split_shares_per_compute_unit=4,
    ),
}
_DEFAULTS["accelerator"] = _DEFAULTS["gpu"]


def choose(capabilities: Capabilities) -> Policy:
    """Return the policy for a device."""
    return _DEFAULTS[capabilities.kind]
