"""The forest of edges that a device generates, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeBuffer, EdgeChunk, FaultyEdgeError
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

Columns = tuple[Array, Array, Array, Array]


class EdgeStream:
    """The forest of the generated edges so far, and those that wait for the next reduction.

    Parameters
    ----------
    edges : GeneratedEdges
        With its arguments.
    launch : Launcher
    capacity : int
        Edges of a reduction; at least ``n_vertices - 1 + chunk``.
    chunk : int
        Edges that are generated at once.
    maximum : bool
    solve : callable
        Returns the forest of a graph on the device of `launch`.

    Attributes
    ----------
    position : int
        The id of the next edge.
    reductions, n_filtered : int
        Solves so far, and edges that none of them had.
    """

    def __init__(
        self,
        edges: GeneratedEdges,
        launch: Launcher,
        *,
        capacity: int,
        chunk: int,
        maximum: bool,
        solve: Callable[[DeviceGraph], DeviceForest],
    ) -> None:
        self._edges, self._launch, self._solve = edges, launch, solve
        self.position = self.reductions = self.n_filtered = 0
        self._buffer = EdgeBuffer(
            n_vertices=edges.n_vertices, dtype=edges.weight_dtype, capacity=capacity,
            launch=launch, maximum=maximum,
        )  # fmt: skip
        self._chunk = edges.new_chunk(0, chunk, launch.device)

    @property
    def n_left(self) -> int:
        """Edges to come."""
        return self._edges.n_edges - self.position

    @property
    def n_forest(self) -> int:
        """Edges of the forest of the last reduction."""
        return self._buffer.n_forest

    def step(self) -> None:
        """Generate the next chunk, and keep of it what may enter the forest; waits.

        Raises
        ------
        InvalidGraphError
            A generated edge has an end that is no vertex, or its weight is NaN.
        """
        buffer = self._buffer
        chunk = self._next_chunk()
        self._edges.generate(chunk, self._launch)
        positions, count = self._marked(chunk)
        if count > buffer.space:
            self.reduce()
            positions, count = self._marked(chunk)
        buffer.append(chunk, positions, count)
        self.position += chunk.size
        self.n_filtered += chunk.size - count

    def reduce(self) -> None:
        """Reduce the edges that wait, and the forest, to one forest."""
        buffer = self._buffer
        if buffer.size == buffer.n_forest:
            return
        found = buffer.sorted()
        forest = self._solve(found.graph)
        buffer.take(forest, found.numbers)
        self.reductions += 1
        if self.n_left:
            buffer.limit_by(forest)

    def go_on_from(self, position: int, columns: Columns) -> None:
        """Take the forest of all edges before a position, as :meth:`columns` returned it."""
        buffer = self._buffer
        size = columns[0].size
        own = (buffer.u, buffer.v, buffer.weights, buffer.ids)
        for array, values in zip(own, columns, strict=True):
            array[:size].write(np.ascontiguousarray(values, array.dtype))
        buffer.size, self.position = size, position
        self.reduce()  # for its limits
        self.reductions = 0

    def columns(self) -> Columns:
        """Return u, v, weights and ids of the forest's edges, in canonical order; waits."""
        buffer = self._buffer
        u, v, weights, ids = (
            array[: buffer.n_forest].to_host()
            for array in (buffer.u, buffer.v, buffer.weights, buffer.ids)
        )
        return u, v, weights, ids.view(np.int64)

    def _next_chunk(self) -> EdgeChunk:
        whole = self._chunk
        size = min(whole.size, self.n_left)
        return EdgeChunk(
            u=whole.u[:size], v=whole.v[:size], weights=whole.weights[:size],
            first_id=self.position,
        )  # fmt: skip

    def _marked(self, chunk: EdgeChunk) -> tuple[DeviceArray, int]:
        try:
            return self._buffer.mark(chunk)
        except FaultyEdgeError as error:
            raise self._edges.fault_at(chunk, error.at, self._launch) from None
