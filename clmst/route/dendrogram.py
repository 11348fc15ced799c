"""Dendrograms of forests: whether the device sorts the edges, and how they are merged."""

from __future__ import annotations

from clmst.route.limits import LIMITS


def device_sorts(n_edges: int, *, alone: bool) -> bool:
    """Return whether the device sorts the edges of a forest by weight. Otherwise the host does.

    `alone` is True if work-groups of the device have one work-item, as on CPUs.
    """
    return not alone and n_edges >= LIMITS.device_sort


def one_merges(n_vertices: int, *, alone: bool) -> bool:
    """Return whether one work-item merges all edges. Otherwise they are merged level by level.

    `alone` is True if work-groups of the device have one work-item, as on CPUs.
    """
    return alone or n_vertices <= LIMITS.serial_dendrogram
