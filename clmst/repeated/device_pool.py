"""A device pool: the devices that work, and how a round goes on after a failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.errors import DeviceWarning, UnsupportedDeviceError, warn_of_fallback
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.repeated.session import RoundOptions, Session
from clmst.repeated.several_devices import SeveralDevices
from clmst.repeated.single_device import SingleDevice
from clmst.repeated.strategies import Choice
from clmst.repeated.weights import Changes, StagedWeights, device_array, stage
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_threads import DeviceFailure, failures_of
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


class DevicePool(Session):
    """A session on several devices, as long as one of them works.

    It is of the edges, two devices or more, and arguments of :class:`clmst.RepeatedSolver`; solves
    on several devices have no warm starts.
    """

    def __init__(
        self, edges: Graph, devices: Sequence[Device], *, strategy: str, maximum: bool,
        **of_solves: Any,
    ) -> None:  # fmt: skip
        self.edges, self.maximum = edges, maximum
        self._every, self._devices = list(devices), list(devices)
        self._strategy, self._of_solves = strategy, of_solves
        try:
            executor = self._new_executor()
        except DeviceFailure as failure:  # before the first round
            raise failure.error from failure
        super().__init__(edges, executor, maximum=maximum)

    # -------------------------------------------------------------------------- the pool

    def _new_executor(self) -> SingleDevice | SeveralDevices:
        algorithm, options = self._of_solves["algorithm"], self._of_solves["options"]
        choice = Choice(self.edges, self._devices, algorithm=algorithm, options=options)
        with failures_of(self._devices[choice.quickest]):
            plan = choice.plan(self._strategy if len(self._devices) > 1 else "alone")
        if len(plan.assignments) > 1:
            return SeveralDevices(plan, maximum=self.maximum)
        return SingleDevice(
            self.edges, plan.device, maximum=self.maximum, guard=failures_of, **self._of_solves
        )

    def _do_without(self, failure: DeviceFailure) -> None:
        """Continue with the other devices and warn; raise if there is none."""
        failures = [failure]
        self.close()
        while self._executor is None:
            last = failures[-1]
            self._devices = [device for device in self._devices if device is not last.device]
            if not self._devices:
                end = f"{last}; it was the solver's last device, and one must work"
                self._ended = partial(UnsupportedDeviceError, end)
                raise self._ended() from last.error
            try:
                self._executor = self._new_executor()
            except DeviceFailure as another:
                failures.append(another)
        self.device = self._executor.device
        others = ", ".join(device.description for device in self._devices)
        for one in failures:
            warn_of_fallback(f"{one}; the solver goes on without it, on {others}", DeviceWarning)

    def _rescue(self, read: Callable[[], Array], failure: DeviceFailure | None) -> Array:
        """Read weights back from devices, one of which failed; raise if that is impossible."""
        try:
            return read()
        except DeviceFailure as error:
            if failure is not None:
                self._do_without(failure)
            raise UnsupportedDeviceError(
                f"{failure or error}; the round's weights were lost with it: "
                "they must be given again"
            ) from error

    # ---------------------------------------------------------------------------- solves

    def solve(self, weights: Any, *, options: RoundOptions) -> DeviceForest | Forest:
        """Solve with weights by edge; if a device fails, solve again without it."""
        with self._lock:
            while True:
                try:
                    return super().solve(weights, options=options)
                except DeviceFailure as failure:
                    if (array := device_array(weights, self._every)) is not None:
                        weights = self._rescue(partial(_on_host, array), failure)
                    self._do_without(failure)

    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Change some of the present weights and solve; if a device fails, again without it."""
        with self._lock:
            changes, executor = self._changes(edge_ids, weights), self.opened()
            try:
                forest = self._change_round(changes, options, began=time.perf_counter())
                return self._handed_over(forest, options)
            except DeviceFailure as failure:
                present = self._rescue(executor.present_weights, failure)
                present[_on_host(changes.ids)] = changes.converted(present.dtype)
                self._do_without(failure)
                return self.solve(present, options=options)

    def _handed_over(self, forest: DeviceForest, options: RoundOptions) -> DeviceForest | Forest:
        """Return a forest in the requested form; reading it is part of the round."""
        forest = forest.with_stats({"strategy": "alone", **forest.stats})
        with failures_of(self.device):
            return super()._handed_over(forest, options)

    def _changes(self, edge_ids: Any, weights: Any) -> Changes:
        """Copy changes to the host, or raise before the round begins."""
        dtype = self._dtype()
        changes = Changes.of(edge_ids, weights, self.edges, dtype=dtype, devices=self._every)
        if not changes.is_checked:
            try:
                ids, values = _on_host(changes.ids), _on_host(changes.values)
            except DeviceFailure as failure:  # no weight is changed
                raise failure.error from failure
            changes = Changes.of(ids, values, self.edges, dtype=dtype, devices=())
        changes.converted(dtype)
        return changes

    # -------------------------------------------------------------------------- prefetch

    def _stage(
        self, executor: Any, weights: Any, queues: list[Queue] | None = None
    ) -> StagedWeights:
        """Stage weights; through the host if they are on a device without a part."""
        array = device_array(weights, self._every)
        if array is not None and array.device not in executor.devices:
            weights = _on_host(array)
        return super()._stage(executor, weights, queues)

    def _prefetch(self, weights: Any, queues: list[Any]) -> StagedWeights:
        """Stage weights while another thread solves, on the devices that are left then."""
        while True:
            executor = self._executor
            if executor is None:  # once it is known which devices are left
                with self._lock:
                    executor = self.opened()
            try:
                return super()._prefetch(weights, queues)
            except DeviceFailure as failure:
                if self._is_current(executor):
                    return self._stage_on_host(executor, weights, failure)
            except Exception:
                if self._is_current(executor):
                    raise

    def _is_current(self, executor: Any) -> bool:
        with self._lock:
            return executor is self._executor

    def _stage_on_host(self, executor: Any, weights: Any, failure: DeviceFailure) -> StagedWeights:
        """Return weights that a device failed to take."""
        array = device_array(weights, self._every)
        read = partial(np.array, weights) if array is None else partial(_on_host, array)
        staged = stage(self._rescue(read, None), self.edges, (), keeps=False)
        staged.is_callers, staged.owner, staged.failure = False, executor, failure
        return staged

    def _solve_staged(self, staged: StagedWeights, options: RoundOptions) -> DeviceForest | Forest:
        """Solve with staged weights; stage them again if a device has failed since."""
        with self._lock:
            is_current, failure = self.opened() is staged.owner, staged.failure
            try:
                if is_current and failure is None:
                    forest = staged.owner.solve(staged, began=0.0, profile=False)
                    found = self._handed_over(self._finished(forest, options), options)
                    staged.owner.release(staged)
                    return found
            except DeviceFailure as error:
                failure = error
            except BaseException:
                self._drop(staged)
                raise
            try:
                failure = failure if is_current else None  # else the failure is known already
                weights = self._rescue(partial(_read_back, staged), failure)
            finally:
                staged.owner.release(staged)
            if failure is not None:
                self._do_without(failure)
            return self.solve(weights, options=options)


def _on_host(values: Array | DeviceArray) -> Array:
    """Return host arrays unchanged, and copies of device arrays; waits."""
    if isinstance(values, np.ndarray):
        return values
    with failures_of(values.device), values.device.lock:
        return values.to_host()


def _read_back(staged: StagedWeights) -> Array:
    """Return staged weights on the host, from where they still are; 0 for weights of no edge."""
    if staged.array is not None:
        return _on_host(staged.array)
    words = staged.words
    if staged.is_callers:  # the caller may have changed it since
        words = np.zeros_like(words)
        for part in staged.owner.parts:
            device, (first, last) = part.device, part.span
            with failures_of(device), device.lock:
                if first < last:
                    memory = staged.parts[part.number].memory
                    Launcher(device, device.queue).read(memory, words[first:last])
    return staged.encoding.decode(words)
