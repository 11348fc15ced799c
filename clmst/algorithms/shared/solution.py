"""The result of an algorithm on the device, as flags of edges, and its conversion to a forest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from clmst.algorithms.shared import read_back
from clmst.algorithms.shared.device_forest import DeviceForest, ForestWeights
from clmst.algorithms.shared.read_back import SOURCE, forest_on_host, gather_words, words_at
from clmst.core.arguments import unchecked
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array, EncodedWeights, Encoding
from clmst.primitives.selection import positions_of
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher

_FOREST_EDGES = "edges of a forest"  # key in `graph.plans`, where the number of edges is kept
FLAG = np.dtype(np.uint8)  # dtype of the flag that each CSR entry has


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A forest that an algorithm has found, as one flag for each CSR entry on the device.

    A flag is a byte, which is 1 for an edge of the forest and otherwise 0. The graph is the
    caller's graph, or a copy of it with both directions of all edges.
    """

    graph: DeviceGraph
    in_forest: DeviceArray
    stats: Mapping[str, Any] = field(default_factory=dict)
    report: SolveReport | None = None  # None if the host knows that the solve succeeded


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveReport:
    """Words that the kernels of a solve write, which say whether the solve has succeeded.

    The host reads them together with the forest.
    """

    words: Memory
    count: int  # number of words
    # A function that gets the words which the host has read from the device. It returns the
    # statistics of the solve, or None if no forest was found.
    take: Callable[[Array], Mapping[str, Any] | None]


def words_on_device(
    memory: Memory, encoding: Encoding, size: int, launch: Launcher
) -> EncodedWeights:
    """Return weights that stay in a buffer of the device until the host needs them.

    `memory` has `size` words in this `encoding`, in the order of CSR entries. When the host needs
    weights, it reads all words, or the words of some entries.
    """

    def read(at: Array | None) -> Array:
        if at is not None:
            return words_at(memory, encoding.word, at, launch)
        words = np.empty(size, encoding.word)
        if size:
            launch.read(memory, words)
        return words

    return EncodedWeights(encoding=encoding, source=read)


def new_flags(n_slots: int, device: Device) -> DeviceArray:
    """Allocate an array of one byte for each of `n_slots` CSR entries, with undefined contents.

    The size of the buffer is rounded up to whole 32-bit words, so that it can be cleared by words.
    """
    memory = device.allocate(4 * flag_words(n_slots))
    return DeviceArray.unchecked(n_slots, FLAG, device, memory)


def reservation_shape(
    weight_bits: int, device: Device, *, by_leading: bool = False
) -> tuple[int, int]:
    """Return the number of words that store a component's lightest edge, and of passes to find it.

    The lightest edge so far of a component is stored in 32-bit words, called a reservation, which
    work-items lower by atomic minima (``cl/device/reservation.cl``). Weights have `weight_bits`
    bits. A pass over the edges finds one word. If the device has 64-bit atomics, the first pass
    finds two words. With `by_leading`, on a device with 64-bit atomics, only the leading word of a
    64-bit weight is stored. The reservation then has two words, which one pass finds.
    """
    has_atomics = device.capabilities.int64_atomics
    words = 3 if weight_bits == 64 and not (by_leading and has_atomics) else 2
    return words, words - has_atomics


