"""Conversion of any object that a caller gives as a graph to a graph class of clmst."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import check_bool, has, shown
from clmst.core.columns import WEIGHT, check_columns, is_name
from clmst.core.data_frames import graph_of_arrow, graph_of_pandas
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import GraphWarning, InvalidArgumentError, InvalidGraphError, callers_level
from clmst.core.graph import Graph
from clmst.core.points import Points

_SAMPLED_ROWS = 16
# Types of other libraries are recognised by their attributes. This table has the types whose
# weights do not have a name: the attributes of the type, and the function that converts a graph of
# that type.
_NAMELESS: dict[tuple[str, ...], Callable[[Any], Graph]] = {
    ("tocsr",): Graph.from_scipy,
    ("node_indices", "weighted_edge_list"): Graph.from_rustworkx,
}
# The table for types of graphs whose weights are in a named attribute or column. Its functions also
# get that name.
_NAMED: dict[tuple[str, ...], Callable[[Any, Any], Graph]] = {
    ("get_edgelist", "es", "vs"): Graph.from_igraph,
    ("is_directed", "edges"): Graph.from_networkx,
    ("iloc", "columns"): lambda frame, weight: graph_of_pandas(Graph, frame, None, weight),
    ("__arrow_c_stream__",): lambda table, weight: graph_of_arrow(Graph, table, None, weight),
}
# The table for data frames and similar types, in which the columns of the ends have names, too.
_TABLES: dict[tuple[str, ...], Callable[[Any, Any], Graph]] = {
    ("iloc", "columns"): partial(graph_of_pandas, Graph),
    ("__arrow_c_stream__",): partial(graph_of_arrow, Graph),
}
_OWN_WEIGHTS = (Graph, DenseGraph, Points, np.ndarray, list, tuple)


def with_weight(graph: Any, weight: Any, columns: Any = None) -> Any:
    """Convert a graph of another library, with weights from an attribute or column of a given name.

    `weight` is the name, or None for edges of weight 1. `columns` are the names of the columns of a
    table, or None. If `weight` is the default, "weight", and `columns` is None, `graph` is returned
    unchanged. Raise InvalidArgumentError if the weights of this type of graph do not have a name,
    or if `columns` are given for anything but a table. Raise InvalidGraphError if the attribute or
    column does not exist.
    """
    if isinstance(weight, str):
        weight = str.__str__(weight)
        if weight == WEIGHT and columns is None:
            return graph
    if weight is not None and not is_name(weight):
        raise InvalidArgumentError(
            f"weight is {shown(weight)}; it must be the name of an attribute or a column, or None"
        )
    if columns is not None:
        return _with_columns(graph, weight, columns)
    if not isinstance(graph, _OWN_WEIGHTS):
        _refuse_lazy(graph)
        for attributes, take in _NAMED.items():
            if has(graph, *attributes):
                return take(graph, weight)
    raise InvalidArgumentError(
        f"weight is {shown(weight)}, and the weights of a {type(graph).__name__} have no name; "
        "leave it out (it is for graphs of NetworkX and igraph, data frames and Arrow tables)"
    )


def _with_columns(graph: Any, weight: Any, columns: Any) -> Graph:
    """Convert a table to a graph, reading the columns that `columns` names.

    `weight` must have its default, because the third name in `columns` is the column of weights.
    Raise InvalidArgumentError if it has not, or if `graph` does not have columns.
    """
    columns = check_columns(columns)
    if weight != WEIGHT:
        raise InvalidArgumentError(
            f"weight is {shown(weight)} and columns are {shown(columns)}; with columns=, the third "
            "name is the column of weights, and two names give every edge the weight 1"
        )
    if not isinstance(graph, _OWN_WEIGHTS):
        _refuse_lazy(graph)
        for attributes, take in _TABLES.items():
            if has(graph, *attributes):
                return take(graph, columns)
    raise InvalidArgumentError(
        f"columns are {shown(columns)}, and a {type(graph).__name__} has no columns; leave them "
        "out (they are for data frames and Arrow tables)"
    )


def _refuse_lazy(graph: Any) -> None:
    """Raise InvalidGraphError for a table whose rows have not been computed yet.

    The message names the call that computes the rows, or the function that takes the table.
    """
    if has(graph, "collect", "collect_schema"):
        raise InvalidGraphError(
            f"the graph is a {type(graph).__name__}, which has no rows before it is collected; "
            "give frame.collect()"
        )
    if has(graph, "to_arrow_refs", "materialize"):
        raise InvalidGraphError(
            f"the graph is a {type(graph).__name__} of Ray; clmst.ray.minimum_spanning_forest "
            "takes it"
        )


def is_of_another_library(graph: Any) -> bool:
    """Return whether :func:`as_graph` would recognise an object as another library's graph."""
    return any(has(graph, *attributes) for attributes in (*_NAMELESS, *_NAMED))


