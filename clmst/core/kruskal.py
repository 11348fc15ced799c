"""The host's solver, and the oracle: Kruskal's algorithm in the compiled parts of NumPy and SciPy.

Edges are sorted by (weight, position), stably. SciPy's function then joins their ends, in an order
that leaves it nothing to choose or to sort. The arrays of a CSR matrix are solved as they are,
without a graph made of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from clmst.core.arguments import check_bool, unchecked
from clmst.core.canonical import lightest, stable_order
from clmst.core.coercion import as_listed, with_weight
from clmst.core.columns import WEIGHT
from clmst.core.errors import InvalidArgumentError, logger
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array, weight_kind_or_none
from clmst.route import host_merges_parallel

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_SCIPY_LIMIT = 2**31 - 1  # scipy.sparse.csgraph counts in int32
CSR_CLASSES = (sparse.csr_array, sparse.csr_matrix)
_UNSIGNED = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}
_PROBES = 4
_WORD = 63  # bits of a signed word that are not the sign


@lasting("computing a spanning forest on the host")
def kruskal(
    graph: Any, *, maximum: bool = False, symmetrize: bool = False, weight: Any = WEIGHT,
    columns: Any = None,
) -> Forest:  # fmt: skip
    """Compute the minimum (or maximum) spanning forest on the host.

    Every other algorithm must return exactly this forest. It shares no code with them: it compares
    the weights themselves, not keys.

    Parameters
    ----------
    graph : Graph, or any other one that lies on the host
        As of :func:`clmst.minimum_spanning_forest`. Edges of complete graphs are listed.
    maximum : bool
        Take the heaviest edges instead of the lightest; ties still go to the lesser edge.
    symmetrize, weight, columns
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
    """Return a forest that the host has found, of its edges in canonical order."""
    edges = np.empty((u.size, 2), np.int32)
    edges[:, 0], edges[:, 1] = u, v
    return unchecked(
        Forest, n_vertices=n, _edges=edges, weights=weights, _edge_ids=ids, maximum=maximum,
        stats={"algorithm": "kruskal", "device": "host"}, vertex_labels=labels,
    )  # fmt: skip


def forest_positions(
    n: int, starts: Array, columns: Array, weights: Array, *, maximum: bool = False
) -> Array:
    """Return the entries of a CSR that are the forest, rising; of equal weights the first wins.

    Every entry is an edge, in whatever direction; loops and parallel edges are allowed. No weight
    is NaN. Raise if there are more vertices and entries than SciPy counts.
    """
    logger.debug("algorithm kruskal on the host")
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


def is_plain(matrix: Any) -> bool:
    """Return whether an object is a CSR matrix of arrays that fit one another, not their values."""
    if type(matrix) not in CSR_CLASSES:
        return False
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if not type(indptr) is type(indices) is type(data) is np.ndarray:
        return False
    n, n_columns = matrix.shape
    return (
        0 < n == n_columns
        and indptr.dtype == indices.dtype
        and indices.dtype in _UNSIGNED
        and indptr.shape == (n + 1,)
        and indices.shape == data.shape == (indices.size,)
        and indices.size > 0
        and data.dtype.isnative
        and indptr.flags.c_contiguous
        and indices.flags.c_contiguous
        and data.flags.c_contiguous
        and weight_kind_or_none(data.dtype) is not None
    )


def forest_of_matrix(matrix: Any, *, maximum: bool) -> Forest | None:
    """Return the forest of a plain matrix; None where :meth:`clmst.Graph.from_scipy` has to look.

    It is the forest of the graph which that makes: ``A[i, j]`` and ``A[j, i]`` are one edge, with
    the lesser weight, and edge ids are entries of the matrix. O(m log m); two sorts of words.

    None where its values contradict one another, a weight is NaN, or both ends and the entry of an
    edge do not fit 63 bits; and for the maximum forest of any but a strictly upper triangle, since
    some forms have parallel edges and others do not.
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
    if host_merges_parallel(m):  # of few, the solve finds the lightest of a pair
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
    """Return the entries of a plain matrix that are its forest, rising.

    Of equal weights the first entry wins, whatever its ends. None where values contradict one
    another, or a weight is NaN.
    """
    if not _is_sound(matrix):
        return None
    n = matrix.shape[0]
    return forest_positions(n, matrix.indptr, matrix.indices, matrix.data, maximum=maximum)


def seems_canonical(matrix: Any) -> bool:
    """Return whether a few entries of a plain matrix do not show that it has to be sorted.

    They do where rows fall, or an entry below the diagonal has no equal one above it, or the other
    way round. Nothing is checked before: any answer is a guess.
    """
    # Of the first two, views whose numbers are Python's: NumPy's own would take 5 us an entry.
    indptr, columns, data = matrix.indptr.data, matrix.indices.data, matrix.data
    n, m = len(indptr) - 1, data.size
    mirrored = set()
    for entry in range(m // (2 * _PROBES), m, m // _PROBES + 1):
        row, column = bisect_right(indptr, entry) - 1, columns[entry]
        if row < 0 or column == row or not 0 <= column < n:
            continue
        if row < n and entry > indptr[row] and columns[entry - 1] >= column:
            return False
        first, last = max(indptr[column], 0), min(indptr[column + 1], m)
        mirror = bisect_left(columns, row, first, max(first, last))
        is_twice = mirror < last and columns[mirror] == row
        if (is_twice and data[mirror] != data[entry]) or (column < row and not is_twice):
            return False
        mirrored.add(is_twice)
    return len(mirrored) < 2


def _is_sound(matrix: Any) -> bool:
    """Return whether the values of a plain matrix are those of a graph."""
    indptr, columns = matrix.indptr, matrix.indices
    return bool(
        indptr[0] == 0
        and indptr[-1] == columns.size
        and (indptr[1:] >= indptr[:-1]).all()
        and columns.view(_UNSIGNED[columns.dtype]).max() < matrix.shape[0]
        and not (matrix.data.dtype.kind == "f" and np.isnan(matrix.data.min()))
    )
