"""Core distances where distances are stored: a matrix of all, or a graph of some."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array

_CELLS_AT_ONCE = 1 << 22


def core_of_matrix(weights: Array, min_samples: int) -> npt.NDArray[np.float64]:
    """Return the core distance of each row of a matrix of distances, whose diagonal counts as 0."""
    n = weights.shape[0]
    core = np.empty(n)
    n_rows = max(_CELLS_AT_ONCE // max(n, 1), 1)
    for first in range(0, n, n_rows):
        rows = weights[first : first + n_rows].copy()
        at = np.arange(len(rows))
        rows[at, first + at] = 0
        core[first : first + n_rows] = np.partition(rows, min_samples - 1)[:, min_samples - 1]
    return core


def core_of_edges(graph: Graph, min_samples: int) -> npt.NDArray[np.float64]:
    """Return the core distance of each vertex of a graph that stores both directions.

    Raises
    ------
    InvalidGraphError
        A vertex has too few neighbours.
    """
    n, core = graph.n_vertices, np.zeros(graph.n_vertices)
    indptr, weights = _without_loops(graph)
    starts, counts = indptr[:-1].astype(np.int64), np.diff(indptr)
    if min_samples == 1:
        return core
    few = np.flatnonzero(counts < min_samples - 1)
    if few.size:
        raise InvalidGraphError(
            f"point {few[0]} has {counts[few[0]]} stored distances, and min_samples is "
            f"{min_samples}; every point must have {min_samples - 1} or more, as it counts itself"
        )
    first = 0
    while first < n:  # whole rows of so many slots at a time
        last = int(np.searchsorted(indptr, starts[first] + _CELLS_AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), n)
        begin, end = int(indptr[first]), int(indptr[last])
        some = weights[begin:end]
        rows = np.repeat(np.arange(last - first), counts[first:last])
        risen = some[np.lexsort((some, rows))]
        core[first:last] = risen[starts[first:last] - begin + min_samples - 2]
        first = last
    return core


def _without_loops(graph: Graph) -> tuple[Array, Array]:
    """Return row offsets and weights of a graph, without its loops."""
    n, counts = graph.n_vertices, np.diff(graph.indptr)
    rows = np.repeat(np.arange(n), counts)
    is_edge = rows != graph.indices
    if is_edge.all():
        return graph.indptr, graph.weights
    counts = np.bincount(rows[is_edge], minlength=n)
    return np.concatenate([[0], np.cumsum(counts)]), graph.weights[is_edge]
