"""Dendrograms on a device; host side of ``cl/algorithms/dendrogram``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.parallel import ParallelMerge
from clmst.core.weight_keys import Array
from clmst.primitives.sort import argsort
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher

SERIAL_SOURCE = "algorithms/dendrogram/serial.cl"

# From so many edges on a device with work-groups of several work-items sorts them.
_SORTED_BY_DEVICE_FROM = 1 << 16
# SERIAL_VERTICES of serial.cl: so many, at most, one work-item of such a device merges.
_SERIAL_VERTICES = 5120


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


def has_few(n: int, device: Device) -> bool:
    """Return whether one work-item of a device merges the edges of so many vertices."""
    return device.policy.work_group_size == 1 or n <= _SERIAL_VERTICES


def merge(n: int, edges: Array, order: Array, device: Device, *, few: bool) -> Merges:
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
    few : bool
        Whether one work-item merges: never of more vertices than :func:`has_few` allows.

    Notes
    -----
    Where work-groups have one work-item, as on CPUs, one goes through the edges: nearly O(n) work,
    12 bytes of device memory a vertex and 24 an edge. So does one elsewhere, in local memory, where
    vertices are few. Many do where they are not, level by level, in O(n log n) work and some 80
    bytes a vertex (:mod:`clmst.algorithms.dendrogram.parallel`).
    """
    k = len(order)
    children, sizes = np.zeros((k, 2), np.uint32), np.zeros(k, np.uint32)
    if k:
        launch = Launcher(device, device.queue)
        ends = np.ascontiguousarray(edges, np.uint32).reshape(-1)
        given = DeviceArray.from_host(ends, device)
        below, counts = merge_on_device(
            n, given, DeviceArray.from_host(order.astype(np.uint32), device), launch, few=few
        )
        launch.read(below.memory, children)
        launch.read(counts.memory, sizes)
    return Merges(children=children, sizes=sizes)


def merge_on_device(
    n: int, ends: DeviceArray, order: DeviceArray, launch: Launcher, *, few: bool
) -> tuple[DeviceArray, DeviceArray]:
    """Merge as :func:`merge` does, on arrays of the device; return before it has ended.

    Parameters
    ----------
    n : int
        Vertices.
    ends : DeviceArray of uint32, shape (2 * k,)
        Both ends of each edge.
    order : DeviceArray of uint32, shape (k,)
    launch : Launcher
    few : bool
        As of :func:`merge`.

    Returns
    -------
    children : DeviceArray of uint32, shape (2 * k,)
    sizes : DeviceArray of uint32, shape (k,)
    """
    device, k = order.device, order.size
    if not few and device.policy.work_group_size > 1:
        return ParallelMerge(n, ends, order, launch).run()
    clusters, children, sizes = (
        DeviceArray.empty(size, np.uint32, device) for size in (3 * n, 2 * k, k)
    )
    program = device.program(SERIAL_SOURCE)
    launch.enqueue(
        program, "dendrogram_serial_merge", 1, ends, order, clusters, children, sizes, n, k
    )
    return children, sizes


def rising_order(
    weights: Array, device: Device, *, by_device_from: int = _SORTED_BY_DEVICE_FROM
) -> Array:
    """Return the order of edges by weight, equal ones by position; by the device if it is quicker.

    Parameters
    ----------
    weights : array of numbers, shape (k,)
        No NaN.
    device : Device
    by_device_from : int
        Fewer edges are sorted by the host in any case.

    Notes
    -----
    O(k log k) work by the host; on devices with work-groups of several work-items a radix sort, of
    O(k) work and some 30 bytes of device memory an edge.
    """
    if device.policy.work_group_size == 1 or weights.size < by_device_from:
        return np.argsort(weights, kind="stable")
    keys = weights.astype(np.float32) if weights.dtype == np.float16 else weights
    keys = keys.view(np.uint8) if keys.dtype == np.bool_ else keys + keys.dtype.type(0)  # no -0.0
    launch = Launcher(device, device.queue)
    order = np.empty(keys.size, np.uint32)
    launch.read(argsort(DeviceArray.from_host(keys, device), launch=launch).memory, order)
    return order
