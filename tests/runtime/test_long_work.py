"""Builds and self-tests: what is logged of them, and the warning while one takes long."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from clmst import Device
from clmst.cli.terminal import Progress
from clmst.runtime import program
from clmst.runtime.kernel_family import KernelFamily
from clmst.runtime.specialisation import specialise
from tests.bounds import bounds
from tests.caches import use_own_cache
from tests.capabilities import Saying
from tests.processes import run_python


@pytest.fixture(autouse=True)
def silent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no self-test be one that was done."""
    use_own_cache(monkeypatch, tmp_path)


def family(lasts: float, seen: list[str]) -> KernelFamily:
    """Return a family whose self-test takes so long, and notes what progress shows then."""

    def test(device: Device, case: object) -> None:
        time.sleep(lasts)
        seen.append(str(Progress("solving", None).__rich__()))

    return KernelFamily(name="sums", what="sums", test=test)


def test_each_build_is_logged_with_its_seconds(
    any_device: Device, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path / "without programs"))
    one = specialise("device/fill.cl", any_device.capabilities, any_device.policy)
    with caplog.at_level(logging.INFO, "clmst"):
        program.build(any_device.context, any_device.cl_device, one)
    (record,) = caplog.records
    assert record.name == "clmst"
    assert record.levelname == "INFO"
    expected = f"compiling kernels (fill) for {any_device.name.strip()} took "
    assert record.getMessage().startswith(expected)


@bounds(patience_seconds=0.02)
def test_a_long_self_test_has_one_warning_and_while_it_goes_on(
    any_device: Device, caplog: pytest.LogCaptureFixture
) -> None:
    shown = list[str]()
    device = Device(Saying(any_device.cl_device, name="a card"))  # which has had no warning
    with caplog.at_level(logging.INFO, "clmst"):
        for case in ("a", "b"):
            device.trust.require(family(0.3, shown), case)
    text = (
        f"compiling and testing kernels for {device.name}, once for this device and driver (sums)"
    )
    assert [one.levelname for one in caplog.records] == ["WARNING", "INFO", "INFO"]
    assert caplog.records[0].getMessage() == text
    assert shown == ["solving ... compiling and testing kernels (sums)"] * 2
    assert str(Progress("solving", lambda: "42%").__rich__()) == "solving ... 42%"


def test_short_work_has_no_warning(any_device: Device, caplog: pytest.LogCaptureFixture) -> None:
    Device(any_device.cl_device).trust.require(family(0.0, []))
    assert caplog.records == []


def test_it_is_on_stderr_of_a_program_that_knows_nothing_of_logging() -> None:
    script = """
import time
from clmst.runtime.long_work import timed
from tests.bounds import bounds
with bounds(patience_seconds=0.02), timed("compiling kernels", "solve", "a device"):
    time.sleep(0.3)
"""
    done = run_python("-c", script)
    assert done.stdout == ""
    assert done.stderr == (
        "compiling kernels for a device, once for this device and driver (solve)\n"
    )
