"""Measures of HDBSCAN's condensed tree: outlier scores, persistence and exemplars.

Source: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from clmst.algorithms.dendrogram.condense import CondensedTree, Floats, Nodes
from clmst.core.errors import NotFittedError
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array
from clmst.points.condensed import NOISE, first_above, grades_of, share_of
from clmst.points.estimator import not_fitted
from clmst.points.inputs import Distances
from clmst.points.trees import CondensedTreeArray, SingleLinkageArray, SpanningTreeArray

_COMPUTED = (
    "_linkage", "outlier_scores_", "cluster_persistence_", "exemplars_",
    "relative_validity_",
)  # fmt: skip
# The parameters of the estimator that a prediction needs. A fit stores their values, because a
# caller may change a parameter after the fit.
_PARAMETERS = (
    "alpha", "cluster_selection_epsilon", "metric", "metric_params", "min_cluster_size",
    "min_samples", "ties",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenClusters:
    """A condensed tree, and the clusters of the tree that were chosen as the labels of points."""

    tree: CondensedTree
    chosen: Nodes  # shape (number of labels,): the cluster of each label

    @cached_property
    def ancestors(self) -> list[Nodes]:
        """The ancestors of each cluster that are 1, 2, 4, ... steps above it in the tree.

        There is an array for each of these distances, with an ancestor for each cluster. Beyond the
        root, the ancestor is the root, cluster 0. Takes O(k log depth) for k clusters.
        """
        found = [self.tree.above]
        while found[-1].any():
            found.append(found[-1][found[-1]])
        return found

    def greatest_within(self, values: Array) -> Array:
        """Return the greatest value of each cluster and the clusters inside it, shape (k,).

        `values` has a value for each cluster.
        """
        greatest = values.copy()
        # `greatest` has, for each cluster, the maximum of `values` over the cluster and its
        # descendants that are up to some number of levels below it. Each step of the loop increases
        # this number: 1, 3, 7 and so on.
        for ancestor in self.ancestors:
            np.maximum.at(greatest, ancestor, greatest.copy())
        return greatest

    @cached_property
    def last_death(self) -> Floats:
        """The greatest density at which each cluster, or a cluster inside it, ends, shape (k,)."""
        return self.greatest_within(self.tree.death)

    @cached_property
    def label(self) -> Nodes:
        """The label of each cluster, which is the label of the chosen cluster around it, or NOISE.

        A chosen cluster is around itself.
        """
        label = np.full(self.tree.n_clusters, NOISE)
        label[self.chosen] = np.arange(self.chosen.size)
        return label[first_above(self.tree, label != NOISE)]

    def clusters_at(self, cluster: Nodes, density: Floats) -> Nodes:
        """Find, on the way from each cluster to the root, the first cluster born below a density.

        `cluster` has the clusters with which the searches begin, and `density` the density for
        each. The result is the root, cluster 0, if no other cluster was born below the density. A
        cluster is never born before a cluster around it, so the search is a binary search over the
        ancestors.
        """
        birth = self.tree.birth
        for ancestor in reversed(self.ancestors):
            higher = ancestor[cluster]
            cluster = np.where(birth[higher] >= density, higher, cluster)
        return np.where(birth[cluster] >= density, self.tree.above[cluster], cluster)

    def outlier_scores(self, point: Nodes | slice, density: Floats) -> Floats:
        """Return the GLOSH outlier scores of points.

        The score of a point is 1 minus a quotient: `density`, divided by the greatest density in
        the last cluster of the point. `density` is the density at which the point leaves this
        cluster, or at which a new point connects to it. `point` has the numbers of the points of
        the fit, to which new points connect.
        """
        return 1 - share_of(density, self.last_death[self.tree.point_cluster[point]])


class TreeMeasures:
    """Base class with measures of an estimator that has a condensed tree.

    Each measure is computed when it is first read. The next fit deletes the measures.
    """

    selected_clusters_: Nodes
    labels_: Array
    forest_: Forest
    device: Any
    _given: Distances
    _fitted_by: dict[str, Any]
    _kept: dict[str, Any]  # what later calls use again, such as the data for predictions
    _condensed: CondensedTree
    _own_heights: Floats | None

    @property
    def condensed_tree_(self) -> CondensedTreeArray:
        """The condensed tree in scikit-learn's form. It is made when it is first read."""
        self._check_fitted()
        return CondensedTreeArray.of(self._condensed.rows, copy(self))

    @property
    def single_linkage_tree_(self) -> SingleLinkageArray:
        """The dendrogram by mutual reachability, computed in O(n log n) when it is first read."""
        self._check_fitted()
        return SingleLinkageArray.of(self._linkage, copy(self))

    @property
    def minimum_spanning_tree_(self) -> SpanningTreeArray:
        """The edges of `forest_` as rows of two points and the distance between the two."""
        self._check_fitted()
        rows = np.column_stack((self.forest_.edges, self.forest_.weights)).astype(np.float64)
        return SpanningTreeArray.of(rows, copy(self))

    @cached_property
    def _linkage(self) -> Array:
        """The merges of the forest as SciPy's linkage matrix.

        If there are several trees, they are joined at an infinite height.
        """
        return self.forest_.linkage(join_components=True, device=self.device)

    def _keep(self, given: Distances) -> None:
        """Store the input `given` and the parameters of a fit, and delete earlier measures."""
        own = vars(self)
        own["_given"], own["_kept"] = given, {}
        own["_fitted_by"] = {name: own[name] for name in _PARAMETERS}
        for name in _COMPUTED:
            own.pop(name, None)

    def _check_fitted(self) -> None:
        """Raise NotFittedError unless the estimator has been fitted."""
        if "_fitted_by" not in vars(self):
            raise not_fitted(f"{self!r} is not fitted; fit must be called first")

    @property
    def _tree(self) -> ChosenClusters:
        """The condensed tree of the fit, with the clusters that the fit has chosen.

        Raises NotFittedError before the first fit.
        """
        self._check_fitted()
        if "tree" not in self._kept:
            chosen = self.selected_clusters_ - self._condensed.n_points
            self._kept["tree"] = ChosenClusters(tree=self._condensed, chosen=chosen)
        tree: ChosenClusters = self._kept["tree"]
        return tree

    @cached_property
    def outlier_scores_(self) -> Floats:
        """The outlier score of each point, from 0 in the densest part of a cluster to 1.

        The score is GLOSH's: 1 - lambda / lambda_max. lambda is the density at which the point
        leaves its last cluster, and lambda_max is the greatest density in that cluster. The score
        is 0 if both are infinite, 1 for rows with an infinite coordinate, and NaN for rows with a
        missing coordinate. The scores are computed when they are first read, in O(n + k log n) for
        k clusters of the tree.
        """
        tree, given = self._tree, self._given
        scores = tree.outlier_scores(slice(None), tree.tree.point_lambda)
        return given.spread(scores, 1, np.nan, np.nan)

    @cached_property
    def cluster_persistence_(self) -> Floats:
        """The persistence of each cluster, from 0 to 1; 1 is the most stable.

        The persistence is the stability of the cluster in the condensed tree, divided by the number
        of its points and by the greatest lambda of the tree. lambda is infinite where points are at
        distance 0 from each other. In this case the greatest finite lambda is the divisor, and an
        infinite stay in a cluster counts as this lambda. The persistence is 1 if no lambda is
        finite. The array is computed when it is first read, in O(n).
        """
        return self._tree.tree.persistence[self._tree.chosen]

    @cached_property
    def exemplars_(self) -> list[Array]:
        """The points in the densest parts of each cluster: a list of arrays of shape (m, d).

        The exemplars of a chosen cluster that contains no other cluster are the points that leave
        it last, at the greatest density. If the chosen cluster contains clusters, its exemplars are
        the exemplars of all inner clusters that contain no further one. Exemplars are in the order
        of the rows. The list is computed when it is first read, in O(n log n).

        Raises
        ------
        NotFittedError
            The estimator has not been fitted, or was fitted with distances instead of coordinates.
        """
        clusters, rows = self._tree, self._given.rows
        if rows is None:
            raise NotFittedError(
                f"{self!r} was fitted with distances; exemplars_ needs a fit with points"
            )
        tree, of_point = clusters.tree, clusters.tree.point_cluster
        is_last = tree.is_leaf[of_point] & (tree.point_lambda == tree.death[of_point])
        labels = np.where(is_last, clusters.label[of_point], NOISE)
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(clusters.chosen.size + 1))
        return [rows[order[begin:end]] for begin, end in pairwise(ends)]

    @cached_property
    def relative_validity_(self) -> float:
        """A quick grade of the clusters, from -1 to 1, to compare fits of the same points.

        The grade is DBCV (:func:`clmst.cluster.validity_index`), approximated by the spanning tree
        of the fit. The sparseness of a cluster is the weight of the heaviest tree edge in it. The
        separation of a cluster is the weight of the lightest tree edge to another cluster. If no
        tree edge leads to another cluster, the separation is twice the greatest weight of the tree.
        If there is only one cluster, the separation is twice the weight of the lightest edge
        between the cluster and noise. The grade of the cluster is the difference of separation and
        sparseness, divided by the greater of both. The result is the sum of the grades, each
        multiplied by the share of all rows that are in the cluster. The number is computed when it
        is first read, in O(n).
        """
        self._check_fitted()
        given = self._given
        return relative_validity(
            self.forest_, self.labels_[given.finite], self._condensed.counts, self._own_heights,
            n_samples=given.n_samples or given.n_rows,
        )  # fmt: skip


