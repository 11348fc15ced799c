"""Work on several devices at once: a thread for each, of which the caller's is one."""

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

# Errors of one text, to which can be added whose they are.
_OF_DEVICES = (DeviceError, DeviceLostError, OutOfDeviceMemoryError, UnsupportedDeviceError)


class DeviceFailure(Exception):  # noqa: N818 - the error is what it carries
    """A device of several has failed by an error of its own; the others may go on."""

    def __init__(self, device: Device, error: Exception) -> None:
        super().__init__(f"{device.description} failed: {_reason(error)}")
        self.device, self.error = device, error


@contextmanager
def failures_of(device: Device, *, queues: Sequence[Queue] = ()) -> Iterator[None]:
    """Guard work that is one device's among several's: an error is a failure of that device.

    Errors about the caller's input and interrupts stay as they are, and so do forests that were
    proved wrong. Used instead of a :class:`clmst.runtime.failures.Guard`, with its `queues`.
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
    """Turn failures into errors that say which of the devices failed."""
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
    """Return an error in one line."""
    words = str(error).splitlines()
    return f"{type(error).__name__}: {words[0]}" if words else type(error).__name__


def device_threads(devices: Sequence[Device]) -> list[TaskThread]:
    """Return a thread for each device but the first, whose thread is the caller's."""
    return [TaskThread("clmst-device") for _ in devices[1:]]


def together(
    devices: Sequence[Device], work: Callable[[int], T], threads: Sequence[TaskThread] | None = None
) -> list[T]:
    """Return what `work`, which takes locks itself, returns for each device's position; wait.

    The first failure of a device is raised before errors about the input, which work without that
    device finds again.
    """

    def guarded(index: int) -> T:
        with failures_of(devices[index]):
            return work(index)

    return all_of(device_threads(devices) if threads is None else threads, guarded, _rank)


def as_tree(devices: Sequence[Device], leaf: Callable[[int], T], join: Callable[[T, T], T]) -> T:
    """Work for several devices at once, and join what neighbours found until one thing is left.

    Two are joined as soon as both are there, whatever the others do: `leaf` is given the position
    of a device, `join` what two neighbours found, each on the first of its devices; the result is
    on the first one's. Both take locks themselves. It waits, and raises, as :func:`together` does;
    what fails in `join` is the first one's, unless it is caught there.
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
        branches[-number].run()  # the last first, since each waits for later ones only
        return branches[-number].result()

    return all_of(device_threads(devices), run, _rank)[0]


def _rank(error: BaseException) -> int:
    """Return an error's precedence: interrupts first, then failures of devices."""
    return 2 * interrupts_first(error) - isinstance(error, DeviceFailure)
