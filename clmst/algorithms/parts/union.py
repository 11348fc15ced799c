"""Unite the forests of a graph's parts. The kernels are in ``cl/algorithms/parts/parts.cl``.

A part has some of the graph's edges, and one device solves it. An edge outside the forest of its
part is the heaviest edge of a cycle in the part, which is also a cycle in the whole graph. Hence
the forest of the graph is the forest of the union of the parts' forests, however the graph is
divided. :func:`united` takes two parts of which one has the earlier rows, so their lists of edges,
one after the other, are in canonical order. :func:`merged` takes lists of any parts, and merges
them by slot (position in the CSR of the graph).
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
    """The forest of a part of a graph. A part has the edges that one of several devices solves."""

    graph: DeviceGraph  # the part: it has all vertices; the rows of other parts are empty
    slots: DeviceArray  # uint32: CSR entries of the edges, ascending; may be longer than `n_edges`
    n_edges: int  # number of edges of the forest
    # uint32, for each edge: its CSR entry in the part in which it was solved first. Forests of two
    # parts are then united and solved again, and the result is a part, too. If this part is not
    # such a union, `original` equals `slots`.
    original: DeviceArray
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
    """The edges of one forest, or of two: columns, weights as words, and starts of rows."""

    columns: DeviceArray
    words: DeviceArray
    starts: DeviceArray


class ForestLists:
    """Lists of edges on a device, one list for the forest of each part of a graph.

    For each edge, a list has the position of the edge in the CSR of the whole graph (its slot), and
    its weight as a word. `capacities` has the maximum number of edges of each list. `word` is the
    dtype of the words.
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
        """Enqueue the copy of the forest of part `number` into the list for this part.

        `numbers` has, for each CSR entry of the part, its position in the CSR of the whole graph.
        If it is None, the entries of the part are consecutive in the graph, from `first` on.
        """
        _list(forest, (numbers, first), (self.slots, self.words), launch, begin=self.begins[number])

    def move_to(self, other: ForestLists, first: int, lengths: Sequence[int], queue: Queue) -> None:
        """Move all lists to another device, where they are lists `first`, `first` + 1 and so on.

        The call waits for the device. `lengths` are the numbers of edges of the lists. The caller
        must hold the lock of this device, and be the only user of `queue`, which is a queue in the
        context of `other`. No other command may write to `other` during the call.
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
    """List the edges of the forest of a part of a graph, given the forest as one flag per entry.

    The part has the rows `first_row` to ``end_row - 1``, and was solved by `algorithm`. `number` is
    the number of the part. The part may be a union of forests of other parts (:func:`united`). Then
    `original` says, for each CSR entry of the union, which CSR entry of its part has the same edge.
    Otherwise `original` is None. The call waits for the device, because the host has to read the
    number of edges.
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

    The call waits for the device. The caller must hold the locks of both devices. The rows and CSR
    entries of `second` must come after the rows and entries of `first` in the whole graph.

    Returns
    -------
    graph : DeviceGraph
        The union.
    original : DeviceArray of uint32
        For each CSR entry of the union, the CSR entry of the same edge in its part (`first` or
        `second`).
    moved : DeviceMove
        The size and the time of the copy between the devices.
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
    """Enqueue the merge of the edge lists of several parts into one graph, without waiting.

    `lists` has the edges of parts of the graph `whole`, which is on the same device and whose
    weights are not read. `lengths` has the number of edges of each list.

    Returns
    -------
    graph : DeviceGraph
        The union of the lists.
    slots : DeviceArray of uint32
        For each CSR entry of the union, the entry of the same edge in `whole`.
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
    """Enqueue a kernel that changes `indptr` from row starts of a graph to row starts of a part.

    The part has the rows `first_row` to ``end_row - 1``, with `n_slots` CSR entries, of which the
    first is the entry `first_slot` of the graph. Before, `indptr` has the graph's values from
    `first_row` to `end_row`, both included; its other values are undefined. Afterwards it has the
    start of every row of the part, where all other rows are empty.
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
    """Enqueue a kernel that writes a number and the weight of each edge of a forest to arrays.

    `lists` are the two arrays, of numbers and of weights as words, which are written from index
    `begin` on. `numbers` says which number an edge gets. If it is (buffer, 0), the buffer has the
    number of each CSR entry of the part. If it is (None, k), the entry with the index i has the
    number k + i.
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
    """Enqueue kernels that write a forest as a CSR: columns, weights and row starts.

    The arrays of `lists` are written. `rows` is a pair: the first row to write, and how many row
    starts to write. `before` is the number of edges in earlier rows, which is added to all row
    starts.
    """
    graph, k = forest.graph, forest.n_edges
    _list(forest, (graph.indices, 0), (lists.columns, lists.words), launch)
    launch.for_each(
        _program(launch.device, graph.encoded.encoding.word), "parts_find_rows", rows[1],
        graph.indptr, forest.slots, lists.starts, *rows, 0, before, k,
    )  # fmt: skip


def _program(device: Device, word: np.dtype[Any]) -> Program:
    return device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)
