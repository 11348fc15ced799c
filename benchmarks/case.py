"""Cases for benchmarks of primitives: several methods of doing the same work on arrays.

The results of all methods are verified. Then the methods are timed in turns.
"""

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

# Calls shorter than _SHORT_CALL seconds are timed in batches, which last about _BATCH_SECONDS and
# have at most _MOST_CALLS calls.
_SHORT_CALL = 1e-3
_BATCH_SECONDS = 2e-3
_MOST_CALLS = 64
# The number of calls in a batch is computed from the minimum time of _TRIALS calls. A first call
# that takes longer than _TRIED_AGAIN seconds is not repeated.
_TRIALS = 3
_TRIED_AGAIN = 1e-2
# A call longer than this (in seconds) is timed fewer times.
_LONG_CALL = 0.5
_FEW_REPETITIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A method that is ready to be timed: programs are compiled, and arrays are allocated."""

    enqueue: Callable[[], object]  # does the work once, or enqueues it
    results: Callable[[], Sequence[Array]]  # waits, and returns results of the last call


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way of doing the work of a benchmark case, such as clmst's or NumPy's."""

    name: str
    prepare: Callable[[], Work]  # if it raises, the method is left out of the case
    traffic: int | None = None  # bytes that one call reads and writes, None if unknown
    expected: Sequence[Array] | None = None  # right results, if not in the form of the case's


def on_device(
    name: str, make: Callable[[], Callable[[], object]], *outputs: DeviceArray, traffic: int
) -> Method:
    """Return a method whose timed function leaves its results in arrays on the device.

    `name` is the name of the method. `make` is called once, and returns the function to time, which
    enqueues the work. Its results are in the arrays `outputs`. `traffic` is the number of bytes
    that the work reads and writes.
    """

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
    """Return a method whose timed function returns its results as values.

    (A method of :func:`on_device` writes its results to arrays that were allocated before.) `name`
    is the name of the method. `make` is called once, and returns the function to time. `traffic` is
    the number of bytes that the timed function reads and writes, or None if that is unknown.
    `results` converts the returned values to arrays on the host. `expected` has the right results
    of this method, if they have another form than the right results of the case.
    """

    def prepare() -> Work:
        call, found = make(), list[Any]()

        def enqueue() -> None:
            found[:] = call()

        return Work(enqueue=enqueue, results=lambda: results(found))

    return Method(name=name, prepare=prepare, traffic=traffic, expected=expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Some work on arrays, its expected results, and the methods of doing it that are compared."""

    name: str
    size: int  # number of elements
    expected: Sequence[Array]
    methods: Sequence[Method]
    outputs: Sequence[DeviceArray] = ()  # overwritten before each method is verified


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The times of one compared program in one benchmark case, or the reason for none."""

    case: str
    contestant: str
    size: int
    status: Status  # there are times only if the status is "ok"
    remark: str = ""  # the error, if the status is not "ok"
    seconds: list[float] = field(default_factory=list)  # one per repetition: mean time of its calls
    calls: int = 1  # number of calls in a repetition
    traffic: int | None = None
    # Seconds per byte of a plain copy on the device, which was timed in turns with the contestants.
    # Bytes that the copy reads and bytes that it writes both count.
    copy_seconds_per_byte: float = math.nan
    ours: bool = False

    @property
    def median(self) -> float:
        """Median time of a call in seconds."""
        return median(self.seconds)

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second that the compared program reads and writes, or None if unknown."""
        return None if self.traffic is None else self.traffic / self.median

    @property
    def limit_share(self) -> float | None:
        """The share of a plain copy's bandwidth that the compared program reaches, or None.

        It is the time in which a copy would move the same bytes, divided by the program's time. It
        is None if the number of bytes is unknown.
        """
        bandwidth = self.bandwidth
        return None if bandwidth is None else bandwidth * self.copy_seconds_per_byte


def same_values(expected: Sequence[Array], results: Sequence[Array]) -> str:
    """Compare results with expected results. Return the first difference as text, or ""."""
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
    """A plain copy of a buffer by the OpenCL driver, whose bandwidth is the limit for all methods.

    `n_bytes` is the size of the buffer.
    """

    def __init__(self, space: Workspace, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self._queue = space.device.queue
        self._source = space.empty(n_bytes, np.uint8)
        self._target = space.empty(n_bytes, np.uint8)
        space.overwrite([self._source, self._target])

    def contestant(self, space: Workspace) -> Contestant[None]:
        """Return the copy as a contestant, so that it is timed in turns with the methods."""
        return Contestant(name="copy", call=self._enqueue, wait=space.finish)

    def _enqueue(self) -> None:
        import pyopencl as cl

        copy: Any = cl.enqueue_copy  # its stub allows only one kind of memory
        copy(self._queue, self._target.memory, self._source.memory, byte_count=self.n_bytes)


def batch_of(seconds: float) -> int:
    """Return the number of calls that are timed together, if one call takes `seconds`."""
    if seconds >= _SHORT_CALL:
        return 1
    return min(math.ceil(_BATCH_SECONDS / max(seconds, 1e-9)), _MOST_CALLS)


def run_case(space: Workspace, case: Case, limit: CopyLimit, repetitions: int) -> list[Outcome]:
    """Verify all methods of a benchmark case, then time those with right results in turns.

    `limit` is a plain copy, whose bandwidth is the limit for all methods. It is timed in the same
    turns. Each method is timed `repetitions` times, or a few times if a call takes long. The
    outcomes are in the order of the methods.
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
            case=case.name, contestant=method.name, size=case.size, status=times.status,
            remark=times.remark, seconds=times.seconds, calls=times.calls, traffic=method.traffic,
            copy_seconds_per_byte=copies.median / (2 * limit.n_bytes),
            ours=method.name.startswith("clmst"),
        )
        for method, times in zip(case.methods, every, strict=True)
    ]  # fmt: skip


def _admit(harness: Harness, space: Workspace, case: Case, method: Method) -> Times[object]:
    """Prepare and verify a method. It is not timed unless its results are right."""
    try:
        space.overwrite(case.outputs)
        work = method.prepare()
    except Exception as error:
        # An error of one method must not stop the others. The report shows the error.
        failed: Times[object] = Times(contestant=Contestant(name=method.name, call=space.finish))
        failed.drop_out("failed", first_line(error))
        return failed
    expected = case.expected if method.expected is None else method.expected
    return harness.admit(Contestant(
        name=method.name, call=work.enqueue, wait=space.finish,
        difference=lambda _: same_values(expected, work.results()),
    ))  # fmt: skip


def _repetitions(harness: Harness, times: Times[object]) -> int:
    """Choose how many calls of a method are timed together, and return how often to time them.

    The method, `times`, is called a few times to find out how long a call takes. The number of
    calls in a batch is stored in `times.calls`. Returns 0 if the method fails.
    """
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
