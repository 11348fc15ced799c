"""Whose turn it is: solves of one solver, one at a time, whatever threads ask for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from clmst import algorithms
from clmst.algorithms.proof.checked import checked
from clmst.algorithms.reweighting.chains import Chains
from clmst.algorithms.reweighting.repeated import Given, Rounds
from clmst.algorithms.reweighting.warm_start import WarmStart
from clmst.algorithms.shared.solution import DeviceForest
from clmst.algorithms.solving import forest_of
from clmst.core.errors import DeviceError, InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.repeated import earned
from clmst.repeated.ahead import Steps
from clmst.repeated.intake import Change, change_of, give, nan_error, unknown_error
from clmst.runtime import forking
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard, has_finished
from clmst.runtime.launcher import Launcher
from clmst.runtime.profile import Profile


class Turns:
    """Solves of a prepared graph, until it is closed.

    A turn has the solver's lock, and the device's from the first launch until the forest is on the
    device.

    Parameters
    ----------
    edges : Graph
        As of :func:`clmst.core.topology.edges_once`.
    device : Device
    algorithm, options, maximum
        As of :func:`clmst.minimum_spanning_forest`.
    warm_start : bool
        Whether solves may begin with what earlier ones have settled.
    make : type
        What prepares the graph.

    Attributes
    ----------
    prepare_ms : float
        How long it took to prepare all this, for ``stats["times"]``.
    chains : Chains
        Solves by what topology settles.
    """

    def __init__(
        self,
        edges: Graph,
        device: Device,
        *,
        algorithm: str,
        options: Any,
        maximum: bool,
        warm_start: bool,
        make: type[Rounds] = Rounds,
    ) -> None:
        self.device, self.maximum = device, maximum
        self.prepare_ms = 0.0
        self._algorithm, self._options = algorithm, options
        self._warm = WarmStart(maximum=maximum) if warm_start else None
        self.chains = Chains(maximum=maximum)
        self._lock = threading.RLock()
        forking.replace_locks(self, "_lock")
        with device.lock, Guard(device):
            self._rounds: Rounds | None = make(edges, device)
            device.queue.finish()
        self._times_renewed = device.times_renewed

    # ------------------------------------------------------------------- open or closed

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be solved any more."""
        return self._rounds is None

    def opened(self) -> Rounds:
        """Return the prepared graph, or raise if it is closed."""
        if self._rounds is None:
            raise InvalidArgumentError("the solver is closed; make another one to solve again")
        if self.device.times_renewed != self._times_renewed:
            raise DeviceError(
                f"{self.device.description} has failed since this solver was made, and lost what "
                "was in its memory; make another one to solve again"
            )
        return self._rounds

    def close(self) -> None:
        """Let go of all memory, once the present turn is over."""
        with self._lock:
            self._rounds = self._warm = None
            self.chains = Chains(maximum=self.maximum)

    # --------------------------------------------------------------------------- turns

    def solve(
        self, weights: Any, *, profile: bool, keep_on_device: bool, verify: bool = False
    ) -> DeviceForest | Forest:
        """Solve under weights by edge."""
        with self._lock:
            began = time.perf_counter()
            launch = self._launcher(profile=profile)
            with self.device.lock, Guard(self.device):
                try:
                    given = give(weights, self.opened(), launch.queue)
                except BaseException:
                    self._forget()
                    raise
            uploaded = self._time(launch)
            found = self._round(given, launch, verify=verify)
            forest = self._timed(found, launch, began, uploaded)
        return forest if keep_on_device else forest.to_host()

    def update(
        self,
        edge_ids: Any,
        weights: Any,
        *,
        profile: bool,
        keep_on_device: bool,
        verify: bool = False,
    ) -> DeviceForest | Forest:
        """Change some of the present weights, and solve."""
        with self._lock:
            rounds = self.opened()
            if rounds.present is None:
                raise InvalidArgumentError("there are no weights to change; solve() gives them")
            began = time.perf_counter()
            launch = self._launcher(profile=profile)
            with self.device.lock, Guard(self.device):
                change = change_of(edge_ids, weights, rounds, launch)
                uploaded = self._time(launch)
                forest = self._changed_round(rounds, change, launch)
                if verify:
                    forest = checked(forest, launch)
            forest = self._timed(forest, launch, began, uploaded)
        return forest if keep_on_device else forest.to_host()

    def steps(self, *, keep_on_device: bool, verify: bool = False) -> Steps:
        """Return how weights are solved while the next ones are on their way.

        These go by a queue of their own, with which only the thread that gives them has to do.
        """
        with Guard(self.device):
            queue = self.device.new_queue()

        def bring(weights: Any) -> Given:
            with Guard(self.device, queues=[queue]):
                given = give(weights, self.opened(), queue, keeps=True)
                queue.finish()
            return given

        def solve(given: Given) -> Any:
            with self._lock:
                forest = self._round(given, self._launcher(profile=False), verify=verify)
            return forest if keep_on_device else forest.to_host()

        def put_back(given: Given) -> None:
            rounds = self._rounds
            if rounds is not None:
                rounds.put_back(given)

        return Steps(give=bring, solve=solve, put_back=put_back, forget=self._forget)

    def _forget(self) -> None:
        """Have no weights, as after any that cannot be solved, whoever found that out."""
        with self._lock:
            if self._rounds is not None:
                self._rounds.forget()

    def _round(self, given: Given, launch: Launcher, *, verify: bool) -> DeviceForest:
        """Solve with weights by edge; they are done with when it returns."""
        rounds = self.opened()
        with self.device.lock, Guard(self.device):
            try:
                forest = self._solve(rounds, lambda: rounds.take(given, launch), launch)
                nan = rounds.read_faults(launch).nan if given.may_hold_nan else None
                if verify and nan is None:
                    forest = checked(forest, launch)
            except BaseException:
                rounds.forget()
                raise
            finally:
                rounds.put_back(given)
            if nan is not None:
                rounds.forget()
                raise nan_error(nan)
        return forest

    def _changed_round(self, rounds: Rounds, change: Change, launch: Launcher) -> DeviceForest:
        """Solve with some weights changed, or raise if they cannot be.

        If anything else goes wrong nobody knows which of them have been changed.
        """
        try:
            forest = self._solve(
                rounds, lambda: rounds.change(change.ids, change.words, launch), launch
            )
            if change.is_checked:
                return forest
            faults = rounds.read_faults(launch)
        except BaseException:
            rounds.forget()
            raise
        if faults.unknown is not None:
            edge = change.edge_in(faults.unknown)
            raise unknown_error(edge, faults.unknown, rounds.edges.n_input)
        if faults.nan is not None:
            raise nan_error(change.edge_in(faults.nan))
        return forest

    def _solve(
        self, rounds: Rounds, graph: Callable[[], DeviceGraph], launch: Launcher
    ) -> DeviceForest:
        """Solve a graph that is made of new weights; if that fails, nothing of it stays."""
        try:
            return self._forest(graph(), launch)
        except BaseException:
            has_finished(launch.queue)  # before memory that it works on is anybody else's
            rounds.drop_plans()
            self.chains.forget()
            if self._warm is not None:
                self._warm.forget()
            raise

    def _forest(self, graph: DeviceGraph, launch: Launcher) -> DeviceForest:
        """Solve by what earlier rounds have settled, or anew."""
        of_round = {"maximum": self.maximum, "own_weights": True}
        run = None if self._warm is None else self._warm.begin(graph, launch)
        if run is not None and not earned.has_warm_starts(graph, maximum=self.maximum):
            run = self._warm = None
        if run is not None and self._warm is not None:
            forest = forest_of(run.solution, launch, algorithm="filter-boruvka", **of_round)
            if (stats := self._warm.end(run, launch)) is not None:
                return forest.with_stats({**forest.stats, **stats})
        name, solve = algorithms.choose(
            self._algorithm, self.device, graph, options=self._options, maximum=self.maximum
        )
        earned.require_rounds(graph, name, maximum=self.maximum, options=self._options)
        solution = None
        if name == "filter-boruvka" and self._options is None:
            solution = self.chains.solve(graph, launch)
            if solution is not None and not earned.has_chains(graph, maximum=self.maximum):
                solution = None
        if solution is None:
            solution = solve(graph, launch, maximum=self.maximum, options=self._options)
        if self._warm is not None:
            self._warm.learn(graph, solution, launch)
        return forest_of(solution, launch, algorithm=name, **of_round)

    # ------------------------------------------------------------------ launching, timing

    def _launcher(self, *, profile: bool) -> Launcher:
        """Return a launcher; what the device's own queue does is done, if it is for another."""
        if not profile:
            return Launcher(self.device, self.device.queue)
        with self.device.lock:
            self.device.queue.finish()
        return Launcher(self.device, self.device.profiling_queue, Profile())

    def _time(self, launch: Launcher) -> float:
        """Return the time, at which all is finished if times are asked for."""
        if launch.profile is not None:
            with self.device.lock:
                launch.queue.finish()
        return time.perf_counter()

    def _timed(
        self, forest: DeviceForest, launch: Launcher, began: float, uploaded: float
    ) -> DeviceForest:
        """Return a forest that tells how long its steps took, if that was asked for."""
        if launch.profile is None:
            return forest
        times = {
            "prepare": self.prepare_ms,
            "upload": 1e3 * (uploaded - began),
            "solve": 1e3 * (time.perf_counter() - uploaded),
        }
        return forest.with_stats({**forest.stats, "times": times})
