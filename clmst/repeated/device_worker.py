"""One of several devices: it solves its parts of the graph in each round."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from clmst import algorithms
from clmst.algorithms.parts import family
from clmst.algorithms.parts.union import ForestLists, part_forest
from clmst.repeated import families
from clmst.repeated.pieces import Piece
from clmst.repeated.strategies import Assignment
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import has_finished
from clmst.runtime.launcher import Launcher

# Returns the graphs of a device's pieces, with the weights of the round.
Reweight: TypeAlias = Callable[[Sequence[Piece], Launcher], list[DeviceGraph]]


@dataclass(slots=True, kw_only=True)
class DeviceRound:
    """The work of a device in a round, with times by the host's clock in seconds.

    Attributes
    ----------
    launch : Launcher
    algorithms, lengths : list
        What solved each part, and the edges of its forest.
    nans : list of int
        Weights of the whole graph that are NaN.
    began, uploaded, solved, ended : float
        `solved`: the forests are in the device's memory. `ended`: they are in the memory that the
        last pass reads.
    host_less_device : float
        The host's clock minus the device's, in seconds, if the work is profiled.
    """

    launch: Launcher
    algorithms: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    nans: list[int] = field(default_factory=list)
    began: float = 0.0
    uploaded: float = 0.0
    solved: float = 0.0
    ended: float = 0.0
    host_less_device: float = 0.0

    def stats(self, assignment: Assignment, began: float, entered: float) -> dict[str, Any]:
        """Return the device's work in a round, which and whose last pass began at these times."""
        stats: dict[str, Any] = {
            "device": assignment.device.description,
            "vertices": sum(part.graph.n_vertices for part in assignment.parts),
            "edges": sum(part.n_edges for part in assignment.parts),
            "algorithms": self.algorithms,
            "forest_edges": sum(self.lengths),
            "began_ms": 1e3 * (self.began - began),
            "upload_ms": 1e3 * (self.uploaded - self.began),
            "solve_ms": 1e3 * (self.solved - self.uploaded),
            "send_ms": 1e3 * (self.ended - self.solved),
            "ended_ms": 1e3 * (self.ended - began),
            "wait_ms": 1e3 * (entered - self.ended),
        }
        if self.launch.profile is not None:
            stats["profile"] = self.launch.profile.summary()
            if (span := self.launch.profile.span()) is not None:
                since = self.host_less_device - began
                stats["kernels_began_ms"], stats["kernels_ended_ms"] = (
                    1e3 * (time + since) for time in span
                )
        return stats


class Worker:
    """A device with its parts, numbered from `first` on, for one thread at a time.

    `last` is the device of the last pass.
    """

    def __init__(self, assignment: Assignment, first: int, last: Device, *, maximum: bool) -> None:
        self.assignment, self.device, self._maximum = assignment, assignment.device, maximum
        with self.device.lock:
            self.pieces = [
                Piece(number, part, self.device)
                for number, part in enumerate(assignment.parts, first)
            ]
            self.device.queue.finish()
        self._queue = None if self.device is last else last.new_queue()

    def solve(self, reweight: Reweight, lists: ForestLists, *, profile: bool) -> DeviceRound:
        """Solve all parts under a round's weights, and bring their forests to the last pass."""
        device = self.device
        work = DeviceRound(launch=Launcher.of(device, profile=profile), began=time.perf_counter())
        launch = work.launch
        with device.lock:
            family.require(device, lists.word)
            if launch.profile is not None:
                work.host_less_device = launch.host_less_device()
            try:
                own = lists if self._queue is None else self._new_lists(lists.word)
                graphs = reweight(self.pieces, launch)
                if launch.profile is not None:
                    launch.queue.finish()
                work.uploaded = time.perf_counter()
                for k, one in enumerate(graphs):
                    self._solve_piece(k, one, own, work)
                launch.queue.finish()
                work.solved = time.perf_counter()
                if self._queue is not None:
                    own.move_to(lists, self.pieces[0].number, work.lengths, self._queue)
            except BaseException:
                has_finished(launch.queue)  # before its memory has a new owner
                for piece in self.pieces:
                    piece.rounds.drop_plans()
                raise
        work.ended = time.perf_counter()
        return work

    def _new_lists(self, word: np.dtype[Any]) -> ForestLists:
        return ForestLists([one.part.forest_capacity for one in self.pieces], word, self.device)

    def _solve_piece(
        self, k: int, graph: DeviceGraph, lists: ForestLists, work: DeviceRound
    ) -> None:
        """Solve a part, and list its forest; waits for the number of its edges."""
        piece, launch, options = self.pieces[k], work.launch, self.assignment.options
        name, solve = algorithms.choose(
            self.assignment.algorithm, self.device, graph, options=options, maximum=self._maximum
        )
        families.require_rounds(graph, name, maximum=self._maximum, options=options)
        solution = solve(graph, launch, maximum=self._maximum, options=options)
        forest = part_forest(solution, launch)
        number = piece.number if self._queue is None else k
        lists.add(number, forest, launch, numbers=piece.slots, first=piece.part.first_slot)
        work.algorithms.append(name)
        work.lengths.append(forest.n_edges)
        if (nan := piece.first_nan(launch)) is not None:
            work.nans.append(nan)
