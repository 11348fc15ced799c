"""What a solver can be made of, and the edges that come of it."""

from __future__ import annotations

from typing import Any

from clmst.algorithms.adoption import adopt
from clmst.core import topology
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.intake import as_graph, check_place
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.discovery import get_device


def edges_of(graph: Any, device: Any) -> tuple[Device, Graph]:
    """Return the device that is meant, and the graph's edges, each once."""
    if isinstance(graph, DeviceGraph):
        check_place(graph, device)
        return graph.device, topology.edges_once(graph.graph)
    device = get_device(device)
    return device, topology.edges_once(graph_of(graph, device))


def graph_of(graph: Any, device: Device) -> Graph:
    """Return a graph whose edges do not depend on its weights."""
    if hasattr(graph, "tocsr"):
        adopted = adopt(graph, device)
        return topology.graph_of_matrix(graph) if adopted is None else adopted.graph
    own = as_graph(graph)
    if not isinstance(own, Graph):
        raise InvalidArgumentError(
            f"a {type(graph).__name__} is a complete graph, which has no edges listed; "
            "to_graph() of a DenseGraph or of Points lists them"
        )
    return own
