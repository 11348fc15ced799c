"""``clmst solve``: every output, every option, and every file that it must refuse."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.algorithms import registry
from clmst.io import read_forest, read_graph
from tests.cli.results import Run, assert_fails, assert_fine, assert_not_understood
from tests.faults.injection import inject
from tests.helpers.kernel_sources import COARSE_KEYS, miscomputing
from tests.repeated.device_sets import every_device_set

ROUNDS = "filter-boruvka"  # an algorithm that has some


def summary_of(run: Run, *arguments: object) -> dict[str, Any]:
    result = run("solve", *arguments, "--json")
    assert_fine(result)
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


# ------------------------------------------------------------------- what it tells


def test_table_names_every_figure(run: Run, sample: Path) -> None:
    result = run("solve", sample, "--algorithm", ROUNDS)
    assert_fine(result)
    words = " ".join(result.stdout.split())
    assert words.startswith(
        f"file {sample} vertices 6 edges 4 components 3 forest edges 3 total weight 10 (int64) "
        f"forest minimum algorithm {ROUNDS} device {clmst.get_device().description} rounds "
    )
    for stage in ("open device", "read", "convert", "solve"):
        assert f" time to {stage} " in words


def test_piped_table_is_not_cut(run: Run, sample: Path) -> None:
    """A path longer than any window is there whole, and [bold] is not taken for a style by Rich."""
    folder = sample.parent.joinpath(*["long" * 10] * 8)
    folder.mkdir(parents=True)
    path = sample.rename(folder / "[bold]graph[x].txt")
    assert str(path) in run("solve", path, COLUMNS="40").stdout


def test_json_has_the_totals(run: Run, sample: Path) -> None:
    summary = summary_of(run, sample, "--algorithm", ROUNDS)
    seconds = summary.pop("seconds")
    assert list(seconds) == ["open_device", "read", "convert", "solve"]
    assert all(value >= 0 for value in seconds.values())
    assert summary["rounds"] >= 1
    assert summary["launches"] >= summary["rounds"]
    expected = {
        "file": str(sample),
        "n_vertices": 6,
        "n_edges": 4,
        "n_components": 3,
        "n_forest_edges": 3,
        "total_weight": 10,
        "weight_dtype": "int64",
        "maximum": False,
        "algorithm": ROUNDS,
        "device": clmst.get_device().description,
        "verified": False,
    }
    assert {key: summary[key] for key in expected} == expected


@pytest.mark.usefixtures("in_steps")
def test_algorithm_is_the_one_that_solved(run: Run, sample: Path) -> None:
    """Whoever compares times must know what "auto" was."""
    summary = summary_of(run, sample)
    found = clmst.minimum_spanning_forest(read_graph(sample))
    assert summary["algorithm"] == found.stats["algorithm"]
    assert summary["algorithm"] in registry.ALGORITHMS


def test_options_of_an_algorithm(run: Run, sample: Path) -> None:
    """The command has Python's options, which change how the graph is solved."""
    first = ("--algorithm", "prim-boruvka", "--option")
    rounds = [summary_of(run, sample, *first, f"rounds={k}")["rounds"] for k in (0, 1)]
    assert rounds[0] < rounds[1]
    for option, complaint in (
        ("round=1", "there is no option 'round'; prim-boruvka takes rounds, prim.queue"),
        ("rounds=some", "rounds is 'some'; it must be an integer"),
    ):
        assert_not_understood(run("solve", sample, *first, option), complaint)
    no_algorithm = run("solve", sample, "--option", "rounds=1")
    assert_not_understood(no_algorithm, "the algorithm is 'auto'")


def test_json_of_an_infinite_total(run: Run, tmp_path: Path) -> None:
    """JSON cannot express infinity, but the text must parse strictly."""
    (path := tmp_path / "infinite.txt").write_text("0 1 inf\n1 2 -2.5\n")
    assert summary_of(run, path)["total_weight"] == "inf"


