"""The result of an algorithm on the device, and how it is compacted into a forest."""

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

_FOREST_EDGES = "edges of a forest"  # among a graph's plans
FLAG = np.dtype(np.uint8)  # of an edge


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A solved forest as flags on the device: a byte a slot, 1 for the forest's edges, else 0.

    The graph is the caller's, or the same with both directions.
    """

    graph: DeviceGraph
    in_forest: DeviceArray
    stats: Mapping[str, Any] = field(default_factory=dict)
    report: SolveReport | None = None  # of a solve whose end the host does not know yet


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveReport:
    """The words that a solve leaves on the device for the host."""

    words: Memory
    count: int
    # Given the words, returns the statistics of the solve, or None if there is no forest.
    take: Callable[[Array], Mapping[str, Any] | None]


def words_on_device(
    memory: Memory, encoding: Encoding, size: int, launch: Launcher
) -> EncodedWeights:
    """Return weights that stay on the device until they are read, all or those of some slots."""

    def read(at: Array | None) -> Array:
        if at is not None:
            return words_at(memory, encoding.word, at, launch)
        words = np.empty(size, encoding.word)
        if size:
            launch.read(memory, words)
        return words

    return EncodedWeights(encoding=encoding, source=read)


def new_flags(n_slots: int, device: Device) -> DeviceArray:
    """Return an array for the flags of so many slots, contents undefined.

    Its buffer ends with a whole word, so that it can be cleared by words.
    """
    memory = device.allocate(4 * flag_words(n_slots))
    return DeviceArray.unchecked(n_slots, FLAG, device, memory)


def reservation_shape(
    weight_bits: int, device: Device, *, by_leading: bool = False
) -> tuple[int, int]:
    """Return the words of a reservation, and the passes it takes, as reservation.cl has them."""
    has_atomics = device.capabilities.int64_atomics
    words = 3 if weight_bits == 64 and not (by_leading and has_atomics) else 2
    return words, words - has_atomics


def flag_words(n_slots: int) -> int:
    """Return how many 32-bit words the flags of so many slots take."""
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
    """Return the forest of a solution, its flags compacted into slots. O(n_slots).

    With `own_weights` the forest has weights of its own, since the graph will get others; then its
    number of edges, which no weights change, is not read again. Without `wait` the queue of
    `launch` may still be busy when the call returns; reads in that queue wait for it.
    """
    graph, bound = solution.graph, most_edges(solution.graph)
    slots, total = positions_of(solution.in_forest, at_most=bound, launch=launch)
    k = graph.plans.get(_FOREST_EDGES) if own_weights else None
    if k is None:
        k = launch.read_word(total.memory)
        if own_weights:
            graph.plans[_FOREST_EDGES] = k
    return forest_of_slots(
        graph, slots, k, launch, algorithm=algorithm, maximum=maximum, stats=solution.stats,
        own_weights=own_weights, wait=wait,
    )  # fmt: skip


def comes_at_once(graph: DeviceGraph, launch: Launcher) -> bool:
    """Return whether the forest of a graph comes to the host by one read."""
    return launch.profile is None and read_back.can_pack(
        graph, most_edges(graph), read_back.MOST_UNKNOWN
    )


def forest_at_once(
    solution: Solution, launch: Launcher, *, algorithm: str, maximum: bool
) -> Forest | None:
    """Return the forest of a solution that comes to the host by one read.

    Nothing is read in between: neither the number of edges, nor anything to look them up by, nor
    whether the solve came to its end. None if it did not.
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
    """Return how many edges a forest of a graph can have."""
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
    """Return the forest whose edges are in the first k of some rising slots. O(k log n)."""
    edges: Memory | Callable[[], Memory] = partial(_found_edges, graph, slots.memory, k)
    is_deferred = not wait and launch.profile is None and read_back.can_write_out(graph.device)
    if graph.rows is None and not is_deferred:
        edges = _edges_of(graph, slots.memory, k, launch)
    weights = None
    if own_weights:
        encoding = graph.encoded.encoding
        words = gather_words(graph.weights, encoding.word, slots, k, launch)
        weights = ForestWeights(words=words, encoding=encoding)
        graph = graph.replace_unchecked(plans={}, derived={})  # not the forest's to keep
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
    """Return a buffer with the endpoints of some slots, which a caller asks for later; waits."""
    device = graph.device
    with device.lock, Guard(device):
        edges = _edges_of(graph, slots, k, Launcher(device, device.queue))
        device.queue.finish()
    return edges


def _edges_of(graph: DeviceGraph, slots: Memory, k: int, launch: Launcher) -> Memory:
    """Enqueue the search for the endpoints of some slots, and return their buffer."""
    edges = graph.device.allocate(8 * k)
    word = graph.encoded.encoding.word  # of the program that gathers weights, too
    program = graph.device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
    if graph.rows is not None:
        name, arrays = "forest_look_up_edges", (graph.rows, graph.indices, slots, edges)
        launch.for_each(program, name, k, *arrays, k)
    else:
        name, arrays = "forest_gather_edges", (graph.indptr, graph.indices, slots, edges)
        launch.for_each(program, name, k, *arrays, graph.n_vertices, k)
    return edges
