"""What a caller may pass in for a graph: as one of clmst's own, and on a device."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from clmst.algorithms.csr_validation.check import upload_canonical
from clmst.algorithms.registry import takes_complete_graphs
from clmst.core.arguments import has
from clmst.core.callers import callers_level
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import GraphWarning, InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard, check_memory

_SAMPLED_ROWS = 16


def as_graph(graph: Any) -> Graph | DenseGraph | Points:
    """Return `graph` as one of clmst's own, whatever it comes as."""
    if isinstance(graph, Graph | DenseGraph | Points):
        return graph
    if isinstance(graph, np.ma.MaskedArray):
        return Graph.from_masked(graph)
    if isinstance(graph, np.ndarray):
        complete = DenseGraph(graph)
        warn_of_zeros(complete)
        return complete
    if has(graph, "is_directed", "edges"):
        return Graph.from_networkx(graph)
    if has(graph, "tocsr"):
        return Graph.from_scipy(graph)
    raise InvalidGraphError(
        f"a {type(graph).__name__} is no graph that clmst knows; it takes a clmst.Graph, "
        "DenseGraph or Points, a scipy.sparse array or matrix, a networkx.Graph, or a symmetric "
        "NumPy array"
    )


def warn_of_zeros(graph: DenseGraph) -> None:
    """Warn if most cells of a plain matrix are 0, which SciPy takes for no edge. O(n)."""
    rows = graph.weights[:: max(graph.n_vertices // _SAMPLED_ROWS, 1)][:_SAMPLED_ROWS]
    zeros, cells = int(np.count_nonzero(rows == 0)), rows.size
    if 2 * (zeros - len(rows)) > cells > 0:  # but for the diagonal's
        warnings.warn(
            "most cells of the matrix are 0, and each of them is an edge of weight 0; where 0 "
            "means no edge, as in SciPy, give scipy.sparse.csr_array(matrix); where it is a "
            "weight, give clmst.DenseGraph(matrix), which does not warn",
            GraphWarning,
            stacklevel=callers_level(),
        )


def on_device(graph: Any, device: Any, *, algorithm: str = "auto") -> DeviceGraph | DeviceMatrix:
    """Return a graph on the device that is meant, for which the device's own queue may wait.

    Parameters
    ----------
    graph, device
        As of :func:`clmst.minimum_spanning_forest`.
    algorithm
        As of :func:`put`.
    """
    if not isinstance(graph, DeviceGraph | DeviceMatrix):
        return put(graph, get_device(device), algorithm=algorithm, wait=False)
    check_place(graph, device)
    if isinstance(graph, DeviceGraph):
        check_memory(graph.device, graph.weights)
    else:
        _check_takes_complete(algorithm, graph)
        check_memory(graph.device, graph.panels[0].cells)
    return graph


def put(
    graph: Any, device: Device, *, algorithm: str = "auto", wait: bool
) -> DeviceGraph | DeviceMatrix:
    """Put a graph on a device: as it is if the device finds that it can be, else by the host.

    Parameters
    ----------
    graph : object
        What lies on the host, as of :func:`clmst.minimum_spanning_forest`.
    device : Device
    algorithm : str
        What is to solve it; if that takes no complete graphs, such a one is not uploaded.
    wait : bool
        As of :meth:`DeviceGraph.upload`.
    """
    canonical = upload_canonical(graph, device)
    if canonical is not None:
        return canonical
    own = as_graph(graph)
    if isinstance(own, Graph):
        with Guard(device):
            return DeviceGraph.upload(own, device, wait=wait)
    _check_takes_complete(algorithm, graph)
    with Guard(device):
        return DeviceMatrix.upload(own, device)


def _check_takes_complete(algorithm: str, graph: Any) -> None:
    """Raise unless an algorithm takes complete graphs, which list no edges."""
    if not takes_complete_graphs(algorithm):
        raise InvalidArgumentError(
            f"a {type(graph).__name__} is a complete graph, which only 'dense' takes as it is; "
            f"{algorithm!r} takes edges: to_graph() of a DenseGraph or of Points lists them"
        )


def check_place(graph: DeviceGraph | DeviceMatrix, device: Any) -> None:
    """Raise if a graph that is on a device is wanted on another one."""
    if device is not None and device is not graph.device:
        raise InvalidArgumentError(
            f"the graph is on {graph.device.description} already; leave device out, or give the "
            "graph itself"
        )
