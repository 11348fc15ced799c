"""One fault in one call: what must come of it, whatever it was."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

import pyopencl as cl
import pytest

from clmst.core.errors import (
    ClmstError,
    DeviceError,
    KernelBuildError,
    OutOfDeviceMemoryError,
    StreamedWarning,
)
from clmst.runtime.device import Device
from tests.faults.injection import Injector, inject
from tests.faults.subjects import Subject, bytes_in_use

EXPECTED: dict[str, type[ClmstError]] = {
    "allocate": OutOfDeviceMemoryError,
    "build": KernelBuildError,
}


def calls_of(subject: Subject, kind: str, device: Device) -> int:
    """Return how many calls of a kind a right run takes."""
    with pytest.MonkeyPatch.context() as patch:
        injector = inject(patch, kind, device)
        subject.run()
    return injector.count


def break_off(
    subject: Subject,
    kind: str,
    device: Device,
    numbers: Iterable[int],
    *,
    after: bool,
    error: type[BaseException] = cl.Error,
) -> int:
    """Let calls fail, one in each run; return how many runs were broken off.

    Raises
    ------
    AssertionError
        Something else was raised than should have been, memory was not given back, or the next run
        was not right.
    """
    subject.run()
    usual, broken = bytes_in_use(device), 0
    for number in numbers:
        with pytest.MonkeyPatch.context() as patch:
            injector = inject(patch, kind, device)
            injector.arm(number, after=after, error=error)
            broken += _expect(subject.run, injector, EXPECTED.get(kind, DeviceError))
        assert bytes_in_use(device) <= usual, f"memory is lost after {kind} {number}"
        subject.run()
        assert bytes_in_use(device) == usual, f"memory is lost by the run after {kind} {number}"
    return broken


def _check_reported(error: ClmstError, injector: Injector) -> None:
    """Raise unless an error is one line, and the driver's own its cause."""
    assert injector.error is cl.Error
    assert isinstance(error.__cause__, cl.Error)
    assert "\n" not in str(error) or isinstance(error, KernelBuildError)


def _expect(run: Callable[[], None], injector: Injector, expected: type[ClmstError]) -> bool:
    """Run what is to fail; return whether it did, as it must unless the fault did not happen."""
    said: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", StreamedWarning)
            run()
    except KeyboardInterrupt:
        assert injector.error is KeyboardInterrupt
    except expected as error:
        _check_reported(error, injector)
    else:
        if injector.fails_at is not None:
            return False  # how often events of pinned memory are waited for depends on earlier runs
        # A stream begins again with half the limit, and says so.
        kinds = [one.category for one in said]
        assert kinds == [StreamedWarning], f"{injector.kind} failed, and nobody was told"
    assert injector.fails_at is None
    return True
