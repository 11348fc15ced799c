"""Condensed trees on a device; host side of ``cl/algorithms/dendrogram/condense.cl``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.merge import CONTRACT_SOURCE, HOPS, Merges
from clmst.primitives.scan import exclusive_scan
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/dendrogram/condense.cl"

_NONE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Condensed:
    """Clusters, numbered from the top, and where each point leaves its last one."""

    parent: npt.NDArray[np.uint32]  # shape (k,): the cluster that each comes from; but the first's
    size: npt.NDArray[np.uint32]  # shape (k,): points of each
    least_point: npt.NDArray[np.uint32]  # shape (k,): of those that are in no later cluster
    birth_height: npt.NDArray[np.float64]  # shape (k,): where each leaves another one
    last_height: npt.NDArray[np.float64]  # shape (k,): of the last merge of each
    point_cluster: npt.NDArray[np.uint32]  # shape (n,): the last cluster that each point is in
    point_height: npt.NDArray[np.float64]  # shape (n,): where it leaves that one


def condense(merges: Merges, heights: DeviceArray, least: int, launch: Launcher) -> Condensed:
    """Condense the dendrogram of two vertices or more, all of them joined; waits for it.

    `heights` are the weights of edges, float64, and `least` is the fewest points of a cluster, 2 or
    more. O(n log n) work, nearly O(n) where work-items go on in their order; some 40 bytes of
    device memory a vertex.
    """
    n, m, device = merges.n, merges.n - 1, launch.device
    program, jumps = device.program(SOURCE), device.program(CONTRACT_SOURCE)
    above, begins, top = (DeviceArray.empty(size, np.uint32, device) for size in (n + m, m, m))
    launch.for_each(
        program, "dendrogram_condense_above", m, merges.children, merges.sizes, above, begins, n,
        least,
    )  # fmt: skip
    launch.for_each(
        program, "dendrogram_condense_point", m, above, begins, merges.sizes, top, n, least
    )
    reached = 1
    while reached < m:
        launch.for_each(jumps, "dendrogram_contract_jump", m, top, m)
        reached *= HOPS
    total = DeviceArray.empty(1, np.uint32, device)
    number = exclusive_scan(begins, total=total, launch=launch)
    k = launch.read_word(total.memory)
    clusters = DeviceArray.empty(5 * k, np.uint32, device)
    launch.fill(clusters.memory, _NONE, 5 * k)
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
    words, (birth_height, last_height) = clusters.to_host(), of_clusters.to_host().reshape(2, k)
    parent, _, _, size, least_point = words.reshape(5, k)
    return Condensed(
        parent=parent, size=size, least_point=least_point, birth_height=birth_height,
        last_height=last_height, point_cluster=point_cluster, point_height=point_height,
    )  # fmt: skip
