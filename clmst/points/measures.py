"""What the condensed tree of HDBSCAN says beyond labels: outlier scores, persistence, exemplars.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.condense import CondensedTree, Floats, Nodes
from clmst.core.errors import NotFittedError
from clmst.core.weight_keys import Array
from clmst.points.condensed import NOISE, first_above, share_of
from clmst.points.inputs import Distances

_COMPUTED = ("_tree", "outlier_scores_", "cluster_persistence_", "exemplars_", "_predictor")
# What prediction needs to know of the parameters, which may be changed after a fit.
_PARAMETERS = (
    "alpha", "cluster_selection_epsilon", "metric", "metric_params", "min_cluster_size",
    "min_samples",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenClusters:
    """The clusters of a condensed tree, and which of them, or of those around them, is chosen."""

    tree: CondensedTree
    chosen: Nodes  # shape (number of labels,): the cluster of each label

    @cached_property
    def ancestors(self) -> list[Nodes]:
        """The ancestor of each cluster 1, 2, 4, ... levels up, or cluster 0. O(k log depth)."""
        found = [self.tree.above]
        while found[-1].any():
            found.append(found[-1][found[-1]])
        return found

    @cached_property
    def last_death(self) -> Floats:
        """The death of each cluster and of all clusters in it, whichever is last."""
        last = self.tree.death.copy()
        for ancestor in self.ancestors:  # now of each cluster and what is 1, 3, 7, ... levels below
            np.maximum.at(last, ancestor, last.copy())
        return last

    @cached_property
    def label(self) -> Nodes:
        """The label of each cluster: that of the chosen one it is, or is in; or NOISE."""
        label = np.full(self.tree.n_clusters, NOISE)
        label[self.chosen] = np.arange(self.chosen.size)
        return label[first_above(self.tree, label != NOISE)]

    def clusters_at(self, cluster: Nodes, density: Floats) -> Nodes:
        """Return the first cluster, from each given one on upwards, that is born below a density.

        Cluster 0 where there is none. A cluster is born no earlier than those around it: so the
        way up is found by halving it.
        """
        birth = self.tree.birth
        for ancestor in reversed(self.ancestors):
            higher = ancestor[cluster]
            cluster = np.where(birth[higher] >= density, higher, cluster)
        return np.where(birth[cluster] >= density, self.tree.above[cluster], cluster)

    def outlier_scores(self, point: Nodes | slice, density: Floats) -> Floats:
        """Return how early points leave, as a share of how long their clusters last."""
        return 1 - share_of(density, self.last_death[self.tree.point_cluster[point]])


class TreeMeasures:
    """What an estimator with a condensed tree can be asked for after its fit; computed then.

    Each is forgotten at the next fit.
    """

    selected_clusters_: Nodes
    _given: Distances
    _fitted_by: dict[str, Any]
    _condensed: CondensedTree

    @property
    def condensed_tree_(self) -> npt.NDArray[np.void]:
        """The condensed tree, as scikit-learn has it; made when it is first asked for."""
        self._check_fitted()
        return self._condensed.rows

    def _keep(self, given: Distances) -> None:
        """Keep what a fit was given, and forget what was computed after an earlier one."""
        own = vars(self)
        own["_given"] = given
        own["_fitted_by"] = {name: own[name] for name in _PARAMETERS}
        for name in _COMPUTED:
            own.pop(name, None)

    def _check_fitted(self) -> None:
        if "_fitted_by" not in vars(self):
            raise NotFittedError(f"{self!r} is not fitted; fit must be called first")

    @cached_property
    def _tree(self) -> ChosenClusters:
        self._check_fitted()
        tree = self._condensed
        return ChosenClusters(tree=tree, chosen=self.selected_clusters_ - tree.n_points)

    @cached_property
    def outlier_scores_(self) -> Floats:
        """How far each point is from being in the densest part of its cluster, from 0 to 1.

        GLOSH: 1 - lambda(x) / lambda_max(x), by the density at which the point leaves its last
        cluster and the greatest one in that cluster. 0 where both are infinite; 1 for rows with an
        infinite coordinate, NaN for those with a missing one. Computed when it is first read, in
        O(n + k log n) for k clusters of the tree.
        """
        tree, given = self._tree, self._given
        scores = tree.outlier_scores(slice(None), tree.tree.point_lambda)
        return given.spread(scores, 1, np.nan)

    @cached_property
    def cluster_persistence_(self) -> Floats:
        """How stable each cluster is, from 0 to 1: shape (n_clusters,).

        The stability of its condensed cluster, divided by its points and by the greatest lambda of
        the tree. Where points are at distance 0 of each other, lambda is infinite: the greatest
        finite one divides, and a stay without end counts as this one. 1 if none is finite.
        Computed when it is first read, in O(n).
        """
        tree, chosen = self._tree.tree, self._tree.chosen
        within = np.concatenate([tree.point_cluster, tree.parent[1:]])
        until = np.concatenate([tree.point_lambda, tree.birth[1:]])
        count = np.concatenate([np.ones(tree.n_points, np.int64), tree.size[1:]])
        greatest = until.max(initial=0, where=np.isfinite(until))
        if greatest == 0:
            return np.ones(chosen.size)
        since = tree.birth[within]
        with np.errstate(invalid="ignore"):
            stays = np.where(until == since, 0, np.minimum(until - since, greatest))
        stability = np.bincount(within, stays * count, tree.n_clusters)[chosen]
        shares: Floats = stability / (tree.size[chosen] * greatest)
        return shares

    @cached_property
    def exemplars_(self) -> list[Array]:
        """The points in the dense middles of each cluster: a list of arrays of shape (m, d).

        Of each condensed cluster that is in it and has no other cluster in it, the points that
        leave last, in the order of rows. Computed when it is first read, in O(n log n).

        Raises
        ------
        NotFittedError
            The fit was given distances, so there are no coordinates.
        """
        clusters, rows = self._tree, self._given.rows
        if rows is None:
            raise NotFittedError(
                f"{self!r} was fitted by distances; exemplars_ needs a fit of points"
            )
        tree, of_point = clusters.tree, clusters.tree.point_cluster
        is_last = tree.is_leaf[of_point] & (tree.point_lambda == tree.death[of_point])
        labels = np.where(is_last, clusters.label[of_point], NOISE)
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(clusters.chosen.size + 1))
        return [rows[order[begin:end]] for begin, end in pairwise(ends)]
