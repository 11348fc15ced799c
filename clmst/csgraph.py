"""A replacement for ``scipy.sparse.csgraph.minimum_spanning_tree`` that runs on an OpenCL device.

Import :func:`minimum_spanning_tree` from this module instead of from SciPy, and the result is the
same matrix. docs/scipy.md lists the cases in which the results differ.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph as scipys

from clmst import route
from clmst.algorithms import direct
from clmst.algorithms.csr_validation.check import forest_or_graph, put_matrix
from clmst.algorithms.solving import solve_unread
from clmst.api import minimum_spanning_forest
from clmst.core import from_scipy
from clmst.core.arguments import shown
from clmst.core.canonical import stable_order
from clmst.core.errors import InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.from_scipy import is_plain
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.matrix_checks import check_square
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.discovery import on_device_or_host

__all__ = ["minimum_spanning_tree"]

_SAMPLED_WEIGHTS = 1024  # how many weights are compared to guess whether there are ties

Parts: TypeAlias = tuple[Array, Array, Array]  # data, indices and indptr


@lasting("computing a spanning tree")
def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """Compute a minimum spanning forest of a matrix, with the interface of SciPy's function.

    The edges are the stored entries of the matrix in CSR form. The entries ``csgraph[i, j]`` and
    ``csgraph[j, i]`` join the same two vertices, and the lighter entry counts. Among equal weights
    the entry that comes first in the CSR form wins, so the result is unique.

    Parameters
    ----------
    csgraph : scipy.sparse array or matrix, or array_like, shape (n, n)
        The weights of the edges. In a sparse matrix of any format, every stored entry is an edge,
        including explicit zeros. In a plain array or a nested list, a cell that is 0, NaN or
        infinite is not an edge. In a masked array, a masked cell is not an edge. The weights may be
        bool, int8 to int64, uint8 to uint64, or float16, float32 or float64.
    overwrite : bool
        Accepted for compatibility and ignored. SciPy may destroy the input if this is true; clmst
        never changes the input.

    Returns
    -------
    scipy.sparse.csr_array or csr_matrix, shape (n, n)
        The chosen entries, each in its cell of `csgraph`. The class is the one that the installed
        SciPy would return. The data are float64, except if the tree contains an integer that
        float64 cannot represent exactly: then they keep the dtype of `csgraph`.

    Raises
    ------
    InvalidGraphError
        The matrix is not square, its arrays contradict each other, its dtype is not supported, or
        an edge is NaN. InvalidGraphError is a ValueError.
    UnsupportedDeviceError
        The environment variable ``CLMST_DEVICE`` names a device, and the device is not usable.
    InvalidArgumentError
        ``CLMST_DEVICE`` names a device that does not exist.

    Notes
    -----
    The call uses the default device; see :func:`clmst.get_device`. Small matrices are solved on the
    host if that is faster, and all matrices are if no device was found. ``docs/scipy.md`` says
    which matrices are small, and lists all differences from SciPy.

    Examples
    --------
    >>> from clmst.csgraph import minimum_spanning_tree
    >>> minimum_spanning_tree([[0, 8, 0, 3], [0, 0, 2, 5], [0, 0, 0, 6], [0, 0, 0, 0]]).toarray()
    array([[0., 0., 0., 3.],
           [0., 0., 2., 5.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """
    matrix = _as_csr(csgraph)
    # If the input is of one of these classes, SciPy's minimum_spanning_tree returns a sparse
    # matrix. Otherwise it returns a sparse array.
    is_matrix = isinstance(csgraph, sparse.spmatrix | np.matrix)
    wanted = _class_of_result(is_matrix)
    return _tree(wanted, _solve(matrix), matrix.shape)


def _as_csr(csgraph: Any) -> Any:
    """Convert the caller's input `csgraph` to a CSR matrix of SciPy.

    A matrix that already is in CSR form is returned unchanged, and its contents are not checked.
    """
    if is_plain(csgraph):
        return csgraph
    is_sparse: bool = sparse.issparse(csgraph)
    if is_sparse:
        matrix = from_scipy.as_csr(csgraph)
        if is_plain(matrix):
            return matrix
        indptr, indices, data, shape = from_scipy.csr_parts(matrix)
        from_scipy.check_parts("csr", shape, {"data": data, "indices": indices, "indptr": indptr})
        return sparse.csr_array((data, indices, indptr), shape=shape)
    if isinstance(csgraph, np.ma.MaskedArray):
        cells = _square(np.ma.getdata(csgraph))
        return _of_cells(cells, ~np.ma.getmaskarray(csgraph))
    cells = _square(csgraph)
    is_edge = cells != 0
    if cells.dtype.kind == "f":
        is_edge &= np.isfinite(cells)
    return _of_cells(cells, is_edge)


def _square(csgraph: Any) -> Array:
    """Return the caller's input `csgraph` as a square array of a supported dtype.

    Raises InvalidGraphError if `csgraph` is not square or its dtype is not supported.
    """
    cells = check_square(csgraph, "csgraph")
    if isinstance(csgraph, list | tuple) and cells.dtype.kind == "f":
        _check_rounding(csgraph, cells)
    return cells


def _check_rounding(given: Any, cells: Array) -> None:
    """Raise InvalidGraphError if NumPy has rounded an integer of a nested list.

    That may happen if the list also contains floats. `given` is the list, and `cells` is the array
    to which NumPy has converted it.
    """
    numbers = np.array(given, dtype=object)
    rounded = np.argwhere((numbers != cells) & ~np.isnan(cells))
    if rounded.size:
        i, j = rounded[0].tolist()
        raise InvalidGraphError(
            f"cell ({i}, {j}) of the list is {shown(numbers[i, j])} among floats, and NumPy would "
            f"round it to {cells[i, j]}; weights must share one dtype that holds them exactly"
        )


def _of_cells(cells: Array, is_edge: Array) -> Any:
    """Build a CSR matrix from the cells of an array where `is_edge` is true.

    float16 becomes float32, because SciPy's sparse matrices do not support float16.
    """
    n = cells.shape[0]
    index = np.int32 if cells.size < 1 << 31 else np.int64
    rows, columns = np.nonzero(is_edge)
    data = cells[is_edge].astype(np.float32 if cells.dtype == np.float16 else cells.dtype)
    indptr = np.searchsorted(rows, np.arange(n + 1))
    return sparse.csr_array((data, columns.astype(index), indptr.astype(index)), shape=cells.shape)


def _solve(matrix: Any) -> Parts:
    """Compute the minimum spanning forest of a CSR matrix and return the forest as arrays of a CSR.

    The first device that can do the work solves, or else the host. While kernels of the device are
    built for the first time, the host solves.
    """
    return on_device_or_host(
        None,
        partial(_solve_on, matrix),
        lambda _: _solve_on(matrix, None),
        host_first=lambda: route.host_solves_first(np.size(matrix.data)),
    )


def _solve_on(matrix: Any, device: Device | None) -> Parts:
    """Compute the forest of a CSR matrix as :func:`_solve` does, on a device.

    None as `device` means the host.
    """
    while True:
        slots = direct.entries_of(matrix, device)
        if slots is not None and _is_summed(matrix):
            return _entries(matrix, slots)
        stored = None if device is None else _put(matrix, device)
        if isinstance(stored, Forest):
            return _upper_entries(stored)
        if stored is not None and stored.edge_ids is None:
            return _upper_entries(minimum_spanning_forest(stored))
        if stored is not None and _is_summed(matrix):
            return _entries(matrix, np.sort(minimum_spanning_forest(stored).edge_ids))
        graph = Graph.from_scipy(matrix)
        if not _is_summed(matrix):
            matrix = _summed(matrix)
            continue
        if graph.edge_ids is None:
            return _upper_entries(minimum_spanning_forest(graph))
        ids = minimum_spanning_forest(_in_order_of_entries(graph)).edge_ids
        return _entries(matrix, np.sort(ids))


def _put(matrix: Any, device: Device) -> Forest | DeviceGraph | None:
    """Upload a matrix to a device so that among equal weights the first entry is preferred.

    If the matrix is canonical, the device may compute the forest while it checks the matrix. The
    forest is then returned in place of the graph. Returns None if the host has to prepare the
    matrix.
    """
    if device.capabilities.host_arrays == "copied":
        return forest_or_graph(matrix, device, solve_unread, by_entry=True)
    if _has_ties(matrix):
        return put_matrix(matrix, device, by_entry=True)
    stored = put_matrix(matrix, device)
    if stored is None or stored.edge_ids is None:
        return stored
    # The order of entries only matters if some weights are equal. Sort the weights to find out
    # whether they are.
    risen = np.sort(stored.graph.weights)
    is_distinct = not (risen[1:] == risen[:-1]).any()
    return stored if is_distinct else put_matrix(matrix, device, by_entry=True)


def _has_ties(matrix: Any) -> bool:
    """Return whether a sample of the weights of a CSR matrix contains two equal weights."""
    if not is_plain(matrix):
        return False
    some = matrix.data[:: max(matrix.data.size // _SAMPLED_WEIGHTS, 1)]
    return bool(np.unique(some).size < some.size)


def _is_summed(matrix: Any) -> bool:
    """Return whether SciPy's function would use the entries of a CSR matrix as they are.

    If not, it would first sum duplicate entries, which are entries in the same cell.
    """
    return (
        matrix.data.dtype == np.float64
        or not _scipy_sums_duplicates()
        or matrix.has_canonical_format
    )


def _summed(matrix: Any) -> Any:
    """Return a copy of a checked CSR matrix with sorted rows and duplicate entries summed."""
    copy = matrix.copy()  # SciPy's conversions may change the matrix that they convert
    if copy.data.dtype.kind in "iu" and copy.data.dtype.itemsize == 8:
        copy.sum_duplicates()  # float64 might round 64-bit integers
        return copy
    return copy.astype(np.float64)


@cache
def _scipy_sums_duplicates() -> bool:
    """Return whether the installed SciPy sums duplicate entries when it converts a CSR to float64.

    The answer is found by a small example. A conversion is part of SciPy's spanning tree function.
    """
    twice = np.array([0, 2, 2], np.int32)
    pair = sparse.csr_array((np.ones(2, np.int32), np.ones(2, np.int32), twice), shape=(2, 2))
    return bool(scipys.minimum_spanning_tree(pair).data[0] == 2)


def _in_order_of_entries(graph: Graph) -> Graph:
    """Return a graph in which the first entry of the caller's matrix wins among equal weights.

    If the edges of `graph` already are in the order of the matrix's entries, `graph` is returned
    unchanged. Otherwise the weights are replaced by their ranks in the order (weight, entry). At
    most O(m log m).
    """
    ids = graph.edge_ids
    assert ids is not None, "a canonical matrix needs no other order"
    if (ids[1:] > ids[:-1]).all():
        return graph
    by_entry = np.argsort(ids)
    ranks = np.empty(ids.size, np.uint32)
    order = by_entry[stable_order(graph.weights[by_entry])]
    ranks[order] = np.arange(ids.size, dtype=np.uint32)
    return graph.replace_unchecked(weights=ranks)


def _upper_entries(forest: Forest) -> Parts:
    """Return the arrays of a CSR that stores each edge of a forest above the diagonal.

    The forest must belong to a canonical matrix, so its edges are in the order of the entries.
    """
    n = forest.n_vertices
    index = np.int32 if n < 1 << 31 else np.int64
    starts = np.zeros(n + 1, index)
    np.bincount(forest.edges[:, 0], minlength=n).cumsum(dtype=index, out=starts[1:])
    return _as_double(forest.weights), forest.edges[:, 1].astype(index), starts


def _entries(matrix: Any, slots: Array) -> Parts:
    """Return the CSR arrays of the tree that consists of the given entries of a CSR matrix.

    `slots` are ascending indices into the data of the matrix.
    """
    index = np.int32 if matrix.shape[0] < 1 << 31 else np.int64
    before = np.zeros(np.size(matrix.indices) + 1, index)
    before[slots + 1] = 1
    starts = before.cumsum(dtype=index)[matrix.indptr]
    columns = np.asarray(matrix.indices)[slots].astype(index)
    return _as_double(np.asarray(matrix.data)[slots]), columns, starts


def _as_double(data: Array) -> Array:
    """Convert weights to float64, or return them unchanged if float64 cannot hold each one exactly.

    The result may be `data` itself, and becomes part of the tree that is returned to the caller. So
    `data` must not be an array that a graph or the caller holds.
    """
    doubles = data.astype(np.float64, copy=False)
    if data.dtype.kind in "iu" and data.dtype.itemsize == 8:
        large = np.flatnonzero(np.abs(doubles) >= 2.0**53)
        if any(int(data[k]) != int(doubles[k]) for k in large):
            return data
    return doubles


def _tree(kind: Any, parts: Parts, shape: tuple[int, int]) -> Any:
    """Build a SciPy CSR from valid arrays without SciPy's checks.

    `kind` is the class of the result, `parts` are data, indices and indptr, and `shape` is (n, n).
    The checks would take as long as a small solve. The new object gets every further attribute that
    a CSR of the installed SciPy has.
    """
    tree = object.__new__(kind)
    vars(tree).update(_of_no_vertices(kind))
    tree.data, tree.indices, tree.indptr = parts
    tree._shape = (int(shape[0]), int(shape[1]))
    return tree


@cache
def _of_no_vertices(kind: Any) -> dict[str, Any]:
    """Return the attributes of an empty 1 x 1 matrix of class `kind`, for :func:`_tree`.

    The matrix has one row and no entries.
    """
    return dict(vars(kind((1, 1))))


@cache
def _class_of_result(is_matrix: bool) -> Any:
    """Return the class that the installed SciPy's function returns.

    Before SciPy 1.15 it is always a matrix, even if the input is a sparse array.
    """
    kind = sparse.csr_matrix if is_matrix else sparse.csr_array
    return type(scipys.minimum_spanning_tree(kind((1, 1))))
