"""A graph prepared for solves with many weights: its facts, and the edge of each weight."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from clmst.core import topology
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.repeated.session import Session
from clmst.repeated.source import weights_of
from clmst.runtime.device import Device


class Prepared:
    """The attributes of a :class:`clmst.RepeatedSolver`."""

    _graph: Graph | Points
    _session: Session

    @property
    def device(self) -> Device:
        """The device that keeps forests: of several, the one that runs the last pass."""
        return self._session.device

    @property
    def maximum(self) -> bool:
        """Whether forests are maximum spanning forests."""
        return self._session.maximum

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self._graph.n_vertices

    @property
    def n_edges(self) -> int:
        """Number of weights that a solve takes, m; of points, the number of pairs."""
        return self._graph.n_edges if isinstance(self._graph, Points) else self._graph.n_input

    @cached_property
    def edges(self) -> Array:
        """The edge that each weight belongs to, shape (m, 2), the lesser endpoint first.

        For a graph from lists of edges, or from NetworkX, in the order of those lists; a weight
        whose row is (-1, -1) belongs to none (a self-loop, or an edge that was merged into a
        parallel one) and is never looked at. For any other graph in canonical order: by lesser
        endpoint, then by greater one. O(m) the first time. A solver of points raises: it lists no
        edges.
        """
        return topology.endpoints(self._listed)

    @property
    def _listed(self) -> Graph:
        """The graph, or an error if it lists no edges."""
        if isinstance(self._graph, Points):
            raise InvalidArgumentError(
                "the solver is made of points, which list no edges; forest.edges has the ends of "
                "a forest's edges, and points.to_graph() lists all pairs"
            )
        return self._graph

    def __repr__(self) -> str:
        state = "closed" if self._session.is_closed else f"on {self.device.description}"
        return f"RepeatedSolver(n_vertices={self.n_vertices}, n_edges={self.n_edges}, {state})"

    def weights_of(self, matrix: Any, *, symmetrize: bool = False) -> Array:
        """Return the weights of a SciPy matrix in the order of :attr:`edges`.

        Parameters
        ----------
        matrix : scipy.sparse array or matrix, or Graph, shape (n, n)
            Its entries must be those of the matrix that the solver was made of, or their mirror
            images. Where both ``A[i, j]`` and ``A[j, i]`` are stored, the lesser is the weight.

        Returns
        -------
        ndarray, shape (m,)

        Raises
        ------
        InvalidGraphError
            It is malformed, or its pattern is another one.
        InvalidArgumentError
            The solver was made of a list of edges, whose order no matrix has; or of points.

        Notes
        -----
        O(n + n_slots).
        """
        return weights_of(matrix, self._listed, self.device, symmetrize=symmetrize)
