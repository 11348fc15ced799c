"""The progress of a stream, and the conversion of its last forest to a Forest."""

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
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array

_EDGES_AT_ONCE = 1 << 18  # edges that a thread takes at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """How much of a stream has been read, the time it took, and the size of the forest so far.

    :func:`stream_minimum_spanning_forest` passes this object to `on_progress`. As text it is a
    short line with the percentage, the rate and the time left.

    Attributes
    ----------
    edges : int
        Number of edges that were read in the present pass, including those before a checkpoint.
    n_edges : int or None
        Number of edges of the whole stream, or None if it is unknown.
    edges_now : int
        Number of edges that this call has read, in all its passes, without those before a
        checkpoint.
    seconds : float
        Seconds since this call began.
    forest_edges : int
        Number of edges of the forest of all edges that have been reduced.
    reductions : int
        Number of reductions so far.
    passes : int
        The number of the present pass over the stream, from 1 on. It stays 1 unless the memory is
        so small that the stream has to be read several times.

    Examples
    --------
    >>> import clmst
    >>> progress = clmst.StreamProgress(
    ...     edges=3_000_000, n_edges=4_000_000, edges_now=3_000_000, seconds=2.0,
    ...     forest_edges=999, reductions=3,
    ... )
    >>> print(progress)
    75%, 1.5 million edges/s, 0.7 s left
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
        """Number of edges that this call reads per second; 0.0 if no time has passed yet."""
        return self.edges_now / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the stream has been read to its end, at the rate so far.

        None if the number of edges is unknown or no edges have been read.
        """
        if self.n_edges is None or not self.edges_per_second:
            return None
        return max(0, self.n_edges - self.edges) / self.edges_per_second

    def __str__(self) -> str:
        """Return a line such as ``pass 3, 42%, 12.3 million edges/s, 8.2 s left of it``.

        A pass reads the whole stream once.
        """
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
    """Convert the edges of a forest, in canonical order, to a Forest.

    `part` holds the edges. `maximum` says whether they are a maximum forest, and `stats` are the
    statistics. If the stream had the edges of a `graph`, the edge ids of `part` are CSR entries of
    the graph. They are replaced by the graph's edge ids, and the Forest gets the graph's labels.
    Otherwise `labels` are the names of the vertices, shape (n,), or None. If `has_own_ids` is True,
    the caller gave the edge ids, and InvalidGraphError is raised if two edges of the forest have
    the same id.
    """
    ids: Array = part.edge_ids
    vertex_labels: Any = labels
    if graph is not None:
        ids = ids if graph.edge_ids is None else graph.edge_ids[ids]
        vertex_labels = graph.vertex_labels
    elif has_own_ids and not (ids[1:] > ids[:-1]).all():
        ordered = np.sort(ids)
        again = ordered[1:] == ordered[:-1]
        if again.any():
            raise InvalidGraphError(
                f"two edges have the id {int(ordered[int(np.argmax(again))])}; ids must be distinct"
            )
    ends = np.empty((part.u.size, 2), index_dtype(n_vertices, 0))

    def order(some: slice) -> None:
        """Copy the ends of the edges `some` to `ends`, the lesser end of each edge first."""
        u, v = part.u[some], part.v[some]
        ends[some, 0], ends[some, 1] = np.minimum(u, v), np.maximum(u, v)

    in_threads(order, slices(part.u.size, _EDGES_AT_ONCE))
    return Forest(
        n_vertices=n_vertices,
        edges=ends,
        weights=part.weights,
        edge_ids=ids,
        maximum=maximum,
        stats=stats,
        vertex_labels=vertex_labels,
    )
