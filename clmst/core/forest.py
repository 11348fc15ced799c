"""The result of every solve: a minimum (or maximum) spanning forest."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.core.deferred import Deferred
from clmst.core.weight_keys import Array

if TYPE_CHECKING:
    from clmst.core.dense_graph import DenseGraph
    from clmst.core.graph import Graph
    from clmst.core.points import Points
    from clmst.core.verify import Verification


@dataclass(frozen=True, kw_only=True, eq=False)
class Forest:
    """A spanning forest of a graph; its edges stand in the graph's canonical order.

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
        `algorithm`, `device`, `rounds`, ... and, where profiling was asked for, `profile`.
    vertex_labels : sequence or None
        The caller's names of the vertices, where they are not 0 .. n - 1.
    """

    n_vertices: int
    edges: Deferred[Array] = Deferred()
    weights: Array
    edge_ids: Array
    maximum: bool = False
    stats: Mapping[str, Any] = field(default_factory=dict)
    vertex_labels: Sequence[Hashable] | None = None

    @property
    def n_edges(self) -> int:
        """Number of edges of the forest."""
        return self.edge_ids.size

    def __getstate__(self) -> dict[str, Any]:
        """Have endpoints looked up: how to do so cannot be pickled."""
        return {**self.__dict__, "_edges": self.edges}

    @property
    def n_components(self) -> int:
        """Number of trees, isolated vertices counted."""
        return self.n_vertices - self.n_edges

    @cached_property
    def total_weight(self) -> int | float:
        """Sum of the weights: exact for integers, correctly rounded for floats."""
        return exact_sum(self.weights)

    @cached_property
    def labels(self) -> npt.NDArray[np.int32]:
        """The tree of each vertex, shape (n_vertices,), numbered by least vertex. O(n)."""
        from scipy.sparse.csgraph import connected_components

        return connected_components(self.to_scipy(), directed=False)[1]

    def to_scipy(self) -> Any:
        """Return a ``scipy.sparse.csr_array`` with each edge stored once, as [u, v] with u < v.

        Weights keep their dtype; a weight of zero is stored explicitly. SciPy's sparse arrays
        have no float16, so such weights come as float32.
        """
        from scipy import sparse

        weights, columns = self.weights, np.ascontiguousarray(self.edges[:, 1])
        if weights.dtype == np.float16:
            weights = weights.astype(np.float32)
        counts = np.bincount(self.edges[:, 0], minlength=self.n_vertices)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(self.edges.dtype)
        shape = (self.n_vertices, self.n_vertices)
        return sparse.csr_array((weights, columns, indptr), shape=shape)

    def to_networkx(self, weight: str = "weight") -> Any:
        """Return a ``networkx.Graph`` of all vertices, under the caller's names if any."""
        from clmst.core.optional import optional_import

        nx = optional_import("networkx", extra="networkx")
        names: Sequence[Hashable] = self.vertex_labels or range(self.n_vertices)
        tree = nx.Graph()
        tree.add_nodes_from(names)
        rows = zip(self.edges.tolist(), self.weights.tolist(), strict=True)
        tree.add_weighted_edges_from(((names[u], names[v], w) for (u, v), w in rows), weight=weight)
        return tree

    def verify(self, graph: Graph | DenseGraph | Points) -> Verification:
        """Check this forest against `graph` without any device; see :func:`clmst.verify`."""
        from clmst.core.verify import verify

        return verify(graph, self)

    def __repr__(self) -> str:
        kind = "maximum" if self.maximum else "minimum"
        return (
            f"Forest({kind}, n_vertices={self.n_vertices}, n_edges={self.n_edges}, "
            f"n_components={self.n_components}, total_weight={self.total_weight})"
        )


def exact_sum(weights: Array) -> int | float:
    """Sum `weights` exactly (bool and integers) or correctly rounded to float64 (floats)."""
    if weights.dtype.kind in "bui" and weights.dtype.itemsize <= 4:
        # Fewer than 2**32 of less than 2**32, or of at most 2**31 either way: neither overflows.
        return int(weights.sum(dtype=np.int64 if weights.dtype.kind == "i" else np.uint64))
    if weights.dtype.kind in "bu":
        return _sum_unsigned(weights.astype(np.uint64))
    if weights.dtype.kind == "i":
        sign = np.uint64(1 << 63)
        shifted = weights.astype(np.int64).view(np.uint64) ^ sign  # w + 2**63
        return _sum_unsigned(shifted) - (weights.size << 63)
    return _rounded_sum(weights)


def _rounded_sum(weights: Array) -> float:
    values = weights.astype(np.float64)
    special = values[~np.isfinite(values)]
    if special.size:
        with np.errstate(invalid="ignore"):
            return float(special.sum())  # an infinity, or NaN of both
    try:
        return math.fsum(values)
    except OverflowError:  # a partial sum left the range of float64; the sum itself may not
        total = sum(map(Fraction, values.tolist()), Fraction(0))
        try:
            return float(total)
        except OverflowError:
            return math.inf if total > 0 else -math.inf


def _sum_unsigned(words: npt.NDArray[np.uint64]) -> int:
    """Sum 64-bit words without overflow, halves apart; exact below 2**32 words."""
    low = int((words & np.uint64(0xFFFFFFFF)).sum(dtype=np.uint64))
    high = int((words >> np.uint64(32)).sum(dtype=np.uint64))
    return (high << 32) + low
