"""Check SciPy sparse matrices, and convert them to the arrays of a CSR matrix.

SciPy converts matrices with C code that trusts their arrays: an index out of range, or a decreasing
`indptr`, crashes the process. This module therefore checks the arrays of each format before SciPy
uses them.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np

from clmst.core import csr
from clmst.core.arguments import as_array, errors_as, is_sparse, shown
from clmst.core.errors import InvalidGraphError
from clmst.core.graph_checks import check_shape
from clmst.core.weight_keys import Array, weight_kind_or_none

Shape = tuple[int, int]
SparseFormat: TypeAlias = Literal["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]

_INDEX_DTYPES = (np.dtype(np.int32), np.dtype(np.int64))
_PROBES = 4  # number of entries from which it is guessed whether a matrix is canonical
_COMPRESSED = ("indptr", "indices", "data")
_ARRAYS = {
    "csr": _COMPRESSED,
    "csc": _COMPRESSED,
    "bsr": _COMPRESSED,
    "coo": ("row", "col", "data"),
    "dia": ("offsets", "data"),
}


def is_csr(value: object) -> bool:
    """Return whether a value is a CSR matrix or CSR array of SciPy, and not of a class made of it.

    SciPy is not loaded for this, as in :func:`clmst.core.arguments.is_sparse`.
    """
    scipys: Any = sys.modules.get("scipy.sparse")
    classes = (getattr(scipys, "csr_array", None), getattr(scipys, "csr_matrix", None))
    return type(value) in classes


def is_plain(matrix: Any) -> bool:
    """Return whether an object is a CSR matrix that can be solved without building a Graph.

    This requires that the arrays have matching dtypes and shapes, and that the dtype of the weights
    is supported. The values in the arrays are not checked.
    """
    if not is_csr(matrix):
        return False
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if not type(indptr) is type(indices) is type(data) is np.ndarray:
        return False
    n, n_columns = matrix.shape
    return (
        0 < n == n_columns
        and indptr.dtype == indices.dtype
        and indices.dtype in _INDEX_DTYPES
        and indptr.shape == (n + 1,)
        and indices.shape == data.shape == (indices.size,)
        and indices.size > 0
        and data.dtype.isnative
        and indptr.flags.c_contiguous
        and indices.flags.c_contiguous
        and data.flags.c_contiguous
        and weight_kind_or_none(data.dtype) is not None
    )


def seems_canonical(matrix: Any) -> bool:
    """Guess from a few entries whether a matrix is in canonical order, so that no sort is needed.

    :func:`is_plain` must be true of the matrix. The mirror of an entry (i, j) is the entry (j, i).
    The guess is False if the columns of a row do not increase, if an entry differs from its mirror,
    if an entry below the diagonal lacks a mirror, or if some entries have a mirror and others have
    none. The arrays may contain invalid values.
    """
    # The elements of a memory view are Python numbers. NumPy's scalars would take 5 us per entry.
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


def csr_parts(A: Any, *, square: bool = True) -> tuple[Array, Array, Array, Shape]:
    """Return (indptr, indices, data, shape) of a sparse matrix. A CSR matrix is not copied.

    SciPy converts the other formats and sums their duplicate entries. The formats DIA and BSR pad
    with zeros, so zeros in these formats are not taken as entries. The matrix must be square unless
    `square` is False.

    Raise :class:`InvalidGraphError` if the object is not a sparse matrix of real numbers, or its
    arrays contradict each other. For a CSR matrix only the dtypes and lengths of the arrays are
    checked; callers have to check the values.
    """
    matrix = as_csr(A, square=square)
    indptr = csr.as_integers("indptr", matrix.indptr)
    used = int(indptr[-1]) if indptr.size else 0
    # SciPy allows unused elements after the last entry, which do not belong to the matrix.
    indices, data = np.asarray(matrix.indices), np.asarray(matrix.data)
    if indices.size > used >= 0 and indices.shape == data.shape:
        indices, data = indices[:used], data[:used]
    return indptr, indices, data, (int(A.shape[0]), int(A.shape[1]))


def as_csr(A: Any, *, square: bool = True) -> Any:
    """Return a sparse matrix in CSR form, checked as in :func:`csr_parts`.

    A matrix that is in CSR form already is returned itself. The matrix must be square unless
    `square` is False.
    """
    _check_matrix(A)
    if square:
        check_shape(A.shape)  # before a conversion allocates an indptr for that many rows
    _check_arrays(A)
    matrix = A if A.format == "csr" else _converted(A)
    if A.format == "bsr":
        matrix.eliminate_zeros()  # for DIA, SciPy does this itself
    return matrix


def _check_matrix(A: Any) -> None:
    """Raise InvalidGraphError unless an object is a sparse matrix of real numbers with two axes."""
    if not is_sparse(A):
        raise InvalidGraphError(
            f"from_scipy was given {type(A).__name__}; it takes a scipy.sparse matrix or array "
            "(clmst.DenseGraph takes a dense one)"
        )
    if A.ndim != 2:
        raise InvalidGraphError(f"the array has {A.ndim} dimension; an adjacency matrix has 2")
    try:
        dtype = np.dtype(A.dtype)
    except Exception as error:
        raise _unreadable(A.format, error) from error
    if dtype.kind not in "biuf":
        raise InvalidGraphError(
            f"the matrix has dtype {dtype}; weights must be bool, int, uint or float"
        )


def _check_arrays(A: Any) -> None:
    """Raise InvalidGraphError if the arrays of a sparse matrix are malformed.

    For a CSR matrix only the dtypes are checked.
    """
    try:
        parts = {name: getattr(A, name) for name in _ARRAYS.get(A.format, ())}
    except Exception as error:
        raise _unreadable(A.format, error) from error
    if A.format != "csr":
        check_parts(A.format, (int(A.shape[0]), int(A.shape[1])), parts)
        return
    csr.as_integers("indptr", parts["indptr"])
    csr.as_integers("indices", parts["indices"])
    as_array("data", parts["data"], error=InvalidGraphError)


def check_parts(kind: str, shape: Shape, parts: Mapping[str, Any]) -> None:
    """Raise InvalidGraphError unless the arrays of a matrix fit the `shape` and one another.

    `kind` is the format, and `parts` contains the arrays under the names of the matrix's
    attributes. The formats "lil" and "dok" do not have arrays to check. O(n + n_slots).
    """
    if kind not in _ARRAYS:
        return
    data = as_array("data", parts["data"], error=InvalidGraphError)
    if kind == "coo":
        _check_coo(shape, parts, data)
    elif kind == "dia":
        _check_dia(parts, data)
    elif kind == "bsr":
        if data.ndim != 3 or 0 in data.shape[1:] or any(np.remainder(shape, data.shape[1:])):
            raise InvalidGraphError(
                f"the blocks have shape {data.shape} in a matrix of shape {shape}; they must be "
                "(k, rows, columns), where rows and columns divide the shape of the matrix"
            )
        rows, columns = shape[0] // data.shape[1], shape[1] // data.shape[2]
        _check_compressed(rows, columns, parts, data, dimensions=3)
    else:
        rows, columns = shape if kind == "csr" else shape[::-1]
        _check_compressed(rows, columns, parts, data, dimensions=1)


def _check_compressed(
    n: int, columns: int, parts: Mapping[str, Any], data: Array, *, dimensions: int
) -> None:
    """Raise InvalidGraphError unless the arrays of a matrix in CSR, CSC or BSR form are valid.

    `n` is the number of compressed rows (for CSC columns, for BSR rows of blocks), and `columns`
    the bound of the indices. `parts` has the arrays "indptr" and "indices". `data` has the values,
    and must have `dimensions` dimensions. Unused elements may follow the entries.
    """
    indptr = csr.as_integers("indptr", parts["indptr"])
    indices = csr.as_integers("indices", parts["indices"])
    csr.check_indptr(indptr, n)
    used = int(indptr[-1])
    if data.ndim != dimensions or used > min(indices.size, data.shape[0]):
        raise InvalidGraphError(
            f"indptr[-1] is {used} but indices has {indices.size} entries and data has shape "
            f"{data.shape}; both must have as many entries, and data {dimensions} dimensions"
        )
    csr.check_range(indices[:used], columns, "indices")


def _check_coo(shape: Shape, parts: Mapping[str, Any], data: Array) -> None:
    """Raise InvalidGraphError unless the arrays of a COO matrix are valid.

    `parts` has the arrays "row" and "col", whose numbers must fit the `shape`. `data` are the
    values.
    """
    rows, columns = (csr.as_integers(name, parts[name]) for name in ("row", "col"))
    if not rows.shape == columns.shape == data.shape:
        raise InvalidGraphError(
            f"row, col and data have shapes {rows.shape}, {columns.shape} and {data.shape}; they "
            "must be equal"
        )
    csr.check_range(rows, shape[0], "row")
    csr.check_range(columns, shape[1], "col")


def _check_dia(parts: Mapping[str, Any], data: Array) -> None:
    """Raise InvalidGraphError unless the arrays of a DIA matrix are valid.

    `parts` has the array "offsets", and `data` must have one row for each offset.
    """
    offsets = csr.as_integers("offsets", parts["offsets"])
    if data.ndim != 2 or data.shape[0] != offsets.size:
        raise InvalidGraphError(
            f"data has shape {data.shape} for {offsets.size} offsets; there must be one row for "
            "each offset"
        )
    if np.unique(offsets).size != offsets.size:
        raise InvalidGraphError("an offset occurs twice; offsets must be distinct")


def _unreadable(kind: str, error: Exception) -> InvalidGraphError:
    """Create the error for a sparse matrix whose arrays SciPy cannot read.

    `kind` is the name of the matrix's format, and `error` the exception that SciPy has raised.
    """
    return InvalidGraphError(
        f"the {kind} matrix cannot be read ({type(error).__name__}: {shown(str(error))}); its "
        "arrays must be what SciPy makes of them"
    )


def _converted(A: Any) -> Any:
    """Convert a SciPy sparse matrix of any format to CSR form.

    The formats LIL and DOK, which store Python lists and a dictionary, are checked on the way.
    """
    with errors_as(partial(_unreadable, A.format)):
        if A.format == "lil":
            return _from_lists(A)
        if A.format == "dok":
            coordinates = A.tocoo()
            _check_arrays(coordinates)
            return coordinates.tocsr()
        if A.format == "dia":
            within = (A.offsets > -A.shape[0]) & (A.offsets < A.shape[1])
            from scipy import sparse

            return sparse.dia_array((A.data[within], A.offsets[within]), shape=A.shape).tocsr()
        return A.tocsr()


def _from_lists(A: Any) -> Any:
    """Convert a LIL matrix, which has a list of columns and of values for each row, to CSR.

    Raise InvalidGraphError if the two lists of a row have different lengths.
    """
    n = int(A.shape[0])
    lengths, of_values = (np.fromiter(map(len, lists), np.int64, n) for lists in (A.rows, A.data))
    if not np.array_equal(lengths, of_values):
        raise InvalidGraphError(
            "a row of the LIL matrix has different numbers of columns and of values; they must "
            "be equal"
        )
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.fromiter(chain.from_iterable(A.rows), np.int64, indptr[-1])
    values = np.fromiter(chain.from_iterable(A.data), A.dtype, indptr[-1])
    csr.check_range(columns, int(A.shape[1]), "columns")
    from scipy import sparse

    return sparse.csr_array((values, columns, indptr), shape=A.shape)
