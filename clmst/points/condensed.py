"""Condensed trees of HDBSCAN: clusters of a least size, which are chosen, and labels of points.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.condense import Condensed, condense
from clmst.algorithms.dendrogram.merge import Merges
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array
from clmst.points.dendrogram import made_of_merges
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

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
        total = _sums(self.point_cluster, stays, self.n_clusters)
        children = self.parent[1:]
        stays = _since(self.birth[1:], self.birth[children]) * self.size[1:]
        return total + _sums(children, stays, self.n_clusters)


def condensed_tree(forest: Forest, min_cluster_size: int, *, device: Any) -> CondensedTree:
    """Return the condensed tree of a forest's dendrogram, found on a device.

    A merge of two clusters, each of `min_cluster_size` points or more, is a true split. At any
    other merge the smaller cluster's points leave, and the other one stays the same cluster. Trees
    are joined at infinity.
    """
    if forest.n_vertices == 1:
        zero = np.zeros(1, np.int64)
        return CondensedTree(
            n_points=1, point_cluster=zero, point_lambda=np.full(1, np.inf), parent=zero - 1,
            birth=np.zeros(1), death=np.full(1, np.inf), size=zero + 1, least_point=zero,
        )  # fmt: skip

    def condensed(merges: Merges, heights: Array, launch: Launcher) -> Condensed:
        given = DeviceArray.from_host(heights, launch.device)
        return condense(merges, given, min_cluster_size, launch)

    found = made_of_merges(forest, condensed, join_components=True, device=device)
    parent = found.parent
    with np.errstate(divide="ignore"):
        times = [1 / of for of in (found.point_height, found.birth_height, found.last_height)]
    parent[0], times[1][0] = -1, 0
    return CondensedTree(
        n_points=forest.n_vertices, point_cluster=found.point_cluster,
        point_lambda=times[0], parent=parent, birth=times[1], death=times[2],
        size=found.size.astype(np.int64), least_point=found.least_point.astype(np.int64),
    )  # fmt: skip


def _sums(cluster: Nodes, values: Array, n_clusters: int) -> Floats:
    return np.bincount(cluster, weights=values, minlength=n_clusters).astype(np.float64)


def _since(later: Array, earlier: Array) -> Array:
    """Return a time less an earlier one; 0 if both are infinite."""
    with np.errstate(invalid="ignore"):
        passed = later - earlier
    if np.isinf(earlier).any():
        passed[later == earlier] = 0
    return passed


Chosen = npt.NDArray[np.bool_]

NOISE = -1


def choose_clusters(
    tree: CondensedTree,
    *,
    method: str = "eom",
    epsilon: float = 0.0,
    max_size: int | None = None,
    allow_single: bool = False,
) -> Chosen:
    """Return which clusters are chosen, none in another one, by the parameters of HDBSCAN.

    "eom" takes the most stable clusters of at most `max_size` points, "leaf" those without clusters
    in them. A cluster born below the height `epsilon` is replaced by the one that it comes from.
    """
    if method == "leaf":
        chosen = tree.is_leaf.copy()
        chosen[0] = False  # as in scikit-learn, even if all points may be one cluster
    else:
        chosen = _most_stable(tree, max_size, allow_single=allow_single)
    if epsilon > 0 and not chosen[0]:
        chosen = _not_below(epsilon, tree, chosen, allow_single=allow_single)
    return chosen


def _most_stable(tree: CondensedTree, max_size: int | None, *, allow_single: bool) -> Chosen:
    """Return the clusters of the greatest total stability, none in another one.

    A step in Python for each cluster that has clusters in it, which are two: a tree may be as deep
    as it has clusters.
    """
    is_too_large = np.zeros(tree.n_clusters, bool) if max_size is None else tree.size > max_size
    chosen, is_leaf = ~is_too_large, tree.is_leaf
    of_leaves = np.where(is_leaf & chosen, tree.stability, 0.0)
    inside = _sums(tree.parent[1:], of_leaves[1:], tree.n_clusters).tolist()
    parent, own, too_large = tree.parent.tolist(), tree.stability.tolist(), is_too_large.tolist()
    divided = []
    for cluster in np.flatnonzero(~is_leaf)[::-1].tolist():
        best = own[cluster]
        if inside[cluster] > best or too_large[cluster]:
            best = inside[cluster]
            divided.append(cluster)
        if cluster:
            inside[parent[cluster]] += best
    chosen[divided] = False
    if not allow_single:
        chosen[0] = False
    return _topmost(tree, chosen)


def _not_below(
    epsilon: float, tree: CondensedTree, chosen: Chosen, *, allow_single: bool
) -> Chosen:
    """Replace clusters that are born below a height by the first one above that is not."""
    with np.errstate(divide="ignore"):
        heights = 1 / tree.birth
    of_first = tree.parent <= 0
    stops = heights > epsilon if allow_single else (heights > epsilon) | of_first
    target = first_above(tree, stops)[tree.above]
    if not allow_single:  # clusters from the first one stay
        target[of_first] = np.flatnonzero(of_first)
    moves = chosen & (heights < epsilon)
    replaced = chosen & ~moves
    replaced[target[moves]] = True
    return _topmost(tree, replaced)


def _topmost(tree: CondensedTree, chosen: Chosen) -> Chosen:
    """Return the chosen clusters that are in no other one."""
    within = chosen[first_above(tree, chosen)[tree.above]]
    within[0] = False
    return chosen & ~within


def first_above(tree: CondensedTree, stops: Chosen) -> Nodes:
    """Return the first cluster on the way up from each one, itself included, at which to stop.

    Where there is none, that is the first cluster of all. Pointer jumping: O(k log k).
    """
    above = np.where(stops, np.arange(tree.n_clusters), tree.above)
    while True:
        further = above[above]
        if np.array_equal(further, above):
            return above
        above = further


def share_of(density: Array, greatest: Array) -> Floats:
    """Return the share, up to 1, that densities are of the greatest ones, which may be infinite."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = np.where(density >= greatest, 1.0, density / greatest)
    return share


def label_points(
    tree: CondensedTree, chosen: Chosen, epsilon: float
) -> tuple[npt.NDArray[Any], Floats, Nodes]:
    """Return labels, the strengths of membership, and the cluster of each label.

    Labels are numbered by least point; noise is -1, with the strength 0.
    """
    owner = first_above(tree, chosen)
    owner[~chosen[owner]] = NOISE
    first = np.full(tree.n_clusters, tree.n_points)
    np.minimum.at(first, owner[owner != NOISE], tree.least_point[owner != NOISE])
    clusters = np.flatnonzero(chosen)
    clusters = clusters[np.argsort(first[clusters])]
    number = np.full(tree.n_clusters + 1, NOISE)  # the last one is of no owner
    number[clusters] = np.arange(clusters.size)
    labels, leaves = number[owner][tree.point_cluster], tree.point_lambda
    strengths = share_of(leaves, tree.death[owner][tree.point_cluster])
    strengths[labels == NOISE] = 0
    if chosen[0]:  # all points are one cluster but for those that leave it early
        is_early = leaves < (tree.death[0] if epsilon == 0 else 1 / epsilon)
        labels[is_early], strengths[is_early] = NOISE, 0
        clusters = clusters[: int((~is_early).any())]
    return labels, strengths, clusters
