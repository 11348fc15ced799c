"""Spanning trees of points on the host, from lists of near points, by Borůvka's algorithm.

In each round, every component of the forest takes its lightest edge to another component. The
candidates are the pairs in lists of near points (:mod:`clmst.core.near_points`). A list has a bound
for the distances of all points that it lacks. If the lightest candidate of a component is lighter
than the bounds of all points of the component, it is the lightest of all edges that leave the
component. If no component has a candidate that is lighter than the bounds of all its points, all
edges between the components are searched at once, if the components are few
(:mod:`clmst.core.pairs_between`). Otherwise the lists of all components but the largest are
extended by points outside of the component. Then one round merges each of these components with
another component.

Source: O. Borůvka, "O jistém problému minimálním", Práce moravské přírodovědecké společnosti 3,
1926.
"""

from __future__ import annotations

import numpy as np

from clmst import route
from clmst.core.long_work import LongWork
from clmst.core.near_points import NearestPoints, PointLists
from clmst.core.pairs_between import pairs_between
from clmst.core.paths import ends_of_paths
from clmst.core.point_search import Floats, Numbers
from clmst.core.points import Points
from clmst.core.weight_keys import Array

_LISTED = 8  # number of points in a list, if core distances do not need more
_OUTSIDE = 4  # number of points outside of a component by which a list is extended at first
# Number of points of a large component whose lists of near points are extended first. The lightest
# edge that they find bounds the search for all other points of the component.
_SAMPLE = 32
# The tree is computed from lists of near points, whose pairs are candidates for edges. If many
# points are equally far away, a list may have to be very long. If there are more than this number
# of candidates per point, the lists are given up, and all distances are computed row by row.
_MOST_CANDIDATES = 256


def n_listed(n: int, min_samples: int = 1) -> int:
    """Return the length of the lists of near points with which the computation of a tree begins.

    A list has the nearest points of a point, itself included. Longer lists are searched later for
    points whose list does not suffice. There are `n` points. The lists are also long enough for
    core distances, which need the `min_samples` nearest points.
    """
    return min(max(min_samples + 4, _LISTED), n)


def edges_of_tree(points: Points, search: NearestPoints, near: PointLists) -> Array | None:
    """Compute the edges of the minimum spanning tree of points, shape (n - 1, 2), in any order.

    `near` are the lists of all points, without core distances, and `search` finds further points.
    The tree respects the core distances of `points`. Return None if a core distance is infinite, or
    if so many pairs are equally far apart that the lists have more than _MOST_CANDIDATES candidates
    for each point.
    """
    core, n = points.core_distances, points.n_vertices
    if core is not None and not np.isfinite(core).all():
        return None
    growth = _ListedForest(points, search, near)
    with LongWork(
        "joining near points", is_step=True,
        done=lambda: f"{100 * (n - growth.n_components) // n}%",
    ):  # fmt: skip
        return growth.run()


class _ListedPairs:
    """Pairs of points that may be edges of the tree, in any order. A pair may occur twice.

    `low` and `high` are the lesser and the greater end, and `weights` the weights, made of the
    distances that a device compares. `pairs` has a number for each pair, ``low * n + high``, by
    which pairs of equal weight are ordered.
    """

    def __init__(self, n: int) -> None:
        self.n, self.low, self.high = n, np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.weights = np.zeros(0)

    def add(self, u: Numbers, v: Numbers, weights: Floats) -> None:
        """Add the pairs (u[i], v[i]) with their `weights` to the pairs that may be edges.

        A pair may occur twice, or may have been added before.
        """
        self.low = np.concatenate([self.low, np.minimum(u, v)])
        self.high = np.concatenate([self.high, np.maximum(u, v)])
        self.weights = np.concatenate([self.weights, weights])

    def lightest(self, component: Numbers, k: int) -> tuple[Floats, Numbers]:
        """Find the lightest pair of each of `k` components that leaves the component.

        `component` has the component of each point. Returns the weights, which are infinite for
        components without a pair, and the numbers ``low * n + high`` of the pairs. Pairs whose ends
        are in one component are dropped.
        """
        one, other = component[self.low], component[self.high]
        leaves = np.flatnonzero(one != other)
        if leaves.size < one.size:
            self.low, self.high = self.low[leaves], self.high[leaves]
            self.weights, one, other = self.weights[leaves], one[leaves], other[leaves]
        least = np.full(k, np.inf)
        np.minimum.at(least, one, self.weights)
        np.minimum.at(least, other, self.weights)
        first = np.full(k, self.n * self.n)
        for ends in (one, other):
            at = np.flatnonzero(self.weights == least[ends])
            np.minimum.at(first, ends[at], self.low[at] * self.n + self.high[at])
        return least, first


