"""``clmst bench`` from the command line to files."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from clmst import kruskal
from tests.bench.samples import file_of, graph_of, results_of
from tests.cli.results import Run, assert_fails, assert_not_understood
from tests.helpers.records import registered

QUICK = ("--quick", "--repeat", 2)
WEIGHT = kruskal(graph_of()).total_weight


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return file_of(tmp_path / "tiny.egr")


def measurements(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text())["measurements"]
    return found


def assert_well(result: Result) -> None:
    assert result.exit_code == 0, result.output


def test_help_and_list(run: Run) -> None:
    for option, words in (
        ("--help", ("--resume", "--merge", "solve_ms X", "transfer_ms X", "weight W", "{file}")),
        ("--list", ("rmat16", "soc-LiveJournal1")),
    ):
        result = run("bench", option)
        assert_well(result)
        assert all(word in result.stdout for word in words)


def test_everything_on_a_tiny_graph(run: Run, graph: Path, tmp_path: Path) -> None:
    file, folder = tmp_path / "out.json", tmp_path / "figures"
    right = f"print('solve_ms 0.5\\nsolve_ms 0.7\\nweight {WEIGHT}')"
    script = tmp_path / "peer.py"
    script.write_text(right)
    result = run(
        "bench", graph, *QUICK, "--what", "times,ablation,seeds,scaling,degree", "--seeds", 2,
        "--vertices", "64,256", "--degrees", "2,4", "--degree-vertices", 64,
        "--algorithm", "boruvka", "--algorithm", "ecl", "--cache", tmp_path / "cache",
        "--peer", f"right={sys.executable} {script}", "--peer", "broken=false",
        "--output", file, "--plot", folder, "--tables",
    )  # fmt: skip
    assert_well(result)
    text = result.stdout
    assert "### Times, " in text
    assert "| graph | vertices | slots | clmst boruvka ms | spread | clmst ecl ms |" in text
    assert "### Ablation of ecl, ms" in text
    assert "| paper's effect |  | +27% |" in text
    assert "| tiny | times | broken | solve | failed | exit status 1: no message |" in text
    assert "tiny: seeds" in result.stderr
    assert {path.name for path in folder.iterdir()} >= {"throughput.png", "degree.png"}
    found = {(one["experiment"], one["contestant"]): one for one in measurements(file)}
    assert found["times", "right"]["seconds"] == [0.0005, 0.0007]
    assert found["times", "right"]["ours"] is False
    assert len(found["times", "clmst ecl"]["seconds"]) == 2
    machine = next(iter(json.loads(file.read_text())["machines"].values()))
    assert {"device", "platform", "driver", "host", "versions", "commands"} <= machine.keys()
    # the peers print the weight of the random graphs, not of this graph
    assert {one["status"] for one in measurements(file) if one["contestant"] == "right"} == {
        "ok", "wrong",
    }  # fmt: skip


def test_options_of_algorithms(run: Run, graph: Path, tmp_path: Path) -> None:
    """Contestants are told apart by their options, also when a run goes on."""
    file = tmp_path / "out.json"
    given = ("bench", graph, *QUICK, "--no-transfers", "--output", file)
    two = ("--algorithm", "pma", "--algorithm", "pma gamma=3", "--algorithm", "ecl")
    assert_well(run(*given, *two, "--option", "gamma=2", "--option", "samples=20"))
    names = {"clmst pma gamma=2", "clmst pma gamma=3", "clmst ecl samples=20"}
    assert {one["contestant"] for one in measurements(file)} == names
    assert_well(run(*given, "--algorithm", "boruvka", "--resume"))
    found = measurements(file)
    assert {one["contestant"] for one in found} == names | {"clmst boruvka"}
    assert len({one["benchmark"] for one in found}) == 1
    assert {one["status"] for one in found} == {"ok"}
    wrong = run("bench", graph, *QUICK, *two, "--option", "gama=2")
    assert_not_understood(wrong, "there is no option 'gama'; pma takes variant, gamma")


def test_table_on_the_screen(run: Run, graph: Path) -> None:
    result = run("bench", graph, *QUICK, "--no-transfers")
    assert_well(result)
    assert "Times, " in result.stdout
    assert "geometric mean" in result.stdout
    assert "on the host" in result.stdout
    assert "|" not in result.stdout
    assert run("bench", graph, *QUICK, "--no-transfers", "-q").output == ""


def test_resume(run: Run, graph: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "out.json", file_of(tmp_path / "other.egr")
    first = run("bench", graph, *QUICK, "--no-transfers", "--output", file)
    assert_well(first)
    before = measurements(file)
    again = run("bench", graph, other, *QUICK, "--no-transfers", "--output", file, "--resume")
    assert_well(again)
    assert "tiny: times: measured already" in again.stderr
    assert measurements(file)[: len(before)] == before
    assert {one["graph"] for one in measurements(file)} == {"tiny", "other"}
    refused = run("bench", graph, *QUICK, "--output", file)
    assert_not_understood(refused, "out.json exists already", "--resume")


def test_failing_device_is_an_error_after_the_report(run: Run, graph: Path, tmp_path: Path) -> None:
    """One line says what went wrong; what was measured is there all the same."""
    calls = count(1)

    def vanishing(solve: Callable[..., Any]) -> Callable[..., Any]:
        def vanish(*args: Any, **kwargs: Any) -> Any:
            if next(calls) > 3:
                raise RuntimeError("clFinish failed: DEVICE_LOST")
            return solve(*args, **kwargs)

        return vanish

    file = tmp_path / "out.json"
    names = ("--algorithm", "boruvka", "--algorithm", "ecl")
    with registered("boruvka", wrap=vanishing):
        result = run("bench", graph, *QUICK, "--no-transfers", *names, "--output", file, "-q")
    first, *_ = failed = [one for one in measurements(file) if one["status"] == "failed"]
    assert len({one["scope"] for one in failed}) == 2
    words = f"2 of 4 measurements have no times; the first is {first['graph']}, ", first["scope"]
    assert_fails(result, *words, "boruvka", "DEVICE_LOST")
    statuses = {(one["contestant"], one["status"]) for one in measurements(file)}
    assert statuses == {("clmst boruvka", "failed"), ("clmst ecl", "ok")}


def test_merge(run: Run, tmp_path: Path) -> None:
    for name, device, pace in (("a", "Swift GPU", 1.0), ("b", "Slow GPU", 2.0)):
        results = results_of(name, device, pace)
        results.path = tmp_path / f"{name}.json"
        results.save()
    both, whole = (tmp_path / "a.json", tmp_path / "b.json"), tmp_path / "whole.json"
    result = run("bench", "--merge", *both, "--tables", "--output", whole, "--plot", tmp_path / "f")
    assert_well(result)
    assert "### Devices side by side, clmst auto: " in result.stdout
    assert "| Swift GPU ms | spread | Slow GPU ms | spread | ratio |" in result.stdout
    assert len(json.loads(whole.read_text())["machines"]) == 2
    assert (tmp_path / "f" / "devices_throughput.png").is_file()
    assert_fails(run("bench", "--merge", *both, whole), "each measurement may be in one file only")
    assert_fails(run("bench", "--merge", tmp_path / "none.json"), "no such file")
