"""The oracle: Kruskal's algorithm, run by SciPy on the ranks of the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from clmst.core.arguments import check_bool
from clmst.core.coercion import as_listed, with_weight
from clmst.core.columns import WEIGHT
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest

if TYPE_CHECKING:
    from clmst.core.weight_keys import Array

_SCIPY_LIMIT = 2**31 - 1  # scipy.sparse.csgraph counts in int32


def kruskal(
    graph: Any, *, maximum: bool = False, symmetrize: bool = False, weight: Any = WEIGHT
) -> Forest:
    """Compute the minimum (or maximum) spanning forest on the host, in the simplest way.

    Every other algorithm must return exactly this forest. It shares no code with them: it sorts the
    weights themselves, not keys, and SciPy's Kruskal then runs on the rank of each edge. Ranks are
    distinct, so SciPy has no choice.

    Parameters
    ----------
    graph : Graph, or any other one that lies on the host
        As of :func:`clmst.minimum_spanning_forest`. Edges of complete graphs are listed.
    maximum : bool
        Take the heaviest edges instead of the lightest; ties still go to the lesser edge.
    symmetrize, weight
        As of :func:`clmst.minimum_spanning_forest`.

    Returns
    -------
    Forest
        ``edges`` are int32, ``edge_ids`` those of `graph`, ``weights`` in its dtype.

    Raises
    ------
    InvalidGraphError
        There is no graph, or it is malformed.
    InvalidArgumentError
        The graph has 2**31 vertices or edges, or more.

    Notes
    -----
    O(m log m) time, O(n + m) memory.
    """
    maximum = check_bool("maximum", maximum)
    graph = as_listed(with_weight(graph, weight), symmetrize=symmetrize)
    u, v, weights, ids = graph.edges()
    n = graph.n_vertices
    if max(n, u.size) > _SCIPY_LIMIT:
        raise InvalidArgumentError(
            f"the graph has {n} vertices and {u.size} edges; "
            f"the oracle takes up to 2**31 - 1 = {_SCIPY_LIMIT} of each"
        )
    order = _total_order(weights, maximum=maximum)
    chosen = np.sort(order[_forest_ranks(n, u, v, order)])
    return Forest(
        n_vertices=n,
        edges=np.column_stack((u[chosen], v[chosen])).astype(np.int32),
        weights=weights[chosen],
        edge_ids=ids[chosen],
        maximum=maximum,
        stats={"algorithm": "kruskal", "device": "host"},
        vertex_labels=graph.vertex_labels,
    )


def _total_order(weights: Array, *, maximum: bool) -> npt.NDArray[np.int64]:
    """Return the edges by (weight, edge), or by (weight descending, edge), the best one first.

    NumPy's comparison defines the order: -0.0 equals 0.0, and infinities are the extremes.
    """
    if not maximum:
        return np.argsort(weights, kind="stable")
    # Read backwards, a stable order of the mirrored edges falls in weight and rises in a tie.
    return weights.size - 1 - np.argsort(weights[::-1], kind="stable")[::-1]


def _forest_ranks(n: int, u: Array, v: Array, order: Array) -> npt.NDArray[np.int64]:
    """Return the ranks, counted from 0, of the edges of the unique forest."""
    m = order.size
    if m == 0:
        return np.zeros(0, np.int64)
    ranks = np.empty(m, np.int64)
    ranks[order] = np.arange(1, m + 1)  # from 1: for SciPy, a zero is no edge
    # Parallel edges are neighbours in canonical order; only the best of them can be in a forest.
    is_first = np.ones(m, bool)
    is_first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
    firsts = np.flatnonzero(is_first)
    best = np.minimum.reduceat(ranks, firsts).astype(np.float64)  # exact below 2**53
    columns = v[firsts].astype(np.int32)
    row_starts = np.searchsorted(u[firsts], np.arange(n + 1)).astype(np.int32)
    matrix = sparse.csr_array((best, columns, row_starts), shape=(n, n))
    return minimum_spanning_tree(matrix, overwrite=True).data.astype(np.int64) - 1
