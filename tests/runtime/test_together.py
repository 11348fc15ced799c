"""Work on several devices at once: all of it ends, and an error says whose it is."""

from __future__ import annotations

import threading

import pytest

from clmst import Device
from clmst.core.errors import (
    DeviceError,
    DeviceLostError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
)
from clmst.runtime.together import together
from tests.repeated.device_sets import every_device_set


@every_device_set("three")
def test_all_work_at_once(devices: list[Device]) -> None:
    """In the order of the devices, the first in the caller's thread."""
    all_there = threading.Barrier(len(devices))

    def work(number: int) -> tuple[int, int]:
        all_there.wait(timeout=30)
        return number, threading.get_ident()

    found = together(devices, work)
    assert [number for number, _ in found] == [0, 1, 2]
    assert found[0][1] == threading.get_ident()
    assert len({thread for _, thread in found}) == 3


@every_device_set("three")
@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (DeviceLostError("gone"), DeviceLostError, "device 6 of the solve, .*: gone"),
        (OutOfDeviceMemoryError("full"), OutOfDeviceMemoryError, "device 6 of the solve, .*full"),
        (InvalidGraphError("bad"), InvalidGraphError, "^bad$"),
        (ZeroDivisionError("odd"), DeviceError, "device 6 .*, failed: ZeroDivisionError: odd"),
        (ZeroDivisionError(), DeviceError, "device 6 .*, failed: ZeroDivisionError$"),
    ],
)
def test_errors_say_whose_they_are(
    devices: list[Device], error: Exception, kind: type[Exception], message: str
) -> None:
    """The others end before the error is raised."""
    ended = []

    def work(number: int) -> None:
        if number == 1:
            raise error
        ended.append(number)

    with pytest.raises(kind, match=message):
        together(devices, work, numbers=[5, 6, 7])
    assert sorted(ended) == [0, 2]


@every_device_set("three")
def test_interrupts_come_first(devices: list[Device]) -> None:
    def work(number: int) -> None:
        if number == 0:
            raise KeyboardInterrupt
        raise DeviceError("broken")

    with pytest.raises(KeyboardInterrupt):
        together(devices, work)
