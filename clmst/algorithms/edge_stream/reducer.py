"""Keep the forest of all edges that a device has been given so far, chunk by chunk.

A buffer contains the forest of the edges so far, followed by new edges, which wait for the next
reduction. A reduction replaces the forest and the waiting edges by the forest of all of them.

A reduction sorts the edges by their ends, and parallel edges must be in the order of their ids. The
ids of edges usually ascend from chunk to chunk, and then a stable sort by ends suffices. If ids do
not ascend, the device checks the order of parallel edges, and if it is wrong, sorts the edges by
their ids first. The kernels are in ``cl/algorithms/edge_stream/edge_stream.cl``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clmst.algorithms.canonical_csr.arrange import Arrangement
from clmst.algorithms.edge_stream.edges import (
    LONG,
    NO_FAULT,
    SOURCE,
    WORD,
    EdgeChunk,
    EdgeKernels,
    EdgePart,
)
from clmst.algorithms.proof.prove import Claim
from clmst.algorithms.proof.tree import TreeBuilder
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import new_flags
from clmst.algorithms.solving import forest_by
from clmst.core.errors import DeviceError
from clmst.core.weight_keys import Encoding
from clmst.primitives.permute import number
from clmst.primitives.selection import positions_of
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


class EdgeReducer(EdgeKernels):
    """The forest of the edges so far, and the edges that wait for the next reduction.

    A reduction replaces both by the forest of all these edges. `capacity` is the maximum number of
    edges of a reduction. It must be more than any forest has, and at most 2**32 - 1. If the
    device's memory pool has more than `limit` bytes before or after a solve, its unused buffers are
    freed. None means no limit. `n_filtered` is the number of edges that were left out of all
    solves.
    """

    def __init__(
        self, *, capacity: int, maximum: bool, limit: int | None = None, **given: Any
    ) -> None:
        super().__init__(source=SOURCE, maximum=maximum, **given)
        self._capacity, self._maximum, self._limit, self._size = capacity, maximum, limit, 0
        self._columns = _columns(capacity, self.dtype, self._launch)
        # Two arrays that are computed from the forest so far. `_limits` has a limit for each
        # vertex, the sort key of a weight. An edge that is heavier than the limits of both of its
        # ends is ruled out. `_trees` has the tree of each vertex, and is None if at most one tree
        # has edges.
        self._limits: DeviceArray | None = None
        self._trees: DeviceArray | None = None
        # `_next_id` is greater than all edge ids so far. `_rises` says whether the ids of each
        # chunk were greater than all ids of earlier chunks.
        self._next_id, self._rises = 0, True

    @property
    def n_waiting(self) -> int:
        """Number of edges that were added since the forest was last computed."""
        return self._size - self.n_forest

    # ------------------------------------------------------------------- chunks

    def mark(self, chunk: EdgeChunk, begin: int = 0) -> EdgeChunk:
        """Enqueue a search for the edges of a chunk that may enter the forest.

        Returns a copy of the chunk whose `marked` will have the positions of these edges. Edges
        before position `begin` of the chunk are left out.
        """
        launch, m = self._launch, chunk.size
        limits, trees = (chunk.u if x is None else x for x in (self._limits, self._trees))
        stays = new_flags(m, launch.device)
        launch.fill(self._word.memory, NO_FAULT, 1)
        launch.for_each(
            self._program, "edge_stream_mark", m, chunk.u, chunk.v, chunk.weights,
            limits, trees, stays, self._word, self.n_vertices, m,
            begin, int(self._limits is not None), int(self._trees is not None),
        )  # fmt: skip
        return replace(chunk, marked=positions_of(stays, at_most=m, launch=launch))

    def take(self, chunk: EdgeChunk) -> None:
        """Append the edges of a chunk that may enter the forest to the buffer.

        A chunk is a part of the stream of edges. The call waits for the device. Whenever the buffer
        is full, its edges are replaced by their forest.
        """
        kept = begin = 0
        while True:
            positions, count = self._found(
                self.mark(chunk, begin) if chunk.marked is None else chunk
            )
            now = min(count, self._capacity - self._size)
            assert now == count or self._size + now > self.n_forest, "a reduction makes space"
            self._append(chunk, positions, now)
            kept += now
            if now == count:
                break
            if now:
                (last,) = self._launch.read_words(positions.memory, 1, first=now - 1)
                begin = last + 1
            self.reduce()
            chunk = replace(chunk, marked=None)  # the new forest filters better
        self.n_filtered += chunk.size - kept

    def _append(self, chunk: EdgeChunk, positions: DeviceArray, count: int) -> None:
        """Append `count` marked edges of a chunk to the edges that wait for a reduction.

        A reduction replaces edges by their forest.

        `positions` has the positions of the marked edges in the chunk. The buffer must have space
        for them.
        """
        self._launch.for_each(
            self._program, "edge_stream_append", count, positions, chunk.u, chunk.v, chunk.weights,
            chunk.ids, *self._columns, self._size, count, np.uint64(chunk.first_id),
        )  # fmt: skip
        self._size += count
        end = chunk.first_id + chunk.size
        if chunk.ids is not None:
            last = np.empty(1, np.uint64)  # the greatest id, since ids ascend within a chunk
            self._launch.read(chunk.ids.memory, last, offset=8 * (chunk.size - 1))
            end, self._rises = int(last[0]) + 1, False
        elif chunk.first_id < self._next_id != end:  # the rest of a chunk has the same end
            self._rises = False
        self._next_id = max(self._next_id, end)

    # ---------------------------------------------------------------- reduction

    def reduce(self, *, is_last: bool = False) -> None:
        """Replace the forest so far and the edges added since then by the forest of all of them.

        The call waits for the device. With `is_last`, no chunk may follow, so the limits that
        filter later edges are not computed. If no edge was added, nothing is done.
        """
        if not self.n_waiting:
            return
        graph = self._sorted()
        forest = self._solve(graph)
        launch, k = self._launch, forest.n_edges
        taken = _columns(k, self.dtype, launch)
        launch.for_each(
            self._program, "edge_stream_take", k, forest.slots, forest.edges, graph.edge_ids,
            *self._columns[2:], *taken, k,
        )  # fmt: skip
        for column, own in zip(taken, self._columns, strict=True):
            launch.copy(column.memory, own.memory, column.nbytes)
        self._size = self.n_forest = k
        self.reductions += 1
        if not is_last:
            self._limit_by(forest)

    def _solve(self, graph: DeviceGraph) -> DeviceForest:
        """Enqueue the solve of a graph, without waiting, and return the forest on the device.

        Unused buffers of the memory pool are freed before and after, if there is a limit for them.
        """
        launch, maximum = self._launch, self._maximum
        self._hold_at_most_the_limit()  # memory that the sort has freed
        forest = forest_by("auto", graph, launch, maximum=maximum, wait=False)
        graph.plans.clear()
        self._hold_at_most_the_limit()  # memory that the solve has freed
        return forest

    def _hold_at_most_the_limit(self) -> None:
        if self._limit is not None:
            self._launch.device.hold_at_most(self._limit)

    def _sorted(self) -> DeviceGraph:
        """Sort the edges of the buffer, and return the graph of these edges.

        The edge ids of the graph are positions in the buffer. The call waits for the device.
        """
        arranged, ids = self._arranged(), self._columns[3][: self._size]
        if not (self._rises or arranged.is_in_order_of(ids)):
            del arranged
            arranged = self._arranged(self._order_of(ids))
        graph = arranged.graph(lightest=False)
        assert graph is not None, "chunks are checked"
        return graph

    def _order_of(self, ids: DeviceArray) -> DeviceArray:
        """Return the positions that sort `ids` in ascending order, without waiting."""
        launch, m = self._launch, ids.size
        keys, order = (DeviceArray.unchecked(m, word, launch.device) for word in (LONG, WORD))
        launch.copy(ids.memory, keys.memory, keys.nbytes)
        number(launch, order)
        bits = bits_of(self._next_id)
        sort_by_key(keys, order, key_bits=bits, keys_out=keys, values_out=order, launch=launch)
        return order

    def _arranged(self, order: DeviceArray | None = None) -> Arrangement:
        """Sort the edges stably by both ends, beginning with the buffer's order or with `order`.

        `order` has positions in the buffer. None means the buffer's order. The call waits for the
        device.
        """
        u, v, weights, _ = (column[: self._size] for column in self._columns)
        encoding = Encoding(dtype=self.dtype, stored=self.dtype)
        arranged = Arrangement(self.n_vertices, weights, encoding)
        arranged.pair_edges(u, v, order)
        arranged.sort()
        return arranged

    def _limit_by(self, forest: DeviceForest) -> None:
        """Compute, for each vertex, the limit by which later edges are filtered.

        `forest` is the forest of the edges in the buffer. If both ends of a later edge are in one
        tree of the forest, and its weight is above the limits of both ends, the edge is the
        heaviest of a cycle and is dropped. The call waits for the device. Raises DeviceError if the
        forest has a cycle.
        """
        launch, n = self._launch, self.n_vertices
        self._limits = self._trees = None
        if forest.n_edges == 0:
            return
        claim = Claim(forest)
        tree = TreeBuilder(n, forest.n_edges, launch).build(claim.list_edges)
        if tree is None:
            raise DeviceError(
                f"{launch.device.description} made a forest of {forest.n_edges} edges that has a "
                "cycle; its results cannot be relied on"
            )
        word = LONG if self.dtype.itemsize == 8 else WORD
        limits = DeviceArray.unchecked(n, word, launch.device)
        trees = DeviceArray.unchecked(n if tree.has_trees else 1, WORD, launch.device)
        launch.for_each(
            self._program, "edge_stream_limit", n, tree.reaches, tree.tops,
            claim.keys or tree.state, limits, trees, n, int(tree.has_trees),
        )  # fmt: skip
        self._limits, self._trees = limits, trees if tree.has_trees else None

    # ------------------------------------------------------------- from and to the host

    def go_on_from(self, edges: EdgePart, *, has_forest: bool) -> None:
        """Continue from edges of an earlier stream, in any order.

        With `has_forest`, the edges are a forest followed by edges that were added after it. They
        are then replaced by the forest of all of them immediately.
        """
        self._size, ids = edges.size, edges.edge_ids
        for array, values in zip(self._columns, edges.columns, strict=True):
            array[: self._size].write(np.ascontiguousarray(values).view(array.dtype))
        if self._size:
            self._rises = bool((ids[1:] > ids[:-1]).all())
            self._next_id = int(ids.max()) + 1
        if has_forest:
            self.reduce()  # the reduction computes the limits that filter chunks
            self.reductions = 0

    def forest(self) -> EdgePart:
        """Return the edges of the forest, in canonical order.

        The call waits for the device.
        """
        return self._read(0, self.n_forest)

    def waiting(self) -> EdgePart:
        """Return the edges that were added since the forest was last computed, in their order.

        The call waits for the device.
        """
        return self._read(self.n_forest, self._size)

    def _read(self, begin: int, end: int) -> EdgePart:
        u, v, weights, ids = (array[:end].to_host()[begin:] for array in self._columns)
        return EdgePart(u=u, v=v, weights=weights, edge_ids=ids.view(np.int64))


def _columns(size: int, dtype: np.dtype[Any], launch: Launcher) -> tuple[DeviceArray, ...]:
    """Allocate arrays for u, v, weights and ids of `size` edges, with undefined contents.

    `dtype` is the dtype of the weights.
    """
    return tuple(
        DeviceArray.unchecked(size, one, launch.device) for one in (WORD, WORD, dtype, LONG)
    )
