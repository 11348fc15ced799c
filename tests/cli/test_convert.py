"""``clmst convert``: every format to every other, and what a format cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmst.io import read_graph
from tests.cli.results import Run, assert_fails, assert_fine, assert_not_understood

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("suffix", [".gr", ".stp", ".mtx", ".egr", ".npz", ".csv", ".parquet"])
@pytest.mark.parametrize("end", ["", ".xz"])
def test_a_graph_stays_the_same(run: Run, sample: Path, suffix: str, end: str) -> None:
    output = sample.with_name(f"out{suffix}{end}")
    result = run("convert", sample, output)
    assert_fine(result)
    assert result.stdout == f"{output}: 6 vertices, 4 edges\n"
    graph = read_graph(output)
    assert (graph.n_vertices, sorted(graph.edges()[2].tolist())) == (6, [1, 2, 4, 7])


def test_columns_are_named(run: Run, tmp_path: Path) -> None:
    (table := tmp_path / "roads.csv").write_text(
        "road,from,to,km\nA6,Bern,Thun,31\nA1,Bern,Basel,95\n"
    )
    output = tmp_path / "roads.parquet"
    assert_fine(run("convert", table, output, "--columns", "from,to,km", "-q"))
    graph = read_graph(output)
    assert graph.vertex_labels == ("Bern", "Thun", "Basel")
    assert graph.weights.tolist() == [31, 95]
    assert_fails(run("convert", table, output, "--columns", "from,to,miles"), "'miles'")
    assert_fails(run("convert", output, table, "--columns", "a,b"), "'a'")
    for names in ("from", "a,b,c,d", "a,,b", ""):
        assert_not_understood(run("convert", table, output, "--columns", names), "--columns")
    with_points = run("convert", tmp_path / "x.tsp", output, "--columns", "a,b")
    assert_fails(with_points, "no such file")


def test_labels_that_a_format_lacks_are_told(run: Run, tmp_path: Path) -> None:
    (table := tmp_path / "roads.csv").write_text("source,target,weight\nBern,Thun,31\n")
    result = run("convert", table, tmp_path / "roads.gr")
    assert result.exit_code == 0
    assert "warning: format dimacs holds no vertex labels" in result.stderr
    assert_fine(run("convert", table, tmp_path / "again.csv"))


def test_points_become_all_pairs(run: Run, tmp_path: Path) -> None:
    (points := tmp_path / "three.tsp").write_text(
        "DIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n3 6 8\nEOF\n"
    )
    assert_fine(run("convert", points, tmp_path / "three.mtx"))
    assert read_graph(tmp_path / "three.mtx").weights.tolist() == [5, 10, 5]


def test_what_cannot_be_written_is_refused_before_reading(run: Run, tmp_path: Path) -> None:
    missing = tmp_path / "missing.gr"
    assert_fails(run("convert", missing, tmp_path / "out.tsp"), "tsplib cannot hold a graph")
    assert_fails(run("convert", missing, tmp_path / "out.what"), "'.what'")
    assert_fails(run("convert", missing, tmp_path / "out.gr"), "no such file")
