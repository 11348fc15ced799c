"""Rounds on one device: as warm starts, by series contraction, or from scratch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from clmst import algorithms
from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.algorithms.reweighting.series import SeriesContraction
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of
from clmst.core.errors import DeviceError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array, Encoding
from clmst.repeated import families
from clmst.repeated.changes import Changes, unknown_error
from clmst.repeated.one_device import OneDevice
from clmst.repeated.staged import Needs, StagedWeights, closed_error, nan_error, stage
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard, has_finished
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


class SingleDevice(OneDevice):
    """An executor: one device that solves the whole graph.

    Parameters
    ----------
    edges : Graph
        As of :func:`clmst.core.topology.edges_once`.
    device : Device
    algorithm, options, maximum
        As of :func:`clmst.minimum_spanning_forest`.
    warm_start : bool
        Whether solves may be warm starts.
    guard : callable
        Makes the context manager that translates a device's errors.

    Attributes
    ----------
    series : SeriesContraction
        Solves by series contraction.
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
        guard: Callable[..., AbstractContextManager[None]] = Guard,
    ) -> None:
        super().__init__(device, guard)
        self.edges, self.maximum = edges, maximum
        self._algorithm, self._options = algorithm, options
        self.warm = WarmStart(maximum=maximum) if warm_start else None
        self.series = SeriesContraction(maximum=maximum)
        with device.lock, guard(device):
            self._rounds: ReweightedGraph | None = ReweightedGraph(edges, device)
            device.queue.finish()
        self._times_renewed = device.times_renewed

    @property
    def rounds(self) -> ReweightedGraph:
        """The prepared graph; raises if it is closed or lost."""
        if self._rounds is None:
            raise closed_error()
        if self.device.times_renewed != self._times_renewed:
            raise DeviceError(
                f"{self.device.description} has failed since this solver was made, and lost what "
                "was in its memory; make another one to solve again"
            )
        return self._rounds

    def close(self) -> None:
        """Free all memory."""
        self._rounds = self.warm = None
        self.series = SeriesContraction(maximum=self.maximum)

    # --------------------------------------------------------------------------- weights

    @property
    def encoding(self) -> Encoding | None:
        """How the present weights are encoded; None if there are none."""
        present = self.rounds.present
        return None if present is None else present.encoding

    @property
    def needs(self) -> Needs:
        """The ranges of weights that each device takes."""
        return [(self.device, [(0, self.edges.n_input)])]

    def new_queues(self) -> list[Queue]:
        """Return a queue for uploads of weights."""
        with self._guard(self.device):
            return [self.device.new_queue()]

    def stage(self, weights: Any, queues: list[Queue] | None = None) -> StagedWeights:
        """Check weights by edge; upload them if there is a queue, and wait."""
        with self._guard(self.device, queues=queues or ()):
            rounds = self.rounds
            staged = stage(weights, self.edges, self.needs, keeps=queues is not None)
            staged.owner = self
            if queues is not None:
                self._upload(staged, rounds, queues[0])
                queues[0].finish()
        return staged

    def _upload(self, staged: StagedWeights, rounds: ReweightedGraph, queue: Queue) -> None:
        if not staged.parts:
            staged.parts[0] = [staged.upload((0, self.edges.n_input), rounds, queue)]

    def release(self, staged: StagedWeights) -> None:
        """Free the memory of weights that are no longer needed."""
        parts, staged.parts = staged.parts, {}
        rounds = self._rounds
        if rounds is not None and parts:
            rounds.put_back(parts[0][0])

    def forget(self) -> None:
        """Drop the weights."""
        if self._rounds is not None:
            self._rounds.forget()

    def present_weights(self) -> Array:
        """Read the weights of the last round; 0 where the device has none."""
        with self.device.lock, self._guard(self.device):
            rounds = self.rounds
            if rounds.present is None:
                raise DeviceError("the weights may be half changed; they must be given again")
            encoding, ids = rounds.present.encoding, self.edges.edge_ids
            weights = np.zeros(self.edges.n_input, encoding.dtype)
            words = rounds.graph(Launcher(self.device, self.device.queue)).encoded.words()
            weights[slice(None) if ids is None else ids] = encoding.decode(words)
        return weights

    # ---------------------------------------------------------------------------- rounds

    def solve(self, staged: StagedWeights, *, began: float, profile: bool) -> DeviceForest:
        """Solve with weights, which become the present ones."""
        with self.device.lock, self._guard(self.device):
            rounds, launch = self.rounds, self._launcher(profile=profile)
            self._upload(staged, rounds, launch.queue)
            uploaded, given = self._now(launch), staged.parts[0][0]
            forest = self._solve(rounds, lambda: rounds.take(given, launch), launch)
            if given.may_hold_nan and (nan := rounds.read_faults(launch).nan) is not None:
                raise nan_error(nan, self.edges)
        return self._timed(forest, launch, began, uploaded)

    def update(self, changes: Changes, *, began: float, profile: bool) -> DeviceForest:
        """Solve with some of the present weights changed, or raise if a change is illegal.

        After any other error it is unknown which of them have changed.
        """
        with self.device.lock, self._guard(self.device):
            rounds, launch = self.rounds, self._launcher(profile=profile)
            ids, words = changes.upload(rounds, launch)
            uploaded = self._now(launch)
            try:
                forest = self._solve(rounds, lambda: rounds.change(ids, words, launch), launch)
                faults = None if changes.is_checked else rounds.read_faults(launch)
            except BaseException:
                rounds.forget()
                raise
            if faults is not None and faults.unknown is not None:
                edge = changes.edge_at(faults.unknown)
                raise unknown_error(edge, faults.unknown, self.edges.n_input)
            if faults is not None and faults.nan is not None:
                raise nan_error(changes.edge_at(faults.nan), self.edges)
        return self._timed(forest, launch, began, uploaded)

    def _solve(
        self, rounds: ReweightedGraph, graph: Callable[[], DeviceGraph], launch: Launcher
    ) -> DeviceForest:
        """Solve a graph of new weights; a failure leaves no state."""
        try:
            return self._forest(graph(), launch)
        except BaseException:
            has_finished(launch.queue)  # before its memory has a new owner
            rounds.drop_plans()
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
            forest = forest_of(run.solution, launch, algorithm="filter-boruvka", **of_round)
            if (stats := self.warm.end(run, launch)) is not None:
                return forest.with_stats({**forest.stats, **stats})
        name, solve = algorithms.choose(
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
