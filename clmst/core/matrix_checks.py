"""Checks of square matrices of weights: shape, dtype and symmetry."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.arguments import as_array
from clmst.core.errors import InvalidGraphError
from clmst.core.graph_checks import check_shape
from clmst.core.threads import in_threads
from clmst.core.weight_keys import Array, as_weights

_TILE = 128  # number of rows and of columns in a tile; two tiles fit into the cache


def check_square(matrix: Any, name: str = "the array") -> Array:
    """Return `matrix` as a square array of a supported dtype, or raise InvalidGraphError.

    `name` is what the message calls the array.
    """
    array = as_array(name, matrix, error=InvalidGraphError)
    if array.ndim != 2:
        raise InvalidGraphError(f"{name} has {array.ndim} dimensions; an adjacency matrix has 2")
    check_shape(array.shape, else_=" (clmst.Points takes rows that are points)")
    return as_weights(array)


def check_symmetric(weights: Array) -> None:
    """Raise InvalidGraphError if the square matrix `weights` contains NaN or is not symmetric.

    O(n**2).
    """
    starts = range(0, weights.shape[0], _TILE)
    for fault in in_threads(lambda row: _fault(weights, row), starts):
        if fault is not None:
            _refuse(weights, *fault)


def _fault(weights: Array, row: int) -> tuple[int, int] | None:
    """Return the first faulty cell (i, j) in _TILE rows of a matrix, or None if none is faulty.

    `weights` is the matrix, with shape (n, n), and `row` is the first of the rows. A cell is faulty
    if it is NaN or differs from the cell (j, i). The rows are compared in square tiles. Tiles left
    of the diagonal are skipped, because the tiles right of it are compared with them.
    """
    for column in range(row, weights.shape[0], _TILE):
        upper = weights[row : row + _TILE, column : column + _TILE]
        # A copy is compared because that is faster: the cells of a column of the whole matrix share
        # a few cache lines.
        mirrored = weights[column : column + _TILE, row : row + _TILE].copy().T
        faults = upper != mirrored  # NaN differs from itself
        if faults.any():
            i, j = np.argwhere(faults)[0].tolist()
            return row + i, column + j
    return None


def _refuse(weights: Array, i: int, j: int) -> None:
    """Raise InvalidGraphError for the cell (i, j), which is NaN or differs from the cell (j, i).

    `weights` is the matrix, with shape (n, n).
    """
    one, other = weights[i, j], weights[j, i]
    for a, b, weight in ((i, j, one), (j, i, other)):
        if weight != weight:  # noqa: PLR0124 - NaN does not equal itself
            raise InvalidGraphError(
                f"cell ({a}, {b}) of the matrix is NaN; weights must be ordered (a masked array "
                "says where there is no edge)"
            )
    raise InvalidGraphError(
        f"cell ({i}, {j}) of the matrix is {one} but ({j}, {i}) is {other}; it must be symmetric "
        "(symmetrize=True takes the lesser of the two)"
    )
