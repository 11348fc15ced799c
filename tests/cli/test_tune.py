"""``clmst tune``: a search from end to end, what it writes, and what it does if all goes wrong."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import clmst
from clmst import KernelBuildError
from clmst.algorithms.shared.solution import Solution
from clmst.runtime import tuning
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.policy import Policy
from clmst.runtime.tuning import Costs
from clmst.tune.policy_benchmark import PolicyBenchmark
from tests.caches import resolving_anew, use_own_cache
from tests.cli.results import Run, assert_fails, assert_fine
from tests.records import registered
from tests.tune.test_policy_benchmark import emptied
from tests.variants import variants

# What is tuned: the device that is used when none is asked for, whatever it is.
KIND = variants()[0].device.capabilities.kind if variants() else "cpu"
QUICK = ("tune", "--graph", "grid:rows=20,columns=20", "--repeat", "2")
# As the H200 is tuned, the size of a share of rows makes no difference there.
SECOND = "rows_per_item" if KIND == "cpu" else "work_group_size"
# The search takes them in the order of the table of parameters.
FIRST, LAST = ("edges_per_item", SECOND) if KIND == "cpu" else (SECOND, "edges_per_item")
TWO = ("--algorithm", "ecl", "--parameters", f"edges_per_item,{SECOND}", "--device", KIND)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test a table of its own, and devices that have not looked at another."""
    use_own_cache(monkeypatch, tmp_path / "cache")
    tuning._tell.cache_clear()
    with resolving_anew():
        yield


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "tuning.json"


def spoiled(
    parameter: str, spoil: Callable[[Solution, DeviceGraph], object]
) -> AbstractContextManager[Any]:
    """Let solves go wrong in their own way wherever a parameter has another value than usual."""
    usual = getattr(clmst.get_device(KIND).policy, parameter)

    def wrap(solve: Callable[..., Solution]) -> Callable[..., Solution]:
        def wrapped(graph: DeviceGraph, *given: Any, **named: Any) -> Solution:
            solution = solve(graph, *given, **named)
            if getattr(graph.device.policy, parameter) != usual:
                spoil(solution, graph)
            return solution

        return wrapped

    return registered("ecl", wrap=wrap)


