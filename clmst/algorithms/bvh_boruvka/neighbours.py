"""The nearest points of every point; host side of ``cl/algorithms/bvh_boruvka/neighbours.cl``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.algorithms.bvh_boruvka.hierarchy import BoxTree
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/bvh_boruvka/neighbours.cl"

MOST_NEIGHBOURS = 256
"""More would not fit the private memory of a work-item."""

# For how many points kernels are built: few, which stay in registers, and many.
_CAPACITIES = (4, 8, 32, MOST_NEIGHBOURS)
# Nearest points that every point begins with.
_LISTED = 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearPoints:
    """What every point knows before the first round.

    Attributes
    ----------
    k : int
        The length of lists.
    lists : DeviceArray of uint32, shape (n * k,), or None
        Slots of near points, the nearest first.
    lower : DeviceArray of float64, shape (n,)
        No edge that a point's list leaves out is lighter.
    """

    k: int
    lists: DeviceArray | None
    lower: DeviceArray


def nearest(tree: BoxTree, launch: Launcher) -> NearPoints:
    """Return the lists that a solve begins with, of two points or more."""
    k = min(_LISTED, tree.n - 1)
    lists, lower = find(tree, k, launch)
    return NearPoints(k=k, lists=lists, lower=lower)


def capacity_for(k: int) -> int:
    """Return the capacity of lists for `k` points: few different ones, so few programs."""
    return next(capacity for capacity in _CAPACITIES if k <= capacity)


def find(tree: BoxTree, k: int, launch: Launcher) -> tuple[DeviceArray, DeviceArray]:
    """Return lists of the `k` nearest points by slot, and by slot the distance of the farthest."""
    lists = DeviceArray.empty(tree.n * k, np.uint32, tree.device)
    return lists, _find(tree, k, launch, lists, by_number=False)


def distances(tree: BoxTree, k: int, launch: Launcher) -> DeviceArray:
    """Return by point the distance of the `k`-th nearest other point."""
    return _find(tree, k, launch, None, by_number=True)


def _find(
    tree: BoxTree, k: int, launch: Launcher, lists: DeviceArray | None, *, by_number: bool
) -> DeviceArray:
    found = DeviceArray.empty(tree.n, np.float64, tree.device)
    program = tree.device.program(SOURCE, **tree.defines, NEIGHBOURS=capacity_for(k))
    launch.for_each(
        program, "bvh_boruvka_neighbours_find", tree.n, *tree.arguments, lists, found, tree.n,
        tree.top, k, int(by_number),
    )  # fmt: skip
    return found
