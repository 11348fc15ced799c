"""Rounds: solves of one graph under other weights, one at a time, requested by any thread.

:class:`Rounds` is what all kinds share: the lock, and weights that are staged while another round
is solved. :class:`SingleDevice` solves a graph on one device.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from clmst.algorithms import solving
from clmst.algorithms.proof.prove import checked
from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.algorithms.reweighting.series import SeriesContraction
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of
from clmst.core import partition
from clmst.core.arguments import check_bools
from clmst.core.errors import DeviceError, InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.threads import TaskThread, all_of
from clmst.core.weight_keys import Array, Encoding
from clmst.repeated import families
from clmst.repeated.weights import (
    Changes,
    StagedWeights,
    bring,
    closed_error,
    nan_error,
    stage,
    unknown_error,
)
from clmst.runtime import forking
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard, has_finished
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """Options of a round, as of :meth:`clmst.RepeatedSolver.solve`."""

    keep_on_device: bool = False
    profile: bool = False
    verify: bool = False

    def __post_init__(self) -> None:
        """Check the kinds."""
        check_bools(keep_on_device=self.keep_on_device, profile=self.profile, verify=self.verify)


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error instead of weights: the source's own, or one about the weights."""

    error: Exception
    is_refusal: bool


# A source of weights gives the next ones, an error, or None at its end.
_Next: TypeAlias = StagedWeights | _Failure | None


