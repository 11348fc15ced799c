"""The union of the forests of two parts of a graph; host side of ``cl/algorithms/parts/parts.cl``.

An edge that is in no part's forest is the heaviest of a cycle there, and so of one in the whole
graph. Hence the forest of the graph is that of the union of the parts' forests. The rows of one
part come before those of the other, so the two lists of edges, one after the other, are in
canonical order: nothing is sorted or merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms.shared.solution import Solution
from clmst.primitives.selection import positions_of
from clmst.runtime.array import DeviceArray
from clmst.runtime.deferred_graph import graph_on_device
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program
from clmst.runtime.relay import DeviceCopy, DeviceMove, move
from clmst.runtime.together import blamed

SOURCE = "algorithms/parts/parts.cl"

_WORD = np.dtype(np.uint32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartForest:
    """The forest of some consecutive rows of a graph, on a device.

    Attributes
    ----------
    graph : DeviceGraph
        The rows, on all vertices; other rows are empty.
    first_row, end_row : int
        Which rows they are.
    slots : DeviceArray of uint32
        The slots of the forest's edges, rising; more than `n_edges` elements, perhaps.
    n_edges : int
    """

    graph: DeviceGraph
    first_row: int
    end_row: int
    slots: DeviceArray
    n_edges: int

    @property
    def device(self) -> Device:
        """Where it is."""
        return self.graph.device


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _EdgeLists:
    """The edges of a forest, or of two, and where rows begin among them."""

    columns: DeviceArray
    words: DeviceArray
    starts: DeviceArray


def part_forest(
    solution: Solution, launch: Launcher, *, first_row: int, end_row: int
) -> PartForest:
    """Return the forest of a solved part; waits for the number of its edges."""
    graph = solution.graph
    bound = min(max(graph.n_vertices - 1, 0), graph.edge_bound)
    slots, total = positions_of(solution.in_forest, at_most=bound, launch=launch)
    return PartForest(
        graph=graph, first_row=first_row, end_row=end_row, slots=slots,
        n_edges=launch.read_word(total.memory),
    )  # fmt: skip


def united(first: PartForest, second: PartForest) -> tuple[DeviceGraph, DeviceMove]:
    """Return the union of two forests as a graph on the first one's device; waits.

    The caller has the locks of both devices. The rows of `second` come right after those of
    `first`.

    Returns
    -------
    graph : DeviceGraph
        Its slots are the edges of `first`, then those of `second`.
    move : DeviceMove
        What the copy between the devices took.
    """
    n, k = first.graph.n_vertices, first.n_edges
    encoding = first.graph.encoded.encoding
    here, there = first.device, second.device
    own, other = (Launcher(device, device.queue) for device in (here, there))
    rows = second.end_row - second.first_row + 1  # with the one behind
    with blamed(there):
        sent = _new_lists(second.n_edges, rows, encoding.stored, there)
        _list(second, sent, other, begin=0, rows=(second.first_row, rows), at=0, before=k)
        there.queue.flush()
    with blamed(here):
        lists = _new_lists(k + second.n_edges, n + 1, encoding.stored, here)
        _list(first, lists, own, begin=0, rows=(0, second.first_row), at=0, before=0)
        behind = second.end_row + 1
        own.for_each(
            _program(here, encoding.word), "parts_end_rows", n + 1 - behind, lists.starts, behind,
            n + 1 - behind, lists.columns.size,
        )  # fmt: skip
        here.queue.flush()
    pairs = (
        (sent.columns, lists.columns, k),
        (sent.words, lists.words, k),
        (sent.starts, lists.starts, second.first_row),
    )
    moved = move(
        [
            DeviceCopy(
                source=source.memory, target=target.memory, n_bytes=source.nbytes,
                offset=position * source.dtype.itemsize,
            )
            for source, target, position in pairs
        ],
        there,
        here,
    )  # fmt: skip
    graph = graph_on_device(
        lists.starts, lists.columns, lists.words, is_symmetric=False, encoding=encoding
    )
    return graph, moved


def begin_rows(
    indptr: DeviceArray, launch: Launcher, *, first_row: int, end_row: int, first_slot: int,
    n_slots: int,
) -> None:  # fmt: skip
    """Enqueue that where some rows of a graph begin becomes where they begin in a part of it.

    Parameters
    ----------
    indptr : DeviceArray of uint32, shape (n + 1,)
        From `first_row` to `end_row`, both included, those of the graph; others undefined.
    launch : Launcher
    first_row, end_row : int
        Of the part.
    first_slot, n_slots : int
        The graph's slot of the part's first, and how many the part has.
    """
    launch.for_each(
        _program(launch.device, _WORD), "parts_begin_rows", indptr.size, indptr, first_row,
        end_row, first_slot, n_slots, indptr.size - 1,
    )  # fmt: skip


def _new_lists(k: int, rows: int, stored: np.dtype[Any], device: Device) -> _EdgeLists:
    return _EdgeLists(
        columns=DeviceArray.unchecked(k, _WORD, device),
        words=DeviceArray.unchecked(k, stored, device),
        starts=DeviceArray.unchecked(rows, _WORD, device),
    )


def _list(
    forest: PartForest, lists: _EdgeLists, launch: Launcher, *, begin: int, rows: tuple[int, int],
    at: int, before: int,
) -> None:  # fmt: skip
    """Enqueue the listing of a forest from `begin` on, and of where (first, count) rows begin."""
    graph, k = forest.graph, forest.n_edges
    program = _program(launch.device, graph.encoded.encoding.word)
    launch.for_each(
        program, "parts_list_forest", k, forest.slots, graph.indices, graph.weights,
        lists.columns, lists.words, begin, k,
    )  # fmt: skip
    first_row, count = rows
    launch.for_each(
        program, "parts_find_rows", count, graph.indptr, forest.slots, lists.starts, first_row,
        count, at, before, k,
    )  # fmt: skip


def _program(device: Device, word: np.dtype[Any]) -> Program:
    """Return the kernels for words of a width, whatever they mean."""
    return device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
