"""Remove clusters that persist only briefly from condensed trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clmst.algorithms.dendrogram.condense import CondensedTree
from clmst.points.condensed import Chosen, first_above


def without_brief_clusters(tree: CondensedTree, persistence: float) -> CondensedTree:
    """Return a condensed tree without the clusters that persist for less than `persistence`.

    Lambda is a density, which grows from the root to the leaves. A cluster persists from the lambda
    at which it splits off to the greatest lambda in it. If this difference is less than
    `persistence`, the cluster is removed from its split.

    If two or more clusters of a split are left, the points of the removed clusters leave the parent
    at the split. If fewer are left, the split itself is removed, and the cluster that persists
    longest becomes a part of the parent. If that cluster contains no other cluster, the points of
    all clusters of the split stay in the parent. Otherwise the points of the other clusters leave
    the parent at the split.

    The call takes one step in Python for each cluster of the tree. The tree itself is returned if
    all of its leaves persist for `persistence` or longer.
    """
    k = tree.n_clusters
    children: list[list[int]] = [[] for _ in range(k)]
    for cluster, parent in enumerate(tree.parent[1:].tolist(), 1):
        children[parent].append(cluster)
    birth, last = tree.birth.tolist(), tree.death.tolist()  # `last`: the greatest lambda inside
    becomes_leaf = tree.is_leaf.tolist()
    is_joined, leaves_early = np.zeros(k, bool), np.zeros(k, bool)
    for parent in range(k - 1, -1, -1):
        own = children[parent]
        if not own:
            continue
        last[parent] = max(last[parent], *(last[one] for one in own))
        lasting = [one for one in own if _since(last[one], birth[one]) >= persistence]
        if len(lasting) == len(own):
            continue
        is_split = len(lasting) > 1
        longest = max(own, key=last.__getitem__)
        goes_on = is_split or not becomes_leaf[longest]
        becomes_leaf[parent] = not goes_on
        for one in own:
            is_joined[one] = not (is_split and one in lasting)
            leaves_early[one] = goes_on and one not in lasting and one != longest
    return _joined(tree, is_joined, leaves_early) if is_joined.any() else tree


def _since(later: float, earlier: float) -> float:
    """Return the density `later` minus the density `earlier`, or 0 if both are infinite."""
    return 0.0 if later == earlier else later - earlier


def _joined(tree: CondensedTree, is_joined: Chosen, leaves_early: Chosen) -> CondensedTree:
    """Return a tree in which each cluster of the mask `is_joined` is a part of its parent cluster.

    The points of a cluster of the mask `leaves_early` leave the parent at the lambda at which the
    cluster has begun.
    """
    owner = first_above(tree, ~is_joined)
    is_kept = np.flatnonzero(~is_joined)
    number = np.full(tree.n_clusters, -1)
    number[is_kept] = np.arange(is_kept.size)
    until = np.where(leaves_early, tree.birth, np.inf)  # the last lambda of each cluster's points
    for cluster in np.flatnonzero(is_joined).tolist():  # parents come first
        until[cluster] = min(until[cluster], until[tree.parent[cluster]])
    death, least = tree.birth.copy(), np.full(tree.n_clusters, tree.n_points)
    np.maximum.at(death, owner, np.minimum(tree.death, until))
    np.minimum.at(least, owner, tree.least_point)
    parent = number[owner[tree.above[is_kept]]]
    parent[0] = -1
    return replace(
        tree, point_cluster=number[owner[tree.point_cluster]],
        point_lambda=np.minimum(tree.point_lambda, until[tree.point_cluster]), parent=parent,
        birth=tree.birth[is_kept], death=death[is_kept], size=tree.size[is_kept],
        least_point=least[is_kept],
    )  # fmt: skip
