"""CSV files with a header row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.core.graph import Graph
from clmst.io import read_forest, read_graph, write_forest, write_graph
from tests.io.files import parse, refuses, weight_by_edge

NAMED = "from,to,km,road\nBern,Thun,31,A6\nBern,Basel,100,A1\nBasel,Olten,46.5,A2\n"


def test_what_is_written_is_csv(tmp_path: Path) -> None:
    """Any program reads it: one header row, commas, no comments."""
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], [3, 1, 2], n_vertices=4)
    write_graph(graph, tmp_path / "graph.csv")
    assert (
        tmp_path / "graph.csv"
    ).read_text() == "source,target,weight\n0,1,3\n0,2,2\n1,2,1\n3,3,0\n"
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(tmp_path / "graph.csv")
    assert frame.columns.tolist() == ["source", "target", "weight"]
    assert frame.weight.sum() == 6
    forest = clmst.kruskal(graph)
    write_forest(forest, tmp_path / "forest.csv")
    assert (tmp_path / "forest.csv").read_text() == "source,target,weight\n0,2,2\n1,2,1\n"
    assert read_forest(tmp_path / "forest.csv", graph) == forest


def test_a_column_without_a_name_is_an_index(tmp_path: Path) -> None:
    """As pandas writes it: it is in no one's way where columns are taken in order."""
    pytest.importorskip("pandas")
    graph = parse(tmp_path, ".csv", ",from,to,km\n0,a,b,3\n1,b,c,2\n")
    assert (graph.vertex_labels, graph.weights.tolist()) == (("a", "b", "c"), [3, 2])


def test_the_form_that_earlier_versions_wrote_is_read(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], [3, 1, 2])
    forest = clmst.kruskal(graph, maximum=True)
    write_graph(graph, tmp_path / "g.csv", format="edge-list")
    write_forest(forest, tmp_path / "f.csv", format="edge-list")
    assert weight_by_edge(read_graph(tmp_path / "g.csv")) == weight_by_edge(graph)
    assert read_forest(tmp_path / "f.csv", graph) == forest


