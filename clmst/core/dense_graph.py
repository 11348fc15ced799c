"""Dense matrices as graphs: complete graphs, and masked arrays as lists of edges."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core import pairs
from clmst.core.arguments import as_array, check_bool
from clmst.core.errors import InvalidGraphError
from clmst.core.graph_checks import check_shape, check_size
from clmst.core.threads import in_threads
from clmst.core.weight_keys import Array, as_weights

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_TILE = 128  # rows and columns that are compared at a time: two tiles stay in cache


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
            self.n_vertices, self.weight_dtype, lambda u: self.weights[u, u + 1 :]
        )


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


def check_square(matrix: Any, name: str = "the array") -> Array:
    """Return `matrix` as an array of a supported dtype, or raise unless it is square."""
    array = as_array(name, matrix, error=InvalidGraphError)
    if array.ndim != 2:
        raise InvalidGraphError(f"{name} has {array.ndim} dimensions; an adjacency matrix has 2")
    check_shape(array.shape, else_=" (clmst.Points takes rows that are points)")
    return as_weights(array)


def check_symmetric(weights: Array) -> None:
    """Raise if a square matrix has a NaN, or a cell differs from its mirror cell. O(n**2)."""
    starts = range(0, weights.shape[0], _TILE)
    for fault in in_threads(lambda row: _fault(weights, row), starts):
        if fault is not None:
            _refuse(weights, *fault)


def _fault(weights: Array, row: int) -> tuple[int, int] | None:
    """Return a faulty cell of a row of tiles, from the diagonal to the right, or None."""
    for column in range(row, weights.shape[0], _TILE):
        upper = weights[row : row + _TILE, column : column + _TILE]
        # Copied first: cells of a column of the whole matrix compete for the same cache lines.
        mirrored = weights[column : column + _TILE, row : row + _TILE].copy().T
        faults = upper != mirrored  # NaN differs from itself
        if faults.any():
            i, j = np.argwhere(faults)[0].tolist()
            return row + i, column + j
    return None


def _refuse(weights: Array, i: int, j: int) -> None:
    one, other = weights[i, j], weights[j, i]
    for a, b, weight in ((i, j, one), (j, i, other)):
        if weight != weight:  # noqa: PLR0124 - NaN is not itself
            raise InvalidGraphError(
                f"cell ({a}, {b}) of the matrix is NaN; weights must be ordered (a masked array "
                "says where there is no edge)"
            )
    raise InvalidGraphError(
        f"cell ({i}, {j}) of the matrix is {one} but ({j}, {i}) is {other}; it must be symmetric "
        "(symmetrize=True takes the lesser of the two)"
    )
