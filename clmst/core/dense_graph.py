"""Dense matrices as graphs: complete graphs, or lists of edges if some cells are masked."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np

from clmst.core import pairs
from clmst.core.arguments import check_bool
from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_complete_size
from clmst.core.matrix_checks import check_square, check_symmetric
from clmst.core.weight_keys import Array


@dataclass(frozen=True, eq=False)
class DenseGraph:
    """A complete graph, given by the symmetric matrix of its weights.

    Parameters
    ----------
    weights : array of any supported dtype, shape (n, n)
        The weight of each pair of vertices. Every cell off the diagonal is an edge, including zeros
        and infinities. In a dense matrix for SciPy a zero means "no edge"; pass
        ``scipy.sparse.csr_array(matrix)`` in that case. The diagonal is ignored, but must not
        contain NaN. The array is not copied if its rows or its columns are contiguous, so do not
        change it before the forest has been computed.
    symmetrize : bool
        Allow the cells (i, j) and (j, i) to differ, as in distances from scikit-learn's
        `pairwise_distances`, which may differ in the last digits. The lesser of the two is then the
        weight, in a copy of the matrix.

    Raises
    ------
    InvalidGraphError
        The array is not a square matrix or not symmetric, is masked, contains NaN, has an
        unsupported dtype, or has more than 2**26 - 1 rows.
    InvalidArgumentError
        `symmetrize` is not True or False.

    Notes
    -----
    The id of the edge (u, v), u < v, is the index of its weight in SciPy's condensed form,
    ``scipy.spatial.distance.squareform(weights)``. The constructor checks every cell: O(n**2) time,
    on all cores. Use :meth:`Graph.from_masked` for a masked array (``numpy.ma``), which is not a
    complete graph.

    Examples
    --------
    >>> import clmst
    >>> triangle = clmst.DenseGraph([[0, 2, 3], [2, 0, 4], [3, 4, 0]])
    >>> clmst.minimum_spanning_forest(triangle).total_weight
    5
    """

    weights: Array
    symmetrize: InitVar[bool] = False

    def __post_init__(self, symmetrize: bool) -> None:
        if isinstance(self.weights, np.ma.MaskedArray):
            raise InvalidGraphError(
                "the matrix is masked, so not every pair is an edge; give Graph.from_masked(matrix)"
            )
        weights = check_square(self.weights)
        check_complete_size(weights.shape[0])
        if not weights.flags.c_contiguous:
            # Kernels need contiguous rows. If the columns are contiguous instead, take the
            # transpose, which equals the matrix because the matrix is symmetric. Otherwise copy the
            # matrix.
            weights = weights.T if weights.flags.f_contiguous else np.ascontiguousarray(weights)
        if check_bool("symmetrize", symmetrize):
            weights = np.minimum(weights, weights.T)  # np.minimum keeps NaN
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
        """Number of edges, which is the number of pairs of vertices."""
        return pairs.count(self.n_vertices)

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights."""
        return self.weights.dtype

    def weights_of(self, u: Array, v: Array) -> Array:
        """Return the weights of the pairs (u, v) of vertices.

        Parameters
        ----------
        u, v : array of int
            Vertices. The arrays must have shapes that broadcast.

        Raises
        ------
        InvalidGraphError
            A number is not a vertex, or an array does not consist of integers.

        Examples
        --------
        >>> import clmst
        >>> triangle = clmst.DenseGraph([[0, 2, 3], [2, 0, 4], [3, 4, 0]])
        >>> triangle.weights_of([0, 1], [1, 2])
        array([2, 4])
        """
        u, v = pairs.check_ends(u, v, self.n_vertices)
        weights: Array = self.weights[u, v]
        return weights

    def to_graph(self) -> Graph:
        """Return a :class:`Graph` that lists every pair as an edge, for algorithms that need lists.

        The call takes O(n**2) time and memory. Edge ids, and therefore forests, do not change.

        Examples
        --------
        >>> import clmst
        >>> clmst.DenseGraph([[0, 2, 3], [2, 0, 4], [3, 4, 0]]).to_graph()
        Graph(n_vertices=3, n_edges=3, weights=int64)
        """
        return pairs.graph_of(
            Graph, self.n_vertices, self.weight_dtype, lambda u: self.weights[u, u + 1 :]
        )
