"""``clmst generate``, family by family, and ``clmst convert``, format by format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clmst import generators
from clmst.generators import FAMILIES
from clmst.io import read_graph
from tests.cli.results import Run, assert_fails, assert_fine, assert_not_understood
from tests.generators.test_generators import SMALL


def test_help_lists_every_family_in_whole(run: Run) -> None:
    result = run("generate", "--help")
    assert_fine(result)
    words = " ".join(result.stdout.split())
    for family in FAMILIES.values():
        assert f"{family.name} {family.description.replace('``', '')}" in words


@pytest.mark.parametrize("name", FAMILIES)
def test_help_lists_every_parameter(run: Run, name: str) -> None:
    result = run("generate", name, "--help")
    assert_fine(result)
    words = " ".join(result.stdout.split())
    for parameter in FAMILIES[name].parameters:
        assert f"--{parameter.name.replace('_', '-')} " in words
        assert parameter.help.replace("``", "")[:30].strip() in words


def options_of(parameters: dict[str, Any]) -> list[str]:
    """Return parameters as they are on the command line."""
    words = []
    for name, value in parameters.items():
        flag = f"--{name.replace('_', '-')}"
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [flag] if value is True else [flag, text]
    return words


@pytest.mark.parametrize("name", FAMILIES)
def test_same_graph_as_the_library(run: Run, tmp_path: Path, name: str) -> None:
    path, given = tmp_path / "g.npz", SMALL[name] | {"seed": 7}
    if any(one.name == "weights" for one in FAMILIES[name].parameters):
        given["weights"] = "ruler"
    assert_fine(run("generate", name, *options_of(given), "--output", path))
    graph, expected = read_graph(path), generators.generate(name, **given)
    assert (graph.n_vertices, graph.n_edges) == (expected.n_vertices, expected.n_edges)
    for ours, theirs in zip(graph.edges()[:3], expected.edges()[:3], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_tells_the_sizes(run: Run, tmp_path: Path) -> None:
    result = run("generate", "path", "--n", 2, "-o", tmp_path / "g.txt.gz")
    assert_fine(result)
    assert result.stdout == f"{tmp_path / 'g.txt.gz'}: 2 vertices, 1 edge\n"
    quiet = run("generate", "path", "--n", 2, "-o", tmp_path / "g.txt", "-q")
    assert (quiet.exit_code, quiet.output) == (0, "")


def test_format_wins_over_the_suffix(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "g.dat"
    assert_fine(
        run("generate", "grid", "--rows", 2, "--columns", 2, "--output-format", "ecl", "-o", path)
    )
    assert read_graph(path, format="ecl").n_edges == 4


# -------------------------------------------------------------------------- convert


@pytest.mark.parametrize("suffix", [".gr.xz", ".mtx", ".egr", ".npz.xz", ".csv", ".parquet"])
def test_a_graph_stays_the_same(run: Run, sample: Path, suffix: str) -> None:
    output = sample.with_name(f"out{suffix}")
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
    assert_not_understood(with_points, "names no columns in format tsplib")


def test_labels_that_a_format_lacks_are_told(run: Run, tmp_path: Path) -> None:
    (table := tmp_path / "roads.csv").write_text("source,target,weight\nBern,Thun,31\n")
    for arguments, told in [
        (("convert", table, tmp_path / "roads.gr"), "format dimacs holds no vertex labels"),
        (("convert", table, tmp_path / "roads.txt"), "format edge-list holds no such"),
        (("solve", table, "-o", tmp_path / "f.npz", "-q"), "format npz holds no vertex labels"),
        (("solve", table, "-o", "-", "-q"), "format edge-list holds no such vertex labels"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 0
        assert f"warning: {told}" in result.stderr
    assert_fine(run("convert", table, tmp_path / "again.csv"))
    kept = ("-o", tmp_path / "f.csv", "-o", tmp_path / "f.json", "-o", tmp_path / "f.parquet")
    assert_fine(run("solve", table, *kept, "-q"))


def test_points_become_all_pairs(run: Run, tmp_path: Path) -> None:
    (points := tmp_path / "three.tsp").write_text(
        "DIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n3 6 8\nEOF\n"
    )
    assert_fine(run("convert", points, tmp_path / "three.mtx"))
    assert read_graph(tmp_path / "three.mtx").weights.tolist() == [5, 10, 5]
