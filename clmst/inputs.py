"""Conversion of the caller's graph to a type that clmst solves, and its upload to a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.canonical_csr.arrange import put_edges
from clmst.algorithms.csr_validation.check import (
    FORMATS,
    SolveUnread,
    forest_or_graph,
    put_matrix,
)
from clmst.algorithms.registry import takes_complete_graphs
from clmst.core.arguments import check_bool, is_sparse
from clmst.core.coercion import as_graph
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.from_scipy import as_csr, is_csr
from clmst.core.graph import DeferredGraph, Graph
from clmst.core.points import Points
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import DeviceParts
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard, check_memory


def taken(graph: Any, *, symmetrize: bool = False) -> Any:
    """Convert a caller's graph, of any kind, to an object that can be solved.

    A SciPy matrix stays a SciPy matrix, in a format that a device can check itself. A graph on a
    device stays as it is. Everything else becomes a :class:`Graph`, :class:`DenseGraph` or
    :class:`Points`. `symmetrize` lets the cells (i, j) and (j, i) of a dense matrix differ. Raise
    InvalidGraphError if the object is not a graph.
    """
    check_bool("symmetrize", symmetrize)
    if is_csr(graph):  # the most frequent kind, which is known at once
        return graph
    if isinstance(graph, DeviceGraph | DeviceMatrix | DeviceParts):
        return graph
    if not is_sparse(graph):
        return as_graph(graph, symmetrize=symmetrize)
    return graph if graph.format in FORMATS else as_csr(graph)


def host_solves_first(graph: Any) -> bool:
    """Return whether the host solves a graph while the kernels for it are built.

    The answer is False if `graph` is neither points, nor a Graph or DenseGraph, nor a SciPy matrix.
    """
    if isinstance(graph, Points | DenseGraph):
        return route.host_compares_first(graph.n_vertices)
    if isinstance(graph, Graph):
        return route.host_solves_first(graph.n_input)
    if not is_sparse(graph):
        return False
    n_entries = np.size(graph.data) if graph.format in FORMATS else graph.nnz
    return route.host_solves_first(n_entries)


def on_device(
    graph: Any, device: Any, *, algorithm: str = "auto", solve: SolveUnread | None = None
) -> Forest | DeviceGraph | DeviceMatrix:
    """Upload a graph to the chosen device, without waiting for the upload to finish.

    Parameters
    ----------
    graph : object
        A graph that :func:`taken` returned. A graph that is on a device is checked and returned.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`. A graph on a device must be on this one, if it is given.
    algorithm : str
        The name that the caller chose. A complete graph is refused if the algorithm needs edges.
    solve : callable, optional
        Solves a matrix while the device still checks it; see ``SolveUnread``.

    Returns
    -------
    Forest, DeviceGraph or DeviceMatrix
        The forest if `solve` found it, otherwise the graph on the device. Commands that read the
        graph must go to the device's own queue, which runs them after the upload.
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
    """Upload a graph that :func:`taken` returned, and wait for the upload to finish.

    The host prepares the graph if the device cannot take it as it is.
    """
    return put_matrix(graph, device) or put_by_host(graph, device, wait=True)


def put_by_host(
    graph: Any, device: Device, *, algorithm: str = "auto", wait: bool
) -> DeviceGraph | DeviceMatrix:
    """Prepare a graph on the host and upload it, because the device cannot take it unprepared.

    `graph` is one that :func:`taken` returned. A complete graph is refused, before any upload, if
    `algorithm` needs edges. `wait` says whether to block until the upload has finished.
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
    """Raise InvalidArgumentError unless an algorithm solves complete graphs.

    They store no list of edges, so most algorithms cannot solve them. `algorithm` is the name.
    """
    if not takes_complete_graphs(algorithm):
        raise InvalidArgumentError(
            "the graph is complete (a matrix or points), which only 'dense' solves as it is; "
            f"{algorithm!r} takes "
            "edges: to_graph() of a DenseGraph or of Points lists them"
        )


def check_same_device(graph: DeviceGraph | DeviceMatrix, device: Any) -> None:
    """Raise InvalidArgumentError if the caller names another device than the one with the graph.

    `device` is the caller's argument. None means that the caller does not name a device.
    """
    if device is not None and get_device(device) is not graph.device:
        raise InvalidArgumentError(
            f"the graph is on {graph.device.description} already; leave device out, or give the "
            "host's graph"
        )