@pytest.mark.parametrize("text", ["0 0\n", "p sp 0 0\n", "p sp 3 0\n"])
def test_graph_without_edges(run: Run, tmp_path: Path, text: str) -> None:
    (path := tmp_path / "empty").write_text(text)
    form = "dimacs" if text.startswith("p") else "edge-list"
    summary = summary_of(run, path, "--format", form)
    assert summary["n_forest_edges"] == 0
    assert summary["n_components"] == summary["n_vertices"]


def test_quiet_says_nothing(run: Run, sample: Path) -> None:
    result = run("solve", sample, "-q")
    assert_fine(result)
    assert result.stdout == ""


def test_profile_lists_kernels(run: Run, sample: Path) -> None:
    options = ("--profile", "--algorithm", "ecl")
    result = run("solve", sample, *options)
    assert_fine(result)
    profile = summary_of(run, sample, *options)["profile"]
    assert any(kernel.startswith("ecl_") for kernel in profile)
    for word in ("kernel", "launches", "ms", "share", *profile):
        assert word in result.stdout
    assert all(kernel["launches"] >= 1 for kernel in profile.values())
    assert sum(kernel["milliseconds"] for kernel in profile.values()) > 0


# -------------------------------------------------------------------- what it solves


def test_repeat_tells_median_and_spread(run: Run, sample: Path) -> None:
    """Each further solve is timed by itself."""
    again = json.loads(run("solve", sample, "--repeat", "5", "--json").stdout)["again"]
    assert len(again["seconds"]) == 5
    assert min(again["seconds"]) > 0
    assert again["median"] == sorted(again["seconds"])[2]
    assert "median of 5" in run("solve", sample, "--repeat", "5").stdout
    assert "again" not in json.loads(run("solve", sample, "--json").stdout)


@pytest.mark.parametrize("off", [["int64-atomics"], ["lanes"], ["lanes", "int64-atomics"]])
def test_without_capability(run: Run, sample: Path, off: list[str]) -> None:
    options = [word for name in off for word in ("--without", name)]
    assert summary_of(run, sample, "--verify", *options)["total_weight"] == 10


def test_maximum_device_algorithm_and_format(run: Run, sample: Path) -> None:
    """A format that is named wins over the suffix."""
    path, name = sample.rename(sample.with_name("sample.dat")), clmst.get_device().name
    options = ("--maximum", "--device", name.upper(), "--algorithm", "ecl", "--format", "edge-list")
    summary = summary_of(run, path, *options)
    assert (summary["total_weight"], summary["maximum"], summary["algorithm"]) == (13, True, "ecl")
    assert name in summary["device"]


def test_verify_is_reported(run: Run, sample: Path) -> None:
    summary = summary_of(run, sample, "--verify")
    assert summary["verified"] is True
    assert "verify" in summary["seconds"]
    assert summary["proof"]["where"] in ("device", "host")
    words = " ".join(run("solve", sample, "--verify").stdout.split())
    assert f"proved every edge compared, on {summary['proof']['by']}" in words


def test_wrong_result_fails_and_is_not_written(run: Run, sample: Path, tmp_path: Path) -> None:
    """--verify must stop what a miscomputing device gave before anyone can use it."""
    output = tmp_path / "forest.txt"
    with miscomputing(tmp_path, COARSE_KEYS):
        result = run("solve", sample, "--algorithm", "ecl", "--verify", "--output", output)
    assert_fails(result, "edge id 1 (1, 2) of weight 1 is left out")
    assert result.stdout == ""
    assert not output.exists()


# ------------------------------------------------------------------- what it writes


@pytest.mark.parametrize("name", ["f.csv", "f.npz", "f.txt.gz"])
@pytest.mark.parametrize("options", [[], ["--maximum"]])
def test_output_reads_back(run: Run, sample: Path, name: str, options: list[str]) -> None:
    output = sample.with_name(name)
    assert_fine(run("solve", sample, "--output", output, *options))
    graph = read_graph(sample)
    forest = replace(read_forest(output, graph), maximum=bool(options))
    forest.verify(graph).raise_if_invalid()


