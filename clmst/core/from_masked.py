"""Masked arrays as graphs: a cell that is not masked is an edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core import pairs
from clmst.core.arguments import check_bool
from clmst.core.errors import InvalidGraphError
from clmst.core.graph_checks import check_size
from clmst.core.matrix_checks import check_square, check_symmetric

if TYPE_CHECKING:
    from clmst.core.graph import Graph


def from_masked(cls: type[Graph], matrix: Any, *, symmetrize: bool = False) -> Graph:
    """Take a square ``numpy.ma.MaskedArray``: cells that are not masked are edges, zeros too.

    If one of the cells (i, j) and (j, i) is masked, the other one is the weight, so an upper
    triangle is enough. If neither is, they must be equal, save with `symmetrize`, which takes the
    lesser. Edge ids are indices into SciPy's condensed form of the matrix; loops have none. Raises
    InvalidGraphError as :class:`clmst.DenseGraph` does.
    """
    if not isinstance(matrix, np.ndarray):
        raise InvalidGraphError(
            f"from_masked was given {type(matrix).__name__}; it takes a numpy.ma.MaskedArray"
        )
    mask = np.ma.getmaskarray(matrix)
    weights = check_square(np.ma.getdata(matrix))
    weights = np.where(mask, weights.dtype.type(0), weights)  # it may be NaN where it is masked
    if not np.array_equal(mask, mask.T):
        weights = np.where(mask, weights.T, weights)
        mask = mask & mask.T
    if check_bool("symmetrize", symmetrize):
        weights = np.minimum(weights, weights.T)  # NaN stays
    check_symmetric(weights)
    u, v = np.nonzero(np.triu(~mask, 1))
    n = weights.shape[0]
    check_size(n, u.size)
    graph = cls.from_edges(u, v, weights[u, v], n_vertices=n)
    return graph.replace_unchecked(edge_ids=pairs.position(n, u, v), n_input=pairs.count(n))
