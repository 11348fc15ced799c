"""The result of every solve: a minimum (or maximum) spanning forest."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from clmst.core.paths import RootedForest
    from clmst.core.verification import Verification


def _check_array(name: str, array: object) -> None:
    check_kind(name, array, np.ndarray, rule="it must be an array")


@dataclass(frozen=True, kw_only=True, eq=False)
class Forest:
    """A spanning forest of a graph; its edges are in the graph's canonical order.

    Two forests are equal if they have the same vertices with the same labels, the same edges, edge
    ids and weights of one dtype, and both are minimum or both maximum; `stats` do not count. Equal
    forests have equal hashes.

    Attributes
    ----------
    n_vertices : int
        Vertices of the graph, isolated ones included.
    edges : ndarray of int, shape (k, 2)
        Endpoints, the lesser first.
    weights : ndarray, shape (k,)
        In the dtype of the input.
    edge_ids : ndarray of int, shape (k,)
        Positions in the caller's input.
    maximum : bool
        Whether this is a maximum spanning forest.
    stats : mapping
        `algorithm`, `device`, `rounds`, ... and, with profiling, `profile`.
    vertex_labels : sequence or None
        The caller's names of the vertices, if they are not 0 .. n - 1.
    """

    n_vertices: int
    edges: LazyField[Array] = LazyField(partial(_check_array, "edges"))
    weights: Array
    edge_ids: LazyField[Array] = LazyField(partial(_check_array, "edge_ids"))
    maximum: bool = False
    stats: Mapping[str, Any] = field(default_factory=dict)
    vertex_labels: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        """Check kinds; :func:`clmst.verify` tells whether the arrays are a forest."""
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
        """Look up endpoints and ids first: the functions that do so cannot be pickled."""
        return {**self.__dict__, "_edges": self.edges, "_edge_ids": self.edge_ids}

    @property
    def n_components(self) -> int:
        """Number of trees, isolated vertices counted."""
        return self.n_vertices - self.n_edges

    @cached_property
    def total_weight(self) -> int | float:
        """Sum of the weights: exact for integers, correctly rounded for floats."""
        check_dtype(self.weights.dtype)
        if self.weights.ndim != 1:
            raise InvalidForestError(
                f"weights have shape {self.weights.shape}; there must be one for each edge"
            )
        return exact_sum(self.weights)

    @cached_property
    def labels(self) -> npt.NDArray[np.int32]:
        """The tree of each vertex, shape (n_vertices,), numbered by least vertex. O(n)."""
        from clmst.core.paths import components

        return components(self.n_vertices, *self.checked_edges().T)[1]

    @cached_property
    def _rooted(self) -> RootedForest:
        """The trees from their roots. O(n) the first time."""
        from clmst.core.paths import RootedForest

        return RootedForest.of(self.n_vertices, self.checked_edges(), self.labels)

    @cached_property
    def _names(self) -> Sequence[Hashable]:
        """The labels, hashable and distinct. O(n) the first time."""
        return hashable_labels(self.vertex_labels, self.n_vertices)

    @cached_property
    def _numbers(self) -> Mapping[Hashable, int]:
        """The vertex of each label. O(n) the first time."""
        return {name: vertex for vertex, name in enumerate(self._names)}

    def parents(self) -> npt.NDArray[np.int32]:
        """Return the parent of each vertex, shape (n_vertices,), where least vertices are roots.

        A root has the parent -1. Vertices are numbers, whatever their labels. O(n) the first time.

        Raises
        ------
        InvalidForestError
            As :meth:`to_scipy`.
        """
        return self._rooted.parents.copy()

    def path(self, u: Hashable, v: Hashable) -> list[Hashable]:
        """Return the vertices on the path from u to v in their tree, both ends included.

        Empty if they are in different trees. No path of the graph between the two has a lesser
        greatest weight (of a maximum forest: a greater least one).

        Parameters
        ----------
        u, v : hashable
            Vertices by their labels; by their numbers where there are no `vertex_labels`.

        Raises
        ------
        InvalidArgumentError
            There is no such vertex, or labels are not distinct.
        InvalidForestError
            As :meth:`to_scipy`.

        Notes
        -----
        O(n) the first time, then O(length of both ways to the root).
        """
        vertices = self._rooted.path(self._number("u", u), self._number("v", v))
        return [self._names[vertex] for vertex in vertices]

    def _number(self, name: str, vertex: Any) -> int:
        """Return the number of a vertex that a caller names."""
        if self.vertex_labels is None:
            return check_integer(name, vertex, low=0, high=self.n_vertices - 1)
        try:
            return self._numbers[vertex]
        except (KeyError, TypeError) as error:
            raise InvalidArgumentError(
                f"{name} is {shown(vertex)}; it must be one of the vertex_labels"
            ) from error

    def checked_edges(self) -> Array:
        """Return the edges; raise unless the arrays are consistent. O(k)."""
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
        """Return a ``scipy.sparse.csr_array`` with each edge stored once, as [u, v] with u < v.

        Weights keep their dtype; a weight of zero is stored explicitly. SciPy's sparse arrays have
        no float16, so such weights become float32.

        Raises
        ------
        InvalidForestError
            The arrays are no forest: different numbers of edges and weights, or an endpoint out of
            range.
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
        """Check this forest against `graph` without any device; see :func:`clmst.verify`."""
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
        """Return what a notebook shows: sizes, and a small picture of a small forest."""
        from clmst.drawing.thumbnail import html_of_forest

        return html_of_forest(self)

    def __repr__(self) -> str:
        kind = "maximum" if self.maximum else "minimum"
        return (
            f"Forest({kind}, n_vertices={self.n_vertices}, n_edges={self.n_edges}, "
            f"n_components={self.n_components}, total_weight={self.total_weight})"
        )


def _same_labels(one: Any, other: Any) -> bool:
    if one is other or one is None or other is None:
        return one is other
    return all(as_tuple(a) == as_tuple(b) for a, b in zip(one, other, strict=True))


def exact_sum(weights: Array) -> int | float:
    """Sum weights: exactly bool and integers, correctly rounded to float64 floats."""
    if is_float(weights.dtype):
        return _rounded_sum(weights)
    wide = np.int64 if weights.dtype.kind == "i" else np.uint64
    if weights.dtype.itemsize <= 4:
        # Fewer than 2**32 of less than 2**32, or of at most 2**31 either way: neither overflows.
        return int(weights.sum(dtype=wide))
    # By halves of words; the upper one has the sign.
    low, high = weights & weights.dtype.type(2**32 - 1), weights >> weights.dtype.type(32)
    return (int(high.sum(dtype=wide)) << 32) + int(low.sum(dtype=np.uint64))


def _rounded_sum(weights: Array) -> float:
    values = weights.astype(np.float64)
    special = values[~np.isfinite(values)]
    if special.size:
        with np.errstate(invalid="ignore"):
            return float(special.sum())  # an infinity, or NaN of both
    try:
        return math.fsum(values)
    except OverflowError:  # in a partial sum; the sum itself may be in range
        total = sum(map(Fraction, values.tolist()), Fraction(0))
        try:
            return float(total)
        except OverflowError:
            return math.inf if total > 0 else -math.inf