class _ListedForest:
    """A forest of points that grows in rounds, with candidates for the edges to add next.

    The candidates are pairs from lists of near points.
    """

    def __init__(self, points: Points, search: NearestPoints, near: PointLists) -> None:
        n = points.n_vertices
        self.points, self.search, self.n = points, search, n
        self.core = points.divided_core
        self.component, self.n_components = np.arange(n), n
        # Each point has a bound. No edge from the point to another component is lighter than the
        # bound, except for edges that are already candidates.
        self.bounds = np.zeros(n)
        # The length of the list of each point. It is negative for a list of points outside of the
        # point's component.
        self.asked = np.full(n, near.ids.shape[1])
        self.is_first = np.ones(n, np.bool_)  # False for points that are equal to an earlier one
        self.candidates = _ListedPairs(n)
        self.chosen: list[Numbers] = []
        self._take(np.arange(n), near)

    def run(self) -> Array | None:
        """Merge components until only one exists, and return the edges taken, shape (n - 1, 2).

        Candidates are the pairs of points in the lists. Return None if there are more than
        _MOST_CANDIDATES candidates for each point.
        """
        self._join_equal_points()
        while self.n_components > 1:
            weights, lightest = self.candidates.lightest(self.component, self.n_components)
            least = np.full(self.n_components, np.inf)
            np.minimum.at(least, self.component, self.bounds)
            is_certain = least > weights
            if is_certain.any():
                choosing = np.flatnonzero(is_certain)
                edges = np.stack(np.divmod(lightest[choosing], self.n), axis=1)
                self._merge(choosing, edges)
            elif self.candidates.low.size > _MOST_CANDIDATES * self.n:
                return None
            else:
                self._extend(weights)
        return np.concatenate([np.zeros((0, 2), np.int64), *self.chosen])

    def _take(self, some: Numbers, near: PointLists) -> None:
        """Add the pairs of the points `some` with their near points to the candidates for edges.

        `near` has the lists of near points. Each point has a lower bound of the weights of its
        edges to other components, except for edges that are candidates already. All points of other
        components that are missing in the list of a point are at least ``near.beyond`` away from
        it. So its bound rises to this distance, or to its core distance if that is greater.
        """
        weights = self._weights(some[:, None], near.ids, near.distances)
        is_there = near.ids >= 0
        u = np.broadcast_to(some[:, None], near.ids.shape)[is_there]
        self.candidates.add(u, near.ids[is_there], weights[is_there])
        beyond = near.beyond if self.core is None else np.maximum(near.beyond, self.core[some])
        self.bounds[some] = np.maximum(self.bounds[some], beyond)

    def _weights(self, u: Numbers, v: Numbers, distances: Floats) -> Floats:
        """Return the weights of the pairs (u, v), whose distances are `distances`.

        With core distances, a weight is the greatest of the distance and both core distances.
        """
        if self.core is None:
            return distances
        raised: Floats = np.maximum(np.maximum(distances, self.core[u]), self.core[v])
        return raised

    def _merge(self, choosing: Numbers, edges: Array) -> None:
        """Add edges to the forest, and renumber the components.

        ``edges[i]``, shape (2,), is the edge that the component ``choosing[i]`` has chosen. It
        leaves the component. Two components may have chosen the same edge. The edges close no
        cycle.
        """
        every = np.arange(self.n_components)
        above = every.copy()  # the component at the other end of the chosen edge
        above[choosing] = self.component[edges].sum(axis=1) - choosing
        # If two components have chosen the same edge, the lesser one becomes a root.
        is_root = (above[above] == every) & (every <= above)
        above[is_root] = every[is_root]
        self.chosen.append(edges[~is_root[choosing]])
        number = np.cumsum(is_root) - 1
        self.n_components = int(number[-1]) + 1
        self.component = number[ends_of_paths(above)][self.component]

    def _join_equal_points(self) -> None:
        """Join points with equal coordinates to the first of them, if they fill their lists.

        A point takes part if all points in its list are at distance 0. There may then be further
        points with its coordinates, which are not in the list. The points that take part are
        divided into groups of equal coordinates. All points of a group are joined to its first
        point, and later searches leave out all of the group but the first point.

        Leaving them out does not change the tree. A point outside of the group is as far from the
        first point of the group as from all others of the group. Edges of equal length are ordered
        by their ends, and so the edge to the first point comes before the edges to the others.

        If points have core distances, only points with a core distance of 0 take part. For the
        metrics "cosine" and "correlation", no points are joined.
        """
        if self.points.compared_as == "cosine":
            return
        # A bound of 0 means that all points in a list are at distance 0. Then further points at
        # distance 0 may exist that are not in the list.
        is_equal = self.bounds == 0
        if self.core is not None:
            is_equal &= self.core == 0
        some = np.flatnonzero(is_equal)
        if not some.size:
            return
        rows = np.ascontiguousarray(self.points.planes.T[some] + 0.0)  # no -0.0
        _, first, of_group = np.unique(
            rows.view(np.dtype((np.void, rows.strides[0]))).ravel(), return_index=True,
            return_inverse=True,
        )  # fmt: skip
        to = some[first[of_group]]
        is_other = to != some
        if not is_other.any():
            return
        others = some[is_other]
        self._merge(others, np.stack([to[is_other], others], axis=1))
        self.bounds[others] = np.inf
        self.is_first[others] = False
        self.search = NearestPoints(self.points, np.flatnonzero(self.is_first))

    # ----------------------------------------------------------------- longer lists

    def _extend(self, weights: Floats) -> None:
        """Extend the lists of points that may lack the lightest edge of their component.

        A list may lack this edge if the point's bound is not greater than the weight of the
        component's lightest candidate. `weights` has this weight for each component. The lists of
        the largest component are not extended.
        """
        if self._extend_by_boxes():
            return
        of_points, n = self.component, self.n
        sizes = np.bincount(of_points)
        is_open = self.bounds <= weights[of_points]
        is_open &= of_points != sizes.argmax()
        is_small = route.searches_globally(sizes, n)[of_points]
        some = np.flatnonzero(is_open & is_small)
        if some.size:
            # The lists of these points become longer than their component has points, so that they
            # contain points of other components. The lengths are rounded up to powers of two, so
            # that there are few calls.
            needed = np.maximum(2 * self.asked[some], sizes[of_points[some]] + _OUTSIDE)
            lengths = np.minimum(1 << np.ceil(np.log2(needed)).astype(np.int64), n)
            for length in np.unique(lengths).tolist():
                those = some[lengths == length]
                self.asked[those] = length
                self._take(those, self.search.of(those, length))
        rest = np.flatnonzero(is_open & ~is_small)
        rest = rest[np.argsort(of_points[rest], kind="stable")]
        cuts = np.flatnonzero(np.diff(of_points[rest])) + 1
        for inside in np.split(rest, cuts):
            if inside.size:
                self._extend_outside(inside, float(weights[of_points[inside[0]]]))

    def _extend_by_boxes(self) -> bool:
        """List all pairs of different components that may be edges of the tree.

        Afterwards the lists of all points suffice. Returns False, without a change, if searches
        for single components are faster, or if too many pairs would have to be compared.
        """
        points, listed = self.points, self.candidates
        if not route.compares_boxes(self.n_components, self.n, len(points.planes)):
            return False

        def weigh(u: Numbers, v: Numbers) -> Floats:
            return self._weights(u, v, points.compared_distances(points, u, v) * 1.0)

        found = pairs_between(
            points, component=self.component, bounds=self.bounds, near=self.search.in_order(),
            listed=(listed.low, listed.high, listed.weights), weigh=weigh,
        )  # fmt: skip
        if found is None:
            return False
        listed.add(*found)
        self.bounds[:] = np.inf
        return True

    def _extend_outside(self, some: Numbers, weight: float) -> None:
        """Extend the lists of the points `some` of one large component by points outside of it.

        `weight` is the weight of the component's lightest listed edge to another component, and
        infinite if there is none.
        """
        is_outside = self.component != self.component[some[0]]
        outside = np.flatnonzero(is_outside & self.is_first)
        search = NearestPoints(self.points, outside)
        is_new = self.asked[some] >= 0  # a negative length means a list of points outside
        k = _OUTSIDE if is_new.any() else int(2 * -self.asked[some].min())
        self.asked[some] = -k
        few = some[:: max(some.size // _SAMPLE, 1)]
        near = search.of(few, k)
        self._take(few, near)
        found = self._weights(few[:, None], np.maximum(near.ids, 0), near.distances)
        weight = min(weight, float(found.min(initial=np.inf)))
        others = np.setdiff1d(some[self.bounds[some] <= weight], few, assume_unique=True)
        if others.size:
            self._take(others, search.of(others, k, within=weight))
