"""HDBSCAN's condensed tree: its construction, the choice of clusters, and the labels of points.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram import on_host
from clmst.algorithms.dendrogram.condense import (
    CondensedTree,
    Floats,
    Nodes,
    condense,
    merge_and_condense,
    reciprocals,
    sums,
    takes_one_launch,
)
from clmst.core.canonical import stable_order
from clmst.core.forest import Forest
from clmst.core.paths import ends_of_paths
from clmst.core.weight_keys import Array
from clmst.points.dendrogram import Dendrogram, made_of_edges, merged, with_joined
from clmst.points.simultaneous import (
    OrderFreeTree,
    exact_sum,
    simultaneous_tree,
    weighted_tree,
)
from clmst.runtime.launcher import Launcher

TIES = ("sequential", "simultaneous")


def condensed_tree(
    forest: Forest, min_cluster_size: int, *, ties: str = "sequential", device: Any,
    weights: Nodes | None = None, own_heights: Floats | None = None,
) -> CondensedTree:  # fmt: skip
    """Build the condensed tree of a forest's dendrogram. Blocks until it is complete.

    Seen from the root, a merge of two clusters of at least `min_cluster_size` points each splits a
    cluster into two. At any other merge the points of the smaller part leave the cluster, and the
    larger part stays the same cluster. If the forest has several trees, they are joined at an
    infinite height. Merges of equal heights are separate splits if `ties` is "sequential", and one
    split into more than two clusters if it is "simultaneous". With `weights`, each vertex stands
    for several equal points, which are joined at the vertex's height in `own_heights`. If `weights`
    and `own_heights` are None, each vertex is one point.
    """
    if forest.n_vertices == 1:
        zero = np.zeros(1, np.int64)
        return (CondensedTree if ties == "sequential" else OrderFreeTree)(
            n_points=1, point_cluster=zero, point_lambda=np.full(1, np.inf), parent=zero - 1,
            birth=np.zeros(1), death=np.full(1, np.inf), least_point=zero, weights=weights,
            size=zero + 1 if weights is None else weights,
        )  # fmt: skip
    if weights is not None:
        assert own_heights is not None, "equal points have a height"
        return weighted_tree(
            forest, min_cluster_size, weights, own_heights, ties=ties, device=device
        )
    if ties == "simultaneous":
        return simultaneous_tree(forest, min_cluster_size, device=device)

    def condensed_on_host(found: Dendrogram) -> CondensedTree:
        return on_host.condense(found.children, found.sizes, found.heights, min_cluster_size)

    return made_of_edges(
        forest, partial(_condensed_on, forest, min_cluster_size), condensed_on_host,
        join_components=True, device=device,
    )  # fmt: skip


def _condensed_on(
    forest: Forest, min_cluster_size: int, edges: Array, heights: Array, launch: Launcher
) -> CondensedTree:
    """Build the condensed tree of a forest on the device of a launcher.

    `edges` and `heights` are the edges of the forest, with those that join its trees, and their
    heights, as :func:`made_of_edges` passes them. `min_cluster_size` is as in
    :func:`condensed_tree`.
    """
    if takes_one_launch(forest.n_vertices, launch.device):
        order = with_joined(stable_order(forest.weights), heights)
        return merge_and_condense(edges, heights, order, min_cluster_size, launch)
    merges = merged(forest, edges, heights, launch)
    return condense(merges, launch.device.upload(heights), min_cluster_size, launch)


Chosen = npt.NDArray[np.bool_]

NOISE = -1


def choose_clusters(
    tree: CondensedTree,
    *,
    method: str = "eom",
    epsilon: float = 0.0,
    epsilon_max: float = np.inf,
    max_size: int | None = None,
    allow_single: bool = False,
) -> Chosen:
    """Choose clusters of a condensed tree by HDBSCAN's parameters, none of them inside another.

    Returns a mask of the clusters. A cluster is born at the height at which it splits off a larger
    cluster. The method "eom" chooses the most stable clusters of at most `max_size` points that are
    born at a height of at most `epsilon_max`. None as `max_size` means no limit. For the root, the
    greatest height at which it loses a point or splits counts as its birth. The method "leaf"
    chooses the clusters that contain no other cluster. If a chosen cluster is born below the height
    `epsilon`, the first cluster around it that is born above this height replaces it. The root is
    chosen by "eom" only, and only with `allow_single`.
    """
    if method == "leaf":
        chosen = tree.is_leaf.copy()
        chosen[0] = False  # as in scikit-learn, even if `allow_single` is true
    else:
        is_too_large = np.zeros(tree.n_clusters, bool) if max_size is None else tree.size > max_size
        if epsilon_max < np.inf:
            is_too_large |= _births(tree) > epsilon_max
        chosen = _most_stable(tree, is_too_large, allow_single=allow_single)
    if epsilon > 0 and not chosen[0]:
        chosen = _not_below(epsilon, tree, chosen, allow_single=allow_single)
    return chosen


def _births(tree: CondensedTree) -> Floats:
    """Return the height at which each cluster of a tree is born, shape (k,).

    The root is born at the greatest height at which it loses a point or splits.
    """
    first = tree.birth.copy()
    in_root = tree.point_cluster == 0
    first[0] = min(tree.death[0], tree.point_lambda[in_root].min(initial=np.inf))
    return reciprocals(first)


def _most_stable(tree: CondensedTree, is_too_large: Chosen, *, allow_single: bool) -> Chosen:
    """Choose the clusters with the greatest total stability, so that none is inside another.

    `is_too_large` is a mask of clusters that must not be chosen. The root is chosen only with
    `allow_single`. The choice takes one step in Python for each cluster that is split. The steps
    are a loop and not a recursion, because a tree may be as deep as it has clusters.
    """
    chosen = ~is_too_large
    chosen[(_divided_exactly if tree.sums_exactly else _divided)(tree, is_too_large)] = False
    if not allow_single:
        chosen[0] = False
    return _topmost(tree, chosen)


def _divided(tree: CondensedTree, is_too_large: Chosen) -> list[int]:
    """Find the clusters of a condensed tree that are replaced by clusters inside them.

    A cluster is replaced if the best choice of clusters inside it has a greater total stability, or
    if the cluster is in the mask `is_too_large`. Returns the numbers of the replaced clusters.
    """
    is_leaf = tree.is_leaf
    of_leaves = np.where(is_leaf & ~is_too_large, tree.stability, 0.0)
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
    return divided


def _divided_exactly(tree: CondensedTree, is_too_large: Chosen) -> list[int]:
    """Find the same clusters as :func:`_divided`, by exact sums of stabilities.

    Exact sums do not depend on the order of the clusters. `is_too_large` is the mask of clusters
    that must not be chosen.
    """
    parent, own, too_large = tree.parent.tolist(), tree.stability.tolist(), is_too_large.tolist()
    # For each cluster, a list with one number per child: the greatest total stability of clusters
    # that can be selected within this child.
    inside: list[list[float]] = [[] for _ in parent]
    divided = []
    for cluster in range(len(parent) - 1, -1, -1):
        best, children = own[cluster], inside[cluster]
        of_children = exact_sum(children)
        if of_children > best or too_large[cluster]:
            best = of_children
            divided.append(cluster)
        if cluster:
            inside[parent[cluster]].append(best)
    return divided


def _not_below(
    epsilon: float, tree: CondensedTree, chosen: Chosen, *, allow_single: bool
) -> Chosen:
    """Replace each chosen cluster of a tree that is born at a height below `epsilon`.

    A cluster is born at the height at which it splits off a larger cluster. It is replaced by the
    first cluster around it that is born above `epsilon`. Without `allow_single` the root cannot be
    the replacement, and the cluster below the root is taken. `chosen` and the result are masks.
    """
    heights = reciprocals(tree.birth)
    of_first = tree.parent <= 0
    stops = heights > epsilon if allow_single else (heights > epsilon) | of_first
    target = first_above(tree, stops)[tree.above]
    if not allow_single:  # a cluster that splits off the root is its own replacement
        target[of_first] = np.flatnonzero(of_first)
    moves = chosen & (heights < epsilon)
    replaced = chosen & ~moves
    replaced[target[moves]] = True
    return _topmost(tree, replaced)


def _topmost(tree: CondensedTree, chosen: Chosen) -> Chosen:
    """Return the mask of the chosen clusters that are not inside another chosen cluster.

    `chosen` is a mask of the clusters of the tree.
    """
    within = chosen[first_above(tree, chosen)[tree.above]]
    within[0] = False
    return chosen & ~within


def first_above(tree: CondensedTree, stops: Chosen) -> Nodes:
    """Find the first cluster in the mask `stops` on the way from each cluster to the tree's root.

    The way begins with the cluster itself. The result is cluster 0, the root, if no cluster on the
    way is in the mask. O(k log k) for k clusters.
    """
    return ends_of_paths(np.where(stops, np.arange(tree.n_clusters), tree.above))


def share_of(density: Array, greatest: Array) -> Floats:
    """Divide densities by the greatest densities, and limit the quotients to 1.

    The result is 1 where both are infinite. The arrays `density` and `greatest` are broadcast.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = np.where(density >= greatest, 1.0, density / greatest)
    return share


