"""Work on several devices at once: all of it ends, and an error says whose it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from clmst import Device
from clmst.core.errors import (
    DeviceError,
    DeviceLostError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
)
from clmst.runtime.device_threads import as_tree, failures_of, named_failures, together
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


def in_tree(devices: list[Device], work: Callable[[int], Any]) -> Any:
    return as_tree(devices, work, lambda first, second: first)


@every_device_set("three")
@pytest.mark.parametrize("run", [together, in_tree])
@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize(
    "case",
    [
        (DeviceLostError("gone"), DeviceLostError, "device {} of the solve, .*: gone"),
        (OutOfDeviceMemoryError("full"), OutOfDeviceMemoryError, "device {} of the solve, .*full"),
        (InvalidGraphError("bad"), InvalidGraphError, "^bad$"),
        (ZeroDivisionError("odd"), DeviceError, "device {} .*, failed: ZeroDivisionError: odd"),
        (ZeroDivisionError(), DeviceError, "device {} .*, failed: ZeroDivisionError$"),
    ],
)
def test_errors_say_whose_they_are(
    devices: list[Device], run: Any, failing: int, case: tuple[Exception, Any, str]
) -> None:
    """The others end before the error is raised, and nobody waits for what never comes."""
    ended, (error, kind, message) = list[int](), case

    def work(number: int) -> int:
        if number == failing:
            raise error
        ended.append(number)
        return number

    with (
        pytest.raises(kind, match=message.format(failing)),
        named_failures(devices),
    ):
        run(devices, work)
    assert sorted(ended) == sorted({0, 1, 2} - {failing})


@every_device_set("three")
@pytest.mark.parametrize("run", [together, in_tree])
def test_which_error_comes_first(devices: list[Device], run: Any) -> None:
    """Interrupts, then failures of devices: work without these finds faults of the input again."""
    errors = [InvalidGraphError("bad"), ZeroDivisionError("odd"), KeyboardInterrupt()]

    def work(number: int) -> None:
        if number < len(errors):
            raise errors[number]

    with pytest.raises(KeyboardInterrupt):
        run(devices, work)
    errors.pop()
    with pytest.raises(DeviceError, match=r"device 1 .*odd"), named_failures(devices):
        run(devices, work)


@every_device_set("three")
def test_neighbours_are_joined_in_order(devices: list[Device]) -> None:
    """Whatever their number; devices stand for more than there are."""
    for count in range(1, 12):
        many = [devices[k % 3] for k in range(count)]
        found = as_tree(many, str, lambda first, second: f"({first} {second})")
        assert found.replace("(", "").replace(")", "").split() == [str(k) for k in range(count)]
    seven = as_tree([devices[0]] * 7, str, lambda first, second: f"({first} {second})")
    assert seven == "(((0 1) (2 3)) ((4 5) 6))"


@every_device_set("three")
def test_a_pair_waits_for_no_other(devices: list[Device]) -> None:
    """The first two are joined while the third still works."""
    is_joined = threading.Event()

    def leaf(number: int) -> int:
        if number == 2:
            assert is_joined.wait(timeout=30)
        return number

    def join(first: int, second: int) -> int:
        is_joined.set()
        return first + second

    assert as_tree(devices, leaf, join) == 3


@every_device_set("three")
@pytest.mark.parametrize("blamed", [0, 2])
def test_errors_of_a_pair_are_of_the_device_that_is_blamed(
    devices: list[Device], blamed: int
) -> None:
    """Else they are of the one where the pair is joined."""

    def join(first: int, second: int) -> int:
        with failures_of(devices[blamed]) if blamed else nullcontext():
            raise DeviceError("broken")

    message = rf"^device {blamed} of the solve, [^:]*: broken$"
    with pytest.raises(DeviceError, match=message), named_failures(devices):
        as_tree(devices, int, join)
