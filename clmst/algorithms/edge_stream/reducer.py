"""The forest of the edges that a device has been given so far, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeBuffer, EdgeChunk, Marks
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

Columns = tuple[Array, Array, Array, Array]
Solve = Callable[[DeviceGraph], DeviceForest]


class EdgeReducer:
    """The forest of the edges so far, and those that wait for the next reduction.

    Parameters
    ----------
    n_vertices : int
    dtype : numpy.dtype
        Of the weights.
    launch : Launcher
    capacity : int
        Edges of a reduction: more than any forest has.
    maximum : bool
    solve : callable
        Returns the forest of a graph on the device of `launch`.

    Attributes
    ----------
    reductions, n_filtered : int
        Solves so far, and edges that none of them had.
    """

    def __init__(
        self, *, n_vertices: int, dtype: np.dtype[Any], launch: Launcher, capacity: int,
        maximum: bool, solve: Solve,
    ) -> None:  # fmt: skip
        self._launch, self._solve = launch, solve
        self.reductions = self.n_filtered = 0
        self.buffer = EdgeBuffer(
            n_vertices=n_vertices, dtype=dtype, capacity=capacity, launch=launch, maximum=maximum
        )

    @property
    def n_forest(self) -> int:
        """Edges of the forest of the last reduction."""
        return self.buffer.n_forest

    @property
    def n_waiting(self) -> int:
        """Edges that wait for the next one."""
        return self.buffer.size - self.buffer.n_forest

    def narrowed(self, u: DeviceArray, v: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Return ends of 64 bits as ends of 32, as :func:`edges.narrowed`."""
        return self.buffer.narrowed(u, v)

    def mark(self, chunk: EdgeChunk) -> Marks:
        """Enqueue a search for the edges of a chunk that may enter the forest."""
        return self.buffer.mark(chunk)

    def take(self, chunk: EdgeChunk, marks: Marks | None = None) -> None:
        """Keep what may enter the forest of a chunk; reduce as often as the buffer is full; waits.

        Parameters
        ----------
        chunk : EdgeChunk
        marks : Marks, optional
            Of the whole chunk, if the search has been enqueued already.

        Raises
        ------
        FaultyEdgeError
            An edge is invalid; nothing of the chunk is kept.
        """
        buffer, kept, begin = self.buffer, 0, 0
        while True:
            marks = buffer.mark(chunk, begin) if marks is None else marks
            count = buffer.read_count(marks)
            now = min(count, buffer.space)
            assert now == count or buffer.size + now > buffer.n_forest, "a reduction makes space"
            buffer.append(chunk, marks, now)
            kept += now
            if now == count:
                break
            if now:
                last = np.empty(1, np.uint32)
                self._launch.read(marks.positions.memory, last, offset=4 * (now - 1))
                begin = int(last[0]) + 1
            self.reduce()
            marks = None  # the new forest filters better
        self.n_filtered += chunk.size - kept

    def reduce(self, *, is_last: bool = False) -> None:
        """Reduce the edges that wait, and the forest, to one forest.

        After the last reduction no chunk may come.
        """
        buffer = self.buffer
        if buffer.size == buffer.n_forest:
            return
        found = buffer.sorted()
        forest = self._solve(found.graph)
        buffer.take(forest, found.numbers)
        self.reductions += 1
        if not is_last:
            buffer.limit_by(forest)

    def go_on_from(self, columns: Columns, *, has_forest: bool) -> None:
        """Take edges in any order, of which the first may be those of a forest."""
        buffer, size, ids = self.buffer, columns[0].size, columns[3]
        own = (buffer.u, buffer.v, buffer.weights, buffer.ids)
        for array, values in zip(own, columns, strict=True):
            array[:size].write(np.ascontiguousarray(values).view(array.dtype))
        buffer.size = size
        if size:
            rises = bool((ids[1:] > ids[:-1]).all())
            buffer.next_id = int(ids[-1]) + 1 if rises else None
        if has_forest:
            self.reduce()  # for its limits
            self.reductions = 0

    def columns(self) -> Columns:
        """Return u, v, weights and ids of the forest's edges, in canonical order; waits."""
        return self._read(0, self.buffer.n_forest)

    def waiting(self) -> Columns:
        """Return the same of the edges that wait, in the order of their ids; waits."""
        return self._read(self.buffer.n_forest, self.buffer.size)

    def _read(self, begin: int, end: int) -> Columns:
        buffer = self.buffer
        u, v, weights, ids = (
            array[:end].to_host()[begin:]
            for array in (buffer.u, buffer.v, buffer.weights, buffer.ids)
        )
        return u, v, weights, ids.view(np.int64)
