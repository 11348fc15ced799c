"""Streams of edges: which reducer has them, and what is worth a filter or new numbers."""

from __future__ import annotations

from clmst.route.facts import StreamFacts, Way
from clmst.route.limits import LIMITS
from clmst.route.records import PASSES, REDUCED, REDUCED_ON_HOST


def way_of_stream(facts: StreamFacts) -> Way:
    """Return the way of the edges of a stream that have come and of those that come next.

    It is asked for each piece until the device has the edges, which then stay there.
    """
    if not facts.has_space:
        return Way(PASSES, f"no space for a forest of {facts.n_vertices:,} vertices and more edges")
    if facts.generated:
        return Way(REDUCED, "the device generates the edges")
    if facts.refused or facts.n_vertices == 0:
        return Way(REDUCED_ON_HOST, "the device has no space, or no vertices or trust")
    n_edges, n_new = facts.n_new + facts.n_forest, facts.n_new
    if is_sparse_part(facts.n_vertices, n_edges):
        return Way(REDUCED_ON_HOST, f"{n_edges:,} edges among {facts.n_vertices:,} vertices")
    least = max(LIMITS.stream_on_device, facts.n_forest)
    if n_new < least and not facts.reduced:
        return Way(REDUCED_ON_HOST, f"{n_new:,} edges so far, of fewer than {least:,}")
    return Way(REDUCED, f"{n_new:,} edges so far, of at least {least:,}, or the host has reduced")


def is_sparse_part(n_vertices: int, n_edges: int) -> bool:
    """Return whether most vertices have no edge in a part, so that it gets numbers of its own."""
    return n_edges * LIMITS.vertices_per_edge < n_vertices


def filters_on_host(n_to_come: int, n_vertices: int) -> bool:
    """Return whether the host filters later edges of a stream with the forest of earlier ones."""
    return n_to_come >= LIMITS.stream_filter * n_vertices


def streams_instead(bytes_needed: int, device_bytes: int) -> bool:
    """Return whether a graph that did not fit its device is solved as a stream of its edges."""
    return bytes_needed * LIMITS.streamed_part >= device_bytes
