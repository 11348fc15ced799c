"""Shares of the edges for several devices, in proportion to the speeds of their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from clmst.runtime.device import Device

# Nanoseconds that "filter-boruvka" takes for an edge that is stored once: an H200 on road_usa,
# r4_23, kron21 and rmat22, off by a sixth to two fifths; two CPU cores on the eight graphs of
# "Repeated solves" in docs/experiments.md without patents, which fits no cache, off by a fifth.
_EDGE_NS = {"gpu": 0.036, "accelerator": 0.036, "cpu": 7.4}
# Nanoseconds for a byte that goes to a device with memory of its own: an H200, large arrays.
_UPLOAD_NS = 1 / 45
# How much shorter parts of early rows are: see ends_of_parts.
_EARLY_ROWS = 0.2


def edge_ns(device: Device, upload_bytes: int = 0) -> float:
    """Return the nanoseconds that a device takes for an edge, of which so many bytes come to it."""
    copies = device.capabilities.host_arrays == "copied"
    return _EDGE_NS[device.capabilities.kind] + upload_bytes * _UPLOAD_NS * copies


def by_speed(devices: Sequence[Device], upload_bytes: int = 0) -> list[Device]:
    """Return devices in the order of their speeds, the quickest first; equal ones as given."""
    return sorted(devices, key=lambda device: edge_ns(device, upload_bytes))


def shares_of(devices: Sequence[Device], upload_bytes: int = 0) -> list[float]:
    """Return each device's share of the edges. `upload_bytes`: of each edge, if uploads count."""
    speeds = [1 / edge_ns(device, upload_bytes) for device in devices]
    return [speed / sum(speeds) for speed in speeds]


def ends_of_parts(devices: Sequence[Device]) -> list[float]:
    """Return the share of the edges at which each device's part ends, in the order of rows.

    Each edge is stored in the row of its lesser end, so early rows lead to all vertices, late ones
    to few, and an edge of an early row takes longer. Two H200s are alike with 0.42 to 0.48 of the
    edges of a random graph in the first part (docs/several_devices.md).
    """
    ends = list(accumulate(shares_of(devices)))
    return [end - _EARLY_ROWS * end * (1 - end) for end in ends[:-1]]
