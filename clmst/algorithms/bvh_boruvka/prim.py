"""Find trees of few points by Prim's algorithm. The kernel is ``bvh_boruvka/prim.cl``."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.bvh_boruvka.hierarchy import LEAF, order_of
from clmst.algorithms.shared.found_tree import FoundTree
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/bvh_boruvka/prim.cl"


def solve(matrix: DeviceMatrix, launch: Launcher) -> FoundTree:
    """Enqueue a kernel in which one work-item finds the minimum spanning tree of n >= 2 points.

    `matrix` has the points on the device. The call does not wait for the device. The work is
    O(n**2). The kernel is for devices with one work-item per work-group. The tree equals the one
    that ``bvh_boruvka.solve`` finds.
    """
    n, device, defines = matrix.n_vertices, matrix.device, matrix.defines(maximum=False)
    rows = matrix.dimensions + defines["CORE_DISTANCES"]
    width = -(-n // LEAF) * LEAF
    space = DeviceArray.empty((rows + 6) * width, np.float64, device)
    starts = DeviceArray.empty(n + 1, np.uint32, device)
    ends = DeviceArray.empty(2 * (n - 1), np.uint32, device)
    weights = DeviceArray.empty(n - 1, np.float64, device)
    with launch.phase("points by Prim"):
        launch.enqueue(
            device.program(SOURCE, **defines), "bvh_boruvka_prim_solve", 1,
            matrix.panels[0].cells, order_of(matrix, launch), space, starts, ends, weights,
            matrix.dimensions, n,
        )  # fmt: skip
    return FoundTree(matrix=matrix, algorithm="prim", ends=ends, weights=weights, stats={})
