"""``clmst devices``: what is there, what is wrong with it, and what to do without any."""

from __future__ import annotations

import json

import pytest

import clmst
from clmst.runtime import discovery
from clmst.runtime.device import Device
from tests.cli.results import Run, assert_fails, assert_fine


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


def test_no_device_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "enumerate_devices", list)
    monkeypatch.setattr(discovery, "_resolved", {})
    result = run("devices")
    assert_fails(result, "no OpenCL device was found", "pip install 'clmst[cpu]'")
    assert result.stdout == ""
    assert json.loads(run("devices", "--json").stdout) == []


def test_unusable_device_is_shown_with_its_reason(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device whose compiler is broken is listed, never chosen, and says why."""
    monkeypatch.setattr(Device, "trial_failure", "cannot build a kernel: unknown target CPU")
    monkeypatch.setattr(discovery, "_resolved", {})
    result = run("devices")
    assert_fails(result, "no usable OpenCL device", "unknown target CPU", "pip install")
    assert "cannot build a kernel: unknown target CPU" in result.stdout
    assert "chosen" not in result.stdout


def test_variable_that_matches_nothing(run: Run) -> None:
    result = run("devices", CLMST_DEVICE="abacus")
    assert_fails(result, "'abacus'", clmst.get_device().description)
