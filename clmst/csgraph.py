"""SciPy's ``scipy.sparse.csgraph.minimum_spanning_tree``, solved on an OpenCL device.

A program that imports the function from here instead of from SciPy gets the same matrix.
docs/scipy.md lists where it does not.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph as scipys

from clmst.algorithms.csr_validation.check import put_matrix
from clmst.algorithms.small_matrix import pairs
from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.api import minimum_spanning_forest
from clmst.core import canonical, csr, from_scipy
from clmst.core.csgraph_input import as_csr, has_scipys_arrays
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_weights
from clmst.core.weight_keys import Array, check_dtype, encode, order_keys
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.discovery import get_device, pass_over
from clmst.runtime.trust import NoFamilyLeftError

__all__ = ["minimum_spanning_tree"]

# Below so many entries SciPy itself is quicker than a device that solves in one launch. On two
# cores, processor time in ms of clmst and SciPy: 0.11 and 0.06 for 1,200 doubles of an upper
# triangle, 0.18 and 0.10 for 2,400, 0.22 and 0.38 for 5,000, 0.68 and 1.3 for 10,000.
FEWEST_ENTRIES = 1 << 12
# The same if both directions have another weight, of which the lesser is taken before that launch:
# 0.62 and 0.82 for 9,972 doubles, 1.1 and 1.8 for 19,962.
FEW_ENTRIES_OF_PAIRS = 1 << 13
# The same for a solve in steps: 2.4 and 1.1 for 9,981 doubles of an upper triangle, 5.3 and 5.1 for
# 39,986, 8.6 and 15.8 for 119,987. Any other matrix has to be sorted first: 11 and 18 for 200,000.
FEW_ENTRIES = 1 << 15
FEW_ENTRIES_IN_ANY_ORDER = 1 << 17
# The same if all weights are equal, which SciPy need not sort: 48 and 8.5 for 1,000,000 directed
# entries in rows that fall.
FEW_EQUAL_ENTRIES = 1 << 24

Parts: TypeAlias = tuple[Array, Array, Array]  # data, indices and indptr


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """Compute a minimum spanning forest of a matrix, as the function of this name in SciPy does.

    The edges are the entries of the matrix in CSR form. ``csgraph[i, j]`` and ``csgraph[j, i]``
    join the same two vertices; the lesser one counts. Among equal entries the one that comes first
    in the CSR form wins, so the tree is unique.

    Parameters
    ----------
    csgraph : scipy.sparse array or matrix, or array_like, shape (n, n)
        Any sparse format; every stored entry is an edge, zeros too. In a plain array or nested
        list, cells that are 0, NaN or infinite are no edges. In a masked array, masked cells are
        no edges. The weights may be bool, int8-64, uint8-64 or float16/32/64.
    overwrite : bool
        SciPy may then destroy the input to save memory. clmst never changes it, so the value does
        not matter.

    Returns
    -------
    scipy.sparse.csr_array or csr_matrix, shape (n, n)
        The chosen entries, at their places in `csgraph`, in the order of its CSR form. It is of
        the class that the installed SciPy returns. The data are float64. If a weight of the tree
        is an integer that float64 does not hold, they keep the dtype of `csgraph`.

    Raises
    ------
    InvalidGraphError
        The matrix is not square, its arrays contradict each other, its dtype is none of those
        above, or an edge is NaN. It is a ValueError.
    UnsupportedDeviceError
        There is no usable device; the message says what to install.

    Notes
    -----
    The device is the default one; see :func:`clmst.get_device`. A small matrix is solved by SciPy
    itself, which is quicker there, if its answer is right. ``docs/scipy.md`` says what small means,
    and lists all differences to SciPy.

    Examples
    --------
    >>> from clmst.csgraph import minimum_spanning_tree
    >>> minimum_spanning_tree([[0, 8, 0, 3], [0, 0, 2, 5], [0, 0, 0, 6], [0, 0, 0, 0]]).toarray()
    array([[0., 0., 0., 3.],
           [0., 0., 2., 5.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """
    matrix = as_csr(csgraph)
    wanted = _class_of_result(_is_matrix(csgraph))
    if np.size(matrix.data) >= FEWEST_ENTRIES:
        parts = _solve_at_once(matrix)
        if parts is not None:
            return wanted(parts, shape=matrix.shape)
    if _is_for_scipy(matrix):
        tree = scipys.minimum_spanning_tree(matrix)
        return tree if type(tree) is wanted else wanted(tree)
    return wanted(_solve(matrix), shape=matrix.shape)


def _solve_at_once(matrix: Any) -> Parts | None:
    """Return the tree of a matrix that is small enough for one launch, else None."""
    if not _needs_a_fold(matrix):
        forest = small_matrix.solve(matrix, None, maximum=False)
        return None if forest is None else _upper_entries(forest)
    if matrix.data.size < FEW_ENTRIES_OF_PAIRS or not small_matrix.works_on(get_device()):
        return None
    slots = pairs.entries_of_forest(matrix)
    return None if slots is None else _entries(matrix, slots)


def _needs_a_fold(matrix: Any) -> bool:
    """Return whether a few entries show that a matrix is neither symmetric nor upper triangular.

    Then no launch has to find it out. Nothing is checked before: any answer is a guess.
    """
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    n, m = matrix.shape[0], data.size
    if not m == indices.size > 0 or indptr.size != n + 1:
        return False
    for slot in (m // 5, m // 2, m - 1 - m // 5):
        row, column = int(indptr.searchsorted(slot, side="right")) - 1, int(indices[slot])
        if column == row or not 0 <= column < n:
            continue
        first, last = int(indptr[column]), int(indptr[column + 1])
        mirror = first + int(indices[first:last].searchsorted(row))
        is_twice = mirror < last and indices[mirror] == row
        if (is_twice and data[mirror] != data[slot]) or (column < row and not is_twice):
            return True
    return False


def _is_for_scipy(matrix: Any) -> bool:
    """Return whether a CSR matrix is so small that SciPy is quicker, and its answer right.

    Raises
    ------
    InvalidGraphError
        A small matrix is malformed: SciPy would crash, or return nonsense.
    """
    is_equal = np.size(matrix.data) < FEW_EQUAL_ENTRIES and _is_equal(matrix.data)
    if np.size(matrix.data) >= FEW_ENTRIES_IN_ANY_ORDER and not is_equal:
        return False
    indptr, indices, data, shape = from_scipy.csr_parts(matrix)
    if not (has_scipys_arrays(matrix) and matrix.data is data):
        return False
    check_dtype(data.dtype)
    indptr, indices = csr.check(indptr, indices, data, n=shape[0])
    check_weights(data, lambda slot: csr.endpoints_of(indptr, indices, slot))
    if data.dtype != np.float64 and not matrix.has_canonical_format:
        return False  # sums of duplicates may be zero, or rounded
    in_one_launch = data.size >= FEW_ENTRIES_OF_PAIRS and small_matrix.works_on(get_device())
    is_large = (data.size >= FEW_ENTRIES or in_one_launch) and not is_equal
    if is_large and canonical.seems_quick(indptr, indices):
        return False
    return bool(data.all()) and _doubles_hold(data)


def _is_equal(data: Array) -> bool:
    """Return whether all weights are equal, of which there are some."""
    return np.size(data) > 0 and data[0] == data[-1] and bool((data == data[0]).all())


def _doubles_hold(data: Array) -> bool:
    """Return whether integers are so small that float64 holds them all; True for others."""
    if data.dtype.kind not in "iu" or data.dtype.itemsize < 8 or not data.size:
        return True
    return int(data.min()) >= -(2**53) and int(data.max()) <= 2**53


def _solve(matrix: Any) -> Parts:
    """Return the tree of a CSR matrix, by the default device or the next one that can."""
    while True:
        try:
            stored = _put(matrix, get_device())
            if stored is not None and stored.edge_ids is None:
                return _upper_entries(minimum_spanning_forest(stored))
            is_converted = matrix.data.dtype != np.float64 and _scipy_sums_duplicates()
            if is_converted and not matrix.has_canonical_format:
                matrix, stored = _summed(matrix), None
            if stored is not None:
                return _entries(matrix, np.sort(minimum_spanning_forest(stored).edge_ids))
            graph = Graph.from_scipy(matrix)
            if graph.edge_ids is None:
                return _upper_entries(minimum_spanning_forest(graph))
            return _entries(matrix, np.sort(_edge_ids(_in_order_of_entries(graph))))
        except NoFamilyLeftError as error:
            pass_over(None, error)


def _put(matrix: Any, device: Device) -> DeviceGraph | None:
    """Put a matrix on a device, if that can take it: ties go to the first entry."""
    if device.capabilities.host_arrays == "copied":
        return put_matrix(matrix, device, by_entry=True)
    stored = put_matrix(matrix, device)
    if stored is None or stored.edge_ids is None:
        return stored
    # NumPy sorts on the host's own cores, and most real weights are distinct.
    risen = np.sort(stored.graph.weights)
    is_distinct = not (risen[1:] == risen[:-1]).any()
    return stored if is_distinct else put_matrix(matrix, device, by_entry=True)


def _edge_ids(graph: Graph) -> Array:
    """Return the edge ids of the forest of a graph that stores its edges once."""
    assert graph.edge_ids is not None, "they are not its slots"
    if graph.n_slots <= small_matrix.MOST_SLOTS:
        n = graph.n_vertices
        parts = (graph.weights, graph.indices.view(np.int32), graph.indptr.view(np.int32))
        forest = small_matrix.solve(sparse.csr_array(parts, shape=(n, n)), None, maximum=False)
        if forest is not None:
            return graph.edge_ids[forest.edge_ids]
    return minimum_spanning_forest(graph).edge_ids


def _summed(matrix: Any) -> Any:
    """Return a checked CSR with sorted rows, duplicate entries summed."""
    copy = matrix.copy()  # SciPy's conversions may change what they convert
    if copy.data.dtype.kind in "iu" and copy.data.dtype.itemsize == 8:
        copy.sum_duplicates()  # float64 might round them
        return copy
    return copy.astype(np.float64)


@cache
def _scipy_sums_duplicates() -> bool:
    """Return whether SciPy's function sums duplicates when it converts a CSR to float64."""
    twice = np.array([0, 2, 2], np.int32)
    pair = sparse.csr_array((np.ones(2, np.int32), np.ones(2, np.int32), twice), shape=(2, 2))
    return bool(scipys.minimum_spanning_tree(pair).data[0] == 2)


def _in_order_of_entries(graph: Graph) -> Graph:
    """Return a graph whose ties go to the first entry of the caller's matrix. O(m log m) at most.

    So it is in a canonical matrix, whose edges are in the order of its entries. In another one
    equal weights become different ones, in the order of their entries.
    """
    ids = graph.edge_ids
    assert ids is not None, "a canonical matrix needs no other order"
    if (ids[1:] > ids[:-1]).all():
        return graph
    encoded = encode(graph.weights)
    if encoded.encoding.word.itemsize < 8:  # one word holds the key and the entry
        keys = order_keys(encoded.bits.view(encoded.encoding.stored))
        words = keys.astype(np.uint64) << np.uint64(32)
        words |= ids.astype(np.uint64)
        return graph.replace_unchecked(weights=words)
    risen = np.sort(graph.weights)
    if not (risen[1:] == risen[:-1]).any():
        return graph
    ranks = np.empty(ids.size, np.uint32)
    ranks[np.lexsort((ids, graph.weights))] = np.arange(ids.size, dtype=np.uint32)
    return graph.replace_unchecked(weights=ranks)


def _upper_entries(forest: Forest) -> Parts:
    """Return the tree of a canonical matrix: its edges stand above the diagonal, in its order."""
    n = forest.n_vertices
    index = np.int32 if n < 1 << 31 else np.int64
    starts = np.zeros(n + 1, index)
    np.cumsum(np.bincount(forest.edges[:, 0], minlength=n), out=starts[1:])
    return _as_double(forest.weights), forest.edges[:, 1].astype(index), starts


def _entries(matrix: Any, slots: Array) -> Parts:
    """Return the tree that has these entries of a CSR matrix, in rising order."""
    index = np.int32 if matrix.shape[0] < 1 << 31 else np.int64
    starts = np.searchsorted(slots, matrix.indptr).astype(index)
    columns = np.asarray(matrix.indices)[slots].astype(index)
    return _as_double(np.asarray(matrix.data)[slots]), columns, starts


def _as_double(data: Array) -> Array:
    """Return weights as float64 if it holds all of them, else as they are."""
    doubles = data.astype(np.float64)
    if not _doubles_hold(data):
        large = np.flatnonzero(np.abs(doubles) >= 2.0**53)
        if any(int(data[k]) != int(doubles[k]) for k in large):
            return data
    return doubles


def _is_matrix(csgraph: Any) -> bool:
    """Return whether SciPy takes the input for one of its matrices, rather than for an array."""
    return isinstance(csgraph, sparse.spmatrix | np.matrix)


@cache
def _class_of_result(is_matrix: bool) -> Any:
    """Return the class of what the installed SciPy returns; before 1.15 it was always a matrix."""
    kind = sparse.csr_matrix if is_matrix else sparse.csr_array
    return type(scipys.minimum_spanning_tree(kind((1, 1))))
