"""The union of the forests of a graph's parts; host side of ``cl/algorithms/parts/parts.cl``.

An edge that is in no part's forest is the heaviest of a cycle there, and so of one in the whole
graph. Hence the forest of the graph is that of the union of the parts' forests, whatever the parts
are. The rows of one part come before those of the other where :func:`united` takes them, so the two
lists of edges, one after the other, are in canonical order. :func:`merged` takes lists of any
parts, and merges them by slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clmst.algorithms.shared.read_back import gather_words
from clmst.algorithms.shared.solution import Solution, most_edges, words_on_device
from clmst.core.weight_keys import Encoding
from clmst.primitives.selection import positions_of
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph, graph_on_device
from clmst.runtime.device_threads import failures_of
from clmst.runtime.handles import Memory, Queue
from clmst.runtime.launcher import Launcher
from clmst.runtime.peer_copy import DeviceCopy, DeviceMove, move
from clmst.runtime.program import Program

SOURCE = "algorithms/parts/parts.cl"

_WORD = np.dtype(np.uint32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartForest:
    """The forest of a part of a graph, on a device."""

    graph: DeviceGraph  # of consecutive rows it has all vertices, and other rows are empty
    slots: DeviceArray  # uint32: of the forest's edges, rising; perhaps more than `n_edges`
    n_edges: int
    original: DeviceArray  # uint32: of a union, the slot of each edge in its own part
    first_row: int = 0  # of a part of any edges no row
    end_row: int = 0
    number: int = 0  # of the part, or of the first of several
    algorithm: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def device(self) -> Device:
        """The device that it is on."""
        return self.graph.device


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _EdgeLists:
    """The edges of a forest, or of two: columns, words, and where rows begin among them."""

    columns: DeviceArray
    words: DeviceArray
    starts: DeviceArray


class ForestLists:
    """Lists of the edges of parts' forests on a device: their slots in the graph, and key words.

    The capacities are the most edges that the forest of each part can have.
    """

    def __init__(self, capacities: Sequence[int], word: np.dtype[Any], device: Device) -> None:
        ends = np.cumsum([0, *capacities]).tolist()
        self.device, self.word, self.begins = device, word, ends[:-1]
        self.slots = DeviceArray.unchecked(ends[-1], _WORD, device)
        self.words = DeviceArray.unchecked(ends[-1], word, device)

    def add(
        self, number: int, forest: PartForest, launch: Launcher, *, numbers: Memory | None = None,
        first: int = 0,
    ) -> None:  # fmt: skip
        """Enqueue the listing of a forest of this device as the list of a number.

        `numbers` has the graph's slot of each slot of the part; else these are consecutive, from
        `first` on.
        """
        _list(forest, (numbers, first), (self.slots, self.words), launch, begin=self.begins[number])

    def move_to(self, other: ForestLists, first: int, lengths: Sequence[int], queue: Queue) -> None:
        """Move all lists to another device, where their numbers begin with `first`; waits.

        The caller has this device's lock, and alone the queue, in the context of `other`, which
        nothing is under way to.
        """
        copies = [
            DeviceCopy(
                source=source.memory, target=target.memory, n_bytes=length * source.dtype.itemsize,
                begin=begin * source.dtype.itemsize, offset=offset * source.dtype.itemsize,
            )
            for length, begin, offset in zip(
                lengths, self.begins, other.begins[first : first + len(lengths)], strict=True
            )
            for source, target in ((self.slots, other.slots), (self.words, other.words))
        ]  # fmt: skip
        move(copies, self.device, other.device, queue=queue)


def part_forest(
    solution: Solution, launch: Launcher, *, first_row: int = 0, end_row: int = 0,
    original: DeviceArray | None = None, number: int = 0, algorithm: str = "",
) -> PartForest:  # fmt: skip
    """Return the forest of a solved part; waits for the number of its edges.

    Of a union, `original` has the slot of each of its slots in the part that the edge is from.
    """
    graph = solution.graph
    slots, total = positions_of(solution.in_forest, at_most=most_edges(graph), launch=launch)
    k = launch.read_word(total.memory)
    if original is not None:
        original = gather_words(original.memory, _WORD, slots, k, launch)
    return PartForest(
        graph=graph, first_row=first_row, end_row=end_row, slots=slots, n_edges=k,
        original=slots if original is None else original, number=number, algorithm=algorithm,
        stats=solution.stats,
    )  # fmt: skip


def united(first: PartForest, second: PartForest) -> tuple[DeviceGraph, DeviceArray, DeviceMove]:
    """Return the union of two forests as a graph on the first one's device; waits.

    The caller has the locks of both devices. The rows of `second` come right after those of
    `first`, and so do its slots. Beside the graph are the original slots, as of
    :func:`part_forest`, and the copy between the devices.
    """
    n, k = first.graph.n_vertices, first.n_edges
    encoding = first.graph.encoded.encoding
    here, there = first.device, second.device
    own, other = (Launcher(device, device.queue) for device in (here, there))
    rows = second.end_row - second.first_row + 1  # with the one behind
    with failures_of(there):
        sent = _new_lists(second.n_edges, rows, encoding.stored, there)
        _list_rows(second, sent, other, rows=(second.first_row, rows), before=k)
        there.queue.flush()
    with failures_of(here):
        lists = _new_lists(k + second.n_edges, n + 1, encoding.stored, here)
        _list_rows(first, lists, own, rows=(0, second.first_row), before=0)
        behind = second.end_row + 1
        own.for_each(
            _program(here, encoding.word), "parts_end_rows", n + 1 - behind, lists.starts, behind,
            n + 1 - behind, lists.columns.size,
        )  # fmt: skip
        original = DeviceArray.unchecked(k + second.n_edges, _WORD, here)
        own.copy(first.original.memory, original.memory, 4 * k)
        here.queue.flush()
    pairs = (
        (sent.columns, lists.columns, k),
        (sent.words, lists.words, k),
        (sent.starts, lists.starts, second.first_row),
        (second.original, original, k),
    )
    copies = [
        DeviceCopy(
            source=source.memory, target=target.memory, offset=position * source.dtype.itemsize,
            n_bytes=(rows if source is sent.starts else second.n_edges) * source.dtype.itemsize,
        )
        for source, target, position in pairs
    ]  # fmt: skip
    moved = move(copies, there, here)
    return _graph_of(lists, encoding, own), original, moved


def merged(
    lists: ForestLists, lengths: Sequence[int], whole: DeviceGraph, launch: Launcher
) -> tuple[DeviceGraph, DeviceArray]:
    """Enqueue the merge of lists into one graph; return it, and the slot of `whole` of each slot.

    They are lists of parts of `whole`, which is on the same device; its weights are not read.
    """
    device, n, k = launch.device, whole.n_vertices, sum(lengths)
    bounds = np.column_stack((lists.begins, lengths)).astype(np.uint32)
    bounds_there = DeviceArray.from_host(bounds.ravel(), device)
    targets = DeviceArray.unchecked(max(lengths, default=0), _WORD, device)
    encoding = whole.encoded.encoding
    union, slots = (
        _new_lists(k, n + 1, encoding.stored, device),
        DeviceArray.unchecked(k, _WORD, device),
    )
    program = _program(device, encoding.word)
    for number, length in enumerate(lengths):
        launch.for_each(
            program, "parts_merge_list", length, lists.slots, lists.words, bounds_there,
            whole.indices, targets, slots, union.words, union.columns, number, len(lengths),
        )  # fmt: skip
    launch.for_each(
        program, "parts_find_rows", n + 1, whole.indptr, slots, union.starts, 0, n + 1, 0, 0, k
    )
    return _graph_of(union, encoding, launch), slots


def begin_rows(
    indptr: DeviceArray, launch: Launcher, *, first_row: int, end_row: int, first_slot: int,
    n_slots: int,
) -> None:  # fmt: skip
    """Enqueue the rebase of indptr to a part of some rows, which begins with slot `first_slot`.

    Before, it is the graph's from `first_row` to `end_row`, both included, and undefined elsewhere.
    """
    launch.for_each(
        _program(launch.device, _WORD), "parts_begin_rows", indptr.size, indptr, first_row,
        end_row, first_slot, n_slots, indptr.size - 1,
    )  # fmt: skip


def _graph_of(lists: _EdgeLists, encoding: Encoding, launch: Launcher) -> DeviceGraph:
    graph = graph_on_device(lists.starts, lists.columns, lists.words, is_symmetric=False)
    words = words_on_device(lists.words.memory, encoding, lists.words.size, launch)
    return graph.replace_unchecked(encoded=words)


def _new_lists(k: int, rows: int, stored: np.dtype[Any], device: Device) -> _EdgeLists:
    return _EdgeLists(
        columns=DeviceArray.unchecked(k, _WORD, device),
        words=DeviceArray.unchecked(k, stored, device),
        starts=DeviceArray.unchecked(rows, _WORD, device),
    )


def _list(
    forest: PartForest, numbers: tuple[Memory | None, int], lists: tuple[DeviceArray, DeviceArray],
    launch: Launcher, *, begin: int = 0,
) -> None:  # fmt: skip
    """Enqueue the listing of a forest from `begin` on: of a number and the word of each edge.

    The numbers of slots are in a buffer, or consecutive from a first one on.
    """
    (by_slot, first), k, word = numbers, forest.n_edges, forest.graph.encoded.encoding.word
    launch.for_each(
        _program(launch.device, word), "parts_list_forest", k, forest.slots, forest.graph.weights,
        forest.slots if by_slot is None else by_slot, *lists, int(by_slot is not None), first,
        begin, k,
    )  # fmt: skip


def _list_rows(
    forest: PartForest, lists: _EdgeLists, launch: Launcher, *, rows: tuple[int, int], before: int
) -> None:
    """Enqueue the listing of a forest's columns, and of where (first, count) rows begin."""
    graph, k = forest.graph, forest.n_edges
    _list(forest, (graph.indices, 0), (lists.columns, lists.words), launch)
    launch.for_each(
        _program(launch.device, graph.encoded.encoding.word), "parts_find_rows", rows[1],
        graph.indptr, forest.slots, lists.starts, *rows, 0, before, k,
    )  # fmt: skip


def _program(device: Device, word: np.dtype[Any]) -> Program:
    return device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
