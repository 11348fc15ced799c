"""Spanning trees of points and of complete matrices, and core distances, on the host.

Distances are computed by the same operations as on a device, and pairs of equal weight are ordered
by their ends. So a tree has exactly the edges that every device finds. One of two algorithms is
used:

* For points that have a metric without rounded distances, and are not very few: Borůvka's algorithm
  on lists of near points (:mod:`clmst.core.trees_of_lists`).
* Otherwise Prim's algorithm, which computes one row of weights after the other, so that no list of
  all pairs is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core import pairs, powers, quotients
from clmst.core.arguments import unchecked
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import logger
from clmst.core.forest import Forest
from clmst.core.long_work import LongWork
from clmst.core.near_points import NearestPoints, PointLists
from clmst.core.point_checks import BOXED
from clmst.core.points import Points
from clmst.core.threads import slices
from clmst.core.trees_of_lists import edges_of_tree, n_listed
from clmst.core.weight_keys import Array
from clmst.route import grows_from_lists

_CELLS_AT_ONCE = 1 << 21
# Number of points for which the sums over all dimensions are computed at a time, so that the sums
# stay in the cache of a core.
_AT_ONCE = 1 << 15
# Factor by which a sum must exceed the square of a distance so that the root of the sum is
# certainly greater than the distance. Euclidean distances are square roots of sums. A root is
# rounded, so a sum may exceed the square of its rounded root by a few units in the last place.
_ABOVE = 1 + 2.0**-48


def spanning_tree(
    graph: Points | DenseGraph, *, maximum: bool = False, near: PointLists | None = None
) -> Forest:
    """Compute the minimum (or maximum) spanning tree of a complete graph on the host.

    The tree has the same edges, edge ids and weights as the tree that a device computes. `near` are
    lists of the near points of all points, or None if they are not known yet. For points of d
    dimensions it takes at most O(n**2 d) time, and O(n d) memory in addition to the graph. For a
    matrix it takes O(n**2) time and O(n) memory. The progress is shown.

    Source of the algorithm that takes row after row: R. C. Prim, "Shortest connection networks and
    some generalizations", Bell System Technical Journal 36, 1957.
    """
    n, edges = graph.n_vertices, None
    if n < 2:
        edges = np.zeros((0, 2), np.int64)
    elif isinstance(graph, Points) and grows_from_lists(
        n, boxed=graph.metric in BOXED, maximum=maximum
    ):
        search = NearestPoints(graph)
        near = search.of(np.arange(n), n_listed(n)) if near is None else near
        edges = edges_of_tree(graph, search, near)
    name = "prim" if edges is None else "boruvka"
    if edges is None:
        if isinstance(graph, Points):
            edges = _of_points(graph, maximum=maximum)
        else:
            edges = _of_matrix(graph.weights, maximum=maximum)
    logger.debug("algorithm %s on the host", name)
    return _forest(graph, edges, name, maximum=maximum)


def near_points(points: Points, min_samples: int) -> PointLists | None:
    """Find lists of near points from which core distances and then a tree can be computed.

    The lists have enough points for core distances of `min_samples`. Return None if the tree of
    these points is computed without lists, row by row, as of very few points.
    """
    n = points.n_vertices
    if not grows_from_lists(n, boxed=points.metric in BOXED, maximum=False):
        return None
    return NearestPoints(points).of(np.arange(n), n_listed(n, min_samples))


def core_distances(
    points: Points, min_samples: int, *, near: PointLists | None = None
) -> npt.NDArray[np.float64]:
    """Compute the distance of each point to its `min_samples`-th nearest point, itself the first.

    `near` are lists of near points from :func:`near_points`, or None. If a point's list ends before
    the `min_samples`-th point, or if `near` is None, all distances of the point are computed. The
    result has the shape (n,). O(n**2 d) time at most for points of d dimensions.
    """
    n = points.n_vertices
    core = np.zeros(n)
    if min_samples == 1:
        return core
    rest = np.arange(n)
    if near is not None:
        k = min_samples - 2  # the index from 0, since the lists lack the point itself
        core = np.partition(near.distances, k, axis=1)[:, k]
        rest = np.flatnonzero(core > near.beyond)
        core = points.multiplied(core)
    everyone, done = np.arange(n), [0]
    with LongWork(
        "computing core distances on the host", is_step=True,
        done=lambda: f"{100 * done[0] // max(rest.size, 1)}%",
    ):  # fmt: skip
        for some in slices(rest.size, max(_CELLS_AT_ONCE // max(n, 1), 1)):
            rows = points.weights_of(rest[some, None], everyone) * 1.0
            # Each point is its own nearest point even if a cosine distance is rounded below 0.
            rows[np.arange(len(rows)), rest[some]] = -1
            core[rest[some]] = np.partition(rows, min_samples - 1)[:, min_samples - 1]
            done[0] = some.stop
    return core


def _forest(graph: Points | DenseGraph, edges: Array, name: str, *, maximum: bool) -> Forest:
    """Build a Forest, whose edges are in canonical order, from the edges of a tree.

    `edges` has the shape (n - 1, 2). `name` is the name of the algorithm, for the statistics.
    `maximum` says whether the tree is a maximum spanning tree.
    """
    n, (u, v) = graph.n_vertices, np.sort(edges, axis=1).T
    ids = pairs.position(n, u, v)
    order = np.argsort(ids)
    weights = graph.weights_of(u[order], v[order])
    return unchecked(
        Forest, n_vertices=n, _edges=np.stack([u, v], axis=1)[order].astype(np.int32),
        weights=weights, _edge_ids=ids[order], maximum=maximum,
        stats={"algorithm": name, "device": "host"}, vertex_labels=None,
    )  # fmt: skip


class _OutsideOfTree:
    """In Prim's algorithm: the vertices that are not in the tree yet, with an edge into the tree.

    The first `count` elements of the arrays describe these vertices, in any order: the vertex, the
    key of its lightest edge into the tree, and the end of the edge in the tree. A key is a number
    that rises with the weight, or falls with it if the maximum tree is wanted.
    """

    def __init__(self, n: int, dtype: Any) -> None:
        self.n, self.count = n, n
        self.vertices = np.arange(n)
        self.keys = np.empty(n, dtype)  # the key of each vertex's lightest edge into the tree
        self.ends = np.zeros(n, np.int64)  # the end of that edge in the tree

    def lightest(self) -> int:
        """Return the position, in the arrays, of the vertex whose edge into the tree is lightest.

        Edges of equal weight are ordered by their ends.
        """
        keys = self.keys[: self.count]
        at = np.flatnonzero(keys == keys.min())
        if at.size == 1:
            return int(at[0])
        one, other = self.ends[at], self.vertices[at]
        return int(at[(np.minimum(one, other) * self.n + np.maximum(one, other)).argmin()])

    def take_out(self, at: int) -> int:
        """Remove the vertex at the position `at` of the arrays, and return the vertex.

        The last vertex in the arrays moves to this position.
        """
        vertex, self.count = int(self.vertices[at]), self.count - 1
        for array in (self.vertices, self.keys, self.ends):
            array[at] = array[self.count]
        return vertex

    def improve(self, at: Array, keys: Array, end: int) -> Array:
        """Store edges to `end`, a new vertex of the tree, where they are lighter than those stored.

        `at` has the positions, in the arrays, of vertices outside of the tree, and `keys` the keys
        of their edges to `end`. Of two edges of equal weight, the one to the lesser vertex is
        stored. Returns the positions at which the edge was replaced.
        """
        before = self.keys[at]
        is_better = (keys < before) | ((keys == before) & (end < self.ends[at]))
        better: Array = at[is_better]
        self.keys[better], self.ends[better] = keys[is_better], end
        return better


def _grown(outside: _OutsideOfTree, take_in: Callable[[int, int], None]) -> Array:
    """Let a tree grow from vertex 0 by Prim's algorithm, and return its edges, shape (n - 1, 2).

    `outside` holds the vertices that are not in the tree. When a vertex has joined the tree,
    ``take_in(position, vertex)`` is called. Like :meth:`_OutsideOfTree.take_out`, it must move the
    vertex at the last position of any arrays of its own to `position`. Then it must pass the edges
    of the new vertex to :meth:`_OutsideOfTree.improve`.
    """
    n = outside.n
    edges = np.empty((n - 1, 2), np.int64)
    done = 0
    progress = LongWork(
        "comparing all pairs on the host", is_step=True, done=lambda: f"{100 * done // n}%"
    )
    with progress:
        take_in(0, outside.take_out(0))
        for done in range(n - 1):
            at = outside.lightest()
            edges[done, 0] = outside.ends[at]
            edges[done, 1] = outside.take_out(at)
            if outside.count:
                take_in(at, int(edges[done, 1]))
    return edges


def _of_matrix(weights: Array, *, maximum: bool) -> Array:
    """Compute the edges of the minimum (or maximum) spanning tree of a complete matrix.

    `weights` is the symmetric matrix, shape (n, n). The algorithm is Prim's, which always takes the
    least key. The keys are the weights. For a `maximum` spanning tree the order of the weights is
    reversed, so that the heaviest weight has the least key.
    """
    n = weights.shape[0]
    outside = _OutsideOfTree(n, weights.dtype)
    reverse = _reversed(weights.dtype) if maximum else lambda row: row

    def take_in(_: int, vertex: int) -> None:
        count = outside.count
        row = reverse(weights[vertex][outside.vertices[:count]])
        if count == n - 1:  # vertex 0, the first of the tree
            outside.keys[:count] = row
            return
        at = np.flatnonzero(row <= outside.keys[:count])
        outside.improve(at, row[at], vertex)

    return _grown(outside, take_in)


def _reversed(dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """Return a function that reverses the order of numbers of a dtype.

    It maps an array to an array of the same dtype: -x for floats, and -1 - x for integers.
    """
    return np.negative if dtype.kind == "f" else np.invert  # for integers, -1 - x


def _of_points(points: Points, *, maximum: bool) -> Array:
    """Compute the edges of the minimum (or maximum) spanning tree of points.

    For each new point of the tree, sums over all dimensions, such as squared distances, are
    computed to all points outside. A sum is converted to a distance only if it is small enough to
    replace the point's lightest edge. The distances are the keys.
    """
    n, rows, core = points.n_vertices, _RowsOfSums(points), points.divided_core
    core = None if core is None else core.copy()
    outside, bounds = _OutsideOfTree(n, np.float64), np.empty(n)

    def take_in(at: int, vertex: int) -> None:
        count = outside.count
        row, own = rows.take_in(at, count), 0.0 if core is None else core[at]
        bounds[at] = bounds[count]
        if core is not None:
            core[at] = core[count]
        is_first = count == n - 1
        near = np.arange(count) if is_first or maximum else np.flatnonzero(row <= bounds[:count])
        if near.size == 0:
            return
        keys = rows.keys_of(row[near])
        if core is not None:
            keys = np.maximum(np.maximum(keys, own), core[near])
        keys = -keys if maximum else keys
        if is_first:
            outside.keys[:count] = keys
        else:
            near = outside.improve(near, keys, vertex)
        if not maximum:
            bounds[near] = rows.bounds_of(outside.keys[near])

    return _grown(outside, take_in)


class _RowsOfSums:
    """The points that are not in the tree of Prim's algorithm, and sums from one point to them.

    A sum is taken over all dimensions of a pair of points, such as the sum of squared differences.
    The distance of the pair is computed from it.
    """

    def __init__(self, points: Points) -> None:
        self.points, self.planes = points, points.planes.copy()
        self.metric = points.compared_as
        self.has_terms = self.metric not in (
            "manhattan", "chebyshev", "cosine", *quotients.DIVIDED,
        )  # fmt: skip
        self.sums, self.terms = np.empty(points.n_vertices), np.empty(_AT_ONCE)
        self.steps = np.append(points.steps, np.inf)

    def take_in(self, at: int, count: int) -> Array:
        """Remove the point at the position `at`, and return the sums from it to all `count` others.

        The last point, which is at the position `count`, moves to `at`. A sum is taken over all
        dimensions of a pair, such as the sum of squared differences. The sums are in the order of
        the columns of `planes`, which has the coordinates of the points. For metrics without square
        roots they are the distances themselves.
        """
        point = self.planes[:, at].copy()
        self.planes[:, at] = self.planes[:, count]
        sums = self.sums[:count]
        for first in range(0, count, _AT_ONCE):
            some = slice(first, min(first + _AT_ONCE, count))
            self._add_up(point, some, sums[some])
        return sums

    def _add_up(self, point: Array, some: slice, sums: Array) -> None:
        """Compute the sums between one point and the points of the slice `some`.

        `point` has the coordinates of the one point. The sums are written to the array `sums`. They
        are computed for all points together, dimension by dimension.
        """
        if self.metric in quotients.DIVIDED:
            both = ((x, plane[some]) for x, plane in zip(point, self.planes, strict=True))
            sums[:] = quotients.distances(self.metric, both)
            return
        terms = self.terms[: sums.size]
        for number, (x, plane) in enumerate(zip(point, self.planes, strict=True)):
            target = terms if number else sums
            if self.metric == "cosine":
                np.multiply(plane[some], x, out=target)
            else:
                np.subtract(plane[some], x, out=target)
                if self.metric == "minkowski":
                    target[:] = powers.power(np.abs(target, out=target), self.points.power)
                elif self.has_terms:
                    np.multiply(target, target, out=target)
                else:
                    np.abs(target, out=target)
            if number:
                (np.maximum if self.metric == "chebyshev" else np.add)(sums, terms, out=sums)
        if self.metric == "cosine":
            np.subtract(1.0, sums, out=sums)

    def keys_of(self, sums: Array) -> Array:
        """Convert the sums that :meth:`take_in` returns to the distances that are compared."""
        if self.metric == "cosine":
            return np.maximum(sums, 0.0)
        if self.metric in quotients.DIVIDED:
            return sums
        return self.points.compared_of(sums) * 1.0

    def bounds_of(self, keys: Array) -> Array:
        """Return an upper bound of the sum of a pair for each distance in `keys`.

        A pair of points whose distance is at most the key has at most this sum.
        """
        if not self.has_terms:
            return keys
        if self.metric == "minkowski":  # a greater sum has a root of the next double at least
            above = powers.power(np.nextafter(keys, np.inf), self.points.power)
            return np.maximum(above, powers.LEAST_NORMAL)
        if self.metric == "great-circle":
            return self.steps[np.minimum(keys, self.steps.size - 1).astype(np.int64)]
        roots = keys if self.metric == "euclidean" else keys + 0.5
        with np.errstate(over="ignore", under="ignore"):
            return roots * roots * _ABOVE
