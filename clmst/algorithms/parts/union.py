"""Unite the forests of a graph's parts. The kernels are in ``cl/algorithms/parts/parts.cl``.

An edge outside the forest of its part is the heaviest edge of a cycle in the part, and so of a
cycle in the whole graph. Hence the forest of the graph is the forest of the union of the parts'
forests, however the graph is divided. :func:`united` takes two parts of which one has the earlier
rows, so their lists of edges, one after the other, are in canonical order. :func:`merged` takes
lists of any parts, and merges them by slot.
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
    """The forest of the edges that one of several devices solves (a part of the graph)."""

    graph: DeviceGraph  # the part: it has all vertices; the rows of other parts are empty
    slots: DeviceArray  # uint32: slots of the edges, ascending; may be longer than `n_edges`
    n_edges: int
    original: DeviceArray  # uint32: for a union, the slot of each edge in its original part
    first_row: int = 0  # the rows are first_row to end_row - 1; 0, 0 if the part is not by rows
    end_row: int = 0
    number: int = 0  # number of the part, or of the first of the parts that are united
    algorithm: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def device(self) -> Device:
        """The device on which the forest is."""
        return self.graph.device


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _EdgeLists:
    """The edges of one forest or of two: columns, words of weights, and starts of rows."""

    columns: DeviceArray
    words: DeviceArray
    starts: DeviceArray


class ForestLists:
    """Lists of the edges of parts' forests on a device: the slots in the graph, and key words.

    `capacities` contains the maximum number of edges of the forest of each part.
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
        """Enqueue the copy of a forest on this device to the list with the given number.

        `numbers` contains, for each slot of the part, its slot in the graph. With None, the slots
        of the part are consecutive in the graph, from `first` on.
        """
        _list(forest, (numbers, first), (self.slots, self.words), launch, begin=self.begins[number])

    def move_to(self, other: ForestLists, first: int, lengths: Sequence[int], queue: Queue) -> None:
        """Move all lists to another device, where they are numbered from `first` on.

        The call waits for the device. `lengths` are the numbers of edges of the lists. The caller
        must have this device's lock, and be the only user of `queue`, which is a queue in the
        context of `other`. No other command may write to `other`.
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
    original: DeviceArray | None = None, number: int = 0, algorithm: str,
) -> PartForest:  # fmt: skip
    """Compact the solution of a part into the forest of the part.

    The part has the rows from `first_row` to before `end_row`, and was solved by `algorithm`. The
    call waits for the device to read the number of edges. If the part is itself a union, `original`
    contains, for each of its slots, the slot in the part from which the edge came. Otherwise it is
    None.
    """
    graph = solution.graph
    bound = most_edges(graph)
    slots, total = positions_of(solution.in_forest, at_most=bound, launch=launch)
    k = launch.read_count(total.memory, bound)
    if original is not None:
        original = gather_words(original.memory, _WORD, slots, k, launch)
    return PartForest(
        graph=graph, first_row=first_row, end_row=end_row, slots=slots, n_edges=k,
        original=slots if original is None else original, number=number, algorithm=algorithm,
        stats=solution.stats,
    )  # fmt: skip


def united(first: PartForest, second: PartForest) -> tuple[DeviceGraph, DeviceArray, DeviceMove]:
    """Make a graph of the edges of two forests, on the device of the first one.

    The call waits for the device. The caller must have the locks of both devices. The rows and
    slots of `second` must follow the rows and slots of `first`.

    Returns
    -------
    graph : DeviceGraph
        The union.
    original : DeviceArray of uint32
        For each slot of the union, the slot in the part from which the edge came.
    moved : DeviceMove
        Figures about the copy between the devices.
    """
    n, k = first.graph.n_vertices, first.n_edges
    encoding = first.graph.encoded.encoding
    here, there = first.device, second.device
    own, other = (Launcher(device, device.queue) for device in (here, there))
    rows = second.end_row - second.first_row + 1  # number of row starts, with the end of the last
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
    """Enqueue the merge of lists of parts into one graph, without waiting.

    The lists, of these lengths, are of parts of `whole`, a graph on the same device, whose weights
    are not read.

    Returns
    -------
    graph : DeviceGraph
        The union of the lists.
    slots : DeviceArray of uint32
        For each slot of the union, the slot in `whole`.
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
    """Enqueue the change of `indptr` from the whole graph's row starts to the part's.

    The part has the rows from `first_row` to before `end_row`, and begins with the graph's slot
    `first_slot`. On entry, `indptr` contains the graph's values from `first_row` to `end_row`, both
    included; its other values are undefined.
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
    """Enqueue the listing of a forest: for each edge, a number and the word of the weight.

    `lists` are the arrays of numbers and of words, which are written from index `begin` on.
    `numbers` is (a buffer with the number of each slot, 0), or (None, the first of consecutive
    numbers).
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
    """Enqueue the listing of a forest's columns, and of the starts of rows.

    `rows` is the first row and the number of rows; `before` is the number of edges before this
    list.
    """
    graph, k = forest.graph, forest.n_edges
    _list(forest, (graph.indices, 0), (lists.columns, lists.words), launch)
    launch.for_each(
        _program(launch.device, graph.encoded.encoding.word), "parts_find_rows", rows[1],
        graph.indptr, forest.slots, lists.starts, *rows, 0, before, k,
    )  # fmt: skip


def _program(device: Device, word: np.dtype[Any]) -> Program:
    return device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
