"""Lists of edges as the arrays of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core import csr
from clmst.core.arguments import check_bool, check_integer
from clmst.core.deferred_graph import DeferredGraph
from clmst.core.edge_list import EdgeList, arrays_of
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph_checks import check_coordinates, check_implied, check_size, check_weights
from clmst.core.weight_keys import as_weights


def graph_of(
    u: Any,
    v: Any,
    w: Any,
    n_vertices: int | None,
    *,
    merge_parallel: bool,
    relabel: bool,
    coordinates: Any,
) -> DeferredGraph:
    """Return the graph that :meth:`clmst.Graph.from_edges` makes."""
    check_bool("merge_parallel", merge_parallel)
    if check_bool("relabel", relabel) and n_vertices is not None:
        raise InvalidArgumentError(
            f"relabel is True and n_vertices is {n_vertices}; relabelling counts the vertices "
            "that occur, so leave n_vertices out"
        )
    if n_vertices is not None:
        n_vertices = check_integer("n_vertices", n_vertices)
        check_size(n_vertices, 0)
    labels = None
    u, v = csr.check_pairs(u, v)
    if relabel:
        u, v, numbers = csr.rank(u, v)
        n_vertices, labels = numbers.size, tuple(numbers.tolist())
    else:
        greatest = max(csr.check_range(u, n_vertices, "u"), csr.check_range(v, n_vertices, "v"))
    m = u.size
    w = np.ones(m, np.uint8) if w is None else as_weights(w)
    if w.shape != (m,):
        raise InvalidGraphError(
            f"u and v have {m} entries but w has shape {w.shape}; there must be one weight an edge"
        )
    if n_vertices is None:
        n_vertices = 1 + greatest
        check_implied(n_vertices, m)
    check_size(n_vertices, m)
    check_weights(w, lambda e: (int(u[e]), int(v[e])), labels)
    edges = EdgeList(u=u, v=v, weights=w, n_vertices=n_vertices, merge_parallel=merge_parallel)
    return DeferredGraph.of_edges(
        edges, vertex_labels=labels, coordinates=check_coordinates(coordinates, n_vertices)
    )


def of_owned(arrays: list[Any], n_vertices: int) -> dict[str, Any]:
    """Return the attributes of a graph of edges that a file holds, parallel ones merged.

    Parameters
    ----------
    arrays : list
        Endpoints u and v as uint32 or int64, and weights or None: checked, and no one else's. They
        are taken out of the list and overwritten: so the memory of a large file is enough for it.
    n_vertices : int
    """
    w, v, u = (arrays.pop() for _ in range(3))
    m = u.size
    check_size(n_vertices, m)
    w = np.ones(m, np.uint8) if w is None else w
    greater = np.maximum(u, v)
    ends = [np.minimum(u, v, out=u if u.dtype == v.dtype else None), greater]
    del u, v, greater
    upper = csr.merge_parallel(csr.sort_upper(n_vertices, ends), w)
    return {"is_symmetric": False, "n_input": m, **arrays_of(upper, w)}