def grades_of(separation: Floats, sparseness: Floats) -> Floats:
    """Grade clusters from -1 to 1 by how far apart they are and how sparse they are inside.

    The grade is the difference of `separation` and `sparseness`, divided by the greater of the two.
    """
    with np.errstate(invalid="ignore"):
        return np.where(
            separation > sparseness,
            1 - share_of(sparseness, separation),
            share_of(separation, sparseness) - 1,
        )


def label_points(
    tree: CondensedTree, chosen: Chosen, epsilon: float
) -> tuple[npt.NDArray[Any], Floats, Nodes]:
    """Return the labels of points, the strengths of membership, and the cluster of each label.

    `chosen` is the mask of the chosen clusters of the tree. Labels are numbered from 0 in the order
    of the first point of each cluster. Noise has the label -1 and the strength 0. If the root is
    chosen, points that leave it above the height `epsilon` are noise; with `epsilon` 0, points that
    leave it before it ends are noise.
    """
    owner = first_above(tree, chosen)
    owner[~chosen[owner]] = NOISE
    first = np.full(tree.n_clusters, tree.n_points)
    np.minimum.at(first, owner[owner != NOISE], tree.least_point[owner != NOISE])
    clusters = np.flatnonzero(chosen)
    clusters = clusters[np.argsort(first[clusters])]
    number = np.full(tree.n_clusters + 1, NOISE)  # the last entry is for the index NOISE
    number[clusters] = np.arange(clusters.size)
    labels, leaves = number[owner][tree.point_cluster], tree.point_lambda
    strengths = share_of(leaves, tree.death[owner][tree.point_cluster])
    strengths[labels == NOISE] = 0
    if chosen[0]:  # the root is the only cluster; points that leave it early are noise
        is_early = leaves < (tree.death[0] if epsilon == 0 else 1 / epsilon)
        labels[is_early], strengths[is_early] = NOISE, 0
        clusters = clusters[: int((~is_early).any())]
    return labels, strengths, clusters
