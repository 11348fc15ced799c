"""One solve on several devices: each solves its parts, one of them the union of their forests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clmst import algorithms
from clmst.algorithms.families import words_case
from clmst.algorithms.proof.checked import checked_on_host
from clmst.algorithms.reweighting.union import Union
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of
from clmst.core.graph import Graph
from clmst.core.threads import TaskThread, all_of, interrupts_first
from clmst.core.weight_keys import Array, Encoding
from clmst.repeated.changes import Changes
from clmst.repeated.devices.failure import DeviceFailure, failures_of
from clmst.repeated.devices.plan import DevicePlan
from clmst.repeated.devices.stats import LastPass, round_stats
from clmst.repeated.devices.worker import Work, Worker
from clmst.repeated.families import UNION
from clmst.repeated.staged import Needs, StagedWeights, closed_error, nan_error, stage
from clmst.runtime.device import Device
from clmst.runtime.failures import has_finished
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


class MultiDevice:
    """An executor: devices, their parts of the graph, and their threads.

    Parameters
    ----------
    plan : DevicePlan
        Of two or more devices.
    maximum : bool
    """

    def __init__(self, plan: DevicePlan, *, maximum: bool) -> None:
        self.plan, self.maximum = plan, maximum
        self.encoding: Encoding | None = None  # of the present weights
        capacities = [task.part.forest_capacity for one in plan.assignments for task in one.tasks]
        with failures_of(plan.device), plan.device.lock:
            self._union = Union(plan.edges, capacities, plan.device)
        self.workers: list[Worker] = []
        for index, assignment in enumerate(plan.assignments):
            begin = sum(len(worker.pieces) for worker in self.workers)
            numbers = range(begin, begin + len(assignment.tasks))
            with failures_of(assignment.device):
                self.workers.append(
                    Worker(assignment, index, numbers, self._union, maximum=maximum)
                )
        others = self.workers[1:]
        self._solving = [TaskThread("clmst-device") for _ in others]
        self._uploading = [TaskThread("clmst-upload") for _ in others]

    @property
    def device(self) -> Device:
        """The device of the last pass, which keeps forests."""
        return self.plan.device

    def close(self) -> None:
        """End the threads."""
        self._solving, self._uploading = [], []

    # ------------------------------------------------------------------- weights

    @property
    def needs(self) -> Needs:
        """The ranges of weights that each device takes."""
        return [(worker.device, worker.spans) for worker in self.workers]

    def new_queues(self) -> list[Queue]:
        """Return a queue of every device for uploads of weights."""
        return [worker.device.new_queue() for worker in self.workers]

    def stage(self, weights: Any, queues: list[Queue] | None = None) -> StagedWeights:
        """Check weights by edge; upload them to all devices at once if there are queues."""
        staged = stage(weights, self.plan.edges, self.needs, keeps=queues is not None)
        staged.owner = self
        if staged.array is not None:
            self._read_for_others(staged)
        if queues is not None:
            self._each(self._uploading, lambda index: self._upload(staged, index, queues[index]))
        return staged

    def _upload(self, staged: StagedWeights, index: int, queue: Queue) -> None:
        self.workers[index].upload(staged, queue)
        queue.finish()

    def _read_for_others(self, staged: StagedWeights) -> None:
        """Read the ranges that other devices take from an array on one of them."""
        array = staged.array
        assert array is not None
        owner = array.device
        others = {span for device, spans in self.needs if device is not owner for span in spans}
        staged.words = words = np.empty(array.size, staged.encoding.word)
        with failures_of(owner), owner.lock:
            launch = Launcher(owner, owner.queue)
            for first, last in sorted(others):
                if first < last:
                    launch.read(array.memory, words[first:last], offset=first * words.itemsize)

    def release(self, staged: StagedWeights) -> None:
        """Free the memory of weights that are no longer needed."""
        parts, staged.parts = staged.parts, {}
        for index, part in parts.items():
            for piece, given in zip(self.workers[index].pieces, part, strict=True):
                piece.rounds.put_back(given)

    def forget(self) -> None:
        """Drop the weights."""
        self.encoding = None
        for worker in self.workers:
            worker.forget()

    def present_weights(self) -> Array:
        """Read the weights of the last round from all devices; 0 for those on no device."""
        assert self.encoding is not None
        weights = np.zeros(self.plan.edges.n_input, self.encoding.dtype)
        for worker in self.workers:
            with failures_of(worker.device), worker.device.lock:
                for piece in worker.pieces:
                    present, part = piece.rounds.present, piece.part
                    assert present is not None
                    launch = Launcher(worker.device, worker.device.queue)
                    words = piece.rounds.graph(launch).encoded.words()
                    ids = part.graph.edge_ids
                    indices = slice(part.first, part.last) if ids is None else ids + part.first
                    weights[indices] = present.encoding.decode(words)
        return weights

    # --------------------------------------------------------------------- rounds

    def solve(self, staged: StagedWeights, *, began: float, profile: bool) -> DeviceForest:
        """Solve with weights, which become the present ones."""
        self.forget()
        forest = self._round(
            lambda index: self.workers[index].solve(staged, profile=profile), staged.encoding
        )
        self.encoding = staged.encoding
        return forest

    def update(self, changes: Changes, *, began: float, profile: bool) -> DeviceForest:
        """Solve with some of the present weights changed."""
        assert self.encoding is not None
        converted = changes.converted(self.encoding.dtype)
        words, encoding = self.encoding.encode(converted), self.encoding
        if words is None:
            encoding = self._widen()
            words = encoding.encode(converted)
        assert words is not None, "wide words hold all weights"
        assert isinstance(changes.ids, np.ndarray)
        last = _last_indices(changes.ids)
        ids, words = changes.ids[last], words[last]
        try:
            return self._round(
                lambda index: self.workers[index].change(ids, words, encoding, profile=profile),
                encoding,
            )
        except DeviceFailure:
            raise  # the other devices' weights may be needed
        except BaseException:
            self.forget()
            raise

    def prove(self, forest: DeviceForest) -> DeviceForest:
        """Return the last forest, proved by the host, or raise."""
        weights, ids = self.present_weights(), self.plan.edges.edge_ids
        whole = self.plan.edges.replace(weights=weights if ids is None else weights[ids])
        return checked_on_host(forest, whole, "no device has all weights")

    def _widen(self) -> Encoding:
        """Widen the present words on all devices to the weights themselves."""
        for worker in self.workers:
            with failures_of(worker.device), worker.device.lock:
                for piece in worker.pieces:
                    launch = Launcher(worker.device, worker.device.queue)
                    self.encoding = piece.rounds.widen(launch)
        assert self.encoding is not None
        return self.encoding

    def _round(self, work: Callable[[int], Work], encoding: Encoding) -> DeviceForest:
        """Let all devices solve at the same time, then one device the union of their forests."""
        began = time.perf_counter()
        with failures_of(self.plan.device), self.plan.device.lock:
            self._union.lists.widen(encoding.word)
        works = self._each(self._solving, work)
        _check_found(works, self.plan.edges)
        return self._last_pass(works, encoding, began)

    def _last_pass(self, works: list[Work], encoding: Encoding, began: float) -> DeviceForest:
        """Solve the union of the forests; waits for it."""
        task, device = self.plan.last, self.plan.device
        launch = Launcher.of(device, profile=works[0].launch.profile is not None)
        lengths = [found.n_edges for one in works for found in one.found]
        entered = time.perf_counter()
        with failures_of(device), device.lock:
            try:
                device.trust.require(UNION, words_case(encoding.word))
                graph = self._union.merge(lengths, encoding, launch)
                name, solve = algorithms.choose(
                    task.algorithm, device, graph, options=task.options, maximum=self.maximum
                )
                solution = solve(graph, launch, maximum=self.maximum, options=task.options)
                found = forest_of(solution, launch, algorithm=name, maximum=self.maximum)
                forest = self._union.forest(found, launch)
            except BaseException:
                has_finished(launch.queue)  # before its memory has a new owner
                raise
        last = LastPass(launch=launch, algorithm=name, began=entered, ended=time.perf_counter())
        stats = round_stats(self.plan, works, last, began)
        return forest.with_stats({**solution.stats, **stats})

    def _each(self, pool: Sequence[TaskThread], work: Callable[[int], Any]) -> list[Any]:
        """Run all devices, the first one in this thread; wait for all of them.

        A failure of a device wins over an error about the weights: the next solve without the
        device finds that error again.
        """

        def guarded(index: int) -> Any:
            with failures_of(self.workers[index].device):
                return work(index)

        if not pool:  # another thread has closed it
            raise closed_error()
        return all_of(pool, guarded, _rank)


def _rank(error: BaseException) -> int:
    """Return an error's precedence: interrupts first, then failures of devices."""
    return 2 * interrupts_first(error) - isinstance(error, DeviceFailure)


def _check_found(works: Sequence[Work], edges: Graph) -> None:
    """Raise if a weight was found to be NaN; names the first."""
    nans = [found.nan for work in works for found in work.found if found.nan is not None]
    if nans:
        raise nan_error(min(nans), edges)


def _last_indices(ids: Array) -> Array:
    """Return the last index of each edge that occurs, so that none occurs twice."""
    _, from_the_end = np.unique(ids[::-1], return_index=True)
    indices: Array = ids.size - 1 - from_the_end
    return indices
