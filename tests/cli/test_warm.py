"""``clmst warm``: what it prints, and its exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmst import Device
from tests.cli.results import Run, assert_fails, assert_fine, assert_not_understood
from tests.helpers.few_calls import few_calls

__all__ = ["few_calls"]


@pytest.fixture
def name(any_device: Device) -> str:
    """Return a word by which the command takes the device."""
    return any_device.name.strip()


def test_the_command_says_what_it_did(run: Run, name: str, few_calls: list[str]) -> None:
    result = run("warm", "graphs", "--device", name)
    assert_fine(result)
    assert name in result.stdout
    assert " in the caches, in " in result.stdout
    assert few_calls == ["graphs"]


def test_the_command_prints_json(run: Run, name: str, few_calls: list[str]) -> None:
    result = run("warm", "--device", name, "--json")
    assert_fine(result)
    found = json.loads(result.stdout)
    assert found["what"] == "all"
    assert found["refused"] == []
    assert found["n_built"] + found["n_ready"] >= 1
    assert few_calls == ["graphs", "points"]


def test_the_command_can_be_quiet(run: Run, name: str, few_calls: list[str]) -> None:
    result = run("warm", "points", "--device", name, "--quiet")
    assert_fine(result)
    assert result.stdout == ""
    assert few_calls == ["points"]


def test_exit_statuses_of_the_command(run: Run, few_calls: list[str], tmp_path: Path) -> None:
    assert_not_understood(run("warm", "graph"), "'graphs', 'points', 'all'")
    assert_not_understood(run("warm", "graphs", "points"))
    assert_fails(run("warm", "--device", "no such device"), "no such device")
    (file := tmp_path / "file").touch()
    assert_fails(run("warm", CLMST_CACHE=str(file / "cache")), "cannot be written")
    assert few_calls == []
