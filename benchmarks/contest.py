"""A contest: several ways of doing the same work, each verified, then timed by turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np

from benchmarks.stand import Stand
from clmst.bench.measurement import first_line
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray

Status: TypeAlias = Literal["ok", "wrong", "failed"]

# A call shorter than this is timed in batches that last about twice as long.
_SHORT_CALL = 1e-3
_BATCH_SECONDS = 2e-3
_MOST_CALLS = 64
# A call longer than this is timed fewer times: whole seconds need no nine repetitions.
_LONG_CALL = 0.5
_FEW_REPETITIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a contestant does, once everything is compiled and its memory is at hand.

    Attributes
    ----------
    enqueue : callable
        Does the work once, or enqueues it on the device's queue.
    results : callable
        Waits, and returns on the host what the last call made.
    """

    enqueue: Callable[[], object]
    results: Callable[[], Sequence[Array]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One way of doing the work of a case.

    Attributes
    ----------
    name : str
    prepare : callable
        Returns the work; whatever it raises takes the contestant out of the contest.
    traffic : int, optional
        Bytes that the method moves to and from memory, as its description says.
    expected : sequence of arrays, optional
        The right results, where they differ in form from those of the case.
    """

    name: str
    prepare: Callable[[], Work]
    traffic: int | None = None
    expected: Sequence[Array] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Some work, its right results, and those who do it; clmst's own way is the first of them.

    Attributes
    ----------
    name : str
    size : int
        Elements.
    expected : sequence of arrays
        By NumPy.
    contestants : sequence of Contestant
    outputs : sequence of DeviceArray
        What contestants write, spoiled before each is verified.
    """

    name: str
    size: int
    expected: Sequence[Array]
    contestants: Sequence[Contestant]
    outputs: Sequence[DeviceArray] = ()


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of one contestant in one case.

    Attributes
    ----------
    case, contestant : str
    size : int
        Elements.
    status : {"ok", "wrong", "failed"}
        Only what is "ok" was timed.
    remark : str
        What was wrong, or why it failed.
    seconds : list of float
        Of a call, one entry a repetition.
    calls : int
        Calls a repetition, whose mean an entry is.
    traffic : int or None
        Bytes that the method moves.
    copy_seconds_per_byte : float
        Of a device copy, reading and writing both counted, measured by turns with the contestants.
    ours : bool
        Whether it is one of clmst's.
    """

    case: str
    contestant: str
    size: int
    status: Status
    remark: str = ""
    seconds: list[float] = field(default_factory=list)
    calls: int = 1
    traffic: int | None = None
    copy_seconds_per_byte: float = math.nan
    ours: bool = False

    @property
    def median(self) -> float:
        """Median time of a call in seconds."""
        return median(self.seconds)

    @property
    def bandwidth(self) -> float | None:
        """Bytes a second that the method moves."""
        return None if self.traffic is None else self.traffic / self.median

    @property
    def limit_share(self) -> float | None:
        """What part of its time its traffic would take at the bandwidth of a copy."""
        bandwidth = self.bandwidth
        return None if bandwidth is None else bandwidth * self.copy_seconds_per_byte


def same_values(expected: Sequence[Array], results: Sequence[Array]) -> str:
    """Return "" if results are the expected ones in every element, else the first difference."""
    if len(expected) != len(results):
        return f"{len(results)} results, not {len(expected)}"
    for which, (right, found) in enumerate(zip(expected, results, strict=True)):
        if right.shape != found.shape or right.dtype != found.dtype:
            shape, dtype = found.shape, found.dtype
            return f"result {which}: {shape} of {dtype}, not {right.shape} of {right.dtype}"
        if not np.array_equal(right, found):
            at = int(np.flatnonzero(right != found)[0])
            return f"result {which}: element {at} is {found[at]}, not {right[at]}"
    return ""


@dataclass(slots=True)
class _Entrant:
    """A contestant that may be timed."""

    outcome: Outcome
    enqueue: Callable[[], object]
    repetitions: int


class CopyLimit:
    """The device's own copy from buffer to buffer: the yardstick of memory traffic.

    Parameters
    ----------
    stand : Stand
    n_bytes : int
        Size of the buffer that is copied.
    """

    def __init__(self, stand: Stand, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self._queue = stand.device.queue
        self._source = stand.room(n_bytes, np.uint8)
        self._target = stand.room(n_bytes, np.uint8)
        stand.spoil([self._source, self._target])

    def enqueue(self) -> None:
        """Enqueue one copy."""
        import pyopencl as cl

        cl.enqueue_copy(
            self._queue, self._target.memory, self._source.memory, byte_count=self.n_bytes
        )


def seconds_of(stand: Stand, enqueue: Callable[[], object], calls: int = 1) -> float:
    """Return the seconds of one of `calls` calls, from the first enqueue to the finished queue."""
    stand.finish()
    start = perf_counter()
    for _ in range(calls):
        enqueue()
    stand.finish()
    return (perf_counter() - start) / calls


def batch_of(seconds: float) -> int:
    """Return how many calls of so many seconds are timed together."""
    if seconds >= _SHORT_CALL:
        return 1
    return min(math.ceil(_BATCH_SECONDS / max(seconds, 1e-9)), _MOST_CALLS)


def run_case(stand: Stand, case: Case, limit: CopyLimit, repetitions: int) -> list[Outcome]:
    """Verify all contestants of a case, then time those that were right, by turns.

    Returns
    -------
    list of Outcome
        In the order of the contestants.
    """
    entrants = [_admit(stand, case, contestant, repetitions) for contestant in case.contestants]
    copy_calls = batch_of(seconds_of(stand, limit.enqueue))
    copies = []
    for turn in range(repetitions):
        copies.append(seconds_of(stand, limit.enqueue, copy_calls))
        for entrant in entrants:
            if turn < entrant.repetitions:
                outcome = entrant.outcome
                outcome.seconds.append(seconds_of(stand, entrant.enqueue, outcome.calls))
    for entrant in entrants:
        entrant.outcome.copy_seconds_per_byte = median(copies) / (2 * limit.n_bytes)
    return [entrant.outcome for entrant in entrants]


def _admit(stand: Stand, case: Case, contestant: Contestant, repetitions: int) -> _Entrant:
    """Verify a contestant, and find out how it is to be timed; it is not timed unless right."""
    outcome = Outcome(
        case=case.name,
        contestant=contestant.name,
        size=case.size,
        status="failed",
        traffic=contestant.traffic,
        ours=contestant.name.startswith("clmst"),
    )
    try:
        stand.spoil(case.outputs)
        work = contestant.prepare()
        work.enqueue()
        expected = case.expected if contestant.expected is None else contestant.expected
        outcome.remark = same_values(expected, work.results())
        if outcome.remark:
            outcome.status = "wrong"
            return _Entrant(outcome, work.enqueue, 0)
        seconds = seconds_of(stand, work.enqueue)
    except Exception as error:
        # Whatever stops one contestant must not stop the others; it stands in the report.
        outcome.remark = first_line(error)
        return _Entrant(outcome, lambda: None, 0)
    outcome.status = "ok"
    outcome.calls = batch_of(seconds)
    few = min(repetitions, _FEW_REPETITIONS)
    return _Entrant(outcome, work.enqueue, few if seconds > _LONG_CALL else repetitions)
