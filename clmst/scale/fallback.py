"""The fallback for a graph that does not fit its device: a stream of its edges, with a warning."""

from __future__ import annotations

import time
from typing import Any

from clmst import route
from clmst.core.coercion import as_graph
from clmst.core.errors import StreamedWarning, warn_of_fallback
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.verify import verify as verify_on_host
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.scale.capacity import bytes_of_reduction
from clmst.scale.stream import stream_minimum_spanning_forest


def streamable(graph: Any, device: Device) -> Graph | None:
    """Return the graph as a Graph whose edges can be streamed, after `device` ran out of memory.

    Return None if a stream cannot help: if the graph is on the device already, if it is a complete
    graph that does not list its edges, or if it is so small that memory did not run out because of
    its size.
    """
    if isinstance(graph, DeviceGraph | DeviceMatrix):
        return None
    listed = as_graph(graph)
    if not isinstance(listed, Graph):
        return None
    needed = bytes_of_reduction(device, listed.n_vertices, listed.n_slots, listed.weight_dtype)
    return listed if route.streams_instead(needed, device.capabilities.global_memory) else None


def streamed(
    graph: Graph, device: Any, *, maximum: bool, verify: bool, reason: str, **given: Any
) -> Forest:
    """Compute the forest of a graph by a stream of its edges, with a StreamedWarning.

    `maximum` asks for the maximum forest. `reason` says in the warning why the graph does not fit.
    If `verify` is True, the host proves the forest. `given` are further arguments of
    :func:`clmst.stream_minimum_spanning_forest`.
    """
    get_device(device).release_memory()
    warn_of_fallback(
        f"the graph is solved in parts, since it does not fit: {reason}", StreamedWarning
    )
    forest = stream_minimum_spanning_forest(graph, device=device, maximum=maximum, **given)
    return proved(graph, forest) if verify else forest


def proved(graph: Graph, forest: Forest) -> Forest:
    """Prove on the host that `forest` is the minimum or maximum spanning forest of `graph`.

    Return the forest with the time of the proof in ``stats["proof"]``. Raise InvalidForestError if
    the forest is wrong.
    """
    began = time.perf_counter()
    verify_on_host(graph, forest).raise_if_invalid()
    ms = 1e3 * (time.perf_counter() - began)
    proof = {"where": "host", "by": "the host", "ms": ms}
    object.__setattr__(forest, "stats", {**forest.stats, "proof": proof})
    return forest
