"""Decide how a forest's dendrogram is computed: who sorts the edges, and who merges them."""

from __future__ import annotations

from clmst.route.limits import LIMITS


def device_sorts(n_edges: int, *, alone: bool) -> bool:
    """Return whether the device sorts the edges of a forest by weight, and not the host.

    `n_edges` is the number of edges. `alone` is True if work-groups of the device have one
    work-item, as on CPUs.
    """
    return not alone and n_edges >= LIMITS.device_sort


def one_merges(n_vertices: int, *, alone: bool) -> bool:
    """Return whether one work-item builds the dendrogram of a forest of `n_vertices` vertices.

    Otherwise many work-items build it, in several rounds of contractions. `alone` is True if
    work-groups of the device have one work-item, as on CPUs.
    """
    return alone or n_vertices <= LIMITS.serial_dendrogram


def condenses_in_one_launch(n_vertices: int, tile: int, *, alone: bool) -> bool:
    """Return whether one launch merges the edges of a forest and condenses the dendrogram.

    To condense is to remove the splits of too small clusters, as in HDBSCAN. The forest has
    `n_vertices` vertices. `tile` is the number of merges that a work-group of the condensation
    takes at a time. `alone` is True if work-groups of the device have one work-item, as on CPUs.
    """
    return one_merges(n_vertices, alone=alone) and n_vertices <= LIMITS.condensed_tiles * tile