class Rounds(ABC):
    """Solves of one prepared graph, one at a time, requested by any thread, until it is closed.

    A solve holds the lock of the rounds, and the device's lock from the first launch until the
    forest is on the device. Staging the next weights takes neither lock: `stage` may be called
    while another thread solves. All else happens one at a time.
    """

    def __init__(self, device: Device, *, maximum: bool) -> None:
        self.device, self.maximum = device, maximum
        self.prepare_ms = 0.0
        self.is_closed = False
        self._lock = threading.RLock()
        forking.replace_locks(self, "_lock")

    def opened(self) -> Any:
        """Return the rounds, or raise if they are closed."""
        if self.is_closed:  # another thread may have closed them
            raise closed_error()
        return self

    def close(self) -> None:
        """Free all memory, after the present solve."""
        with self._lock:
            if not self.is_closed:
                self.is_closed = True
                self.free()

    # ------------------------------------------------------- what is solved, and where

    @abstractmethod
    def free(self) -> None:
        """Free all memory."""

    @abstractmethod
    def forget(self) -> None:
        """Drop the present weights."""

    @abstractmethod
    def new_queues(self) -> list[Queue]:
        """Return a queue of every device for uploads of weights."""

    @abstractmethod
    def stage(self, weights: Any, queues: list[Queue] | None = None) -> Any:
        """Check the weights of a round; upload them if there are queues, and wait."""

    @abstractmethod
    def release(self, staged: Any) -> None:
        """Free the memory of staged weights that are no longer needed."""

    @abstractmethod
    def solve_staged(self, staged: Any, *, began: float, profile: bool) -> DeviceForest:
        """Solve with staged weights, which become the present ones."""

    @abstractmethod
    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Change some of the present weights, and solve."""

    @abstractmethod
    def prove(self, forest: DeviceForest) -> DeviceForest:
        """Return the last forest, proved, or raise."""

    # ---------------------------------------------------------------------------- solves

    @lasting("solving a round")
    def solve(self, weights: Any, *, options: RoundOptions) -> DeviceForest | Forest:
        """Solve with weights by edge."""
        with self._lock:
            began = time.perf_counter()
            self.opened()
            try:
                staged = self.stage(weights)
            except BaseException:
                self.forget()
                raise
            forest = self._staged_round(staged, options, began=began)
        return self._handed_over(forest, options)

    def _handed_over(self, forest: DeviceForest, options: RoundOptions) -> DeviceForest | Forest:
        return forest if options.keep_on_device else forest.to_host()

    @lasting("solving a round")
    def _staged_round(
        self, staged: StagedWeights, options: RoundOptions, *, began: float = 0.0
    ) -> DeviceForest:
        """Solve with weights that are staged, and free their memory; a failure drops them."""
        try:
            forest = self.solve_staged(staged, began=began, profile=options.profile)
            forest = self._finished(forest, options)
        except BaseException:
            self.release(staged)
            self.forget()
            raise
        self.release(staged)
        return forest

    def _finished(self, forest: DeviceForest, options: RoundOptions) -> DeviceForest:
        """Return a forest, with proof and times if requested."""
        if options.verify:
            forest = self.prove(forest)
        if options.profile:
            times = {"prepare": self.prepare_ms, **forest.stats.get("times", {})}
            forest = forest.with_stats({**forest.stats, "times": times})
        return forest

    # -------------------------------------------------------------------------- prefetch

    def solve_many(
        self,
        source: Iterator[Any],
        on_progress: Callable[[int], object],
        options: RoundOptions,
    ) -> Generator[Any, None, None]:
        """Yield the forests of weights from a source, in order.

        The thread that iterates takes weights from the source, one round before the solve needs
        them. The solve runs in a thread of its own. Weights on the device are not prefetched: there
        is no upload to overlap, and the caller may reuse one buffer for all. `on_progress` is
        called with the number of forests, before each is yielded.
        """
        done, queues, worker = 0, list[Queue](), TaskThread("clmst-solve")
        prefetched = self._next(source, queues)
        while prefetched is not None and not isinstance(prefetched, _Failure):
            present, prefetched = prefetched, None
            ahead = list[_Next]()

            def work(number: int, present: Any = present, ahead: list[Any] = ahead) -> Any:
                if number == 1:
                    return self._solve_staged(present, options)
                if not present.is_on_device:
                    ahead.append(self._next(source, queues))
                return None

            try:
                self._forget()  # so that weights of two rounds at most take memory
                _, forest = all_of([worker], work)
                done += 1
                on_progress(done)
                yield forest
            except BaseException:
                for one in ahead:
                    if one is not None and not isinstance(one, _Failure):
                        self.release(one)
                raise
            is_on_device = present.is_on_device
            del forest, present, work  # else they would keep memory during the next solve
            prefetched = self._next(source, queues) if is_on_device else ahead.pop()
        if isinstance(prefetched, _Failure):
            if prefetched.is_refusal:
                self._forget()
            raise prefetched.error

    def _next(self, source: Iterator[Any], queues: list[Queue]) -> _Next:
        """Return the next weights; an error is kept, and raised in its turn."""
        try:
            weights = next(source)
        except StopIteration:
            return None
        except Exception as error:
            return _Failure(error, is_refusal=False)
        try:
            return self._prefetch(weights, queues)
        except Exception as error:
            return _Failure(error, is_refusal=True)

    def _prefetch(self, weights: Any, queues: list[Queue]) -> StagedWeights:
        """Stage weights while another thread solves; `queues` gets new ones if it is empty."""
        self.opened()
        if not queues:
            queues += self.new_queues()
        staged: StagedWeights = self.stage(weights, queues)
        return staged

    def _solve_staged(self, staged: StagedWeights, options: RoundOptions) -> DeviceForest | Forest:
        with self._lock:
            self.opened()
            forest = self._staged_round(staged, options)
        return self._handed_over(forest, options)

    def _forget(self) -> None:
        """Drop the present weights, as after any weights that cannot be solved."""
        with self._lock:
            if not self.is_closed:
                self.forget()


class OneDevice(Rounds):
    """Rounds on one device: their times and proofs, whatever is solved."""

    guard: Callable[..., AbstractContextManager[None]] = Guard

    def __init__(self, device: Device, *, maximum: bool) -> None:
        super().__init__(device, maximum=maximum)
        self._launch = Launcher(device, device.queue)  # of the last round

    def prove(self, forest: DeviceForest) -> DeviceForest:
        """Return the last forest, proved, or raise."""
        began = time.perf_counter()
        with self.device.lock, self.guard(self.device):
            proved = checked(forest, self._launch)
        if (times := proved.stats.get("times")) is None:
            return proved
        solve = times["solve"] + 1e3 * (time.perf_counter() - began)
        return proved.with_stats({**proved.stats, "times": {**times, "solve": solve}})

    def _launcher(self, *, profile: bool) -> Launcher:
        self._launch = Launcher.of(self.device, profile=profile)
        return self._launch

    def _now(self, launch: Launcher) -> float:
        """Return the time; waits for all commands first if times are requested."""
        if launch.profile is not None:
            launch.queue.finish()
        return time.perf_counter()

    def _timed(
        self, forest: DeviceForest, launch: Launcher, began: float, uploaded: float
    ) -> DeviceForest:
        """Return a forest with the times of its steps, if requested."""
        if launch.profile is None:
            return forest
        solve = 1e3 * (time.perf_counter() - uploaded)
        times = {"upload": 1e3 * (uploaded - began), "solve": solve}
        return forest.with_stats({**forest.stats, "times": times})


class GraphRounds(Rounds):
    """Rounds of a graph, whose edges have weights: on one device, or on several.

    The edges are as of :func:`clmst.core.topology.edges_once`; the parts of a device follow one
    another. `guard` makes the context manager that translates a device's errors.
    """

    edges: Graph
    parts: Sequence[ReweightedGraph]
    guard: Callable[..., AbstractContextManager[None]]

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of the present weights; None if there are none."""
        present = [part.present for part in self.parts]
        return present[0].encoding if present[0] is not None and all(present) else None

    @property
    def devices(self) -> list[Device]:
        """The devices of the parts, each once."""
        return list(dict.fromkeys(part.device for part in self.parts))

    def release(self, staged: StagedWeights) -> None:
        """Free the memory of weights that are no longer needed."""
        given, staged.parts = staged.parts, {}
        for part in self.parts:
            if part.number in given:
                part.put_back(given[part.number])

    def forget(self) -> None:
        """Drop the present weights."""
        for part in self.parts:
            part.forget()

    def present_weights(self) -> Array:
        """Read the weights of the last round from all devices; 0 for those on no device."""
        weights: Array | None = None
        for part in self.parts:
            device = part.device
            with device.lock, self.guard(device):
                if part.present is None:
                    raise DeviceError("the weights may be half changed; they must be given again")
                encoding = part.present.encoding
                words = part.graph(Launcher(device, device.queue)).encoded.words()
                if weights is None:
                    weights = np.zeros(self.edges.n_input, encoding.dtype)
                ids, first = part.edges.edge_ids, part.part.first
                weights[slice(*part.span) if ids is None else ids + first] = encoding.decode(words)
        assert weights is not None, "there is a part at least"
        return weights

    # --------------------------------------------------------------------------- changes

    @abstractmethod
    def changes(self, edge_ids: Any, weights: Any, dtype: np.dtype[Any]) -> Changes:
        """Check changes of the present weights, of this dtype."""

    @abstractmethod
    def solve_changed(self, changes: Changes, *, began: float, profile: bool) -> DeviceForest:
        """Solve with some of the present weights changed."""

    @lasting("solving a round")
    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Change some of the present weights, and solve; illegal changes raise."""
        with self._lock:
            began, changes = time.perf_counter(), self._changes(edge_ids, weights)
            forest = self._change_round(changes, options, began=began)
        return self._handed_over(forest, options)

    def _dtype(self) -> np.dtype[Any]:
        self.opened()
        encoding = self.encoding
        if encoding is None:
            raise InvalidArgumentError("there are no weights to change; solve() gives them")
        return encoding.dtype

    def _changes(self, edge_ids: Any, weights: Any) -> Changes:
        dtype = self._dtype()  # raises if no round has weights
        return self.changes(edge_ids, weights, dtype)

    def _change_round(
        self, changes: Changes, options: RoundOptions, *, began: float
    ) -> DeviceForest:
        forest = self.solve_changed(changes, began=began, profile=options.profile)
        return self._finished(forest, options)


def lost_error(device: Device) -> DeviceError:
    """Return the error for a call on a solver one of whose devices has lost its memory."""
    return DeviceError(
        f"{device.description} has failed since this solver was made, and lost what was in its "
        "memory; make another one to solve again"
    )


class SingleDevice(OneDevice, GraphRounds):
    """One device that solves the whole graph, whose edges are stored once.

    A round is a warm start, or goes by series contraction, or is solved from scratch.
    """

    def __init__(
        self,
        edges: Graph,
        device: Device,
        *,
        algorithm: str,
        options: object,
        maximum: bool,
        warm_start: bool,
    ) -> None:
        super().__init__(device, maximum=maximum)
        self.edges = edges
        self._algorithm, self._options = algorithm, options
        self.warm = WarmStart(maximum=maximum) if warm_start else None
        self.series = SeriesContraction(maximum=maximum)
        with device.lock, self.guard(device):
            self.parts: list[ReweightedGraph] = [ReweightedGraph(partition.whole(edges), device)]
            device.queue.finish()
        self._times_renewed = device.times_renewed

    @property
    def graph(self) -> ReweightedGraph:
        """The prepared graph; raises if it is closed or lost."""
        if not (parts := self.parts):  # another thread may close it
            raise closed_error()
        if self.device.times_renewed != self._times_renewed:
            raise lost_error(self.device)
        return parts[0]

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of the present weights; None if there are none; raises as `graph` does."""
        present = self.graph.present
        return None if present is None else present.encoding

    def free(self) -> None:
        """Free all memory."""
        self.parts, self.warm = [], None
        self.series = SeriesContraction(maximum=self.maximum)

    # --------------------------------------------------------------------------- weights

    def new_queues(self) -> list[Queue]:
        """Return a queue for uploads of weights."""
        with self.guard(self.device):
            return [self.device.new_queue()]

    def stage(self, weights: Any, queues: list[Queue] | None = None) -> StagedWeights:
        """Check weights by edge; upload them if there is a queue, and wait."""
        with self.guard(self.device, queues=queues or ()):
            graph = self.graph
            staged = stage(weights, self.edges, [self.device], keeps=queues is not None)
            if queues is not None:
                bring(staged, [graph], queues[0])
                queues[0].finish()
        return staged

    def changes(self, edge_ids: Any, weights: Any, dtype: np.dtype[Any]) -> Changes:
        """Check changes of the present weights, of this dtype."""
        with self.device.lock, self.guard(self.device):
            return Changes.of(edge_ids, weights, self.edges, dtype=dtype, devices=[self.device])

    # ---------------------------------------------------------------------------- rounds

    def solve_staged(self, staged: StagedWeights, *, began: float, profile: bool) -> DeviceForest:
        """Solve with weights, which become the present ones."""
        with self.device.lock, self.guard(self.device):
            graph, launch = self.graph, self._launcher(profile=profile)
            bring(staged, [graph], launch.queue)
            uploaded = self._now(launch)
            forest = self._solve(graph, lambda: graph.take(staged.parts[0], launch), launch)
            if (nan := graph.first_nan(launch)) is not None:
                raise nan_error(nan, self.edges)
        return self._timed(forest, launch, began, uploaded)

    def solve_changed(self, changes: Changes, *, began: float, profile: bool) -> DeviceForest:
        """Solve with some of the present weights changed, or raise if a change is illegal.

        After any other error it is unknown which of them have changed.
        """
        with self.device.lock, self.guard(self.device):
            graph, launch = self.graph, self._launcher(profile=profile)
            ids, words = changes.upload(graph, launch)
            uploaded = self._now(launch)
            try:
                forest = self._solve(graph, lambda: graph.change(ids, words, launch), launch)
                nan, unknown = (None, None) if changes.is_checked else graph.read_faults(launch)
            except BaseException:
                graph.forget()
                raise
            if unknown is not None:
                edge = changes.edge_at(unknown)
                raise unknown_error(edge, unknown, self.edges.n_input)
            if nan is not None:
                raise nan_error(changes.edge_at(nan), self.edges)
        return self._timed(forest, launch, began, uploaded)

    def _solve(
        self, graph: ReweightedGraph, reweight: Callable[[], DeviceGraph], launch: Launcher
    ) -> DeviceForest:
        """Solve a graph of new weights; a failure leaves no state."""
        try:
            return self._forest(reweight(), launch)
        except BaseException:
            has_finished(launch.queue)  # before its memory has a new owner
            graph.drop_plans()
            self.series.forget()
            if self.warm is not None:
                self.warm.forget()
            raise

    def _forest(self, graph: DeviceGraph, launch: Launcher) -> DeviceForest:
        """Solve as a warm start, or from scratch."""
        of_round = {"maximum": self.maximum, "own_weights": True}
        run = None if self.warm is None else self.warm.begin(graph, launch)
        if run is not None and not families.is_trusted(
            families.WARM_START, graph, maximum=self.maximum
        ):
            run = self.warm = None
        if run is not None and self.warm is not None:
            forest = forest_of(run.solution(), launch, algorithm="filter-boruvka", **of_round)
            if (stats := self.warm.end(run, launch)) is not None:
                return forest.with_stats({**forest.stats, **stats})
        name, solve = solving.choose(
            self._algorithm, self.device, graph, options=self._options, maximum=self.maximum
        )
        families.require_rounds(graph, name, maximum=self.maximum, options=self._options)
        solution = None
        if self.series.serves(name, self._options, self.device):
            solution = self.series.solve(graph, launch)
            if solution is not None and not families.is_trusted(
                families.SERIES, graph, maximum=self.maximum
            ):
                solution = None
        if solution is None:
            solution = solve(graph, launch, maximum=self.maximum, options=self._options)
        if self.warm is not None:
            self.warm.learn(graph, solution, launch)
        return forest_of(solution, launch, algorithm=name, **of_round)
