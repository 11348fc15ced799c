"""The harness, which verifies contestants, warms them up, and times them in turns.

A contestant is a function to time, such as a solve by one algorithm. All timing uses the harness:
``clmst bench`` and the experiments of ``benchmarks/``. A benchmark has these steps:

1. Each contestant is verified. Its first call must give the right result, else it is never timed.
2. Each contestant is warmed up with some more calls that are not timed.
3. All contestants are timed in turns. A turn times one call of every contestant, so that all are
   affected alike if the machine slows down.
4. The seconds of every repetition are kept. Tables show their median and spread.
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

# The clocks by which calls can be timed: wall time, or the processor time of all threads, which
# suits CPU devices of a shared machine.
CLOCKS: Mapping[str, Callable[[], float]] = {"wall": perf_counter, "cpu": process_time}


class WrongResultError(ClmstError):
    """A compared algorithm or program gave a wrong result.

    The bug may be in clmst, in the driver, or in an outside program.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant(Generic[T]):
    """A function to time in a benchmark, with functions that prepare calls and verify results."""

    name: str
    call: Callable[[], T]
    # A function that returns "" if the result of a call is right, else a text about the error. Its
    # time does not count.
    difference: Callable[[T], str] | None = None
    # A function that is called right before each timed call. Its time does not count.
    before: Callable[[], object] | None = None
    # A function that waits for the work that a call has enqueued, if the call itself does not wait.
    # Its time counts.
    wait: Callable[[], object] | None = None


@dataclass(slots=True, kw_only=True)
class Times(Generic[T]):
    """The times of a contestant so far, or the reason why it has none."""

    contestant: Contestant[T]
    status: Status = "ok"  # only a contestant that is "ok" is timed
    remark: str = ""  # the error, if the status is not "ok"
    seconds: list[float] = field(default_factory=list)  # seconds per call of each repetition
    calls: int = 1  # number of calls that are timed together; an entry is their mean

    @property
    def name(self) -> str:
        """The name of the contestant."""
        return self.contestant.name

    @property
    def median(self) -> float:
        """Median of the times so far, in seconds."""
        return median(self.seconds)

    @property
    def milliseconds(self) -> list[float]:
        """The time of each repetition, in milliseconds."""
        return [1e3 * each for each in self.seconds]

    def drop_out(self, status: Status, remark: str) -> None:
        """Stop timing the contestant, and drop its times so far.

        `status` and `remark` say why.
        """
        self.status, self.remark, self.seconds = status, remark, []


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """Verifies the results of several functions (contestants), and times their calls in turns."""

    repetitions: int
    warm_ups: int = 0  # untimed calls after the verified call
    rehearsals: int = 0  # untimed calls right before each timed call
    # Which results are verified. "first": the result of the first call, which is not timed. "ends":
    # also the result of the last timed call. "every": the results of all calls.
    verification: Verification = "first"
    order: Order = "same"  # of contestants: as given, reversed in every second turn, or shuffled
    clock: Callable[[], float] = perf_counter
    # A function that waits until the device is idle. It is called before each timed call, and its
    # time does not count.
    settle: Callable[[], object] | None = None
    # If True, a contestant that is wrong or fails drops out, its status says why, and all further
    # contestants go on. If False, the error is raised.
    goes_on: bool = False
    recover: Callable[[], object] | None = None  # called after a contestant has failed

    def run(self, contestants: Sequence[Contestant[T]]) -> list[Times[T]]:
        """Verify and warm up all contestants, then time them in turns, and return their times.

        Contestants are the functions that are compared.

        Raises :class:`WrongResultError` if a result is wrong, unless `goes_on` is set.
        """
        every = [self.admit(one) for one in contestants]
        for turn in range(self.repetitions):
            self.take_turn(every, turn)
        return every

    def admit(self, contestant: Contestant[T]) -> Times[T]:
        """Verify a contestant, and warm it up by calls that are not timed.

        Returns the contestant with an empty list of times.
        """
        times = Times(contestant=contestant)
        self._guarded(times, lambda: self._verify(times, _untimed(contestant)))
        self.warm_up([times], self.warm_ups)
        return times

    def warm_up(self, every: Sequence[Times[Any]], calls: int) -> None:
        """Call each contestant `calls` times without timing the calls.

        `every` has the contestants, which are the compared functions, with their times so far.
        """
        for times in every:
            for _ in range(calls):
                self._guarded(times, partial(_untimed, times.contestant))

    def take_turn(self, every: Sequence[Times[Any]], turn: int) -> None:
        """Time each contestant (a compared function) once, and add the times to `every`.

        `turn` is the number of the turn, on which the order of the contestants may depend.
        """
        for times in self._ordered(every, turn):
            self.time(times, is_last=turn == self.repetitions - 1)

    def time(self, times: Times[T], *, is_last: bool = False) -> None:
        """Time a contestant once and keep the time, unless the contestant has dropped out.

        `is_last` is True for the last timed call, whose result may have to be verified.
        """

        def step() -> None:
            seconds, result = self.clocked(times)
            times.seconds.append(seconds)
            if self.verification == "every" or (self.verification == "ends" and is_last):
                self._verify(times, result)

        self._guarded(times, step)

    def clocked(self, times: Times[T]) -> tuple[float, T]:
        """Time a contestant once without storing the time in `times`.

        `times` has the contestant, a compared function, and its times so far. Returns a pair: the
        seconds per call, and the result of the last call.
        """
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
        """Run a step of a contestant, such as a timed call, unless the contestant has dropped out.

        `times` has the contestant and its times. If the step raises an error and `goes_on` is set,
        the contestant drops out. If `goes_on` is not set, the error is raised again.
        """
        if times.status != "ok":
            return
        try:
            step()
        except Exception as error:
            # A device may vanish, run out of memory, or miscompile a kernel. If `goes_on` is set,
            # an error of one contestant does not stop the others. The results keep the error.
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
    """Return the type of an error and the first line of its message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def median_seconds(call: Callable[[], object], repetitions: int, *, warm_ups: int = 1) -> float:
    """Time a call `repetitions` times, and return the median of the seconds.

    Before the timed calls there are `warm_ups` untimed ones, at least one.
    """
    harness = Harness(repetitions=repetitions, warm_ups=warm_ups - 1)
    return harness.run([Contestant(name="", call=call)])[0].median
