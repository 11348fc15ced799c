"""First uses that are killed; ten by each signal by ``python -m tests.faults.killed``."""

from __future__ import annotations

import signal

import pytest

from tests.faults.killed import kill_many


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unproven", "names"),
    [
        (False, [signal.SIGKILL]),
        pytest.param(False, [signal.SIGINT, signal.SIGTERM], marks=pytest.mark.exhaustive),
        pytest.param(
            True, [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], marks=pytest.mark.exhaustive
        ),
    ],
    ids=["proven", "proven, other signals", "unproven"],
)
@pytest.mark.parametrize(
    "helpers",
    [0, pytest.param(2, marks=pytest.mark.exhaustive)],
    ids=["alone", "helpers"],
)
def test_a_killed_process_condemns_nothing(
    unproven: bool, names: list[signal.Signals], helpers: int
) -> None:
    """Nor does the next one take long, or leave a trace of it, or a process.

    The standard run takes a driver whose self-tests run in the process, as on most machines, and
    the signal that no process can catch.
    """
    done = list(kill_many(1, "", unproven=unproven, seed=3, names=tuple(names), helpers=helpers))
    assert [one.signal for one in done] == [one.name for one in names]
