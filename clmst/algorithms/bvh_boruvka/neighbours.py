"""Find the k nearest points of each point. The kernels are in ``bvh_boruvka/neighbours.cl``."""

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

# The search for the nearest points of a point keeps a list of those found so far. Kernels are built
# for lists of these lengths. Short lists stay in registers. A list longer than the last length
# would not fit the private memory of a work-item.
_CAPACITIES = (4, 8, 32, route.LIMITS.listed_neighbours)
# A solve begins by listing the nearest points of each point. This is the maximum length of a list.
_LISTED = 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearPoints:
    """The nearest points of every point, and a lower bound on its distances to all others.

    Lists and bounds are computed before the first round of Borůvka's algorithm. With them, many
    points find their lightest edge without a search of the tree of boxes.
    """

    k: int  # the length of each list, or 0 if there are no lists
    # uint32, shape (n * k,): for each point a list of the k nearest points, the nearest first. A
    # point is named by its position in the order in which the tree of boxes has the points. None
    # if no lists are made.
    lists: DeviceArray | None
    # float64, shape (n,): for each point a lower bound of the weights of its edges to all points
    # that are not in its list.
    lower: DeviceArray


def nearest(tree: BoxTree, launch: Launcher) -> NearPoints:
    """Enqueue the search for up to 7 nearest points of each point in a tree of boxes.

    The tree must have two points or more. The call does not wait for the device.
    """
    k = min(_LISTED, tree.n - 1)
    lists = DeviceArray.empty(tree.n * k, np.uint32, tree.device)
    lower = DeviceArray.empty(tree.n, np.float64, tree.device)
    _find(tree, k, launch, lists, lower)
    return NearPoints(k=k, lists=lists, lower=lower)


def capacity_for(k: int) -> int:
    """Return the length of the lists in the kernel that is used to find `k` nearest points.

    The kernel is built for few lengths, so that few programs have to be compiled. The result is the
    smallest of these lengths that is at least `k`.
    """
    return next(capacity for capacity in _CAPACITIES if k <= capacity)


def distances(tree: BoxTree, k: int, launch: Launcher) -> Array | DeviceArray:
    """Find the distance of each point in a tree of boxes to the `k`-th nearest other point.

    If the device can write to arrays of the host, the distances are returned on the host, and the
    call waits for them. Otherwise they are returned on the device, without waiting.
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
    """Enqueue the search for the `k` nearest points of every point in a tree of boxes.

    The slot of a point is the position of the point in the leaves of the tree. `lists` gets the
    slots of the nearest points, unless it is None. `found` gets the distance of each point to its
    k-th nearest point. With `lists` it is in the order of slots, otherwise in the order of the
    given points.
    """
    defines = {**tree.defines, "NEIGHBOURS": capacity_for(k)}
    if lists is None and tree.device.policy.work_group_size == 1:
        defines["LISTED"] = 0
    launch.for_each(
        tree.device.program(SOURCE, **defines), "bvh_boruvka_neighbours_find", tree.n,
        *tree.arguments, lists, found, tree.n, tree.top, k, int(lists is None),
    )  # fmt: skip
