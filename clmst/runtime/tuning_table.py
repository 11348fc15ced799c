"""The shipped table: values measured on devices. docs/performance_log.md has what others took.

An entry has the values that differ from those of less specific entries, and at last from those of
the kind in ``policy.py``: none where these are the quickest. `clmst tune --output` writes entries
of the same form.
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
            "chain_bytes_per_item": 128,
            "chain_registers": 64,
            "split_bytes_per_item": 56,
            # Of filter-boruvka. Without resident work-groups small solves are bound by launches:
            # internet takes 0.75 ms, not 0.18.
            "slots_per_item": 8,
            "worklist_edges_per_item": 4,
            "max_registers": 40,
            "resident_groups_per_compute_unit": 4,
        },
    ),
    # On two cores that others used as well: differences of 2 % mean nothing. No value next to those
    # of CPUs is quicker, nor was one of filter-boruvka's and prim's, which were searched later.
    Entry(
        vendor="Intel(R) Corporation",
        kind="cpu",
        measured=(
            "two cores of an AMD EPYC, Intel's CPU runtime, driver 2026.22.10.0.01, 2026-11-22: "
            "clmst tune, ecl on a grid of 512 x 512, random of 2**17 with degree 16, rmat of scale "
            "16 with factor 16, road of 2**18; medians of 7, of 21 for edges_per_item; geometric "
            "mean"
        ),
        values={},
    ),
    Entry(
        vendor="The pocl project",
        kind="cpu",
        measured=(
            "two cores of an AMD EPYC, PoCL, driver 3.1+debian, 2026-11-22: clmst tune, ecl on a "
            "grid of 512 x 512, random of 2**17 with degree 16, rmat of scale 16 with factor 16, "
            "road of 2**18; medians of 7, geometric mean"
        ),
        values={},
    ),
)
