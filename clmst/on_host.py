"""Solve graphs on the host if no OpenCL device was found."""

from __future__ import annotations

from typing import Any

from clmst import route
from clmst.core.coercion import as_graph, as_listed
from clmst.core.forest import Forest, routed
from clmst.core.graph import Graph
from clmst.core.kruskal import forest_of_matrix, is_plain, kruskal
from clmst.runtime.discovery import get_device
from clmst.scale.fallback import proved


def solve_on_host(graph: Any, *, maximum: bool, verify: bool) -> Forest:
    """Compute the spanning forest of a graph with Kruskal's algorithm on the host.

    The pairs of a complete graph are listed first. One of more than 11,585 vertices has too many
    and raises UnsupportedDeviceError. With `verify` the forest is proved before it is returned.
    """
    forest = forest_of_matrix(graph, maximum=maximum) if is_plain(graph) else None
    if forest is None:
        graph = as_graph(graph)
        if not isinstance(graph, Graph):
            if not route.host_lists_complete(graph.n_vertices):
                get_device()  # raises an error that says what to install
            graph = graph.to_graph()
        forest = kruskal(graph, maximum=maximum)
    forest = routed(forest, route.Way(route.HOST, "there is no device"))
    return proved(as_listed(graph), forest) if verify else forest
