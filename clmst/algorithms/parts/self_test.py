"""What a device must show before it is trusted with parts of a graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clmst.algorithms.parts.union import PartForest, begin_rows, united
from clmst.core.graph import Graph
from clmst.core.known_graphs import known_graph, weights_of
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.deferred_graph import graph_on_device
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.kernel_family import Answer, Case
from clmst.runtime.launcher import Launcher
from clmst.runtime.relay import locks_in_order

_SEED = 12
_SHARE = 0.3  # of the slots, which stand for a forest's


def parts(device: Device, case: Case) -> Iterator[Answer]:
    """Cut a known graph in two, and unite some edges of both parts: no bit may differ."""
    known = known_graph("small").ranks
    weights = weights_of(known.weights, case.dtype)
    n, middle = known.n_vertices, known.n_vertices // 3
    chosen = np.random.default_rng(_SEED).random(known.n_slots) < _SHARE
    twins = [device.twin() for _ in range(2)]
    forests = [
        _some_edges(known.replace_unchecked(weights=weights), chosen, twin, *rows)
        for twin, rows in zip(twins, ((0, middle), (middle, n)), strict=True)
    ]
    for forest, (begin, end) in zip(forests, ((0, middle), (middle, n)), strict=True):
        right = np.clip(known.indptr, known.indptr[begin], known.indptr[end])
        right -= known.indptr[begin]
        found = _read(forest.graph, forest.graph.indptr, right)
        yield "beginnings of rows of a part of a known graph", found, right
    first, second = locks_in_order(*twins)
    with first, second:
        union, _ = united(*forests)
    slots = np.flatnonzero(chosen)
    starts = np.searchsorted(slots, known.indptr).astype(np.uint32)
    expected = (starts, known.indices[slots], weights[slots])
    buffers = (union.indptr, union.indices, union.weights)
    for memory, right in zip(buffers, expected, strict=True):
        yield "words of the union of two parts", _read(union, memory, right), right


def _read(graph: DeviceGraph, memory: Memory, right: Array) -> Array:
    found = np.empty_like(right)
    Launcher(graph.device, graph.device.queue).read(memory, found)
    return found


def _some_edges(
    graph: Graph, chosen: Array, device: Device, first_row: int, end_row: int
) -> PartForest:
    """Return some slots of some rows, as if they were a forest."""
    first, end = (int(graph.indptr[row]) for row in (first_row, end_row))
    launch = Launcher(device, device.queue)
    starts = graph.indptr.copy()
    starts[:first_row] = starts[end_row + 1 :] = 7  # what is not given is not read
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
    return PartForest(
        graph=part, first_row=first_row, end_row=end_row,
        slots=DeviceArray.from_host(slots, device), n_edges=slots.size,
    )  # fmt: skip
