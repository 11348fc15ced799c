"""Work on several devices at once: a thread for each, of which the caller's is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from clmst.core.errors import (
    ClmstError,
    DeviceError,
    DeviceLostError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
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

    if len(devices) == 1:
        return [named(0)]
    with ThreadPoolExecutor(len(devices) - 1, thread_name_prefix="clmst-device") as pool:
        return all_of(pool, len(devices), named)


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
    count, futures = len(devices), dict[int, Future[T]]()

    def branch(index: int) -> T:
        with _named(devices, index):
            found = leaf(index)
        step = 1
        while index % (2 * step) == 0 and index + step < count:
            other = futures[index + step].result()
            with _named(devices, index):
                found = join(found, other)
            step *= 2
        return found

    if count == 1:
        return branch(0)
    with ThreadPoolExecutor(count - 1, thread_name_prefix="clmst-device") as pool:
        for index in range(count - 1, 0, -1):  # each waits for later ones only
            futures[index] = pool.submit(branch, index)
        return _finished(lambda: branch(0), [futures[k] for k in range(1, count)], _last)[0]


def _last(error: BaseException) -> int:
    """Return the rank by which interrupts come before errors."""
    return int(isinstance(error, Exception))


def all_of(
    pool: ThreadPoolExecutor,
    count: int,
    work: Callable[[int], T],
    rank: Callable[[BaseException], int] = _last,
) -> list[T]:
    """Work for the numbers from 0 to `count` - 1 at once, for 0 in this thread; wait for all.

    Of several errors the first one of the least rank is raised: by default interrupts come first.
    """
    futures = [pool.submit(work, index) for index in range(1, count)]
    return _finished(lambda: work(0), futures, rank)


def _finished(
    own: Callable[[], T], futures: Sequence[Future[T]], rank: Callable[[BaseException], int]
) -> list[T]:
    """Work in this thread, and wait for others."""
    done, errors = list[T](), list[BaseException]()
    try:
        done.append(own())
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
