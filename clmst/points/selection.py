"""Which clusters of a condensed tree are chosen, and the labels that points get by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.points.condensed import CondensedTree, Floats, Nodes

Chosen = npt.NDArray[np.bool_]

NOISE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChoice:
    """How clusters are chosen; the parameters of HDBSCAN.

    Attributes
    ----------
    method : {"eom", "leaf"}
        The most stable clusters (excess of mass), or those without clusters in them.
    epsilon : float
        Clusters born below this height are replaced by those that they come from.
    max_size : int or None
        Most points of a cluster; for "eom".
    allow_single : bool
        Whether all points may be one cluster.
    """

    method: str
    epsilon: float
    max_size: int | None
    allow_single: bool

    def choose(self, tree: CondensedTree) -> Chosen:
        """Return which clusters are chosen; none is in another one."""
        if self.method == "leaf":
            chosen = tree.is_leaf.copy()
            chosen[0] = False  # as in scikit-learn, even if all points may be one cluster
        else:
            chosen = self._most_stable(tree)
        if self.epsilon > 0 and not chosen[0]:
            chosen = self._not_below_epsilon(tree, chosen)
        return chosen

    def _most_stable(self, tree: CondensedTree) -> Chosen:
        """Return the clusters of the greatest total stability, none in another one."""
        best, chosen = tree.stability.copy(), np.ones(tree.n_clusters, bool)
        inside = np.zeros(tree.n_clusters)
        is_too_large = np.zeros(tree.n_clusters, bool)
        if self.max_size is not None:
            is_too_large = tree.size > self.max_size
        for level in reversed(tree.levels):
            divided = (inside[level] > best[level]) | is_too_large[level]
            chosen[level[divided]] = False
            best[level[divided]] = inside[level[divided]]
            if level[0] != 0:
                np.add.at(inside, tree.parent[level], best[level])
        if not self.allow_single:
            chosen[0] = False
        return _topmost(tree, chosen)

    def _not_below_epsilon(self, tree: CondensedTree, chosen: Chosen) -> Chosen:
        """Replace clusters that are born below a height by the first one above that is not."""
        with np.errstate(divide="ignore"):
            heights = 1 / tree.birth
        target = np.arange(tree.n_clusters)
        for level in tree.levels[1:]:
            parent = tree.parent[level]
            stops = np.where(heights[parent] > self.epsilon, parent, target[parent])
            of_first = 0 if self.allow_single else level
            target[level] = np.where(parent == 0, of_first, stops)
        moves = chosen & (heights < self.epsilon)
        replaced = chosen & ~moves
        replaced[target[moves]] = True
        return _topmost(tree, replaced)


def _topmost(tree: CondensedTree, chosen: Chosen) -> Chosen:
    """Return the chosen clusters that are in no other one."""
    within = np.zeros(tree.n_clusters, bool)
    for level in tree.levels[1:]:
        parent = tree.parent[level]
        within[level] = within[parent] | chosen[parent]
    return chosen & ~within


def label_points(
    tree: CondensedTree, chosen: Chosen, epsilon: float
) -> tuple[npt.NDArray[Any], Floats, Nodes]:
    """Return labels, the strengths of membership, and the cluster of each label.

    Labels are numbered by least point; noise is -1, with the strength 0.
    """
    owner = np.where(chosen, np.arange(tree.n_clusters), NOISE)
    for level in tree.levels[1:]:
        owner[level] = np.where(chosen[level], level, owner[tree.parent[level]])
    of_point = owner[tree.point_cluster]
    if chosen[0]:  # all points are one cluster but for those that leave it early
        least = tree.death[0] if epsilon == 0 else 1 / epsilon
        of_point[tree.point_lambda < least] = NOISE
    is_in = of_point != NOISE
    clusters, first = np.unique(of_point[is_in], return_index=True)
    clusters = clusters[np.argsort(first)]
    number = np.full(tree.n_clusters, NOISE)
    number[clusters] = np.arange(clusters.size)
    labels = np.where(is_in, number[of_point], NOISE)
    strengths = np.zeros(tree.n_points)
    most, leaves = tree.death[of_point[is_in]], tree.point_lambda[is_in]
    is_full = (most == 0) | np.isinf(leaves)
    with np.errstate(invalid="ignore", divide="ignore"):
        strengths[is_in] = np.where(is_full, 1.0, np.minimum(leaves, most) / most)
    return labels, strengths, clusters
