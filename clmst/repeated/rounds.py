"""Rounds: solves of one graph, each under new weights.

Any thread may request a round, but only one is solved at a time. :class:`Rounds` is the base class.
It has the lock for that. While a round is solved, it stages the next weights, which means that it
checks and uploads them. :class:`SingleDevice` solves the rounds of a graph on one device.
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

from clmst import route
from clmst.algorithms import solving
from clmst.algorithms.changes.last_forest import LastForest
from clmst.algorithms.proof.prove import checked
from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.algorithms.reweighting.serial import SerialRounds
from clmst.algorithms.reweighting.series import SeriesContraction
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import Solution, forest_of
from clmst.core import partition
from clmst.core.arguments import check_bools
from clmst.core.errors import DeviceError, InvalidArgumentError
from clmst.core.forest import Forest, routed
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
    """The options of one solve, which :meth:`clmst.RepeatedSolver.solve` documents."""

    keep_on_device: bool = False
    profile: bool = False
    verify: bool = False

    def __post_init__(self) -> None:
        """Raise InvalidArgumentError unless each option is True or False."""
        check_bools(keep_on_device=self.keep_on_device, profile=self.profile, verify=self.verify)


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error that was raised in place of the next weights, to be raised later.

    `is_refusal` is False if the iterator of weights raised the error. It is True if the weights
    were invalid or could not be uploaded.
    """

    error: Exception
    is_refusal: bool


_USUAL = RoundOptions()

# The next weights of an iterator, or an error, or None at the end of the iterator.
_Next: TypeAlias = StagedWeights | _Failure | None


