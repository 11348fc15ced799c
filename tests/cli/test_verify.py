"""``clmst verify``: right forests pass, wrong ones fail with what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmst.core.kruskal import kruskal
from clmst.io import read_graph, write_forest
from tests.cli.results import Run, assert_fails, assert_fine


def forest_of(sample: Path, name: str, *, maximum: bool = False) -> Path:
    """Write the forest of a graph file beside it."""
    path = sample.with_name(name)
    write_forest(kruskal(read_graph(sample), maximum=maximum), path)
    return path


@pytest.mark.parametrize("name", ["f.mtx", "f.npz", "f.txt.gz"])
def test_right_forest(run: Run, sample: Path, name: str) -> None:
    forest = forest_of(sample, name)
    result = run("verify", sample, forest)
    assert_fine(result)
    assert result.stdout == (
        f"{forest} is the minimum spanning forest of {sample}: "
        "3 edges, 3 components, total weight 10\n"
    )


@pytest.mark.parametrize("name", ["f.txt", "f.npz", "f.mtx"])
def test_maximum_is_asked_for(run: Run, sample: Path, name: str) -> None:
    forest = forest_of(sample, name, maximum=True)
    result = run("verify", "--maximum", sample, forest)
    assert_fine(result)
    assert "is the maximum spanning forest" in result.stdout
    assert "maximum" in run("verify", sample, forest).stdout  # the file says so
    assert_fails(run("verify", "--minimum", sample, forest), "not the minimum", "is left out")


def test_components_of_what_is_no_forest(run: Run, tmp_path: Path) -> None:
    """A cycle of three and two isolated vertices are three components, not one."""
    (path := tmp_path / "cycle.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer symmetric\n5 5 3\n2 1 1\n3 2 1\n3 1 1\n"
    )
    result = run("verify", path, path, "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert (report["ok"], report["n_edges"], report["n_components"]) == (False, 3, 3)


def test_json(run: Run, sample: Path) -> None:
    forest = forest_of(sample, "f.npz")
    result = run("verify", sample, forest, "--json")
    assert_fine(result)
    assert json.loads(result.stdout) == {
        "graph": str(sample),
        "forest": str(forest),
        "ok": True,
        "n_problems": 0,
        "problems": [],
        "maximum": False,
        "n_vertices": 6,
        "n_edges": 3,
        "n_components": 3,
        "total_weight": 10,
    }


def test_json_of_a_wrong_forest(run: Run, sample: Path) -> None:
    """A program must learn the verdict from stdout and the status, a person from stderr."""
    result = run("verify", sample, forest_of(sample, "f.npz"), "--maximum", "--json")
    assert_fails(result, "is left out")
    report = json.loads(result.stdout)
    assert (report["ok"], report["maximum"], report["n_problems"]) == (False, True, 1)
    assert report["problems"][0] in result.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_edge_that_the_graph_has_not(run: Run, sample: Path, options: list[str]) -> None:
    (forest := sample.with_name("f.txt")).write_text("1 2 1\n0 2 2\n")
    assert_fails(run("verify", sample, forest), "not the minimum", "joins two trees")
    forest.write_text("1 2 1\n0 2 2\n3 4 7\n0 4 1\n")
    result = run("verify", sample, forest, *options)
    assert_fails(result, "not the minimum", "(0, 4)")
    if options:
        assert json.loads(result.stdout)["ok"] is False


def test_many_problems_are_counted(run: Run, tmp_path: Path) -> None:
    """The first problem stands on the first line, a handful more below, the rest are counted."""
    (graph := tmp_path / "g.txt").write_text("".join(f"0 {v} 1\n" for v in range(1, 21)))
    (forest := tmp_path / "f.txt").write_text("0 1 1\n")
    result = run("verify", graph, forest)
    assert result.exit_code == 1
    first, *others, last = result.stderr.splitlines()
    assert first.startswith(f"clmst: error: {forest} is not the minimum")
    assert len(others) == 4
    assert last == "  ... and 14 more of this kind"
