"""Graphs of near points as other libraries give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clmst.core.arguments import as_array, shown
from clmst.core.coercion import as_graph
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.distance_matrices import checked_graph

_FORMS = (
    "a sparse matrix of distances, a graph, an array of neighbours of shape (n, k), or a pair of "
    "such an array and one of distances"
)


def neighbour_graph(neighbours: Any, points: Points | DenseGraph) -> Graph:
    """Return a graph of near points of a library; of a pair listed twice the lesser weight.

    Raises
    ------
    InvalidGraphError
        The number of points is another one, there is no such neighbour, or a distance is negative
        or NaN.
    InvalidArgumentError
        It is none of the forms that are taken.
    """
    n = points.n_vertices
    if isinstance(neighbours, tuple) and len(neighbours) == 2:
        graph = _of_pair(*neighbours, n)
    elif isinstance(neighbours, np.ndarray | list | tuple):
        graph = _of_indices(_table("neighbours", neighbours, n), points)
    else:
        graph = _of_graph(neighbours)
    if graph.n_vertices != n:
        raise InvalidGraphError(
            f"the graph of neighbours has {graph.n_vertices} vertices and X has {n} points; they "
            "must be as many"
        )
    return graph


def _of_graph(neighbours: Any) -> Graph:
    """Return a sparse matrix, or a graph that lists its edges; weights are distances."""
    given = Graph.from_scipy(neighbours) if sparse.issparse(neighbours) else as_graph(neighbours)
    if not isinstance(given, Graph):
        raise InvalidArgumentError(f"neighbours is {shown(neighbours)}; it must be {_FORMS}")
    graph: Graph = checked_graph(given)
    return graph


def _of_pair(first: Any, second: Any, n: int) -> Graph:
    """Return the graph of neighbours and distances, in either order: integers are neighbours."""
    tables = [_table("neighbours", one, n) for one in (first, second)]
    are_integers = [one.dtype.kind in "iu" for one in tables]
    if sum(are_integers) != 1:
        raise InvalidArgumentError(
            f"the two arrays of neighbours have dtypes {tables[0].dtype} and {tables[1].dtype}; "
            "one must be integers, the neighbours, and the other floats, their distances"
        )
    indices, distances = tables if are_integers[0] else tables[::-1]
    if indices.shape != distances.shape:
        raise InvalidGraphError(
            f"neighbours have shape {indices.shape} and their distances {distances.shape}; they "
            "must be the same"
        )
    u, v, is_there = _ends(indices)
    weights = distances[is_there].astype(np.float64)
    wrong = np.flatnonzero(~(weights >= 0))
    if wrong.size:
        at = int(wrong[0])
        raise InvalidGraphError(
            f"point {u[at]} has neighbour {v[at]} at the distance {weights[at]}; distances are "
            "neither negative nor NaN"
        )
    return Graph.from_edges(u, v, weights, n_vertices=n, merge_parallel=True)


def _of_indices(indices: Array, points: Points | DenseGraph) -> Graph:
    """Return the graph of neighbours whose distances are those of the points."""
    if indices.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"neighbours have dtype {indices.dtype}; they must be integers, or {_FORMS}"
        )
    u, v, _ = _ends(indices)
    is_pair = u != v
    u, v = u[is_pair], v[is_pair]
    weights = points.weights_of(u, v)
    return Graph.from_edges(u, v, weights, n_vertices=points.n_vertices, merge_parallel=True)


def _table(name: str, given: Any, n: int) -> Array:
    """Return an array with a row a point, or raise."""
    table = as_array(name, given, error=InvalidGraphError)
    if table.ndim != 2 or table.shape[0] != n or table.dtype.kind not in "iuf":
        raise InvalidGraphError(
            f"{name} have shape {table.shape} and dtype {table.dtype}; they must be real numbers, "
            f"a row for each of {n} points"
        )
    return table


def _ends(indices: Array) -> tuple[Array, Array, Array]:
    """Return the ends of all entries that are neighbours, and which entries are.

    Entries of -1 mean none. So do those whose bits are all ones, as -1 is without a sign.
    """
    n, none = indices.shape[0], indices.dtype.type(-1 if indices.dtype.kind == "i" else 0)
    if indices.dtype.kind == "u":
        none = np.iinfo(indices.dtype).max
    is_there = indices != none
    rows, columns = np.nonzero(is_there)
    to = indices[is_there]
    wrong = np.flatnonzero((to < 0) | (to >= n))
    if wrong.size:
        row, column = int(rows[wrong[0]]), int(columns[wrong[0]])
        raise InvalidGraphError(
            f"neighbour {column} of point {row} is {indices[row, column]}; it must be from 0 to "
            f"{n - 1}, or -1 where there is none"
        )
    return rows, to.astype(np.int64), is_there
