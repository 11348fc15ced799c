"""Programs that helper processes build ahead of their use."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from clmst import Device
from clmst.families import BY_NAME
from clmst.runtime import ahead, child, policy
from clmst.runtime.child import TURN, Helpers, decoded
from clmst.runtime.file_lock import locked
from clmst.runtime.kernel_family import BUILD_NAME
from clmst.runtime.source import compose
from tests.helpers.capabilities import with_capabilities
from tests.helpers.processes import all_ended, printed, processes_of, run_python

_ROOT = Path(__file__).parents[2]
# A first call that builds some eight programs.
_PROGRAM = """
import json
import numpy as np
import clmst
points = np.random.default_rng(0).normal(size=(5_000, 2))
device = clmst.get_device()
print("begins", flush=True)
model = clmst.cluster.HDBSCAN(device=device).fit(points)
built = {one.specialisation.label for one in device._programs.values()}
built = {one for one in built if not one.startswith("trial[")}
ahead = {one.label for one in device.builds}
by_helpers = sum(one.done() and not one.cancelled() for one in device.builds.values())
print(json.dumps({
    "labels": model.labels_.tolist(), "late": sorted(built - ahead), "by_helpers": by_helpers,
    "refused": [one.family for one in device.trust.verdicts() if one.reason],
}))
"""

# A first call that the host answers, while helpers open the default device.
_OPENING = """
import time
import numpy as np
import clmst
points = clmst.Points(np.random.default_rng(0).normal(size=(300, 2)))
print("begins", flush=True)
assert clmst.minimum_spanning_forest(points).stats["device"] == "host"
time.sleep(100)
"""


def first_call(cache: Path, helpers: int) -> Any:
    return printed("-c", _PROGRAM, CLMST_CACHE=str(cache), CLMST_HELPERS=str(helpers))


def test_helpers_build_what_a_first_call_needs(tmp_path: Path) -> None:
    """If programs are missing: python -m benchmarks.programs_of_calls intel."""
    alone = first_call(tmp_path / "alone", 0)
    assert alone["by_helpers"] == 0
    with all_ended(tmp_path / "helped"):
        helped = first_call(tmp_path / "helped", 2)
    assert helped["labels"] == alone["labels"]
    assert helped["late"] == []
    assert helped["by_helpers"] > 0
    assert helped["refused"] == alone["refused"] == []


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="it looks for processes there")
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive),
        signal.SIGKILL,
        pytest.param(signal.SIGINT, marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize("program", [_PROGRAM, _OPENING], ids=["building", "opening"])
def test_no_helper_outlives_its_parent(
    tmp_path: Path, number: signal.Signals, program: str
) -> None:
    """Nor does a temporary file, nor a verdict against the device."""
    (temporary := tmp_path / "temporary").mkdir()
    environment = {**os.environ, "CLMST_CACHE": str(tmp_path), "CLMST_HELPERS": "2"}
    environment["TMPDIR"] = str(temporary)
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, cwd=_ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        until = time.monotonic() + 60
        while len(list(processes_of(tmp_path))) < 3:
            assert time.monotonic() < until, "helpers have not started"
            time.sleep(0.05)
        with all_ended(tmp_path):
            process.send_signal(number)
            process.stdout.read()
    assert [*temporary.iterdir()] == []
    assert first_call(tmp_path, 0)["refused"] == []


# Opens a device that allows one context at a time, while a helper has one.
_ONE_CONTEXT = """
import pyopencl as cl
import numpy as np
import clmst
from clmst.runtime.child import helpers

points = clmst.Points(np.random.default_rng(0).normal(size=(300, 2)))
assert clmst.minimum_spanning_forest(points).stats["device"] == "host"

class Context(cl.Context):
    def __init__(self, *given):
        if helpers._children:
            raise cl.RuntimeError("clCreateContext", cl.status_code.DEVICE_NOT_AVAILABLE)
        super().__init__(*given)

cl.Context = Context
print(json.dumps(clmst.minimum_spanning_forest(points, device=clmst.get_device()).stats["device"]))
"""


def test_a_helper_gives_up_the_only_context(tmp_path: Path) -> None:
    """Some GPUs can be set to allow one process at a time. The user's process has precedence."""
    with all_ended(tmp_path):
        who = printed(
            "-c", "import json" + _ONE_CONTEXT, CLMST_CACHE=str(tmp_path), CLMST_HELPERS="2"
        )
    assert who != "host"


_SHOWN = """
import re, sys
import numpy as np
import clmst
from clmst.core import long_work
long_work.PATIENCE = long_work._LOOK_SECONDS = 0.005
long_work._SECONDS_BETWEEN["lines"] = 0.0
device = clmst.get_device()
points = np.random.default_rng(0).normal(size=(700, 2))
if sys.argv[1] == "listed":
    clmst.cluster.HDBSCAN(device=device).fit(points)
else:
    clmst.core_numbers(clmst.Graph.from_edges([0, 1], [1, 2], [1, 1]), device=device)
"""


def shown(cache: Path, call: str) -> list[str]:
    """Return the lines that a long first call writes, one for each state, in their order."""
    environment = {"CLMST_CACHE": str(cache), "CLMST_PROGRESS": "1", "CLMST_HELPERS": "0"}
    lines = run_python("-c", _SHOWN, call, environment=environment).stderr.splitlines()
    return [line for line in lines if line.startswith("clmst: ")]


def test_a_long_first_call_says_what_is_left(tmp_path: Path) -> None:
    """And what is being built. The number only falls."""
    lines = shown(tmp_path, "listed")
    found = [re.search(r"compiling kernels \(\w+\), once for .*, at most (\d+) prog", line)
             for line in lines]  # fmt: skip
    left = [int(one[1]) for one in found if one]
    assert left == sorted(left, reverse=True)
    assert left[0] > left[-1] > 0


