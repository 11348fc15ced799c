"""Dendrograms on a device; host side of ``cl/algorithms/dendrogram``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
    One work-item goes through the edges. Device memory: 16 bytes a vertex and 12 an edge.
    """
    k = len(order)
    children, sizes = np.zeros((k, 2), np.uint32), np.zeros(k, np.uint32)
    if k:
        ends = np.ascontiguousarray(edges, np.uint32).reshape(-1)
        given = [DeviceArray.from_host(array, device) for array in (ends, order.astype(np.uint32))]
        parent, below, counts = (
            DeviceArray.empty(size, np.uint32, device) for size in (n + k, 2 * k, k)
        )
        launch = Launcher(device, device.queue)
        program = device.program(SERIAL_SOURCE)
        launch.enqueue(program, "dendrogram_serial_merge", 1, *given, parent, below, counts, n, k)
        launch.read(below.memory, children)
        launch.read(counts.memory, sizes)
    return Merges(children=children, sizes=sizes)