@pytest.mark.parametrize(
    "text",
    [
        "source,target,weight\n5,7,2\n7,9,3\n",
        "a,b,c\r\n5,7,2\r\n7,9,3\r\n",
        "u\tv\tw\n5\t7\t2\n7\t9\t3",
        '"source","target","weight"\n5,7,2\n\n7,9,3\n\n',
    ],
)
def test_integers_need_no_pandas(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    graph = parse(tmp_path, ".csv", text)
    assert graph.vertex_labels == (5, 7, 9)
    assert weight_by_edge(graph) == {(5, 7): 2, (7, 9): 3}
    with pytest.raises(clmst.MissingDependencyError, match=r"pip install 'pandas>=.*' 'pyarrow>="):
        parse(tmp_path, ".csv", "u,v\na,b\n")


@pytest.mark.usefixtures("with_pandas")
class TestWithPandas:
    """Files whose ids are text, or that have more columns."""

    def test_columns_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "roads.csv").write_text(NAMED)
        graph = read_graph(tmp_path / "roads.csv", columns=("from", "to", "km"))
        again = Graph.read(tmp_path / "roads.csv", columns=("from", "to", "km"))
        assert clmst.kruskal(again) == clmst.kruskal(graph)
        assert graph.vertex_labels == ("Bern", "Thun", "Basel", "Olten")
        assert graph.weights.tolist() == [31.0, 100.0, 46.5]
        assert (
            read_graph(tmp_path / "roads.csv", columns=["to", "from"]).weights.tolist() == [1] * 3
        )

    def test_columns_of_the_usual_names_are_found(self, tmp_path: Path) -> None:
        text = "id,weight,target,source\n1,5,b,a\n2,4,c,b\n"
        assert weight_by_edge(parse(tmp_path, ".csv", text)) == {("a", "b"): 5, ("b", "c"): 4}

    @pytest.mark.parametrize(
        "text",
        ["u;v;w\na;b;5\nb;c;4\n", "\ufeffu,v,w\na,b,5\nb,c,4\n", 'u,v,w\n"a","b",5\n"b",c,4'],
    )
    def test_other_separators_marks_and_quotes(self, tmp_path: Path, text: str) -> None:
        graph = parse(tmp_path, ".csv", text)
        assert weight_by_edge(graph) == {("a", "b"): 5, ("b", "c"): 4}

    def test_na_is_a_name_and_nothing_is_missing(self, tmp_path: Path) -> None:
        """NA is Namibia's code; only an empty field is missing."""
        assert parse(tmp_path, ".csv", "u,v\nNA,ZA\nZA,null\n").vertex_labels == (
            "NA",
            "ZA",
            "null",
        )
        message = "row 1 of column 'v' is missing (NaN or null); every edge needs both ends"
        refuses(tmp_path, ".csv", "u,v\na,b\nb,\n", message)

    def test_names_are_written_and_read_back(self, tmp_path: Path) -> None:
        names = ['say "hi"', "a,b", "12", "Zürich", " x "]
        graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [3.5, 1.0, 2.0], n_vertices=5)
        graph = graph.replace(vertex_labels=names)
        write_graph(graph, tmp_path / "graph.csv")
        assert weight_by_edge(read_graph(tmp_path / "graph.csv")) == weight_by_edge(graph)
        assert read_graph(tmp_path / "graph.csv").n_vertices == 5
        forest = clmst.kruskal(graph)
        write_forest(forest, tmp_path / "forest.csv")
        assert read_forest(tmp_path / "forest.csv", graph) == forest
        other = graph.replace(vertex_labels=["a", "b", "c", "d", "e"])
        with pytest.raises(clmst.InvalidForestError, match="the graph has no such vertex"):
            read_forest(tmp_path / "forest.csv", other)

    def test_weights_are_the_floats_that_were_written(self, tmp_path: Path) -> None:
        """A parser that is off by one digit would make another tree."""
        weights = np.random.default_rng(1).random(300) * 10.0 ** np.arange(-150, 150)
        graph = Graph.from_edges(np.arange(300), np.arange(1, 301), weights)
        graph = graph.replace(vertex_labels=[f"v{k}" for k in range(301)])
        write_graph(graph, tmp_path / "graph.csv")
        assert np.array_equal(read_graph(tmp_path / "graph.csv").weights, weights)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("u,v,w,x\na,b,1,2\n", "the columns are 'u', 'v', 'w', 'x'; source, target and weight"),
            ("source,target,source\na,b,c\n", "2 columns are called 'source'"),
            ("name\na\n", "the columns are 'name'; source, target and weight must be among them"),
            ("u,v,w\na,b,1\nb,c,1,9,9\n", "pandas cannot read it as CSV"),
            ("u,v,w\na,b,1,9\nb,c,1,9\n", "rows have more fields than the 3 of the header"),
            ("u,v,w\na,b,1\na,b,x\n", "row 1 of column 'w' is 'x', and its type"),
            ("a,b,1.5e3\nb,c,2\n", "line 1 has the number 1.5e3 where a header row has the name"),
            ("u,v,w\na,b,1\nb,c,\n", "row 1 of column 'w', the weight of edge ('b', 'c'), is miss"),
            ("u,v\na,1.5\nb,2\n", "column 'v' has the type float64; ids must be integers"),
        ],
    )
    def test_bad_tables(self, tmp_path: Path, text: str, message: str) -> None:
        refuses(tmp_path, ".csv", text, message)

    def test_text_must_be_utf_8(self, tmp_path: Path) -> None:
        refuses(tmp_path, ".csv", b"u,v\nZ\xfcrich,a\n", "pandas cannot read it as CSV")
        refuses(tmp_path, ".csv", b"\xff\xfe,v\na,b\n", "it is not UTF-8 text")


@pytest.fixture
def with_pandas() -> None:
    pytest.importorskip("pandas")


def test_columns_need_a_table(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("0,1,2\n")
    with pytest.raises(FileFormatError, match="line 1 is not a header row"):
        read_graph(tmp_path / "g.csv", columns=("u", "v"))
    (tmp_path / "g.txt").write_text("0 1 2\n")
    with pytest.raises(
        InvalidArgumentError, match="no columns in format edge-list; the format must be one of csv"
    ):
        read_graph(tmp_path / "g.txt", columns=("u", "v"))
    (tmp_path / "g.csv").write_text("u,v,w\n0,1,2\n")
    with pytest.raises(FileFormatError, match="0 columns are called 'x' among 'u', 'v', 'w'"):
        read_graph(tmp_path / "g.csv", columns=("u", "x"))
    wrong: Any
    for wrong in ("uv", 5, ("u",), ("u", []), ("u", "v", "w", "x"), np.zeros(2)):
        with pytest.raises(InvalidArgumentError, match="must be two or three names"):
            read_graph(tmp_path / "g.csv", columns=wrong)
