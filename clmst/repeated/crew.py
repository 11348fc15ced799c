"""Several devices of a solver: which of them work, and what becomes of a round when one fails."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from clmst.algorithms.proof.checked import checked, checked_on_host
from clmst.algorithms.shared.solution import DeviceForest
from clmst.core.errors import DeviceWarning, InvalidArgumentError, UnsupportedDeviceError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.repeated.ahead import Steps
from clmst.repeated.alone import Alone, on_host
from clmst.repeated.carried import Carried, Formation
from clmst.repeated.failure import DeviceLostError, failures_of
from clmst.repeated.intake import HostChange, check_ids_dtype, check_present_dtype
from clmst.repeated.strategies import Choice
from clmst.repeated.together import Together
from clmst.repeated.turns import Turns
from clmst.repeated.whole import device_array
from clmst.runtime import forking
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher


def turns_of(
    edges: Graph, devices: Sequence[Device], strategy: str, **of_solves: Any
) -> Turns | Crew:
    """Return what solves a graph in turns: one device, or several.

    Parameters
    ----------
    edges, devices, strategy
        As of :class:`Crew`, but that there may be one device.
    of_solves : Any
        As of :class:`clmst.repeated.turns.Turns`.
    """
    if len(devices) == 1:
        return Turns(edges, devices[0], **of_solves)
    return Crew(edges, devices, strategy=strategy, **of_solves)


class Crew:
    """Solves of a graph on several devices, for as long as one of them works.

    Parameters
    ----------
    edges : Graph
        As of :func:`clmst.core.topology.edges_once`.
    devices : sequence of Device
        Two or more.
    strategy : str
        "auto", "alone", "split" or "cores".
    algorithm, options, maximum
        As of :func:`clmst.minimum_spanning_forest`.
    warm_start : bool
        As of :class:`clmst.RepeatedSolver`; what several devices solve together begins anew.

    Attributes
    ----------
    prepare_ms : float
        How long it took to prepare all this, for ``stats["times"]``.
    """

    def __init__(
        self,
        edges: Graph,
        devices: Sequence[Device],
        *,
        strategy: str,
        algorithm: str,
        options: Any,
        maximum: bool,
        warm_start: bool,
    ) -> None:
        self.maximum, self.prepare_ms = maximum, 0.0
        self._warm_start = warm_start
        self._edges, self._every, self._devices = edges, list(devices), list(devices)
        self._strategy, self._algorithm, self._options = strategy, algorithm, options
        self._lock = threading.RLock()
        forking.replace_locks(self, "_lock")
        self._end = ""  # why there is no device left
        try:
            self._formation: Formation | None = self._form()
        except DeviceLostError as lost:  # nothing has been asked for yet that others could do
            raise lost.error from lost

    @property
    def device(self) -> Device:
        """The device on which forests are kept."""
        return self._last_device

    # ------------------------------------------------------------------- open or closed

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be solved any more."""
        return self._formation is None

    def opened(self) -> Formation:
        """Return who works, or raise if nobody does."""
        if self._formation is None:
            if self._end:
                raise UnsupportedDeviceError(self._end)
            raise InvalidArgumentError("the solver is closed; make another one to solve again")
        return self._formation

    def close(self) -> None:
        """Let go of all memory and threads, once the present turn is over."""
        with self._lock:
            self._let_go()
            self._end = ""

    def _let_go(self) -> None:
        if self._formation is not None:
            self._formation.close()
            self._formation = None

    def _form(self) -> Formation:
        """Prepare the devices that there are."""
        choice = Choice(
            self._edges, self._devices, algorithm=self._algorithm, options=self._options
        )
        strategy = self._strategy if len(self._devices) > 1 else "alone"
        with failures_of(choice.quickest):
            plan = choice.plan(strategy)
        together = len(plan.assignments) > 1
        self._last_device = plan.device
        if together:
            return Together(plan, maximum=self.maximum)
        return Alone(plan, maximum=self.maximum, warm_start=self._warm_start)

    def _do_without(self, lost: DeviceLostError) -> None:
        """Go on with the other devices, and tell; or raise if there is none."""
        told = [lost]
        self._let_go()
        while self._formation is None:
            gone = told[-1]
            self._devices = [device for device in self._devices if device is not gone.device]
            if not self._devices:
                self._end = f"{gone}; it was the solver's last device, and one must work"
                raise UnsupportedDeviceError(self._end) from gone.error
            try:
                self._formation = self._form()
            except DeviceLostError as another:
                told.append(another)
        others = ", ".join(device.description for device in self._devices)
        for one in told:
            warnings.warn(
                f"{one}; the solver goes on without it, on {others}", DeviceWarning, stacklevel=4
            )

    # --------------------------------------------------------------------------- turns

    def solve(
        self, weights: Any, *, profile: bool, keep_on_device: bool, verify: bool = False
    ) -> DeviceForest | Forest:
        """Solve under weights by edge."""
        with self._lock:
            while True:
                formation = self.opened()
                try:
                    given = self._for(formation, weights)
                    forest = formation.solve(given, profile=profile)
                    forest = self._proved(forest, formation) if verify else forest
                    return self._handed_over(forest, profile=profile, keep=keep_on_device)
                except DeviceLostError as lost:
                    if (array := self._array(weights)) is not None:
                        weights = self._rescue(partial(on_host, array), lost)
                    self._do_without(lost)
                except BaseException:
                    formation.forget()
                    raise

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
            formation = self.opened()
            if formation.encoding is None:
                raise InvalidArgumentError("there are no weights to change; solve() gives them")
            try:
                change = self._change(edge_ids, weights, formation.encoding.dtype)
            except DeviceLostError as lost:  # of what the caller has there, nothing is changed
                raise lost.error from lost
            try:
                forest = formation.update(change, profile=profile)
                forest = self._proved(forest, formation) if verify else forest
                return self._handed_over(forest, profile=profile, keep=keep_on_device)
            except DeviceLostError as lost:
                present = self._rescue(formation.present_weights, lost)
                present[change.ids] = change.converted(present.dtype)
                self._do_without(lost)
                return self.solve(
                    present, profile=profile, keep_on_device=keep_on_device, verify=verify
                )

    def steps(self, *, keep_on_device: bool, verify: bool = False) -> Steps:
        """Return how weights are solved while the next ones are on their way."""
        queues: list[tuple[Formation, list[Any]]] = []

        def bring(weights: Any) -> Carried:
            while True:
                formation = self._settled()
                try:
                    if not queues or queues[-1][0] is not formation:
                        queues[:] = [(formation, formation.new_queues())]
                    given = self._for(formation, weights)
                    brought = formation.bring(given, queues[-1][1])
                    return Carried(formation=formation, brought=brought)
                except DeviceLostError as lost:
                    if self._is_current(formation):
                        return self._kept(formation, weights, lost)
                except Exception:
                    if self._is_current(formation):
                        raise

        def solve(carried: Carried) -> Any:
            with self._lock:
                return self._solve_carried(carried, keep_on_device=keep_on_device, verify=verify)

        def put_back(carried: Carried) -> None:
            if carried.brought is not None:
                carried.formation.let_go(carried.brought)

        return Steps(give=bring, solve=solve, put_back=put_back, forget=self._forget)

    def _settled(self) -> Formation:
        """Return who works, once it is clear who that is."""
        if self._formation is None:
            with self._lock:
                return self.opened()
        return self._formation

    def _is_current(self, formation: Formation) -> bool:
        """Return whether nobody else works by now."""
        with self._lock:
            return formation is self._formation

    def _kept(self, formation: Formation, weights: Any, lost: DeviceLostError) -> Carried:
        """Return weights that a device failed to take, on the host."""
        array = self._array(weights)
        values = np.array(weights) if array is None else self._rescue(partial(on_host, array), None)
        return Carried(formation=formation, brought=None, weights=values, lost=lost)

    def _solve_carried(
        self, carried: Carried, *, keep_on_device: bool, verify: bool
    ) -> DeviceForest | Forest:
        """Solve under weights that have been brought, unless a device has failed since."""
        formation, brought, lost = carried.formation, carried.brought, carried.lost
        current = self.opened() is formation
        wanted = {"profile": False, "keep_on_device": keep_on_device, "verify": verify}
        if brought is None:
            assert lost is not None
            if current:
                self._do_without(lost)
            return self.solve(carried.weights, **wanted)
        try:
            if current:
                forest = formation.solve_brought(brought)
                forest = self._proved(forest, formation) if verify else forest
                return self._handed_over(forest, profile=False, keep=keep_on_device)
            weights = self._rescue(partial(brought.rescued, formation.needs), None)
        except DeviceLostError as error:
            weights = self._rescue(partial(brought.rescued, formation.needs), error)
            self._do_without(error)
        finally:
            formation.let_go(brought)
        return self.solve(weights, **wanted)

    def _forget(self) -> None:
        with self._lock:
            if self._formation is not None:
                self._formation.forget()

    def _proved(self, forest: DeviceForest, formation: Formation) -> DeviceForest:
        """Return a forest of the present weights, proved by its device if that has all of them."""
        if isinstance(formation, Alone):
            with failures_of(self.device), self.device.lock:
                return checked(forest, Launcher(self.device, self.device.queue))
        weights, ids = formation.present_weights(), self._edges.edge_ids
        whole = self._edges.replace(weights=weights if ids is None else weights[ids])
        return checked_on_host(forest, whole, "no device has all weights")

    def _handed_over(
        self, forest: DeviceForest, *, profile: bool, keep: bool
    ) -> DeviceForest | Forest:
        """Return a forest as it is wanted; reading it is part of the round."""
        if profile:
            times = {**forest.stats.get("times", {}), "prepare": self.prepare_ms}
            forest = forest.with_stats({**forest.stats, "times": times})
        if keep:
            return forest
        with failures_of(self.device):
            return forest.to_host()

    # ------------------------------------------------------------------- what callers give

    def _array(self, values: Any) -> DeviceArray | None:
        """Return what one of the devices has, None for what is on the host."""
        return device_array(values, self._every)

    def _for(self, formation: Formation, weights: Any) -> Any:
        """Return weights as they are, unless they are on a device that has no part in it."""
        array = self._array(weights)
        if array is None or any(array.device is device for device, _ in formation.needs):
            return weights
        return on_host(array)

    def _change(self, edge_ids: Any, weights: Any, dtype: np.dtype[Any]) -> HostChange:
        """Return a change on the host, or raise if it is none of present weights of a dtype."""
        ids, values = self._array(edge_ids), self._array(weights)
        if ids is not None:
            check_ids_dtype(ids)
            edge_ids = on_host(ids.view(np.uint32))
        if values is not None:
            check_present_dtype(values, dtype)
            weights = on_host(values)
        change = HostChange.of(edge_ids, weights, self._edges.n_input)
        change.converted(dtype)  # or raise, before anything is done
        return change

    def _rescue(self, read: Callable[[], Array], lost: DeviceLostError | None) -> Array:
        """Read weights from devices one of which failed, or raise if it does not give them back."""
        try:
            return read()
        except DeviceLostError as error:
            if lost is not None:
                self._do_without(lost)
            raise UnsupportedDeviceError(
                f"{lost or error}; the round's weights were lost with it: they must be given again"
            ) from error
