"""Borůvka's algorithm on an adjacency matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

if TYPE_CHECKING:
    from clmst.runtime.device import Device


def _most_vertices(device: Device) -> int:
    from clmst.runtime.device_matrix import most_vertices

    return most_vertices(device)


RECORD = AlgorithmRecord(
    name="dense",
    purpose="an adjacency matrix, read about once, or distances of points computed on the way",
    good_for="complete graphs; nearly complete ones that are solved more than once",
    most_vertices=_most_vertices,
    takes_complete_graphs=True,
    large_self_test="never",
)
