"""Devices that fail in the middle of their work, told from callers' mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clmst.core.errors import InvalidArgumentError, InvalidForestError, InvalidGraphError
from clmst.runtime.device import Device
from clmst.runtime.failures import settle


class DeviceLostError(Exception):
    """A device has failed; for whoever can do without it.

    Parameters
    ----------
    device : Device
    error : Exception
        What went wrong there.
    """

    def __init__(self, device: Device, error: Exception) -> None:
        super().__init__(f"{device.description} failed: {reason(error)}")
        self.device, self.error = device, error


@contextmanager
def failures_of(device: Device) -> Iterator[None]:
    """Let whatever goes wrong in here be a failure of a device.

    What is wrong with the caller's input is not, nor is what breaks a solve off; nor is a forest
    that was proved wrong, which the caller must get to know.
    """
    try:
        yield
    except (InvalidGraphError, InvalidArgumentError, InvalidForestError, DeviceLostError):
        raise
    except BaseException as error:
        told = settle(device, error)
        if not isinstance(told, Exception):
            raise
        raise DeviceLostError(device, told) from error


def reason(error: Exception) -> str:
    """Return what an error says, in one line."""
    words = str(error).splitlines()
    return f"{type(error).__name__}: {words[0]}" if words else type(error).__name__
