"""Forests of streams whose edges stay in the host's memory, so that the device only solves.

A reduction replaces some edges by their forest. An edge that is the heaviest of a cycle is not in
the forest (the cycle property). A cycle among some edges is also a cycle of the whole graph, so an
edge that is not in the forest of some edges is not in the forest of the graph either. Hence the
edges of a graph may be divided into parts in any way: the forest of the union of the parts' forests
is the forest of the graph, whatever the order of reductions. For that, it must not depend on the
part which edge of a cycle is the heaviest. So edges are compared by (weight key, lesser end,
greater end, edge id). One device that solves the whole graph has the same order, because there
edges are numbered by their ends, then by their position in the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms.edge_stream.edges import EdgePart, joined
from clmst.algorithms.solving import forest_by
from clmst.core import canonical
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_size
from clmst.core.paths import Hierarchy
from clmst.core.weight_keys import Array, order_keys
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.discovery import get_device, pass_over
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.trust import NoFamilyLeftError
from clmst.scale.capacity import LEAST_SHARE, most_edges, too_small
from clmst.scale.checkpoint import StreamState

ROWS = 1 << 22  # maximum number of rows that are checked at once
_MOST_PARTS = 256  # if this number of arrays of edges are waiting, they are concatenated
_ROWS_AT_ONCE = 1 << 14  # edges filtered at once: their arrays are reused and fit a core's cache


class HostReducer:
    """The forest of a stream's edges so far, and the edges that wait for the next reduction.

    All of them are in the host's memory. A reduction uploads them, solves them on the device within
    `limit` bytes of its memory, and reads the forest back. (:class:`EdgeReducer` keeps the edges on
    the device instead.)

    Attributes
    ----------
    forest : EdgePart or None
        The forest of all edges before the last reduction, or None if no reduction has run.
    n_waiting : int
        Number of edges that wait for the next reduction.
    reductions, n_filtered : int
        Number of solves so far, and number of edges that were dropped without a solve.
    """

    def __init__(self, *, n_vertices: int, device: Device, limit: int, maximum: bool) -> None:
        self._n_vertices, self._device, self._limit = n_vertices, device, limit
        self._maximum = maximum
        self.reductions = self.n_filtered = 0
        self._capacity = 0  # maximum number of edges of a reduction; 0 until the dtype is known
        self.go_on_from(StreamState(forest=None))

    @property
    def n_forest(self) -> int:
        """Number of edges of the forest so far; 0 before its first computation."""
        return self.forest.size if self.forest else 0

    @property
    def space(self) -> int:
        """Maximum number of edges that the next call of :meth:`take` accepts."""
        return self._capacity - self.n_forest - self.n_waiting

    @property
    def is_full(self) -> bool:
        """Whether the forest must be computed anew before there is space for more edges."""
        return self.n_waiting > 0 and self.space < max(1, min(ROWS, self._capacity // 8))

    def state(self) -> StreamState:
        """Return the forest so far and later edges, from which another stream can continue.

        The arrays of the state are shared, not copied, and never changed.
        """
        return StreamState(forest=self.forest, waiting=tuple(self._waiting), by_forest=self._filter)

    def go_on_from(self, known: StreamState) -> None:
        """Continue from the forest and the edges of another stream, as if they had been taken here.

        The arrays of `known` are not copied.
        """
        self.forest, self._waiting, self._filter = known.forest, [*known.waiting], known.by_forest
        self.n_waiting = sum(part.size for part in known.waiting)
        if known.parts:
            self.expect(known.parts[0].weights.dtype)

    def expect(self, dtype: np.dtype[np.generic]) -> None:
        """Compute how many edges with weights of this dtype can be reduced together.

        A reduction replaces edges in memory by their forest. Raise NoSpaceForReductionError if
        there is too little space for new edges beside the forest.
        """
        self._capacity = most_edges(self._device, self._limit, self._n_vertices, dtype)
        self._check_space()

    def take(self, part: EdgePart, n_to_come: int | None) -> None:
        """Keep the next edges that may enter the forest, and drop all others.

        `part` holds the edges, at most :attr:`space` of them. `n_to_come` is the number of edges of
        the stream that have not been taken yet, or None if it is unknown. If it is large, a filter
        is built from the forest.
        """
        kept = without_loops(part)
        if self._filter is None and self.forest is not None:
            n_left = self.space if n_to_come is None else min(self.space, n_to_come)
            if route.filters_on_host(n_left, self._n_vertices):
                self._filter = CycleFilter(self.forest, self._n_vertices, maximum=self._maximum)
        if self._filter is not None:
            kept = self._filter.kept(kept)
        kept = kept.owned()
        self.n_filtered += part.size - kept.size
        self._waiting.append(kept)
        self.n_waiting += kept.size
        if len(self._waiting) >= _MOST_PARTS:
            self._waiting = [joined(self._waiting)]

    def reduce(self) -> None:
        """Replace the forest and the waiting edges by the forest of their union.

        Block until the device has computed it. Do nothing if no edges wait.
        """
        if not self._waiting:
            return
        waiting, self._waiting, self.n_waiting = joined(self._waiting), [], 0
        self._filter = None
        self._reduce_part(waiting)
        self._check_space()

    def _reduce_part(self, part: EdgePart) -> None:
        """Add the edges of `part` to the edges of the forest, and replace all by their forest.

        If the device runs out of memory, reduce the two halves of `part` one after the other.
        """
        union = [part] if self.forest is None else [self.forest, part]
        try:
            self.forest = reduce(
                union, n_vertices=self._n_vertices, device=self._device, maximum=self._maximum
            )
            self.reductions += 1
        except OutOfDeviceMemoryError:
            half = part.size // 2
            if half <= self.n_forest // LEAST_SHARE or half == 0:
                raise
            self._capacity = min(self._capacity, self.n_forest + half)
            self._reduce_part(part.take(slice(0, half)))
            self._reduce_part(part.take(slice(half, None)))

    def _check_space(self) -> None:
        """Raise NoSpaceForReductionError unless there is memory for enough new edges.

        A reduction replaces the forest and new edges by the forest of both. There must be space for
        at least 1/LEAST_SHARE as many new edges as the forest has.
        """
        n_forest = self.n_forest
        if self._capacity - n_forest < max(1, n_forest // LEAST_SHARE):
            raise too_small(self._limit, self._n_vertices, n_forest, self._device)


def without_loops(part: EdgePart) -> EdgePart:
    """Return the edges of `part` without self-loops. It is `part` itself if there are none."""
    loops = part.u == part.v
    return part.take(~loops) if loops.any() else part


class CycleFilter:
    """A filter that drops edges which cannot enter the forest, by the cycle property.

    An edge is not in the forest if it is heavier than all edges of the path between its ends in the
    present forest. The filter does not search that path, but bounds its heaviest edge. Borůvka's
    rounds merge components into larger ones, which forms a tree of components. For every vertex the
    filter stores the heaviest of the edges by which its components were merged, up to the root. The
    heaviest edge on the path between two vertices is one of the edges that merged the component of
    one or the other, so it is not heavier than the greater of the two stored values. An edge within
    a tree of the forest that is heavier than this bound is dropped. An edge that is as heavy as the
    bound stays, and the next reduction decides.

    Building the filter takes O(n log n). Filtering an edge takes O(1): two look-ups for each end.
    """

    def __init__(self, forest: EdgePart, n_vertices: int, *, maximum: bool) -> None:
        self._maximum = maximum
        keys = order_keys(forest.weights, descending=maximum)
        order = np.argsort(keys, kind="stable")
        hierarchy = Hierarchy(n_vertices, forest.u[order], forest.v[order])
        self._trees = hierarchy.trees().astype(np.uint32)
        ranked = np.concatenate((np.zeros(1, keys.dtype), keys[order]))
        # For each vertex, the greatest sort key of a weight on its path to the root of its tree.
        # `hierarchy.reaches` has the rank of the edge with this weight. A root has no such edge and
        # the rank -1, which gives the key 0.
        self._reaches: Array = ranked[hierarchy.reaches + 1]

    def kept(self, part: EdgePart) -> EdgePart:
        """Return the edges of `part` that may be in the final forest, in O(size of the part)."""
        stays = np.empty(part.size, np.bool_)
        rows = max(1, min(_ROWS_AT_ONCE, part.size))
        u, v = np.empty((2, rows), np.intp)
        bound, other = np.empty((2, rows), self._reaches.dtype)
        for begin in range(0, part.size, rows):
            some = slice(begin, min(begin + rows, part.size))
            n = some.stop - begin
            u[:n], v[:n] = part.u[some], part.v[some]
            np.take(self._reaches, u[:n], out=bound[:n], mode="clip")
            np.take(self._reaches, v[:n], out=other[:n], mode="clip")
            np.maximum(bound, other, out=bound)
            keys = order_keys(part.weights[some], descending=self._maximum)
            np.less_equal(keys, bound[:n], out=stays[some])
            stays[some] |= self._trees[u[:n]] != self._trees[v[:n]]
        return part.take(np.flatnonzero(stays))


def reduce(
    parts: Sequence[EdgePart], *, n_vertices: int, device: Any, maximum: bool = False
) -> EdgePart:
    """Compute the forest of the edges of all `parts` together, in canonical order, on a device.

    The graph has `n_vertices` vertices, and `maximum` asks for the maximum forest. Block until the
    device has finished. The edges may be divided among calls in any way, and forests combined in
    any order. The last forest does not depend on either. `device` may be anything that
    :func:`clmst.get_device` accepts.
    """
    union = joined(parts)
    if union.size == 0:
        return union
    check_size(n_vertices, union.size)
    n, u, v, occurring = n_vertices, union.u, union.v, None
    if route.is_sparse_part(n, union.size):
        occurring, u, v = _renumbered(u, v)
        n = occurring.size
    slots = canonical.upper_from_edges(n, u, v)
    order = _parallel_by_id(slots, union.edge_ids)
    graph = Graph.unchecked(
        indptr=slots.indptr, indices=slots.indices, weights=union.weights[order],
        is_symmetric=False, edge_ids=None, n_input=order.size,
    )  # fmt: skip
    forest = _solved(graph, device, maximum=maximum)
    ends = forest.edges if occurring is None else occurring[forest.edges]
    return EdgePart(
        u=ends[:, 0].astype(np.uint32),
        v=ends[:, 1].astype(np.uint32),
        weights=forest.weights,
        edge_ids=union.edge_ids[order[forest.edge_ids]],
    )


def _renumbered(u: Array, v: Array) -> tuple[Array, Array, Array]:
    """Give new numbers, from 0 on, to the vertices of the edges (u[i], v[i]).

    Return the old number of each new one in ascending order, then both ends of the edges in new
    numbers. The relative order of vertices, and so of edges, is unchanged.
    """
    occurring, numbers = np.unique(np.concatenate((u, v)), return_inverse=True)
    numbers = numbers.astype(np.uint32)
    return occurring, numbers[: u.size], numbers[u.size :]


def _parallel_by_id(slots: canonical.Pattern, edge_ids: npt.NDArray[np.int64]) -> Array:
    """Return ``slots.positions``, with the positions of parallel edges sorted by edge id.

    `slots` has the sorted edges, and their positions in the input. Parallel edges are next to one
    another in `slots`, in the order of the input. This may differ from the order of their ids,
    since the input consists of arrays that were concatenated in any order.
    """
    order = slots.positions
    same = slots.indices[1:] == slots.indices[:-1]
    starts = slots.indptr[1:-1]
    # The last entry of a row is not parallel to the first entry of the next row.
    same[starts[(starts > 0) & (starts < order.size)] - 1] = False
    later = np.flatnonzero(same) + 1  # edges that are parallel to the edge before them
    out_of_order = later[edge_ids[order[later]] < edge_ids[order[later - 1]]]
    if not out_of_order.size:
        return order
    # Number the distinct pairs of vertices, and store for each edge the number of the pair that it
    # joins.
    pair = np.concatenate((np.zeros(1, np.int64), np.cumsum(~same)))
    is_wrong = np.zeros(int(pair[-1]) + 1, np.bool_)  # whether a pair's edges are out of order
    is_wrong[pair[out_of_order]] = True
    wrong = np.flatnonzero(is_wrong[pair])
    positions = order[wrong]
    order = order.copy()
    order[wrong] = positions[np.lexsort((edge_ids[positions], pair[wrong]))]
    return order


def _solved(graph: Graph, device: Any, *, maximum: bool) -> Forest:
    """Solve a graph on a device, and return the forest.

    Its edge ids are indices of CSR entries of the graph. `maximum` asks for the maximum forest. If
    no algorithm passes its self-test on the device, and `device` is None or a name, the next
    matching device solves the graph. Block until the forest is on the host.
    """
    while True:
        try:
            found = get_device(device)
            with found.lock, Guard(found):
                stored = DeviceGraph.upload(graph, found, wait=False)
                launch = Launcher.of(found, profile=False)
                forest = forest_by("auto", stored, launch, maximum=maximum, wait=False)
                return forest.copied(launch)
        except NoFamilyLeftError as error:
            if not pass_over(device, error):
                raise
