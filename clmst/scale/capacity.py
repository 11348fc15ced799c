"""The maximum number of edges of a stream that can be reduced together within a memory limit.

A reduction replaces all edges in memory by their forest.
"""

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
"""If the forest so far has k edges, there must be space for at least k / LEAST_SHARE new ones."""

# Maximum number of edges per vertex that are collected before they are reduced to their forest,
# even if memory has space for more. Beyond this number, it is cheaper to reduce the collected edges
# first. Their forest filters further edges, most of which need not be solved. The benchmark `python
# -m benchmarks streaming limits` times both.
_EDGES_PER_VERTEX = 6
_ENOUGH = 1 << 20  # this number of edges may be collected, however few vertices there are
_ALGORITHM = "filter-boruvka"  # the algorithm that "auto" chooses for large graphs
_HOST_BYTES_PER_EDGE = 64  # for the concatenated arrays of edges, and two counting sorts of them
# Bytes that the device needs, in addition to a solve and the weights, if the edges of a stream are
# collected on the device. For each edge, 16 bytes for both ends and the 64-bit id, and 4 for the
# edge's index in the buffer. For each vertex, 12 bytes for the filter that drops edges which close
# a cycle.
_END_BYTES, _NUMBER_BYTES, _LIMIT_BYTES = 16, 4, 12
_SHARE = 0.75  # share of the memory of a device that has its own
_SHARE_OF_HOST = 0.25  # share of the host's memory, which the caller and the system use as well


def default_limit(device: Device) -> int:
    """Return the memory limit of a stream, in bytes, for a caller that does not give one.

    The limit is three quarters of the memory of a device that has its own memory, and a quarter of
    the memory of a device that works in the host's memory.
    """
    memory = device.capabilities.global_memory
    return int(memory * (_SHARE if device.capabilities.host_arrays == "copied" else _SHARE_OF_HOST))


def host_share() -> int:
    """Return the number of bytes of the host's memory that the edges of a stream may take.

    That is a quarter of the physical memory, or 0 if the size of the memory is unknown.
    """
    return int(_SHARE_OF_HOST * (physical_memory() or 0))


def bytes_a_vertex_and_edge(device: Device, dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the bytes of the device's memory that a reduction needs per vertex, and per edge.

    A reduction computes the forest of some edges of a stream. `dtype` is the dtype of the weights.
    """
    base = bytes_needed(_ALGORITHM, device.policy, 0, 0) or 0
    vertex = (bytes_needed(_ALGORITHM, device.policy, 1, 0) or 0) - base
    edge = (bytes_needed(_ALGORITHM, device.policy, 0, 1) or 0) - base
    return vertex + 4, edge + 4 + dtype.itemsize


def bytes_of_reduction(device: Device, n_vertices: int, n_edges: int, dtype: np.dtype[Any]) -> int:
    """Return the bytes of the device's memory that it takes to reduce edges to their forest.

    There are `n_edges` edges, with weights of a dtype, among `n_vertices` vertices. The bytes
    include the CSR of the edges.
    """
    a_vertex, an_edge = bytes_a_vertex_and_edge(device, dtype)
    return a_vertex * n_vertices + an_edge * n_edges


def most_edges(
    device: Device, limit: int, n_vertices: int, dtype: np.dtype[Any], *, on_device: bool = False
) -> int:
    """Return the number of edges that fit into one reduction of `limit` bytes on the device.

    `dtype` is the dtype of the weights. If `on_device` is True, the edges are kept on the device,
    which then needs more bytes per edge. If it is False, they are kept on the host, and the host's
    memory bounds their number as well. The result is 0 if not even the vertices fit.
    """
    a_vertex, an_edge = bytes_a_vertex_and_edge(device, dtype)
    if on_device:
        a_vertex += _LIMIT_BYTES + _END_BYTES + dtype.itemsize
        an_edge += _END_BYTES + dtype.itemsize + _NUMBER_BYTES
    most = (limit - a_vertex * n_vertices) // an_edge
    if not on_device:
        # If there are few edges, only the vertices that have edges take memory. There are at most
        # two of them for each edge.
        if route.is_sparse_part(n_vertices, most):
            sparse = n_vertices // route.LIMITS.vertices_per_edge
            most = min(limit // (an_edge + 2 * a_vertex), sparse)
        if host := host_share():
            most = min(most, host // _HOST_BYTES_PER_EDGE)
    return max(0, min(most, MAX_SLOTS, max(_ENOUGH, _EDGES_PER_VERTEX * n_vertices)))


class NoSpaceForReductionError(OutOfDeviceMemoryError):
    """The memory limit does not leave space for new edges beside the forest and the vertices.

    Then edges cannot be collected and replaced by their forest, part by part.
    """


def too_small(
    limit: int, n_vertices: int, n_forest: int, device: Device
) -> NoSpaceForReductionError:
    """Create the error for a memory limit without space for new edges beside the forest so far.

    `limit` is in bytes. The forest has `n_forest` edges among `n_vertices` vertices.
    """
    return NoSpaceForReductionError(
        f"{limit} bytes of {device.description} hold a forest of {n_forest} edges and its "
        f"{n_vertices} vertices, but no useful part of the stream beside it; the memory limit must "
        "be greater, or the device larger"
    )
