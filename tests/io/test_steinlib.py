"""The graph section of SteinLib files."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmst.io import text as text_module
from tests.io.files import parse, refuses, weight_by_edge

GOOD = """33D32945 STP File, STP Format Version 1.0

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


def test_only_the_graph_section_is_read(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".stp", GOOD)
    assert graph.n_vertices == 4
    assert weight_by_edge(graph) == {(0, 1): 7.0, (1, 2): 0.5, (2, 3): 2.0}


@pytest.mark.parametrize("size", [1, 7, 30, 100])
def test_sections_may_span_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(text_module, "BLOCK_BYTES", size)
    assert weight_by_edge(parse(tmp_path, ".gr", GOOD)) == {(0, 1): 7.0, (1, 2): 0.5, (2, 3): 2.0}


def test_weights_may_be_missing(tmp_path: Path) -> None:
    text = "SECTION Graph\nNodes 2\nArcs 1\nA 2 1\nEND\n"
    assert weight_by_edge(parse(tmp_path, ".stp", text)) == {(0, 1): 1}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Edges 3", "Edges 4", "declares 4 edges but the file holds 3"),
        ("Edges 3", "Edges 2", "declares 2 edges but the file holds 3"),
        ("Edges 3\n", "", "there is no graph section with Nodes and Edges"),
        ("Nodes 4\n", "", "line 10: an edge comes before the line 'Nodes n'"),
        ("Nodes 4", "Nodes x", "line 9: the header says 'x'"),
        ("Nodes 4", "Nodes 99999999999", "line 9: the header declares 99999999999 vertices"),
        ("Nodes 4", "Nodes 4 5", "line 9: 'Nodes' has no place here"),
        ("Nodes 4", "Nodes 3", "line 14: '4' is not a vertex number; they end at 3"),
        ("Edges 3", "Nodes 3", "line 10: 'Nodes' has no place here"),
        ("# between", "between", "line 12: 'between' has no place here"),
        ("E 1 2 7", "E 0 2 7", "line 11: '0' is not a vertex number; they start at 1"),
        ("E 1 2 7", "E 1 2 7 8", "line 11: the edge has 4 fields"),
        ("E 1 2 7", "E 1 2 nan", "line 11: 'nan' is the weight of edge (1, 2)"),
        ("End\n", "", "line 16: 'SECTION' has no place here"),
        ("0 0\nEND\n\nEOF", "", "section 'coordinates' does not end; END must close it"),
        ("Section Graph", "Section Trees", "there is no graph section"),
        ("Section Graph\n", "", "line 8: 'Nodes' is outside of a section"),
        ("\nEOF", "\nE 1 2 3", "line 21: 'E' is outside of a section"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    refuses(tmp_path, ".stp", GOOD.replace(old, new), message)
