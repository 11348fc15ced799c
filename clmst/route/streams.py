"""Decide where a stream of edges is solved, and whether filters or new vertex numbers save time.

A stream is solved by reductions, on the host or on a device. A reduction replaces all edges in
memory by their forest.
"""

from __future__ import annotations

from clmst.route.facts import StreamFacts, Way
from clmst.route.limits import LIMITS
from clmst.route.records import PASSES, REDUCED, REDUCED_ON_HOST


def way_of_stream(facts: StreamFacts) -> Way:
    """Choose where the edges of a stream are kept and reduced: on the host or on the device.

    To reduce edges is to replace them by their forest. If the memory limit in `facts` leaves no
    space for that, choose to read the stream once for each round of Borůvka's algorithm. The
    function is called for each piece of the stream until it chooses the device. From then on all
    edges are kept there.
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
    """Return whether most vertices do not have an edge in a part of a graph.

    The vertices that have edges then get new, consecutive numbers for the solve of the part.
    """
    return n_edges * LIMITS.vertices_per_edge < n_vertices


def filters_on_host(n_to_come: int, n_vertices: int) -> bool:
    """Return whether the host drops edges of a stream that cannot be in the forest, by a filter.

    The filter is built from the forest so far. It saves time if many edges follow: `n_to_come` is
    the number of edges that will be read before edges are next replaced by their forest, and
    `n_vertices` the number of vertices.
    """
    return n_to_come >= LIMITS.stream_filter * n_vertices


def streams_instead(bytes_needed: int, device_bytes: int) -> bool:
    """Return whether a graph is solved as a stream of edges after a device ran out of memory.

    `bytes_needed` is the memory of a solve, and `device_bytes` is the memory of the device. If the
    solve needs only a small part of the device's memory, the result is False, because then memory
    did not run out because of the graph's size.
    """
    return bytes_needed * LIMITS.streamed_part >= device_bytes
