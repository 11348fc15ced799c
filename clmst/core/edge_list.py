"""A list of edges as the caller has it, and the canonical arrays that the host makes of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from clmst.core import csr
from clmst.core.lazy import LazyProperty
from clmst.core.weight_keys import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeList:
    """Edges that have been checked; the arrays are the caller's, where he has such.

    Attributes
    ----------
    u, v : ndarray of int, shape (m,)
        Ends.
    weights : ndarray, shape (m,)
        Of a supported dtype.
    n_vertices : int
    merge_parallel : bool
        Whether only the lightest of parallel edges counts.
    lock : threading.RLock
        Held by a thread that makes the canonical arrays.
    """

    u: Array
    v: Array
    weights: Array
    n_vertices: int
    merge_parallel: bool
    lock: Any = field(default_factory=threading.RLock, repr=False)

    @property
    def size(self) -> int:
        """Number of edges."""
        return self.u.size

    @LazyProperty
    def canonical(self) -> dict[str, Any]:
        """The arrays of the edges in canonical order. O(n + m), by two counting sorts.

        Raises
        ------
        InvalidGraphError
            An end is no vertex: the caller has changed it since it was checked.
        """
        csr.check_range(self.u, self.n_vertices, "u")
        csr.check_range(self.v, self.n_vertices, "v")
        upper = csr.upper_from_edges(self.n_vertices, self.u, self.v)
        if self.merge_parallel:
            upper = csr.merge_parallel(upper, self.weights)
        return arrays_of(upper, self.weights)


def arrays_of(upper: csr.Pattern, weights: Array) -> dict[str, Any]:
    """Return the arrays of a graph by name, of a pattern that has each edge once."""
    return {
        "indptr": upper.indptr,
        "indices": upper.indices,
        "weights": weights[upper.positions],
        "edge_ids": upper.positions,
    }