def relative_validity(
    forest: Forest, labels: Nodes, counts: Nodes, own_heights: Floats | None, *, n_samples: int
) -> float:
    """Grade clusters by a spanning forest; see :attr:`TreeMeasures.relative_validity_`.

    `labels` has the cluster of each vertex, or NOISE. `n_samples` is the number of all points.
    `counts` says for how many equal points each vertex stands, and `own_heights` has the height at
    which these points are joined, or is None if each vertex is one point.
    """
    n_clusters = int(labels.max(initial=-1)) + 1
    ends, weights = labels[forest.edges.astype(np.int64)], forest.weights.astype(np.float64)
    is_in = ends != NOISE
    inside = is_in.all(axis=1) & (ends[:, 0] == ends[:, 1])
    between = is_in.all(axis=1) & ~inside
    to_noise = is_in.any(axis=1) & ~is_in.all(axis=1)
    sparseness, separation = np.zeros(n_clusters), np.full(n_clusters, np.inf)
    np.maximum.at(sparseness, ends[inside, 0], weights[inside])
    for end in ends[between].T:
        np.minimum.at(separation, end, weights[between])
    if own_heights is not None:
        several = (counts > 1) & (labels != NOISE)
        np.maximum.at(sparseness, labels[several], own_heights[several])
    greatest = weights.max(initial=0.0)
    if n_clusters == 1 and to_noise.any():
        greatest = weights[to_noise].min()
    separation[np.isinf(separation)] = 2 * greatest
    is_in = labels != NOISE
    sizes = np.bincount(labels[is_in], weights=counts[is_in], minlength=n_clusters)
    return float((sizes * grades_of(separation, sparseness)).sum() / n_samples)
