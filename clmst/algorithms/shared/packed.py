"""The edges of a forest in one buffer, which the host reads at once.

A read takes 30 us beside its bytes, and the solve of a small graph not much longer. The buffer also
has the number of edges, so the host need not know it beforehand.
"""

from __future__ import annotations

import numpy as np

from clmst.core.weight_keys import Array
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import STAGED_FROM

SOURCE = "algorithms/shared/forest.cl"

MOST_UNKNOWN = 8 << 20  # bytes that are read before it is known how many of them are edges

_HEAD = 2  # words before the weights, PACKED_HEAD of forest.cl


def can_gather(graph: DeviceGraph) -> bool:
    """Return whether a kernel has to look weights up, and the device's words are the host's."""
    same = graph.encoded.encoding.word.itemsize == graph.graph.weight_dtype.itemsize
    shared = graph.device.capabilities.host_arrays != "copied" and graph.graph.weights_at_hand
    return not shared and same


def suits(graph: DeviceGraph, n_edges: int, most: int | None = None) -> bool:
    """Return whether all comes from the device, and is so little that one read brings it.

    By default `most` is the number of bytes from which several threads are quicker.
    """
    most = STAGED_FROM if most is None else most
    is_little = (12 + graph.encoded.encoding.word.itemsize) * n_edges < most
    return n_edges > 0 and is_little and graph.rows is None and can_gather(graph)


def parts(
    graph: DeviceGraph, slots: Memory, count: Memory | None, bound: int, launch: Launcher
) -> tuple[Array, Array, Array]:
    """Return ids, endpoints and weights of a forest's edges; waits. O(bound log n).

    Ids are slots where the host maps them to the caller's.

    Parameters
    ----------
    graph : DeviceGraph
    slots : device buffer of uint32, shape (bound,)
        Rising; as many of them as there are edges.
    count : device buffer of uint32, shape (1,), optional
        The number of edges; by default it is `bound`.
    bound : int
    launch : Launcher
    """
    word = graph.encoded.encoding.word
    begin = _HEAD + -(-bound * word.itemsize // 4)
    found = np.empty(begin + 3 * bound, np.uint32)
    packed = graph.device.allocate(found.nbytes)
    program = graph.device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
    launch.for_each(
        program, "forest_pack", bound, graph.indptr, graph.indices, graph.weights, slots,
        graph.edge_ids, count, packed, graph.n_vertices, begin, bound,
    )  # fmt: skip
    launch.read(packed, found)
    k = int(found[0])
    weights = found[_HEAD:].view(np.uint8)[: k * word.itemsize].view(graph.graph.weight_dtype)
    ends = found[begin + bound : begin + bound + 2 * k].reshape(k, 2)
    return found[begin : begin + k], ends, weights
