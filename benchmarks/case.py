"""A case: several ways of doing the same work, each verified, then timed by turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np

from benchmarks.workspace import Workspace
from clmst.bench.harness import Contestant, Harness, Status, Times, first_line
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray

# A call shorter than this is timed in batches that last about twice as long.
_SHORT_CALL = 1e-3
_BATCH_SECONDS = 2e-3
_MOST_CALLS = 64
# How many calls are timed together follows from the least of so many trials, if calls are short.
_TRIALS = 3
_TRIED_AGAIN = 1e-2
# A call longer than this is timed fewer times: whole seconds need no nine repetitions.
_LONG_CALL = 0.5
_FEW_REPETITIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of a method, after compilation and allocation."""

    enqueue: Callable[[], object]  # does the work once, or enqueues it on the device's queue
    results: Callable[[], Sequence[Array]]  # waits; those of the last call, on the host


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way of doing the work of a case."""

    name: str
    prepare: Callable[[], Work]  # if it raises, the method is left out of the case
    traffic: int | None = None  # bytes that it moves to and from memory
    expected: Sequence[Array] | None = None  # where results differ in form from those of the case


def on_device(
    name: str, make: Callable[[], Callable[[], object]], *outputs: DeviceArray, traffic: int
) -> Method:
    """Return a method that leaves its results in outputs; `make` returns what enqueues it."""

    def prepare() -> Work:
        return Work(enqueue=make(), results=lambda: [out.to_host() for out in outputs])

    return Method(name=name, prepare=prepare, traffic=traffic)


def returning(
    name: str,
    make: Callable[[], Callable[[], Sequence[Any]]],
    *,
    traffic: int | None = None,
    results: Callable[[list[Any]], Sequence[Array]] = lambda found: found,
    expected: Sequence[Array] | None = None,
) -> Method:
    """Return a method whose calls return what `results` makes arrays of the host of."""

    def prepare() -> Work:
        call, found = make(), list[Any]()

        def enqueue() -> None:
            found[:] = call()

        return Work(enqueue=enqueue, results=lambda: results(found))

    return Method(name=name, prepare=prepare, traffic=traffic, expected=expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Some work, its right results by NumPy, and its methods; clmst's own is the first."""

    name: str
    size: int  # elements
    expected: Sequence[Array]
    methods: Sequence[Method]
    outputs: Sequence[DeviceArray] = ()  # overwritten before each method is verified


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The result of one contestant in one case."""

    case: str
    contestant: str
    size: int
    status: Status  # only what is "ok" was timed
    remark: str = ""  # what was wrong, or why it failed
    seconds: list[float] = field(default_factory=list)  # of a call, one entry a repetition
    calls: int = 1  # of a repetition, whose mean an entry is
    traffic: int | None = None
    # Of a device copy, reading and writing both counted, by turns with the contestants.
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
        """The fraction of its time that its traffic would take at the bandwidth of a copy."""
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


class CopyLimit:
    """The device's own copy of a buffer of some bytes: the yardstick of memory traffic."""

    def __init__(self, space: Workspace, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self._queue = space.device.queue
        self._source = space.empty(n_bytes, np.uint8)
        self._target = space.empty(n_bytes, np.uint8)
        space.overwrite([self._source, self._target])

    def contestant(self, space: Workspace) -> Contestant[None]:
        """Return the contestant that copies a buffer."""
        return Contestant(name="copy", call=self._enqueue, wait=space.finish)

    def _enqueue(self) -> None:
        import pyopencl as cl

        copy: Any = cl.enqueue_copy  # whose stub wants one kind of memory
        copy(self._queue, self._target.memory, self._source.memory, byte_count=self.n_bytes)


def batch_of(seconds: float) -> int:
    """Return how many calls of so many seconds are timed together."""
    if seconds >= _SHORT_CALL:
        return 1
    return min(math.ceil(_BATCH_SECONDS / max(seconds, 1e-9)), _MOST_CALLS)


def run_case(space: Workspace, case: Case, limit: CopyLimit, repetitions: int) -> list[Outcome]:
    """Verify all methods of a case, then time those that were right, by turns."""
    harness = Harness(repetitions=repetitions, settle=space.finish, goes_on=True)
    strict = replace(harness, goes_on=False)
    every = [_admit(harness, space, case, method) for method in case.methods]
    wanted = [_repetitions(harness, times) for times in every]
    copies: Times[None] = Times(contestant=limit.contestant(space))
    copies.calls = batch_of(strict.clocked(copies)[0])
    for turn in range(repetitions):
        strict.time(copies)
        due = [times for times, most in zip(every, wanted, strict=True) if turn < most]
        harness.take_turn(due, turn)
    return [
        Outcome(
            case=case.name, contestant=method.name, size=case.size, status=times.status,
            remark=times.remark, seconds=times.seconds, calls=times.calls, traffic=method.traffic,
            copy_seconds_per_byte=copies.median / (2 * limit.n_bytes),
            ours=method.name.startswith("clmst"),
        )
        for method, times in zip(case.methods, every, strict=True)
    ]  # fmt: skip


def _admit(harness: Harness, space: Workspace, case: Case, method: Method) -> Times[object]:
    """Prepare and verify a method; it is not timed unless right."""
    try:
        space.overwrite(case.outputs)
        work = method.prepare()
    except Exception as error:
        # An error of one method must not stop the others; it is in the report.
        failed: Times[object] = Times(contestant=Contestant(name=method.name, call=space.finish))
        failed.drop_out("failed", first_line(error))
        return failed
    expected = case.expected if method.expected is None else method.expected
    return harness.admit(Contestant(
        name=method.name, call=work.enqueue, wait=space.finish,
        difference=lambda _: same_values(expected, work.results()),
    ))  # fmt: skip


def _repetitions(harness: Harness, times: Times[object]) -> int:
    """Return how often a method is timed, and set how many calls are timed together."""
    for _ in range(_TRIALS):
        harness.time(times)
        if times.status != "ok":
            return 0
        if times.seconds[-1] > _TRIED_AGAIN:
            break
    seconds = min(times.seconds)
    times.seconds.clear()
    times.calls = batch_of(seconds)
    few = min(harness.repetitions, _FEW_REPETITIONS)
    return few if seconds > _LONG_CALL else harness.repetitions
