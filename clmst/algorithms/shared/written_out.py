"""The edges of a forest written by a device straight to arrays of the host.

Where a device works in the host's memory, a copy of what it has found would take longer than to
find it: one thread copies, and several find.
"""

from __future__ import annotations

import numpy as np

from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_memory import result_in_place
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/shared/forest.cl"


def suits(device: Device) -> bool:
    """Return whether a device can, and has work-items that take long ranges of edges."""
    return device.capabilities.host_arrays == "shared" and device.policy.work_group_size == 1


def parts(
    graph: DeviceGraph, slots: Memory, k: int, launch: Launcher
) -> tuple[Array, Array, Array]:
    """Return ids, endpoints and weights of `k` edges, more than none; waits. O(n + k).

    Ids are slots where the host maps them to the caller's.
    """
    device, word = graph.device, graph.encoded.encoding.word
    ids, edges = np.empty(k, np.uint32), np.empty((k, 2), np.uint32)
    weights = np.empty(k, graph.graph.weight_dtype)
    weighted = word.itemsize == weights.itemsize  # else the host's weights are wider
    program = device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
    written = [result_in_place(device, array) for array in (ids, edges, weights)]
    launch.enqueue(
        program, "forest_write_out", launch.groups_for(-(-k // program.grid_tile)), graph.indptr,
        graph.indices, graph.weights, slots, graph.edge_ids, *written, graph.n_vertices, k,
        int(weighted),
    )  # fmt: skip
    launch.queue.finish()
    return ids, edges, weights if weighted else graph.graph.weights[ids]
