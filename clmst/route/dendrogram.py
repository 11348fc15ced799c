"""Dendrograms of forests: who sorts the edges, who merges them, and in how many launches."""

from __future__ import annotations

from clmst.route.limits import LIMITS


def device_sorts(n_edges: int, *, alone: bool) -> bool:
    """Return whether a device, not the host, sorts the edges of a forest by weight."""
    return not alone and n_edges >= LIMITS.device_sort


def one_merges(n_vertices: int, *, alone: bool) -> bool:
    """Return whether one work-item merges the edges of a forest."""
    return alone or n_vertices <= LIMITS.serial_dendrogram


def condenses_in_one_launch(n_vertices: int, tile: int, *, alone: bool) -> bool:
    """Return whether one launch merges edges and condenses the dendrogram.

    `tile` is the number of items of a tile.
    """
    return one_merges(n_vertices, alone=alone) and n_vertices <= LIMITS.condensed_tiles * tile
