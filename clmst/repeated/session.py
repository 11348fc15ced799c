"""One session: solves of a prepared graph, one at a time, requested by any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.arguments import check_bools
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.core.threads import TaskThread, all_of
from clmst.repeated.weights import Changes, StagedWeights, closed_error
from clmst.runtime import forking
from clmst.runtime.device import Device
from clmst.runtime.handles import Queue


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


class Session:
    """Solves of a prepared graph by an executor, until it is closed.

    A solve holds the session's lock, and the device's lock from the first launch until the forest
    is on the device. Staging the next weights takes neither: the executor's `stage` may be called
    while another thread solves, all else one at a time.
    """

    def __init__(self, edges: Any, executor: Any, *, maximum: bool) -> None:
        self.edges, self.maximum = edges, maximum
        self.device: Device = executor.device
        self.prepare_ms = 0.0
        self._executor = executor
        self._lock = threading.RLock()
        forking.replace_locks(self, "_lock")

    @property
    def is_closed(self) -> bool:
        """Whether the session is closed."""
        return self._executor is None

    def opened(self) -> Any:
        """Return the executor, or raise if the session is closed."""
        executor = self._executor  # another thread may close the session
        if executor is None:
            raise closed_error()
        return executor

    def close(self) -> None:
        """Free all memory, after the present solve."""
        with self._lock:
            if self._executor is not None:
                self._executor.close()
            self._executor = None

    # ---------------------------------------------------------------------------- solves

    @lasting("solving a round")
    def solve(self, weights: Any, *, options: RoundOptions) -> DeviceForest | Forest:
        """Solve with weights by edge."""
        with self._lock:
            began, executor = time.perf_counter(), self.opened()
            try:
                staged = executor.stage(weights)
            except BaseException:
                executor.forget()
                raise
            forest = self._staged_round(staged, options, began=began)
        return self._handed_over(forest, options)

    @lasting("solving a round")
    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Change some of the present weights, and solve."""
        with self._lock:
            began, changes = time.perf_counter(), self._changes(edge_ids, weights)
            forest = self._change_round(changes, options, began=began)
        return self._handed_over(forest, options)

    def _handed_over(self, forest: DeviceForest, options: RoundOptions) -> DeviceForest | Forest:
        return forest if options.keep_on_device else forest.to_host()

    def _dtype(self) -> np.dtype[Any]:
        encoding = self.opened().encoding
        if encoding is None:
            raise InvalidArgumentError("there are no weights to change; solve() gives them")
        dtype: np.dtype[Any] = encoding.dtype
        return dtype

    def _changes(self, edge_ids: Any, weights: Any) -> Changes:
        dtype = self._dtype()  # raises if no round has weights
        changes: Changes = self.opened().changes(edge_ids, weights, dtype)
        return changes

    @lasting("solving a round")
    def _staged_round(
        self, staged: StagedWeights, options: RoundOptions, *, began: float = 0.0
    ) -> DeviceForest:
        """Solve with weights that are staged, and free their memory; a failure drops them."""
        try:
            forest = staged.owner.solve(staged, began=began, profile=options.profile)
            forest = self._finished(forest, options)
        except BaseException:
            self._drop(staged)
            raise
        staged.owner.release(staged)
        return forest

    def _change_round(
        self, changes: Changes, options: RoundOptions, *, began: float
    ) -> DeviceForest:
        forest = self.opened().update(changes, began=began, profile=options.profile)
        return self._finished(forest, options)

    def _drop(self, staged: StagedWeights) -> None:
        staged.owner.release(staged)
        staged.owner.forget()

    def _finished(self, forest: DeviceForest, options: RoundOptions) -> DeviceForest:
        """Return a forest, with proof and times if requested."""
        if options.verify:
            forest = self.opened().prove(forest)
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
                        one.owner.release(one)
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
        """Stage weights while another thread solves; `queues` gets the executor's queues."""
        executor = self.opened()
        if not queues:
            queues += executor.new_queues()
        staged: StagedWeights = executor.stage(weights, queues)
        return staged

    def _solve_staged(self, staged: StagedWeights, options: RoundOptions) -> DeviceForest | Forest:
        with self._lock:
            self.opened()
            forest = self._staged_round(staged, options)
        return self._handed_over(forest, options)

    def _forget(self) -> None:
        """Drop the present weights, as after any weights that cannot be solved."""
        with self._lock:
            if self._executor is not None:
                self._executor.forget()
