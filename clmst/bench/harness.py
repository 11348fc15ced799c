"""The harness: contestants are verified, warmed up, and timed by turns.

All timing uses it: ``clmst bench`` and the experiments of ``benchmarks/``. A benchmark

1. verifies a contestant: its first call must give the right result, else it is never timed;
2. warms it up: some more calls that are not timed;
3. takes turns: each turn times one call of every contestant, so that a machine that slows down
   does so for all of them;
4. keeps the seconds of every repetition, of which tables show the median and the spread.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from clmst.core.errors import ClmstError

T = TypeVar("T")

Status: TypeAlias = Literal["ok", "wrong", "failed", "timeout"]
Verification: TypeAlias = Literal["first", "ends", "every"]
Order: TypeAlias = Literal["same", "alternate", "random"]

# Wall time, or the processor time of all threads: for CPU devices of a machine that others use.
CLOCKS: Mapping[str, Callable[[], float]] = {"wall": perf_counter, "cpu": process_time}


class WrongResultError(ClmstError):
    """A contestant gave a wrong result: a bug in clmst, in the driver, or in a peer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant(Generic[T]):
    """One way of doing the work of a benchmark."""

    name: str
    call: Callable[[], T]
    # Returns "" if the result of a call is right, else what is wrong. Not timed.
    difference: Callable[[T], str] | None = None
    # Called right before each timed call; not timed.
    before: Callable[[], object] | None = None
    # Waits for what a call has enqueued, if the call itself does not. Timed.
    wait: Callable[[], object] | None = None


@dataclass(slots=True, kw_only=True)
class Times(Generic[T]):
    """What has come of a contestant so far."""

    contestant: Contestant[T]
    status: Status = "ok"  # only what is "ok" is timed
    remark: str = ""  # what was wrong, or why it failed
    seconds: list[float] = field(default_factory=list)  # of a call, one entry a repetition
    calls: int = 1  # calls that are timed together; an entry is their mean

    @property
    def name(self) -> str:
        """The contestant's name."""
        return self.contestant.name

    @property
    def median(self) -> float:
        """Median seconds of a call."""
        return median(self.seconds)

    @property
    def milliseconds(self) -> list[float]:
        """The same as `seconds`, in milliseconds."""
        return [1e3 * each for each in self.seconds]

    def drop_out(self, status: Status, remark: str) -> None:
        """Stop timing the contestant."""
        self.status, self.remark, self.seconds = status, remark, []


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """How contestants are verified, warmed up and timed."""

    repetitions: int
    warm_ups: int = 0  # calls after the verified one that are not timed
    rehearsals: int = 0  # calls right before each timed one that are not timed
    # Which results are verified: that of the first call, that of the last repetition too, or all.
    verification: Verification = "first"
    order: Order = "same"  # of a turn: as given, reversed in every second turn, or shuffled
    clock: Callable[[], float] = perf_counter
    # Waits until the device is idle. Called before each timed call; not timed.
    settle: Callable[[], object] | None = None
    # Whether a contestant that is wrong or fails stands in the results and does not stop the
    # others. If not, the error is raised.
    goes_on: bool = False
    recover: Callable[[], object] | None = None  # called after a contestant has failed

    def run(self, contestants: Sequence[Contestant[T]]) -> list[Times[T]]:
        """Verify and warm up all contestants, then time them by turns.

        Raises WrongResultError if a result is wrong, unless the harness goes on.
        """
        every = [self.admit(one) for one in contestants]
        for turn in range(self.repetitions):
            self.take_turn(every, turn)
        return every

    def admit(self, contestant: Contestant[T]) -> Times[T]:
        """Verify a contestant and warm it up; nothing is timed yet."""
        times = Times(contestant=contestant)
        self._guarded(times, lambda: self._verify(times, _untimed(contestant)))
        self.warm_up([times], self.warm_ups)
        return times

    def warm_up(self, every: Sequence[Times[Any]], calls: int) -> None:
        """Call each contestant a number of times without timing it."""
        for times in every:
            for _ in range(calls):
                self._guarded(times, partial(_untimed, times.contestant))

    def take_turn(self, every: Sequence[Times[Any]], turn: int) -> None:
        """Time each contestant once, in the order of this turn."""
        for times in self._ordered(every, turn):
            self.time(times, is_last=turn == self.repetitions - 1)

    def time(self, times: Times[T], *, is_last: bool = False) -> None:
        """Time a contestant once, unless it has dropped out."""

        def step() -> None:
            seconds, result = self.clocked(times)
            times.seconds.append(seconds)
            if self.verification == "every" or (self.verification == "ends" and is_last):
                self._verify(times, result)

        self._guarded(times, step)

    def clocked(self, times: Times[T]) -> tuple[float, T]:
        """Return the seconds of a call, without keeping them, and what the last call returned."""
        contestant = times.contestant
        for _ in range(self.rehearsals):
            _untimed(contestant)
        if contestant.before is not None:
            contestant.before()
        if self.settle is not None:
            self.settle()
        clock, call, wait, more = self.clock, contestant.call, contestant.wait, times.calls - 1
        start = clock()
        for _ in range(more):
            call()
        result = call()
        if wait is not None:
            wait()
        return (clock() - start) / times.calls, result

    def _ordered(self, every: Sequence[Times[Any]], turn: int) -> Sequence[Times[Any]]:
        if self.order == "random":
            return random.Random(turn).sample(every, len(every))
        return every[::-1] if self.order == "alternate" and turn % 2 else every

    def _verify(self, times: Times[T], result: T) -> None:
        contestant = times.contestant
        difference = "" if contestant.difference is None else contestant.difference(result)
        if difference and not self.goes_on:
            raise WrongResultError(f"{contestant.name}: {difference}")
        if difference:
            times.drop_out("wrong", difference)

    def _guarded(self, times: Times[Any], step: Callable[[], object]) -> None:
        """Run a step of a contestant that is still in; what it raises may take it out."""
        if times.status != "ok":
            return
        try:
            step()
        except Exception as error:
            # A device may vanish, run out of memory, or miscompile a kernel: what stops one
            # contestant must not stop the others; it stands in the results.
            if not self.goes_on:
                raise
            times.drop_out("failed", first_line(error))
            if self.recover is not None:
                self.recover()


def _untimed(contestant: Contestant[T]) -> T:
    result = contestant.call()
    if contestant.wait is not None:
        contestant.wait()
    return result


def first_line(error: BaseException) -> str:
    """Return the first line of an error, cut to a table's width."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def median_seconds(call: Callable[[], object], repetitions: int, *, warm_ups: int = 1) -> float:
    """Return the median seconds of a call, after some calls (one at least) that are not timed."""
    harness = Harness(repetitions=repetitions, warm_ups=warm_ups - 1)
    return harness.run([Contestant(name="", call=call)])[0].median
