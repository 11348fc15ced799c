"""Read the edges of a forest from a device to the host. The kernels are in ``shared/forest.cl``.

A read takes 30 us plus the time for its bytes, and the solve of a small graph takes little more. So
the edges of a small forest are packed into one buffer, together with their number, and read at
once. If a device works in the host's memory, a kernel writes the edges straight to arrays of the
host. There a copy by one thread would take longer than the kernel, which runs in several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from clmst.core.arguments import unchecked
from clmst.core.dense_graph import DenseGraph
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_memory import result_in_place
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher, check_count

SOURCE = "algorithms/shared/forest.cl"

MOST_UNKNOWN = 8 << 20  # maximum size of a read whose number of edges is not known yet

_HEAD = 2  # number of words before the weights, PACKED_HEAD of forest.cl

# Three arrays: the ids, the endpoints and the weights of edges. If the host has to look up the ids,
# the first array has the CSR entries of the edges instead.
EdgeArrays: TypeAlias = tuple[Array, Array, Array]


def gather_words(
    words: Memory, word: np.dtype[Any], slots: Memory | DeviceArray, count: int, launch: Launcher
) -> DeviceArray:
    """Enqueue a copy of the words at some indices of a buffer, and return the new array. O(count).

    `words` is the buffer, with words of dtype `word`. `slots` has the indices, of which there are
    `count`. The call does not wait for the device.
    """
    gathered = DeviceArray.unchecked(count, word, launch.device)
    program = launch.device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
    launch.for_each(program, "forest_gather_weights", count, words, slots, gathered, count)
    return gathered


def words_at(memory: Memory, word: np.dtype[Any], places: Array, launch: Launcher) -> Array:
    """Read the words at the positions `places` of the buffer `memory` to the host.

    `word` is the dtype of the words. The call waits for the device, and takes O(k) for k positions.
    """
    words = np.empty(places.size, word)
    if places.size:
        slots = DeviceArray.empty(places.size, np.uint32, launch.device)
        launch.write(slots.memory, places.astype(np.uint32, copy=False))
        launch.read(gather_words(memory, word, slots, places.size, launch).memory, words)
    return words


def can_gather(graph: DeviceGraph) -> bool:
    """Return whether a kernel should look up the weights of a forest's edges.

    Otherwise the host does. The result is False if the host can read the weights as quickly in its
    own memory. It is also False if the device stores narrower words than the host's weights,
    because a kernel cannot convert them back.
    """
    same = graph.encoded.encoding.word.itemsize == graph.graph.weight_dtype.itemsize
    shared = graph.device.capabilities.host_arrays != "copied" and graph.graph.has_at_hand(
        "weights"
    )
    return not shared and same


def can_pack(graph: DeviceGraph, n_edges: int, most: int | None = None) -> bool:
    """Return whether the edges of a forest should be read from the device packed in one buffer.

    The result is True if the device has the ids, endpoints and weights of the `n_edges` edges, and
    they take fewer than `most` bytes together. None as `most` means the number of bytes from which
    several threads copy faster than one.
    """
    most = graph.device.staging.shape.from_bytes if most is None else most
    if can_write_out(graph.device):
        return False  # kernels write to the host's arrays, without a buffer beside the forest
    is_little = (12 + graph.encoded.encoding.word.itemsize) * n_edges < most
    return n_edges > 0 and is_little and graph.rows is None and can_gather(graph)


def read_packed(
    graph: DeviceGraph,
    slots: Memory,
    count: Memory | None,
    bound: int,
    launch: Launcher,
    *,
    report: Memory | None = None,
    report_words: int = 0,
) -> tuple[EdgeArrays, Array]:
    """Read the edges of a forest from the device in one read.

    The call waits for the device. It takes O(bound log n), because the row of each edge is found by
    binary search in the row starts.

    Parameters
    ----------
    slots : device buffer of uint32
        The indices of the edges among the CSR entries of the graph, in ascending order.
    count : device buffer or None
        A word with the number of edges. If None, there are `bound` edges.
    bound : int
        Maximum number of edges.
    report : device buffer, optional
        Further words that are read along with the edges. `report_words` is their number.

    Returns
    -------
    edges : tuple
        Ids, endpoints and weights of the edges, as in EdgeArrays.
    words : ndarray of uint32, shape (report_words,)
        The words of the report.

    Raises
    ------
    DeviceError
        The device says that there are more than `bound` edges.
    """
    word = graph.encoded.encoding.word
    begin = _HEAD + -(-bound * word.itemsize // 4)
    end = begin + 3 * bound
    found = np.empty(end + report_words, np.uint32)
    packed = graph.device.allocate(found.nbytes)
    program = graph.device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
    launch.for_each(
        program, "forest_pack", bound, graph.indptr, graph.indices, graph.weights, slots,
        graph.edge_ids, count, packed, report, graph.n_vertices, begin, bound, report_words,
    )  # fmt: skip
    launch.read(packed, found)
    k = int(found[0])
    check_count(graph.device, k, bound)
    weights = np.frombuffer(found, graph.graph.weight_dtype, k, 4 * _HEAD)
    ends = found[begin + bound : begin + bound + 2 * k].reshape(k, 2)
    return (found[begin : begin + k], ends, weights), found[end:]


def can_write_out(device: Device) -> bool:
    """Return whether kernels of a device should write results straight to arrays of the host.

    The result is True if the device shares its memory with the host, and if a work-group has one
    work-item, which then writes a long range of the arrays.
    """
    return device.capabilities.host_arrays == "shared" and device.policy.work_group_size == 1


def write_out(graph: DeviceGraph, slots: Memory, k: int, launch: Launcher) -> EdgeArrays:
    """Let a kernel write the `k` edges of a forest to arrays of the host.

    `slots` has the CSR entries of the edges. There must be at least one edge. The call waits for
    the device. It takes O(n + k) for n vertices.
    """
    device, word = graph.device, graph.encoded.encoding.word
    ids, edges = np.empty(k, np.uint32), np.empty((k, 2), np.uint32)
    weights = np.empty(k, graph.graph.weight_dtype)
    weighted = word.itemsize == weights.itemsize  # if not, the host's weights are wider
    program = device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
    written = [result_in_place(device, array) for array in (ids, edges, weights)]
    launch.enqueue(
        program, "forest_write_out", launch.groups_for(-(-k // program.grid_tile)), graph.indptr,
        graph.indices, graph.weights, slots, graph.edge_ids, *written, graph.n_vertices, k,
        int(weighted),
    )  # fmt: skip
    launch.queue.finish()
    return ids, edges, weights if weighted else graph.graph.weights[ids]


def forest_on_host(
    stored: DeviceGraph, found: EdgeArrays, *, maximum: bool, stats: Mapping[str, Any]
) -> Forest:
    """Return the forest with the edges `found`, which a device has found in the graph `stored`.

    `found` has ids, endpoints and weights. `maximum` says whether it is a maximum forest, and
    `stats` are the statistics of the forest.
    """
    ids, edges, weights = found
    arrays = (edges, weights, callers_ids(stored, ids))
    return forest_of_arrays(stored.graph, *arrays, maximum=maximum, stats=stats)


def forest_of_arrays(
    graph: Graph | DenseGraph | Points,
    edges: Array | Callable[[], Array],
    weights: Array,
    edge_ids: Array | Callable[[], Array],
    **more: Any,
) -> Forest:
    """Return the forest of `graph` with the given endpoints (uint32), weights and edge ids.

    In place of the arrays `edges` and `edge_ids`, there may be functions that return them, which
    are called when the arrays are first used. `more` are further fields of the forest.
    """
    n = graph.n_vertices
    return unchecked(
        Forest, n_vertices=n, _edges=edges if callable(edges) else signed(edges, n),
        weights=weights, _edge_ids=edge_ids, vertex_labels=getattr(graph, "vertex_labels", None),
        **more,
    )  # fmt: skip


def callers_ids(stored: DeviceGraph, found: Array) -> Array:
    """Return the caller's ids of edges of the graph `stored`, as signed integers.

    `found` has these ids, as uint32, if the device has them. Otherwise it has the CSR entries of
    the edges, and the host looks up the ids.
    """
    graph = stored.graph
    if stored.edge_ids is not None:
        return signed(found, max(graph.n_vertices, graph.n_input))
    ids = graph.edge_ids
    return signed(found, graph.n_slots) if ids is None else ids[found]


def signed(numbers: Array, bound: int) -> Array:
    """Convert uint32 numbers below `bound` to int32, or to int64 if `bound` exceeds 2**31."""
    return numbers.view(np.int32) if bound <= 1 << 31 else numbers.astype(np.int64)
