"""The densities up to which points of a condensed tree are in one cluster with chosen clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.threads import slices
from clmst.points.condensed import first_above
from clmst.points.measures import ChosenClusters


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

    @cached_property
    def _column(self) -> Nodes:
        """The position of each label in the order of :attr:`place`."""
        return np.argsort(self.labels)

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

    def blocks(self, home: Nodes, density: Floats, at_once: int) -> Iterator[Floats]:
        """Yield the densities up to which points are joined to chosen clusters, by blocks.

        `home` has the :attr:`home` of the last cluster of each point, and must be in the order of
        :attr:`place`. `density` has the density of each point, up to which it is in its last
        cluster. A block is an array with a row for each of the next `at_once` points, and a column
        for each label.
        """
        is_first = np.diff(home, prepend=-1) != 0
        rows, row = self.rows(home[is_first]), np.empty(0)
        for some in slices(home.size, at_once):
            joined = np.empty((some.stop - some.start, self.labels.size))
            inner = some.start + 1 + np.flatnonzero(is_first[some.start + 1 : some.stop])
            starts = [some.start, *inner.tolist()]
            for begin, end in zip(starts, [*starts[1:], some.stop], strict=True):
                if is_first[begin]:
                    row = next(rows)[self._column]
                own = slice(begin - some.start, end - some.start)
                np.minimum(row, density[begin:end, None], out=joined[own])
            yield joined
