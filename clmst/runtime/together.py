"""Work on several devices at once: a thread for each, of which the caller's is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from clmst.core.errors import (
    ClmstError,
    DeviceError,
    DeviceLostError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.runtime.device import Device

T = TypeVar("T")

# Errors of one text, to which can be added whose they are.
_OF_DEVICES = (DeviceError, DeviceLostError, OutOfDeviceMemoryError, UnsupportedDeviceError)


def together(
    devices: Sequence[Device], work: Callable[[int], T], *, numbers: Sequence[int] | None = None
) -> list[T]:
    """Work for several devices at once; wait for all of them.

    Parameters
    ----------
    devices : sequence of Device
        One at least.
    work : callable
        Is given the position of a device; takes the device's lock itself.
    numbers : sequence of int, optional
        What errors call the devices; by default their positions.

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
        try:
            return work(index)
        except Exception as error:
            number = index if numbers is None else numbers[index]
            raise _of_device(error, number, devices[index]) from error

    if len(devices) == 1:
        return [named(0)]
    with ThreadPoolExecutor(len(devices) - 1, thread_name_prefix="clmst-device") as pool:
        return all_of(pool, len(devices), named)


def all_of(
    pool: ThreadPoolExecutor,
    count: int,
    work: Callable[[int], T],
    rank: Callable[[BaseException], int] = lambda error: int(isinstance(error, Exception)),
) -> list[T]:
    """Work for the numbers from 0 to `count` - 1 at once, for 0 in this thread; wait for all.

    Of several errors the first one of the least rank is raised: by default interrupts come first.
    """
    futures = [pool.submit(work, index) for index in range(1, count)]
    done, errors = list[T](), list[BaseException]()
    try:
        done.append(work(0))
    except BaseException as wrong:
        errors.append(wrong)
    while any(not future.done() for future in futures):
        try:
            wait(futures)
        except BaseException as wrong:  # Ctrl-C; no thread may still work when this returns
            errors.append(wrong)
    errors += [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise min(errors, key=rank)
    return [*done, *(future.result() for future in futures)]


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
