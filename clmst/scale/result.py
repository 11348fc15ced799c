"""A reduced part as the forest that a caller gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clmst.core.errors import InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.sorted_pairs import index_dtype
from clmst.core.weight_keys import Array
from clmst.scale.edge_part import EdgePart


def forest_of_part(
    part: EdgePart,
    *,
    n_vertices: int,
    maximum: bool,
    stats: Mapping[str, Any],
    graph: Graph | None = None,
    has_own_ids: bool = False,
    labels: Array | None = None,
) -> Forest:
    """Return the forest of a part that a reduction returned, in canonical order.

    The ids are slots of `graph`, if there is one; else `labels` are the names of vertices, shape
    (n,).

    Raises
    ------
    InvalidGraphError
        Two edges have one id, of a caller that has given ids.
    """
    ids: Array = part.edge_ids
    vertex_labels: Any = labels
    if graph is not None:
        ids = ids if graph.edge_ids is None else graph.edge_ids[ids]
        vertex_labels = graph.vertex_labels
    elif has_own_ids and ids.size:
        ordered = np.sort(ids)
        again = ordered[1:] == ordered[:-1]
        if again.any():
            raise InvalidGraphError(
                f"two edges have the id {int(ordered[int(np.argmax(again))])}; ids must be distinct"
            )
    ends = np.column_stack((np.minimum(part.u, part.v), np.maximum(part.u, part.v)))
    return Forest(
        n_vertices=n_vertices,
        edges=ends.astype(index_dtype(n_vertices, 0), copy=False),
        weights=part.weights,
        edge_ids=ids,
        maximum=maximum,
        stats=stats,
        vertex_labels=vertex_labels,
    )
