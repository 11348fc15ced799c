"""HDBSCAN's condensed tree with all merges of one height taken together.

Source: R. J. G. B. Campello, D. Moulavi, J. Sander, "Density-Based Clustering Based on Hierarchical
Density Estimates", PAKDD 2013, which removes all edges of one weight from the spanning tree at the
same time. The clusters at each height are the components of the edges below it. They follow from
the distances alone, so the tree does not depend on which of several minimum spanning trees was
found, nor on the order of the points.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from math import fsum, inf
from typing import Any

import numpy as np

from clmst.algorithms.dendrogram.condense import CondensedTree, Floats, Nodes, reciprocals
from clmst.core.forest import Forest
from clmst.core.paths import ends_of_paths
from clmst.core.weight_keys import Array
from clmst.points.dendrogram import Dendrogram, dendrogram_of

_LOW_BITS = np.int64((1 << 27) - 1)  # the lower half of the 53 bits of a double
_SMALL = 1 << 16
# If densities (lambda values) exceed 2**900, all are divided by 2**64 before they are added, so
# that no sum overflows.
_GREAT, _SHIFT = 2.0**900, 64


class OrderFreeTree(CondensedTree):
    """A condensed tree whose clusters may have more than two children.

    Sums over the tree are exact and rounded once. So the sums, and comparisons of two sums, do not
    depend on the order of the points.
    """

    sums_exactly = True

    @cached_property
    def stability(self) -> Floats:
        """The stability of each cluster, shape (k,).

        This is the sum, over the points of the cluster, of the difference between lambda when the
        point leaves the cluster and lambda when the cluster begins. The sum is infinite if a point
        stays until lambda is infinite. It is 0 if the cluster begins at an infinite lambda. (Lambda
        is 1 / height, which overflows for heights below 5.6e-309.)
        """
        total, exponent, until_end = self._stays
        with np.errstate(over="ignore"):
            total = np.ldexp(total, exponent)
        total[until_end > 0] = inf
        return total

    @cached_property
    def persistence(self) -> Floats:
        """For each cluster, its stability divided by its size and by the greatest finite lambda.

        The stability is the sum, over the points, of the range of lambda in which a point is in the
        cluster. An infinite range counts as the greatest finite lambda. The result is 1 if no
        finite lambda is above 0.
        """
        finite, exponent, until_end = self._stays
        greatest = self.greatest_lambda
        if greatest == 0:
            return np.ones(self.n_clusters)
        longest = np.ldexp(greatest, -exponent)
        shares: Floats = (finite / longest + until_end) / self.size
        return shares

    @cached_property
    def _stays(self) -> tuple[Floats, int, Nodes]:
        """Return the sum of all finite stays in each cluster, and the number of infinite stays.

        The stay of a point in a cluster is the difference of two lambdas (1 / distance): the one at
        which the point leaves the cluster and the one at which the cluster begins. It is infinite
        if equal points keep the point in the cluster up to the distance 0.

        Returns (sums, exponent, counts). Both arrays have the shape (k,), for k clusters. The sums
        are divided by ``2**exponent``, so that none of them overflows. The counts are of infinite
        stays.
        """
        k, birth = self.n_clusters, self.birth
        within = np.concatenate([self.point_cluster, self.parent[1:]])
        until = np.concatenate([self.point_lambda, birth[1:]])
        count = np.concatenate([self.counts, self.size[1:]])
        is_finite, begins = np.isfinite(until), np.isfinite(birth)
        at_end = ~is_finite & begins[within]
        until_end = _counted(within[at_end], count[at_end], k)
        exponent = _SHIFT if self.greatest_lambda > _GREAT else 0
        # A point stays in a cluster from one lambda (1 / distance) to a greater one. The sum of the
        # lengths of all stays is the sum of their ends minus the sum of their beginnings.
        ends, n_ends = until[is_finite], count[is_finite]
        of_ends, first = within[is_finite], np.flatnonzero(begins)
        rows = [
            (ends, n_ends, of_ends),
            (-birth[first], _counted(of_ends, n_ends, k)[first], first),
        ]
        terms: list[tuple[Floats, Nodes]] = []
        for values, counts, cluster in rows:
            if exponent:
                np.ldexp(values, -exponent, out=values)
            is_one = counts == 1
            terms.append((values[is_one], cluster[is_one]))
            terms += [
                (product, cluster[~is_one])
                for product in _products(values[~is_one], counts[~is_one])
            ]
        value, of = (np.concatenate(parts) for parts in zip(*terms, strict=True))
        return exact_sums(value, of, k), exponent, until_end


def _counted(cluster: Nodes, counts: Nodes, n_clusters: int) -> Nodes:
    """Return the sum of the counts of each cluster. `cluster` has the cluster of each count.

    Counts and sums must be below 2**53.
    """
    return np.bincount(cluster, weights=counts, minlength=n_clusters).astype(np.int64)


def _products(values: Floats, counts: Nodes) -> Iterable[Floats]:
    """Yield four arrays whose exact sum is ``values * counts``, none of them rounded.

    Counts must be below 2**32.
    """
    high = (values.view(np.int64) & ~_LOW_BITS).view(np.float64)
    for part in (high, values - high):
        yield part * (counts % _SMALL)
        yield part * (counts - counts % _SMALL)


def exact_sums(values: Floats, of: Nodes, count: int) -> Floats:
    """Return the sum of the values of each of `count` clusters, rounded once.

    `of` has the cluster of each value, and values must be finite. Takes O(n log n) time for n
    values, with a step in Python for each cluster.
    """
    order = np.argsort(of, kind="stable")
    ends = np.searchsorted(of[order], np.arange(count + 1)).tolist()
    listed = values[order].tolist()
    return np.array([fsum(listed[begin:end]) for begin, end in pairwise(ends)])


def exact_sum(values: Iterable[float]) -> float:
    """Return the sum of `values`, numbers of 0 or more, rounded once.

    The result is infinity if the sum exceeds all doubles.
    """
    try:
        return fsum(values)
    except OverflowError:
        return inf


def simultaneous_tree(forest: Forest, least: int, *, device: Any) -> OrderFreeTree:
    """Build the condensed tree of a forest, taking all merges of equal height together.

    The forest must have two vertices or more. Seen from the root, a cluster falls apart into all of
    its parts at a height at once. If several parts have at least `least` points, the cluster is
    split into these parts. If one part has this size, the cluster goes on in it; if none has, the
    cluster ends. The points of the smaller parts leave the cluster at that height.

    The device computes the dendrogram. The host condenses it by pointer jumping, in O(n log n) time
    and about 100 bytes for each point.
    """
    tree = _condensed(dendrogram_of(forest, join_components=True, device=device), least)
    assert isinstance(tree, OrderFreeTree)
    return tree


def weighted_tree(
    forest: Forest, least: int, weights: Nodes, own_heights: Floats, *, ties: str, device: Any
) -> CondensedTree:
    """Build the condensed tree of a forest whose vertices stand for several points each.

    The forest must have two vertices or more. Vertex i stands for ``weights[i]`` equal points,
    which are joined to each other at the height ``own_heights[i]``. This height must not exceed the
    weight of any edge of the vertex. Clusters have at least `least` points. If `ties` is
    "sequential", merges of equal heights are separate splits, and merges of equal points come
    first. If it is "simultaneous", they are taken together.
    """
    return _condensed(
        dendrogram_of(forest, join_components=True, device=device), least, weights, own_heights,
        at_once=ties == "simultaneous",
    )  # fmt: skip


def _sizes(dendrogram: Dendrogram, weights: Nodes) -> Nodes:
    """Return the sum of the weights of the points below each merge of a dendrogram.

    `weights` has the weight of each point. Takes one step in Python for each merge.
    """
    total = weights.tolist()
    for left, right in dendrogram.children.tolist():
        total.append(total[left] + total[right])
    return np.array(total[weights.size :], np.int64)


def _condensed(
    dendrogram: Dendrogram, least: int, weights: Nodes | None = None,
    own_heights: Floats | None = None, *, at_once: bool = True,
) -> CondensedTree:  # fmt: skip
    """Condense a dendrogram to clusters of at least `least` points.

    If `at_once` is true, merges of one height that are connected are taken together, as a group.
    Otherwise each merge is a group of its own. With `weights`, point i stands for ``weights[i]``
    equal points, and the first merges join these at the height ``own_heights[i]``. If `weights` and
    `own_heights` are None, each point stands for itself alone.
    """
    n = dendrogram.n_points
    m = n - 1
    above = np.empty(n + m, np.int64)  # the merge above each node; the last merge is its own
    above[dendrogram.children.reshape(-1)] = np.repeat(np.arange(m), 2)
    above[-1] = m - 1
    over, of_point = above[n:], above[:n]
    heights, sizes = dendrogram.heights, dendrogram.sizes.astype(np.int64)
    if weights is not None:
        assert own_heights is not None, "equal points have a height"
        over, of_point = n + above, np.arange(n)
        heights = np.concatenate([own_heights, heights])
        sizes = np.concatenate([weights, _sizes(dendrogram, weights)])
    heights, every = heights + 0.0, np.arange(heights.size)  # so that -0.0 is 0.0
    # If `at_once` is true (ties are simultaneous), connected merges of equal height form a group,
    # which counts as one merge. Otherwise each merge is a group. `last` is, for each merge, the
    # last merge of its group. The groups are numbered in the order of their last merges.
    last = ends_of_paths(np.where(heights[over] == heights, over, every)) if at_once else every
    tops = np.flatnonzero(last == every)
    group = np.empty(every.size, np.int64)
    group[tops] = np.arange(tops.size)
    group = group[last]
    root, heights, sizes = tops.size - 1, heights[tops], sizes[tops]
    over = group[over[tops]]  # the group above each group; the root is its own
    of_point = group[of_point]
    # A group of merges is large if it has at least `least` points. A large group begins a cluster
    # if the group above it joins it to another large group. The root always counts as large and
    # begins a cluster.
    is_large = sizes >= least
    is_large[root] = False
    meets = np.bincount(over[is_large], minlength=tops.size)
    begins = is_large & (meets[over] > 1)
    is_large[root] = begins[root] = True
    every = np.arange(tops.size)
    leaves_at = ends_of_paths(np.where(is_large, every, over))[of_point]
    # For large groups: the group at which they began.
    owner = ends_of_paths(np.where(begins | ~is_large, every, over))
    first = np.flatnonzero(begins)
    number = np.full(tops.size, -1)
    number[first] = np.arange(first.size)
    # Clusters are found in rising order of groups, that is from the densest to the root.
    point_cluster, parent = number[owner[leaves_at]], number[owner[over[first]]]
    birth_height, death_height = heights[over[first]], np.full(first.size, np.inf)
    large = np.flatnonzero(is_large)
    np.minimum.at(death_height, number[owner[large]], heights[large])
    least_point = np.full(first.size, n)
    np.minimum.at(least_point, point_cluster, np.arange(n))
    order = _order(parent, birth_height, least_point)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    parent = rank[parent[order]]
    parent[0] = -1
    leaves, birth, death = map(
        reciprocals, (heights[leaves_at], birth_height[order], death_height[order])
    )
    birth[0] = 0
    return (OrderFreeTree if at_once else CondensedTree)(
        n_points=n, weights=weights, point_cluster=rank[point_cluster], point_lambda=leaves,
        parent=parent, birth=birth, death=death, size=sizes[first][order],
        least_point=least_point[order],
    )  # fmt: skip


def _order(parent: Nodes, height: Floats, least_point: Nodes) -> Nodes:
    """Return the clusters in order from the root down: by `height`, then by their least point.

    `height` is the height at which each cluster begins. `parent` has the parent of each cluster. A
    parent has a greater number than its child. The last cluster is the root, and is its own parent.
    `least_point` has, for each cluster, the least of its points that are not in a child cluster.
    """
    least, above = least_point.tolist(), parent.tolist()
    for cluster in range(parent.size - 1):
        least[above[cluster]] = min(least[above[cluster]], least[cluster])
    order = np.lexsort((least, -height))
    root = parent.size - 1
    return np.concatenate([[root], order[order != root]])


def lexicographic_ranks(rows: Array) -> Nodes:
    """Return the rank of each row in the lexicographic order of their coordinates.

    Equal rows have the same rank, which is the number of lesser rows. Coordinates are compared only
    as far as needed to tell a row from all others.
    """
    ranks, undecided = np.zeros(len(rows), np.int64), np.arange(len(rows))
    for column in rows.T:
        values, before = column[undecided], ranks[undecided]
        order = np.lexsort((values, before))
        values, before, undecided = values[order], before[order], undecided[order]
        is_new = np.ones(order.size, bool)
        is_new[1:] = (before[1:] != before[:-1]) | (values[1:] != values[:-1])
        # Rows that had equal ranks before are a run. The first row of a run keeps its rank, and the
        # ranks of its further rows rise from there.
        starts = np.flatnonzero(np.append(True, before[1:] != before[:-1]))
        first = np.repeat(starts, np.diff(np.append(starts, order.size)))
        run = np.flatnonzero(is_new)
        at = np.repeat(run, np.diff(np.append(run, order.size)))
        ranks[undecided] = before + at - first
        is_shared = np.ones(order.size, bool)
        is_shared[run[np.diff(np.append(run, order.size)) == 1]] = False
        undecided = undecided[is_shared]
        if not undecided.size:
            break
    return ranks
