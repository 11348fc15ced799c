"""The edges of a forest that a device has found, read back to the host; host side of forest.cl.

A read takes 30 us beside its bytes, and the solve of a small graph not much longer. So the edges of
a small forest come packed in one buffer, which also has their number. Where a device works in the
host's memory, a copy would take longer than to find them, since one thread copies and several find:
there a kernel writes straight to arrays of the host.
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
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/shared/forest.cl"

MOST_UNKNOWN = 8 << 20  # bytes that are read before it is known how many of them are edges

_HEAD = 2  # words before the weights, PACKED_HEAD of forest.cl

# Ids (slots, where the host maps these to the caller's), endpoints, and weights.
EdgeArrays: TypeAlias = tuple[Array, Array, Array]


def gather_words(
    words: Memory, word: np.dtype[Any], slots: Memory | DeviceArray, count: int, launch: Launcher
) -> DeviceArray:
    """Return the words in some slots of a buffer; not waited for. O(count)."""
    gathered = DeviceArray.unchecked(count, word, launch.device)
    program = launch.device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
    launch.for_each(program, "forest_gather_weights", count, words, slots, gathered, count)
    return gathered


def words_at(memory: Memory, word: np.dtype[Any], places: Array, launch: Launcher) -> Array:
    """Return the words in some places of a buffer; waits. O(places)."""
    words = np.empty(places.size, word)
    if places.size:
        slots = DeviceArray.empty(places.size, np.uint32, launch.device)
        launch.write(slots.memory, places.astype(np.uint32, copy=False))
        launch.read(gather_words(memory, word, slots, places.size, launch).memory, words)
    return words


def can_gather(graph: DeviceGraph) -> bool:
    """Return whether a kernel has to look weights up, and the device's words are the host's."""
    same = graph.encoded.encoding.word.itemsize == graph.graph.weight_dtype.itemsize
    shared = graph.device.capabilities.host_arrays != "copied" and graph.graph.has_at_hand(
        "weights"
    )
    return not shared and same


def can_pack(graph: DeviceGraph, n_edges: int, most: int | None = None) -> bool:
    """Return whether all comes from the device, and is so little that one read brings it.

    By default `most` is the number of bytes from which several threads are quicker.
    """
    most = graph.device.staging.shape.from_bytes if most is None else most
    if can_write_out(graph.device):
        return False  # which takes no buffer beside the forest
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
    """Read as many edges as a word `count` on the device says, else `bound`. O(bound log n).

    Return the words of a report, too, of the same read.
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
    weights = np.frombuffer(found, graph.graph.weight_dtype, k, 4 * _HEAD)
    ends = found[begin + bound : begin + bound + 2 * k].reshape(k, 2)
    return (found[begin : begin + k], ends, weights), found[end:]


def can_write_out(device: Device) -> bool:
    """Return whether a device writes to the host's arrays, by items that take long ranges."""
    return device.capabilities.host_arrays == "shared" and device.policy.work_group_size == 1


def write_out(graph: DeviceGraph, slots: Memory, k: int, launch: Launcher) -> EdgeArrays:
    """Let a kernel write `k` edges, more than none, to arrays of the host, and wait. O(n + k)."""
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


def forest_on_host(
    stored: DeviceGraph, found: EdgeArrays, *, maximum: bool, stats: Mapping[str, Any]
) -> Forest:
    """Return the forest of the edges that a device has found."""
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
    """Return the forest of uint32 endpoints and of ids, or of what is looked up when asked for."""
    n = graph.n_vertices
    return unchecked(
        Forest, n_vertices=n, _edges=edges if callable(edges) else signed(edges, n),
        weights=weights, _edge_ids=edge_ids, vertex_labels=getattr(graph, "vertex_labels", None),
        **more,
    )  # fmt: skip


def callers_ids(stored: DeviceGraph, found: Array) -> Array:
    """Return the caller's ids of the edges, of what a device has found for them."""
    graph = stored.graph
    if stored.edge_ids is not None:
        return signed(found, max(graph.n_vertices, graph.n_input))
    ids = graph.edge_ids
    return signed(found, graph.n_slots) if ids is None else ids[found]


def signed(numbers: Array, bound: int) -> Array:
    """Return uint32 numbers below `bound` as int32, or int64 where they need it, as SciPy does."""
    return numbers.view(np.int32) if bound <= 1 << 31 else numbers.astype(np.int64)
