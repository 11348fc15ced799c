"""Rounds on one device: as warm starts, by series contraction, or from scratch."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from clmst.algorithms import choosing
from clmst.algorithms.proof.prove import checked
from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.algorithms.reweighting.series import SeriesContraction
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of
from clmst.core import partition
from clmst.core.errors import DeviceError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Encoding
from clmst.repeated import families
from clmst.repeated.pieces import Piece, PieceExecutor, bring
from clmst.repeated.weights import (
    Changes,
    StagedWeights,
    closed_error,
    nan_error,
    stage,
    unknown_error,
)
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard, has_finished
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


class OneDevice:
    """The part of an executor that does not depend on what it solves.

    `guard` makes the context manager that translates a device's errors.
    """

    def __init__(
        self, device: Device, guard: Callable[..., AbstractContextManager[None]] = Guard
    ) -> None:
        self.device, self.guard = device, guard
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


class SingleDevice(OneDevice, PieceExecutor):
    """An executor: one device that solves the whole graph, whose edges are stored once."""

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
            self.pieces: list[Piece] = [Piece(0, partition.whole(edges), device)]
            device.queue.finish()
        self._times_renewed = device.times_renewed

    @property
    def piece(self) -> Piece:
        """The prepared graph; raises if it is closed or lost."""
        if not (pieces := self.pieces):
            raise closed_error()
        if self.device.times_renewed != self._times_renewed:
            raise DeviceError(
                f"{self.device.description} has failed since this solver was made, and lost what "
                "was in its memory; make another one to solve again"
            )
        return pieces[0]

    @property
    def rounds(self) -> ReweightedGraph:
        """Its weights."""
        return self.piece.rounds

    @property
    def encoding(self) -> Encoding | None:
        """How the present weights are encoded; None if there are none; raises as `piece` does."""
        present = self.rounds.present
        return None if present is None else present.encoding

    def close(self) -> None:
        """Free all memory."""
        self.pieces, self.warm = [], None
        self.series = SeriesContraction(maximum=self.maximum)

    # --------------------------------------------------------------------------- weights

    def new_queues(self) -> list[Queue]:
        """Return a queue for uploads of weights."""
        with self.guard(self.device):
            return [self.device.new_queue()]

    def stage(self, weights: Any, queues: list[Queue] | None = None) -> StagedWeights:
        """Check weights by edge; upload them if there is a queue, and wait."""
        with self.guard(self.device, queues=queues or ()):
            piece = self.piece
            staged = stage(weights, self.edges, [self.device], keeps=queues is not None)
            staged.owner = self
            if queues is not None:
                bring(staged, [piece], queues[0])
                queues[0].finish()
        return staged

    # ---------------------------------------------------------------------------- rounds

    def solve(self, staged: StagedWeights, *, began: float, profile: bool) -> DeviceForest:
        """Solve with weights, which become the present ones."""
        with self.device.lock, self.guard(self.device):
            piece, launch = self.piece, self._launcher(profile=profile)
            bring(staged, [piece], launch.queue)
            uploaded = self._now(launch)
            forest = self._solve(piece.rounds, lambda: piece.take(staged, launch), launch)
            if (nan := piece.first_nan(launch)) is not None:
                raise nan_error(nan, self.edges)
        return self._timed(forest, launch, began, uploaded)

    def update(self, changes: Changes, *, began: float, profile: bool) -> DeviceForest:
        """Solve with some of the present weights changed, or raise if a change is illegal.

        After any other error it is unknown which of them have changed.
        """
        with self.device.lock, self.guard(self.device):
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
        name, solve = choosing.choose(
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
