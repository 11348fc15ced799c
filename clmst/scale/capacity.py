"""The number of edges that a reduction may take, by the memory that it may use."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.solving import bytes_needed
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.graph_checks import MAX_SLOTS
from clmst.core.machine import physical_memory
from clmst.runtime.device import Device

LEAST_SHARE = 16
"""A reduction brings at least a sixteenth as many edges as the forest has."""

# Edges a vertex that a reduction takes at most, whatever the memory: to filter further ones by the
# forest of these costs less. `python -m benchmarks streaming limits` times it.
_EDGES_PER_VERTEX = 6
_ENOUGH = 1 << 20  # edges that are reduced together in any case

_ALGORITHM = "filter-boruvka"  # what "auto" takes for large graphs
_HOST_BYTES_PER_EDGE = 64  # the union of the parts, and two counting sorts of it
# On the device alone: ends and id of an edge in the buffer, its number, limit and tree of a vertex.
_END_BYTES, _NUMBER_BYTES, _LIMIT_BYTES = 16, 4, 12
_SHARE = 0.75  # of a device's own memory
_SHARE_OF_HOST = 0.25  # of a memory that arrays of the caller and of the system are in, too


def default_limit(device: Device) -> int:
    """Return the bytes that a stream may use on a device if its caller sets no limit."""
    memory = device.capabilities.global_memory
    return int(memory * (_SHARE if device.capabilities.host_arrays == "copied" else _SHARE_OF_HOST))


def host_share() -> int:
    """Return the bytes of the host's memory that edges of a stream may take; 0 if it is unknown."""
    return int(_SHARE_OF_HOST * (physical_memory() or 0))


def bytes_a_vertex_and_edge(device: Device, dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the bytes of a device that a reduction takes for each vertex and each edge."""
    base = bytes_needed(_ALGORITHM, device.policy, 0, 0) or 0
    vertex = (bytes_needed(_ALGORITHM, device.policy, 1, 0) or 0) - base
    edge = (bytes_needed(_ALGORITHM, device.policy, 0, 1) or 0) - base
    return vertex + 4, edge + 4 + dtype.itemsize


def bytes_of_reduction(device: Device, n_vertices: int, n_edges: int, dtype: np.dtype[Any]) -> int:
    """Return the bytes of a device that a reduction takes, CSR included."""
    a_vertex, an_edge = bytes_a_vertex_and_edge(device, dtype)
    return a_vertex * n_vertices + an_edge * n_edges


def most_edges(
    device: Device, limit: int, n_vertices: int, dtype: np.dtype[Any], *, on_device: bool = False
) -> int:
    """Return the edges that a reduction within `limit` bytes may take, from the host or a device.

    The host keeps nothing of edges that are `on_device`.
    """
    a_vertex, an_edge = bytes_a_vertex_and_edge(device, dtype)
    if on_device:
        a_vertex += _LIMIT_BYTES + _END_BYTES + dtype.itemsize
        an_edge += _END_BYTES + dtype.itemsize + _NUMBER_BYTES
    most = (limit - a_vertex * n_vertices) // an_edge
    if not on_device:
        if route.is_sparse_part(n_vertices, most):  # vertices are renumbered, two an edge at most
            sparse = n_vertices // route.LIMITS.vertices_per_edge
            most = min(limit // (an_edge + 2 * a_vertex), sparse)
        if host := host_share():
            most = min(most, host // _HOST_BYTES_PER_EDGE)
    return max(0, min(most, MAX_SLOTS, max(_ENOUGH, _EDGES_PER_VERTEX * n_vertices)))


class NoSpaceForReductionError(OutOfDeviceMemoryError):
    """A limit leaves nothing for the stream beside the forest and its vertices."""


def too_small(
    limit: int, n_vertices: int, n_forest: int, device: Device
) -> NoSpaceForReductionError:
    """Return the error for a limit that leaves nothing for the stream beside the forest."""
    return NoSpaceForReductionError(
        f"{limit} bytes of {device.description} hold a forest of {n_forest} edges and its "
        f"{n_vertices} vertices, but no useful part of the stream beside it; the memory limit must "
        "be greater, or the device larger"
    )
