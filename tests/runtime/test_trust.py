"""The rule of trust: what is tested when, what is kept, and what an ended process leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyopencl as cl
import pytest

from clmst import (
    Device,
    DeviceError,
    InvalidArgumentError,
    KernelBuildError,
    UnsupportedDeviceError,
)
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.runtime import source, verdicts
from clmst.runtime.kernel_family import KernelFamily
from clmst.runtime.verdicts import Verdict, VerdictStore
from tests.helpers.caches import use_own_cache
from tests.helpers.capabilities import Saying
from tests.helpers.kernel_sources import changed, sources_in
from tests.helpers.variants import GPU_SHAPE


class Counted:
    """A family whose test is counted, and says what it is told."""

    def __init__(self, answer: Any = None) -> None:
        self.calls: list[Hashable] = []
        self.answer = answer
        self.family = KernelFamily(name="sums", what="sums", test=self._test)

    def _test(self, device: Device, case: Hashable) -> str | None:
        self.calls.append(case)
        if isinstance(self.answer, BaseException):
            raise self.answer
        told: str | None = self.answer() if callable(self.answer) else self.answer
        return told


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let every test begin with an empty cache of its own."""
    return use_own_cache(monkeypatch, tmp_path / "cache")


@pytest.fixture
def new(any_device: Device) -> Device:
    """Return a device object that has passed no self-test."""
    return Device(any_device.cl_device)


def again(device: Device) -> Device:
    """Return the device as another process would meet it."""
    return Device(device.cl_device, without=device.without)


# ------------------------------------------------------------------------- once


@pytest.mark.parametrize("answer", [None, "2 sums came out wrong"])
def test_paid_once(new: Device, answer: str | None) -> None:
    """By the process, and by the next one too; a refusal is remembered with its reason."""
    counted = Counted(answer)
    for device in (new, new, again(new)):
        for case in ("", "wide"):
            assert device.trust.refusal(counted.family, case) == answer
    assert counted.calls == ["", "wide"]
    if answer is not None:
        with pytest.raises(UnsupportedDeviceError, match="not trusted with sums: 2 sums came out"):
            new.trust.require(counted.family)


def test_family_that_is_not_for_a_device(new: Device) -> None:
    """The family is refused without a test, which could end the process. No verdict is stored."""
    counted = Counted()
    family = replace(counted.family, suits=lambda device: device is not new)
    with pytest.raises(UnsupportedDeviceError, match="not trusted with sums: its kernels are not"):
        new.trust.require(family)
    assert not new.trust.test(family).passed
    assert counted.calls == new.trust.verdicts() == []
    again(new).trust.require(family)
    assert counted.calls == [""]


def test_other_kernels_are_tested_anew(new: Device, tmp_path: Path) -> None:
    """Another shape, a capability less, another driver or kernel text: other kernels run."""
    counted = Counted()
    new.trust.require(counted.family)
    new.forcing_off("int64-atomics").trust.require(counted.family)
    new.with_policy(GPU_SHAPE).trust.require(counted.family)
    assert len(counted.calls) == 3
    Device(Saying(new.cl_device, driver_version="99.9")).trust.require(counted.family)
    assert len(counted.calls) == 4
    with changed(tmp_path, ("// ", "//  "), file="trial.cl"):
        again(new).trust.require(counted.family)
    assert len(counted.calls) == 5


def test_digest_is_of_every_source(tmp_path: Path) -> None:
    found = set()
    for name, text in (("a.cl", "x"), ("a.cl", "y"), ("b.cl", "y"), ("b.cl", "yy")):
        (tmp_path / name).write_text(text)
        with sources_in(tmp_path):
            found.add(source.digest())
    assert len(found) == 4


def test_given_trust_tests_nothing(new: Device) -> None:
    counted = Counted("wrong")
    trusted = Device(new.cl_device, _trusted=True)
    for variant in (trusted, trusted.forcing_off("lanes"), trusted.with_policy(GPU_SHAPE)):
        variant.trust.require(counted.family)
    assert counted.calls == []


def test_tested_anew_on_demand(new: Device) -> None:
    """What `clmst devices --test` does: a better driver's answer takes the old one's place."""
    counted = Counted("wrong")
    assert new.trust.refusal(counted.family) == "wrong"
    counted.answer = None
    assert new.trust.test(counted.family).passed
    for other in (new, again(new)):
        other.trust.require(counted.family)
    assert len(counted.calls) == 2


# ---------------------------------------------------------------------- recursion, threads


def test_a_test_may_use_other_families(new: Device) -> None:
    """Nor is a family tested inside its own test for ever."""
    inner = Counted("wrong")
    outer = Counted()

    def use() -> None:
        new.trust.require(inner.family)
        new.trust.require(outer.family)

    outer.answer = use
    new.trust.require(outer.family, "outer")
    assert inner.calls == []


