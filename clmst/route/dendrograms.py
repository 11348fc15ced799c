"""The ways of dendrograms: who sorts edges, who merges clusters, and in how many launches."""

from __future__ import annotations

from clmst.route.facts import DeviceFacts
from clmst.route.limits import LIMITS


def merges_serially(n: int, device: DeviceFacts) -> bool:
    """Return whether one work-item merges the clusters of `n` vertices along a tree's edges."""
    return device.alone or n <= LIMITS.serial_merges


def condenses_in_one_launch(n: int, tile: int, device: DeviceFacts) -> bool:
    """Return whether one launch merges and condenses; `tile` is how many items a tile has."""
    return merges_serially(n, device) and n <= LIMITS.condensed_tiles * tile


def sorts_on_device(n_edges: int, device: DeviceFacts) -> bool:
    """Return whether the device sorts a forest's edges; otherwise the host does."""
    return not device.alone and n_edges >= LIMITS.device_sort
