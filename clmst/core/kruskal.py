"""The host's solver, and the oracle: Kruskal's algorithm in the compiled parts of NumPy and SciPy.

Edges are sorted by (weight, position), stably. SciPy's function then joins their ends, in an order
that leaves it nothing to choose or to sort.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from clmst.core.arguments import check_bool, unchecked
from clmst.core.canonical import stable_order
from clmst.core.coercion import as_listed, with_weight
from clmst.core.columns import WEIGHT
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest

if TYPE_CHECKING:
    from clmst.core.graph import Graph
    from clmst.core.weight_keys import Array

_SCIPY_LIMIT = 2**31 - 1  # scipy.sparse.csgraph counts in int32


def kruskal(
    graph: Any, *, maximum: bool = False, symmetrize: bool = False, weight: Any = WEIGHT
) -> Forest:
    """Compute the minimum (or maximum) spanning forest on the host.

    Every other algorithm must return exactly this forest. It shares no code with them: it compares
    the weights themselves, not keys.

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
        The vertices and twice the edges are more than 2**31 - 1 together.

    Notes
    -----
    O(m log m) time, O(n + m) memory.
    """
    maximum = check_bool("maximum", maximum)
    listed: Graph = as_listed(with_weight(graph, weight), symmetrize=symmetrize)
    n = listed.n_vertices
    u, v, weights, ids = listed.edges()
    starts = np.searchsorted(u, np.arange(n + 1))
    chosen = forest_positions(n, starts, v, weights, maximum=maximum)
    return forest_of_edges(
        n, u[chosen], v[chosen], weights[chosen], ids[chosen],
        maximum=maximum, labels=listed.vertex_labels,
    )  # fmt: skip


def forest_of_edges(
    n: int, u: Array, v: Array, weights: Array, ids: Array, *, maximum: bool, labels: Any = None
) -> Forest:
    """Return a forest that the host has found, of its edges in canonical order."""
    edges = np.empty((u.size, 2), np.int32)
    edges[:, 0], edges[:, 1] = u, v
    return unchecked(
        Forest, n_vertices=n, _edges=edges, weights=weights, edge_ids=ids, maximum=maximum,
        stats={"algorithm": "kruskal", "device": "host"}, vertex_labels=labels,
    )  # fmt: skip


def forest_positions(
    n: int, starts: Array, columns: Array, weights: Array, *, maximum: bool = False
) -> Array:
    """Return the entries of a CSR that are the forest, rising; of equal weights the first wins.

    Every entry is an edge, in whatever direction; loops and parallel edges are allowed. No weight
    is NaN. Raise if there are more vertices and entries than SciPy counts.
    """
    m = columns.size
    if n + 2 * m > _SCIPY_LIMIT:
        raise InvalidArgumentError(
            f"the graph has {n} vertices and {m} edges; on the host, vertices and twice the edges "
            f"may be 2**31 - 1 = {_SCIPY_LIMIT} together"
        )
    if m == 0:
        return np.zeros(0, np.int64)
    falls = weights[1:] > weights[:-1] if maximum else weights[1:] < weights[:-1]
    if not falls.any():
        ends = (columns.astype(np.int32), starts.astype(np.int32))
        return _joining_ranks(n, *ends, np.arange(0.5, m))
    order = stable_order(weights, descending=maximum)
    chosen: Array = order[_joining_ranks(n + m, *_subdivided(n, starts, columns, order))]
    chosen.sort()
    return chosen


def _subdivided(n: int, starts: Array, columns: Array, order: Array) -> tuple[Array, Array, Array]:
    """Return columns, starts and data of a CSR whose entries rise, so that no sort moves them.

    Each edge gets a vertex in its middle, n + rank. Entries of the first n rows lead to these and
    come first: they join nothing else. Row n + rank then has the edge's other end.
    """
    m = order.size
    halves = np.empty(2 * m, np.int32)
    halves[order] = np.arange(n, n + m, dtype=np.int32)
    halves[m:] = columns[order]
    rows = np.arange(m - n, 2 * m + 1, dtype=np.int32)
    rows[: n + 1] = starts
    return halves, rows, np.arange(0.5 - m, m)


def _joining_ranks(n: int, columns: Array, starts: Array, data: Array) -> Array:
    """Return the ranks, from 0, of the entries that SciPy takes; their data are rank + 0.5.

    No datum is 0, which SciPy would drop. Entries below 0 are not counted.
    """
    joined = sparse.csr_array((data, columns, starts), shape=(n, n))
    found = minimum_spanning_tree(joined, overwrite=True).data
    ranks: Array = found[found > 0].astype(np.int64)
    return ranks