def test_threads_wait_for_one_test(new: Device) -> None:
    counted = Counted(lambda: time.sleep(0.1))
    threads = [threading.Thread(target=new.trust.require, args=(counted.family,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counted.calls) == 1


# ------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    "error",
    [
        InvalidArgumentError("x"), OutOfDeviceMemoryError("x"), KeyboardInterrupt(),
        MemoryError("x"), TypeError("len() of unsized object"), OverflowError("too large"),
        IndexError("index 9"), OSError(28, "No space left on device"), AssertionError(),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_what_tells_nothing_of_kernels_is_raised(
    new: Device, cache: Path, error: BaseException
) -> None:
    """A fault of clmst or of the process leaves no verdict, nor a note as of a crash."""
    counted = Counted(error)
    for other in (new, again(new)):
        with pytest.raises(type(error)) as caught:
            other.trust.require(counted.family)
        assert caught.value is error
    assert new.trust.verdicts() == []
    assert [path for path in (cache / "trust").rglob("*") if path.is_file()] == []
    counted.answer = None
    new.trust.require(counted.family)
    assert new.trust.verdicts()[0].passed


@pytest.mark.parametrize(
    ("error", "reason", "lasts"),
    [
        # It may have been the disk that was full; a wrong answer is the driver's.
        (
            KernelBuildError("sums[]", "Card", "warning: unused\n error: no room"),
            "does not build: error: no room", 0,
        ),
        (KernelBuildError("sums[]", "Card", ""), "does not build", 0),
        (cl.LogicError("enqueue"), "does not run: enqueue", 0),
        # The rounds of a device that counts wrongly would not end.
        (DeviceError("round 34 of 33"), "does not run: round 34 of 33", 1),
    ],
)  # fmt: skip
def test_errors_are_refusals(new: Device, error: Exception, reason: str, lasts: bool) -> None:
    """One that may not come again holds for the process only."""
    counted = Counted(error)
    for _ in range(2):
        assert new.trust.refusal(counted.family) == reason
    assert len(counted.calls) == 1
    counted.answer = None
    assert again(new).trust.refusal(counted.family) == (reason if lasts else None)


# ------------------------------------------------------------------------------- the cache


def kept_file(cache: Path) -> Path:
    """Return the one file of verdicts in a cache."""
    (path,) = cache.rglob("*.jsonl")
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"7",
        b'{"family": 3, "case": "", "reason": null, "seconds": 1}',
        b'{"family": "products", "case": "", "reason": null, "seconds": 1}',
        b'{"family": "sums", "case": "", "reason": 0, "seconds": 1}',
    ],
)
def test_damaged_verdict_is_none(new: Device, cache: Path, content: bytes) -> None:
    counted = Counted("wrong")
    assert new.trust.refusal(counted.family) == "wrong"
    kept_file(cache).write_bytes(content)
    assert again(new).trust.refusal(counted.family) == "wrong"
    assert len(counted.calls) == 2
    assert again(new).trust.verdicts()[0].reason == "wrong"


def test_many_cases_are_in_one_file(new: Device, cache: Path) -> None:
    """One that a process was killed in the middle of is damaged alone, and paid for again."""
    counted = Counted()
    cases = [f"case {number}" for number in range(20)]
    for case in cases:
        new.trust.require(counted.family, case)
    path = kept_file(cache)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b"reason")])
    for case in cases:
        again(new).trust.require(counted.family, case)
    assert counted.calls == [*cases, cases[-1]]
    assert again(new).trust.test(counted.family, cases[3]).passed
    found = [one.case for one in again(new).trust.verdicts()]
    assert sorted(found) == sorted(cases)
    assert path.read_bytes().count(b'"case 3"') == 1
    assert len([one for one in path.parent.iterdir() if one.is_file()]) == 2  # and the device's


KEEPING = """
import sys
from clmst.runtime.verdicts import Verdict, VerdictStore
store = VerdictStore({"device": "Card"})
for number in range(200):
    store.keep(Verdict(family="sums", case=f"{sys.argv[1]} {number}", reason="x" * 400))
"""


def test_processes_keep_verdicts_at_once() -> None:
    """None is lost or damaged, and none waits for another."""
    commands = [[sys.executable, "-c", KEEPING, str(number)] for number in range(4)]
    started = [subprocess.Popen(command, env=dict(os.environ)) for command in commands]
    assert [process.wait(timeout=60) for process in started] == [0] * 4
    assert len(VerdictStore({"device": "Card"}).every()) == 4 * 200


