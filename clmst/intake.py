"""Conversion of a caller's graph into one of clmst's own, and onto a device."""

from __future__ import annotations

from typing import Any

from clmst.algorithms.canonical_csr.arrange import put_edges
from clmst.algorithms.csr_validation.check import (
    SolveUnread,
    forest_or_graph,
    put_matrix,
)
from clmst.algorithms.registry import takes_complete_graphs
from clmst.core.arguments import check_bool
from clmst.core.coercion import as_graph
from clmst.core.deferred_graph import DeferredGraph
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard, check_memory


def on_device(
    graph: Any,
    device: Any,
    *,
    algorithm: str = "auto",
    symmetrize: bool = False,
    solve: SolveUnread | None = None,
) -> Forest | DeviceGraph | DeviceMatrix:
    """Return a graph on the device that is meant, for which the device's own queue may wait.

    Its forest instead, if `solve` finds that. Other arguments are as of
    :func:`clmst.minimum_spanning_forest`.
    """
    if not isinstance(graph, DeviceGraph | DeviceMatrix):
        found = get_device(device)
        if (taken := forest_or_graph(graph, found, solve)) is not None:
            return taken
        return put_by_host(graph, found, algorithm=algorithm, symmetrize=symmetrize, wait=False)
    check_same_device(graph, device)
    if isinstance(graph, DeviceGraph):
        check_memory(graph.device, graph.weights)
    else:
        check_takes_complete(algorithm, graph)
        graph.check_memory()
    return graph


def put(
    graph: Any, device: Device, *, symmetrize: bool = False, wait: bool
) -> DeviceGraph | DeviceMatrix:
    """Put a graph on a device: as it is if the device finds that it can be, else by the host.

    Arguments are as of :func:`put_by_host`.
    """
    check_bool("symmetrize", symmetrize)
    found = put_matrix(graph, device)
    return found or put_by_host(graph, device, symmetrize=symmetrize, wait=wait)


def put_by_host(
    graph: Any,
    device: Device,
    *,
    algorithm: str = "auto",
    symmetrize: bool = False,
    wait: bool,
) -> DeviceGraph | DeviceMatrix:
    """Put a graph on a device that the device did not take as it is.

    If `algorithm` takes no complete graphs, such a one is not uploaded. `wait` is as of
    :meth:`DeviceGraph.upload`, all else as of :func:`clmst.minimum_spanning_forest`.
    """
    own = as_graph(graph, symmetrize=symmetrize)
    if isinstance(own, DeferredGraph) and own.edge_list is not None:
        attributes = {"vertex_labels": own.vertex_labels, "coordinates": own.coordinates}
        found = put_edges(own.edge_list, device, **attributes)
        if found is not None:
            return found
    if isinstance(own, Graph):
        with Guard(device):
            return DeviceGraph.upload(own, device, wait=wait)
    check_takes_complete(algorithm, graph)
    with Guard(device):
        return DeviceMatrix.upload(own, device)


def check_takes_complete(algorithm: str, graph: Any) -> None:
    """Raise unless an algorithm takes complete graphs, which list no edges."""
    if not takes_complete_graphs(algorithm):
        raise InvalidArgumentError(
            f"a {type(graph).__name__} is a complete graph, which only 'dense' takes as it is; "
            f"{algorithm!r} takes edges: to_graph() of a DenseGraph or of Points lists them"
        )


def check_same_device(graph: DeviceGraph | DeviceMatrix, device: Any) -> None:
    """Raise if a graph that is on a device is wanted on another one."""
    if device is not None and get_device(device) is not graph.device:
        raise InvalidArgumentError(
            f"the graph is on {graph.device.description} already; leave device out, or give the "
            "graph itself"
        )
