"""Condensed trees on a device; host side of ``cl/algorithms/dendrogram/condense.cl``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.merge import HOPS, NONE, Merges
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/dendrogram/condense.cl"


# The fields that scikit-learn's condensed tree has.
ROW = np.dtype(
    [("parent", np.intp), ("child", np.intp), ("value", np.float64), ("cluster_size", np.intp)]
)

Floats = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class CondensedTree:
    """Clusters of a least size, and when each point and cluster leaves its cluster.

    Cluster 0 has all points. A cluster has a greater number than the one that it comes from. Times
    are densities, lambda = 1 / height.
    """

    n_points: int
    point_cluster: Nodes  # shape (n,): the last cluster that each point is in
    point_lambda: Floats  # shape (n,): when the point leaves it
    parent: Nodes  # shape (k,): the cluster that each cluster comes from; -1 of the first
    birth: Floats  # shape (k,): when it leaves that one; 0 of the first
    death: Floats  # shape (k,): when the last point, or cluster, leaves it
    size: Nodes  # shape (k,): points at its birth
    least_point: Nodes  # shape (k,): of the points that are in none that comes from it

    @property
    def n_clusters(self) -> int:
        """Number of clusters, the first included."""
        return self.parent.size

    @cached_property
    def rows(self) -> npt.NDArray[np.void]:
        """The tree as scikit-learn has it: points are numbered first, then clusters."""
        n = self.n_points
        rows = np.empty(n + self.n_clusters - 1, ROW)
        rows["parent"] = n + np.concatenate([self.point_cluster, self.parent[1:]])
        rows["child"][:n] = np.arange(n)
        rows["child"][n:] = n + np.arange(1, self.n_clusters)
        rows["value"] = np.concatenate([self.point_lambda, self.birth[1:]])
        rows["cluster_size"] = np.concatenate([np.ones(n, np.int64), self.size[1:]])
        return rows

    @cached_property
    def above(self) -> Nodes:
        """The cluster that each one comes from; of the first one, itself."""
        return np.maximum(self.parent, 0)

    @cached_property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Whether no cluster comes from a cluster."""
        leaf = np.ones(self.n_clusters, bool)
        leaf[self.parent[1:]] = False
        return leaf

    @cached_property
    def stability(self) -> Floats:
        """How long each cluster keeps its points: the sum of the times that they stay in it."""
        stays = _since(self.point_lambda, self.birth[self.point_cluster])
        total = sums(self.point_cluster, stays, self.n_clusters)
        children = self.parent[1:]
        stays = _since(self.birth[1:], self.birth[children]) * self.size[1:]
        return total + sums(children, stays, self.n_clusters)


def sums(cluster: Nodes, values: Array, n_clusters: int) -> Floats:
    """Return the sum of values by cluster."""
    return np.bincount(cluster, weights=values, minlength=n_clusters).astype(np.float64)


def _since(later: Array, earlier: Array) -> Array:
    """Return a time less an earlier one; 0 if both are infinite."""
    with np.errstate(invalid="ignore"):
        passed = later - earlier
    if np.isinf(earlier).any():
        passed[later == earlier] = 0
    return passed


def condense(merges: Merges, heights: DeviceArray, least: int, launch: Launcher) -> CondensedTree:
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
    from_cluster = rank[parent[order]]
    from_cluster[0] = -1
    with np.errstate(divide="ignore"):
        leaves, birth, death = (
            1 / of for of in (point_height, birth_height[order], last_height[order])
        )
    birth[0] = 0
    return CondensedTree(
        n_points=n, point_cluster=rank[point_cluster], point_lambda=leaves, parent=from_cluster,
        birth=birth, death=death, size=size[order].astype(np.int64),
        least_point=least_point[order].astype(np.int64),
    )  # fmt: skip
