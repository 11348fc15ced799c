"""METIS files: lines that may be blank, and edges that must stand in two of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.generators import generate
from clmst.io import read_graph, write_graph
from clmst.io import text as text_module
from tests.io.files import FORMAT_OF, parse, refuses, weight_by_edge, written

PLAIN = "% a comment\n4 2\n3 2\n1\n% between\n1\n\n"
WEIGHTED = "3 2 1\n2 7 3 -5\n1 7\n1 -5\n"


@pytest.mark.parametrize("size", [1 << 20, 1, 5])
def test_a_blank_line_is_a_vertex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(text_module, "BLOCK_BYTES", size)
    graph = parse(tmp_path, ".graph", PLAIN)
    assert graph.n_vertices == 4
    assert graph.is_symmetric
    assert weight_by_edge(graph) == {(0, 1): 1, (0, 2): 1}


@pytest.mark.parametrize(
    "text",
    [
        WEIGHTED,
        "3 2 001\n2 7 3 -5\n1 7\n1 -5\n\n\n",
        "3 2 011\n9 2 7 3 -5\n9 1 7\n9 1 -5\n",
        "3 2 011 3\n9 9 9 2 7 3 -5\n9 9 9 1 7\n9 9 9 1 -5\n",
        "3 2 101\n8 2 7 3 -5\n8 1 7\n8 1 -5\n",
        "3 2 111 2\n8 9 9 2 7 3 -5\n8 9 9 1 7\n8 9 9 1 -5\n",
        "\n  3 2 1\r\n3 -5 2 7\r\n1 7\r\n1 -5",
    ],
)
def test_what_stands_beside_neighbours(tmp_path: Path, text: str) -> None:
    assert weight_by_edge(parse(tmp_path, ".graph", text)) == {(0, 1): 7, (0, 2): -5}


@pytest.mark.parametrize("fmt", ["10", "010", "100", "11"])
def test_vertex_weights_of_isolated_vertices(tmp_path: Path, fmt: str) -> None:
    graph = parse(tmp_path, ".graph", f"2 0 {fmt}\n5\n5\n")
    assert (graph.n_vertices, graph.n_edges) == (2, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("% only a comment\n", "there is no header"),
        ("3\n", "line 1: '3' is not a header"),
        ("3 x\n", "line 1: '3 x' is not a header"),
        ("3 2 1 1 1\n", "line 1: '3 2 1 1 1' is not a header"),
        ("3 2 2\n", "line 1: fmt is '2'; it must be three digits"),
        ("3 2 0001\n", "line 1: fmt is '0001'"),
        ("4000000000 99999999999\n2\n1\n", "line 1: the header declares 4000000000 vertices"),
        (PLAIN.replace("4 2", "5 2"), "declares 5 vertices but the file has 4 lines"),
        (PLAIN.replace("4 2", "2 2"), "line 6: this is vertex 3 or more; the header declares 2"),
        (WEIGHTED + "1 1\n", "line 5: this is vertex 4 or more; the header declares 3"),
        (PLAIN.replace("4 2", "4 3"), "declares 3 edges but the file lists 4 neighbours"),
        (PLAIN.replace("4 2", "4 1"), "declares 1 edges but the file lists 4 neighbours"),
        (
            PLAIN.replace("3 2\n", "5 2\n"),
            "line 3: '5' is not a vertex number; they go from 1",
        ),
        (PLAIN.replace("3 2\n", "0 2\n"), "line 3: '0' is not a vertex number"),
        (PLAIN.replace("3 2\n", "-3 2\n"), "line 3: '-3' is not a vertex number"),
        (PLAIN.replace("3 2\n", "3 x\n"), "line 3: 'x' is not an integer"),
        (WEIGHTED.replace("2 7", "2 7.5"), "line 2: '7.5' is not an integer"),
        (WEIGHTED.replace("2 7", "2 nan"), "line 2: 'nan' is not an integer"),
        (WEIGHTED.replace("2 7", "2"), "line 2: there are 3 numbers for neighbours; each must"),
        ("2 0 010 3\n1 2\n1 2 3\n", "line 2: there are 2 numbers; fmt and ncon"),
        ("2 0 010\n1\n\n", "line 3: there are 0 numbers; fmt and ncon"),
        ("3 2\n2 3\n1 3\n\n", "vertex 1 lists 3 but 3 does not list 1"),
        ("3 1\n2\n\n1\n", "vertex 1 lists 2 but 2 does not list 1"),
        (WEIGHTED.replace("1 7", "1 8"), "the edge of 1 and 2 weighs 7 in the line of 1 and 8 in"),
        ("2 1\n1 2\n\n", "vertex 1 lists itself"),
        ("2 2\n2 2\n1 1\n", "vertex 1 lists 2 twice"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    refuses(tmp_path, ".graph", text, message)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 1.0], r"edge \(0, 1\) weighs 0.5 in float64; METIS weights are positive integers"),
        ([1, 0], r"edge \(0, 2\) weighs 0 in int64"),
        ([-3, 2], r"edge \(0, 1\) weighs -3 in int64"),
        (np.array([1, 2], np.float16), "weighs 1.0 in float16"),
    ],
)
def test_weights_that_are_not_written(tmp_path: Path, weights: object, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        write_graph(Graph.from_edges([0, 0], [1, 2], weights), tmp_path / "a.graph")


def test_a_line_for_every_vertex_is_written() -> None:
    graph = Graph.from_edges([3, 0, 0], [0, 0, 1], [5, 6, 2**63 - 1], n_vertices=5)
    expected = f"5 2 001\n2 {2**63 - 1} 4 5\n1 {2**63 - 1}\n\n1 5\n\n"
    assert written(graph, FORMAT_OF["metis"]).decode() == expected


@pytest.mark.parametrize("are_turned", [False, True])
def test_the_graph_is_as_its_csr_says(tmp_path: Path, are_turned: bool) -> None:
    """It is made without the checks of `from_csr`, whose result it must be; its rows are sorted."""
    graph = generate("random", n=400, average_degree=6, seed=1)
    write_graph(graph, tmp_path / "a.graph")
    lines = (tmp_path / "a.graph").read_text().splitlines()
    if are_turned:
        lines[1:] = [" ".join(_turned(line.split())) for line in lines[1:]]
    (tmp_path / "b.graph").write_text("\n".join([*lines, ""]))
    found = read_graph(tmp_path / "b.graph")
    again = Graph.from_csr(found.indptr, found.indices, found.weights)
    for name in ("indptr", "indices", "weights"):
        assert np.array_equal(getattr(found, name), getattr(again, name)), name
        assert getattr(found, name).dtype == getattr(again, name).dtype
    assert (found.is_symmetric, found.edge_ids, found.n_input) == (True, None, again.n_input)
    assert found.n_edges == graph.n_edges


def _turned(words: list[str]) -> list[str]:
    """Return neighbours with their weights, the last one first."""
    return [word for k in range(len(words) - 2, -1, -2) for word in words[k : k + 2]]