def test_several_outputs(run: Run, sample: Path) -> None:
    paths = [sample.with_name(name) for name in ("f.npz", "f.json")]
    assert_fine(run("solve", sample, "-o", paths[0], "-o", paths[1]))
    assert json.loads(paths[1].read_text())["total_weight"] == 10
    assert np.load(paths[0])["edge_ids"].tolist() == [2, 1, 3]


def test_output_to_stdout_leaves_it_to_the_forest(run: Run, sample: Path) -> None:
    """The summary must not get between the lines of an edge list that goes down a pipe."""
    result = run("solve", sample, "--output", "-")
    assert result.exit_code == 0
    lines = [line for line in result.stdout.splitlines() if not line.startswith("#")]
    assert lines == ["0 2 2", "1 2 1", "3 4 7"]
    assert "total weight" in result.stderr


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_plot(run: Run, sample: Path, suffix: str) -> None:
    plot = sample.with_suffix(suffix)
    assert_fine(run("solve", sample, "--plot", plot))
    assert plot.read_bytes().startswith({".png": b"\x89PNG", ".svg": b"<?xml"}[suffix])


# -------------------------------------------------------------------- what it refuses


TSPLIB = """NAME: square
DIMENSION: 4
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 30
3 40 30
4 40 0
EOF
"""


def test_points(run: Run, tmp_path: Path) -> None:
    """From the file to the forest without a list of edges, unless the algorithm wants one."""
    (path := tmp_path / "square.tsp").write_text(TSPLIB)
    for algorithm, chosen in (("auto", "dense"), ("dense", "dense"), ("ecl", "ecl")):
        forest = tmp_path / f"{algorithm}.txt"
        options = ["--algorithm", algorithm, "--verify", "--repeat", "1", "--json"]
        files = ["-o", forest, "--plot", tmp_path / f"{algorithm}.png"]
        summary = json.loads(run("solve", path, *options, *files).stdout)
        assert summary["algorithm"] == chosen
        assert (summary["n_vertices"], summary["n_edges"]) == (4, 6)
        assert summary["total_weight"] == 100
        assert run("verify", path, forest).exit_code == 0
        assert (tmp_path / f"{algorithm}.png").stat().st_size > 1000
        assert forest.read_text().splitlines()[-3:] == ["0 1 30", "0 3 40", "2 3 30"]


def test_plot_without_matplotlib(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It must say so before the work, not after it."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    output = sample.with_name("f.npz")
    result = run("solve", sample, "-o", output, "--plot", sample.with_suffix(".png"))
    assert_fails(result, "pip install 'matplotlib>=")
    assert not output.exists()


def test_interrupt(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inject(monkeypatch, "kernel", clmst.get_device()).arm(0, error=KeyboardInterrupt)
    result = run("solve", sample)
    assert (result.exit_code, result.stderr) == (130, "clmst: error: interrupted\n")


# ---------------------------------------------------------------- several devices


@every_device_set("two")
def test_several_devices_give_the_forest_of_one(
    run: Run, devices: list[clmst.Device], sample: Path, tmp_path: Path
) -> None:
    """The summary names them; where the machine has one device alone, it is told once."""
    names = [device.description for device in devices]
    if names[0] == names[1]:
        pytest.skip("one device has one name")
    named = [word for device in devices for word in ("--device", device.platform)]
    out = tmp_path / "out.txt"
    summary = summary_of(run, sample, *named, "--verify", "-o", out)
    assert summary["devices"] == names
    assert summary["verified"]
    assert {"solve", "verify"} <= set(summary["seconds"])
    other = tmp_path / "one.txt"
    assert_fine(run("solve", sample, "-o", other))
    assert out.read_bytes() == other.read_bytes()
    words = " ".join(run("solve", sample, *named).stdout.split())
    assert f"device {names[0]}, {names[1]} " in words
