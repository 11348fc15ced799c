"""Faults of drivers that no machine at hand has, met in advance: mocks that do what people report.

The user's process lives, whatever a driver does; the answer is right, and the reason of what was
refused is there to read. ``clmst/runtime/quirks.py`` names each fault.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clmst.runtime import source
from clmst.runtime.embedded import VENDORS_VARIABLE, find_driver
from tests.faults.users import AUTO, ECL, Users, of_one_width, wait_for
from tests.helpers.processes import lacks

# The shape that devices in no table get: a GPU's.
GPU = {"kind": "gpu", "host_arrays": "copied"}
LANES = {"lanes": "khr", "lane_width": 16}
NO_LANES = {"lanes": "local", "lane_width": 32}

# What a process finds, and what the device that it used can do, as it knows then.
CAN = (
    of_one_width(AUTO)
    + """
can = clmst.get_device().capabilities
print(json.dumps([can.lanes, can.int64_atomics, clmst.get_device().policy.work_group_size]))
"""
)


def can_do(users: Users, **how: Any) -> list[Any]:
    """Solve, and return lanes, 64-bit atomics and work-group of the device that answered."""
    mock = users.mock(**how)
    with users.start(mock, CAN) as process:
        output, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    found, can = map(json.loads, output.splitlines())
    for name, device in found.values():
        assert name not in ("wrong", "kruskal"), device
    result: list[Any] = can
    return result


# ------------------------------------------------------- compilers that die or fail


def test_adreno_compiler_that_dies_of_sums_of_lanes(users: Users) -> None:
    """Twice in a child, once and for all; then the device is used without lanes."""
    dies = {"builds": "LANES_IMPL=1", "words": "QGPUPeepholeOptimizer", "how": "SIGSEGV"}
    for _ in range(2):
        lanes, atomics, size = can_do(users, capabilities=GPU | LANES, **dies)
        assert (lanes, atomics, size > 1) == ("local", True, True)
        assert len(users.mock().deaths()) <= 2
    assert users.markers() == []


@pytest.mark.parametrize(
    ("builds", "program"),
    [
        ("algorithms/ecl/ WEIGHT_BITS", of_one_width(ECL)),
        ("algorithms/boruvka/ WEIGHT", of_one_width(AUTO)),
    ],
    ids=["ecl", "boruvka"],
)
def test_compiler_that_cannot_build(users: Users, builds: str, program: str) -> None:
    """The algorithm is refused with the compiler's words; "auto" takes another one."""
    words = "error: NumConstRegsError: # of constant registers must be < 2."
    mock = users.mock(capabilities=NO_LANES, builds=builds, how="error", words=words)
    for kind, message in users.run(mock, program).values():
        if program != of_one_width(ECL):
            assert kind not in ("wrong", "boruvka", "kruskal")
        else:
            assert kind == "UnsupportedDeviceError"
            assert words in message


def test_no_kernel_asks_for_the_size_of_its_work_group() -> None:
    """It is the macro WG_SIZE: a register of constants beside an argument's breaks builds."""
    for path in source.root().rglob("*.cl"):
        code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        assert "get_local_size" not in code, path


# ------------------------------------------------------- drivers that die when they are listed


@pytest.fixture
def two_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the .icd file of a driver with a fault, beside one of the machine's own."""
    own = find_driver()
    system = sorted(Path("/etc/OpenCL/vendors").glob("pocl*.icd"))
    if own is None and not system:
        lacks("neither the extra 'cpu' nor PoCL (Debian: pocl-opencl-icd) is installed")
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    (vendors / "good.icd").write_text(system[0].read_text() if system else f"{own}\n")
    (vendors / "adreno.icd").write_text("libAdrenoOpenCL.so\n")
    monkeypatch.setenv(VENDORS_VARIABLE, str(vendors))
    return vendors / "adreno.icd"


FASTFAIL = "fail fast in CB.dll"


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("SIGABRT", f"listing its devices ends the process (SIGABRT): {FASTFAIL}"),
        pytest.param(
            "exit",
            f"listing its devices ends the process (status 3): {FASTFAIL}",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            "hang",
            "listing its devices has not ended after 10 s",
            marks=pytest.mark.exhaustive,  # each process of three waits for 10 s
        ),
    ],
)
def test_driver_that_dies_while_it_is_listed(
    users: Users, two_drivers: Path, how: str, reason: str
) -> None:
    """It ends one process; the next one lists each driver in a child, and leaves it out."""
    mock = users.mock(lists="Adreno", how=how, words=FASTFAIL, limit_of_listing=10.0)
    with users.start(mock, LISTED) as process:
        if how == "hang":
            wait_for(lambda: bool(mock.deaths()))
            process.kill()
        process.communicate(timeout=100)
    assert process.returncode != 0
    for _ in range(2):
        listed = users.run(mock, LISTED)
        assert listed["usable"]
        assert listed["left out"] == {str(two_drivers): reason}
        assert f"{two_drivers} is left out: {reason}" in listed["error"]
        assert len(mock.deaths()) == 2
    two_drivers.write_text("libAdrenoOpenCL.so.2\n")  # an update, which is listed as any other
    listed = users.run(users.mock(), LISTED)
    assert (listed["usable"], listed["left out"]) == (True, {})


