"""The forest of edges that a device generates, chunk by chunk."""

from __future__ import annotations

from clmst.algorithms.edge_stream.edges import EdgeChunk, FaultyEdgeError
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.algorithms.edge_stream.reducer import Columns, EdgeReducer, Solve
from clmst.runtime.launcher import Launcher


class EdgeStream:
    """The forest of the generated edges so far, and those that wait for the next reduction.

    Parameters
    ----------
    edges : GeneratedEdges
        With its arguments.
    launch : Launcher
    capacity : int
        Edges of a reduction: more than any forest has.
    chunk : int
        Edges that are generated at once.
    maximum : bool
    solve : callable
        Returns the forest of a graph on the device of `launch`.

    Attributes
    ----------
    position : int
        The id of the next edge.
    """

    def __init__(
        self,
        edges: GeneratedEdges,
        launch: Launcher,
        *,
        capacity: int,
        chunk: int,
        maximum: bool,
        solve: Solve,
    ) -> None:
        self._edges, self._launch = edges, launch
        self.position = 0
        self._reducer = EdgeReducer(
            n_vertices=edges.n_vertices, dtype=edges.weight_dtype, launch=launch,
            capacity=capacity, maximum=maximum, solve=solve,
        )  # fmt: skip
        self._chunk = edges.new_chunk(0, chunk, launch.device)

    @property
    def n_left(self) -> int:
        """Edges to come."""
        return self._edges.n_edges - self.position

    @property
    def n_forest(self) -> int:
        """Edges of the forest of the last reduction."""
        return self._reducer.n_forest

    @property
    def reductions(self) -> int:
        """Solves so far."""
        return self._reducer.reductions

    @property
    def n_filtered(self) -> int:
        """Edges that no solve had."""
        return self._reducer.n_filtered

    def step(self) -> None:
        """Generate the next chunk, and keep of it what may enter the forest; waits.

        Raises
        ------
        InvalidGraphError
            A generated edge has an end that is no vertex, or its weight is NaN.
        """
        chunk = self._next_chunk()
        self._edges.generate(chunk, self._launch)
        try:
            self._reducer.take(chunk)
        except FaultyEdgeError as error:
            raise self._edges.fault_at(chunk, error.at, self._launch) from None
        self.position += chunk.size

    def reduce(self) -> None:
        """Reduce the edges that wait, and the forest, to one forest."""
        self._reducer.reduce(is_last=not self.n_left)

    def go_on_from(self, position: int, columns: Columns) -> None:
        """Take the forest of all edges before a position, as :meth:`columns` returned it."""
        self._reducer.go_on_from(columns, has_forest=True)
        self.position = position

    def columns(self) -> Columns:
        """Return u, v, weights and ids of the forest's edges, in canonical order; waits."""
        return self._reducer.columns()

    def _next_chunk(self) -> EdgeChunk:
        whole = self._chunk
        size = min(whole.size, self.n_left)
        return EdgeChunk(
            u=whole.u[:size], v=whole.v[:size], weights=whole.weights[:size],
            first_id=self.position,
        )  # fmt: skip
