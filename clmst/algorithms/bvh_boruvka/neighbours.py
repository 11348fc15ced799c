"""The nearest points of points; host side of ``cl/algorithms/bvh_boruvka/neighbours.cl``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst import route
from clmst.algorithms.bvh_boruvka.hierarchy import BoxTree
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_memory import result_in_place
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/bvh_boruvka/neighbours.cl"

# For how many points kernels are built: few, which stay in registers, and many. More
# would not fit the private memory of a work-item.
_CAPACITIES = (4, 8, 32, route.LIMITS.listed_neighbours)
# Nearest points that every point begins with.
_LISTED = 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearPoints:
    """What every point knows before the first round."""

    k: int  # the length of lists
    lists: DeviceArray | None  # uint32, shape (n * k,): slots of near points, the nearest first
    lower: DeviceArray  # float64, shape (n,): no edge that a point's list leaves out is lighter


def nearest(tree: BoxTree, launch: Launcher) -> NearPoints:
    """Return the lists that a solve begins with, of two points or more."""
    k = min(_LISTED, tree.n - 1)
    lists = DeviceArray.empty(tree.n * k, np.uint32, tree.device)
    lower = DeviceArray.empty(tree.n, np.float64, tree.device)
    _find(tree, k, launch, lists, lower)
    return NearPoints(k=k, lists=lists, lower=lower)


def capacity_for(k: int) -> int:
    """Return the capacity of lists for `k` points: few different ones, so few programs."""
    return next(capacity for capacity in _CAPACITIES if k <= capacity)


def distances(tree: BoxTree, k: int, launch: Launcher) -> Array | DeviceArray:
    """Find the distance of each point to its `k`-th nearest other point.

    They are on the host if the device writes to the host's arrays in place; then the call waits for
    them. Otherwise they stay on the device.
    """
    found = np.empty(tree.n)
    if (written := result_in_place(tree.device, found)) is not None:
        _find(tree, k, launch, None, written)
        launch.queue.finish()
        return found
    on_device = DeviceArray.empty(tree.n, np.float64, tree.device)
    _find(tree, k, launch, None, on_device)
    return on_device


def _find(
    tree: BoxTree, k: int, launch: Launcher, lists: DeviceArray | None, found: KernelArgument
) -> None:
    """Enqueue a search for lists, and for distances by slot; without lists by point."""
    defines = {**tree.defines, "NEIGHBOURS": capacity_for(k)}
    if lists is None and tree.device.policy.work_group_size == 1:
        defines["LISTED"] = 0
    launch.for_each(
        tree.device.program(SOURCE, **defines), "bvh_boruvka_neighbours_find", tree.n,
        *tree.arguments, lists, found, tree.n, tree.top, k, int(lists is None),
    )  # fmt: skip