LISTED = """
import json, clmst
from clmst.runtime import listing
usable = any(one.usable for one in clmst.devices())
try:
    clmst.get_device("adreno")
except clmst.InvalidArgumentError as error:
    found = {"usable": usable, "left out": listing.left_out(), "error": str(error)}
    print(json.dumps(found))
"""


def test_all_drivers_where_the_loader_has_no_list(
    users: Users, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows: then the host answers, and says why."""
    (tmp_path / "none").mkdir()
    monkeypatch.setenv(VENDORS_VARIABLE, str(tmp_path / "none"))
    mock = users.mock(lists="any", how="SIGABRT", words=FASTFAIL)
    with users.start(mock, AUTO) as process:
        process.communicate(timeout=300)
    assert process.returncode != 0
    with users.start(mock, AUTO) as process:
        output, complaint = process.communicate(timeout=300)
    assert json.loads(output) == {"32": ["kruskal", "host"], "64": ["kruskal", "host"]}
    assert "every driver is left out: listing its devices ends the process (SIGABRT)" in complaint
    assert len(mock.deaths()) == 2


def test_process_that_was_ended_while_it_listed(users: Users, two_drivers: Path) -> None:
    """From outside, as by its user: nothing is left out."""
    began = users.folder / "cache" / "clmst" / "trust" / "listing.began"
    began.parent.mkdir(parents=True)
    began.write_text("process 1, yesterday\n")
    two_drivers.unlink()
    listed = users.run(users.mock(), LISTED)
    assert (listed["usable"], listed["left out"]) == (True, {})
    assert users.markers() == []


# ------------------------------------------------------------------------------- Apple


@pytest.mark.exhaustive
def test_apple_compiler_without_64_bit_atomics(users: Users) -> None:
    """Whatever its list of extensions says."""
    dies = {"builds": "ATOMIC64=1", "how": "error", "words": "error: cl2Metal failed"}
    capabilities = GPU | NO_LANES | {"int64_atomics": True}
    assert can_do(users, capabilities=capabilities, **dies)[:2] == ["local", False]


@pytest.mark.parametrize("kind", ["cpu", pytest.param("gpu", marks=pytest.mark.exhaustive)])
def test_apple_work_groups_of_one(users: Users, kind: str) -> None:
    """Kernels with barriers take one work-item there, whatever the device says."""
    capabilities = NO_LANES | {"kind": kind}
    assert can_do(users, capabilities=capabilities, most_work_items=1)[2] == 1


POINTS = """
import json, warnings
import numpy as np
import clmst
from clmst.cluster import HDBSCAN
points = np.random.default_rng(1).random((300, 3))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    forest = clmst.minimum_spanning_forest(clmst.Points(points))
    if FITS:
        HDBSCAN(5).fit(points)
can = clmst.get_device().capabilities
right = clmst.core.points.Points(points).to_graph()
is_right = forest.edges.tolist() == clmst.kruskal(right).edges.tolist()
print(json.dumps({
    "device": forest.stats["device"], "right": is_right, "doubles": can.doubles,
    "atomics": can.int64_atomics, "said": [str(one.message) for one in said],
}))
"""


@pytest.mark.parametrize(
    ("how", "fits"),
    [
        ("error", False),
        # Now the trial ends in a child, and clusters are computed, too.
        pytest.param("SIGABRT", True, marks=pytest.mark.exhaustive),
    ],
)
def test_apple_doubles_that_are_only_reported(users: Users, how: str, fits: bool) -> None:
    """The trial finds it, once; the device then computes points without doubles.

    In the standard run clusters without doubles are tested in tests/points/test_without_doubles.py.
    """
    mock = users.mock(capabilities=GPU | NO_LANES, builds="trial_doubles", how=how)
    deaths = list[int]()
    for _ in range(2):
        found = users.run(mock, POINTS.replace("FITS", str(fits)))
        assert (found["doubles"], found["atomics"]) == (False, True)
        assert found["device"] != "host"
        assert (found["right"], found["said"]) == (True, [])
        deaths.append(len(mock.deaths()))
    assert deaths[0] == deaths[1]  # the verdict is kept
    for kind, _ in users.run(mock, of_one_width(AUTO)).values():
        assert kind not in ("wrong", "kruskal")


def test_apple_kernels_that_cannot_be_created(users: Users) -> None:
    """The program builds, and its kernel is not there: the family is refused, with the code."""
    mock = users.mock(capabilities=GPU | NO_LANES, missing="ecl_")
    for kind, message in users.run(mock, of_one_width(ECL)).values():
        assert kind == "UnsupportedDeviceError"
        assert "INVALID_KERNEL" in message
    for kind, _ in users.run(mock, of_one_width(AUTO)).values():
        assert kind not in ("wrong", "ecl", "kruskal")