def flag_words(n_slots: int) -> int:
    """Return the number of 32-bit words that hold one byte for each of `n_slots` CSR entries."""
    return -(-n_slots // 4)


def forest_of(
    solution: Solution,
    launch: Launcher,
    *,
    algorithm: str,
    maximum: bool,
    own_weights: bool = False,
    wait: bool = True,
) -> DeviceForest:
    """Convert the flags of a solution to a list of the forest's edges, and return the forest.

    `algorithm` and `maximum` say how the solution was found. The call waits for the device, to read
    the number of edges. With `own_weights`, the forest gets a copy of its weights, because the
    graph will get new weights. The number of edges is then read only once for a graph, because it
    does not depend on the weights. If `wait` is False, kernels that fill the arrays of the forest
    may still run when the call returns; later reads in the queue of `launch` wait for them. Takes
    O(k) for k CSR entries.
    """
    graph, bound = solution.graph, most_edges(solution.graph)
    slots, total = positions_of(solution.in_forest, at_most=bound, launch=launch)
    k = graph.plans.get(_FOREST_EDGES) if own_weights else None
    if k is None:
        k = launch.read_count(total.memory, bound)
        if own_weights:
            graph.plans[_FOREST_EDGES] = k
    return forest_of_slots(
        graph, slots, k, launch, algorithm=algorithm, maximum=maximum, stats=solution.stats,
        own_weights=own_weights, wait=wait,
    )  # fmt: skip


def comes_at_once(graph: DeviceGraph, launch: Launcher) -> bool:
    """Return whether a graph's forest is so small that one read copies it to the host."""
    return launch.profile is None and read_back.can_pack(
        graph, most_edges(graph), read_back.MOST_UNKNOWN
    )


def forest_at_once(
    solution: Solution, launch: Launcher, *, algorithm: str, maximum: bool
) -> Forest | None:
    """Read the forest of a solution to the host in a single read, and return the forest.

    `algorithm` and `maximum` say how the solution was found. The same read also tells the host how
    many edges there are and whether the solve has succeeded. The call waits for the device. Returns
    None if the solve has not succeeded.
    """
    graph, bound, report = solution.graph, most_edges(solution.graph), solution.report
    slots, total = positions_of(solution.in_forest, at_most=bound, launch=launch)
    found, words = read_back.read_packed(
        graph, slots.memory, total.memory, bound, launch,
        report=None if report is None else report.words,
        report_words=0 if report is None else report.count,
    )  # fmt: skip
    stats = solution.stats if report is None else report.take(words)
    if stats is None:
        return None
    stats = launch.stats_with(stats, algorithm)
    return forest_on_host(graph, found, maximum=maximum, stats=stats)


def most_edges(graph: DeviceGraph) -> int:
    """Return the maximum number of edges of a forest of a graph."""
    return min(max(graph.n_vertices - 1, 0), graph.edge_bound)


def forest_of_slots(
    graph: DeviceGraph,
    slots: DeviceArray,
    k: int,
    launch: Launcher,
    *,
    algorithm: str,
    maximum: bool,
    stats: Mapping[str, Any],
    own_weights: bool,
    wait: bool,
) -> DeviceForest:
    """Return the forest whose edges are the first `k` CSR entries in the array `slots`. O(k log n).

    The entries must be ascending. The endpoints are looked up now, or when they are first used if
    the graph is prepared for many solves or the device writes to the host's arrays. `algorithm`,
    `maximum`, `own_weights` and `wait` are as in :func:`forest_of`, and `stats` are the statistics
    of the solve.
    """
    edges: Memory | Callable[[], Memory] = partial(_found_edges, graph, slots.memory, k)
    is_deferred = not wait and launch.profile is None and read_back.can_write_out(graph.device)
    if graph.rows is None and not is_deferred:
        edges = _edges_of(graph, slots.memory, k, launch)
    weights = None
    if own_weights:
        encoding = graph.encoded.encoding
        words = gather_words(graph.weights, encoding.word, slots, k, launch)
        weights = ForestWeights(words=words, encoding=encoding)
        graph = graph.replace_unchecked()  # a copy without plans, which a forest must not keep
    if wait or launch.profile is not None:
        launch.queue.finish()
    return unchecked(
        DeviceForest,
        graph=graph,
        n_edges=k,
        slots=slots.memory,
        _edges=edges,
        maximum=maximum,
        stats=launch.stats_with(stats, algorithm),
        weights=weights,
    )


def _found_edges(graph: DeviceGraph, slots: Memory, k: int) -> Memory:
    """Find the endpoints of the first `k` CSR entries in the buffer `slots`, and wait for them.

    This is called when the endpoints of a forest are first used. Returns the buffer of endpoints.
    """
    device = graph.device
    with device.lock, Guard(device):
        edges = _edges_of(graph, slots, k, Launcher(device, device.queue))
        device.queue.finish()
    return edges


def _edges_of(graph: DeviceGraph, slots: Memory, k: int, launch: Launcher) -> Memory:
    """Enqueue the search for the endpoints of the first `k` CSR entries in the buffer `slots`.

    Returns the buffer of endpoints, with two words for each entry, without waiting.
    """
    edges = graph.device.allocate(8 * k)
    word = graph.encoded.encoding.word  # so that weights can be gathered by the same program
    program = graph.device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
    if graph.rows is not None:
        name, arrays = "forest_look_up_edges", (graph.rows, graph.indices, slots, edges)
        launch.for_each(program, name, k, *arrays, k)
    else:
        name, arrays = "forest_gather_edges", (graph.indptr, graph.indices, slots, edges)
        launch.for_each(program, name, k, *arrays, graph.n_vertices, k)
    return edges
