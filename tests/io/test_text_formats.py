"""What each format of text says, what is written in it, and how a wrong line is named.

The reader that all formats share is tested for its errors in DIMACS; others have their own ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.io import mmread, mmwrite

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.generators import generate
from clmst.io import read_graph, write_graph
from clmst.io.edge_text import ARROW_BYTES
from tests.helpers.bounds import bounds
from tests.helpers.processes import run_python
from tests.helpers.strategies import EdgeArrays, edge_arrays
from tests.io.files import FORMAT_OF, explicit, lightest, parse, refuses, weight_by_edge, written

ARCS = "c a road\n\np sp 4 3\na 1 2 803\na 2 1 803\na 4 3 -7\n"
SECTIONS = """33D32945 STP File, STP Format Version 1.0

SECTION Comment
Name "example"
E 1 2 3
END

Section Graph
Nodes 4
Edges 3
E 1 2 7
# between
A 2 3 0.5
e 4 3 2
End

SECTION Coordinates
DD 1 0 0
END

EOF
"""
BANNER = "%%MatrixMarket matrix coordinate real general\n"
ENTRIES = BANNER + "% a comment\n\n3 3 3\n1 2 0.5\n2 1 0.25\n3 3 -1\n"
PLAIN = "% a comment\n4 2\n3 2\n1\n% between\n1\n\n"
WEIGHTED = "3 2 1\n2 7 3 -5\n1 7\n1 -5\n"
POINTS = """NAME : three
COMMENT : a keyword without meaning here, and 3 : 4
TYPE : TSP
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3.0e0 4
7 1 1
EOF
anything
"""
LONG = "9007199254740993"  # 2**53 + 1

INT, FLOAT, ONES = np.int64, np.float64, np.uint8
PATH, TWO, THREE = {(0, 1): 1, (1, 2): 1}, {(0, 1): 1, (0, 2): 1}, {(0, 1): 5, (1, 2): -6}
STAR = {(0, 1): 7, (0, 2): -5}

# By the suffix: a text, the number of its vertices, its edges, and the dtype of its weights.
READ: dict[str, list[tuple[str, int, Mapping[Any, float], type]]] = {
    ".gr": [
        (ARCS, 4, {(0, 1): 803, (2, 3): -7}, INT),
        ("p edge 3 2\ne 1 2\ne 2 3\n", 3, PATH, ONES),
        ("p tw 3 2\n1 2\n2 3\n", 3, PATH, ONES),
        ("c\r\np col 3 2\r\ne 1 2\r\ne 2 3\r\n", 3, PATH, ONES),
        ("comment\np sp 3 2\n\n a 1 2\n\ta  2\t3", 3, PATH, ONES),
        ("p sp 3 2\na 1 2 1\na 2 3 0.1\n", 3, {(0, 1): 1.0, (1, 2): 0.1}, FLOAT),
        ("SECTION Graph\nNodes 3\nEdges 1\nE 1 3 5\nEND\n\nEOF\n", 3, {(0, 2): 5}, INT),
        (SECTIONS, 4, {(0, 1): 7.0, (1, 2): 0.5, (2, 3): 2.0}, FLOAT),
    ],
    ".stp": [
        (SECTIONS, 4, {(0, 1): 7.0, (1, 2): 0.5, (2, 3): 2.0}, FLOAT),
        ("SECTION Graph\nNodes 2\nArcs 1\nA 2 1\nEND\n", 2, {(0, 1): 1}, ONES),
    ],
    ".txt": [
        ("0 1 5\n1 2 -6\n", 3, THREE, INT),
        ("0\t1\t5\n1\t2\t-6", 3, THREE, INT),
        ("0,1,5\r\n1 , 2,\t-6\r\n", 3, THREE, INT),
        ("# a comment, with commas\n% another\n\n0 1 5\n  # third\n1 2 -6\n\n", 3, THREE, INT),
        ("3\n2\n0 1 5\n1 2 -6\n", 3, THREE, INT),
        ("\ufeff0 1 5\n1 2 -6\n", 3, THREE, INT),
        ("0 1\n2 1\n", 3, PATH, ONES),
        ("0 1 0.5\n1 0 0.25\n0 1 0.5\n", 2, {(0, 1): 0.25}, FLOAT),
        ("6\n1\n1 3 0.5\n", 6, {(1, 3): 0.5}, FLOAT),
        (f"# x\n0,1,5\n# y\n\n1,2,{LONG}\n2,0,0.5", 3,
         {(0, 1): 5.0, (1, 2): 2.0**53, (0, 2): 0.5}, FLOAT),
    ],
    ".csv": [
        ("source,target,weight\n", 0, {}, ONES),
        ("0 1 2.5\n1 2 3\n", 3, {(0, 1): 2.5, (1, 2): 3.0}, FLOAT),
        ("0,1,2.5\n1,2,3\n", 3, {(0, 1): 2.5, (1, 2): 3.0}, FLOAT),
        ("# a comment, with a comma\n0\t1\t2.5\n1\t2\t3\n", 3, {(0, 1): 2.5, (1, 2): 3.0}, FLOAT),
    ],
    ".mtx": [
        (ENTRIES, 3, {(0, 1): 0.25}, FLOAT),
        (BANNER.replace("real general", "pattern symmetric") + "3 3 2\n2 1\n3 1\n", 3, TWO, ONES),
        (BANNER.replace("real", "integer") + "3 3 2\n2 1 1\n3 1 1\n", 3, TWO, INT),
        (BANNER.replace("real general", "Real General") + "3 3 2\n2 1 1\n3 1 1\n", 3, TWO, FLOAT),
        (BANNER.replace("real", "unsigned-integer") + "3 3 2\n2 1 1\n1 3 1\n", 3, TWO, INT),
    ],
    ".graph": [
        (PLAIN, 4, TWO, ONES),
        (WEIGHTED, 3, STAR, INT),
        ("3 2 001\n2 7 3 -5\n1 7\n1 -5\n\n\n", 3, STAR, INT),
        ("3 2 011\n9 2 7 3 -5\n9 1 7\n9 1 -5\n", 3, STAR, INT),
        ("3 2 011 3\n9 9 9 2 7 3 -5\n9 9 9 1 7\n9 9 9 1 -5\n", 3, STAR, INT),
        ("3 2 101\n8 2 7 3 -5\n8 1 7\n8 1 -5\n", 3, STAR, INT),
        ("3 2 111 2\n8 9 9 2 7 3 -5\n8 9 9 1 7\n8 9 9 1 -5\n", 3, STAR, INT),
        ("\n  3 2 1\r\n3 -5 2 7\r\n1 7\r\n1 -5", 3, STAR, INT),
        *[(f"2 0 {fmt}\n5\n5\n", 2, {}, ONES) for fmt in ("10", "010", "100", "11")],
    ],
}  # fmt: skip

REFUSED: dict[str, list[tuple[str, str]]] = {
    ".csv": [
        ("u,v,w\n1,2,3\n1,x,3\n", "line 3: 'x' is not a vertex number"),
        ("u,v,w\n1,2,3\n1,2\n", "line 3: the edge has 2 fields; it must have 3"),
        ("u,v,w\n1,2,nan\n", "is the weight of edge (1, 2)"),
        ("u,v\n1,2\n1,2,3\n", "line 3: the edge has 3 fields; it must have 2"),
        ("source,target,weight\n1,2\n2,3\n", "line 2: the edge has 2 fields; it must have 3, as "
         "the header row"),
        ("u,v\n1,2,3\n", "line 2: the edge has 3 fields; it must have 2, as the header row"),
        ("\ufeff", "the file is empty"),
        ("\ufeff\r\n \n", "the file is empty"),
        ("x,y\n1,2\n3,4\n", "the columns are 'x', 'y', which may be coordinates of points; if"),
    ],
    ".gr": [
        ("c only comments\n", "there is no p line"),
        ("a 1 2 3\n", "line 1: 'a 1 2 3' is not a p line"),
        ("%%MatrixMarket matrix coordinate real general\n", "line 1: '%%MatrixMarket matrix"),
        ("p sp 4\na 1 2 3\n", "line 1: 'p sp 4' is not a p line"),
        ("p sp 4 x\na 1 2 3\n", "line 1: the header says 'x'"),
        ("p sp -4 1\na 1 2 3\n", "line 1: the header says '-4'"),
        ("p sp 4 2\na 1 2 3\n", "declares 2 arcs but the file holds 1"),
        ("p sp 4 0\na 1 2 3\n", "declares 0 arcs but the file holds 1"),
        ("p sp 4000000000 99999999999\na 1 2 3\n", "line 1: the header declares 4000000000 vert"),
        (ARCS.replace("2 1 803", "5 1 803"), "line 5: '5' is not a vertex number; they end at 4"),
        (ARCS.replace("2 1 803", "0 1 803"), "line 5: '0' is not a vertex number; they start at 1"),
        (ARCS.replace("2 1 803", "2 -1 803"), "line 5: '-1' is not a vertex number; they start"),
        (ARCS.replace("2 1 803", "2 1.5 803"), "line 5: '1.5' is not a vertex number"),
        (ARCS.replace("2 1 803", f"2 {2**64} 803"), f"line 5: '{2**64}' is not a vertex number"),
        (ARCS.replace("2 1 803", f"2 {2**63} 803"), f"line 5: '{2**63}' is not a vertex number"),
        (ARCS.replace("2 1 803", "2 x 803"), "line 5: 'x' is not a vertex number"),
        (ARCS.replace("2 1 803", "2 1 8o3"), "line 5: '8o3' is not a number"),
        (ARCS.replace("2 1 803", "2 1 nan"), "line 5: 'nan' is the weight of edge (2, 1)"),
        (ARCS.replace("2 1 803", "2 1 1e999"), "line 5: '1e999' is beyond the range of float64"),
        (ARCS.replace("2 1 803", "2 1"), "line 5: the edge has 2 fields; it must have 3"),
        (ARCS.replace("2 1 803", "2 1 803 4"), "line 5: the edge has 4 fields; it must have 3"),
        (ARCS.replace("1 2 803", "1 2 803 4"), "line 4: the edge has 4 fields; an edge has two"),
        (ARCS.replace("a 2 1 803", "a"), "line 5: the edge has 0 fields; it must have 3"),
        (ARCS.replace("a 2 1 803", "arc 2 1 803"), "line 5: 'arc' is not a kind of line"),
        (ARCS.replace("a 2 1 803", "n 2 1 803"), "line 5: 'n' is not a kind of line"),
        (ARCS.replace("a 2 1 803", "p sp 4 3"), "line 5: 'p' starts a second problem"),
        (ARCS + "\0", "it must be a text file"),
        ("p sp 4 3\na", "line 2: the edge has 0 fields; an edge has two, or three with its wei"),
        ("p sp 4 3\na\na 1 2 803\n", "line 2: the edge has 0 fields"),
    ],
    ".txt": [
        ("\ufeff", "the file is empty"),
        (" \n\n\t\n", "the file is empty"),
        ("source,target,weight\n0,1,5\n", "line 1: 'source' is not a vertex number"),
        ("0 1 5\n1 -2 5\n", "line 2: '-2' is not a vertex number; they start at 0"),
        (f"0 1 5\n1 {2**63} 5\n", "line 2: '9223372036854775808' is not a vertex number"),
        ("0 1 5\n1 2\n", "line 2: the edge has 2 fields; it must have 3, as the edges before it"),
        ("7\n", "line 1: the edge has 1 fields; an edge has two, or three with its weight"),
        ("0 1 2 3\n", "line 1: the edge has 4 fields; an edge has two"),
        ("0,1,5\n1,,5\n", "line 2: a field is empty"),
        (
            "%%MatrixMarket matrix coordinate real general\n3 3 1\n",
            "line 1 is a Matrix Market banner",
        ),
        ("# clmst graph: 3 vert", "line 1 starts as the header of a clmst file"),
        ("0 1 5\n1 2 18446744073709551616\n", "line 2: '18446744073709551616' does not fit"),
        ("2\n1\n0 2 5\n", "line 3: '2' is not a vertex number; they end at 1"),
        ("2\nx\n0 1 5\n", "line 2: the header says 'x'"),
        ("9999999999\n1\n0 1 5\n", "line 2: the header declares 9999999999 vertices"),
        (
            "# clmst graph: 3 vertices and 2 edges \n0 1 5\n",
            "line 1 declares 3 vertices and 2 edges but the file holds 2 and 1",
        ),
    ],
    ".mtx": [
        ("p sp 3 1\na 1 2 3\n", "line 1: 'p sp 3 1' is not the banner"),
        ("%%MatrixMarket matrix coordinate real\n", "line 1: '%%matrixmarket matrix coordinate"),
        (BANNER.replace("coordinate", "array") + "2 2\n1\n2\n3\n4\n", "the matrix is dense"),
        (BANNER.replace("real", "complex") + "2 2 0\n", "line 1: the matrix is complex general"),
        (BANNER.replace("real general", "complex hermitian") + "2 2 0\n", "complex hermitian"),
        (BANNER.replace("general", "skew-symmetric") + "2 2 0\n", "the matrix is real skew-symm"),
        (BANNER, "there is no line of sizes"),
        (BANNER + "3 3\n1 2 3\n", "line 2: '3 3' has 2 fields"),
        (BANNER + "3 4 0\n", "line 2: the matrix is 3 x 4; an adjacency matrix must be square"),
        (ENTRIES.replace("3 3 3", "3 3 4"), "declares 4 entries but the file holds 3"),
        (ENTRIES.replace("3 3 -1", "4 3 -1"), "line 7: '4' is not a vertex number; they end at 3"),
        (ENTRIES.replace("real", "integer"), "the matrix is integer but entry 1, (1, 2), is 0.5"),
        (ENTRIES.replace("real", "pattern"), "the matrix is pattern but its entries have 3 fields"),
    ],
    ".graph": [
        ("% only a comment\n", "there is no header"),
        ("3\n", "line 1: '3' is not a header"),
        ("3 2 1 1 1\n", "line 1: '3 2 1 1 1' is not a header"),
        ("3 2 2\n", "line 1: fmt is '2'; it must be three digits"),
        ("3 2 0001\n", "line 1: fmt is '0001'"),
        ("4000000000 99999999999\n2\n1\n", "line 1: the header declares 4000000000 vertices"),
        (PLAIN.replace("4 2", "5 2"), "declares 5 vertices but the file has 4 lines"),
        (PLAIN.replace("4 2", "2 2"), "line 6: this is vertex 3 or more; the header declares 2"),
        (WEIGHTED + "1 1\n", "line 5: this is vertex 4 or more; the header declares 3"),
        (PLAIN.replace("4 2", "4 3"), "declares 3 edges but the file lists 4 neighbours"),
        (
            PLAIN.replace("3 2\n", "5 2\n"),
            "line 3: '5' is not a vertex number; they go from 1",
        ),
        (PLAIN.replace("3 2\n", "-3 2\n"), "line 3: '-3' is not a vertex number"),
        (WEIGHTED.replace("2 7", "2 7.5"), "line 2: '7.5' is not an integer"),
        (WEIGHTED.replace("2 7", "2"), "line 2: there are 3 numbers for neighbours; each must"),
        ("2 0 010 3\n1 2\n1 2 3\n", "line 2: there are 2 numbers; fmt and ncon"),
        ("2 0 010\n1\n\n", "line 3: there are 0 numbers; fmt and ncon"),
        ("3 2\n2 3\n1 3\n\n", "vertex 1 lists 3 but 3 does not list 1"),
        ("3 1\n2\n\n1\n", "vertex 1 lists 2 but 2 does not list 1"),
        (WEIGHTED.replace("1 7", "1 8"), "the edge of 1 and 2 weighs 7 in the line of 1 and 8 in"),
        ("2 1\n1 2\n\n", "vertex 1 lists itself"),
        ("2 2\n2 2\n1 1\n", "vertex 1 lists 2 twice"),
    ],
    ".tsp": [
        (POINTS.replace("EUC_2D", "XRAY1"), "EDGE_WEIGHT_TYPE is XRAY1, which is not supported"),
        (POINTS.replace("EUC_2D", "ATT"), "it must be one of EUC_2D, EUC_3D, GEO, EXPLICIT"),
        (explicit("FUNCTION", "1"), "EDGE_WEIGHT_FORMAT is FUNCTION, which is not supported"),
        (POINTS.replace("DIMENSION : 3\n", ""), "no line 'DIMENSION : ...'"),
        (POINTS.replace(": EUC_2D", ""), "line 5: 'EDGE_WEIGHT_TYPE' begins neither a section"),
        (POINTS.replace("DIMENSION : 3", "DIMENSION : 4"), "holds 9 numbers; by the header it"),
        (POINTS.replace("DIMENSION : 3", "DIMENSION : x"), "line 4: the header says 'x'"),
        (POINTS.replace("NODE_COORD_SECTION\n", ""), "line 6: '1' is outside of a section"),
        (POINTS.replace("2 3.0e0 4\n", "2 3.0e0 four\n"), "line 8: 'four' is not a number"),
        (POINTS.replace("3.0e0", "inf"), "coordinate 0 of point 1 is inf; all must be finite"),
        (POINTS.replace("7 1 1", "2 1 1"), "there are two nodes 2"),
        (POINTS.replace("EOF", "NODE_COORD_SECTION"), "there is a second NODE_COORD_SECTION"),
        (explicit("UPPER_ROW", "1 2"), "EDGE_WEIGHT_SECTION holds 2 numbers; by the header it"),
        (explicit("UPPER_ROW", "1 nan 2"), "is NaN"),
        (explicit("FULL_MATRIX", "0 5 7 5 0 9 8 9 0"), "it must be symmetric"),
        (explicit("UPPER_ROW", "1").replace("EDGE_WEIGHT_SECTION", "TOUR_SECTION"),
         "there is no EDGE_WEIGHT_SECTION"),
    ],
}  # fmt: skip

# Of SteinLib: what stands in the place of a text, and the message.
REPLACED = [
    ("Edges 3", "Edges 4", "declares 4 edges but the file holds 3"),
    ("Edges 3\n", "", "there is no graph section with Nodes and Edges"),
    ("Nodes 4\n", "", "line 10: an edge comes before the line 'Nodes n'"),
    ("Nodes 4", "Nodes 4 5", "line 9: 'Nodes' is not allowed in the graph section"),
    ("Edges 3", "Nodes 3", "line 10: 'Nodes' is not allowed in the graph section"),
    ("# between", "between", "line 12: 'between' is not allowed in the graph section"),
    ("End\n", "", "line 16: 'SECTION' is not allowed in the graph section"),
    ("0 0\nEND\n\nEOF", "", "section 'coordinates' does not end; END must close it"),
    ("Section Graph", "Section Trees", "there is no graph section"),
    ("Section Graph\n", "", "line 8: 'Nodes' is outside of a section"),
    ("\nEOF", "\nE 1 2 3", "line 21: 'E' is outside of a section"),
    ("E 1 2 7\n", "E\n", "line 11: the edge has 0 fields; an edge has two, or three"),
]
REFUSED[".stp"] = [(SECTIONS.replace(old, new), message) for old, new, message in REPLACED]


@pytest.mark.parametrize("size", [1 << 20, 4, 7, 30])
@pytest.mark.parametrize("suffix", READ)
def test_texts_are_read(tmp_path: Path, suffix: str, size: int) -> None:
    """Wherever a file is cut into blocks."""
    for text, n, edges, dtype in READ[suffix]:
        with bounds(text_block=size):
            graph = parse(tmp_path, suffix, text)
        assert (graph.n_vertices, graph.vertex_labels) == (n, None), text
        assert weight_by_edge(graph) == edges, text
        assert graph.weights.dtype == dtype, text


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [(suffix, *row) for suffix, found in REFUSED.items() for row in found],
)
def test_bad_files_are_refused(tmp_path: Path, suffix: str, text: str, message: str) -> None:
    refuses(tmp_path, suffix, text, message)


def test_each_replacement_is_of_one_place() -> None:
    assert all(SECTIONS.count(old) == 1 for old, _, _ in REPLACED)


FLOATS = EdgeArrays(3, np.array([2, 0, 1]), np.array([0, 1, 1]), np.array([0.1, -2.0, 1.0], "f4"))
LINES = Graph.from_edges([3, 0, 0], [0, 0, 1], [5, 6, 2**63 - 1], n_vertices=5)


@pytest.mark.parametrize(
    ("name", "graph", "text"),
    [
        (
            "dimacs",
            FLOATS.graph(),
            "p sp 3 4\na 1 2 -2.0\na 2 1 -2.0\na 1 3 0.10000000149011612\n"
            "a 3 1 0.10000000149011612\n",
        ),
        ("metis", LINES, f"5 2 001\n2 {2**63 - 1} 4 5\n1 {2**63 - 1}\n\n1 5\n\n"),
        (
            "matrix-market",
            Graph.from_edges([0], [1], np.array([2**64 - 1], np.uint64)),
            f"%%MatrixMarket matrix coordinate unsigned-integer symmetric\n%\n2 2 1\n"
            f"2 1 {2**64 - 1}\n",
        ),
    ],
)
def test_texts_are_written(name: str, graph: Graph, text: str) -> None:
    """Both directions of DIMACS: shortest path programs take each arc as directed."""
    assert written(graph, FORMAT_OF[name]).decode() == text


@pytest.mark.parametrize(
    ("suffix", "weights", "message"),
    [
        (".graph", [0.5, 1.0], r"edge \(0, 1\) weighs 0.5 in float64; METIS weights are positive"),
        (".graph", [1, 0], r"edge \(0, 2\) weighs 0 in int64"),
        (".graph", [-3, 2], r"edge \(0, 1\) weighs -3 in int64"),
        (".graph", np.array([1, 2], np.float16), "weighs 1.0 in float16"),
        (".egr", [0.5, 1], "the weights are float64; those of ECL graphs are integers of 32 bits"),
        (".egr", [2**31, 1], "the weights go from 0 to 2147483648"),
        (".egr", [-(2**31) - 1, 1], "the weights go from -2147483649 to 1"),
    ],
)
def test_weights_that_are_not_written(
    tmp_path: Path, suffix: str, weights: Any, message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        write_graph(Graph.from_edges([0, 0], [1, 2], weights), tmp_path / f"a{suffix}")


def test_edge_ids_count_the_lines_with_edges(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".gr", "p sp 3 4\na 2 1 9\nc between\na 3 2 5\na 1 2 8\na 2 3 5\n")
    assert (graph.edges()[3].tolist(), graph.n_input) == ([2, 1], 4)


def test_numbers_of_other_sections_are_no_edges(tmp_path: Path) -> None:
    """Not even where a block has nothing else, and they look like edges without their letter."""
    text = SECTIONS.replace("DD 1 0 0\n", "1 2 3\n" * 400_000)
    assert parse(tmp_path, ".stp", text).n_edges == 3


# --------------------------------------------------------------------------- edge lists


@pytest.mark.parametrize("far", [9, 10**6, 2**63 - 1])
def test_numbers_with_gaps_become_labels(tmp_path: Path, far: int) -> None:
    graph = parse(tmp_path, ".txt", f"3 {far} 1\n4 4 2\n3 7 3\n")
    assert graph.n_vertices == 4
    assert graph.vertex_labels == (3, 4, 7, far)
    assert weight_by_edge(graph) == {(3, far): 1, (3, 7): 3}


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
    message = "the header declares 2 edges but the file holds 1; it must hold at least that many"
    refuses(tmp_path, ".txt", f"{header}0\t1\n", message)


# ------------------------------------------------------------------------ Matrix Market


@given(edge_arrays())
def test_scipy_reads_what_is_written(raw: EdgeArrays) -> None:
    """Its reader expands the symmetric matrix."""
    if raw.w.dtype == np.uint64 and (raw.w >= 1 << 63).any():
        raw = raw._replace(w=raw.w >> np.uint64(1))
    matrix = sparse.coo_array(mmread(BytesIO(written(raw.graph(), FORMAT_OF["matrix-market"]))))
    assert matrix.shape == (raw.n, raw.n)
    found = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    assert {(u, v): w for u, v, w in found if u < v} == lightest(raw)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64, np.float32])
def test_what_scipy_writes_is_read(tmp_path: Path, dtype: type) -> None:
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 30, (2, 200))
    matrix = sparse.coo_array((rng.random(200) * 1e6, (u, v)), shape=(30, 30)).astype(dtype)
    matrix.sum_duplicates()
    mmwrite(tmp_path / "file.mtx", matrix, symmetry="general")
    graph = parse(tmp_path, ".mtx", (tmp_path / "file.mtx").read_bytes())
    expected = Graph.from_scipy(matrix)
    if dtype == np.float32:  # written as its own shortest decimals
        graph = graph.replace(weights=graph.weights.astype(dtype))
    assert weight_by_edge(graph) == weight_by_edge(expected)


# -------------------------------------------------------------------------------- METIS


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


def test_reading_a_text_does_not_import_pandas(tmp_path: Path) -> None:
    """Otherwise pyarrow imports it to make arrays of columns, which takes half a second."""
    path = tmp_path / "graph.gr"
    write_graph(generate("road", n=5_000, seed=0), path)
    assert path.stat().st_size > ARROW_BYTES
    program = (
        "import sys, clmst; clmst.Graph.read(sys.argv[1]);"
        "print('pyarrow' in sys.modules, 'pandas' in sys.modules)"
    )
    assert run_python("-c", program, str(path)).stdout.split() in (["True", "False"], ["False"] * 2)
