"""One of several devices: it solves its parts of the graph in each round."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from clmst import algorithms
from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.algorithms.reweighting.union import Lists, Union
from clmst.core.weight_keys import Array, Encoding
from clmst.primitives.compact import positions
from clmst.repeated import families
from clmst.repeated.devices.plan import Assignment, Task
from clmst.repeated.staged import StagedWeights
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import has_finished
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The forest of a part.

    Attributes
    ----------
    number : int
        The index of its list.
    n_edges : int
    algorithm : str
    nan : int or None
        The first weight of the whole graph that is NaN.
    """

    number: int
    n_edges: int
    algorithm: str
    nan: int | None


@dataclass(slots=True, kw_only=True)
class Work:
    """The work of a device in a round, with times by the host's clock in seconds.

    Attributes
    ----------
    launch : Launcher
    found : list of Found
    began, uploaded, solved, ended : float
        `solved`: the forests are in the device's memory. `ended`: they are in the memory that the
        last pass reads.
    host_less_device : float
        The host's clock minus the device's, in seconds, if the work is profiled.
    """

    launch: Launcher
    found: list[Found] = field(default_factory=list)
    began: float = 0.0
    uploaded: float = 0.0
    solved: float = 0.0
    ended: float = 0.0
    host_less_device: float = 0.0


class Piece:
    """A part on a device.

    Parameters
    ----------
    task : Task
    number : int
        The index of its list.
    device : Device
    """

    def __init__(self, task: Task, number: int, device: Device) -> None:
        self.task, self.part, self.number = task, task.part, number
        self.rounds = ReweightedGraph(task.part.graph, device)
        slots = task.part.slots
        self._numbers = None if slots is None else device.upload(slots)

    @property
    def span(self) -> tuple[int, int]:
        """Which weights of the whole graph it takes."""
        return self.part.first, self.part.last

    def solve(
        self, graph: DeviceGraph, launch: Launcher, lists: Lists, number: int, *,
        maximum: bool, may_hold_nan: bool,
    ) -> Found:  # fmt: skip
        """Solve, and list the forest's edges; waits for the count."""
        task = self.task
        name, solve = algorithms.choose(
            task.algorithm, graph.device, graph, options=task.options, maximum=maximum
        )
        families.require_rounds(graph, name, maximum=maximum, options=task.options)
        solution = solve(graph, launch, maximum=maximum, options=task.options)
        chosen, total = positions(
            solution.in_forest, at_most=self.part.forest_capacity, launch=launch
        )
        k = launch.read_word(total.memory)
        lists.list_forest(
            number, chosen, graph, launch, k=k, numbers=self._numbers, first=self.part.first_slot
        )
        nan = self.rounds.read_faults(launch).nan if may_hold_nan else None
        return Found(
            number=self.number,
            n_edges=k,
            algorithm=name,
            nan=None if nan is None else nan + self.part.first,
        )

    def reset(self, launch: Launcher) -> None:
        """Drop the state of an interrupted solve."""
        has_finished(launch.queue)  # before its memory has a new owner
        self.rounds.drop_plans()


