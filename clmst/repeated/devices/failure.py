"""Failures of devices, as opposed to callers' mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from clmst.core.errors import InvalidArgumentError, InvalidForestError, InvalidGraphError
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.handles import Queue


class DeviceFailure(Exception):  # noqa: N818 - the error is what it carries
    """A device has failed; the others may finish the round.

    Parameters
    ----------
    device : Device
    error : Exception
        The original error.
    """

    def __init__(self, device: Device, error: Exception) -> None:
        words = str(error).splitlines()
        reason = f"{type(error).__name__}: {words[0]}" if words else type(error).__name__
        super().__init__(f"{device.description} failed: {reason}")
        self.device, self.error = device, error


@contextmanager
def failures_of(device: Device, *, queues: Sequence[Queue] = ()) -> Iterator[None]:
    """Turn errors inside the ``with`` into failures of a device.

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
