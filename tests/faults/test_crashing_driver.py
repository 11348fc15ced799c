"""A driver that ends processes: the user's process lives, and gets an answer or one clear error."""

from __future__ import annotations

import json
import shutil
import signal

import pytest

import clmst
from clmst.algorithms.registry import ALGORITHMS
from tests.faults.mock_driver import LAST_WORDS
from tests.faults.users import AUTO, ECL, Users, of_one_width, wait_for
from tests.helpers.processes import is_running


@pytest.fixture
def quickest(users: Users) -> str:
    """Return the algorithm that "auto" takes where no driver ends anything."""
    name: str = users.run(users.mock(), of_one_width(AUTO))["32"][0]
    shutil.rmtree(users.folder / "cache" / "clmst" / "trust")
    return name


def test_next_algorithm_answers(users: Users, quickest: str) -> None:
    """And the next process neither dies nor tries again."""
    mock = users.mock(builds=f"algorithms/{quickest.replace('-', '_')}/ WEIGHT_BITS")
    for _ in range(2):
        found = users.run(mock, of_one_width(AUTO))
        assert {name for name, _ in found.values()} <= set(ALGORITHMS) - {quickest}
        assert len(mock.deaths()) == 2  # a child that was there, and a new one
    reasons = [reason for (family, _), reason in users.verdicts().items() if family == quickest]
    assert reasons == [f"its self-test ends the process (SIGSEGV): {LAST_WORDS}"]
    assert users.markers() == []


@pytest.mark.parametrize(
    ("bits", "how"), [(32, "SIGABRT"), pytest.param(64, "exit", marks=pytest.mark.exhaustive)]
)
def test_one_width_ends_the_process(users: Users, bits: int, how: str) -> None:
    """The other one is used, whichever comes first, and who names the algorithm is told why."""
    mock = users.mock(builds=f"algorithms/ecl/ WEIGHT_BITS={bits}", how=how)
    found = users.run(mock, ECL)
    kind, message = found[str(bits)]
    assert kind == "UnsupportedDeviceError"
    what = "status 3" if how == "exit" else how
    words = f"is not trusted with ecl: its self-test ends the process ({what}): {LAST_WORDS};"
    assert words in message
    assert found[str(96 - bits)][0] == "ecl"


LISTED = "import clmst, json; print(json.dumps({'usable': [d.usable for d in clmst.devices()]}))"


@pytest.mark.exhaustive
def test_next_device_answers(users: Users) -> None:
    """Where not even the trial comes back; the last one's error says so."""
    used = clmst.get_device()
    others = [one for one in clmst.devices() if one.device.platform != used.platform]
    mock = users.mock(builds="trial", platform=used.platform)
    for _ in range(2):
        if not any(one.usable for one in others):
            break
        found = users.run(mock)
        assert all(used.platform not in device for _, device in found.values())
    else:
        assert len(mock.deaths()) == 2  # as it is, and without 64-bit atomics
        shutil.rmtree(users.folder / "cache" / "clmst" / "trust")
    everywhere = users.mock(builds="trial")
    with users.start(everywhere, AUTO) as process:
        output, complaint = process.communicate(timeout=300)
    assert json.loads(output) == {"32": ["kruskal", "host"], "64": ["kruskal", "host"]}
    assert complaint.count("DeviceWarning: no usable OpenCL device") == 1
    assert "cannot be tried: its self-test ends the process (SIGSEGV)" in complaint
    assert not any(users.run(everywhere, LISTED)["usable"])
    for kind, message in users.run(everywhere, ECL).values():
        assert kind == "UnsupportedDeviceError"
        assert "no usable OpenCL device" in message
        assert "cannot be tried: its self-test ends the process (SIGSEGV)" in message


def test_proven_driver_ends_one_process_at_most(users: Users) -> None:
    """It is tested in the process; the next one sees that it has ended there, and finds out why."""
    mock = users.mock(builds="algorithms/ecl/ WEIGHT_BITS=32", is_proven=True)
    with users.start(mock, ECL) as process:
        process.communicate(timeout=300)
    assert process.returncode == -signal.SIGSEGV
    assert len(users.markers()) == 1
    found = users.run(mock, ECL)
    assert "its self-test ends the process (SIGSEGV)" in found["32"][1]
    assert found["64"][0] == "ecl"
    assert users.markers() == []


