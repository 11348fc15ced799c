"""The class of graphs: a canonical CSR matrix whose edges map back to the caller's input."""

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
    """An undirected weighted graph, stored in compressed sparse rows (CSR) in canonical order.

    Create a graph with :meth:`read` or one of the methods named `from_...`. The constructor takes
    arrays that already are canonical, and checks them.

    A *slot* is one stored entry of the CSR: a row, a column and a weight. The *edges* of the graph
    are the slots whose row is less than their column. Each row is sorted by column, and parallel
    edges are in the order of the input, so the order of the slots is the order of the edges. If
    `is_symmetric`, each edge also has a mirror slot with row > column. A slot with row == column is
    a self-loop. Mirror slots and self-loops are never part of a forest.

    Attributes
    ----------
    indptr : ndarray of uint32, shape (n_vertices + 1,)
        The first slot of each row, and the number of slots.
    indices : ndarray of uint32, shape (n_slots,)
        The column of each slot. Columns do not decrease within a row.
    weights : ndarray of any supported dtype, shape (n_slots,)
        The weight of each slot. The dtype is bool, int8 to int64, uint8 to uint64, or float16 to
        float64. NaN is not allowed.
    is_symmetric : bool
        Whether every edge is stored in both directions.
    edge_ids : ndarray of int, shape (n_slots,), or None
        The position of each slot's edge in the caller's input. None means that the slot number is
        the position.
    n_input : int
        The number of positions in the caller's input. All edge ids are less than it.
    vertex_labels : sequence or None
        The caller's names of the vertices, or None if they are 0 to n - 1.
    coordinates : ndarray of float64, shape (n_vertices, 2), or None
        Where to draw the vertices, if known.

    Raises
    ------
    InvalidGraphError
        The arrays are not canonical or contradict each other.
    InvalidArgumentError
        An attribute has a wrong type.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> graph
    Graph(n_vertices=3, n_edges=3, weights=int64)
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
        """Number of stored entries (slots) of the CSR, both directions and self-loops included."""
        return self.indices.size

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights."""
        return self.weights.dtype

    def has_at_hand(self, name: str) -> bool:
        """Return whether the attribute `name`, an array, is in the host's memory.

        A deferred graph loads an array when it is first read. Before that the answer is False.
        """
        return name in vars(self)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges, including parallel ones, without self-loops.

        O(n_slots) the first time.
        """
        return int(np.count_nonzero(self.rows < self.indices))

    @cached_property
    def rows(self) -> npt.NDArray[np.uint32]:
        """The row of each CSR entry (slot), shape (n_slots,). O(n_slots) the first time."""
        return csr.expand_rows(self.indptr)

    @cached_property
    def edge_slots(self) -> npt.NDArray[np.int64]:
        """The indices of the CSR entries (slots) that are edges, in ascending order.

        Edge k is slot ``edge_slots[k]``. O(n_slots).
        """
        return np.flatnonzero(self.rows < self.indices)

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: sizes, and a picture if the graph is small."""
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
        """Build a graph from a SciPy sparse matrix or array, without a copy if possible.

        ``A[i, j]`` and ``A[j, i]`` are the same edge. If both are stored, its weight is the lesser
        of the two. Explicit zeros are edges, except in the formats BSR and DIA, which pad with
        zeros. Edge ids are indices into ``A.data`` of the matrix in CSR form, without that padding.

        Parameters
        ----------
        A : scipy.sparse array or matrix, shape (n, n)
            A matrix of any format. A CSR matrix with sorted rows is used without a copy if it is
            symmetric or does not have entries below the diagonal. Any other matrix is rearranged.

        Returns
        -------
        Graph

        Raises
        ------
        InvalidGraphError
            `A` is not square, its arrays contradict each other, or a weight is NaN or has an
            unsupported dtype.

        Notes
        -----
        O(n + n_slots) time. The graph may use the caller's arrays, so do not change them before the
        forest has been computed.

        Examples
        --------
        >>> import clmst, scipy.sparse
        >>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
        >>> clmst.Graph.from_scipy(A)
        Graph(n_vertices=3, n_edges=3, weights=int64)
        """
        return cls._from_csr_parts(*csr_parts(A))

    @classmethod
    def from_csr(cls, indptr: Any, indices: Any, weights: Any) -> Graph:
        """Build a graph from the three arrays of a CSR matrix.

        The rules and the edge ids are as in :meth:`from_scipy`.

        Parameters
        ----------
        indptr : array of int, shape (n + 1,)
            The index of the first entry of each row, and the number of entries.
        indices : array of int, shape (n_slots,)
            The column of each entry.
        weights : array of any supported dtype, shape (n_slots,)
            The weight of each entry.

        Returns
        -------
        Graph

        Raises
        ------
        InvalidGraphError
            The arrays contradict each other, or a weight is NaN or has an unsupported dtype.

        Examples
        --------
        >>> import clmst
        >>> clmst.Graph.from_csr([0, 2, 3, 3], [1, 2, 2], [2, 3, 4])
        Graph(n_vertices=3, n_edges=3, weights=int64)
        """
        indptr, indices = csr.as_integers("indptr", indptr), csr.as_integers("indices", indices)
        n = max(indptr.size - 1, 0)
        return cls._from_csr_parts(indptr, indices, weights, (n, n))

    @classmethod
    def _from_csr_parts(
        cls, indptr: Array, indices: Array, weights: Any, shape: tuple[int, int]
    ) -> Graph:
        """Check the arrays of a CSR matrix of a shape, and build the matrix's canonical graph.

        `indptr` has the offsets of rows, `indices` the columns, and `weights` their weights.
        """
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
        """Build a graph from arrays of endpoints and weights. Edge ids are positions in the arrays.

        Parameters
        ----------
        u, v : array of int, shape (m,)
            The two ends of each edge, in any order. With `relabel` they may also be strings.
            Parallel edges and self-loops are allowed.
        w : array, shape (m,), optional
            The weights, of any supported dtype. By default all weights are 1.
        n_vertices : int, optional
            The number of vertices. By default it is the largest end plus one. That is refused if it
            exceeds both 2**24 and 64 per edge, since memory and time are proportional to it.
        merge_parallel : bool
            Keep only the lightest of several edges between the same two vertices, and the first of
            several lightest ones. Use it for lists that contain every edge in both directions.
        relabel : bool
            Number only the vertices that occur. Integer ends may then be any 64-bit integers; they
            are numbered in ascending order. Strings are numbered in the order in which the edges
            contain them, `u` before `v`. The original values become `vertex_labels`.
        coordinates : array of float, shape (n_vertices, 2), optional
            Where to draw the vertices.

        Returns
        -------
        Graph

        Raises
        ------
        InvalidGraphError
            The arrays have different lengths, an end is out of range, a weight is NaN or has an
            unsupported dtype, or the largest end is too large for the number of edges.
        InvalidArgumentError
            Both `n_vertices` and `relabel` are given, or one of them has a wrong type.

        Notes
        -----
        O(m) time. The graph keeps the caller's arrays and brings them into canonical order when it
        is solved or one of its attributes is first read. Do not change the arrays before that. If
        an end is changed to an invalid number, the later step raises InvalidGraphError; whether
        other changes have an effect is undefined. On the host the attributes take at least 12 n +
        24 m bytes.

        Examples
        --------
        >>> import clmst
        >>> u, v = ["a", "b", "a"], ["b", "c", "c"]
        >>> roads = clmst.Graph.from_edges(u, v, [3, 1, 2], relabel=True)
        >>> clmst.minimum_spanning_forest(roads).path("a", "b")
        ['a', 'c', 'b']
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
        """Read a graph from a file; :func:`clmst.read_graph` documents formats and errors.

        Parameters
        ----------
        path : str or Path
            The file.
        format : str, optional
            The name of the format. By default the name of the file decides.
        columns : list or tuple of str, optional
            For tables, the names of the columns of both ends and of the weight.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import clmst, tempfile
        >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clmst.write_graph(graph, f"{folder}/triangle.npz")
        ...     again = clmst.Graph.read(f"{folder}/triangle.npz")
        >>> again.n_vertices, again.n_edges
        (3, 3)
        """
        from clmst.io import read_graph

        return read_graph(path, format=format, columns=columns)

    # -------------------------------------------------------------- derivation

    def replace(self, **changes: Any) -> Graph:
        """Return a copy of the graph with some attributes changed. Arrays are shared, not copied.

        Parameters
        ----------
        **changes
            New values by attribute name.

        Raises
        ------
        TypeError
            A name is not an attribute of graphs.
        InvalidArgumentError, InvalidGraphError
            An attribute has a wrong type or length, or the new graph is not canonical. Whether it
            is canonical is checked, in O(n + n_slots), if attributes other than weights, labels and
            coordinates change.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
        >>> graph.replace(vertex_labels=("a", "b", "c")).vertex_labels
        ('a', 'b', 'c')
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
        """Return a copy with some attributes changed, without checks. Arrays are shared."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Graph.unchecked(**(fields | changes))

    @classmethod
    def unchecked(cls, **attributes: Any) -> Graph:
        """Create a graph from attributes that are known to be correct, without checking them."""
        graph = object.__new__(cls)
        vars(graph).update({"vertex_labels": None, "coordinates": None, **attributes})
        return graph

    def symmetrised(self) -> Graph:
        """Return the graph with both directions of every edge stored and without self-loops.

        Edge ids, and therefore forests, do not change. If the graph is symmetric already, it is
        returned itself. O(n + n_slots).

        Raises
        ------
        InvalidGraphError
            There are more than 2**31 - 1 edges, so both directions do not fit.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
        >>> graph.n_slots, graph.symmetrised().n_slots
        (3, 6)
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
        """Return the edges in canonical order, without self-loops.

        Returns
        -------
        u, v, weights, edge_ids : ndarray, shape (n_edges,)
            The ends of each edge with u < v, its weight, and its position in the caller's input.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([2, 1, 0], [0, 2, 1], [3, 1, 2])
        >>> u, v, weights, edge_ids = graph.edges()
        >>> u.tolist(), v.tolist(), weights.tolist(), edge_ids.tolist()
        ([0, 0, 1], [1, 2, 2], [2, 3, 1], [2, 0, 1])
        """
        slots = self.edge_slots
        ids = slots if self.edge_ids is None else self.edge_ids[slots]
        return self.rows[slots], self.indices[slots], self.weights[slots], ids


