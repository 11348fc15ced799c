"""What SciPy's graph functions take for a graph, as a CSR matrix of checked types."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clmst.core import from_scipy
from clmst.core.arguments import shown
from clmst.core.dense_graph import check_square
from clmst.core.errors import InvalidGraphError
from clmst.core.graph_checks import check_shape
from clmst.core.weight_keys import Array


def as_csr(csgraph: Any) -> Any:
    """Return the input in CSR form; a CSR as it is, its contents unchecked."""
    is_sparse: bool = sparse.issparse(csgraph)
    if is_sparse:
        from_scipy.check_matrix(csgraph)
        check_shape(csgraph.shape)
        from_scipy.check_arrays(csgraph)
        if csgraph.format == "csr" and has_scipys_arrays(csgraph):
            return csgraph
        indptr, indices, data, shape = from_scipy.csr_parts(csgraph)
        if csgraph.format == "csr":  # arrays that SciPy did not make
            given = {"data": data, "indices": indices, "indptr": indptr}
            from_scipy.check_parts("csr", shape, given)
        return sparse.csr_array((data, indices, indptr), shape=shape)
    if isinstance(csgraph, np.ma.MaskedArray):
        cells = _square(np.ma.getdata(csgraph))
        return _of_cells(cells, ~np.ma.getmaskarray(csgraph))
    cells = _square(csgraph)
    is_edge = cells != 0
    if cells.dtype.kind == "f":
        is_edge &= np.isfinite(cells)
    return _of_cells(cells, is_edge)


def has_scipys_arrays(matrix: Any) -> bool:
    """Return whether the arrays of a CSR are of the types that SciPy's own code takes."""
    parts = (matrix.indptr, matrix.indices, matrix.data)
    if any(type(array) is not np.ndarray for array in parts):
        return False
    return bool(matrix.indptr.dtype == matrix.indices.dtype in {np.dtype("i4"), np.dtype("i8")})


def _square(csgraph: Any) -> Array:
    """Return a square array of a supported dtype, or raise."""
    cells = check_square(csgraph, "csgraph")
    if isinstance(csgraph, list | tuple) and cells.dtype.kind == "f":
        _check_rounding(csgraph, cells)
    return cells


def _check_rounding(given: Any, cells: Array) -> None:
    """Raise if NumPy rounded an integer of a nested list because there are floats beside it."""
    numbers = np.array(given, dtype=object)
    rounded = np.argwhere((numbers != cells) & ~np.isnan(cells))
    if rounded.size:
        i, j = rounded[0].tolist()
        raise InvalidGraphError(
            f"cell ({i}, {j}) of the list is {shown(numbers[i, j])} among floats, and NumPy would "
            f"round it to {cells[i, j]}; weights must share one dtype that holds them exactly"
        )


def _of_cells(cells: Array, is_edge: Array) -> Any:
    """Return some cells of an array as a CSR; float16, which SciPy has not, as float32."""
    n = cells.shape[0]
    index = np.int32 if cells.size < 1 << 31 else np.int64
    rows, columns = np.nonzero(is_edge)
    data = cells[is_edge].astype(np.float32 if cells.dtype == np.float16 else cells.dtype)
    indptr = np.searchsorted(rows, np.arange(n + 1))
    return sparse.csr_array((data, columns.astype(index), indptr.astype(index)), shape=cells.shape)
