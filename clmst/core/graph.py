"""The graph every algorithm starts from: a canonical CSR whose edges map back to the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core import csr, from_networkx, from_scipy
from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array, as_weights, first_nan

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy.typing as npt

MAX_VERTICES = 2**32 - 2
MAX_SLOTS = 2**32 - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Graph:
    """An undirected weighted graph in canonical compressed sparse rows.

    Build one with :meth:`from_scipy`, :meth:`from_csr`, :meth:`from_edges`, :meth:`from_networkx`
    or :meth:`read`; the constructor itself trusts its arguments.

    The *edges* are the slots whose row is less than their column, in slot order: rows are sorted
    by column, and parallel edges stand in input order, so comparing slots compares edge ids.
    Slots with row > column, where `is_symmetric`, mirror them; slots with row == column are
    self-loops. Neither ever enters a forest.

    Attributes
    ----------
    indptr : ndarray of uint32, shape (n_vertices + 1,)
        Where each row starts.
    indices : ndarray of uint32, shape (n_slots,)
        The column of each slot; rising within a row.
    weights : ndarray of any supported dtype, shape (n_slots,)
        The weight of each slot.
    is_symmetric : bool
        Whether every edge is stored in both directions.
    edge_ids : ndarray of int, shape (n_slots,), or None
        The caller's position of each slot's edge; None where that is the slot itself.
    n_input : int
        How many positions the caller's input has; edge ids are below it.
    vertex_labels : sequence or None
        The caller's names of the vertices, where they are not 0 .. n - 1.
    coordinates : ndarray of float64, shape (n_vertices, 2), or None
        Where to draw the vertices, if known.
    """

    indptr: npt.NDArray[np.uint32]
    indices: npt.NDArray[np.uint32]
    weights: Array
    is_symmetric: bool
    edge_ids: Array | None
    n_input: int
    vertex_labels: Sequence[Hashable] | None = None
    coordinates: npt.NDArray[np.float64] | None = None

    # ------------------------------------------------------------------ sizes

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.indptr.size - 1

    @property
    def n_slots(self) -> int:
        """Number of stored slots: both directions and self-loops included."""
        return self.indices.size

    @cached_property
    def n_edges(self) -> int:
        """Number of edges: parallel ones counted, self-loops not. O(n_slots) the first time."""
        return int(np.count_nonzero(self.rows < self.indices))

    @cached_property
    def rows(self) -> npt.NDArray[np.uint32]:
        """The row of each slot, shape (n_slots,). O(n_slots) the first time."""
        return csr.expand_rows(self.indptr)

    @cached_property
    def edge_slots(self) -> npt.NDArray[np.int64]:
        """The slots that are edges, rising: canonical edge k is slot ``edge_slots[k]``."""
        return np.flatnonzero(self.rows < self.indices)

    def __repr__(self) -> str:
        return (
            f"Graph(n_vertices={self.n_vertices}, n_edges={self.n_edges}, "
            f"weights={self.weights.dtype})"
        )

    # ------------------------------------------------------------ construction

    @classmethod
    def from_scipy(cls, A: Any) -> Graph:
        """Take a SciPy sparse matrix or array as an undirected graph, without a copy where it can.

        ``A[i, j]`` and ``A[j, i]`` are one edge; where both are stored, its weight is the lesser.
        Explicit zeros are edges. Edge ids index ``A.data`` of the matrix in CSR form.

        Parameters
        ----------
        A : scipy.sparse array or matrix, shape (n, n)
            Any format. CSR with sorted rows that is symmetric, or has nothing below the
            diagonal, is used as it is; anything else is rearranged.

        Raises
        ------
        InvalidGraphError
            `A` is not square, its arrays contradict each other, or a weight is NaN or of an
            unsupported dtype.

        Notes
        -----
        O(n + n_slots) time; the weights are the caller's array, so do not change it before the
        forest has been computed.
        """
        from_scipy.check_matrix(A)
        check_shape(A.shape)  # before a conversion makes an indptr of that many rows
        indptr, indices, data, shape = from_scipy.csr_parts(A)
        return cls._from_csr_parts(indptr, indices, data, shape)

    @classmethod
    def from_csr(cls, indptr: Any, indices: Any, weights: Any) -> Graph:
        """Take the three arrays of a CSR matrix; as :meth:`from_scipy` in all else.

        Parameters
        ----------
        indptr : array of int, shape (n + 1,)
        indices : array of int, shape (n_slots,)
        weights : array, shape (n_slots,)

        Raises
        ------
        InvalidGraphError
            As :meth:`from_scipy`.
        """
        indptr, indices = np.asarray(indptr), np.asarray(indices)
        n = max(indptr.size - 1, 0)
        return cls._from_csr_parts(indptr, indices, weights, (n, n))

    @classmethod
    def _from_csr_parts(
        cls, indptr: Array, indices: Array, weights: Any, shape: tuple[int, int]
    ) -> Graph:
        check_shape(shape)
        check_size(shape[0], indices.size)
        weights = as_weights(weights)
        indptr, indices = csr.check(indptr, indices, weights, n=shape[0])
        check_weights(weights, lambda slot: csr.endpoints_of(indptr, indices, slot))
        parts = csr.canonicalise(indptr, indices, weights)
        return cls(
            indptr=parts.indptr,
            indices=parts.indices,
            weights=parts.weights,
            is_symmetric=parts.is_symmetric,
            edge_ids=parts.positions,
            n_input=indices.size,
        )

    @classmethod
    def from_edges(
        cls,
        u: Any,
        v: Any,
        w: Any = None,
        n_vertices: int | None = None,
        *,
        merge_parallel: bool = False,
        coordinates: Any = None,
    ) -> Graph:
        """Take arrays of endpoints and weights; edge ids are positions in them.

        Parameters
        ----------
        u, v : array of int, shape (m,)
            Endpoints. Parallel edges and self-loops are allowed.
        w : array, shape (m,), optional
            Weights of any supported dtype; all 1 when left out.
        n_vertices : int, optional
            One more than the largest endpoint when left out.
        merge_parallel : bool
            Keep only the lightest of several edges between the same two vertices (the first one
            on a tie), as for lists that name every edge in both directions.
        coordinates : array of float, shape (n_vertices, 2), optional
            Where to draw the vertices.

        Raises
        ------
        InvalidGraphError
            Lengths differ, an endpoint is out of range, or a weight is NaN or of an unsupported
            dtype.

        Notes
        -----
        O(n + m): two counting sorts bring the edges into canonical order.
        """
        u, v = csr.check_endpoints(u, v, n_vertices)
        m = u.size
        w = np.ones(m, np.uint8) if w is None else as_weights(w)
        if w.shape != (m,):
            raise InvalidGraphError(
                f"u and v have {m} entries but w has shape {w.shape}; "
                "there must be one weight an edge"
            )
        if n_vertices is None:
            n_vertices = 1 + max(int(u.max()), int(v.max())) if m else 0
        check_size(n_vertices, m)
        check_weights(w, lambda e: (int(u[e]), int(v[e])))
        upper = csr.upper_from_edges(n_vertices, u, v)
        if merge_parallel:
            upper = csr.merge_parallel(upper, w)
        return cls(
            indptr=upper.indptr,
            indices=upper.indices,
            weights=w[upper.positions],
            is_symmetric=False,
            edge_ids=upper.positions,
            n_input=m,
            coordinates=check_coordinates(coordinates, n_vertices),
        )

    @classmethod
    def from_masked(cls, matrix: Any) -> Graph:
        """Take a symmetric ``numpy.ma.MaskedArray``: what is not masked is an edge, zeros too.

        Edge ids are places in SciPy's condensed form of the matrix; loops have none. Raises
        InvalidGraphError as :class:`clmst.DenseGraph` does, and where the mask is not symmetric.
        """
        from clmst.core.dense_graph import graph_of_masked

        return graph_of_masked(matrix)

    @classmethod
    def from_networkx(cls, G: Any, weight: str | None = "weight") -> Graph:
        """Take an undirected NetworkX graph or multigraph.

        Vertices are numbered in the order of ``G.nodes`` and keep their names in
        `vertex_labels`; edge ids count ``G.edges`` in its order.

        Parameters
        ----------
        G : networkx.Graph or networkx.MultiGraph
        weight : str or None
            The edge attribute that holds the weight; 1 where an edge lacks it, and everywhere
            when None.

        Raises
        ------
        InvalidGraphError
            `G` is directed, or a weight is not a real number.
        """
        parts = from_networkx.edge_arrays(G, weight)
        graph = cls.from_edges(parts.u, parts.v, parts.w, n_vertices=len(parts.labels))
        return graph.replace(vertex_labels=parts.labels)

    @classmethod
    def read(cls, path: str | Path, *, format: str | None = None) -> Graph:  # noqa: A002
        """Read a graph file; see :func:`clmst.io.read_graph` for the formats."""
        from clmst.io import read_graph

        return read_graph(path, format=format)

    # -------------------------------------------------------------- derivation

    def replace(self, **changes: Any) -> Graph:
        """Return a copy with some attributes changed; arrays are shared, not copied."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Graph(**(fields | changes))

    def symmetrised(self) -> Graph:
        """Return the same graph with both directions of every edge stored, self-loops left out.

        Edge ids, and so forests, stay the same. O(n + n_slots); the graph itself if it already
        is symmetric.
        """
        if self.is_symmetric:
            return self
        slots = self.edge_slots
        check_size(self.n_vertices, 2 * slots.size)
        parts = csr.mirror(self.n_vertices, self.rows[slots], self.indices[slots])
        chosen = slots[parts.positions]
        return self.replace(
            indptr=parts.indptr,
            indices=parts.indices,
            weights=self.weights[chosen],
            edge_ids=chosen if self.edge_ids is None else self.edge_ids[chosen],
            is_symmetric=True,
        )

    def edges(self) -> tuple[Array, Array, Array, Array]:
        """Return the edges in canonical order as (u, v, weight, edge id), u < v."""
        slots = self.edge_slots
        ids = slots if self.edge_ids is None else self.edge_ids[slots]
        return self.rows[slots], self.indices[slots], self.weights[slots], ids


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise unless a matrix of this shape is the adjacency matrix of few enough vertices."""
    if shape[0] != shape[1]:
        raise InvalidGraphError(
            f"the matrix is {shape[0]} x {shape[1]}; an adjacency matrix must be square"
        )
    check_size(shape[0], 0)


def check_size(n_vertices: int, n_slots: int) -> None:
    """Raise unless 32-bit vertex and slot numbers are enough."""
    if not 0 <= n_vertices <= MAX_VERTICES:
        raise InvalidGraphError(
            f"the graph has {n_vertices} vertices; there may be 0 to 2**32 - 2 = {MAX_VERTICES}"
        )
    if n_slots > MAX_SLOTS:
        raise InvalidGraphError(
            f"the graph has {n_slots} stored edges; one device takes up to 2**32 - 1 = {MAX_SLOTS}"
        )


def check_weights(weights: Array, endpoints: Any) -> None:
    """Raise on a NaN; `endpoints` maps its position to (u, v)."""
    nan = first_nan(weights)
    if nan is not None:
        u, v = endpoints(nan)
        raise InvalidGraphError(
            f"the weight of edge {nan} ({u}, {v}) is NaN; weights must be ordered, "
            "and infinities are the only special values allowed"
        )


def check_coordinates(coordinates: Any, n_vertices: int) -> npt.NDArray[np.float64] | None:
    """Return `coordinates` as (n_vertices, 2) float64, or raise."""
    if coordinates is None:
        return None
    array = np.asarray(coordinates, dtype=np.float64)
    if array.shape != (n_vertices, 2):
        raise InvalidGraphError(
            f"coordinates have shape {array.shape}; they must be ({n_vertices}, 2)"
        )
    return array