class DeferredGraph(DeferredArrays, Graph):
    """A graph whose arrays are computed, or copied from a device, on their first use."""

    def replace_unchecked(self, **changes: Any) -> Graph:
        """Return a copy with some attributes changed, without checks.

        Arrays that have not been loaded are not loaded, unless `indptr` or `indices` changes.
        """
        if changes.keys() & {"indptr", "indices"}:
            return super().replace_unchecked(**changes)
        graph = object.__new__(type(self))
        kept = {name: vars(self)[name] for name in vars(self) if name in _KEPT}
        vars(graph).update(kept | changes)
        if changes.keys() & self._deferred:
            vars(graph).update(_edge_list=None)
        return graph

    def __reduce__(self) -> Any:
        """Pickle the list of edges if the arrays are still to be computed from it.

        Otherwise pickle as a plain :class:`Graph`, which requires that all arrays are loaded.
        """
        if (edges := self.edge_list) is not None:
            labels, coordinates = self.vertex_labels, self.coordinates
            of_list = partial(DeferredGraph.of_edges, vertex_labels=labels, coordinates=coordinates)
            return of_list, (edges,)
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return partial(Graph.unchecked, **fields), ()


# The attributes that a copy of a graph takes over from it. Cached properties are left out, since
# their values may be wrong for the copy.
_KEPT = frozenset(DeferredArrays.__annotations__) | frozenset(Graph.__dataclass_fields__)
