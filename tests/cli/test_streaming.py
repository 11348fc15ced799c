"""``clmst solve`` in parts: the same forest, and clear refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.cli.streaming import n_bytes
from clmst.io import read_forest
from tests.cli.results import Run, assert_fails, assert_fine
from tests.helpers.capabilities import chosen_with
from tests.scale.edges import forest_of_edges, random_edges

N = 40
EDGES = random_edges(N, 900, dtype="float32")


def saved(folder: Path, edges: tuple[Any, Any, Any]) -> Path:
    array = np.zeros(len(edges[0]), [("source", "u4"), ("target", "u4"), ("weight", "f4")])
    array["source"], array["target"], array["weight"] = edges
    np.save(folder / "edges.npy", array)
    return folder / "edges.npy"


@pytest.fixture
def pieces(tmp_path: Path) -> Path:
    return saved(tmp_path, EDGES)


@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
def test_a_file_in_parts(run: Run, pieces: Path, maximum: bool) -> None:
    out, checkpoint = pieces.with_name("forest.npz"), pieces.with_name("state")
    arguments: list[Any] = ["--vertices", N, "--output", out, "--checkpoint", checkpoint, "--json"]
    arguments += ["--maximum"] if maximum else []
    result = run("solve", pieces, "--stream", "--memory-limit", "20kB", *arguments)
    assert_fine(result)
    summary = json.loads(result.stdout)
    right = forest_of_edges(EDGES, N, maximum=maximum)
    assert summary["n_edges"] == 900
    assert summary["n_vertices"] == N
    assert summary["algorithm"] == "stream"
    assert summary["total_weight"] == right.total_weight
    graph = clmst.Graph.from_edges(*EDGES, n_vertices=N)
    np.testing.assert_array_equal(read_forest(out, graph).edge_ids, right.edge_ids)
    assert checkpoint.read_bytes().startswith(b"clmst stream checkpoint")
    assert "parts " in run("solve", pieces.parent, "--stream", "--vertices", N).stdout


def test_a_file_by_passes(run: Run, tmp_path: Path) -> None:
    """The summary has their number, and a line of warning says why."""
    path = saved(tmp_path, random_edges(3000, 9000, dtype="float32"))
    result = run("solve", path, "--stream", "--vertices", 3000, "--memory-limit", "150kB")
    assert result.exit_code == 0
    assert "clmst: warning: the edges are read once for each round of Bor" in result.stderr
    passes = re.search(r"^ passes +(\d+)", result.stdout, re.MULTILINE)
    assert passes is not None
    assert int(passes[1]) > 1
    assert " parts " not in result.stdout


@pytest.mark.parametrize(
    ("passes", "n_edges", "text"),
    [
        (1, 8_000_000, "25%, 4.0 million edges/s, 1.5 s left"),
        (3, 8_000_000, "pass 3, 25%, 4.0 million edges/s, 1.5 s left of it"),
        (1, None, "4.0 million edges/s"),
    ],
)
def test_how_far_a_stream_has_come(passes: int, n_edges: int | None, text: str) -> None:
    progress = clmst.StreamProgress(
        edges=2_000_000, n_edges=n_edges, edges_now=2_000_000, seconds=0.5, forest_edges=10,
        reductions=1, passes=passes,
    )  # fmt: skip
    assert str(progress) == text


def test_a_graph_in_parts(run: Run, sample: Path) -> None:
    whole = json.loads(run("solve", sample, "--json").stdout)
    result = run("solve", sample, "--stream", "--verify", "--json")
    assert_fine(result)
    found = json.loads(result.stdout)
    for name in ("n_vertices", "n_components", "total_weight", "weight_dtype"):
        assert found[name] == whole[name]
    assert found["verified"]


def test_what_does_not_fit_is_solved_in_parts(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clmst.get_device().trust, "given", True)  # no self-test fits 4,000 bytes
    graph = tmp_path / "graph.mtx"
    clmst.write_graph(clmst.generate("random", n=200, average_degree=30.0), graph)
    small: Any = {"host_arrays": "copied", "max_allocation": 4000}
    with chosen_with(**small):
        named = ("--algorithm", "filter-boruvka")  # otherwise the host solves so small a graph
        assert_fails(run("solve", graph, *named), "allocates at most 4000 in one piece")
    with chosen_with(**small, global_memory=1 << 17):
        result = run("solve", graph, "--json", "--verify")
        assert_fails(run("solve", graph, "--profile"), "allocates at most 4000 in one piece")
    assert result.exit_code == 0
    assert "clmst: warning: the graph is solved in parts, since it does not fit" in result.stderr
    assert json.loads(result.stdout)["algorithm"] == "stream"


@pytest.mark.parametrize(
    ("text", "size"),
    [("5", 5), ("7b", 7), ("1.5kB", 1500), ("2 GB", 2 * 10**9), ("1T", 10**12), (None, None)],
)
def test_sizes(text: str | None, size: int | None) -> None:
    assert n_bytes(text) == size


def test_names_need_no_number_of_vertices(run: Run, tmp_path: Path) -> None:
    """A pattern names the files, and clmst expands it, not the shell."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = {"from": ["b", "a", "c"], "to": ["a", "c", "b"], "km": [3, 1, 2]}
    pandas.DataFrame(rows).to_parquet(tmp_path / "x1.parquet")
    pandas.DataFrame({**rows, "to": ["d", "e", "f"]}).to_parquet(tmp_path / "x2.parquet")
    options = ("--stream", "--columns", "from,to,km", "-o", tmp_path / "forest.csv", "--json")
    done = run("solve", tmp_path / "x*.parquet", *options)
    assert_fine(done)
    summary = json.loads(done.stdout)
    assert (summary["n_vertices"], summary["n_edges"], summary["total_weight"]) == (6, 6, 9)
    found = pandas.read_csv(tmp_path / "forest.csv")
    assert sorted(found.source + found.target) == ["ac", "ae", "bc", "bd", "cf"]
