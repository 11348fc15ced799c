"""Complete graphs, given by the matrix of their weights."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np

from clmst.core import pairs
from clmst.core.arguments import check_bool
from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.matrix_checks import check_square, check_symmetric
from clmst.core.weight_keys import Array


@dataclass(frozen=True, eq=False)
class DenseGraph:
    """A complete graph as the symmetric matrix of its weights.

    Parameters
    ----------
    weights : array of any supported dtype, shape (n, n)
        Every cell off the diagonal is an edge, zeros and infinities too. The diagonal is ignored,
        but must not be NaN. The array is not copied if its rows or columns are contiguous: do not
        change it before the forest is computed. In SciPy's dense matrices a zero is no edge: pass
        ``scipy.sparse.csr_array(matrix)`` then.
    symmetrize : bool
        Whether cells (i, j) and (j, i) may differ, as those of scikit-learn's `pairwise_distances`
        do in the last digits. The lesser of the two is then the weight, in a copy of the matrix.

    Raises
    ------
    InvalidGraphError
        Not a matrix, not square, not symmetric, a weight that is NaN or of an unsupported dtype,
        or more than 2**26 - 1 vertices.

    Notes
    -----
    The id of the edge (u, v), u < v, is the index of its weight in SciPy's condensed form,
    ``scipy.spatial.distance.squareform(weights)``. Checking takes one pass over the matrix, by all
    cores. A masked array (``numpy.ma``) is no complete graph: :meth:`Graph.from_masked` takes it.
    """

    weights: Array
    symmetrize: InitVar[bool] = False

    def __post_init__(self, symmetrize: bool) -> None:
        if isinstance(self.weights, np.ma.MaskedArray):
            raise InvalidGraphError(
                "the matrix is masked, so not every pair is an edge; Graph.from_masked takes such"
            )
        weights = check_square(self.weights)
        pairs.check_count(weights.shape[0])
        if not weights.flags.c_contiguous:
            # The transpose of a symmetric matrix is the same matrix, its columns contiguous.
            weights = weights.T if weights.flags.f_contiguous else np.ascontiguousarray(weights)
        if check_bool("symmetrize", symmetrize):
            weights = np.minimum(weights, weights.T)  # NaN stays
        check_symmetric(weights)
        object.__setattr__(self, "weights", weights)

    def __repr__(self) -> str:
        return f"DenseGraph(n_vertices={self.n_vertices}, weights={self.weights.dtype})"

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.weights.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of pairs of vertices."""
        return pairs.count(self.n_vertices)

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights."""
        return self.weights.dtype

    def weights_of(self, u: Array, v: Array) -> Array:
        """Return the weights of pairs of vertices.

        Raises
        ------
        InvalidGraphError
            There is no such vertex, or an array is not of integers.
        """
        u, v = pairs.check_ends(u, v, self.n_vertices)
        weights: Array = self.weights[u, v]
        return weights

    def to_graph(self) -> Graph:
        """Return the graph with every pair stored, for algorithms that take edges. O(n**2).

        Edge ids, and so forests, stay the same.
        """
        return pairs.graph_of(
            Graph, self.n_vertices, self.weight_dtype, lambda u: self.weights[u, u + 1 :]
        )