VARIANT = ECL.replace(
    'forest = clmst.minimum_spanning_forest(graph, algorithm="ecl", device=None)',
    'clmst.get_device().program("algorithms/shared/forest.cl", WEIGHT_BITS=16)',
)


def test_build_that_no_self_test_has(users: Users) -> None:
    """A program that is asked for by itself is tried in the child, too."""
    mock = users.mock(builds="algorithms/shared/forest.cl WEIGHT_BITS=16")
    for _ in range(2):
        kind, message = users.run(mock, VARIANT)["32"]
        assert kind == "KernelBuildError"
        assert f"its self-test ends the process (SIGSEGV): {LAST_WORDS}" in message
        assert len(mock.deaths()) == 2
    assert [name for name, _ in users.run(mock, ECL).values()] == ["ecl"] * 2


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
@pytest.mark.exhaustive
def test_child_that_is_ended_from_outside(users: Users, how: str) -> None:
    """As by a machine without memory: nothing is kept of it."""
    mock = users.mock(builds="algorithms/ecl/ WEIGHT_BITS=32", how=how)
    kind, message = users.run(mock, ECL)["32"]
    assert kind == "UnsupportedDeviceError"
    assert f"the process of its self-test was ended from outside, twice ({how});" in message
    assert len(mock.deaths()) == 2
    assert set(users.verdicts().values()) == {None}
    assert [name for name, _ in users.run(users.mock(), ECL).values()] == ["ecl"] * 2


def test_child_that_hangs(users: Users) -> None:
    """It is waited for once a process, whatever device object asks, and nothing is kept of it.

    No driver ends a kernel that never ends: the child is ended.
    """
    mock = users.mock(builds="algorithms/ecl/ WEIGHT_BITS=32", how="hang", limit=3)
    one = "clmst.get_device().forcing_off()"  # a new object each time
    both = ECL.replace("device=None", f"device={one}").replace("(32, 64)", "(32, 64, 32)")
    kind, message = users.run(mock, both)["32"]
    assert kind == "UnsupportedDeviceError"
    assert "its self-test has not ended after 3 s;" in message
    assert len(mock.deaths()) == 1
    assert set(users.verdicts().values()) == {None}


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_child_ends_with_its_parent(users: Users, how: signal.Signals) -> None:
    mock = users.mock(builds="algorithms/ecl/ WEIGHT_BITS=32", how="hang")
    with users.start(mock, ECL) as process:
        wait_for(lambda: len(mock.deaths()) == 1)
        ((child, parent),) = mock.deaths()
        assert parent == process.pid
        process.send_signal(how)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode in (-how, 1)
    assert how != signal.SIGINT or "KeyboardInterrupt" in complaint
    wait_for(lambda: not is_running(child))
    assert [name for name, _ in users.run(users.mock(), ECL).values()] == ["ecl"] * 2


NO_CHILD = "import sys; sys.executable = EXECUTABLE\n"


@pytest.mark.parametrize("executable", ["'/opt/application'", "'/nowhere/python3'"])
@pytest.mark.exhaustive
def test_where_no_child_can_be_started(users: Users, executable: str) -> None:
    """Tests run in the process, and two that have ended there are enough."""
    program = NO_CHILD.replace("EXECUTABLE", executable) + ECL
    mock = users.mock(builds="algorithms/ecl/ WEIGHT_BITS=32")
    for _ in range(2):
        with users.start(mock, program) as process:
            process.communicate(timeout=300)
        assert process.returncode == -signal.SIGSEGV
    for name, message in users.run(users.mock(), program).values():
        assert name == "ecl" or "processes ended in the middle of its self-test" in message
    assert len(users.markers()) == 1
    assert [name for name, _ in users.run(users.mock(), ECL).values()] == ["ecl"] * 2
    assert users.markers() == []
