"""Runs: what is planted is found, recorded, shrunk and reproduced; what is done is not done twice.

Everything runs in child processes, on the default device, in a block of one dtype in one variant.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prove import __main__ as command
from tests.prove import cases, failures
from tests.prove.cases import Plan
from tests.prove.plants import FAULTS, is_struck
from tests.prove.run import Run, child_on, outcome_in
from tests.prove.state import State, Tally

SEED = 31  # whose first block is of i4, maximum, and as the device is


def run(path: Path, *arguments: str) -> int:
    return command.main(["--seed", str(SEED), "--block", "800", "--json", str(path), *arguments])


@pytest.mark.slow
@pytest.mark.parametrize(
    "verdict",
    [
        pytest.param(name, marks=[] if name == "wrong" else pytest.mark.exhaustive)
        for name in FAULTS
    ],
)
def test_planted_fault_is_found_and_shrunk(
    tmp_path: Path, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A star of three edges is the least graph with a vertex of three.

    The standard run takes wrong forests. What ends a process or hangs takes a process a step.
    """
    path = tmp_path / "run.json"
    # What ends a process or hangs takes a process a step: here only few steps are taken.
    seconds, limit = {"crash": ("5", "60"), "hang": ("1", "10")}.get(verdict, ("30", "60"))
    options = ("--plant", verdict, "--shrink-seconds", seconds, "--time-limit", limit)
    number = first_struck()
    assert run(path, "--cases", str(number + 2), *options) == 1
    printed = capsys.readouterr().out
    state = json.loads(path.read_text())
    assert state["counts"][f"verdict/{verdict}"] == 1
    assert state["cases"] == number + 2  # goes on behind it
    assert [(one["number"], one["verdict"]) for one in state["failures"]] == [(number, verdict)]
    file = tmp_path / "run-failures" / f"case-{number}.json"
    assert f"--reproduce {file}" in printed
    case, record = failures.read(file)
    assert (record["seed"], record["number"], record["verdict"]) == (SEED, number, verdict)
    if verdict in ("wrong", "foreign error"):
        assert (case.sample.n, case.sample.m) == (4, 3)
    else:  # how far it comes in that time depends on the machine
        assert case.sample.m <= record["found with"]["edges"]
        few = replace(case, sample=case.sample.induced(np.arange(3)))
        with child_on(None, verdict) as child:
            found = [outcome_in(child, one, float(limit)).verdict for one in (case, few)]
        assert found == [verdict, "right"]
    assert command.main(["--reproduce", str(file), "--plant", verdict, "--time-limit", limit]) == 1
    assert capsys.readouterr().out.startswith(verdict)
    assert command.main(["--reproduce", str(file)]) == 0
    assert capsys.readouterr().out.startswith("right")


def first_struck() -> int:
    """Return the number of the first case that a planted fault happens to."""
    plan, number = Plan(seed=SEED, block=800), 0
    while not _happens(plan.case(number)):
        number += 1
    return number


def _happens(case: cases.Case) -> bool:
    if case.algorithm != "prim" or case.input_form.startswith("repeated"):
        return False
    return is_struck(cases.expected_of(case.sample, maximum=case.maximum).edges)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path, whole = tmp_path / "run.json", tmp_path / "whole.json"
    assert run(path, "--cases", "20") == 0
    assert State.load(path).cases == 20
    assert run(path, "--cases", "26", "--seed", "77") == 0  # the file's seed counts
    assert run(whole, "--cases", "26") == 0
    assert State.load(path).done == State.load(whole).done == {0: 26}
    assert State.load(path).tally == State.load(whole).tally
    record = json.loads(path.read_text())
    assert record["wrong"] == 0
    assert [one["cases"] for one in record["runs"]] == [20, 6]
    assert record["runs"][0]["machine"]["driver"]
    assert record["runs"][0]["sources"]
    assert record["counts"]["total/oracle checked"] >= 1


def test_no_case_begins_when_the_time_is_over(tmp_path: Path) -> None:
    """Neither the first case nor a later one begins.

    Otherwise runs on slow devices would not end.
    """
    path = tmp_path / "run.json"
    assert run(path, "--minutes", "0.0001", "--workers", "2") == 0
    assert State.load(path).cases == 0

    def slow(*_: object) -> Any:
        time.sleep(0.1)
        return Tally(["total/cases"]), []

    state = State(plan=Plan(seed=SEED, block=800), device=None)
    child: Any = SimpleNamespace(ask=slow)
    Run(state, path=path, minutes=0.25 / 60).run_block(child, 0, 0, 800)
    assert state.cases == state.done[0] <= 3


def test_device_that_is_not_usable_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is run on it, and nothing is counted."""
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    path = tmp_path / "run.json"
    assert run(path, "--cases", "100") == 0
    assert capsys.readouterr().out.startswith("refused: no OpenCL device was found")
    record = json.loads(path.read_text())
    assert record["cases"] == 0
    assert record["runs"][0]["refused"].startswith("no OpenCL device was found")


@pytest.mark.slow
def test_report_adds_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    run(path, "--cases", "20")
    capsys.readouterr()
    assert command.main(["--report", str(path), str(path)]) == 0
    rows = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows[2:5]]
    verdicts = State.load(path).tally.table("verdict")
    assert [row[6] for row in cells] == [str(k * verdicts["right"]) for k in (1, 1, 2)]
    assert {row[8] for row in cells} == {"0"}


@pytest.mark.parametrize("subject", ["solves", "primitives"])
def test_one_case_alone(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--seed", str(SEED), "--block", "800", "--subject", subject, "--case", "17"]
    assert command.main(options) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == str(Plan(seed=SEED, block=800, subject=subject).case(17))
    assert last.startswith(("right", "refused"))


@pytest.mark.parametrize("number", [0, 8, 40, 808, 1608])
def test_file_keeps_every_bit(tmp_path: Path, number: int) -> None:
    case = Plan(seed=3, block=8).case(number)
    failures.write(tmp_path / "case.json", case, device=None, verdict="wrong")
    read, _ = failures.read(tmp_path / "case.json")
    for name in ("u", "v", "w"):
        np.testing.assert_array_equal(
            getattr(read.sample, name), getattr(case.sample, name), strict=True
        )
    assert read.key == case.key
    assert read.sample.w.tobytes() == case.sample.w.tobytes()


def test_shrinking_ends_at_the_least_graph() -> None:
    """A failure that needs only two parallel edges is reduced to them. This needs no device."""
    plan, number = Plan(seed=3, block=8), 0
    while has_parallel(case := plan.case(number)) < 5 or case.sample.coordinates is not None:
        number += 8
    kept: list[Any] = []
    case = replace(case, input_form="edge arrays")
    least: Any = failures.shrink(case, lambda c: has_parallel(c) > 0, 1e300, kept.append)
    assert least.sample.m == 2
    assert least.sample.n <= 2
    assert kept[-1] is least


def has_parallel(case: Any) -> int:
    sample = case.sample
    return int(sample.m - np.unique(sample.low * sample.n + sample.high).size)
