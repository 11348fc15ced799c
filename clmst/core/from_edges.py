"""Lists of edges as the arrays of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core import csr
from clmst.core.arguments import check_bool, check_integer
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph_checks import check_coordinates, check_implied, check_size, check_weights
from clmst.core.weight_keys import as_weights


def attributes(
    u: Any,
    v: Any,
    w: Any,
    n_vertices: int | None,
    *,
    merge_parallel: bool,
    relabel: bool,
    coordinates: Any,
) -> dict[str, Any]:
    """Return the attributes of the graph that :meth:`clmst.Graph.from_edges` makes."""
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
    if relabel:
        u, v, numbers = csr.rank(*csr.check_pairs(u, v))
        n_vertices, labels = numbers.size, tuple(numbers.tolist())
    else:
        u, v = csr.check_endpoints(u, v, n_vertices)
    m = u.size
    w = np.ones(m, np.uint8) if w is None else as_weights(w)
    if w.shape != (m,):
        raise InvalidGraphError(
            f"u and v have {m} entries but w has shape {w.shape}; there must be one weight an edge"
        )
    if n_vertices is None:
        n_vertices = 1 + max(int(u.max()), int(v.max())) if m else 0
        check_implied(n_vertices, m)
    check_size(n_vertices, m)
    check_weights(w, lambda e: (int(u[e]), int(v[e])), labels)
    upper = csr.upper_from_edges(n_vertices, u, v)
    if merge_parallel:
        upper = csr.merge_parallel(upper, w)
    return _attributes(upper, w) | {
        "vertex_labels": labels,
        "coordinates": check_coordinates(coordinates, n_vertices),
    }


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
    return _attributes(upper, w)


def _attributes(upper: csr.Pattern, w: Any) -> dict[str, Any]:
    return {
        "indptr": upper.indptr,
        "indices": upper.indices,
        "weights": w[upper.positions],
        "is_symmetric": False,
        "edge_ids": upper.positions,
        "n_input": w.size,
    }