@pytest.fixture
def power(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time be a power of the product of both parameters; forests are checked."""

    def compare(benchmark: PolicyBenchmark, candidate: Policy, incumbent: Policy) -> float:
        real(benchmark, candidate, incumbent)
        edges = candidate.edges_per_item / incumbent.edges_per_item
        second = getattr(candidate, SECOND) / getattr(incumbent, SECOND)
        return float((edges * second) ** request.param)

    real = PolicyBenchmark.compare
    monkeypatch.setattr(PolicyBenchmark, "compare", compare)


# Twice one of them takes 0.9 of the time.
slope = pytest.mark.parametrize("power", [-0.15], indirect=True)


def refuse(*_: object) -> None:
    raise KernelBuildError("ecl[]", "d", "error: too many registers")


@slope
@pytest.mark.usefixtures("power")
def test_from_search_to_use(run: Run, table: Path) -> None:
    """What is found is written, and devices use it from then on."""
    result = run(*QUICK, *TWO, "--json")
    assert_fine(result)
    report = json.loads(result.stdout)
    assert report["ending"] == "complete"
    assert report["gain"] < 0.9
    assert set(report["values"]) >= {"edges_per_item", SECOND}
    assert {step["name"] for step in report["steps"]} == {"edges_per_item", SECOND}
    assert report["graphs"] == ["grid:rows=20,columns=20"]
    assert report["written"] == str(table)
    (entry,) = json.loads(table.read_text())["entries"]
    assert (entry["values"], entry["figures"]) == (report["values"], report["figures"])
    assert entry["clmst"] == clmst.__version__
    with resolving_anew():
        device = clmst.get_device(KIND)
    assert device.tuning.source == "user"
    for name, value in report["values"].items():
        assert getattr(device.policy, name) == value
    listed = json.loads(run("devices", "--json").stdout)
    (shown,) = [e["tuning"] for e in listed if e["name"] == device.name]
    assert (shown["source"], shown["measured"]) == ("user", entry["measured"])
    assert "tuning: your own" in run("devices").stdout


def test_from_costs_to_use(run: Run, table: Path) -> None:
    """They are written beside what was tuned, and a solver goes by them; a dry run writes none."""
    quick = (*QUICK, "--costs")
    result = run(*quick, "--dry-run")
    assert_fine(result)
    assert "edge_ns" in result.stdout
    assert not table.exists()
    result = run(*quick, "--json")
    assert_fine(result)
    report = json.loads(result.stdout)
    assert report["written"] == str(table)
    assert report["before"].keys() == report["values"].keys() >= {"solve_us", "cell_ns"}
    with resolving_anew():
        device = clmst.get_device()
    assert device.tuning.source == "user"
    assert Costs.of(device).edge_ns == report["values"]["edge_ns"]
    assert Costs.of(device).solve_ms == pytest.approx(1e-3 * report["values"]["solve_us"])


@pytest.mark.parametrize("power", [0], indirect=True)
@pytest.mark.usefixtures("power")
@pytest.mark.parametrize("elsewhere", [False, True])
def test_nothing_is_written_without_a_gain(
    run: Run, table: Path, tmp_path: Path, elsewhere: bool
) -> None:
    """Today's values in a table of one's own would stay when better ones are shipped."""
    output = tmp_path / "mine.json"
    more = ("-o", output) if elsewhere else ()
    report = json.loads(run(*QUICK, *TWO, *more, "--json").stdout)
    assert (report["gain"], report["written"], report["ending"]) == (1.0, None, "complete")
    assert len(report["steps"]) > 2
    shown = run(*QUICK, *TWO, *more).stdout
    assert "nothing was quicker than the values before" in shown
    assert "nowhere" in shown
    assert not table.exists()
    assert not output.exists()


@slope
@pytest.mark.usefixtures("power")
def test_output_goes_elsewhere(run: Run, table: Path, tmp_path: Path) -> None:
    """Or nowhere, in a dry run."""
    output = tmp_path / "mine.json"
    dry = run(*QUICK, *TWO, "-o", output, "--dry-run")
    assert_fine(dry)
    assert "nowhere" in dry.stdout
    assert not output.exists()
    result = run(*QUICK, *TWO, "-o", output)
    assert_fine(result)
    device = clmst.get_device(KIND)
    for word in ("edges_per_item", SECOND, "ecl", device.name, device.driver, str(output)):
        assert word in result.stdout
    assert output.exists()
    assert not table.exists()


def test_list_does_nothing(run: Run, table: Path) -> None:
    result = run("tune", "--list", "--device", KIND, "--algorithm", "boruvka")
    assert_fine(result)
    assert "radix_bits" in result.stdout
    assert "hub_row" not in result.stdout  # it makes no difference to this algorithm
    assert not table.exists()
    other = run("tune", "--device", KIND, "--parameters", "hub_row")
    assert_fails(other, "hub_row makes no difference to")


def test_budget_that_is_over_at_once(run: Run, table: Path) -> None:
    """Nothing was measured, so nothing is claimed."""
    result = run(*QUICK, *TWO, "--budget", "1e-9")
    assert_fine(result)
    assert "the time was up" in result.stdout
    assert not table.exists()


def test_candidate_that_fails_is_shown(run: Run) -> None:
    one = ("--algorithm", "ecl", "--parameters", "edges_per_item", "--device", KIND)
    with spoiled("edges_per_item", refuse):
        report = json.loads(run(*QUICK, *one, "--json").stdout)
    failed = [step for step in report["steps"] if step["name"] == "edges_per_item"]
    assert 1 <= len(failed) <= 2  # one above, one below, where there is one
    for step in failed:
        assert step["verdict"] == "refused"
        assert step["note"] == "does not build: error: too many registers"
    assert report["values"]["edges_per_item"] == failed[0]["against"]


@slope
@pytest.mark.usefixtures("power")
def test_wrong_forest_is_a_bug_and_never_written(run: Run, table: Path) -> None:
    usual = clmst.get_device(KIND).policy.edges_per_item
    with spoiled("edges_per_item", emptied):
        result = run(*QUICK, *TWO, "--quiet")
    assert_fails(result, "another forest of grid", "edges_per_item", "please report it")
    (entry,) = json.loads(table.read_text())["entries"]
    assert entry["values"]["edges_per_item"] == usual
    assert "edges_per_item" not in entry["figures"] or entry["figures"]["edges_per_item"] == {}


@slope
@pytest.mark.usefixtures("power")
def test_interrupt_keeps_the_best(run: Run, table: Path) -> None:
    def press_ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    with spoiled(LAST, press_ctrl_c):
        result = run(*QUICK, *TWO)
    assert (result.exit_code, result.stderr) == (
        130,
        "clmst: error: interrupted; the best so far was kept\n",
    )
    assert "interrupted" in result.stdout
    (entry,) = json.loads(table.read_text())["entries"]
    assert FIRST in entry["values"]


def test_bad_table_warns_in_one_line_and_is_not_overwritten(
    run: Run, table: Path, sample: Path
) -> None:
    table.write_text("{")
    result = run("solve", sample, "--quiet")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"clmst: warning: {table} is no JSON")
    assert_fails(run(*QUICK, *TWO), "is no JSON", "move it away")
    assert table.read_text() == "{"


def read_terminal(master: int) -> str:
    """Return what is written to a terminal until nobody has it open any more."""
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # that is how Linux says so
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


@pytest.mark.parametrize("more", [("--budget", "1"), ("--budget", "1", "--json")])
def test_progress_on_a_terminal(more: tuple[str, ...]) -> None:
    """What is tried shows on stderr, but beside JSON, and the result alone on stdout."""
    master, slave = pty.openpty()
    with (
        ThreadPoolExecutor(1) as pool,
        subprocess.Popen(
            [sys.executable, "-m", "clmst.cli", *QUICK, *TWO, *more],
            stdout=subprocess.PIPE,
            stderr=slave,
            env=os.environ | {"TERM": "xterm"},
        ) as started,
    ):
        os.close(slave)
        reading = pool.submit(read_terminal, master)  # or the command waits once its buffer is full
        assert started.stdout is not None
        shown = started.stdout.read().decode()
        progress = reading.result()
    os.close(master)
    assert started.returncode == 0
    assert ("best so far" in progress) is ("--json" not in more)
    assert "best so far" not in shown
    assert "written" in shown
