"""Dendrograms of forests: who sorts the edges, and who merges them."""

from __future__ import annotations

from clmst.route.limits import LIMITS


def device_sorts(n_edges: int, *, alone: bool) -> bool:
    """Return whether a device, not the host, sorts the edges of a forest by weight."""
    return not alone and n_edges >= LIMITS.device_sort


def one_merges(n_vertices: int, *, alone: bool) -> bool:
    """Return whether one work-item merges the edges of a forest."""
    return alone or n_vertices <= LIMITS.serial_dendrogram
