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
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.core.threads import TaskThread, ThreadTask, all_of
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard

T = TypeVar("T")

_DEVICE = "_clmst_device"  # of an error: whose it is

# Errors of one text, to which can be added whose they are.
_OF_DEVICES = (DeviceError, DeviceLostError, OutOfDeviceMemoryError, UnsupportedDeviceError)


def together(devices: Sequence[Device], work: Callable[[int], T]) -> list[T]:
    """Work for several devices at once; wait for all of them.

    Parameters
    ----------
    devices : sequence of Device
        One at least.
    work : callable
        Is given the position of a device; takes the device's lock itself.

    Returns
    -------
    list
        What `work` returned, in the order of the devices.

    Raises
    ------
    ClmstError
        What the first device in order that failed raised, with which one it is.
    """

    def named(index: int) -> T:
        with _named(devices, index):
            return work(index)

    return all_of([TaskThread("clmst-device") for _ in devices[1:]], named)


def as_tree(devices: Sequence[Device], leaf: Callable[[int], T], join: Callable[[T, T], T]) -> T:
    """Work for several devices at once, and join what neighbours found until one thing is left.

    Two are joined as soon as both are there, whatever the others do. Waits for all.

    Parameters
    ----------
    devices : sequence of Device
        One at least.
    leaf : callable
        Is given the position of a device; takes the device's lock itself.
    join : callable
        Is given what two neighbours found, each on the first of its devices; the result is on the
        first one's. Takes locks itself.

    Raises
    ------
    ClmstError
        As of :func:`together`.
    """
    count = len(devices)

    def branch(index: int) -> T:
        with _named(devices, index):
            found = leaf(index)
        step = 1
        while index % (2 * step) == 0 and index + step < count:
            other = branches[index + step].result()
            with _named(devices, index):
                found = join(found, other)
            step *= 2
        return found

    branches = [ThreadTask(partial(branch, index)) for index in range(count)]

    def run(number: int) -> T:
        branches[-number].run()  # the last first, since each waits for later ones only
        return branches[-number].result()

    return all_of([TaskThread("clmst-device") for _ in devices[1:]], run)[0]


@contextmanager
def blamed(device: Device) -> Iterator[None]:
    """Guard work that is one device's among several's: an error is of that device."""
    try:
        with Guard(device):
            yield
    except Exception as error:
        vars(error).setdefault(_DEVICE, device)
        raise


@contextmanager
def _named(devices: Sequence[Device], index: int) -> Iterator[None]:
    """Let errors say which device failed: the one that is blamed, else that of an index."""
    try:
        yield
    except Exception as error:
        failed = vars(error).get(_DEVICE, devices[index])
        numbers = [k for k, device in enumerate(devices) if device is failed]
        raise _of_device(error, (numbers or [index])[0], failed) from error


def _of_device(error: Exception, number: int, device: Device) -> Exception:
    """Return an error that says which of several devices it is of."""
    which = f"device {number} of the solve, {device.description}"
    if type(error) in _OF_DEVICES:
        return type(error)(f"{which}: {error}")
    if isinstance(error, ClmstError):
        return error
    words = str(error).splitlines()
    reason = f"{type(error).__name__}: {words[0]}" if words else type(error).__name__
    return DeviceError(f"{which}, failed: {reason}")
