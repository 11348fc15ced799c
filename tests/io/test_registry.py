"""Which format a path or a name means, and the listing of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.io import FORMATS, read_forest, read_graph, write_forest, write_graph
from clmst.io.registry import find


def test_every_suffix_means_one_format() -> None:
    suffixes = [suffix for each in FORMATS for suffix in each.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in suffixes)
    assert len({each.name for each in FORMATS}) == len(FORMATS)


@pytest.mark.parametrize("form", ["a{}", "b.c{}", "A{}.gz", "/x.gz/y{}"])
def test_the_suffix_decides(form: str) -> None:
    for each in FORMATS:
        for suffix in each.suffixes:
            assert find(Path(form.format(suffix)), None) is each
            assert find(Path(form.format(suffix.upper())), None) is each


def test_the_name_overrules_the_suffix() -> None:
    assert find(Path("roads.txt"), "dimacs").name == "dimacs"


@pytest.mark.parametrize(
    ("path", "name", "fact"),
    [
        ("roads.xyz", None, "suffix '.xyz'"),
        ("roads", None, "suffix ''"),
        ("roads.gz", None, "suffix ''"),
        ("roads.gr", "dimax", "no format 'dimax'"),
    ],
)
def test_unknown_formats_are_refused_with_the_known_ones(
    path: str, name: str | None, fact: str
) -> None:
    with pytest.raises(InvalidArgumentError) as failure:
        read_graph(path, format=name)
    assert fact in str(failure.value)
    assert "dimacs (.gr), steinlib (.stp), matrix-market (.mtx)" in str(failure.value)


def test_formats_say_what_they_cannot_do(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1])
    with pytest.raises(InvalidArgumentError, match="json cannot hold a graph; these can: dimacs"):
        read_graph(tmp_path / "a.json")
    with pytest.raises(InvalidArgumentError, match="json cannot hold a graph; these can: dimacs"):
        write_graph(graph, tmp_path / "a.json")
    with pytest.raises(InvalidArgumentError, match="json cannot hold the edges of a forest"):
        read_forest(tmp_path / "a.json", graph)
    forest_formats = "matrix-market, npz, edge-list, csv, parquet, json"
    with pytest.raises(InvalidArgumentError, match=f"metis cannot .*: {forest_formats}$"):
        write_forest(None, tmp_path / "a.graph")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
