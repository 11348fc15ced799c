"""DIMACS shortest path files, ``p edge`` files and what PACE makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.io.files import FORMAT_OF, parse, refuses, weight_by_edge, written
from tests.strategies import EdgeArrays

GOOD = "c a road\n\np sp 4 3\na 1 2 803\na 2 1 803\na 4 3 -7\n"


def test_arcs_of_both_directions_are_one_edge(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".gr", GOOD)
    assert weight_by_edge(graph) == {(0, 1): 803, (2, 3): -7}
    assert graph.weights.dtype == np.int64


def test_edge_ids_count_the_arcs_of_the_file(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".gr", "p sp 3 4\na 2 1 9\nc between\na 3 2 5\na 1 2 8\na 2 3 5\n")
    assert graph.edges()[3].tolist() == [2, 1]
    assert graph.n_input == 4


@pytest.mark.parametrize(
    "text",
    [
        "p edge 3 2\ne 1 2\ne 2 3\n",
        "p tw 3 2\n1 2\n2 3\n",
        "c\r\np col 3 2\r\ne 1 2\r\ne 2 3\r\n",
        "comment\np sp 3 2\n\n a 1 2\n\ta  2\t3",
    ],
)
def test_variants_without_weights(tmp_path: Path, text: str) -> None:
    graph = parse(tmp_path, ".gr", text)
    assert graph.n_vertices == 3
    assert weight_by_edge(graph) == {(0, 1): 1, (1, 2): 1}


def test_floats_make_all_weights_floats(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".gr", "p sp 3 2\na 1 2 1\na 2 3 0.1\n")
    assert weight_by_edge(graph) == {(0, 1): 1.0, (1, 2): 0.1}
    assert graph.weights.dtype == np.float64


def test_steinlib_sections_are_recognised(tmp_path: Path) -> None:
    text = "SECTION Graph\nNodes 3\nEdges 1\nE 1 3 5\nEND\n\nSECTION Terminals\nT 1\nEND\nEOF\n"
    graph = parse(tmp_path, ".gr", text)
    assert graph.n_vertices == 3
    assert weight_by_edge(graph) == {(0, 2): 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c only comments\n", "there is no p line"),
        ("a 1 2 3\n", "line 1: 'a 1 2 3' is not a p line"),
        ("%%MatrixMarket matrix coordinate real general\n", "line 1: '%%MatrixMarket matrix"),
        ("p sp 4\na 1 2 3\n", "line 1: 'p sp 4' is not a p line"),
        ("p sp 4 x\na 1 2 3\n", "line 1: the header says 'x'"),
        ("p sp -4 1\na 1 2 3\n", "line 1: the header says '-4'"),
        ("p sp 4 2\na 1 2 3\n", "declares 2 arcs but the file holds 1"),
        ("p sp 4 0\na 1 2 3\n", "declares 0 arcs but the file holds 1"),
        ("p sp 4000000000 99999999999\na 1 2 3\n", "line 1: the header declares 4000000000 vert"),
        (GOOD.replace("2 1 803", "5 1 803"), "line 5: '5' is not a vertex number; they end at 4"),
        (GOOD.replace("2 1 803", "0 1 803"), "line 5: '0' is not a vertex number; they start at 1"),
        (GOOD.replace("2 1 803", "2 -1 803"), "line 5: '-1' is not a vertex number; they start"),
        (GOOD.replace("2 1 803", "2 1.5 803"), "line 5: '1.5' is not a vertex number"),
        (GOOD.replace("2 1 803", f"2 {2**64} 803"), f"line 5: '{2**64}' is not a vertex number"),
        (GOOD.replace("2 1 803", f"2 {2**63} 803"), f"line 5: '{2**63}' is not a vertex number"),
        (GOOD.replace("2 1 803", "2 x 803"), "line 5: 'x' is not a vertex number"),
        (GOOD.replace("2 1 803", "2 1 8o3"), "line 5: '8o3' is not a number"),
        (GOOD.replace("2 1 803", "2 1 nan"), "line 5: 'nan' is the weight of edge (2, 1)"),
        (GOOD.replace("2 1 803", "2 1 1e999"), "line 5: '1e999' is beyond the range of float64"),
        (GOOD.replace("2 1 803", "2 1"), "line 5: the edge has 2 fields; it must have 3"),
        (GOOD.replace("2 1 803", "2 1 803 4"), "line 5: the edge has 4 fields; it must have 3"),
        (GOOD.replace("1 2 803", "1 2 803 4"), "line 4: the edge has 4 fields; an edge has two"),
        (GOOD.replace("a 2 1 803", "a"), "line 5: the edge has 0 fields; it must have 3"),
        (GOOD.replace("a 2 1 803", "arc 2 1 803"), "line 5: 'arc' starts no line"),
        (GOOD.replace("a 2 1 803", "n 2 1 803"), "line 5: 'n' starts no line"),
        (GOOD.replace("a 2 1 803", "p sp 4 3"), "line 5: 'p' starts a second problem"),
        (GOOD + "\0", "it must be a text file"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    refuses(tmp_path, ".gr", text, message)


def test_both_directions_are_written() -> None:
    """Shortest path programs take each arc as directed."""
    raw = EdgeArrays(3, np.array([2, 0, 1]), np.array([0, 1, 1]), np.array([0.1, -2.0, 1.0], "f4"))
    assert written(raw.graph(), FORMAT_OF["dimacs"]).decode() == (
        "p sp 3 4\na 1 2 -2.0\na 2 1 -2.0\na 1 3 0.10000000149011612\na 3 1 0.10000000149011612\n"
    )
