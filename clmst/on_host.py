"""Solve graphs on the host when no OpenCL device is found, or when none can solve them."""

from __future__ import annotations

from typing import Any

from clmst import route
from clmst.core.coercion import as_graph, as_listed
from clmst.core.complete_trees import spanning_tree
from clmst.core.forest import Forest, routed
from clmst.core.from_scipy import is_plain
from clmst.core.graph import Graph
from clmst.core.kruskal import forest_of_matrix, kruskal
from clmst.runtime.discovery import get_device


def solve_on_host(
    graph: Any, *, maximum: bool, verify: bool, way: route.Way | None = None
) -> Forest:
    """Compute the minimum spanning forest of a graph on the host, or the maximum if `maximum`.

    Complete graphs are solved without a list of their pairs (:mod:`clmst.core.complete_trees`), and
    graphs with edges by Kruskal's algorithm. With `verify` the forest is proved before it is
    returned. The proof lists the pairs of a complete graph, so a complete graph of more than 11,585
    vertices raises UnsupportedDeviceError then. `way` is a record of why the host solves, which is
    stored in the forest. None means that no device was found.
    """
    way = route.way_of_host() if way is None else way
    forest = forest_of_matrix(graph, maximum=maximum) if is_plain(graph) else None
    if forest is None:
        graph = as_graph(graph)
        if isinstance(graph, Graph):
            forest = kruskal(graph, maximum=maximum)
        else:
            if verify and not route.host_lists_complete(graph.n_vertices):
                get_device()  # raises an error that says what to install
            forest = spanning_tree(graph, maximum=maximum)
    forest = routed(forest, way)
    if not verify:
        return forest
    from clmst.scale.fallback import proved

    return proved(as_listed(graph), forest)
