"""The self-test of the kernels that unite the forests of two parts of a graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clmst.algorithms.parts.union import ForestLists, PartForest, begin_rows, merged, united
from clmst.core.graph import Graph
from clmst.core.known_graphs import known_graph, weights_of
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph, graph_on_device
from clmst.runtime.handles import Memory
from clmst.runtime.kernel_family import Answer, Case
from clmst.runtime.launcher import Launcher
from clmst.runtime.peer_copy import locks_in_order

_SEED = 12
_SHARE = 0.3  # share of the CSR entries that the test uses in place of the edges of a forest


def parts(device: Device, case: Case) -> Iterator[Answer]:
    """Test whether a device unites edges of two parts of a known graph correctly.

    `case` has the dtype of the weights. The graph is first cut by rows, and then so that rows of
    both parts overlap. Yields triples: a description, the device's result and the right result.
    """
    known = known_graph("small").ranks
    known = known.replace_unchecked(weights=weights_of(known.weights, case.dtype))
    n, middle, rng = known.n_vertices, known.n_vertices // 3, np.random.default_rng(_SEED)
    chosen, is_first = rng.random((2, known.n_slots)) < [[_SHARE], [0.5]]
    twins = [device.twin() for _ in range(2)]
    rows = ((0, middle), (middle, n))
    forests = [
        _some_edges(known, chosen, twin, *some) for twin, some in zip(twins, rows, strict=True)
    ]
    for forest, (begin, end) in zip(forests, rows, strict=True):
        right = np.clip(known.indptr, known.indptr[begin], known.indptr[end])
        right -= known.indptr[begin]
        found = _read(forest.graph, forest.graph.indptr, right)
        yield "beginnings of rows of a part of a known graph", found, right
    first, second = locks_in_order(*twins)
    with first, second:
        union, *_ = united(*forests)
        is_first[: known.indptr[middle]] = True
        mixed = _some_edges(known, chosen & is_first, twins[0], 0, n)
        merge, original = _merged(
            mixed, _some_edges(known, chosen & ~is_first, twins[1], middle, n)
        )
    slots = np.flatnonzero(chosen)
    starts = np.searchsorted(slots, known.indptr).astype(np.uint32)
    expected = (starts, known.indices[slots], known.weights[slots])
    for graph, name in ((union, "rows"), (merge, "edges")):
        buffers = (graph.indptr, graph.indices, graph.weights)
        for memory, right in zip(buffers, expected, strict=True):
            yield f"words of the union of two parts' {name}", _read(graph, memory, right), right
    yield "slots of the edges of a union", original.to_host(), slots.astype(np.uint32)


def _merged(first: PartForest, second: PartForest) -> tuple[DeviceGraph, DeviceArray]:
    """Merge two lists of edges of a graph: `first`, of all rows, and `second`, of the last rows.

    The merge is done on the device of `first`. Returns a graph of the merged edges, and, for each
    of its CSR entries, the position of the entry in the whole graph.
    """
    here, there, word = first.device, second.device, first.graph.encoded.encoding.word
    lengths = (first.n_edges, second.n_edges)
    lists, sent = ForestLists(lengths, word, here), ForestLists(lengths[1:], word, there)
    own, other = (Launcher(device, device.queue) for device in (here, there))
    lists.add(0, first, own)
    slots = np.arange(first.graph.n_slots, dtype=np.uint32)[-second.graph.n_slots :]
    sent.add(0, second, other, numbers=DeviceArray.from_host(slots, there).memory)
    here.queue.finish()
    sent.move_to(lists, 1, lengths[1:], here.new_queue())
    return merged(lists, lengths, first.graph, own)


def _read(graph: DeviceGraph, memory: Memory, right: Array) -> Array:
    found = np.empty_like(right)
    Launcher(graph.device, graph.device.queue).read(memory, found)
    return found


def _some_edges(
    graph: Graph, chosen: Array, device: Device, first_row: int, end_row: int
) -> PartForest:
    """Return the `chosen` CSR entries of the rows `first_row` to ``end_row - 1``, on a device.

    The test does not need a real forest, so these entries stand for the forest of the rows.
    `chosen` is a mask of all entries of the graph.
    """
    first, end = (int(graph.indptr[row]) for row in (first_row, end_row))
    launch = Launcher(device, device.queue)
    starts = graph.indptr.copy()
    starts[:first_row] = starts[end_row + 1 :] = 7  # undefined values, which are not read
    indptr = DeviceArray.from_host(starts, device)
    begin_rows(
        indptr, launch, first_row=first_row, end_row=end_row, first_slot=first,
        n_slots=end - first,
    )  # fmt: skip
    indices, weights = (
        DeviceArray.from_host(array[first:end], device) for array in (graph.indices, graph.weights)
    )
    part = graph_on_device(indptr, indices, weights, is_symmetric=False)
    slots = np.flatnonzero(chosen[first:end]).astype(np.uint32)
    own = DeviceArray.from_host(slots, device)
    return PartForest(
        graph=part, first_row=first_row, end_row=end_row, slots=own, n_edges=slots.size,
        original=own,
    )  # fmt: skip
