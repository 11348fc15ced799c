"""The input of every algorithm: a canonical CSR whose edges map back to the caller's input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core import csr, data_frames, from_graph_objects
from clmst.core.canonical import canonicalise, mirror
from clmst.core.deferred_graph import DeferredArrays, checked_edges
from clmst.core.from_image import from_image
from clmst.core.from_masked import from_masked
from clmst.core.from_scipy import csr_parts
from clmst.core.graph_checks import (
    check_attributes,
    check_contents,
    check_names,
    check_shape,
    check_size,
    check_weights,
)
from clmst.core.weight_keys import Array, as_weights

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy.typing as npt


@dataclass(frozen=True, kw_only=True, eq=False)
class Graph:
    """An undirected weighted graph in canonical compressed sparse rows.

    Build one with :meth:`read` or one of the methods `from_...`; the constructor itself takes
    canonical arrays, and checks them.

    The *edges* are the slots whose row is less than their column, in slot order: rows are sorted by
    column, and parallel edges are in input order, so comparing slots compares edge ids. Slots with
    row > column, where `is_symmetric`, mirror them; slots with row == column are self-loops.
    Neither ever enters a forest.

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
        The caller's position of each slot's edge; None if it is the slot itself.
    n_input : int
        The number of positions in the caller's input; edge ids are below it.
    vertex_labels : sequence or None
        The caller's names of the vertices, if they are not 0 .. n - 1.
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

    def __post_init__(self) -> None:
        check_attributes(self)
        check_contents(self)

    # ------------------------------------------------------------------ sizes

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.indptr.size - 1

    @property
    def n_slots(self) -> int:
        """Number of stored slots: both directions and self-loops included."""
        return self.indices.size

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights."""
        return self.weights.dtype

    def has_at_hand(self, name: str) -> bool:
        """Return whether the host has an array; of a graph of a device's arrays it may not."""
        return name in vars(self)

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

    def _repr_html_(self) -> str:
        """Return what a notebook shows: sizes, and a small picture of a small graph."""
        from clmst.drawing.thumbnail import html_of_graph

        return html_of_graph(self)

    def __repr__(self) -> str:
        return (
            f"Graph(n_vertices={self.n_vertices}, n_edges={self.n_edges}, "
            f"weights={self.weights.dtype})"
        )

    # ------------------------------------------------------------ construction

    @classmethod
    def from_scipy(cls, A: Any) -> Graph:
        """Take a SciPy sparse matrix or array as an undirected graph, if possible without a copy.

        ``A[i, j]`` and ``A[j, i]`` are one edge; where both are stored, its weight is the lesser.
        Explicit zeros are edges, save in BSR and DIA form, which pad with zeros. Edge ids index
        ``A.data`` of the matrix in CSR form, without that padding.

        Parameters
        ----------
        A : scipy.sparse array or matrix, shape (n, n)
            Any format. CSR with sorted rows that is symmetric, or has nothing below the diagonal,
            is used without a copy; others are rearranged.

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
        return cls._from_csr_parts(*csr_parts(A))

    @classmethod
    def from_csr(cls, indptr: Any, indices: Any, weights: Any) -> Graph:
        """Take the three arrays of a CSR matrix; else as :meth:`from_scipy`.

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
        indptr, indices = csr.as_integers("indptr", indptr), csr.as_integers("indices", indices)
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
        return cls.unchecked(**canonicalise(indptr, indices, weights))

    @classmethod
    def from_edges(
        cls,
        u: Any,
        v: Any,
        w: Any = None,
        n_vertices: int | None = None,
        *,
        merge_parallel: bool = False,
        relabel: bool = False,
        coordinates: Any = None,
    ) -> Graph:
        """Take arrays of endpoints and weights; edge ids are positions in them.

        Parameters
        ----------
        u, v : array of int, shape (m,)
            Endpoints; of strings with `relabel`. Parallel edges and self-loops are allowed.
        w : array, shape (m,), optional
            Weights of any supported dtype; by default all 1.
        n_vertices : int, optional
            By default the largest endpoint plus one; this is refused if it exceeds both 2**24 and
            64 for each edge, since memory and time are proportional to it.
        merge_parallel : bool
            Keep only the lightest of several edges between the same two vertices (the first one
            on a tie), as for lists that name every edge in both directions.
        relabel : bool
            Number only the vertices that occur, in the order of their numbers, which may be any
            integers of 64 bits and become `vertex_labels`. Ends may be strings, too, which are
            numbered in the order in which edges have them, `u` first.
        coordinates : array of float, shape (n_vertices, 2), optional
            Where to draw the vertices.

        Raises
        ------
        InvalidGraphError
            Lengths differ, an endpoint is out of range, a weight is NaN or of an unsupported
            dtype, or the largest endpoint is far beyond the number of edges.
        InvalidArgumentError
            Both `n_vertices` and `relabel` are given, or one of them is of the wrong kind.

        Notes
        -----
        O(m). The graph keeps the arrays and reads them when it is solved or an attribute is asked
        for. Do not change them before: an end that is no vertex raises then, and whether another
        change counts is undefined. On the host the attributes take 12 n + 24 m bytes at least.
        """
        edges, attributes = checked_edges(
            u, v, w, n_vertices, merge_parallel=merge_parallel, relabel=relabel,
            coordinates=coordinates,
        )  # fmt: skip
        return DeferredGraph.of_edges(edges, **attributes)

    from_masked = classmethod(from_masked)
    from_networkx = classmethod(from_graph_objects.from_networkx)
    from_igraph = classmethod(from_graph_objects.from_igraph)
    from_rustworkx = classmethod(from_graph_objects.from_rustworkx)
    from_pandas = classmethod(data_frames.from_pandas)
    from_arrow = classmethod(data_frames.from_arrow)
    from_image = classmethod(from_image)

    @classmethod
    def read(cls, path: str | Path, *, format: str | None = None, columns: Any = None) -> Graph:  # noqa: A002
        """Read a graph file; see :func:`clmst.io.read_graph` for the formats and `columns`."""
        from clmst.io import read_graph

        return read_graph(path, format=format, columns=columns)

    # -------------------------------------------------------------- derivation

    def replace(self, **changes: Any) -> Graph:
        """Return a copy with some attributes changed; arrays are shared, not copied.

        Raises
        ------
        TypeError
            There is no such attribute.
        InvalidArgumentError, InvalidGraphError
            An attribute has the wrong type or length; or the graph is no longer canonical, which is
            checked if more than weights, labels and coordinates change.
        """
        if unknown := changes.keys() - self.__dataclass_fields__.keys():
            raise TypeError(f"a Graph has no attribute {unknown.pop()!r}")
        graph = self.replace_unchecked(**changes)
        arrays = changes.keys() - {"vertex_labels", "coordinates"}
        (check_attributes if arrays else check_names)(graph)
        if arrays - {"weights"}:
            check_contents(graph)
        return graph

    def replace_unchecked(self, **changes: Any) -> Graph:
        """Return a copy with some attributes changed, which are not checked."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Graph.unchecked(**(fields | changes))

    @classmethod
    def unchecked(cls, **attributes: Any) -> Graph:
        """Make a graph without checks, of attributes that are right or that the host lacks."""
        graph = object.__new__(cls)
        vars(graph).update({"vertex_labels": None, "coordinates": None, **attributes})
        return graph

    def symmetrised(self) -> Graph:
        """Return the same graph with both directions of every edge, without self-loops.

        Edge ids, and so forests, stay the same. O(n + n_slots); the graph itself if it already
        is symmetric.
        """
        if self.is_symmetric:
            return self
        slots = self.edge_slots
        check_size(self.n_vertices, 2 * slots.size)
        parts = mirror(self.n_vertices, self.rows[slots], self.indices[slots])
        chosen = slots[parts.positions]
        return self.replace_unchecked(
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


class DeferredGraph(DeferredArrays, Graph):
    """A graph whose arrays are made, or copied from a device, when the host first reads them."""

    def replace_unchecked(self, **changes: Any) -> Graph:
        """Return a copy with some attributes changed; what is not on the host stays so."""
        if changes.keys() & {"indptr", "indices"}:
            return super().replace_unchecked(**changes)
        graph = object.__new__(type(self))
        kept = {name: vars(self)[name] for name in vars(self) if name in _KEPT}
        vars(graph).update(kept | changes)
        if changes.keys() & self._deferred:
            vars(graph).update(_edge_list=None)
        return graph

    def __reduce__(self) -> Any:
        """Pickle as a graph of the host."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return partial(Graph.unchecked, **fields), ()


# What a copy of a graph has, too; other properties that have been computed may not hold for it.
_KEPT = frozenset(DeferredArrays.__annotations__) | frozenset(Graph.__dataclass_fields__)
