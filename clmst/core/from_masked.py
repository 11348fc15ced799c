"""Masked arrays as graphs: every cell that is not masked is an edge."""

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
    """Build a graph from a square ``numpy.ma.MaskedArray``, in which masked cells are not edges.

    Every cell that is not masked is an edge, zeros included. If one of the cells (i, j) and (j, i)
    is masked, the other one is the weight, so an upper triangle is enough. If neither is masked,
    they must be equal, unless `symmetrize` is true. O(n**2).

    Parameters
    ----------
    matrix : numpy.ma.MaskedArray, shape (n, n)
        The weights. The diagonal is ignored, but must not contain NaN.
    symmetrize : bool
        Allow the cells (i, j) and (j, i) to differ. The lesser of the two is then the weight.

    Returns
    -------
    Graph
        Its edge ids are indices into SciPy's condensed form of the matrix.

    Raises
    ------
    InvalidGraphError
        The array is not a square matrix, not symmetric, contains NaN in a cell that is not masked,
        or has an unsupported dtype.

    Examples
    --------
    >>> import clmst, numpy
    >>> weights = numpy.ma.masked_equal([[0, 2, 9], [2, 0, 4], [9, 4, 0]], 9)
    >>> clmst.Graph.from_masked(weights).n_edges
    2
    """
    if not isinstance(matrix, np.ndarray):
        raise InvalidGraphError(
            f"from_masked was given {type(matrix).__name__}; it takes a numpy.ma.MaskedArray"
        )
    mask = np.ma.getmaskarray(matrix)
    weights = check_square(np.ma.getdata(matrix))
    weights = np.where(mask, weights.dtype.type(0), weights)  # masked cells may contain NaN
    if not np.array_equal(mask, mask.T):
        weights = np.where(mask, weights.T, weights)
        mask = mask & mask.T
    if check_bool("symmetrize", symmetrize):
        weights = np.minimum(weights, weights.T)  # np.minimum keeps NaN
    check_symmetric(weights)
    u, v = np.nonzero(np.triu(~mask, 1))
    n = weights.shape[0]
    check_size(n, u.size)
    graph = cls.from_edges(u, v, weights[u, v], n_vertices=n)
    return graph.replace_unchecked(edge_ids=pairs.position(n, u, v), n_input=pairs.count(n))
