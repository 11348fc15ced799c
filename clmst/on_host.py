"""Forests without a device, of what is solved on one where there is one."""

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
    """Return the forest of a graph of the host; raise for a complete one of too many edges."""
    forest = forest_of_matrix(graph, maximum=maximum) if is_plain(graph) else None
    if forest is None:
        graph = as_graph(graph)
        if not isinstance(graph, Graph):
            if not route.host_lists_complete(graph.n_vertices):
                get_device()  # which says what to install
            graph = graph.to_graph()
        forest = kruskal(graph, maximum=maximum)
    forest = routed(forest, route.Way(route.HOST, "there is no device"))
    return proved(as_listed(graph), forest) if verify else forest
