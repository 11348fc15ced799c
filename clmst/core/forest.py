"""The result of every solve: a minimum or maximum spanning forest."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from clmst.core import cluster_methods, forest_tables, networkx_graphs
from clmst.core.arguments import (
    check_bool,
    check_integer,
    check_kind,
    check_mapping,
    shown,
)
from clmst.core.columns import WEIGHT
from clmst.core.errors import InvalidArgumentError, InvalidForestError
from clmst.core.graph_checks import MAX_VERTICES, check_labels
from clmst.core.lazy import LazyField
from clmst.core.vertex_names import as_tuple, hashable_labels
from clmst.core.weight_keys import Array, check_dtype, is_float
from clmst.route import Way

if TYPE_CHECKING:
    from clmst.core.paths import RootedForest
    from clmst.core.verification import Verification


# The type of a Forest, of a forest on a device, or of a tree from which a Forest is created.
AnyForest = TypeVar("AnyForest")


def routed(forest: AnyForest, way: Way) -> AnyForest:
    """Store how a forest was found as ``stats["route"]`` of the forest, and return the forest.

    `way` is a record of the algorithm or the kernels that were chosen, with the reason. The
    forest's dictionary `stats` is changed, so no other forest may share it.
    """
    found: Any = forest
    found.stats["route"] = way.as_stats()
    return forest


def _check_array(name: str, array: object) -> None:
    """Raise InvalidArgumentError unless `array`, the attribute called `name`, is a NumPy array."""
    check_kind(name, array, np.ndarray, rule="it must be an array")


@dataclass(frozen=True, kw_only=True, eq=False)
class Forest:
    """A spanning forest of a graph. Its edges are in the graph's canonical order.

    The functions of clmst return forests; programs rarely create them. Two forests are equal if
    they have the same vertices with the same labels, the same edges, edge ids and weights, weights
    of the same dtype, and both are minimum or both maximum. `stats` are not compared. Equal forests
    have equal hashes.

    Attributes
    ----------
    n_vertices : int
        The number of vertices of the graph, including isolated ones.
    edges : ndarray of int, shape (k, 2)
        The two ends of each edge as vertex numbers, the lesser one first.
    weights : ndarray, shape (k,)
        The weight of each edge, in the dtype of the input.
    edge_ids : ndarray of int, shape (k,)
        The position of each edge in the caller's input.
    maximum : bool
        Whether this is a maximum spanning forest.
    stats : mapping
        Facts about the solve, such as `algorithm`, `device` and `rounds`; with profiling also
        `profile`. `route` says how the forest was found: the name of the way (`record`), its form
        (`variant`), and the facts that decided (`because`). docs/algorithms.md lists the ways.
    vertex_labels : sequence or None
        The caller's names of the vertices, or None if they are 0 to n - 1.

    Raises
    ------
    InvalidArgumentError
        An attribute has a wrong type.
    InvalidGraphError
        There is not one label for each vertex.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> forest = clmst.minimum_spanning_forest(graph)
    >>> forest.edges.tolist(), forest.weights.tolist(), forest.edge_ids.tolist()
    ([[0, 2], [1, 2]], [2, 1], [2, 1])
    >>> forest.total_weight
    3
    """

    n_vertices: int
    edges: LazyField[Array] = LazyField(partial(_check_array, "edges"))
    weights: Array
    edge_ids: LazyField[Array] = LazyField(partial(_check_array, "edge_ids"))
    maximum: bool = False
    stats: Mapping[str, Any] = field(default_factory=dict)
    vertex_labels: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        """Check the types of the attributes.

        :func:`clmst.verify` checks whether they form a forest.
        """
        n_vertices = check_integer("n_vertices", self.n_vertices, low=0, high=MAX_VERTICES)
        object.__setattr__(self, "n_vertices", n_vertices)
        _check_array("weights", self.weights)
        check_bool("maximum", self.maximum)
        check_mapping("stats", self.stats)
        check_labels(self.vertex_labels, self.n_vertices)

    @property
    def n_edges(self) -> int:
        """Number of edges of the forest."""
        return self.weights.size

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, after computing edges and edge ids that were not read yet.

        The functions that compute them later cannot be pickled.
        """
        return {**self.__dict__, "_edges": self.edges, "_edge_ids": self.edge_ids}

    @property
    def n_components(self) -> int:
        """Number of trees. Every isolated vertex is a tree."""
        return self.n_vertices - self.n_edges

    @cached_property
    def total_weight(self) -> int | float:
        """Sum of the weights, exact for integers and correctly rounded for floats.

        The sum is an int for bool and integer weights, otherwise a float. O(k) the first time.
        """
        check_dtype(self.weights.dtype)
        if self.weights.ndim != 1:
            raise InvalidForestError(
                f"weights have shape {self.weights.shape}; there must be one for each edge"
            )
        return exact_sum(self.weights)

    @cached_property
    def labels(self) -> npt.NDArray[np.int32]:
        """The tree of each vertex, shape (n_vertices,).

        Trees are numbered from 0 in the order of their least vertices. O(n) the first time.

        Raises
        ------
        InvalidForestError
            The arrays contradict each other, as in :meth:`to_scipy`.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 1, 0, 3], [1, 2, 2, 4], [3, 1, 2, 1])
        >>> clmst.minimum_spanning_forest(graph).labels
        array([0, 0, 0, 1, 1], dtype=int32)
        """
        from clmst.core.paths import components

        return components(self.n_vertices, *self.checked_edges().T)[1]

    @cached_property
    def _rooted(self) -> RootedForest:
        """The trees of the forest, with a parent pointer for each vertex. O(n) the first time."""
        from clmst.core.paths import RootedForest

        return RootedForest.of(self.n_vertices, self.checked_edges(), self.labels)

    @cached_property
    def _names(self) -> Sequence[Hashable]:
        """The labels of the vertices in a hashable form. O(n) the first time.

        Raises InvalidArgumentError if two labels are equal.
        """
        return hashable_labels(self.vertex_labels, self.n_vertices)

    @cached_property
    def _numbers(self) -> Mapping[Hashable, int]:
        """The vertex number of each label. O(n) the first time."""
        return {name: vertex for vertex, name in enumerate(self._names)}

    def parents(self) -> npt.NDArray[np.int32]:
        """Return the parent of each vertex if each tree is rooted at its least vertex.

        Returns
        -------
        ndarray of int32, shape (n_vertices,)
            Vertex numbers, even if the vertices have labels. The parent of a root is -1.

        Raises
        ------
        InvalidForestError
            The arrays contradict each other, as in :meth:`to_scipy`.

        Notes
        -----
        O(n) time.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
        >>> clmst.minimum_spanning_forest(graph).parents()
        array([-1,  2,  0], dtype=int32)
        """
        return self._rooted.parents.copy()

    def path(self, u: Hashable, v: Hashable) -> list[Hashable]:
        """Return the vertices on the path from u to v in their tree, both ends included.

        The path is a bottleneck path: no other path of the graph between u and v has a lighter
        heaviest edge. In a maximum spanning forest no other path has a heavier lightest edge.

        Parameters
        ----------
        u, v : hashable
            Vertices, given by their labels, or by their numbers if `vertex_labels` is None.

        Returns
        -------
        list
            The vertices in the same form. The list is empty if u and v are in different trees.

        Raises
        ------
        InvalidArgumentError
            A label or number is not a vertex, or the labels are not distinct.
        InvalidForestError
            The arrays contradict each other, as in :meth:`to_scipy`.

        Notes
        -----
        The first call takes O(n) time. Every call takes time proportional to the distances of both
        vertices to their root.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
        >>> clmst.minimum_spanning_forest(graph).path(0, 1)
        [0, 2, 1]
        """
        vertices = self._rooted.path(self._number("u", u), self._number("v", v))
        return [self._names[vertex] for vertex in vertices]

    def _number(self, name: str, vertex: Any) -> int:
        """Return the number of the vertex that a caller gives as the argument `name`.

        `vertex` is the vertex's label, or its number if the forest does not have labels. Raise
        InvalidArgumentError, with `name` in the message, if the vertex does not exist.
        """
        if self.vertex_labels is None:
            return check_integer(name, vertex, low=0, high=self.n_vertices - 1)
        try:
            return self._numbers[vertex]
        except (KeyError, TypeError) as error:
            raise InvalidArgumentError(
                f"{name} is {shown(vertex)}; it must be one of the vertex_labels"
            ) from error

    def checked_edges(self) -> Array:
        """Check that the attributes `edges` and `weights` fit each other, and return `edges`. O(k).

        Raise InvalidForestError if their lengths differ, if a dtype is wrong, or if an end is not a
        vertex.
        """
        edges, k = self.edges, self.weights.size
        if edges.shape != (k, 2) or self.weights.ndim != 1 or edges.dtype.kind not in "iu":
            raise InvalidForestError(
                f"edges have shape {edges.shape} and dtype {edges.dtype}, weights have shape "
                f"{self.weights.shape}; they must be (k, 2) of integers, and (k,)"
            )
        check_dtype(self.weights.dtype)
        if k and not 0 <= int(edges.min()) <= int(edges.max()) < self.n_vertices:
            raise InvalidForestError(
                f"edges join vertices from {edges.min()} to {edges.max()} where there are "
                f"{self.n_vertices}; all must be from 0 to below {self.n_vertices}"
            )
        return edges

    def to_scipy(self) -> Any:
        """Return the forest as a ``scipy.sparse.csr_array`` that stores each edge once.

        The edge (u, v), u < v, is stored in row u and column v. Weights keep their dtype, except
        that float16 becomes float32, because SciPy's sparse arrays do not support float16. A weight
        of zero is stored explicitly.

        Returns
        -------
        scipy.sparse.csr_array, shape (n_vertices, n_vertices)

        Raises
        ------
        InvalidForestError
            The arrays contradict each other: the numbers of edges and weights differ, or an end is
            not a vertex.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
        >>> clmst.minimum_spanning_forest(graph).to_scipy().toarray()
        array([[0, 0, 2],
               [0, 0, 1],
               [0, 0, 0]])
        """
        from scipy import sparse

        edges = self.checked_edges()
        weights, columns = self.weights, np.ascontiguousarray(edges[:, 1])
        if weights.dtype == np.float16:
            weights = weights.astype(np.float32)
        counts = np.bincount(edges[:, 0], minlength=self.n_vertices)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(edges.dtype)
        shape = (self.n_vertices, self.n_vertices)
        return sparse.csr_array((weights, columns, indptr), shape=shape)

    linkage = cluster_methods.linkage
    cut = cluster_methods.cut
    dendrogram_to_networkx = cluster_methods.dendrogram_to_networkx
    to_networkx = networkx_graphs.to_networkx
    to_pandas = forest_tables.to_pandas
    to_arrow = forest_tables.to_arrow
    to_polars = forest_tables.to_polars
    rows = forest_tables.rows

    def verify(
        self, graph: Any, *, symmetrize: bool = False, weight: Any = WEIGHT, columns: Any = None
    ) -> Verification:
        """Check on the host that this is the forest of `graph`; see :func:`clmst.verify`.

        Parameters
        ----------
        graph, symmetrize, weight, columns
            The same as in :func:`clmst.verify`.

        Returns
        -------
        Verification
            True in a boolean context if the forest is right.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
        >>> clmst.minimum_spanning_forest(graph).verify(graph).ok
        True
        """
        from clmst.core.verification import verified

        return verified(graph, self, symmetrize=symmetrize, weight=weight, columns=columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Forest):
            return NotImplemented
        return (
            (self.n_vertices, self.n_edges, self.maximum, self.weights.dtype)
            == (other.n_vertices, other.n_edges, other.maximum, other.weights.dtype)
            and np.array_equal(self.edge_ids, other.edge_ids)
            and np.array_equal(self.edges, other.edges)
            and np.array_equal(self.weights, other.weights)
            and _same_labels(self.vertex_labels, other.vertex_labels)
        )

    def __hash__(self) -> int:
        return hash((self.n_vertices, self.n_edges, self.maximum))

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: sizes, and a picture if the forest is small."""
        from clmst.drawing.thumbnail import html_of_forest

        return html_of_forest(self)

    def __repr__(self) -> str:
        kind = "maximum" if self.maximum else "minimum"
        return (
            f"Forest({kind}, n_vertices={self.n_vertices}, n_edges={self.n_edges}, "
            f"n_components={self.n_components}, total_weight={self.total_weight})"
        )


def _same_labels(one: Any, other: Any) -> bool:
    """Return whether `one` and `other` are equal. Both are sequences of labels, or None."""
    if one is other or one is None or other is None:
        return one is other
    return all(as_tuple(a) == as_tuple(b) for a, b in zip(one, other, strict=True))


def exact_sum(weights: Array) -> int | float:
    """Sum weights: exactly for bool and integers, correctly rounded to float64 for floats."""
    if is_float(weights.dtype):
        return _rounded_sum(weights)
    wide = np.int64 if weights.dtype.kind == "i" else np.uint64
    if weights.dtype.itemsize <= 4:
        # Fewer than 2**32 weights, each below 2**32 (or within 2**31 of 0), cannot overflow 64
        # bits.
        return int(weights.sum(dtype=wide))
    # The upper and lower halves are summed separately. The upper half has the sign.
    low, high = weights & weights.dtype.type(2**32 - 1), weights >> weights.dtype.type(32)
    return (int(high.sum(dtype=wide)) << 32) + int(low.sum(dtype=np.uint64))


def _rounded_sum(weights: Array) -> float:
    """Sum the floats `weights` with a single rounding. Infinities of both signs give NaN."""
    values = weights.astype(np.float64)
    special = values[~np.isfinite(values)]
    if special.size:
        with np.errstate(invalid="ignore"):
            return float(special.sum())  # an infinity, or NaN if both infinities occur
    try:
        return math.fsum(values)
    except OverflowError:  # a partial sum overflowed; the total may be in range
        total = sum(map(Fraction, values.tolist()), Fraction(0))
        try:
            return float(total)
        except OverflowError:
            return math.inf if total > 0 else -math.inf
