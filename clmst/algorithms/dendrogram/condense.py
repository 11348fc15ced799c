"""Compute condensed trees on a device. The kernels are in ``dendrogram/condense.cl``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms.dendrogram.merge import HOPS, SERIAL_SOURCE, Merges
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_memory import result_in_place
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/dendrogram/condense.cl"

# The layout of a cluster in the kernels' memory (condense_cluster_t of condense_steps.cl), and its
# number of 64-bit words.
_CLUSTER = np.dtype(
    [(name, np.uint32) for name in ("parent", "leaves", "last", "size", "least_point", "place")]
    + [("birth", np.float64), ("death", np.float64)]
)
_CLUSTER_WORDS = _CLUSTER.itemsize // 8
# Only the device knows the number of clusters, so the buffer for the result has space for the
# maximum number. If the buffer has at most _MOST_UNKNOWN bytes, the host reads all of it at once.
# Otherwise it reads the number of clusters first and then only the used part, which takes 30 us
# more.
_MOST_UNKNOWN = 1 << 20

# The fields of a row of scikit-learn's condensed tree.
ROW = np.dtype(
    [("parent", np.intp), ("child", np.intp), ("value", np.float64), ("cluster_size", np.intp)]
)

Floats = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]


def reciprocals(values: Floats) -> Floats:
    """Convert heights to densities, or densities to heights, by 1 / x for each value x >= 0.

    The reciprocal of a number of at most 2**-1024 is greater than all finite doubles, so it is
    infinite like the reciprocal of 0. Distances can be so small without being 0. The reciprocal of
    infinity is 0.
    """
    with np.errstate(divide="ignore", over="ignore"):
        found: Floats = 1 / values
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class CondensedTree:
    """The clusters of a minimum size in a dendrogram, and when each point leaves its cluster.

    A cluster begins where its parent cluster splits into two parts that both have the minimum size.
    Cluster 0 is the root and contains all points. A cluster has a greater number than its parent.
    The time at which something happens is given as a density, lambda = 1 / height, which grows from
    the root to the leaves.
    """

    # Whether sums of stabilities are computed exactly, so that the order of points has no effect.
    sums_exactly: ClassVar[bool] = False

    n_points: int
    point_cluster: Nodes  # shape (n,): the last (smallest) cluster that contains each point
    point_lambda: Floats  # shape (n,): lambda at which the point leaves this cluster
    parent: Nodes  # shape (k,): the parent of each cluster; -1 for cluster 0
    birth: Floats  # shape (k,): lambda at which the cluster begins; 0 for cluster 0
    death: Floats  # shape (k,): lambda at which the last point leaves, or the cluster splits
    size: Nodes  # shape (k,): number of points at the beginning of the cluster
    least_point: Nodes  # shape (k,): the least point number that is not in a child cluster
    # Shape (n,): how many equal points each point stands for; None if each stands for itself alone.
    weights: Nodes | None = None

    @cached_property
    def counts(self) -> Nodes:
        """The number of equal points of the caller for which each point stands, shape (n,)."""
        return np.ones(self.n_points, np.int64) if self.weights is None else self.weights

    @property
    def n_clusters(self) -> int:
        """Number of clusters, including cluster 0."""
        return self.parent.size

    @cached_property
    def rows(self) -> npt.NDArray[np.void]:
        """The tree as scikit-learn's array of rows, in which cluster i has the number n + i."""
        n = self.n_points
        rows = np.empty(n + self.n_clusters - 1, ROW)
        rows["parent"] = n + np.concatenate([self.point_cluster, self.parent[1:]])
        rows["child"][:n] = np.arange(n)
        rows["child"][n:] = n + np.arange(1, self.n_clusters)
        rows["value"] = np.concatenate([self.point_lambda, self.birth[1:]])
        rows["cluster_size"] = np.concatenate([self.counts, self.size[1:]])
        return rows

    @cached_property
    def above(self) -> Nodes:
        """The parent of each cluster, shape (k,). Cluster 0, the root, is its own parent here."""
        return np.maximum(self.parent, 0)

    @cached_property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Whether each cluster is a leaf, which is a cluster without child clusters."""
        leaf = np.ones(self.n_clusters, bool)
        leaf[self.parent[1:]] = False
        return leaf

    @cached_property
    def stability(self) -> Floats:
        """The stability of each cluster, shape (k,).

        This is the sum, over the points of the cluster, of the difference between lambda when the
        point leaves the cluster and lambda when the cluster begins. Lambda is the density, 1 /
        distance.
        """
        stays = _since(self.point_lambda, self.birth[self.point_cluster]) * self.counts
        total = sums(self.point_cluster, stays, self.n_clusters)
        children = self.parent[1:]
        stays = _since(self.birth[1:], self.birth[children]) * self.size[1:]
        return total + sums(children, stays, self.n_clusters)

    @cached_property
    def greatest_lambda(self) -> float:
        """The greatest finite lambda of the tree, or 0 if there is none."""
        until = np.concatenate([self.point_lambda, self.birth[1:]])
        return float(until.max(initial=0, where=np.isfinite(until)))

    @cached_property
    def persistence(self) -> Floats:
        """For each cluster, its stability divided by its size and by the greatest finite lambda.

        The stability is the sum, over the points, of the range of lambda in which a point is in the
        cluster. An infinite range counts as the greatest finite lambda. The result is 1 if all
        finite lambdas are 0.
        """
        within = np.concatenate([self.point_cluster, self.parent[1:]])
        until = np.concatenate([self.point_lambda, self.birth[1:]])
        count = np.concatenate([self.counts, self.size[1:]])
        greatest = self.greatest_lambda
        if greatest == 0:
            return np.ones(self.n_clusters)
        since = self.birth[within]
        with np.errstate(invalid="ignore"):
            stays = np.where(until == since, 0, np.minimum(until - since, greatest))
        stability = np.bincount(within, stays * count, self.n_clusters)
        shares: Floats = stability / (self.size * greatest)
        return shares


def sums(cluster: Nodes, values: Array, n_clusters: int) -> Floats:
    """Return, for each cluster, the sum of its values. `cluster` has the cluster of each value."""
    return np.bincount(cluster, weights=values, minlength=n_clusters).astype(np.float64)


def _since(later: Array, earlier: Array) -> Array:
    """Return ``later - earlier`` for each element, or 0 where both are infinite."""
    with np.errstate(invalid="ignore"):
        passed = later - earlier
    if np.isinf(earlier).any():
        passed[later == earlier] = 0
    return passed


def condense(
    merges: Merges, heights: KernelArgument, least: int, launch: Launcher
) -> CondensedTree:
    """Condense a dendrogram on the device, and wait for the condensed tree.

    `merges` is the dendrogram, which must have one root and at least two vertices. Condensing keeps
    only the splits into two parts of at least `least` points each, and records when each other
    point leaves its cluster (:class:`CondensedTree`). `heights` has the weight of each edge,
    float64, on the device. `least` must be 2 or more.

    The work is O(n log n), or nearly O(n) if the device runs work-items in their order. The call
    takes about 28 bytes of device memory per vertex, and 80 bytes for every `least` vertices.
    """
    n, device = merges.n, launch.device
    found = _Result(n, least, device)
    scratch, count = (DeviceArray.empty(m, np.uint32, device) for m in (n + 3 * (n - 1), 1))
    launch.fill(count.memory, 0, 1)
    for step in range(n_steps := _steps_of(n)):
        launch.for_each(
            device.program(SOURCE), "dendrogram_condense_steps", n, merges.children, merges.sizes,
            merges.order, heights, scratch, count, found.memory, n, least, step, n_steps,
        )  # fmt: skip
    return found.read(launch)


def takes_one_launch(n: int, device: Device) -> bool:
    """Return whether :func:`merge_and_condense` is faster for `n` vertices than separate steps.

    In that function one work-group merges and condenses in a single launch, which suits small
    trees. Otherwise :func:`~clmst.algorithms.dendrogram.merge.merge` and :func:`condense` are used.
    """
    tile = device.program(SERIAL_SOURCE).grid_tile
    return route.condenses_in_one_launch(n, tile, alone=device.facts.alone)


def merge_and_condense(
    edges: Array, heights: Array, order: Array, least: int, launch: Launcher
) -> CondensedTree:
    """Build and condense the dendrogram of a small tree in one launch, and wait for the result.

    All arrays are on the host. `edges` has the ends of the edges, shape (m, 2), with m at least 1.
    `heights` has the weight of each edge, float64, and `order` the indices of the edges by rising
    weight. `least` is the minimum number of points of a cluster, 2 or more.
    """
    device, m = launch.device, heights.size
    n = m + 1
    tree = np.empty(2 * m + n // 2, np.uint64)
    tree[:m] = heights.view(np.uint64)
    tree[m : 2 * m].view(np.uint32)[:] = edges.reshape(-1)
    tree[2 * m :].view(np.uint32)[:m] = order
    found, words = _Result(n, least, device), np.dtype(np.uint32)
    alone = device.policy.work_group_size == 1
    clusters = DeviceArray.unchecked(3 * n if alone else 1, words, device)
    scratch = DeviceArray.unchecked(n + 6 * m + 1, words, device)
    (on_device,) = device.upload_all(tree, wait=False)
    launch.enqueue(
        device.program(SERIAL_SOURCE), "dendrogram_serial_condense", 1, on_device, clusters,
        scratch, found.memory, n, least, _steps_of(n),
    )  # fmt: skip
    return found.read(launch)


def _steps_of(n: int) -> int:
    return 3 + max(ceil(log(n, HOPS)), 1)


class _Result:
    """The memory to which a device writes a condensed tree of `n` points.

    `least` is the minimum number of points of a cluster. If the device can write directly to memory
    of the host, the result is in that memory.
    """

    def __init__(self, n: int, least: int, device: Device) -> None:
        self.n = n
        # The maximum number of clusters. There are at most n // least leaf clusters, because they
        # are disjoint and have at least `least` points. A tree in which every split makes two
        # clusters has fewer than twice as many nodes as leaves.
        most = max(2 * (n // least) - 1, 1)
        # The number of 64-bit words in the result that come before the clusters.
        self.behind = 1 + n + (n + 1) // 2
        self.words = np.empty(self.behind + _CLUSTER_WORDS * most, np.uint64)
        self.in_place = result_in_place(device, self.words)
        self.memory = device.allocate(self.words.nbytes) if self.in_place is None else self.in_place

    def read(self, launch: Launcher) -> CondensedTree:
        """Wait for the device, and return the condensed tree.

        If the result has to be copied to the host, a small buffer is copied whole, although the
        tree may fill only a part of it. For a large buffer, the number of clusters is read first.
        """
        words, behind, n = self.words, self.behind, self.n
        if self.in_place is not None:
            launch.queue.finish()
        else:
            if words.nbytes > _MOST_UNKNOWN:
                most = (words.size - behind) // _CLUSTER_WORDS
                words = words[: behind + _CLUSTER_WORDS * launch.read_count(self.memory, most)]
            launch.read(self.memory, words)
        found = words[behind:].view(_CLUSTER)[: int(words[0])]
        order = np.argsort(found["place"])
        clusters, rank = found[order], np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        parent = rank[clusters["parent"] % order.size]
        parent[0] = -1
        point_height, point_cluster = words[1 : n + 1].view(np.float64), words[n + 1 : behind]
        leaves, birth, death = map(
            reciprocals, (point_height, clusters["birth"], clusters["death"])
        )
        birth[0] = 0
        return CondensedTree(
            n_points=n, point_cluster=rank[point_cluster.view(np.uint32)[:n]], point_lambda=leaves,
            parent=parent, birth=birth, death=death, size=clusters["size"].astype(np.int64),
            least_point=clusters["least_point"].astype(np.int64),
        )  # fmt: skip
