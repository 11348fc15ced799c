"""Memberships of points in all chosen clusters of a fitted HDBSCAN (soft clustering).

The definition is from the hdbscan package (L. McInnes, J. Healy, S. Astels, "hdbscan: Hierarchical
density based clustering", Journal of Open Source Software, 2017). A membership is a product of
three factors: how near the point is to the exemplars of the cluster, which are the points that
represent it; at how great a density the point and the cluster are in one cluster of the condensed
tree; and how dense the point is compared with its nearest cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.threads import in_threads, slices
from clmst.points.condensed import NOISE, first_above, share_of
from clmst.points.measures import ChosenClusters

# Maximum number of distances to exemplars, or of memberships, in memory at a time for each thread.
_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """The places of some points in a condensed tree, and their distances from the exemplars.

    The exemplars of a cluster are the points that represent it.
    """

    cluster: Nodes  # shape (m,): the last cluster of the tree that contains the point
    density: Floats  # shape (m,): lambda at which the point leaves that cluster, or connects to it
    # A function that takes indices of points and a slice of the exemplars, which are in the order
    # of the clusters' labels. It returns the distances of these points to these exemplars.
    distances: Callable[[Nodes, slice], Floats]
    n_exemplars: Nodes  # shape (number of labels,): the number of exemplars of each cluster
    are_of_fit: bool  # whether these are the fitted points, for which the formula differs


@dataclass(frozen=True, kw_only=True, eq=False)
class Joining:
    """The densities up to which chosen clusters are joined to clusters of a condensed tree.

    Two clusters are joined up to the density at which the smallest cluster around both splits.
    """

    chosen: ChosenClusters

    @cached_property
    def home(self) -> Nodes:
        """The chosen cluster around each cluster, or the cluster itself if there is none."""
        tree, clusters = self.chosen.tree, self.chosen.chosen
        is_chosen = np.zeros(tree.n_clusters, bool)
        is_chosen[clusters] = True
        around = first_above(tree, is_chosen)
        return np.where(is_chosen[around], around, np.arange(tree.n_clusters))

    @cached_property
    def _walk(self) -> tuple[Nodes, Nodes, Nodes, Nodes]:
        """A walk through the tree that visits each cluster before the clusters inside it.

        Returns four arrays with an element for each cluster: its place in the walk; the place after
        the last cluster inside it; and the number of chosen clusters before the first and before
        the second of these places.
        """
        tree = self.chosen.tree
        inside = np.ones(tree.n_clusters, np.int64)  # the number of clusters in each cluster
        parent = tree.parent.tolist()
        counts = inside.tolist()
        for cluster in range(tree.n_clusters - 1, 0, -1):
            counts[parent[cluster]] += counts[cluster]
        free, enters = [1] * tree.n_clusters, [0] * tree.n_clusters
        for cluster in range(1, tree.n_clusters):
            above = parent[cluster]
            enters[cluster] = enters[above] + free[above]
            free[above] += counts[cluster]
        enter = np.array(enters)
        leave = enter + np.array(counts)
        is_chosen = np.zeros(tree.n_clusters + 1, np.int64)
        is_chosen[enter[self.chosen.chosen] + 1] = 1
        before = np.cumsum(is_chosen)
        return enter, leave, before[enter], before[leave]

    @property
    def place(self) -> Nodes:
        """The place of each cluster in a walk that visits clusters before the clusters inside."""
        return self._walk[0]

    @cached_property
    def labels(self) -> Nodes:
        """The labels of the chosen clusters, in the order of their :attr:`place`."""
        return np.argsort(self.place[self.chosen.chosen], kind="stable")

    def rows(self, clusters: Nodes) -> Iterator[Floats]:
        """Yield, for each of `clusters`, the densities up to which it is joined to chosen clusters.

        `clusters` must be in the order of :attr:`place`, and each must be its own :attr:`home`. A
        row has a density for each chosen cluster, in the order of :attr:`place`. The density is
        infinite for a chosen cluster that is around the cluster, in it, or the cluster itself. The
        same array is yielded each time, and only the densities that differ from the previous row
        are written.
        """
        tree, (enter, leave, first, last) = self.chosen.tree, self._walk
        row, at = np.full(self.chosen.chosen.size, np.inf), 0
        for cluster in clusters.tolist():
            while not enter[at] <= enter[cluster] < leave[at]:
                at = int(tree.parent[at])
                row[first[at] : last[at]] = np.inf
            way = [cluster]
            while way[-1] != at:
                way.append(int(tree.parent[way[-1]]))
            for outer, inner in zip(way[:0:-1], way[-2::-1], strict=True):
                row[first[outer] : first[inner]] = tree.death[outer]
                row[last[inner] : last[outer]] = tree.death[outer]
            at = cluster
            yield row


def memberships_of(chosen: ChosenClusters, places: Places) -> Floats:
    """Compute the membership of each point in each chosen cluster, shape (m, number of labels).

    `places` says where the points are in the tree.
    """
    found = np.zeros((places.cluster.size, chosen.chosen.size))

    def store(points: Nodes, block: Floats) -> None:
        found[points] = block

    _compute(chosen, places, store)
    return found


def greatest_memberships_of(
    chosen: ChosenClusters, places: Places, top_k: int
) -> tuple[Nodes, Floats]:
    """Compute the `top_k` greatest memberships of each point, in falling order.

    `chosen` are the clusters, and `places` says where the points are in the tree. Returns labels
    and memberships, both of shape (m, top_k). Of equal memberships, the one with the lesser label
    comes first. The memberships in all clusters are in memory only for a few points at a time.
    """
    shape = places.cluster.size, top_k
    labels, greatest = np.zeros(shape, np.int64), np.zeros(shape)

    def store(points: Nodes, block: Floats) -> None:
        some = _greatest(block, top_k)
        labels[points], greatest[points] = some, np.take_along_axis(block, some, axis=1)

    _compute(chosen, places, store)
    return labels, greatest


def _greatest(block: Floats, top_k: int) -> Nodes:
    """Return the columns of the `top_k` greatest values of each row, in falling order of values.

    `block` has the values. Of equal values, the one in the lesser column comes first.
    """
    if top_k < block.shape[1]:
        least = -np.partition(-block, top_k - 1, axis=1)[:, top_k - 1 : top_k]
        is_in = block >= least
        few = np.flatnonzero(is_in.sum(axis=1) == top_k)
        columns = np.empty((len(block), top_k), np.int64)
        columns[few] = np.nonzero(is_in[few])[1].reshape(-1, top_k)
        for row in np.flatnonzero(is_in.sum(axis=1) > top_k):  # several values equal the least
            columns[row] = np.argsort(-block[row], kind="stable")[:top_k]
    else:
        columns = np.broadcast_to(np.arange(top_k), block.shape)
    order = np.argsort(-np.take_along_axis(block, columns, axis=1), axis=1, kind="stable")
    found: Nodes = np.take_along_axis(columns, order, axis=1)
    return found


def _compute(
    chosen: ChosenClusters, places: Places, store: Callable[[Nodes, Floats], None]
) -> None:
    """Compute the memberships of some points at a time, and pass them to `store`.

    `store` is called with the numbers of these points, and with their memberships: a row for each
    point and a column for each label. Several threads call `store`, each for points of its own.
    `chosen` are the clusters, and `places` says where the points are in the tree.
    """
    joining, count = Joining(chosen=chosen), chosen.chosen.size
    if not count:
        return
    home = joining.home[places.cluster]
    order = np.argsort(joining.place[home], kind="stable")
    column = np.argsort(joining.labels)  # the place in the walk of each label
    largest = int(places.n_exemplars.max())
    rows_at_once = max(_CELLS_AT_ONCE // max(count, largest), 1)
    groups = _groups(places.n_exemplars, max(_CELLS_AT_ONCE // rows_at_once, largest))

    def compute(some: slice) -> None:
        points = order[some]
        joined = np.empty((points.size, count))
        first = np.flatnonzero(np.diff(home[points], prepend=-1))
        rows = joining.rows(home[points[first]])
        ends = [*first[1:].tolist(), points.size]
        for begin, end, row in zip(first.tolist(), ends, rows, strict=True):
            joined[begin:end] = row
        joined = joined[:, column]
        np.minimum(joined, places.density[points, None], out=joined)
        near = np.empty((points.size, count))
        for labels, exemplars, starts in groups:
            apart = places.distances(points, exemplars)
            np.minimum.reduceat(apart, starts, axis=1, out=near[:, labels])
        store(points, _memberships(chosen, places, points, joined, near))

    in_threads(compute, slices(order.size, rows_at_once))


def _groups(n_exemplars: Nodes, most: int) -> list[tuple[slice, slice, Nodes]]:
    """Divide the labels into runs whose clusters have at most `most` exemplars together.

    `n_exemplars` has the number of exemplars of each cluster, of which none exceeds `most`. For
    each run, returns the slice of its labels, the slice of their exemplars, and the places of the
    first exemplar of each label within that slice.
    """
    ends = np.cumsum(n_exemplars)
    starts, groups, first = ends - n_exemplars, [], 0
    while first < ends.size:
        begin = int(starts[first])
        last = int(np.searchsorted(ends, begin + most, side="right"))
        exemplars = slice(begin, int(ends[last - 1]))
        groups.append((slice(first, last), exemplars, starts[first:last] - begin))
        first = last
    return groups


def _memberships(
    chosen: ChosenClusters, places: Places, points: Nodes, joined: Floats, near: Floats
) -> Floats:
    """Compute the memberships of some points in the chosen clusters, a row for each point.

    `points` are indices into `places`. `joined` has the density up to which each point is joined to
    each chosen cluster, and `near` the distance of each point to the nearest exemplar of each
    chosen cluster.
    """
    death = chosen.tree.death
    own = death[places.cluster[points], None]
    nearness = share_of(near.min(axis=1, keepdims=True), near)
    with np.errstate(invalid="ignore", divide="ignore"):
        if places.are_of_fit:
            parts = np.exp(np.exp(-1 / share_of(joined, own)))
        else:
            parts = np.where(joined < own, own / (own - joined), np.inf)
            parts[np.isinf(own[:, 0])[:, None] & (joined < own)] = 1
            most = parts.max(axis=1, keepdims=True)
            parts = np.where(parts == most, 1.0, np.exp(parts - most))
            nearness, parts = np.sqrt(nearness), parts * parts
    found = nearness * parts
    total = found.sum(axis=1, keepdims=True)
    # The sum may be 0 if a point equals an exemplar of one cluster, but in the tree it is joined to
    # another cluster. (An exemplar is a point that represents a cluster.)
    found = np.where(total > 0, found, nearness)
    found /= found.sum(axis=1, keepdims=True)
    nearest = joined.max(axis=1, keepdims=True)
    greatest = np.where(joined == nearest, death[chosen.chosen], 0).max(axis=1)
    label = chosen.label[places.cluster[points]]  # the cluster that contains the point counts
    greatest[label != NOISE] = death[chosen.chosen[label[label != NOISE]]]
    within = share_of(nearest[:, 0], greatest)
    found *= within[:, None]
    return found
