"""Conversion of a caller's graph into one of clmst's own, and onto a device."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from clmst.algorithms.canonical_csr.arrange import put_edges
from clmst.algorithms.csr_validation.check import (
    FORMATS,
    SolveUnread,
    forest_or_graph,
    put_matrix,
)
from clmst.algorithms.registry import takes_complete_graphs
from clmst.core.arguments import check_bool
from clmst.core.coercion import as_graph
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.from_scipy import as_csr
from clmst.core.graph import DeferredGraph, Graph
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import DeviceParts
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard, check_memory


def taken(graph: Any, *, symmetrize: bool = False) -> Any:
    """Return what a caller gives for a graph as what is solved, on the host or on a device.

    A SciPy matrix is one still, in a form that a device takes; all else is one of clmst's own.
    """
    check_bool("symmetrize", symmetrize)
    if isinstance(graph, DeviceGraph | DeviceMatrix | DeviceParts):
        return graph
    is_sparse: bool = sparse.issparse(graph)
    if not is_sparse:
        return as_graph(graph, symmetrize=symmetrize)
    return graph if graph.format in FORMATS else as_csr(graph)


def on_device(
    graph: Any, device: Any, *, algorithm: str = "auto", solve: SolveUnread | None = None
) -> Forest | DeviceGraph | DeviceMatrix:
    """Return a graph on the device that is meant, for which the device's own queue may wait.

    Its forest instead, if `solve` finds that. The graph is as of :func:`taken`, other arguments are
    as of :func:`clmst.minimum_spanning_forest`.
    """
    if not isinstance(graph, DeviceGraph | DeviceMatrix):
        found = get_device(device)
        if (put := forest_or_graph(graph, found, solve)) is not None:
            return put
        return put_by_host(graph, found, algorithm=algorithm, wait=False)
    check_same_device(graph, device)
    if isinstance(graph, DeviceGraph):
        check_memory(graph.device, graph.weights)
    else:
        check_takes_complete(algorithm)
        graph.check_memory()
    return graph


def put(graph: Any, device: Device) -> DeviceGraph | DeviceMatrix:
    """Put a graph, as of :func:`taken`, on a device; by the host if the device does not take it."""
    return put_matrix(graph, device) or put_by_host(graph, device, wait=True)


def put_by_host(
    graph: Any, device: Device, *, algorithm: str = "auto", wait: bool
) -> DeviceGraph | DeviceMatrix:
    """Put a graph, as of :func:`taken`, on a device that did not take it as it is.

    If `algorithm` takes no complete graphs, such a one is not uploaded. `wait` is as of
    :meth:`DeviceGraph.upload`.
    """
    own = as_graph(graph)
    if isinstance(own, DeferredGraph) and own.edge_list is not None:
        attributes = {"vertex_labels": own.vertex_labels, "coordinates": own.coordinates}
        found = put_edges(own.edge_list, device, **attributes)
        if found is not None:
            return found
    if isinstance(own, Graph):
        with Guard(device):
            return DeviceGraph.upload(own, device, wait=wait)
    check_takes_complete(algorithm)
    with Guard(device):
        return DeviceMatrix.upload(own, device)


def check_takes_complete(algorithm: str) -> None:
    """Raise unless an algorithm takes complete graphs, which list no edges."""
    if not takes_complete_graphs(algorithm):
        raise InvalidArgumentError(
            f"the graph is a complete one, which only 'dense' takes as it is; {algorithm!r} takes "
            "edges: to_graph() of a DenseGraph or of Points lists them"
        )


def check_same_device(graph: DeviceGraph | DeviceMatrix, device: Any) -> None:
    """Raise if a graph that is on a device is wanted on another one."""
    if device is not None and get_device(device) is not graph.device:
        raise InvalidArgumentError(
            f"the graph is on {graph.device.description} already; leave device out, or give the "
            "graph itself"
        )
