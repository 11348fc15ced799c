"""Work on several devices at once, with a thread for each device.

The caller's own thread serves the first device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from clmst.core.errors import (
    ClmstError,
    DeviceError,
    DeviceLostError,
    InvalidArgumentError,
    InvalidForestError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.core.threads import TaskThread, ThreadTask, all_of, interrupts_first
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.handles import Queue

T = TypeVar("T")

# The types of exceptions that are raised again with the name of the device before their message.
# Their only argument is the message.
_OF_DEVICES = (DeviceError, DeviceLostError, OutOfDeviceMemoryError, UnsupportedDeviceError)


class DeviceFailure(Exception):  # noqa: N818 - it carries the error
    """One of several devices has failed with `error`. The other devices may continue."""

    def __init__(self, device: Device, error: Exception) -> None:
        super().__init__(f"{device.description} failed: {_reason(error)}")
        self.device, self.error = device, error


@contextmanager
def failures_of(device: Device, *, queues: Sequence[Queue] = ()) -> Iterator[None]:
    """Guard work on one of several devices: an error inside the ``with`` becomes a DeviceFailure.

    The DeviceFailure names `device`. Use this in place of a
    :class:`clmst.runtime.failures.Guard`. `queues` are passed to the Guard. Yields None. Some
    exceptions are not changed, because they do not depend on the device: errors about the caller's
    input, forests that were proved wrong, and interrupts.
    """
    try:
        with Guard(device, queues=queues):
            yield
    except (InvalidGraphError, InvalidArgumentError, InvalidForestError, DeviceFailure):
        raise
    except Exception as error:
        raise DeviceFailure(device, error) from error


@contextmanager
def named_failures(devices: Sequence[Device]) -> Iterator[None]:
    """Replace a DeviceFailure inside the ``with`` by an error that says which device failed.

    `devices` are the devices of the solve, in order. Yields None.
    """
    try:
        yield
    except DeviceFailure as failure:
        which = f"device {devices.index(failure.device)} of the solve, {failure.device.description}"
        raise _named(failure.error, which) from failure.error


def _named(error: Exception, which: str) -> Exception:
    if type(error) in _OF_DEVICES:
        return type(error)(f"{which}: {error}")
    if isinstance(error, ClmstError):
        return error
    return DeviceError(f"{which}, failed: {_reason(error)}")


def _reason(error: Exception) -> str:
    """Describe an error in one line."""
    words = str(error).splitlines()
    return f"{type(error).__name__}: {words[0]}" if words else type(error).__name__


def device_threads(devices: Sequence[Device]) -> list[TaskThread]:
    """Create a thread for each device except the first, which the calling thread serves itself."""
    return [TaskThread("clmst-device") for _ in devices[1:]]


def together(
    devices: Sequence[Device], work: Callable[[int], T], threads: Sequence[TaskThread] | None = None
) -> list[T]:
    """Call ``work(k)`` for each position k in `devices`, one thread per device, and wait for all.

    Returns the results in the order of the devices. `threads` are the threads to use; None means
    the usual threads of the devices. `work` must take the locks of its device itself. If several
    calls fail, a failure of a device is raised rather than an error about the input, because an
    input error occurs again if the work is repeated without the device.
    """

    def guarded(index: int) -> T:
        with failures_of(devices[index]):
            return work(index)

    return all_of(device_threads(devices) if threads is None else threads, guarded, _rank)


def as_tree(devices: Sequence[Device], leaf: Callable[[int], T], join: Callable[[T, T], T]) -> T:
    """Compute a result on each of several devices at once, and combine the results pairwise to one.

    ``leaf(k)`` computes the result of the device at position k. ``join`` combines the results of
    two neighbours on the device of the first. Two results are joined when both are ready, without
    waiting for further devices. The final result is on the first device. `leaf` and `join` must
    take the locks of their devices themselves.

    The call blocks until all is done, and raises errors as :func:`together` does. An error in
    `join` counts as a failure of the first of its two devices, unless `join` itself assigns it to
    another.
    """
    count = len(devices)

    def branch(index: int) -> T:
        with failures_of(devices[index]):
            found = leaf(index)
        step = 1
        while index % (2 * step) == 0 and index + step < count:
            other = branches[index + step].result()
            with failures_of(devices[index]):
                found = join(found, other)
            step *= 2
        return found

    branches = [ThreadTask(partial(branch, index)) for index in range(count)]

    def run(number: int) -> T:
        branches[-number].run()  # the last branch comes first, since a branch waits for later ones
        return branches[-number].result()

    return all_of(device_threads(devices), run, _rank)[0]


def _rank(error: BaseException) -> int:
    """Return the rank of an error among several, of which the one with the least rank is raised.

    Interrupts come first, then failures of devices, then all other errors.
    """
    return 2 * interrupts_first(error) - isinstance(error, DeviceFailure)
