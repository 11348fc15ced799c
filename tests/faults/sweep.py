"""Every call to the driver fails in turn, in every kind of work.

    python -m tests.faults.sweep [--device NAME] [--shape native] [--interrupt] [NAME ...]

Prints how many faults of each kind there were; ends at the first that was not survived.
With ``--interrupt`` each call is broken off by Ctrl-C instead, once before and once after it.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterable

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
from tests.faults.injection import KINDS, Injector, inject
from tests.faults.subjects import SHAPES, SUBJECTS, Check, bytes_in_use, device_of, subject

EXPECTED: dict[str, type[ClmstError]] = {
    "allocate": OutOfDeviceMemoryError,
    "build": KernelBuildError,
}


def calls_of(run: Check, kind: str, device: Device) -> int:
    """Return the number of calls of one kind in a run without faults."""
    with pytest.MonkeyPatch.context() as patch:
        injector = inject(patch, kind, device)
        run()
    return injector.count


def break_off(
    run: Check,
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
    run()
    usual, broken = bytes_in_use(device), 0
    for number in numbers:
        with pytest.MonkeyPatch.context() as patch:
            injector = inject(patch, kind, device)
            injector.arm(number, after=after, error=error)
            broken += _expect(run, injector, EXPECTED.get(kind, DeviceError))
        assert bytes_in_use(device) <= usual, f"memory is lost after {kind} {number}"
        run()
        assert bytes_in_use(device) == usual, f"memory is lost by the run after {kind} {number}"
    return broken


def _check_reported(error: ClmstError, injector: Injector) -> None:
    """Raise unless an error is one line, and the driver's own its cause."""
    assert injector.error is cl.Error
    assert isinstance(error.__cause__, cl.Error)
    assert "\n" not in str(error) or isinstance(error, KernelBuildError)


def _expect(run: Check, injector: Injector, expected: type[ClmstError]) -> bool:
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


def main() -> None:
    """Let everything fail."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SUBJECTS))
    parser.add_argument("--device")
    parser.add_argument("--shape", choices=SHAPES, default="native")
    parser.add_argument("--interrupt", action="store_true")
    asked = parser.parse_args()
    device = device_of(asked.shape, asked.device)
    error: type[BaseException] = KeyboardInterrupt if asked.interrupt else cl.Error
    counts: Counter[str] = Counter()
    for name in asked.names or SUBJECTS:
        run = subject(name, device)
        run()
        for kind in KINDS if not asked.interrupt else ("kernel", "fill", "copy", "wait"):
            calls = range(calls_of(run, kind, device))
            for after in (False, True) if asked.interrupt else (False,):
                counts[kind] += break_off(run, kind, device, calls, after=after, error=error)
        print(f"{name}: {dict(counts)} so far", flush=True)
    reported = "Ctrl-C" if asked.interrupt else "faults"
    print(f"{device.description}, {asked.shape}: {counts.total()} {reported} survived")


if __name__ == "__main__":
    main()
