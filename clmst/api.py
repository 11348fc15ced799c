"""The public face: a graph in, its minimum or maximum spanning forest out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, overload

from clmst import algorithms
from clmst.algorithms.adoption import adopt
from clmst.algorithms.solution import DeviceForest, gather
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.discovery import get_device
from clmst.runtime.launcher import Launcher
from clmst.runtime.profile import Profile


@overload
def minimum_spanning_forest(
    graph: Any,
    *,
    algorithm: str = ...,
    device: Any = ...,
    options: Any = ...,
    keep_on_device: Literal[False] = ...,
    profile: bool = ...,
) -> Forest: ...
@overload
def minimum_spanning_forest(
    graph: Any,
    *,
    algorithm: str = ...,
    device: Any = ...,
    options: Any = ...,
    keep_on_device: Literal[True],
    profile: bool = ...,
) -> DeviceForest: ...
def minimum_spanning_forest(
    graph: Any,
    *,
    algorithm: str = "auto",
    device: Any = None,
    options: Any = None,
    keep_on_device: bool = False,
    profile: bool = False,
) -> Forest | DeviceForest:
    """Compute the minimum spanning forest of an undirected weighted graph.

    Edges are ordered by weight and, among equal weights, by their place in the canonical order
    (lesser endpoint, greater endpoint, position in the input). That order is total, so the forest
    is unique: every algorithm and every device returns the same edges.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy.sparse array or matrix, or networkx.Graph
        Weights may be bool, int8-64, uint8-64 or float16/32/64; infinities are ordinary weights.
    algorithm : str
        "filter-boruvka" (Borůvka's rounds on ever smaller arrays, light edges first; the quickest
        on GPUs), "lone-boruvka" (the same for lone work-items; the quickest on CPUs), "ecl"
        (ECL-MST), "boruvka" (made of primitives, no atomics on global memory), or "auto": the one
        whose `options` are given, else the quickest, or "ecl" where a graph has more than 2**30
        vertices.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`; a :class:`DeviceGraph` brings its own.
    options : object, optional
        The algorithm's own: :class:`clmst.FilterBoruvkaOptions`,
        :class:`clmst.LoneBoruvkaOptions`, :class:`clmst.EclOptions`, :class:`clmst.BoruvkaOptions`.
    keep_on_device : bool
        Return a :class:`DeviceForest`, its edges still on the device.
    profile : bool
        Time every kernel; ``stats["profile"]`` maps kernels to launches and milliseconds, and
        ``stats["phases"]`` the steps of an algorithm that has such.

    Returns
    -------
    Forest or DeviceForest

    Raises
    ------
    InvalidGraphError
        The graph is malformed.
    InvalidArgumentError
        Nothing has the name given as `algorithm` or `device`; the message lists what there is.
    UnsupportedDeviceError
        There is no usable device; the message says what to install.
    OutOfDeviceMemoryError
        The device cannot hold what the solve needs.

    Examples
    --------
    >>> import clmst, scipy.sparse
    >>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
    >>> clmst.minimum_spanning_forest(A).total_weight
    5
    """
    return _solve(
        graph,
        algorithm=algorithm,
        device=device,
        options=options,
        keep_on_device=keep_on_device,
        profile=profile,
        maximum=False,
    )


@overload
def maximum_spanning_forest(
    graph: Any,
    *,
    algorithm: str = ...,
    device: Any = ...,
    options: Any = ...,
    keep_on_device: Literal[False] = ...,
    profile: bool = ...,
) -> Forest: ...
@overload
def maximum_spanning_forest(
    graph: Any,
    *,
    algorithm: str = ...,
    device: Any = ...,
    options: Any = ...,
    keep_on_device: Literal[True],
    profile: bool = ...,
) -> DeviceForest: ...
def maximum_spanning_forest(
    graph: Any,
    *,
    algorithm: str = "auto",
    device: Any = None,
    options: Any = None,
    keep_on_device: bool = False,
    profile: bool = False,
) -> Forest | DeviceForest:
    """Compute the maximum spanning forest; as :func:`minimum_spanning_forest` in all else.

    The order of weights is reversed; among equal weights the lesser edge id still wins. A SciPy
    matrix that stores both ``A[i, j]`` and ``A[j, i]`` means the lesser of them here as well.
    """
    return _solve(
        graph,
        algorithm=algorithm,
        device=device,
        options=options,
        keep_on_device=keep_on_device,
        profile=profile,
        maximum=True,
    )


def to_device(graph: Any, device: Any = None) -> DeviceGraph:
    """Put a graph on a device, for several solves.

    Parameters
    ----------
    graph : Graph, scipy.sparse array or matrix, or networkx.Graph
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.
    """
    return _put(graph, get_device(device), wait=True)


def as_graph(graph: Any) -> Graph:
    """Return `graph` as a :class:`Graph`, whatever it comes as."""
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
        return Graph.from_networkx(graph)
    if hasattr(graph, "tocsr"):
        return Graph.from_scipy(graph)
    raise InvalidGraphError(
        f"a {type(graph).__name__} is no graph that clmst knows; it takes a clmst.Graph, a "
        "scipy.sparse array or matrix, or a networkx.Graph"
    )


def _solve(
    graph: Any,
    *,
    algorithm: str,
    device: Any,
    options: Any,
    keep_on_device: bool,
    profile: bool,
    maximum: bool,
) -> Forest | DeviceForest:
    algorithms.choose(algorithm)  # a name that nothing has is refused before anything is uploaded
    resident = _resident(graph, device, wait=profile)  # a profile takes another queue
    device = resident.device
    name, solve = algorithms.choose(
        algorithm,
        options=options,
        n_vertices=resident.n_vertices,
        lone=device.policy.work_group_size == 1,
    )
    profiler = Profile() if profile else None
    with device.lock:
        launch = Launcher(device, device.profiling_queue if profile else device.queue, profiler)
        solution = solve(resident, launch, maximum=maximum, options=options)
        forest = gather(solution, launch, maximum=maximum)
    stats: Mapping[str, Any] = {
        "algorithm": name,
        "device": device.description,
        "launches": launch.launches,
        **solution.stats,
    }
    if profiler is not None:
        stats = {**stats, "profile": profiler.summary()}
        if phases := profiler.phases():
            stats = {**stats, "phases": phases}
    forest = forest.with_stats(stats)
    return forest if keep_on_device else forest.to_host()


def _resident(graph: Any, device: Any, *, wait: bool) -> DeviceGraph:
    """Return the graph on the device that is meant."""
    if not isinstance(graph, DeviceGraph):
        return _put(graph, get_device(device), wait=wait)
    if device is not None and device is not graph.device:
        raise InvalidArgumentError(
            f"the graph is on {graph.device.description} already; leave device out, or give the "
            "graph itself"
        )
    return graph


def _put(graph: Any, device: Device, *, wait: bool) -> DeviceGraph:
    """Put a graph on a device: as it is if the device finds that it can be, else by the host."""
    adopted = adopt(graph, device)
    return adopted or DeviceGraph.upload(as_graph(graph), device, wait=wait)
