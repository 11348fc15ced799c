"""Edge lists: separators, numbers with gaps, and the headers of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.graph import Graph
from clmst.core.vertex_names import rank
from clmst.io import text as text_module
from tests.io.files import FORMAT_OF, parse, refuses, weight_by_edge, written


@pytest.mark.parametrize(
    "text",
    [
        "0 1 5\n1 2 -6\n",
        "0\t1\t5\n1\t2\t-6",
        "0,1,5\r\n1 , 2,\t-6\r\n",
        "# a comment, with commas\n% another\n\n0 1 5\n  # third\n1 2 -6\n\n",
        "3\n2\n0 1 5\n1 2 -6\n",
        "\ufeff0 1 5\n1 2 -6\n",
    ],
)
def test_separators_and_comments(tmp_path: Path, text: str) -> None:
    graph = parse(tmp_path, ".txt", text)
    assert graph.n_vertices == 3
    assert graph.vertex_labels is None
    assert weight_by_edge(graph) == {(0, 1): 5, (1, 2): -6}
    assert graph.weights.dtype == np.int64


def test_missing_weights_are_one(tmp_path: Path) -> None:
    assert weight_by_edge(parse(tmp_path, ".el", "0 1\n2 1\n")) == {(0, 1): 1, (1, 2): 1}


def test_parallel_edges_are_the_lightest(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".tsv", "0 1 0.5\n1 0 0.25\n0 1 0.5\n")
    assert weight_by_edge(graph) == {(0, 1): 0.25}
    assert graph.edges()[3].tolist() == [1]


@pytest.mark.parametrize("far", [9, 10**6, 2**63 - 1])
def test_numbers_with_gaps_become_labels(tmp_path: Path, far: int) -> None:
    graph = parse(tmp_path, ".txt", f"3 {far} 1\n4 4 2\n3 7 3\n")
    assert graph.n_vertices == 4
    assert graph.vertex_labels == (3, 4, 7, far)
    assert weight_by_edge(graph) == {(3, far): 1, (3, 7): 3}


@given(st.lists(st.tuples(*[st.integers(0, 40) | st.integers(0, 2**62)] * 2), max_size=20))
def test_numbers_are_ranked_in_rising_order(ends: list[tuple[int, int]]) -> None:
    u, v = np.array(ends, np.int64).reshape(-1, 2).T
    ranked_u, ranked_v, numbers = rank(u, v)
    assert numbers.tolist() == sorted({*u.tolist(), *v.tolist()})
    assert numbers[ranked_u].tolist() == u.tolist()
    assert numbers[ranked_v].tolist() == v.tolist()


def test_an_algs4_header_counts_isolated_vertices(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".txt", "6\n1\n1 3 0.5\n")
    assert graph.n_vertices == 6
    assert graph.vertex_labels is None
    assert weight_by_edge(graph) == {(1, 3): 0.5}


@pytest.mark.parametrize("size", [1, 4, 11])
def test_lines_may_span_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(text_module, "BLOCK_BYTES", size)
    graph = parse(tmp_path, ".txt", "# x\n0,1,5\n# y\n\n1,2,9007199254740993\n2,0,0.5")
    assert weight_by_edge(graph) == {(0, 1): 5.0, (1, 2): 9007199254740992.0, (0, 2): 0.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target,weight\n0,1,5\n", "line 1: 'source' is not a vertex number"),
        ("0 1 5\n\n1 x 5\n", "line 3: 'x' is not a vertex number"),
        ("0 1 5\n1 -2 5\n", "line 2: '-2' is not a vertex number; they start at 0"),
        ("0 1 5\n1 2.0 5\n", "line 2: '2.0' is not a vertex number"),
        (f"0 1 5\n1 {2**63} 5\n", "line 2: '9223372036854775808' is not a vertex number"),
        ("0 1 5\n1 2 five\n", "line 2: 'five' is not a number"),
        ("0 1 5\n1 2 NaN\n", "line 2: 'NaN' is the weight of edge (1, 2)"),
        ("0 1 5\n1 2\n", "line 2: the edge has 2 fields; it must have 3, as the edges before it"),
        ("0 1\n1 2 5\n", "line 2: the edge has 3 fields; it must have 2"),
        ("0 1 5\n1 2 5 6\n", "line 2: the edge has 4 fields"),
        ("7\n", "line 1: the edge has 1 fields; an edge has two, or three with its weight"),
        ("0 1 2 3\n", "line 1: the edge has 4 fields; an edge has two"),
        ("0,1,5\n1,,5\n", "line 2: a field is empty"),
        (
            "%%MatrixMarket matrix coordinate real general\n3 3 1\n",
            "line 1 is a Matrix Market banner",
        ),
        ("# clmst graph: 3 vert", "line 1 starts as the header of a clmst file"),
        ("0 1 5\n1 2 18446744073709551616\n", "line 2: '18446744073709551616' does not fit"),
        ("2\n5\n0 1 5\n", "declares 5 edges but the file holds 1"),
        ("2\n1\n0 2 5\n", "line 3: '2' is not a vertex number; they end at 1"),
        ("2\nx\n0 1 5\n", "line 2: the header says 'x'"),
        ("9999999999\n1\n0 1 5\n", "line 2: the header declares 9999999999 vertices"),
        (
            "# clmst graph: 3 vertices and 2 edges \n0 1 5\n",
            "line 1 declares 3 vertices and 2 edges but the file holds 2 and 1",
        ),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    refuses(tmp_path, ".txt", text, message)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (None, "0 2 0.5\n1 1 0.0\n"),
        (("x", "y", "z"), "0 2 0.5\n1 1 0.0\n"),
        ((7, -1, 9), "0 2 0.5\n1 1 0.0\n"),
        ((True, False, 2), "0 2 0.5\n1 1 0.0\n"),
        ((30, 20, 10), "30 10 0.5\n20 20 0.0\n"),
        (np.array([4, 5, 2**40]), f"4 {2**40} 0.5\n5 5 0.0\n"),
    ],
)
def test_integer_labels_are_written(labels: object, expected: str) -> None:
    """Under them the caller knows the vertices; a lone vertex is a loop."""
    graph = Graph.from_edges([0], [2], [0.5]).replace(vertex_labels=labels)
    header, _, body = written(graph, FORMAT_OF["edge-list"]).decode().partition("\n")
    assert header.startswith("# clmst graph: 3 vertices and 1 edges ")
    assert body == expected


def test_labels_come_back(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 3], [2, 2], [1, 2]).replace(vertex_labels=(3, 5, 8, 13))
    back = parse(tmp_path, ".txt", written(graph, FORMAT_OF["edge-list"]))
    assert back.vertex_labels == (3, 5, 8, 13)
    assert weight_by_edge(back) == weight_by_edge(graph) == {(3, 8): 1, (8, 13): 2}


def test_a_header_of_snap_counts_edges(tmp_path: Path) -> None:
    """Some of its files list an edge in both directions and count it once."""
    header = "# Directed graph: x.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n"
    assert parse(tmp_path, ".txt", f"{header}0\t1\n1\t2\n").n_edges == 2
    assert parse(tmp_path, ".txt", f"{header}0\t1\n1\t0\n1\t2\n2\t1\n").n_edges == 2
    message = "the header declares 2 edges but the file holds 1; it must hold as many at least"
    refuses(tmp_path, ".txt", f"{header}0\t1\n", message)
