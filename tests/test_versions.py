"""What a report of a fault has: ``clmst.show_versions`` and ``clmst --versions``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import clmst
from clmst import Device
from clmst.cli import root
from clmst.runtime.verdicts import Verdict
from tests.helpers.caches import resolving_anew
from tests.helpers.processes import run_python


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    clmst.show_versions(as_json=True)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@resolving_anew()
def test_it_has_what_a_fault_depends_on(
    any_device: Device, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    """System, packages, drivers, devices with verdicts, caches, settings."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    monkeypatch.setenv("CLMST_WITHOUT", "int64-atomics")
    store = Device(any_device.cl_device, without=("int64-atomics",)).trust.store
    store.keep(Verdict(family="ecl", case="wide", reason="3 edges came out wrong"))
    store.keep(Verdict(family="scan", reason=None))
    (tmp_path / "binaries").mkdir(exist_ok=True)
    (tmp_path / "binaries" / "one").write_bytes(b"\0" * 2_000_000)
    found = report(capsys)
    assert found["system"]["clmst"] == clmst.__version__
    assert found["packages"]["numpy"] == __import__("numpy").__version__
    assert isinstance(found["drivers"]["files"], list)
    (chosen,) = [one for one in found["devices"] if one["status"] == "usable, and chosen"]
    assert chosen["device"] == any_device.description
    assert chosen["driver"] == any_device.driver
    assert chosen["refused"] == {"ecl wide": "3 edges came out wrong"}
    assert chosen["passed"] == ["scan"]
    assert found["caches"]["folder"] == str(tmp_path)
    assert found["caches"]["compiled kernels"].startswith("2.0 MB, ")
    assert found["settings"]["CLMST_WITHOUT"] == "int64-atomics"


def test_the_command_prints_the_same(
    any_device: Device, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    """The cache is the test's own: other processes fill the one of all tests meanwhile."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    clmst.show_versions()
    text = capsys.readouterr().out
    result = CliRunner().invoke(root.main, ["--versions"])
    assert result.exit_code == 0
    assert result.stdout == text
    for words in (clmst.__version__, any_device.description, any_device.driver, "compiled kernels"):
        assert words in text
    assert max(map(len, text.splitlines()[:10])) < 200


@pytest.mark.parametrize("lacking", ["PyOpenCL", "a driver", "a sound setting"])
def test_it_is_for_machines_where_something_is_wrong(lacking: str, tmp_path: Path) -> None:
    """What is missing is in the report, which comes all the same."""
    script = """
import sys
if LACKING == "PyOpenCL":
    sys.modules["pyopencl"] = None
import clmst
clmst.show_versions(as_json=True)
"""
    environment = {"OCL_ICD_VENDORS": str(tmp_path), "CLMST_DEVICE": "no such device"}
    if lacking == "a sound setting":
        environment = {"CLMST_WITHOUT": "colours"}
    done = run_python("-c", script.replace("LACKING", repr(lacking)), environment=environment)
    found = json.loads(done.stdout)
    words = "names 'colours'" if lacking == "a sound setting" else "none: the host solves; install"
    assert words in found["devices"]
    assert found["settings"].items() >= environment.items()


def test_wrong_use() -> None:
    with pytest.raises(clmst.InvalidArgumentError, match="as_json is 'yes'; it must be True or F"):
        clmst.show_versions(as_json="yes")  # type: ignore[arg-type]
