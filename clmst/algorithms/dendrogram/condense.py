"""Condensed trees on a device; host side of ``cl/algorithms/dendrogram/condense.cl``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.merge import HOPS, NONE, Merges
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/dendrogram/condense.cl"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Condensed:
    """Clusters, numbered from the top, and where each point leaves its last one."""

    parent: npt.NDArray[np.int64]  # shape (k,): the cluster that each comes from; 0 of the first
    size: npt.NDArray[np.uint32]  # shape (k,): points of each
    least_point: npt.NDArray[np.uint32]  # shape (k,): of those that are in no later cluster
    birth_height: npt.NDArray[np.float64]  # shape (k,): where each leaves another one
    last_height: npt.NDArray[np.float64]  # shape (k,): of the last merge of each
    point_cluster: npt.NDArray[np.int64]  # shape (n,): the last cluster that each point is in
    point_height: npt.NDArray[np.float64]  # shape (n,): where it leaves that one


def condense(merges: Merges, heights: DeviceArray, least: int, launch: Launcher) -> Condensed:
    """Condense the dendrogram of two vertices or more, all of them joined; waits for it.

    `heights` are the weights of edges, float64, and `least` is the fewest points of a cluster, 2 or
    more. O(n log n) work, nearly O(n) where work-items go on in their order; some 40 bytes of
    device memory a vertex.
    """
    n, m, device = merges.n, merges.n - 1, launch.device
    program = device.program(SOURCE)
    above, begins, top, number, count = (
        DeviceArray.empty(size, np.uint32, device) for size in (n + m, m, m, m, 1)
    )
    launch.fill(count.memory, 0, 1)
    launch.for_each(
        program, "dendrogram_condense_above", m, merges.children, merges.sizes, above, begins, n,
        least,
    )  # fmt: skip
    launch.for_each(
        program, "dendrogram_condense_point", m, above, begins, merges.sizes, top, number, count,
        n, least,
    )  # fmt: skip
    reached = 1
    while reached < m:
        launch.for_each(program, "dendrogram_condense_jump", m, top, m)
        reached *= HOPS
    k = launch.read_word(count.memory)
    clusters = DeviceArray.empty(6 * k, np.uint32, device)
    launch.fill(clusters.memory, NONE, 6 * k)
    launch.for_each(
        program, "dendrogram_condense_clusters", m, above, begins, merges.sizes, top, number,
        clusters, n, k, least,
    )  # fmt: skip
    of_points = DeviceArray.empty(n, np.uint32, device), DeviceArray.empty(n, np.float64, device)
    of_clusters = DeviceArray.empty(2 * k, np.float64, device)
    launch.for_each(
        program, "dendrogram_condense_points", n, above, merges.sizes, top, number, merges.order,
        heights, clusters, *of_points, of_clusters, n, k, least,
    )  # fmt: skip
    point_cluster, point_height = (array.to_host() for array in of_points)
    parent, _, _, size, least_point, place = clusters.to_host().reshape(6, k)
    birth_height, last_height = of_clusters.to_host().reshape(2, k)
    order, rank = np.argsort(place), np.empty(k, np.int64)
    rank[order] = np.arange(k)
    parent[order[0]] = order[0]
    return Condensed(
        parent=rank[parent[order]], size=size[order], least_point=least_point[order],
        birth_height=birth_height[order], last_height=last_height[order],
        point_cluster=rank[point_cluster], point_height=point_height,
    )  # fmt: skip
