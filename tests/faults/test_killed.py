"""First uses that are killed; ten by each signal by ``python -m tests.faults.killed``."""

from __future__ import annotations

import signal

import pytest

from tests.faults.killed import kill_many


@pytest.mark.slow
@pytest.mark.parametrize(
    "unproven",
    [False, pytest.param(True, marks=pytest.mark.exhaustive)],
    ids=["proven", "unproven"],
)
def test_a_killed_process_condemns_nothing(unproven: bool) -> None:
    """Nor does the next one take long, or leave a trace of it.

    The standard run takes a driver whose self-tests run in the process, as on most machines.
    """
    names = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    done = list(kill_many(1, "", unproven=unproven, seed=3, names=names))
    assert [one.signal for one in done] == ["SIGINT", "SIGTERM", "SIGKILL"]