def as_graph(graph: Any, *, symmetrize: bool = False) -> Graph | DenseGraph | Points:
    """Convert any object that describes a graph to a graph class of clmst.

    Parameters
    ----------
    graph : object
        A graph, matrix or table of any supported type. For a graph on a device, the graph on the
        host from which it was uploaded is returned.
    symmetrize : bool
        Allow the cells (i, j) and (j, i) of a dense matrix to differ, as in
        :class:`clmst.DenseGraph`.

    Raises
    ------
    InvalidGraphError
        The object is not a graph, or is malformed.

    Warns
    -----
    GraphWarning
        Most cells of a dense matrix are 0. Each of them is an edge, unlike in SciPy.
    """
    check_bool("symmetrize", symmetrize)
    if isinstance(graph, Graph | DenseGraph | Points):
        return graph
    if has(graph, "graph") and isinstance(graph.graph, Graph | DenseGraph | Points):
        return graph.graph  # `graph` is a DeviceGraph or a DeviceMatrix
    if isinstance(graph, np.ma.MaskedArray):
        return Graph.from_masked(graph, symmetrize=symmetrize)
    if isinstance(graph, np.ndarray | list | tuple):
        complete = DenseGraph(_square(graph), symmetrize=symmetrize)
        _warn_of_zeros(complete)
        return complete
    return _of_another_library(graph)


def _of_another_library(graph: Any) -> Graph:
    """Convert an object of another library, which is recognised by its attributes."""
    _refuse_lazy(graph)
    for attributes, take in _NAMELESS.items():
        if has(graph, *attributes):
            return take(graph)
    for attributes, take_named in _NAMED.items():
        if has(graph, *attributes):
            return take_named(graph, WEIGHT)
    hint = "; clmst.read_graph reads a file" if isinstance(graph, str | Path) else ""
    fact = "None" if graph is None else f"of type {type(graph).__name__}"
    raise InvalidGraphError(
        f"the graph is {fact}; it must be a clmst.Graph, DenseGraph or Points, a scipy.sparse "
        "array or matrix, a graph of NetworkX, rustworkx or igraph, a data frame of edges, or a "
        f"symmetric matrix as a NumPy array or a list of rows{hint}"
    )


def as_listed(graph: Any, *, symmetrize: bool = False) -> Graph:
    """Convert `graph` to a :class:`Graph`, which lists its edges. O(n**2) for a complete graph.

    If `symmetrize` is True, the cells (i, j) and (j, i) of a dense matrix may differ, and the
    lesser one is the weight.
    """
    own = as_graph(graph, symmetrize=symmetrize)
    return own if isinstance(own, Graph) else own.to_graph()


def _square(matrix: Any) -> Any:
    """Check that a list of rows forms a square matrix, and return the matrix.

    Raise InvalidGraphError for any other list, which may have been meant as edges or points. An
    empty list becomes an array of shape (0, 0). Anything but a list or tuple is returned unchanged.
    """
    if not isinstance(matrix, list | tuple):
        return matrix
    if any(_length(row) != len(matrix) for row in matrix):
        raise InvalidGraphError(
            f"a list of {len(matrix)} rows is given, and not each has {len(matrix)} entries; a "
            "list must be a square matrix (clmst.Graph.from_edges takes lists of ends and weights, "
            "clmst.Points rows that are points)"
        )
    return matrix or np.zeros((0, 0))


def _length(row: Any) -> int | None:
    """Return the length of a row. Return None if the row does not have a length."""
    try:
        return len(row)
    except Exception:
        return None


def _warn_of_zeros(graph: DenseGraph) -> None:
    """Warn if most cells of a dense matrix are 0, because 0 would mean "no edge" in SciPy. O(n).

    Only a sample of the rows is examined.
    """
    rows = graph.weights[:: max(graph.n_vertices // _SAMPLED_ROWS, 1)][:_SAMPLED_ROWS]
    zeros, cells = int(np.count_nonzero(rows == 0)), rows.size
    if 2 * (zeros - len(rows)) > cells > 0:  # zeros on the diagonal do not count
        warnings.warn(
            "most cells of the matrix are 0, and each of them is an edge of weight 0; where 0 "
            "means no edge, as in SciPy, give scipy.sparse.csr_array(matrix); where it is a "
            "weight, give clmst.DenseGraph(matrix), which does not warn",
            GraphWarning,
            stacklevel=callers_level(),
        )
