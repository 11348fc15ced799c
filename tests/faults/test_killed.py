"""First uses that are killed; ten by each signal by ``python -m tests.faults.killed``."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.faults.killed import kill_many
from tests.faults.users import Users, wait_for


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


TRIED_BY_A_HELPER = """
import os, time
from pathlib import Path
import clmst
print(clmst.minimum_spanning_forest(clmst.Graph.from_edges([0], [1], [2])).total_weight)
cache, until = Path(os.environ["CLMST_CACHE"]), time.monotonic() + 60
while not list(cache.rglob("trial*.began")) and time.monotonic() < until:
    time.sleep(0.02)
print(len(list(cache.rglob("trial*.began"))))
"""


def test_a_helper_that_ends_with_its_user_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The host answers while a helper tries the device; the trial did not end the helper."""
    monkeypatch.setenv("CLMST_HELPERS", "1")
    users = Users(folder=tmp_path)
    with users.start(users.mock(builds="trial", how="hang"), TRIED_BY_A_HELPER) as process:
        output, complaint = process.communicate(timeout=100)
    assert (output.split(), complaint) == (["2", "1"], "")
    wait_for(lambda: users.markers() == [])
