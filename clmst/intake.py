"""What a caller may pass in for a graph: as one of clmst's own, and on a device."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from clmst.algorithms.csr_validation.check import upload_canonical
from clmst.core.arguments import has
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import GraphWarning, InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device, pass_over
from clmst.runtime.failures import Guard, check_memory
from clmst.runtime.trust import NoFamilyLeftError

Result = TypeVar("Result")

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
            stacklevel=_callers_level(),
        )


def _callers_level() -> int:
    """Return how far up the first caller from outside the package is, as warnings count."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("clmst."):
        level, frame = level + 1, frame.f_back
    return level


def refuse_complete(graph: Any, algorithm: str) -> None:
    """Raise if a graph has no edges to list, and an algorithm takes nothing else."""
    complete = DenseGraph | Points | DeviceMatrix | np.ndarray
    if isinstance(graph, complete) and not isinstance(graph, np.ma.MaskedArray):
        raise InvalidArgumentError(
            f"a {type(graph).__name__} is a complete graph, which only 'dense' takes as it is; "
            f"{algorithm!r} takes edges: to_graph() of a DenseGraph or of Points lists them"
        )


def resident(graph: Any, device: Any, *, wait: bool) -> DeviceGraph | DeviceMatrix:
    """Return the graph on the device that is meant."""
    if not isinstance(graph, DeviceGraph | DeviceMatrix):
        return put(graph, get_device(device), wait=wait)
    check_place(graph, device)
    memory = graph.panels[0].cells if isinstance(graph, DeviceMatrix) else graph.weights
    check_memory(graph.device, memory)
    return graph


def on_another_device(solve: Callable[..., Result]) -> Callable[..., Result]:
    """Let a solve begin again where a device was meant that no algorithm has earned.

    Then the next one that the caller's name means does it, until there is none. A graph that is on
    a device stays there.
    """

    @wraps(solve)
    def solved(graph: Any, *, device: Any, **arguments: Any) -> Result:
        while True:
            try:
                return solve(graph, device=device, **arguments)
            except NoFamilyLeftError as error:
                is_there = isinstance(graph, DeviceGraph | DeviceMatrix)
                if is_there or not pass_over(device, error):
                    raise

    return solved


def check_place(graph: DeviceGraph | DeviceMatrix, device: Any) -> None:
    """Raise if a graph that is on a device is wanted on another one."""
    if device is not None and device is not graph.device:
        raise InvalidArgumentError(
            f"the graph is on {graph.device.description} already; leave device out, or give the "
            "graph itself"
        )


def put(graph: Any, device: Device, *, wait: bool) -> DeviceGraph | DeviceMatrix:
    """Put a graph on a device: as it is if the device finds that it can be, else by the host."""
    canonical = upload_canonical(graph, device)
    if canonical is not None:
        return canonical
    own = as_graph(graph)
    with Guard(device):
        if isinstance(own, Graph):
            return DeviceGraph.upload(own, device, wait=wait)
        return DeviceMatrix.upload(own, device)
