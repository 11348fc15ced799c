"""Pairs of vertices, which are the edges of a complete graph, in canonical order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.core import csr
from clmst.core.arguments import as_array
from clmst.core.errors import InvalidGraphError
from clmst.core.graph_checks import check_size
from clmst.core.weight_keys import Array

if TYPE_CHECKING:
    from clmst.core.graph import Graph


def check_ends(u: Any, v: Any, n: int) -> tuple[Array, Array]:
    """Return the ends `u` and `v` of pairs of vertices as integer arrays.

    Raise InvalidGraphError if they are not integers, if one is not from 0 to `n` - 1, or if the
    shapes of the arrays do not broadcast against each other.
    """
    ends = []
    for name, given in (("u", u), ("v", v)):
        array = as_array(name, given, error=InvalidGraphError)
        if array.size == 0:
            array = np.zeros(array.shape, np.int64)
        if array.dtype.kind not in "iu":
            raise InvalidGraphError(f"{name} has dtype {array.dtype}; it must be of integers")
        csr.check_range(array.ravel(), n, name)
        ends.append(array)
    try:
        np.broadcast(*ends)
    except ValueError:
        raise InvalidGraphError(
            f"u has shape {ends[0].shape} but v has {ends[1].shape}; the shapes must be equal"
        ) from None
    return ends[0], ends[1]


def count(n: int) -> int:
    """Return the number of pairs of n vertices."""
    return n * (n - 1) // 2


def position(n: int, u: Array, v: Array) -> npt.NDArray[np.int64]:
    """Return the position of each pair (u, v), u < v, among all pairs of n vertices in order.

    The position is also the index of the pair in SciPy's condensed form
    (``scipy.spatial.distance``).
    """
    rows = u.astype(np.int64)
    positions: npt.NDArray[np.int64] = 2 * n - 3 - rows
    positions *= rows
    positions >>= 1  # exact, as the product is even
    positions += v.astype(np.int64)
    positions -= 1
    return positions


def graph_of(
    kind: type[Graph], n: int, dtype: np.dtype[Any], row: Callable[[int], Any], *,
    coordinates: Any = None,
) -> Graph:  # fmt: skip
    """Build the graph of all pairs of n vertices, in O(n**2) time and memory.

    Parameters
    ----------
    kind : type
        The class :class:`Graph`.
    n : int
        The number of vertices.
    dtype : dtype
        The dtype of the weights.
    row : callable
        Called with a vertex u, returns the weights of the pairs (u, u + 1), (u, u + 2), ...
    coordinates : ndarray, optional
        The coordinates of the vertices, for pictures of the graph.
    """
    check_size(n, count(n))
    lengths = np.arange(n - 1, -1, -1, dtype=np.uint32)
    indptr = np.concatenate([np.zeros(1, np.uint32), np.cumsum(lengths, dtype=np.uint32)])
    indices, weights = np.empty(count(n), np.uint32), np.empty(count(n), dtype)
    for u in range(n - 1):
        slots = slice(indptr[u], indptr[u + 1])
        indices[slots] = np.arange(u + 1, n)
        weights[slots] = row(u)
    return kind.unchecked(
        indptr=indptr, indices=indices, weights=weights, is_symmetric=False, edge_ids=None,
        n_input=count(n), coordinates=coordinates,
    )  # fmt: skip
