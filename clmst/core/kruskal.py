"""Kruskal's algorithm on the host. It is the reference that all other solvers are compared with.

The work is done in compiled code of NumPy and SciPy. A stable sort orders the edges by (weight,
position). SciPy's spanning tree function then joins their ends. It gets distinct numbers in place
of the weights, in an order that its own sort does not change. A CSR matrix is solved without first
building a :class:`Graph`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import check_bool, unchecked
from clmst.core.canonical import lightest, stable_order
from clmst.core.coercion import as_listed, with_weight
from clmst.core.columns import WEIGHT
from clmst.core.errors import InvalidArgumentError, logger
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.route import host_merges_parallel

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_SCIPY_LIMIT = 2**31 - 1  # scipy.sparse.csgraph uses int32 indices
_UNSIGNED = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}
_WORD = 63  # number of bits of an int64 without its sign


@lasting("computing a spanning forest on the host")
def kruskal(
    graph: Any, *, maximum: bool = False, symmetrize: bool = False, weight: Any = WEIGHT,
    columns: Any = None,
) -> Forest:  # fmt: skip
    """Compute the minimum (or maximum) spanning forest on the host with Kruskal's algorithm.

    No device is used. Every other algorithm of clmst must return exactly this forest. The function
    shares no code with them: it compares the weights themselves, not integer keys.

    Parameters
    ----------
    graph : Graph, or any other graph on the host
        Any graph that :func:`clmst.minimum_spanning_forest` takes, except on devices. All pairs of
        a complete graph are listed.
    maximum : bool
        Compute the maximum spanning forest instead. Among equal weights the edge that is first in
        the canonical order is still preferred.
    symmetrize, weight, columns
        The same as in :func:`clmst.minimum_spanning_forest`.

    Returns
    -------
    Forest
        Its `edges` are int32, and its `weights` have the dtype of the graph.

    Raises
    ------
    InvalidGraphError
        The object is not a graph, or the graph is malformed.
    InvalidArgumentError
        The number of vertices plus twice the number of edges exceeds 2**31 - 1, or an argument has
        a wrong type.

    Notes
    -----
    O(m log m) time, O(n + m) memory.

    Source: J. B. Kruskal, "On the shortest spanning subtree of a graph and the traveling salesman
    problem", Proceedings of the American Mathematical Society 7, 1956.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> clmst.kruskal(graph).total_weight
    3
    """
    maximum = check_bool("maximum", maximum)
    listed: Graph = as_listed(with_weight(graph, weight, columns), symmetrize=symmetrize)
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
    """Build a :class:`Forest` from edges that the host has chosen, in canonical order.

    The graph has `n` vertices. Edge i is (u[i], v[i]), with ``weights[i]`` and the id ``ids[i]``.
    `maximum` says whether the forest is a maximum forest. `labels` are the labels of the vertices,
    or None.
    """
    edges = np.empty((u.size, 2), np.int32)
    edges[:, 0], edges[:, 1] = u, v
    return unchecked(
        Forest, n_vertices=n, _edges=edges, weights=weights, _edge_ids=ids, maximum=maximum,
        stats={"algorithm": "kruskal", "device": "host"}, vertex_labels=labels,
    )  # fmt: skip


def forest_positions(
    n: int, starts: Array, columns: Array, weights: Array, *, maximum: bool = False
) -> Array:
    """Compute a spanning forest, and return the positions of its CSR entries in ascending order.

    Parameters
    ----------
    n : int
        The number of vertices.
    starts, columns, weights : ndarray
        The arrays of the CSR. Every entry is an edge, whatever its direction. Self-loops and
        parallel edges are allowed. No weight may be NaN.
    maximum : bool
        Prefer heavy edges. Of equal weights the first entry wins in any case.

    Raises
    ------
    InvalidArgumentError
        There are more vertices and entries than SciPy can count.
    """
    logger.debug("algorithm kruskal on the host")
    m = columns.size
    if n + 2 * m > _SCIPY_LIMIT:
        raise InvalidArgumentError(
            f"the graph has {n} vertices and {m} edges; on the host, the number of vertices plus "
            f"twice the number of edges may be at most 2**31 - 1 = {_SCIPY_LIMIT}"
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
    """Build a CSR matrix for which SciPy's tree prefers edges in the given order.

    Returns the columns, the row starts and the data. The edges are given by `starts` and `columns`,
    a CSR of `n` rows, and `order` has their positions from the lightest to the heaviest. The data
    ascend, so SciPy's sort does not change their order. Each edge is divided into two by a new
    vertex, n + rank, where the rank is the edge's position in `order`. The first half of the edge
    is in one of the first n rows, and its data are negative. SciPy takes all first halves before
    any other, and they do not join any two of the first n vertices. The second half is in row
    n + rank.
    """
    m = order.size
    halves = np.empty(2 * m, np.int32)
    halves[order] = np.arange(n, n + m, dtype=np.int32)
    halves[m:] = columns[order]
    rows = np.arange(m - n, 2 * m + 1, dtype=np.int32)
    rows[: n + 1] = starts
    return halves, rows, np.arange(0.5 - m, m)


def _joining_ranks(n: int, columns: Array, starts: Array, data: Array) -> Array:
    """Compute SciPy's minimum spanning tree of a CSR matrix, and return the ranks of its edges.

    The matrix has `n` rows, and consists of `columns`, row `starts` and `data`. The rank of an
    entry is its place from 0 in the order of weights, and its data must be rank + 0.5, because
    SciPy would drop an entry of 0. Entries with negative data are auxiliary (see
    :func:`_subdivided`) and are not returned.
    """
    from scipy import sparse  # takes a quarter of a second
    from scipy.sparse.csgraph import minimum_spanning_tree

    joined = sparse.csr_array((data, columns, starts), shape=(n, n))
    found = minimum_spanning_tree(joined, overwrite=True).data
    ranks: Array = found[found > 0].astype(np.int64)
    return ranks


def forest_of_matrix(matrix: Any, *, maximum: bool) -> Forest | None:
    """Compute the forest of a matrix for which :func:`clmst.core.from_scipy.is_plain` is true.

    The result equals the forest of the graph that :meth:`clmst.Graph.from_scipy` builds: ``A[i,
    j]`` and ``A[j, i]`` are one edge with the lesser weight, and edge ids are positions of entries.
    O(m log m).

    Return None if a :class:`Graph` has to be built first. This is the case if the row starts or
    columns are invalid, a weight is NaN, or the two ends and the position of an entry do not fit
    into 63 bits together. It is also the case for maximum forests, unless the matrix is strictly
    upper triangular with strictly ascending columns: any other matrix may store an edge twice, and
    the lesser weight then counts.
    """
    if not _is_sound(matrix):
        return None
    n, m = matrix.shape[0], matrix.indices.size
    end_bits, entry_bits = (n - 1).bit_length(), (m - 1).bit_length()
    if 2 * end_bits + entry_bits > _WORD:
        return None
    indptr, columns, data = matrix.indptr, matrix.indices, matrix.data
    rows = np.arange(n).repeat(indptr[1:] - indptr[:-1])
    pairs = rows << end_bits
    pairs |= columns
    if (columns > rows).all() and (pairs[1:] > pairs[:-1]).all():
        ids = forest_positions(n, indptr, columns, data, maximum=maximum)
        return forest_of_edges(n, rows[ids], columns[ids], data[ids], ids, maximum=maximum)
    if maximum:
        return None
    words = np.minimum(rows, columns) << end_bits
    words |= np.maximum(rows, columns)
    words <<= entry_bits
    words |= np.arange(m)
    words.sort()
    entries = words & ((1 << entry_bits) - 1)
    words >>= entry_bits
    pairs = words
    if host_merges_parallel(m):  # for few entries, the solve finds the lightest of each pair
        repeats = np.zeros(m, np.bool_)
        np.equal(words[1:], words[:-1], out=repeats[1:])
        if repeats.any():
            kept = lightest(repeats, entries, data)
            pairs, entries = words[kept], entries[kept]
    u, v = pairs >> end_bits, pairs & ((1 << end_bits) - 1)
    weights = data[entries]
    starts = u.searchsorted(np.arange(n + 1))
    at = forest_positions(n, starts, v, weights)
    return forest_of_edges(n, u[at], v[at], weights[at], entries[at], maximum=False)


def entries_of_matrix(matrix: Any, *, maximum: bool = False) -> Array | None:
    """Compute the forest of a CSR matrix, and return the positions of its entries, ascending.

    :func:`clmst.core.from_scipy.is_plain` must be true of the matrix. `maximum` asks for the
    maximum spanning forest. Of entries with equal weights, the one that is stored first is
    preferred. Return None if the row starts or columns are invalid, or a weight is NaN.
    """
    if not _is_sound(matrix):
        return None
    n = matrix.shape[0]
    return forest_positions(n, matrix.indptr, matrix.indices, matrix.data, maximum=maximum)


def _is_sound(matrix: Any) -> bool:
    """Return whether the row starts and columns of a matrix are valid, and no weight is NaN."""
    indptr, columns = matrix.indptr, matrix.indices
    return bool(
        indptr[0] == 0
        and indptr[-1] == columns.size
        and (indptr[1:] >= indptr[:-1]).all()
        and columns.view(_UNSIGNED[columns.dtype]).max() < matrix.shape[0]
        and not (matrix.data.dtype.kind == "f" and np.isnan(matrix.data.min()))
    )
