"""Rounds on one device: as warm starts, by series contraction, or from scratch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from clmst.algorithms import solving
from clmst.algorithms.proof.prove import checked
from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.algorithms.reweighting.series import SeriesContraction
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of
from clmst.core import partition
from clmst.core.errors import DeviceError
from clmst.core.graph import Graph
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
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard, has_finished
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


class OneDevice:
    """The part of an executor that does not depend on what it solves."""

    guard: Callable[..., AbstractContextManager[None]] = Guard

    def __init__(self, device: Device) -> None:
        self.device = device
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


class GraphExecutor:
    """The part of an executor that has weights: on one device, or on several.

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


def lost_error(device: Device) -> DeviceError:
    """Return the error for a call on a solver one of whose devices has lost its memory."""
    return DeviceError(
        f"{device.description} has failed since this solver was made, and lost what was in its "
        "memory; make another one to solve again"
    )


class SingleDevice(OneDevice, GraphExecutor):
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
    ) -> None:
        super().__init__(device)
        self.edges, self.maximum = edges, maximum
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

    def close(self) -> None:
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
            staged.owner = self
            if queues is not None:
                bring(staged, [graph], queues[0])
                queues[0].finish()
        return staged

    def changes(self, edge_ids: Any, weights: Any, dtype: np.dtype[Any]) -> Changes:
        """Check changes of the present weights, of this dtype."""
        with self.device.lock, self.guard(self.device):
            return Changes.of(edge_ids, weights, self.edges, dtype=dtype, devices=[self.device])

    # ---------------------------------------------------------------------------- rounds

    def solve(self, staged: StagedWeights, *, began: float, profile: bool) -> DeviceForest:
        """Solve with weights, which become the present ones."""
        with self.device.lock, self.guard(self.device):
            graph, launch = self.graph, self._launcher(profile=profile)
            bring(staged, [graph], launch.queue)
            uploaded = self._now(launch)
            forest = self._solve(graph, lambda: graph.take(staged.parts[0], launch), launch)
            if (nan := graph.first_nan(launch)) is not None:
                raise nan_error(nan, self.edges)
        return self._timed(forest, launch, began, uploaded)

    def update(self, changes: Changes, *, began: float, profile: bool) -> DeviceForest:
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
