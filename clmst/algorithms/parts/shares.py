"""Divide the edges among several devices, in proportion to the speeds of their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from clmst.runtime.device import Device

# Nanoseconds that "filter-boruvka" takes for an edge that is stored once. For GPUs, the number was
# measured with an H200 on road_usa, r4_23, kron21 and rmat22, and is off by a sixth to two fifths.
# For CPUs, it was measured with two cores on the eight graphs of "Repeated solves" in
# docs/experiments.md except patents, which does not fit a cache, and is off by a fifth.
_EDGE_NS = {"gpu": 0.036, "accelerator": 0.036, "cpu": 7.4}
# Nanoseconds to copy one byte to a device with memory of its own, measured with large arrays on an
# H200.
_UPLOAD_NS = 1 / 45
# With several devices, each solves a part of the graph, some consecutive CSR rows. Edges of early
# rows take longer (:func:`ends_of_parts` says why), so parts with early rows get fewer edges. This
# number says by how much: if two devices are equal, the first part gets the share
# 0.5 - 0.5 * 0.5 * _EARLY_ROWS = 0.45 of all edges.
_EARLY_ROWS = 0.2


def edge_ns(device: Device, upload_bytes: int = 0) -> float:
    """Return the nanoseconds that a device takes for an edge.

    The time includes the copy of `upload_bytes` bytes to a device with memory of its own.
    """
    copies = device.capabilities.host_arrays == "copied"
    return _EDGE_NS[device.capabilities.kind] + upload_bytes * _UPLOAD_NS * copies


def by_speed(devices: Sequence[Device], upload_bytes: int = 0) -> list[Device]:
    """Sort devices by speed, the quickest first. Equally quick devices keep their order.

    `upload_bytes` is the number of bytes of each edge that are copied to a device.
    """
    return sorted(devices, key=lambda device: edge_ns(device, upload_bytes))


def shares_of(devices: Sequence[Device], upload_bytes: int = 0) -> list[float]:
    """Return the share of the edges, from 0 to 1, that each device should get.

    `upload_bytes` is the number of bytes that are copied for each edge, or 0 if copies do not
    count.
    """
    speeds = [1 / edge_ns(device, upload_bytes) for device in devices]
    return [speed / sum(speeds) for speed in speeds]


def ends_of_parts(devices: Sequence[Device]) -> list[float]:
    """Return the end of each device's part, as a share of all edges in the order of CSR rows.

    Each device solves the edges of consecutive rows. The last end, which is 1, is left out. Each
    edge is stored in the row of its lesser end. So the edges of early rows lead to all vertices,
    the edges of late rows lead to few vertices, and an edge of an early row takes longer. Two H200s
    take equally long if the first part has 0.42 to 0.48 of the edges of a random graph
    (docs/several_devices.md).
    """
    ends = list(accumulate(shares_of(devices)))
    return [end - _EARLY_ROWS * end * (1 - end) for end in ends[:-1]]
