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
    """The work of a method, after compilation and allocation.

    Attributes
    ----------
    enqueue : callable
        Does the work once, or enqueues it on the device's queue.
    results : callable
        Waits, and returns the results of the last call on the host.
    """

    enqueue: Callable[[], object]
    results: Callable[[], Sequence[Array]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way of doing the work of a case.

    Attributes
    ----------
    name : str
    prepare : callable
        Returns the work; if it raises, the method is left out of the case.
    traffic : int, optional
        Bytes that the method moves to and from memory, as its description says.
    expected : sequence of arrays, optional
        The right results, where they differ in form from those of the case.
    """

    name: str
    prepare: Callable[[], Work]
    traffic: int | None = None
    expected: Sequence[Array] | None = None


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
    """Some work, its right results, and its methods; clmst's own is the first.

    Attributes
    ----------
    name : str
    size : int
        Elements.
    expected : sequence of arrays
        By NumPy.
    methods : sequence of Method
    outputs : sequence of DeviceArray
        The outputs of methods, overwritten before each method is verified.
    """

    name: str
    size: int
    expected: Sequence[Array]
    methods: Sequence[Method]
    outputs: Sequence[DeviceArray] = ()


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The result of one contestant in one case.

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
    """The device's own copy from buffer to buffer: the yardstick of memory traffic.

    Parameters
    ----------
    space : Workspace
    n_bytes : int
        Size of the buffer that is copied.
    """

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
    """Verify all methods of a case, then time those that were right, by turns.

    Returns
    -------
    list of Outcome
        In the order of the methods.
    """
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
            case=case.name,
            contestant=method.name,
            size=case.size,
            status=times.status,
            remark=times.remark,
            seconds=times.seconds,
            calls=times.calls,
            traffic=method.traffic,
            copy_seconds_per_byte=copies.median / (2 * limit.n_bytes),
            ours=method.name.startswith("clmst"),
        )
        for method, times in zip(case.methods, every, strict=True)
    ]


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
    return harness.admit(
        Contestant(
            name=method.name,
            call=work.enqueue,
            difference=lambda _: same_values(expected, work.results()),
            wait=space.finish,
        )
    )


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
