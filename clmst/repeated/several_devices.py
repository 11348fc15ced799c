"""Repeated solves on several devices.

Each device solves its parts of the graph. The last pass, on one of them, then solves the union of
the forests of all parts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeAlias, TypeVar

import numpy as np

from clmst.algorithms.families import PARTS, words_case
from clmst.algorithms.parts.union import ForestLists, merged, part_forest
from clmst.algorithms.proof.prove import checked_on_host
from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.read_back import gather_words
from clmst.algorithms.shared.solution import forest_of
from clmst.algorithms.solving import choose, solution_by
from clmst.core.arguments import unchecked
from clmst.core.errors import InvalidArgumentError
from clmst.core.threads import TaskThread
from clmst.core.weight_keys import Array, EncodedWeights, Encoding
from clmst.repeated import families
from clmst.repeated.assignments import Assignment, DevicePlan
from clmst.repeated.rounds import GraphRounds, RoundOptions, lost_error
from clmst.repeated.weights import Changes, StagedWeights, bring, closed_error, nan_error, stage
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_threads import device_threads, failures_of, named_failures, together
from clmst.runtime.failures import has_finished
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher

# A function that gives the parts of the graph on one device their new weights, and returns the
# parts as graphs.
Reweight: TypeAlias = Callable[[Sequence[ReweightedGraph], Launcher], list[DeviceGraph]]
Call = TypeVar("Call", bound=Callable[..., Any])


def _unavailable(_: Array | None) -> Array:
    """Raise InvalidArgumentError, because none of the devices has the weights of all edges.

    This takes the place of a function that reads weights. Its argument is not used.
    """
    raise InvalidArgumentError(
        "the weights of the graph's edges are on several devices; only those of the forest's "
        "edges can be asked for"
    )


@dataclass(slots=True, kw_only=True)
class DeviceRound:
    """The work of one device in a solve, with the times.

    Attributes
    ----------
    launch : Launcher
        The launcher of the device's kernels.
    algorithms, lengths : list
        For each part, the algorithm that solved it, and the number of edges of its forest.
    nans : list of int
        Indices, in the weights of the whole graph, of weights that were found to be NaN.
    began, uploaded, solved, ended : float
        Times of the host's clock in seconds: when the work began, when the weights were on the
        device, when all forests were found, and when they were sent to the last pass.
    host_less_device : float
        The host's clock minus the device's clock, in seconds. It is measured only in profiles.
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
        """Describe the work of this device in a solve, as an entry for the forest's statistics.

        `assignment` has the parts of the graph that the device solves. The last pass of a solve
        merges the forests of all parts. `began` and `entered` are the host's times, in seconds, at
        which the solve and its last pass began. The times of the entry are in milliseconds from
        `began` on.
        """
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
    """A device with its parts of the graph. One thread at a time may use the object.

    The parts of all devices are numbered through, and `first` is the number of this device's first
    part. `last` is the device of the last pass, to which the forests of the parts are sent.
    """

    def __init__(self, assignment: Assignment, first: int, last: Device, *, maximum: bool) -> None:
        self.assignment, self.device, self._maximum = assignment, assignment.device, maximum
        with self.device.lock:
            self.parts = [
                ReweightedGraph(part, self.device, number)
                for number, part in enumerate(assignment.parts, first)
            ]
            self.device.queue.finish()
        self._queue = None if self.device is last else last.new_queue()

    def solve(self, reweight: Reweight, lists: ForestLists, *, profile: bool) -> DeviceRound:
        """Solve all parts of this device with new weights, and send the forests to the last pass.

        `reweight` sets the weights. `lists`, on the device of the last pass, get the forests. With
        `profile`, times are recorded. The call blocks until the forests are in the lists, or, on
        the device of the last pass itself, until their lengths are known. Raises
        UnsupportedDeviceError if the device has failed the self-test of the kernels for parts.
        """
        device = self.device
        work = DeviceRound(launch=Launcher.of(device, profile=profile), began=time.perf_counter())
        launch = work.launch
        with device.lock:
            device.trust.require(PARTS, words_case(lists.word))
            if launch.profile is not None:
                work.host_less_device = launch.host_less_device()
            try:
                own = lists
                if self._queue is not None:
                    capacities = [one.part.forest_capacity for one in self.parts]
                    own = ForestLists(capacities, lists.word, device)
                graphs = reweight(self.parts, launch)
                if launch.profile is not None:
                    launch.queue.finish()
                work.uploaded = time.perf_counter()
                for k, one in enumerate(graphs):
                    self._solve_part(k, one, own, work)
                if self._queue is None or launch.profile is not None:
                    launch.queue.finish()  # otherwise `move_to` below waits
                work.solved = time.perf_counter()
                if self._queue is not None:
                    own.move_to(lists, self.parts[0].number, work.lengths, self._queue)
            except BaseException:
                has_finished(launch.queue)  # kernels must end before their memory is reused
                for part in self.parts:
                    part.drop_plans()
                raise
        work.ended = time.perf_counter()
        return work

    def _solve_part(
        self, k: int, graph: DeviceGraph, lists: ForestLists, work: DeviceRound
    ) -> None:
        """Solve the `k`-th part of this device, and add the part's forest to the lists.

        `graph` is the part with its weights. `work` records what the device does. The call waits
        for the number of the forest's edges.
        """
        part, launch, options = self.parts[k], work.launch, self.assignment.options
        name, solve = choose(
            self.assignment.algorithm, self.device, graph, options=options, maximum=self._maximum
        )
        families.require_rounds(graph, name, maximum=self._maximum, options=options)
        solution = solve(graph, launch, maximum=self._maximum, options=options)
        forest = part_forest(solution, launch, algorithm=name)
        number = part.number if self._queue is None else k
        lists.add(number, forest, launch, numbers=part.slots, first=part.part.first_slot)
        work.algorithms.append(name)
        work.lengths.append(forest.n_edges)
        if (nan := part.first_nan(launch)) is not None:
            work.nans.append(nan)