class Rounds(ABC):
    """Base class of repeated solves of one prepared graph, until the object is closed.

    Any thread may call the methods, and only one solve runs at a time. A solve holds the lock of
    this object, and also the lock of the device from the first launch until the forest is on the
    device. Only `stage`, which checks and may upload the next weights, takes neither lock, so it
    may be called while another thread solves.
    """

    def __init__(self, *, maximum: bool) -> None:
        self.maximum = maximum
        self.prepare_ms = 0.0
        self.is_closed = False
        self._lock = threading.RLock()
        forking.replace_locks(self, "_lock")

    def opened(self) -> Any:
        """Return this object. Raise InvalidArgumentError if it has been closed."""
        if self.is_closed:  # another thread may have closed the solver
            raise closed_error()
        return self

    def close(self) -> None:
        """Free all memory, after the current solve has ended. Closing twice is allowed."""
        with self._lock:
            if not self.is_closed:
                self.is_closed = True
                self.free()

    # ------------------------------------------------------- what is solved, and where

    @abstractmethod
    def free(self) -> None:
        """Free all memory of the prepared graph."""

    @abstractmethod
    def forget(self) -> None:
        """Drop the current weights, so that `update` raises until the next solve."""

    @abstractmethod
    def new_queues(self) -> list[Queue]:
        """Create a queue on every device, for uploads of weights during a solve."""

    @abstractmethod
    def stage(self, weights: Any, queues: list[Queue] | None = None) -> Any:
        """Check the weights for one solve, and return them in the form that `solve_staged` takes.

        With `queues`, one for each device, the weights are also uploaded, and the call blocks until
        they are on the devices. If `queues` is None, the solve uploads the weights.
        """

    @abstractmethod
    def release(self, staged: Any) -> None:
        """Free the memory of `staged` weights that will not be used."""

    @abstractmethod
    def solve_staged(
        self, staged: Any, options: RoundOptions, *, began: float
    ) -> DeviceForest | Forest:
        """Solve with weights that :meth:`stage` has returned, which become the current weights.

        `began` is the host's time, in seconds, at the start of the round. The returned forest is on
        the device, or may be on the host if no option needs it on the device.
        """

    @abstractmethod
    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Change the current weights of the edges `edge_ids`, solve, and return the forest.

        `options` say whether the forest stays on the device, and whether to profile and verify.
        """

    @abstractmethod
    def prove(self, forest: Any) -> Any:
        """Prove that the forest of the last solve is right, and return it with facts of the proof.

        The facts are in its statistics. Raises an error if the forest is wrong.
        """

    # ---------------------------------------------------------------------------- solves

    @lasting("solving a round")
    def solve(self, weights: Any, *, options: RoundOptions) -> DeviceForest | Forest:
        """Solve with new weights, one per edge, and return the forest.

        The call blocks until the forest is on the host, or on the device with the option
        `keep_on_device`. If the weights are invalid or the solve fails, the solver does not have
        current weights afterwards.
        """
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

    def _handed_over(
        self, forest: DeviceForest | Forest, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Return the forest on the device or on the host, as the options request."""
        if options.keep_on_device or isinstance(forest, Forest):
            return forest
        return forest.to_host()

    @lasting("solving a round")
    def _staged_round(
        self, staged: StagedWeights, options: RoundOptions, *, began: float = 0.0
    ) -> DeviceForest | Forest:
        """Solve with weights that :meth:`stage` has returned, and free memory that they held.

        `options` are the options of the round, and `began` is the host's time, in seconds, at its
        start. If the solve fails, the current weights are dropped as well.
        """
        try:
            forest = self.solve_staged(staged, options, began=began)
            forest = self._finished(forest, options)
        except BaseException:
            self.release(staged)
            self.forget()
            raise
        self.release(staged)
        return forest

    def _finished(
        self, forest: DeviceForest | Forest, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Return the forest of a solve, after a proof if `options.verify` is True.

        If `options.profile` is True, the times of all steps are added to its statistics.
        """
        if options.verify:
            forest = self.prove(forest)
        if options.profile and not isinstance(forest, Forest):
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
        """Solve with each element of `source`, an iterator of weights, and yield the forests.

        `options` are the options of each solve. A solve runs in a thread of its own. Meanwhile the
        calling thread gets the next weights from the source, checks them, and uploads them. If the
        weights are already on the device, the next ones are requested only when the solve has
        ended, because they need not be uploaded, and the caller may reuse one buffer for all
        rounds. Before each forest is yielded, `on_progress` is called with the number of forests so
        far.
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
                self._forget()  # so that the weights of at most two rounds are in memory
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
            del forest, present, work  # references would keep their memory during the next solve
            prefetched = self._next(source, queues) if is_on_device else ahead.pop()
        if isinstance(prefetched, _Failure):
            if prefetched.is_refusal:
                self._forget()
            raise prefetched.error

    def _next(self, source: Iterator[Any], queues: list[Queue]) -> _Next:
        """Get the next weights from the iterator `source`, check them and upload them.

        `queues` are the queues of the uploads. Returns None at the end of the source. An error is
        returned and not raised, because the forests of earlier weights have to be yielded first.
        """
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
        """Check and upload weights while another thread solves.

        `queues` are the queues of the uploads. If the list is empty, it is filled first.
        """
        self.opened()
        if not queues:
            queues += self.new_queues()
        staged: StagedWeights = self.stage(weights, queues)
        return staged

    def _solve_staged(self, staged: StagedWeights, options: RoundOptions) -> DeviceForest | Forest:
        """Solve with weights that :meth:`stage` has returned.

        Returns the forest on the device or on the host, as the options request.
        """
        with self._lock:
            self.opened()
            forest = self._staged_round(staged, options)
        return self._handed_over(forest, options)

    def _forget(self) -> None:
        """Drop the current weights, unless the solver is closed."""
        with self._lock:
            if not self.is_closed:
                self.forget()


class OneDevice(Rounds):
    """Base class of repeated solves on one device: how solves are timed and proved."""

    guard: Callable[..., AbstractContextManager[None]] = Guard

    def __init__(self, device: Device, *, maximum: bool) -> None:
        super().__init__(maximum=maximum)
        self.device = device
        self._launch = Launcher(device, device.queue)  # the launcher of the last round

    def prove(self, forest: DeviceForest) -> DeviceForest:
        """Prove the forest of the last solve on the device, and return it with facts of the proof.

        The facts are in its statistics. The call blocks until the proof is complete. Raises an
        error if the forest is wrong.
        """
        began = time.perf_counter()
        with self.device.lock, self.guard(self.device):
            proved = checked(forest, self._launch)
        if (times := proved.stats.get("times")) is None:
            return proved
        solve = times["solve"] + 1e3 * (time.perf_counter() - began)
        return proved.with_stats({**proved.stats, "times": {**times, "solve": solve}})

    def _launcher(self, *, profile: bool) -> Launcher:
        """Return a new launcher for this round.

        A proof of the round's forest uses the same launcher. With `profile`, it records times.
        """
        self._launch = Launcher.of(self.device, profile=profile)
        return self._launch

    def _now(self, launch: Launcher) -> float:
        """Return the host's time in seconds.

        If times were requested, the call first waits until all commands of the queue have finished.
        """
        if launch.profile is not None:
            launch.queue.finish()
        return time.perf_counter()

    def _timed(
        self, forest: DeviceForest, launch: Launcher, began: float, uploaded: float
    ) -> DeviceForest:
        """Add the times of upload and solve to the stats of a forest, if times were requested.

        `began` and `uploaded` are the host's times, in seconds, at the start of the round and after
        its upload.
        """
        if launch.profile is None:
            return forest
        solve = 1e3 * (time.perf_counter() - uploaded)
        times = {"upload": 1e3 * (uploaded - began), "solve": solve}
        return forest.with_stats({**forest.stats, "times": times})


class GraphRounds(Rounds):
    """Base class of repeated solves of a graph whose edges have weights, on one or more devices.

    Attributes
    ----------
    edges : Graph
        The graph, which stores each edge once (:func:`clmst.core.topology.edges_once`).
    parts : sequence of ReweightedGraph
        The parts of the graph on their devices. The parts of one device are consecutive.
    guard : callable
        Returns the context manager that translates the errors of a device.
    """

    edges: Graph
    parts: Sequence[ReweightedGraph]
    guard: Callable[..., AbstractContextManager[None]]

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of the current weights, or None if a part of the graph lacks weights."""
        present = [part.present for part in self.parts]
        return present[0].encoding if present[0] is not None and all(present) else None

    @property
    def devices(self) -> list[Device]:
        """The devices that have parts of the graph, each listed once."""
        return list(dict.fromkeys(part.device for part in self.parts))

    def release(self, staged: StagedWeights) -> None:
        """Give the upload buffers of staged weights back to the parts of the graph, for reuse.

        Buffers that hold the current weights are given back later.
        """
        given, staged.parts = staged.parts, {}
        for part in self.parts:
            if part.number in given:
                part.put_back(given[part.number])

    def forget(self) -> None:
        """Drop the current weights of all parts of the graph."""
        for part in self.parts:
            part.forget()

    def present_weights(self) -> Array:
        """Read the current weights from all devices, and wait for them.

        The result has the weight of each edge of the caller, by edge id. It is 0 for self-loops and
        for parallel edges that are left out, whose weights no device has. Raises DeviceError if a
        part of the graph lacks current weights.
        """
        weights: Array | None = None
        for part in self.parts:
            device = part.device
            with device.lock, self.guard(device):
                if part.present is None:
                    raise DeviceError(
                        "an update failed, so some weights may have changed and "
                        "others not; give all weights again, to solve()"
                    )
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
        """Check new weights of the edges `edge_ids`, and return them as an object.

        `dtype` is the dtype of the current weights. Raises InvalidArgumentError or
        InvalidGraphError if an edge or a weight is invalid.
        """

    @abstractmethod
    def solve_changed(
        self, changes: Changes, options: RoundOptions, *, began: float
    ) -> DeviceForest | Forest:
        """Change some of the current weights, as `changes` says, and solve.

        `options` are the options of the round, and `began` is the host's time, in seconds, at its
        start.
        """

    @lasting("solving a round")
    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Change the weights of the edges `edge_ids`, solve, and return the forest.

        `options` are the options of the round. The call blocks until the forest is on the host, or
        on the device with `keep_on_device`. Raises InvalidArgumentError or InvalidGraphError,
        without changing any weight, if a change is invalid.
        """
        with self._lock:
            began = time.perf_counter()
            self.opened()
            if (encoding := self.encoding) is None:
                raise InvalidArgumentError("there are no weights to change; solve() gives them")
            changes = self.changes(edge_ids, weights, encoding.dtype)
            forest = self.solve_changed(changes, options, began=began)
            forest = self._finished(forest, options)
        return self._handed_over(forest, options)


def lost_error(device: Device) -> DeviceError:
    """Return the error for a call after `device` has failed and lost the contents of its memory."""
    return DeviceError(
        f"{device.description} has failed since this solver was made, and lost what was in its "
        "memory; make another one to solve again"
    )


@dataclass(frozen=True, slots=True)
class _NewWeights:
    """The new weights of a round: their encoding, and two functions that give them to the graph."""

    encoding: Encoding
    # A function that enqueues one launch in which one work-item sets the weights and solves the
    # round.
    solve_alone: Callable[..., Forest | None]
    # A function that enqueues kernels which set the weights, and returns the graph to be solved.
    set: Callable[[], DeviceGraph]
    # Whether the weights of the solve stay in the caller's buffer on the device. If they do, the
    # kernel in which one work-item solves a small graph is not used, because it would have to copy
    # the weights for the next solve.
    stay: bool = False


class SingleDevice(OneDevice, GraphRounds):
    """Repeated solves of a whole graph on one device.

    `edges` stores each edge once. Each round is solved in one of three ways: as a warm start, which
    reuses the result of an earlier round; on the series contraction of the graph, in which each
    path of vertices with two edges is replaced by a single edge; or from scratch.
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
        self.serial: SerialRounds | None = None
        self.last: LastForest | None = None
        with device.lock, self.guard(device):
            self.parts: list[ReweightedGraph] = [ReweightedGraph(partition.whole(edges), device)]
            device.queue.finish()
        self._times_renewed = device.times_renewed
        self._starts_warm = warm_start
        self._learns = warm_start and route.has_warm_starts(edges.n_slots, one_launch=False)
        self._is_alone = False
        usual = algorithm == "auto" and options is None and edges.n_slots > 0
        if usual and route.takes_rounds_alone(edges.n_slots, device.facts):
            self.serial = SerialRounds(self.parts[0], maximum=maximum)
            self._is_alone = route.solves_round_alone(edges.n_vertices, edges.n_slots, device.facts)
        most = route.most_kept_changes(edges.n_vertices)
        if usual and warm_start and most and route.stays_on_device(edges.n_slots, device.facts):
            self.last = LastForest(maximum=maximum, most=most)

    @property
    def graph(self) -> ReweightedGraph:
        """The graph on the device.

        Raises InvalidArgumentError if the solver is closed, and DeviceError if the device has
        failed since the graph was uploaded.
        """
        if not (parts := self.parts):  # another thread may close the solver
            raise closed_error()
        if self.device.times_renewed != self._times_renewed:
            raise lost_error(self.device)
        return parts[0]

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of the current weights, or None if there are none.

        Raises the same errors as `graph`.
        """
        present = self.graph.present
        return None if present is None else present.encoding

    def free(self) -> None:
        """Free all memory of the prepared graph."""
        self.parts, self.warm, self.serial, self.last = [], None, None, None
        self.series = SeriesContraction(maximum=self.maximum)

    # --------------------------------------------------------------------------- weights

    def new_queues(self) -> list[Queue]:
        """Create a queue for uploads of weights during a solve, and return it in a list."""
        with self.guard(self.device):
            return [self.device.new_queue()]

    def stage(self, weights: Any, queues: list[Queue] | None = None) -> StagedWeights:
        """Check the weights for one solve, one weight per edge.

        With `queues`, a list of one queue, the weights are also uploaded, and the call blocks until
        they are on the device. If `queues` is None, the solve uploads the weights.
        """
        with self.guard(self.device, queues=queues or ()):
            graph = self.graph
            staged = stage(
                weights, self.edges, [self.device], keeps=queues is not None,
                as_given=self._is_alone,
            )  # fmt: skip
            if queues is not None:
                bring(staged, [graph], queues[0])
                queues[0].finish()
        return staged

    def changes(self, edge_ids: Any, weights: Any, dtype: np.dtype[Any]) -> Changes:
        """Check new weights of the edges `edge_ids`, and return them as an object.

        `dtype` is the dtype of the current weights.
        """
        with self.device.lock, self.guard(self.device):
            return Changes.of(edge_ids, weights, self.edges, dtype=dtype, devices=[self.device])

    # ---------------------------------------------------------------------------- rounds

    def solve_staged(
        self, staged: StagedWeights, options: RoundOptions, *, began: float
    ) -> DeviceForest | Forest:
        """Solve with weights that :meth:`stage` has returned, which become the current weights.

        `options` say whether to profile, and `began` is the host's time, in seconds, at the start
        of the round. Raises InvalidGraphError if the kernels find a weight that is NaN.
        """
        with self.device.lock, self.guard(self.device):
            graph, launch = self.graph, self._launcher(profile=options.profile)
            bring(staged, [graph], launch.queue)
            uploaded, given = self._now(launch), staged.parts[0]
            new = _NewWeights(
                given.encoding,
                lambda serial, **limits: serial.solve(given, launch, **limits),
                lambda: graph.take(given, launch),
                stay=graph.order is None and not given.is_lent,
            )
            forest, (nan, _) = self._solve(new, options, launch)
            nan = graph.first_nan(launch) if nan is None else nan
            if nan is not None:
                raise nan_error(nan, self.edges)
        return self._ended(forest, launch, began, uploaded)

    def solve_changed(
        self, changes: Changes, options: RoundOptions, *, began: float
    ) -> DeviceForest | Forest:
        """Change some of the current weights, and solve.

        `options` say whether to profile, and `began` is the host's time, in seconds, at the start
        of the round. If a change is invalid, raises InvalidArgumentError or InvalidGraphError, and
        all weights are unchanged. After any other error the current weights are dropped, because it
        is unknown which of them have changed.
        """
        with self.device.lock, self.guard(self.device):
            graph, launch = self.graph, self._launcher(profile=options.profile)
            ids, words = changes.upload(graph, launch)
            uploaded, present = self._now(launch), graph.present
            assert present is not None
            new = _NewWeights(
                present.encoding,
                lambda serial, **limits: serial.update(ids, words, launch, **limits),
                lambda: graph.change(ids, words, launch),
            )
            try:
                forest, (nan, unknown) = self._solve(new, options, launch)
                if forest is not None and not changes.is_checked:
                    nan, unknown = graph.read_faults(launch)
            except BaseException:
                graph.forget()
                raise
            if unknown is not None:
                edge = changes.edge_at(unknown)
                raise unknown_error(edge, unknown, self.edges.n_input)
            if nan is not None:
                raise nan_error(changes.edge_at(nan), self.edges)
        return self._ended(forest, launch, began, uploaded)

    def _ended(
        self, forest: DeviceForest | Forest | None, launch: Launcher, began: float, uploaded: float
    ) -> DeviceForest | Forest:
        """Return the forest of a round, with times in its statistics if they were requested.

        `forest` must not be None. `began` and `uploaded` are the host's times, in seconds, at which
        the round began and the weights were on the device.
        """
        assert forest is not None, "a round ends with a forest or a fault"
        if isinstance(forest, Forest):
            return forest
        return self._timed(forest, launch, began, uploaded)

    def _solve(
        self, new: _NewWeights, options: RoundOptions, launch: Launcher
    ) -> tuple[DeviceForest | Forest | None, tuple[int | None, int | None]]:
        """Set the new weights of the graph, and solve the graph.

        `options` are the options of the round. Returns the forest and a pair of faults. A single
        work-item may set the weights and solve. If it finds a fault in the weights, the forest is
        None and the pair names the fault; otherwise the pair is (None, None). After an error,
        everything that was kept for later rounds is dropped.
        """
        graph = self.graph
        try:
            serial, forest, taken = self._serial_for(new.encoding), None, False
            if serial is not None and options == _USUAL and not new.stay:
                forest, taken = self._alone(serial, new, launch)
                if forest is not None or serial.faults != (None, None):
                    return forest, serial.faults
            if self.serial is not None:
                self.serial.forget()  # other kernels replace the weights that it compares with
            on_device = self._forest(graph.graph(launch) if taken else new.set(), launch)
            if serial is not None and self._starts_warm:
                serial.adopt(on_device, launch)
        except BaseException:
            has_finished(launch.queue)  # kernels must end before their memory is reused
            graph.drop_plans()
            self.series.forget()
            for kept in (self.warm, self.serial, self.last):
                if kept is not None:
                    kept.forget()
            raise
        return on_device, (None, None)

    def _serial_for(self, encoding: Encoding) -> SerialRounds | None:
        """Return the object by which a single work-item solves the graph, or None.

        The result is None if this is not meant for the device, or if the device has failed the
        self-test. `encoding` says how the weights are stored.
        """
        serial = self.serial
        if serial is None or families.is_serial_trusted(
            self.device, encoding, maximum=self.maximum
        ):
            return serial
        return None

    def _alone(
        self, serial: SerialRounds, new: _NewWeights, launch: Launcher
    ) -> tuple[Forest | None, bool]:
        """Let a single work-item solve, if that is quicker by the rules of :mod:`clmst.route`.

        `serial` is the object by which the work-item solves, and `new` has the new weights. Returns
        two values: the forest, or None if the work-item has not solved the graph; and whether the
        graph has the new weights.
        """
        n_edges, warm = self.edges.n_slots, self.warm
        anew = self._is_alone and not (warm is not None and warm.is_ready)
        if not self._starts_warm:
            serial.forget()
        known = serial.knows(new.encoding)
        serial.faults = None, None
        if not (anew or known):
            serial.forget()
            return None, False
        forest = new.solve_alone(serial, most=route.most_changes(n_edges), anew=anew)
        if forest is None:
            return None, True
        way = route.way_of_round(serial.n_open, n_edges, known=known)
        if self._learns and warm is not None and way.variant == route.ANEW:
            graph = self.graph.graph(launch)
            warm.learn(graph, Solution(graph=graph, in_forest=serial.marks), launch)
        return routed(forest, way), True

    def forget(self) -> None:
        """Drop the current weights, and the forest from which the next round would start."""
        super().forget()
        for kept in (self.serial, self.last):
            if kept is not None:
                kept.forget()

    def _forest(self, graph: DeviceGraph, launch: Launcher) -> DeviceForest:
        """Solve from the last forest, as a warm start, by series contraction, or from scratch.

        If the device keeps the forest of the round before, and the weights differ from the weights
        of that round in few places, the round starts from that forest. A warm start solves only
        the edges whose place in the forest earlier rounds have left open. It is possible if the new
        weights are near the weights of those rounds. The series contraction, in which paths are
        replaced by single edges, is used if it is small enough to save time.
        """
        of_round = {"maximum": self.maximum, "own_weights": True}
        last = self.last
        if last is not None and not families.is_trusted(families.KEPT, graph, maximum=self.maximum):
            last = self.last = None
        if last is not None and (kept := last.solve(graph, launch)) is not None:
            return forest_of(kept, launch, algorithm="boruvka", **of_round)
        run = None if self.warm is None else self.warm.begin(graph, launch)
        if run is not None and not families.is_trusted(
            families.WARM_START, graph, maximum=self.maximum
        ):
            run = self.warm = None
        if run is not None and self.warm is not None:
            forest = forest_of(run.solution(), launch, algorithm="filter-boruvka", **of_round)
            if (stats := self.warm.end(run, launch)) is not None:
                if last is not None:  # rounds whose weights all move a little are likely to follow
                    last.forget()
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
        if last is None or solution.in_forest.size != graph.n_slots:
            return forest_of(solution, launch, algorithm=name, **of_round)
        way = route.way_of_round_anew(last.why_anew)
        last.keep(graph, solution, launch)
        found = forest_of(solution, launch, algorithm=name, **of_round)
        return found.with_stats({**found.stats, "route": way.as_stats()})
