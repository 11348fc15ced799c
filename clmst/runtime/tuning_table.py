"""The shipped table: values measured on devices. docs/performance_log.md has what others took.

An entry has only measured fields. The others come from less specific entries, and at last from the
kind's values in ``policy.py``. `clmst tune --output` writes entries of the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clmst.runtime.capabilities import DeviceKind
from clmst.runtime.policy import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Values for a device, or for all devices of a vendor and a kind; None stands for any."""

    device: str | None = None  # as the device reports it, in full; so are the next three
    platform: str | None = None
    driver: str | None = None
    vendor: str | None = None  # of the OpenCL platform
    kind: DeviceKind | None = None
    clmst: str = "an unknown version"  # which wrote a user's own entry; others do not use it
    measured: str = ""  # device, date, and what the figures are
    values: Mapping[str, Number]  # fields of :class:`~clmst.runtime.policy.Policy`
    # Of a user's own, by field: the time with another value, as text, relative to that with its.
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The device that it is for, as a short text."""
        return self.device or f"{self.vendor}, {self.kind}"


# What was measured on CPUs, where it is as quick as anything next to it with either runtime.
_ON_CPUS: Mapping[str, Number] = {
    "work_group_size": 1,
    "groups_per_compute_unit": 16,
    "edges_per_item": 256,
    "rows_per_item": 256,
    "stage_capacity": 256,
    "compact_shares_per_compute_unit": 4,
}

SHIPPED: tuple[Entry, ...] = (
    # NVIDIA's other GPUs get them, too. An H100 solves small graphs four times as fast with them as
    # with those of any GPU, which have no resident work-groups (docs/performance_log.md). All GPUs
    # with the instructions that these need hold 1024 work-items of 64 registers a compute unit.
    Entry(
        vendor="NVIDIA Corporation",
        kind="gpu",
        measured=(
            "NVIDIA H200, driver 580.159.04, 2026-11-21: ecl on the fifteen benchmark graphs, "
            "geometric mean (docs/performance_log.md), with 2 edges an item where that was not "
            "varied; the same values again gave 0.998"
        ),
        values={
            "work_group_size": 256,
            # Many work-groups that the hardware schedules beat resident ones that stride.
            "groups_per_compute_unit": 256,
            "edges_per_item": 1,
            "rows_per_item": 1,
            "stage_capacity": 1024,
            "hub_row": 128,  # 64 is quicker in the mean, but 1.2 on clique-like copapers
            # Exclusive scan of 2**28 uint32: 0.819 ms. 8: 0.837, 16: 0.884, 64: 0.819; with 128
            # bytes an item 0.812, with 32 0.827.
            "shares_per_compute_unit": 32,
            "bytes_per_item": 64,
            # Compaction of 2**28 uint32 by flags, by a predicate, and of runs, in ms: 0.590, 0.704,
            # 0.960. 32, 64: 0.574, 0.689, 1.077; 16, 32: 0.587, 0.713, 1.005; 64, 16: 0.619, 0.745,
            # 1.017.
            "compact_shares_per_compute_unit": 32,
            "compact_bytes_per_item": 32,
            # Scan of 2**28 uint32 and uint64 in one pass, in ms: 0.669, 1.29. 256, 128, 64: 0.685,
            # 1.28; 512, 96, 64: 0.683, 1.28; 512, 64, 56: 0.766, 1.46; 512, 96, 80: 0.874, 1.70.
            "chain_work_group_size": 512,
            "chain_bytes_per_item": 128,
            "chain_registers": 64,
            # Sorts of 2**26 pairs of uint32, and of uint32, in one sweep a digit, in ms: 2.24 and
            # 1.75. 512, 64: 2.33 and 1.66; 512, 48: 2.32 and 1.82; 384, 72 with 80 registers: 2.21
            # and 1.73. In three launches a digit, with 512, 48, 8: 3.36 and 2.21; 512, 64, 4: 3.56;
            # 384, 64, 6: 4.07; 256, 64, 6: 4.04.
            "radix_bits": 8,
            "split_work_group_size": 512,
            "split_bytes_per_item": 56,
            "split_shares_per_compute_unit": 8,
            # Of filter-boruvka, on the same graphs. Without resident work-groups small solves
            # are bound by launches: internet takes 0.75 ms, not 0.18.
            "slots_per_item": 8,
            "worklist_edges_per_item": 4,
            "max_registers": 40,
            "resident_groups_per_compute_unit": 4,
            "resident_work_group_size": 256,
            "resident_slots_per_item": 4,
            "finish_groups_per_compute_unit": 2,
            "finish_work_group_size": 512,
            "finish_edges_per_item": 2,
            "resident_slots": 1 << 23,
            # Device time of internet, road_ny, rmat16 with 2 and 4 work-groups a compute unit:
            # 0.081, 0.118, 0.111 and 0.090, 0.132, 0.126 ms; of cit 0.185 and 0.188, of grid20
            # 0.407 and 0.318, of amazon 0.329 and 0.272.
            "half_resident_slots": 1 << 20,
            # On the nine largest graphs, the only ones that have more than one launch: all rounds
            # but the first in resident work-groups that wait for one another. The same with one
            # separate round and 4 work-groups of 256 with 1 edge an item takes 1.074.
            "separate_rounds": 0,
        },
    ),
    # On two cores that others used as well: differences of 2 % mean nothing. The fields that matter
    # to filter-boruvka and prim were searched later, without a gain (docs/performance_log.md).
    Entry(
        vendor="Intel(R) Corporation",
        kind="cpu",
        measured=(
            "two cores of an AMD EPYC, Intel's CPU runtime, driver 2026.22.10.0.01, 2026-11-22: "
            "clmst tune, ecl on a grid of 512 x 512, random of 2**17 with degree 16, rmat of scale "
            "16 with factor 16, road of 2**18; medians of 7, of 21 for edges_per_item; geometric "
            "mean"
        ),
        values=_ON_CPUS,
    ),
    Entry(
        vendor="The pocl project",
        kind="cpu",
        measured=(
            "two cores of an AMD EPYC, PoCL, driver 3.1+debian, 2026-11-22: clmst tune, ecl on a "
            "grid of 512 x 512, random of 2**17 with degree 16, rmat of scale 16 with factor 16, "
            "road of 2**18; medians of 7, geometric mean"
        ),
        values=_ON_CPUS,
    ),
)
