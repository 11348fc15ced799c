"""The progress and the result of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgePart
from clmst.core.arguments import check_integer, check_kind
from clmst.core.csr import index_dtype
from clmst.core.errors import InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """The progress of a stream; printed, it says how much is done, and how quickly.

    Attributes
    ----------
    edges : int
        Edges read, those before a checkpoint included; of the present pass.
    n_edges : int or None
        Edges of the whole stream, if known.
    edges_now : int
        Edges read by this call.
    seconds : float
        Since this call began.
    forest_edges : int
        Edges of the forest of what has been reduced.
    reductions : int
        Solves so far.
    passes : int
        Which reading of the stream this is: 1, unless memory is so short that several are needed.
    """

    edges: int
    n_edges: int | None
    edges_now: int
    seconds: float
    forest_edges: int
    reductions: int
    passes: int = 1

    def __post_init__(self) -> None:
        for name in ("edges", "edges_now", "forest_edges", "reductions", "passes"):
            check_integer(name, getattr(self, name), low=0)
        if self.n_edges is not None:
            check_integer("n_edges", self.n_edges, low=0)
        check_kind("seconds", self.seconds, float, rule="it must be a float")

    @property
    def edges_per_second(self) -> float:
        """Edges per second of this call; 0 before the clock has moved."""
        return self.edges_now / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds left of this pass, at the present rate; None if that is unknown."""
        if self.n_edges is None or not self.edges_per_second:
            return None
        return max(0, self.n_edges - self.edges) / self.edges_per_second

    def __str__(self) -> str:
        """Return text as ``pass 3, 42%, 12.3 million edges/s, 8.2 s left of it``."""
        parts = [f"pass {self.passes}"] if self.passes > 1 else []
        if self.n_edges:
            parts.append(f"{min(self.edges / self.n_edges, 1.0):.0%}")
        parts.append(f"{self.edges_per_second / 1e6:,.1f} million edges/s")
        if self.seconds_left is not None:
            parts.append(f"{self.seconds_left:,.1f} s left{' of it' if self.passes > 1 else ''}")
        return ", ".join(parts)


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

    Ids are slots of `graph`, if there is one; else `labels` are the names of vertices, shape (n,).
    Raise :class:`InvalidGraphError` if a caller has given two edges one id.
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