class Worker:
    """A device with its parts.

    Only one thread at a time may use it, but another one may call `upload`.

    Parameters
    ----------
    assignment : Assignment
    index : int
        Among the workers.
    numbers : sequence of int
        The indices of its tasks' lists.
    union : Union
        The union that receives the forests.
    maximum : bool
    """

    def __init__(
        self,
        assignment: Assignment,
        index: int,
        numbers: Sequence[int],
        union: Union,
        *,
        maximum: bool,
    ) -> None:
        self.device, self.union, self.maximum = assignment.device, union, maximum
        self._index = index
        tasks = list(zip(assignment.tasks, numbers, strict=True))
        with self.device.lock:
            self.pieces = [Piece(task, number, self.device) for task, number in tasks]
            self.device.queue.finish()
        self._own: Lists | None = None  # what the union's device receives
        self._queue: Queue | None = None
        if self.device is not union.device:
            self._own = Lists([piece.part.forest_capacity for piece in self.pieces], self.device)
            self._queue = union.device.new_queue()
            self._host = [np.empty(piece.part.forest_capacity, np.uint32) for piece in self.pieces]
            self._host_words = [np.empty(0, np.uint32) for _ in self.pieces]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Which weights of the whole graph it takes."""
        return [piece.span for piece in self.pieces]

    # ------------------------------------------------------------------- weights

    def upload(self, staged: StagedWeights, queue: Queue) -> None:
        """Upload the weights of each piece that are not uploaded yet; shared ranges once."""
        if self._index in staged.parts:
            return
        found = {}
        for piece in self.pieces:
            if piece.span not in found:
                found[piece.span] = staged.upload(piece.span, piece.rounds, queue)
        staged.parts[self._index] = [found[piece.span] for piece in self.pieces]

    def forget(self) -> None:
        """Have no weights."""
        for piece in self.pieces:
            piece.rounds.forget()

    # --------------------------------------------------------------------- rounds

    def solve(self, staged: StagedWeights, *, profile: bool) -> Work:
        """Solve with other weights, and pass the forests to the union."""
        work = Work(launch=Launcher.of(self.device, profile=profile))

        def enter() -> list[DeviceGraph]:
            self.upload(staged, work.launch.queue)
            return [
                piece.rounds.take(given, work.launch)
                for piece, given in zip(self.pieces, staged.parts[self._index], strict=True)
            ]

        return self._run(work, enter, staged.encoding)

    def change(self, ids: Array, words: Array, encoding: Encoding, *, profile: bool) -> Work:
        """Solve with some weights changed; `ids` are in range, and `words` hold no NaN."""
        work = Work(launch=Launcher.of(self.device, profile=profile))

        def enter() -> list[DeviceGraph]:
            graphs = []
            for piece in self.pieces:
                rounds, (first, last) = piece.rounds, piece.span
                mine = (ids >= first) & (ids < last)
                edges = DeviceArray.from_host((ids[mine] - first).astype(np.uint32), self.device)
                changed = DeviceArray.from_host(words[mine], self.device)
                graphs.append(rounds.change(edges, changed, work.launch))
            return graphs

        return self._run(work, enter, encoding)

    def _run(self, work: Work, enter: Callable[[], list[DeviceGraph]], encoding: Encoding) -> Work:
        """Store the weights, solve every piece, and send the forests."""
        lists, launch = self._own or self.union.lists, work.launch
        work.began = time.perf_counter()
        with self.device.lock:
            if launch.profile is not None:
                work.host_less_device = launch.host_less_device()
            try:
                if self._own is not None:
                    self._own.widen(encoding.word)
                graphs = enter()
                if launch.profile is not None:
                    launch.queue.finish()
                work.uploaded = time.perf_counter()
                for index, (piece, graph) in enumerate(zip(self.pieces, graphs, strict=True)):
                    given = piece.rounds.present
                    found = piece.solve(
                        graph, launch, lists, index if self._own else piece.number,
                        maximum=self.maximum,
                        may_hold_nan=given is not None and given.may_hold_nan,
                    )  # fmt: skip
                    work.found.append(found)
                launch.queue.finish()
                work.solved = time.perf_counter()
                sent = self._read(work, encoding)
            except BaseException:
                for piece in self.pieces:
                    piece.reset(launch)
                raise
        for found, slots, words in sent:
            assert self._queue is not None
            self.union.lists.receive(found.number, slots, words, self._queue)
        work.ended = time.perf_counter()
        return work

    def _read(self, work: Work, encoding: Encoding) -> list[tuple[Found, Array, Array]]:
        """Return the forests on the host, or None if the union has them already."""
        if self._own is None:
            return []
        sent = []
        for index, (found, buffer) in enumerate(zip(work.found, self._host, strict=True)):
            if self._host_words[index].dtype != encoding.word or not self._host_words[index].size:
                self._host_words[index] = np.empty(buffer.size, encoding.word)
            slots = buffer[: found.n_edges]
            words = self._host_words[index][: found.n_edges]
            self._own.read(index, slots, words, work.launch)
            sent.append((found, slots, words))
        return sent
