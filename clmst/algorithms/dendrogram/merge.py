"""Dendrograms on a device; host side of ``cl/algorithms/dendrogram``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.parallel import ParallelMerge
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher

SERIAL_SOURCE = "algorithms/dendrogram/serial.cl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merges:
    """The merges of a dendrogram in their order; merge i makes node n + i.

    Attributes
    ----------
    children : ndarray of uint32, shape (k, 2)
        The two nodes that each merge joins, the lesser first.
    sizes : ndarray of uint32, shape (k,)
        Vertices below each merge.
    """

    children: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.uint32]


def merge(n: int, edges: Array, order: Array, device: Device) -> Merges:
    """Merge the ends of edges in an order.

    Parameters
    ----------
    n : int
        Vertices.
    edges : array of int, shape (k, 2)
        The edges of a forest.
    order : array of int, shape (k,)
        Indices of edges, that of the lightest first.
    device : Device

    Notes
    -----
    Where work-groups have one work-item, as on CPUs, one goes through the edges: nearly O(n) work,
    12 bytes of device memory a vertex and 16 an edge. Elsewhere many do, level by level, in
    O(n log n) work and some 80 bytes a vertex (:mod:`clmst.algorithms.dendrogram.parallel`).
    """
    k = len(order)
    children, sizes = np.zeros((k, 2), np.uint32), np.zeros(k, np.uint32)
    if k:
        launch = Launcher(device, device.queue)
        ends = np.ascontiguousarray(edges, np.uint32).reshape(-1)
        given = DeviceArray.from_host(ends, device)
        risen = DeviceArray.from_host(order.astype(np.uint32), device)
        if device.policy.work_group_size == 1:
            program = device.program(SERIAL_SOURCE)
            parent, below, counts = (
                DeviceArray.empty(size, np.uint32, device) for size in (n + k, 2 * k, k)
            )
            launch.enqueue(
                program, "dendrogram_serial_merge", 1, given, risen, parent, below, counts, n, k
            )
        else:
            below, counts = ParallelMerge(n, given, risen, launch).run()
        launch.read(below.memory, children)
        launch.read(counts.memory, sizes)
    return Merges(children=children, sizes=sizes)
