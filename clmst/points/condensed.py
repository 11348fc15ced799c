"""Condensed trees of HDBSCAN: clusters of a least size, which are chosen, and labels of points.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.condense import (
    CondensedTree,
    Floats,
    Nodes,
    condense,
    merge_and_condense,
    sums,
    takes_one_launch,
)
from clmst.core.canonical import stable_order
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array
from clmst.points.dendrogram import made_of_edges, merged, with_joined
from clmst.runtime.launcher import Launcher


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

    def condensed(edges: Array, heights: Array, launch: Launcher) -> CondensedTree:
        if takes_one_launch(forest.n_vertices, launch.device):
            order = with_joined(stable_order(forest.weights), heights)
            return merge_and_condense(edges, heights, order, min_cluster_size, launch)
        merges = merged(forest, edges, heights, launch)
        return condense(merges, launch.device.upload(heights), min_cluster_size, launch)

    return made_of_edges(forest, condensed, join_components=True, device=device)


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
    inside = sums(tree.parent[1:], of_leaves[1:], tree.n_clusters).tolist()
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
