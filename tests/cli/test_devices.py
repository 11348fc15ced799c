"""``clmst devices``: what is there, what is wrong with it, and what to do without any."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import clmst
from clmst import families
from clmst.cli.devices import test_reports as reports_of
from clmst.families import BY_NAME, FAMILIES
from clmst.runtime import child, listing
from clmst.runtime.device import Device
from clmst.runtime.verdicts import Verdict
from tests.cli.results import Run, assert_fails, assert_fine
from tests.faults.mock_driver import LAST_WORDS, MockDriver
from tests.helpers.caches import resolving_anew


def families_are(*names: str, **changes: Any) -> Any:
    """Let there be families of some names alone, changed."""
    return patch.object(families, "FAMILIES", [replace(BY_NAME[one], **changes) for one in names])


@pytest.fixture
def _two_families() -> Iterator[None]:
    with families_are("segments", "permute"):
        yield


def test_table(run: Run) -> None:
    result = run("devices")
    assert_fine(result)
    chosen = clmst.get_device()
    for word in (chosen.name, chosen.platform, chosen.driver, chosen.capabilities.kind, "chosen"):
        assert word in result.stdout


def test_json(run: Run) -> None:
    result = run("devices", "--json")
    assert_fine(result)
    entries = json.loads(result.stdout)
    assert len(entries) == len(clmst.devices())
    (chosen,) = [entry for entry in entries if entry["chosen"]]
    device = clmst.get_device()
    assert (chosen["name"], chosen["usable"], chosen["reason"]) == (device.name, True, None)
    assert chosen["compute_units"] == device.capabilities.compute_units
    assert chosen["int64_atomics"] is device.capabilities.int64_atomics
    assert chosen["lanes"] == device.capabilities.lanes


def test_forced_off_capability_shows(run: Run) -> None:
    entries = json.loads(run("devices", "--json", CLMST_WITHOUT="int64-atomics").stdout)
    assert not any(entry["int64_atomics"] for entry in entries)


def test_no_device_says_what_to_install(run: Run) -> None:
    with resolving_anew(None):
        result, listed = run("devices"), run("devices", "--json")
    assert_fails(result, "no OpenCL device was found", "pip install 'intel-cmplr-lib-rt>=")
    assert result.stdout == ""
    assert json.loads(listed.stdout) == []


def test_unusable_device_is_shown_with_its_reason(run: Run) -> None:
    """A device whose compiler is broken is listed, never chosen, and says why."""
    device = Device(clmst.get_device().cl_device)
    device.trial_failure = "cannot build a kernel: unknown target CPU"
    with resolving_anew(device):
        result = run("devices")
    assert_fails(result, "no usable OpenCL device", "unknown target CPU", "pip install")
    shown = " ".join(result.stdout.split())
    assert "unusable: cannot build a kernel: unknown target CPU" in shown
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert "chosen" not in result.stdout


def test_driver_that_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not a device, so it cannot be used; its reason stands behind all devices."""
    monkeypatch.setattr(listing, "left_out", lambda: {"rogue.so": "it ends the process"})
    entry = json.loads(run("devices", "--json").stdout)[-1]
    assert (entry["name"], entry["usable"]) == ("rogue.so", False)
    assert entry["reason"] == "it ends the process"
    assert "rogue.so is left out: it ends the process" in run("devices").stdout


def test_variable_that_matches_nothing(run: Run) -> None:
    result = run("devices", CLMST_DEVICE="abacus")
    assert_fails(result, "'abacus'", clmst.get_device().description)


def test_trust_is_shown(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was found out so far, in words that frighten nobody; looking tests nothing."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    with resolving_anew():
        shown = " ".join(run("devices").stdout.split())
    assert "trust: kernels are tested before their first use" in shown
    assert "not tried" not in shown
    store = Device(clmst.get_device().cl_device).trust.store
    store.keep(Verdict(family="ecl", case="wide", reason="3 edges came out wrong"))
    store.keep(Verdict(family="scan", reason=None))
    with resolving_anew():
        shown = " ".join(run("devices").stdout.split())
        (chosen,) = [e for e in json.loads(run("devices", "--json").stdout) if e["chosen"]]
    assert "trust: passed scan; refused ecl; others are tested before their first use" in shown
    states = {one["family"]: (one["state"], one["reason"]) for one in chosen["families"]}
    assert list(states) == [family.name for family in FAMILIES]
    assert states["ecl"] == ("refused", "wide: 3 edges came out wrong")
    assert states["scan"] == ("passed", None)
    assert states["pma"] == ("not tried", None)


def test_family_that_a_device_never_uses(run: Run) -> None:
    """It is not tested there, and not among those that are still to be tried."""
    with families_are("map", suits=lambda _: False):
        assert "families not tried" not in run("devices").stdout
        entries = json.loads(run("devices", "--json").stdout)
        assert re.search(r"map +0 .*not used", run("devices", "--test").stdout)
        assert list(families.tested(clmst.get_device(), families.FAMILIES[0])) == []
    assert {one["state"] for entry in entries for one in entry["families"]} == {"not used"}


@pytest.mark.usefixtures("_two_families")
def test_families_tested_anew(run: Run) -> None:
    """In a child process, with a table, or JSON."""
    name = clmst.get_device().platform
    table = run("devices", "--test", "--device", name)
    assert_fine(table)
    assert re.search(r"segments +1 .*passed", table.stdout)
    (entry,) = json.loads(run("devices", "--test", "--json", "--device", name).stdout)
    assert (entry["platform"], entry["usable"], entry["reason"]) == (name, True, None)
    assert [(one["family"], one["state"]) for one in entry["families"]] == [
        ("segments", "passed"),
        ("permute", "passed"),
    ]
    assert_fails(run("devices", "--test", "--device", "abacus"), "'abacus'")


@pytest.mark.usefixtures("_two_families")
def test_family_that_ends_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is refused, and another process goes on with the others."""
    mock = MockDriver(log=str(tmp_path / "deaths"), builds="primitives/segments.cl", how="SIGABRT")
    environment = mock.environment(tmp_path)
    for name in environment.keys() - os.environ.keys() | {"PYTHONPATH"}:
        monkeypatch.setenv(name, environment[name])
    child._child.end()  # which other tests may have started, without the mock
    device = Device(clmst.get_device().cl_device)
    found = {one.family: one.reason for one in reports_of(device)}
    ended = f"its self-test ends the process (SIGABRT): {LAST_WORDS}"
    assert found == {"segments": ended, "permute": None}


def test_family_that_cannot_be_tested() -> None:
    """Without memory the table says so, and the command goes on."""

    def no_memory(_: Device) -> bool:
        raise clmst.OutOfDeviceMemoryError("nothing is left")

    with families_are("segments", "permute", suits=no_memory):
        found = reports_of(Device(clmst.get_device().cl_device))
    assert [one.reason for one in found] == ["nothing is left"] * 2
