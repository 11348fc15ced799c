"""Checks of the arguments of a dynamic forest: edges to insert, ids, weights and vertices.

In this module, the *row* of an edge is its place in the columns of the forest's state.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core import csr
from clmst.core.arguments import as_array, check_row, shown
from clmst.core.coercion import as_listed
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_size, check_weights
from clmst.core.tables import arrays_of, names_of
from clmst.core.vertex_names import integer_labels
from clmst.core.weight_keys import Array, as_weights, convert, first_nan
from clmst.dynamic.change import Batch
from clmst.dynamic.state import State
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.discovery import default_device


def on_host(values: Any, device: Device | None) -> Any:
    """Copy `values` to the host if it is an array on a device, and block until it is copied.

    Anything else is returned unchanged. `device` is the device of the forest, or None for the
    default device.
    """
    if values is None or isinstance(values, np.ndarray | np.generic | list | tuple | int):
        return values
    found = default_device() if device is None else device
    array = None if found is None else DeviceArray.in_context(values, found)
    return values if array is None else array.to_host()


def first_edges(graph: Graph, dtype: np.dtype[Any]) -> Batch:
    """Return the edges of a graph, with their ids in the graph, and weights of dtype `dtype`."""
    u, v, weights, ids = graph.edges()
    if (ids[1:] < ids[:-1]).any():
        # Ids are distinct and nearly fill the range from 0 to n_input, so their positions are found
        # by a table instead of a sort.
        places = np.full(graph.n_input, -1, np.int64)
        places[ids] = np.arange(ids.size)
        order = places[places >= 0]
        u, v, weights, ids = u[order], v[order], weights[order], ids[order]
    return _batch_of(
        u, v, _converted(weights, dtype, "weights"), ids=ids.astype(np.int64),
        next_id=graph.n_input,
    )  # fmt: skip


def batch_of(u: Any, v: Any, w: Any, state: State, device: Device | None) -> Batch:
    """Check the arguments `u`, `v` and `w` of an insert, and return the edges with new ids.

    `state` is the present state. `device` is the device of the forest, or None for the default
    device. Raises InvalidGraphError or InvalidArgumentError if the edges are invalid; see
    :meth:`clmst.DynamicForest.insert`.
    """
    dtype, n = state.columns.weights.dtype, state.n_vertices
    if v is None:
        if w is not None:
            raise InvalidArgumentError("w is given without v; give both ends of the edges")
        u, v, w = _columns_of(u, n)
    u, v = csr.check_pairs(on_host(u, device), on_host(v, device))
    csr.check_range(u, n, "u")
    csr.check_range(v, n, "v")
    w = np.ones(u.size, np.uint8) if w is None else as_weights(on_host(w, device))
    if w.size == 0:
        w = w.astype(dtype)  # NumPy makes an empty list float64
    if w.shape != u.shape:
        raise InvalidGraphError(
            f"u and v have {u.size} entries but w has shape {w.shape}; there must be one weight an "
            "edge"
        )
    check_weights(w, lambda e: (int(u[e]), int(v[e])))
    check_size(n, state.n_rows + u.size)
    first, next_id = state.next_id, state.next_id + u.size
    return _batch_of(u, v, _converted(w, dtype, "w"), np.arange(first, next_id), next_id)


def expired(before: int, state: State) -> dict[str, Any]:
    """Return the fields of an Edit that deletes all edges whose ids are less than `before`.

    `state` is the present state.
    """
    end = int(np.searchsorted(state.columns.ids[: state.n_rows], before))
    rows = state.present_rows(end)
    return {"deleted": rows, "ids": state.columns.ids[rows]}


def in_window(batch: Batch, window: int, state: State) -> tuple[Batch, dict[str, Any]]:
    """Limit an insert of a batch of edges to the last `window` ids.

    The last ids are the greatest ids that have been given, including the ids of the batch. The
    first result is the batch without the edges whose ids are not among the last ids. The second
    result has the fields of an Edit that deletes all edges of `state` whose ids are not among the
    last ids.
    """
    before = max(batch.next_id - window, 0)
    stay = slice(int(np.searchsorted(batch.ids, before)), None)
    kept = replace(
        batch, u=batch.u[stay], v=batch.v[stay], weights=batch.weights[stay], ids=batch.ids[stay]
    )
    return kept, expired(before, state)


def _columns_of(edges: Any, n_vertices: int) -> tuple[Any, Any, Any]:
    """Return the ends and weights of edges that are given as a single object.

    The object is a table, a tuple, the path of a file, or a graph. If the vertices of a graph have
    labels, the ends are the labels. Raises InvalidGraphError if a label is not a non-negative
    integer, or if a graph without labels has more than `n_vertices` vertices.
    """
    if isinstance(edges, str | Path):
        edges = Graph.read(edges)
    if isinstance(edges, tuple | list) or names_of(edges) is not None:
        u, v, w, ids = arrays_of(edges, None, None, "edges")
        if ids is not None:
            raise InvalidArgumentError(
                "edges is a tuple of four; it must be (u, v) or (u, v, w), since an insert "
                "chooses the ids"
            )
        return u, v, w
    listed = as_listed(edges)
    names, labels = listed.vertex_labels, integer_labels(listed.vertex_labels)
    if names is not None and labels is None:
        raise InvalidGraphError(
            f"the edges are a graph with a vertex named {_unusable(names)}; the vertices of a "
            "dynamic forest are numbers, so names must be non-negative integers"
        )
    if labels is None and listed.n_vertices > n_vertices:
        raise InvalidGraphError(
            f"the edges are a graph of {listed.n_vertices} vertices where the forest has "
            f"{n_vertices}; insert_vertices() makes more"
        )
    u, v, w, ids = listed.edges()
    order = np.argsort(ids, kind="stable")
    u, v, w = u[order], v[order], w[order]
    return (u, v, w) if labels is None else (labels[u], labels[v], w)


def _unusable(names: Sequence[Hashable]) -> str:
    """Return the first name that is not a non-negative integer below 2**63, for a message."""
    return next(shown(name) for name in names if integer_labels((name,)) is None)


def _batch_of(u: Array, v: Array, weights: Array, ids: Array, next_id: int) -> Batch:
    """Return a batch of the edges (u[i], v[i]), which have been checked.

    ``weights[i]`` and ``ids[i]`` belong to edge i. `next_id` is the id that the first edge after
    the batch gets.
    """
    lesser, greater = np.minimum(u, v).astype(np.uint32), np.maximum(u, v).astype(np.uint32)
    return Batch(u=lesser, v=greater, weights=weights, ids=ids, next_id=next_id)


def _converted(weights: Array, dtype: np.dtype[Any], name: str) -> Array:
    """Convert weights to `dtype`, the dtype of a forest's weights.

    Raises InvalidArgumentError if a weight would change by the conversion. `name` is the name of
    the argument, for the message.
    """
    converted, wrong = convert(weights, dtype)
    if wrong is not None:
        raise InvalidArgumentError(
            f"{name}[{wrong}] is {weights[wrong]}, which {dtype}, the dtype of the forest's "
            "weights, does not hold exactly; weight_dtype of the constructor sets another dtype"
        )
    return converted


def rows_of(ids: Any, name: str, state: State, device: Device | None) -> npt.NDArray[np.int64]:
    """Return the rows of the edges with the given ids, in the order of the ids.

    `state` is the present state, and `device` the device of the forest, or None for the default
    device. Raise InvalidArgumentError if an id is not present. `name` is the name of the argument,
    for the message.
    """
    return _found(ids, name, state, device)[0]


def deletion_of(ids: Any, name: str, state: State, device: Device | None) -> dict[str, Any]:
    """Return the rows of edges to delete, and their ids, as fields of an Edit.

    The arguments are as in :func:`rows_of`. Raise InvalidArgumentError also if an id occurs twice.
    """
    rows, given = _found(ids, name, state, device)
    ascending = np.sort(rows)  # far quicker than the order of the rows
    if (ascending[1:] == ascending[:-1]).any():
        order = np.argsort(rows, kind="stable")
        again = order[1:][rows[order[1:]] == rows[order[:-1]]]
        at = int(again.min())
        raise InvalidArgumentError(
            f"{name}[{at}] is {int(given[at])}, which occurs before; an id may occur once"
        )
    return {"deleted": rows, "ids": given.astype(np.int64)}


def _found(
    ids: Any, name: str, state: State, device: Device | None
) -> tuple[npt.NDArray[np.int64], Array]:
    """Return the rows of the edges with the given ids, and the ids as an array.

    The arguments are as in :func:`rows_of`. Raise InvalidArgumentError if an id is not present.
    """
    given = as_array(name, on_host(ids, device))
    if given.size == 0:
        given = np.zeros(given.shape, np.int64)  # NumPy makes an empty list float64
    check_row(name, given, error=InvalidArgumentError)
    rows, wrong = state.rows_of(given)
    if wrong is not None:
        number = int(given[wrong])
        fact = "is gone" if 0 <= number < state.next_id else "has never been inserted"
        raise InvalidArgumentError(
            f"{name}[{wrong}] is {number}, and this edge {fact}; ids must be of present edges"
        )
    return rows, given


def changes_of(
    ids: Any, w: Any, names: tuple[str, str], state: State, device: Device | None
) -> tuple[npt.NDArray[np.int64], Array]:
    """Return the rows of edges, each once and in ascending order, and the new weight of each.

    `state` is the present state, and `device` the device of the forest, or None for the default
    device. `names` has the names of the arguments `ids` and `w`, for messages. If an id occurs
    several times, its last weight counts.
    """
    rows = rows_of(ids, names[0], state, device)
    columns, name = state.columns, names[1]
    values = as_weights(on_host(w, device))
    if values.size == 0:
        values = values.astype(columns.weights.dtype)  # NumPy makes an empty list float64
    if values.shape != rows.shape:
        raise InvalidArgumentError(
            f"{name} has shape {values.shape} for {rows.size} ids; there must be one weight for "
            "each"
        )
    if (nan := first_nan(values)) is not None:
        raise InvalidGraphError(
            f"{name}[{nan}], the weight of edge {columns.ids[rows[nan]]}, is NaN; weights must be "
            "ordered, and infinities are the only special values allowed"
        )
    values = _converted(values, columns.weights.dtype, name)
    order = np.argsort(rows, kind="stable")
    rows, values = rows[order], values[order]
    is_last = np.ones(rows.size, np.bool_)
    is_last[:-1] = rows[1:] != rows[:-1]
    return rows[is_last], values[is_last]


def pairs_of(u: Any, v: Any, n_vertices: int, device: Device | None) -> tuple[Array, Array, bool]:
    """Return `u` and `v` as two arrays of vertices, and whether both are single vertices.

    `device` is the device of the forest, or None for the default device. Raises InvalidGraphError
    if a vertex is not from 0 to below `n_vertices`.
    """
    u = as_array("u", on_host(u, device), error=InvalidGraphError)
    v = as_array("v", on_host(v, device), error=InvalidGraphError)
    is_one = u.ndim == v.ndim == 0
    x, y = csr.check_pairs(*(np.atleast_1d(u, v) if is_one else (u, v)))
    csr.check_range(x, n_vertices, "u")
    csr.check_range(y, n_vertices, "v")
    return x, y, is_one
