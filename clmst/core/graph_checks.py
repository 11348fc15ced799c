"""Checks of graphs: their size, their weights, and the types and contents of their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.core import csr
from clmst.core.arguments import as_reals, check_bool, check_integer, check_kind
from clmst.core.errors import InvalidGraphError
from clmst.core.vertex_names import label_of
from clmst.core.weight_keys import Array, check_dtype, first_nan, nan_error

if TYPE_CHECKING:
    from clmst.core.graph import Graph

MAX_VERTICES = 2**32 - 2
MAX_SLOTS = 2**32 - 1
# Maximum number of vertices of a complete graph. A row of its matrix is divided into up to 64
# blocks, and a device counts the blocks of all rows in 32 bits.
MAX_VERTICES_OF_COMPLETE = 2**26 - 1

# If the caller does not give the number of vertices, the greatest vertex number implies it. An
# implied number is accepted up to FREE_VERTICES, or up to VERTICES_PER_EDGE for each edge. Beyond
# that nearly all vertices would be isolated, and would waste memory and time.
FREE_VERTICES = 2**24
VERTICES_PER_EDGE = 64
# The minimum memory for building a graph. Each vertex has an element in two arrays of row starts
# while edges are sorted. Each edge has its endpoints and its position in the sorted order.
BYTES_PER_VERTEX = 12
BYTES_PER_EDGE = 24


def check_implied(n_vertices: int, n_edges: int) -> None:
    """Raise InvalidGraphError if a number of vertices that the caller did not give is too large.

    `n_vertices` is the greatest vertex number plus one. It is too large if it is above
    FREE_VERTICES and far above the number of edges.
    """
    if n_vertices > max(FREE_VERTICES, VERTICES_PER_EDGE * n_edges):
        needed = BYTES_PER_VERTEX * n_vertices + BYTES_PER_EDGE * n_edges
        raise InvalidGraphError(
            f"the greatest vertex number is {n_vertices - 1} among {n_edges} edges, so the graph "
            f"would have {n_vertices} vertices and take at least {needed} bytes; if this is "
            f"intended, give n_vertices={n_vertices}, or relabel=True to number only the "
            f"vertices that occur (one of the two is needed beyond {FREE_VERTICES} vertices and "
            f"{VERTICES_PER_EDGE} for each edge)"
        )


def check_attributes(graph: Graph) -> None:
    """Raise an error unless the attributes of a graph have the right types and lengths. O(1).

    The contents of the arrays are not checked, except the first and last element of `indptr`.
    """
    indptr, indices, weights = graph.indptr, graph.indices, graph.weights
    for name, array in (("indptr", indptr), ("indices", indices)):
        check_kind(name, array, np.ndarray, rule="it must be an array of uint32")
        if array.dtype != np.uint32 or array.ndim != 1:
            raise InvalidGraphError(
                f"{name} has dtype {array.dtype} and shape {array.shape}; it must have uint32 and "
                "one dimension"
            )
    check_kind("weights", weights, np.ndarray, rule="it must be an array")
    check_dtype(weights.dtype)
    if not weights.dtype.isnative or weights.shape != indices.shape:
        raise InvalidGraphError(
            f"weights have shape {weights.shape} and dtype {weights.dtype} for {indices.size} "
            "slots; there must be one for each slot, in native byte order"
        )
    if indptr.size == 0 or indptr[0] != 0 or int(indptr[-1]) != indices.size:
        raise InvalidGraphError(
            f"indptr has {indptr.size} entries for {indices.size} slots; it must go from 0 to the "
            "number of slots"
        )
    check_bool("is_symmetric", graph.is_symmetric)
    vars(graph)["n_input"] = check_integer("n_input", graph.n_input, low=0)
    if (ids := graph.edge_ids) is not None:
        check_kind("edge_ids", ids, np.ndarray, rule="it must be an array of int, or None")
        if ids.dtype.kind not in "iu" or ids.shape != indices.shape:
            raise InvalidGraphError(
                f"edge_ids have shape {ids.shape} and dtype {ids.dtype}; there must be one "
                f"integer for each of {indices.size} slots"
            )
    check_names(graph)


def check_names(graph: Graph) -> None:
    """Raise an error unless a graph's labels and coordinates have the right types and lengths.

    O(1).
    """
    check_labels(graph.vertex_labels, graph.n_vertices)
    if graph.coordinates is not None:
        check_kind("coordinates", graph.coordinates, np.ndarray, rule="it must be an array")
        check_coordinates(graph.coordinates, graph.n_vertices)


def check_contents(graph: Graph) -> None:
    """Raise InvalidGraphError unless the arrays of a graph are canonical. O(n + n_slots).

    The types and lengths of the arrays must have been checked before.
    """
    indptr, indices = graph.indptr, graph.indices
    csr.check_indptr(indptr, graph.n_vertices)
    csr.check_range(indices, graph.n_vertices, "indices")
    check_weights(
        graph.weights, lambda slot: csr.endpoints_of(indptr, indices, slot), graph.vertex_labels
    )
    if not csr.rows_are_sorted(indptr, indices):
        raise InvalidGraphError("the columns of a row fall; they must rise within each row")
    if graph.is_symmetric and not csr.is_symmetric(indptr, indices, graph.weights):
        raise InvalidGraphError(
            "is_symmetric is True but the arrays do not equal their transpose; every edge must be "
            "stored in both directions"
        )
    if not graph.is_symmetric and not csr.is_upper(indptr, indices):
        raise InvalidGraphError(
            "is_symmetric is False but a slot is below the diagonal; every edge must be stored "
            "once, in the row of its lesser end"
        )
    if graph.edge_ids is None:
        if graph.n_input < indices.size:
            raise InvalidGraphError(
                f"n_input is {graph.n_input} for {indices.size} slots, whose numbers are the "
                "edge ids; it must be at least the number of slots"
            )
        return
    low, high = int(graph.edge_ids.min(initial=0)), int(graph.edge_ids.max(initial=0))
    if graph.edge_ids.size and not 0 <= low <= high < graph.n_input:
        raise InvalidGraphError(
            f"edge_ids go from {low} to {high}; they must be from 0 to below n_input, "
            f"{graph.n_input}"
        )


def check_labels(labels: Any, n_vertices: int) -> None:
    """Raise InvalidGraphError unless labels are None or a sequence of `n_vertices` items."""
    if labels is None:
        return
    rule = "it must be a sequence with one for each vertex, or None"
    try:
        length = len(labels)
        labels[:0]
    except Exception as error:
        raise InvalidGraphError(f"vertex_labels are a {type(labels).__name__}; {rule}") from error
    if length != n_vertices:
        raise InvalidGraphError(
            f"there are {length} vertex_labels for {n_vertices} vertices; {rule}"
        )


def check_shape(shape: tuple[int, ...], *, else_: str = "") -> None:
    """Raise InvalidGraphError unless a matrix is square and has at most MAX_VERTICES rows.

    `shape` is the shape of the matrix. `else_` is the end of the message about a matrix that is not
    square. It tells the user which function accepts a matrix that is not square.
    """
    if shape[0] != shape[1]:
        raise InvalidGraphError(
            f"the matrix is {shape[0]} x {shape[1]}; an adjacency matrix must be square{else_}"
        )
    check_size(shape[0], 0)


def check_size(n_vertices: int, n_slots: int) -> None:
    """Raise InvalidGraphError if the vertices or the CSR entries cannot be numbered in 32 bits."""
    if not 0 <= n_vertices <= MAX_VERTICES:
        raise InvalidGraphError(
            f"the graph has {n_vertices} vertices; there may be 0 to 2**32 - 2 = {MAX_VERTICES}"
        )
    if n_slots > MAX_SLOTS:
        raise InvalidGraphError(
            f"the graph has {n_slots} stored edges; one device takes up to 2**32 - 1 = {MAX_SLOTS},"
            " and clmst.stream_minimum_spanning_forest any number, in chunks"
        )


def check_complete_size(n: int) -> None:
    """Raise InvalidGraphError if `n` vertices are too many for a complete graph."""
    if n > MAX_VERTICES_OF_COMPLETE:
        raise InvalidGraphError(
            f"there are {n} vertices; a complete graph may have up to 2**26 - 1 = "
            f"{MAX_VERTICES_OF_COMPLETE}"
        )


def check_weights(weights: Array, endpoints: Any, labels: Any = None) -> None:
    """Raise InvalidGraphError if a weight is NaN. The message names its edge.

    `endpoints` is a function that takes the position of a weight and returns the ends (u, v) of the
    edge. `labels` are the names of the vertices, or None.
    """
    nan = first_nan(weights)
    if nan is not None:
        u, v = (label_of(labels, vertex) for vertex in endpoints(nan))
        raise nan_error(f"edge {nan} ({u}, {v})")


def check_coordinates(coordinates: Any, n_vertices: int) -> npt.NDArray[np.float64] | None:
    """Return `coordinates` as float64 of shape (n_vertices, 2), or None for None.

    Raise InvalidGraphError if they have another shape or are not real numbers.
    """
    if coordinates is None:
        return None
    array = as_reals("coordinates", coordinates)
    if array.shape != (n_vertices, 2):
        raise InvalidGraphError(
            f"coordinates have shape {array.shape}; they must be ({n_vertices}, 2)"
        )
    return array