def test_a_call_that_is_not_listed_says_what_was_built(tmp_path: Path) -> None:
    lines = shown(tmp_path, "other")
    assert any(re.search(r"compiling kernels .*, \d+ built so far$", line) for line in lines)
    assert not any(" left" in line for line in lines)


def test_one_process_has_helpers(tmp_path: Path) -> None:
    """As long as another process holds the lock, this one builds everything alone."""
    turn = locked(tmp_path / "new" / TURN)
    assert turn is not None
    assert locked(tmp_path / "new" / TURN) is None
    assert first_call(tmp_path / "new", 2)["by_helpers"] == 0
    os.close(turn)
    again = locked(tmp_path / "new" / TURN)
    assert again is not None
    os.close(again)


class _FakeChild:
    """In place of a child process: records what it is asked for, and how many open a device."""

    log: ClassVar[list[tuple[int, str]]] = []
    n_opening: ClassVar[list[int]] = [0]

    def start(self) -> None: ...

    def close(self) -> None: ...

    def tested(self, request: bytes) -> None:
        spec, family, case = decoded(request)
        if spec is None:
            return
        is_opening = family == BUILD_NAME and case is None
        if is_opening:
            self.n_opening.append(self.n_opening[-1] + 1)
        time.sleep(0.02)
        if is_opening:
            self.n_opening.append(self.n_opening[-1] - 1)
        self.log.append((id(self), "open" if is_opening else "build"))


@pytest.fixture
def fake_helpers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Helpers, list[tuple[int, str]]]]:
    """Helpers without processes, and the list of what each of them has done."""
    monkeypatch.setattr(child, "Child", _FakeChild)
    monkeypatch.setattr(child, "IDLE_SECONDS", 0.5)
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    monkeypatch.setattr(_FakeChild, "log", [])
    monkeypatch.setattr(_FakeChild, "n_opening", [0])
    made = Helpers()
    yield made, _FakeChild.log
    while made.are_running:
        time.sleep(0.05)


def test_helpers_open_a_device_one_after_the_other(
    any_device: Device, fake_helpers: tuple[Helpers, list[tuple[int, str]]]
) -> None:
    """And each of them before the first program that it builds."""
    made, log = fake_helpers
    made.open(any_device, 3)
    for build in made.build(any_device, [("no family", number) for number in range(20)]):
        build.result(10)
    assert max(_FakeChild.n_opening) == 1
    firsts: dict[int, str] = {}
    for helper, done in log:
        firsts.setdefault(helper, done)
    assert set(firsts.values()) == {"open"}
    assert [done for _, done in log].count("build") == 20


def test_helpers_that_are_not_needed_do_not_open_the_device(
    any_device: Device, fake_helpers: tuple[Helpers, list[tuple[int, str]]]
) -> None:
    made, log = fake_helpers
    made.open(any_device, 3)
    made.stop_opening()
    while made.are_running:
        time.sleep(0.05)
    assert [done for _, done in log].count("open") <= 1


def test_number_of_helpers(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ahead.VARIABLE, raising=False)
    monkeypatch.setattr(ahead, "usable_cores", lambda: 6)
    monkeypatch.setattr(ahead, "physical_memory", lambda: 1 << 36)
    cpu = with_capabilities(any_device, kind="cpu")
    gpu = with_capabilities(any_device, kind="gpu", global_memory=1 << 36)
    assert ahead.n_helpers(cpu) == 0
    assert ahead.n_helpers(gpu) == 3
    assert ahead.n_helpers(with_capabilities(gpu, global_memory=5 << 30)) == 2
    assert ahead.n_helpers(with_capabilities(gpu, global_memory=3 << 30)) == 0
    monkeypatch.setattr(ahead, "usable_cores", lambda: 64)
    assert ahead.n_helpers(gpu) == ahead.MOST_HELPERS
    monkeypatch.setattr(ahead, "usable_cores", lambda: 2)
    assert ahead.n_helpers(gpu) == 0
    monkeypatch.setenv(ahead.VARIABLE, "3")
    assert ahead.n_helpers(cpu) == 3
    monkeypatch.setattr(ahead, "may_start", lambda: False)
    assert ahead.n_helpers(gpu) == 0


@pytest.mark.parametrize("disabled", ["0", "1"])
@pytest.mark.parametrize("writable", [True, False])
def test_nvidias_cache_may_be_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, disabled: str, writable: bool
) -> None:
    from clmst.runtime.program import is_shared

    monkeypatch.setattr("pyopencl.characterize.has_src_build_cache", lambda _: True)
    (file := tmp_path / "file").touch()
    monkeypatch.setenv("CUDA_CACHE_DISABLE", disabled)
    monkeypatch.setenv("CUDA_CACHE_PATH", str((tmp_path if writable else file) / "cache"))
    platform = SimpleNamespace(name="NVIDIA CUDA", vendor="NVIDIA Corporation")
    assert is_shared(SimpleNamespace(platform=platform)) == (disabled == "0" and writable)


def test_table_of_programs() -> None:
    """The table names families, sources and policies that exist."""
    table = ahead._table()
    assert set(table["calls"]) <= {policy.name_of(one) for one in (policy.CPU, policy.NVIDIA)}
    for source, _, defines in table["programs"]:
        assert compose(source)
        assert all(type(value) is int for value in defines.values())
    for calls in table["calls"].values():
        for test, listed in calls.items():
            assert test.split(": ")[0] in BY_NAME
            assert listed == list(dict.fromkeys(listed))
            assert max(listed) < len(table["programs"])