def test_verdicts_that_nobody_uses_are_removed(new: Device, cache: Path) -> None:
    """Verdicts of an older clmst, driver or kernels are stale; what is in use stays."""
    trust, now = cache / "trust", time.time()
    old = trust / ("0" * 24)  # one small file a case, as edition 2 had them
    old.mkdir(parents=True)
    (old / "device.txt").write_text(json.dumps({"device": new.name, "edition": "2"}))
    (old / "ecl-0123456789.json").write_text("{}")
    (trust / "notes").mkdir()  # not made by clmst
    used, unused = (VerdictStore({"device": name}) for name in ("Card", "Other card"))
    for store, days in ((used, 1), (unused, verdicts.UNUSED_DAYS + 1)):
        store.keep(Verdict(family="sums", reason=None))
        os.utime(store.folder / "device.txt", (now - days * 86400,) * 2)
    found = VerdictStore({"device": "Card"})
    os.utime(used.folder / "device.txt", (now - 100 * 86400,) * 2)
    assert found.find("sums", "") is not None  # which is a use
    assert not old.exists()  # since another folder was made after it
    new.trust.require(Counted().family)
    assert {path.name for path in trust.iterdir()} == {
        "notes", used.folder.name, new.trust.store.folder.name
    }  # fmt: skip


def test_cache_that_takes_no_files(
    new: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then each process tests again, and nothing is an error."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path / "file"))
    counted = Counted()
    for other in (new, new, again(new)):
        other.trust.require(counted.family)
    assert len(counted.calls) == 2
    assert new.trust.verdicts() == []


# ------------------------------------------------------------------------------ crashes

CRASH = """
import os, signal, sys, time
from clmst.runtime.verdicts import VerdictStore
with VerdictStore({"device": "Card"}).testing("sums", "") as marker:
    print(marker.left, flush=True)
    if sys.argv[1] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    sys.stdin.read()
"""


def process(how: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", CRASH, how]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=dict(os.environ))


def left() -> int:
    with VerdictStore({"device": "Card"}).testing("sums", "") as marker:
        marker.stays = True
        return marker.left


def test_ended_process_leaves_a_marker() -> None:
    """The process that comes next must not go the same way; it learns how many have gone it."""
    for number in (0, 1):
        with process("crash") as crashed:
            assert crashed.communicate(timeout=60)[0].strip() == str(number)
        assert crashed.returncode == -signal.SIGSEGV
    assert [left(), left()] == [2, 2]  # it stays until somebody knows better
    with VerdictStore({"device": "Card"}).testing("sums", ""):
        pass
    assert left() == 0


def test_marker_of_a_process_that_is_at_it_is_none() -> None:
    with process("wait") as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == "0"
        assert left() == 0
        other.communicate("", timeout=60)
    assert left() == 0


def leave_marker(device: Device, processes: int) -> Path:
    path = device.trust.store.marker_file("sums", "")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("process 1, long ago\n" * processes)
    return path


def test_ended_processes_where_no_child_can_tell_why(new: Device) -> None:
    """One condemns nothing: it may have been killed. Two do, for any process, until tested anew.

    No child knows this family, so it is tested in the process.
    """
    counted = Counted()
    path = leave_marker(new, 1)
    new.trust.require(counted.family, "")
    assert counted.calls == [""]
    assert not path.exists()
    new.trust.store.forget("sums", "")
    path = leave_marker(new, 2)
    for other in (again(new), again(new)):
        assert str(other.trust.refusal(counted.family)).startswith("processes ended in the middle")
    assert path.read_text() == "process 1, long ago\n" * 2
    assert new.trust.test(counted.family).passed
    again(new).trust.require(counted.family)
    assert counted.calls == ["", ""]


def test_verdicts_of_an_older_edition_do_not_count(
    new: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Edition 1 condemned what was killed, edition 2 for errors that were not the device's."""
    assert verdicts.EDITION > 2
    with monkeypatch.context() as patch:
        patch.setattr(verdicts, "EDITION", 2)
        again(new).trust.store.keep(Verdict(family="sums", reason="the process ended"))
    new.trust.require(Counted().family)


def test_verdicts_are_listed(new: Device, cache: Path) -> None:
    counted = Counted()
    new.trust.require(counted.family, "wide")
    (verdict,) = again(new).trust.verdicts()
    assert (verdict.family, verdict.case, verdict.passed) == ("sums", "wide", True)
    (reported,) = cache.rglob("device.txt")
    assert json.loads(reported.read_text())["device"] == new.name
    assert [path.suffix for path in cache.rglob("*") if path.suffix == ".began"] == []
    assert isinstance(verdict, Verdict)
