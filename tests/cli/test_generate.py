"""``clmst generate``: the registry, family by family, as sub-commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clmst import generators
from clmst.generators import FAMILIES
from clmst.io import read_graph
from tests.cli.results import Run, assert_fails, assert_fine, assert_not_understood

# Enough for every family to make a graph; values as on the command line.
SMALL = {
    "grid": "--rows 4 --columns 5",
    "road": "--n 60 --average-degree 2.5",
    "random": "--n 30 --average-degree 4",
    "rmat": "--scale 5 --edge-factor 4 --a 0.5",
    "kronecker": "--scale 5",
    "clustered": "--n 40 --clusters 2 --cluster-size 6 --density 0.8",
    "delaunay": "--n 30",
    "preferential": "--n 30 --edges-per-vertex 2",
    "cliques": "--count 3 --size 4 --chained",
    "path": "--n 9 --weights ruler",
    "star": "--n 9 --weights float",
    "complete": "--n 7 --weights rising",
    "circulant": "--n 12 --offsets 1,5",
    "caveman": "--caves 3 --size 4 --seed 7",
}


def test_every_family_is_tested() -> None:
    assert list(SMALL) == list(FAMILIES)


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


@pytest.mark.parametrize("name", FAMILIES)
def test_same_graph_as_the_library(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "g.npz"
    options = SMALL[name].split()
    assert_fine(run("generate", name, *options, "--output", path))
    known = {p.name: p for p in FAMILIES[name].parameters}
    given = {}
    for flag, value in zip(options, [*options[1:], ""], strict=True):
        if flag.startswith("--"):
            parameter = known[flag[2:].replace("-", "_")]
            given[parameter.name] = True if parameter.type is bool else parameter.parse(value)
    expected = generators.generate(name, **given)
    graph = read_graph(path)
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
    assert_fine(run("generate", "grid", "--rows", 2, "--columns", 2, "--format", "ecl", "-o", path))
    assert read_graph(path, format="ecl").n_edges == 4


# -------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("path --n many", "n is 'many'; it must be int"),
        ("circulant --n 9 --offsets 1;2", "it must be comma-separated integers"),
        ("path --n 9 --weights heavy", "'heavy'"),
        ("path --n 9 --rows 3", "--rows"),
        ("blob", "'blob'"),
        ("path", "'--n'"),
    ],
)
def test_command_that_is_not_understood(run: Run, tmp_path: Path, options: str, word: str) -> None:
    path = tmp_path / "g.txt"
    assert_not_understood(run("generate", *options.split(), "-o", path), word)
    assert not path.exists()


def test_graph_that_cannot_be(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    assert_not_understood(run("generate", "path", "--n", 3), "--output")
    assert_fails(run("generate", "path", "--n", -3, "-o", path), "n is -3")
    assert_fails(run("generate", "complete", "--n", 10**6, "-o", path), "499999500000 edges")
    unknown = run("generate", "path", "--n", 3, "-o", path, "--format", "gml")
    assert_fails(unknown, "'gml'", "dimacs")
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("none/g.txt", "none/g.txt cannot be written"),
        ("folder.txt", "folder.txt is a directory"),
        ("g.xyz", "g.xyz has the suffix '.xyz'"),
        ("g.json", "format json cannot hold a graph"),
    ],
)
def test_output_that_cannot_be(run: Run, tmp_path: Path, name: str, fact: str) -> None:
    (tmp_path / "folder.txt").mkdir()
    assert_fails(run("generate", "path", "--n", 3, "-o", tmp_path / name), fact)