def _named(method: Call) -> Call:
    """Wrap a method, so that the message of a device's error says which device failed."""

    @wraps(method)
    def named(self: SeveralDevices, *given: Any, **by_name: Any) -> Any:
        with named_failures(self.plan.devices):
            return method(self, *given, **by_name)

    return named  # type: ignore[return-value]


class SeveralDevices(GraphRounds):
    """Repeated solves of a graph on two or more devices, each with parts and threads of its own.

    If a device fails in a solve, an error that names the device is raised.
    """

    guard = staticmethod(failures_of)

    def __init__(self, plan: DevicePlan, *, maximum: bool) -> None:
        super().__init__(maximum=maximum)
        self.device = plan.device  # of the last pass
        self.plan, self.edges = plan, plan.edges
        self._prepare()
        self._solving, self._uploading = device_threads(self.devices), device_threads(self.devices)
        self._times_renewed = [device.times_renewed for device in self.devices]

    @_named
    def _prepare(self) -> None:
        """Upload each part of the graph to its device, and all edges to the last pass's device.

        The last pass finds the forest of the whole graph among the forests of the parts. Edges are
        uploaded without weights.
        """
        edges, parts = self.edges, list[ReweightedGraph]()
        self.workers = list[Worker]()
        with failures_of(self.device), self.device.lock:
            self._arrays = self.device.upload_all(edges.indptr, edges.indices)
        for assignment in self.plan.assignments:
            with failures_of(assignment.device):
                worker = Worker(assignment, len(parts), self.device, maximum=self.maximum)
            self.workers.append(worker)
            parts.extend(worker.parts)
        self.parts = parts

    def free(self) -> None:
        """End the threads of all devices."""
        self._solving, self._uploading = [], []

    def _together(self, threads: Sequence[TaskThread], work: Callable[[int], Any]) -> list[Any]:
        """Call ``work(k)`` for each device k at the same time, and block until all have returned.

        `threads` has a thread for each device. Raises InvalidArgumentError if the solver is closed,
        and DeviceError if a device has failed and lost its memory since the graph was uploaded.
        """
        if not threads:  # another thread has closed the solver
            raise closed_error()
        for device, times in zip(self.devices, self._times_renewed, strict=True):
            if device.times_renewed != times:
                raise lost_error(device)
        return together(self.devices, work, threads)

    # ------------------------------------------------------------------- weights

    @_named
    def new_queues(self) -> list[Queue]:
        """Create a queue on every device, for uploads of weights during a solve."""
        queues = []
        for worker in self.workers:
            with failures_of(worker.device):
                queues.append(worker.device.new_queue())
        return queues

    @_named
    def stage(self, weights: Any, queues: list[Queue] | None = None) -> StagedWeights:
        """Check the weights for one solve, one weight per edge.

        With `queues`, one for each device, the weights are also uploaded to all devices at the same
        time, and the call blocks until they are there. If `queues` is None, the solve uploads the
        weights.
        """
        staged = stage(weights, self.edges, self.plan.devices, keeps=queues is not None)
        if staged.array is not None:
            self._read_for_others(staged)
        if queues is not None:

            def upload(index: int, queues: list[Queue] = queues) -> None:
                bring(staged, self.workers[index].parts, queues[index])
                queues[index].finish()

            self._together(self._uploading, upload)
        return staged

    def _read_for_others(self, staged: StagedWeights) -> None:
        """Copy those ranges of an array of weights to the host that other devices need.

        `staged` has the array, which is on one of the devices. The call waits for the device.
        """
        array = staged.array
        assert array is not None
        owner = array.device
        others = {part.span for part in self.parts if part.device is not owner}
        staged.words = words = np.empty(array.size, staged.encoding.word)
        with failures_of(owner), owner.lock:
            launch = Launcher(owner, owner.queue)
            for first, last in sorted(others):
                if first < last:
                    launch.read(array.memory, words[first:last], offset=first * words.itemsize)

    @_named
    def changes(self, edge_ids: Any, weights: Any, dtype: np.dtype[Any]) -> Changes:
        """Check new weights of the edges `edge_ids`, and return them as an object.

        Arrays on a device are copied to the host. `dtype` is the dtype of the current weights.
        Raises InvalidArgumentError if a new weight cannot be converted to this dtype exactly.
        """
        changes = Changes.of(edge_ids, weights, self.edges, dtype=dtype, devices=self.plan.devices)
        if not changes.is_checked:
            ids, values = (_on_host(one) for one in (changes.ids, changes.values))
            changes = Changes.of(ids, values, self.edges, dtype=dtype, devices=())
        changes.converted(dtype)
        return changes

    # --------------------------------------------------------------------- rounds

    @_named
    def solve_staged(
        self, staged: StagedWeights, options: RoundOptions, *, began: float
    ) -> DeviceForest:
        """Solve with weights that :meth:`stage` has returned, which become the current weights.

        `options` say whether to profile. `began` is not used.
        """
        self.forget()

        def take(parts: Sequence[ReweightedGraph], launch: Launcher) -> list[DeviceGraph]:
            bring(staged, parts, launch.queue)
            return [part.take(staged.parts[part.number], launch) for part in parts]

        return self._round(take, staged.encoding, profile=options.profile)

    @_named
    def solve_changed(
        self, changes: Changes, options: RoundOptions, *, began: float
    ) -> DeviceForest:
        """Change some of the current weights, and solve.

        `options` say whether to profile. `began` is not used. After an error the current weights
        are dropped.
        """
        present, ids = self.encoding, changes.ids
        assert present is not None
        assert isinstance(ids, np.ndarray)
        words, encoding = changes.encoded(present, self._widen)

        def change(parts: Sequence[ReweightedGraph], launch: Launcher) -> list[DeviceGraph]:
            return [part.change_among(ids, words, launch) for part in parts]

        try:
            return self._round(change, encoding, profile=options.profile)
        except BaseException:
            self.forget()
            raise

    @_named
    def prove(self, forest: DeviceForest) -> DeviceForest:
        """Prove the forest of the last solve on the host, and return it with facts of the proof.

        The facts are in its statistics. For the proof, the weights are read from all devices.
        Raises an error if the forest is wrong.
        """
        weights, ids = self.present_weights(), self.edges.edge_ids
        whole = self.edges.replace(weights=weights if ids is None else weights[ids])
        return checked_on_host(forest, whole, "no device has all weights")

    def _widen(self) -> Encoding:
        """Convert the current weights on all devices back to their full width.

        Weights of 64 bits are stored in 32 bits if that is exact. The call waits for the devices,
        and returns the new encoding.
        """
        for part in self.parts:
            device = part.device
            with failures_of(device), device.lock:
                encoding = part.widen(Launcher(device, device.queue))
        return encoding

    def _round(self, reweight: Reweight, encoding: Encoding, *, profile: bool) -> DeviceForest:
        """Solve all parts on the devices at the same time, then the union of the parts' forests.

        `reweight` sets the weights, which have this encoding. With `profile`, times are recorded.
        Raises InvalidGraphError if a weight is NaN.
        """
        began, device = time.perf_counter(), self.device
        with failures_of(device), device.lock:
            device.queue.finish()  # earlier commands may still use the memory of the new lists
            capacities = [one.part.forest_capacity for one in self.parts]
            lists = ForestLists(capacities, encoding.word, device)
        works: list[DeviceRound] = self._together(
            self._solving,
            lambda index: self.workers[index].solve(reweight, lists, profile=profile),
        )
        if nans := [nan for work in works for nan in work.nans]:
            raise nan_error(min(nans), self.edges)
        return self._last_pass(works, lists, encoding, began)

    def _last_pass(
        self, works: list[DeviceRound], lists: ForestLists, encoding: Encoding, began: float
    ) -> DeviceForest:
        """Solve the union of the forests of all parts, and wait for the result.

        `works` says what each device has done, `lists` has the forests of the parts with weights in
        this encoding, and `began` is the host's time, in seconds, at the start of the round. The
        result has the weights of the forest's edges only. Its statistics describe the work of all
        devices.
        """
        plan, device = self.plan, self.device
        launch = Launcher.of(device, profile=works[0].launch.profile is not None)
        lengths = [length for one in works for length in one.lengths]
        whole = unchecked(
            DeviceGraph, graph=self.edges, device=device, indptr=self._arrays[0],
            indices=self._arrays[1], weights=None,
            encoded=EncodedWeights(encoding=encoding, source=_unavailable),
            rows=None, edge_ids=None, plans={}, derived={},
        )  # fmt: skip
        entered = time.perf_counter()
        with failures_of(device), device.lock:
            try:
                graph, slots = merged(lists, lengths, whole, launch)
                name, solution = solution_by(
                    plan.algorithm, graph, launch, options=plan.options, maximum=self.maximum
                )
                found = forest_of(
                    solution, launch, algorithm=name, maximum=self.maximum, own_weights=True
                )
                assert found.slots is not None
                original = gather_words(
                    slots.memory, slots.dtype, found.slots, found.n_edges, launch
                )
                launch.queue.finish()
            except BaseException:
                has_finished(launch.queue)  # kernels must end before their memory is reused
                raise
        last: dict[str, Any] = {
            "device": device.description, "edges": sum(lengths), "algorithm": name,
            "began_ms": 1e3 * (entered - began), "ms": 1e3 * (time.perf_counter() - entered),
        }  # fmt: skip
        if launch.profile is not None:
            last["profile"] = launch.profile.summary()
        stats = {
            **solution.stats,
            "algorithm": name,
            "device": device.description,
            "strategy": plan.strategy,
            "launches": sum(one.launch.launches for one in works) + launch.launches,
            "devices": [
                work.stats(one, began, entered)
                for one, work in zip(plan.assignments, works, strict=True)
            ],
            "last_pass": last,
        }
        return DeviceForest(
            graph=whole, n_edges=found.n_edges, slots=original.memory, edges=found.edges,
            maximum=self.maximum, stats=stats, weights=found.weights,
        )  # fmt: skip


def _on_host(values: Array | DeviceArray) -> Array:
    """Return the array `values` on the host, and wait for the copy if it is on a device.

    An array that is on the host already is returned unchanged.
    """
    if isinstance(values, np.ndarray):
        return values
    with failures_of(values.device), values.device.lock:
        return values.to_host()
