"""TSPLIB: the kinds of distances that are read, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import clmst
from clmst import DenseGraph, Points
from clmst.core.errors import FileFormatError, InvalidArgumentError
from tests.io.files import explicit, parse, weight_by_edge
from tests.io.test_text_formats import POINTS

# The same distances in each layout: (0, 1) 5, (0, 2) 7, (1, 2) 9.
LAYOUTS = {
    "FULL_MATRIX": "0 5 7  5 0 9  7 9 0",
    "UPPER_ROW": "5 7 9",
    "LOWER_ROW": "5 7 9",
    "UPPER_DIAG_ROW": "0 5 7 0 9 0",
    "LOWER_DIAG_ROW": "0 5 0 7 9 0",
    "UPPER_COL": "5 7 9",
    "LOWER_COL": "5 7 9",
    "UPPER_DIAG_COL": "0 5 0 7 9 0",
    "LOWER_DIAG_COL": "0 5 7 0 9 0",
}
FOUR_BY_ROW, FOUR_BY_COLUMN = "1 2 3 4 5 6", "1 2 4 3 5 6"


def read_points(folder: Path, text: str) -> Points | DenseGraph:
    (path := folder / "file.tsp").write_text(text, encoding="utf-8")
    return clmst.read_points(path)


def test_points(tmp_path: Path) -> None:
    """Both ways of reading give the same graph; names of nodes are not numbers of vertices."""
    points = read_points(tmp_path, POINTS)
    assert isinstance(points, Points)
    assert points.metric == "rounded-euclidean"
    assert points.coordinates.tolist() == [[0, 0], [3, 4], [1, 1]]
    assert weight_by_edge(parse(tmp_path, ".tsp", POINTS)) == {(0, 1): 5, (0, 2): 1, (1, 2): 4}


def test_keywords_in_any_form(tmp_path: Path) -> None:
    changed = POINTS.replace(" : ", ":").replace("EOF\nanything\n", "")
    changed = changed.replace("NODE_COORD_SECTION", "node_coord_section :")
    assert read_points(tmp_path, changed).n_vertices == 3


def test_three_dimensions(tmp_path: Path) -> None:
    text = POINTS.replace("2D", "3D").replace("0 0\n", "0 0 0\n")
    text = text.replace("4\n", "4 12\n", 2).replace("1 1\n", "1 1 1\n").replace("3 : 4 12", "3 : 4")
    assert weight_by_edge(parse(tmp_path, ".tsp", text))[0, 1] == 13


@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrix(tmp_path: Path, layout: str) -> None:
    graph = read_points(tmp_path, explicit(layout, LAYOUTS[layout]))
    assert isinstance(graph, DenseGraph)
    assert graph.weights.dtype == np.int64
    assert graph.weights.tolist() == [[0, 5, 7], [5, 0, 9], [7, 9, 0]]


@pytest.mark.parametrize(
    ("layout", "values"),
    [
        ("UPPER_ROW", FOUR_BY_ROW),
        ("LOWER_COL", FOUR_BY_ROW),
        ("LOWER_ROW", FOUR_BY_COLUMN),
        ("UPPER_COL", FOUR_BY_COLUMN),
    ],
)
def test_triangles_of_four(tmp_path: Path, layout: str, values: str) -> None:
    """With three vertices, rows and columns of a triangle look the same."""
    graph = read_points(tmp_path, explicit(layout, values, n=4))
    expected = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]
    assert isinstance(graph, DenseGraph)
    assert graph.weights.tolist() == expected


def test_other_formats_hold_no_points(tmp_path: Path) -> None:
    (path := tmp_path / "roads.gr").write_text("p sp 1 0\n")
    with pytest.raises(InvalidArgumentError, match=r"no format of points has; known are csv"):
        clmst.read_points(path)


def test_another_metric_than_the_files(tmp_path: Path) -> None:
    """TSPLIB takes 46.30 for degrees and minutes; other files mean decimals."""
    (path := tmp_path / "cities.tsp").write_text(
        "DIMENSION : 2\nEDGE_WEIGHT_TYPE : GEO\nNODE_COORD_SECTION\n1 46.948 7.447\n2 47.56 7.589\n"
    )
    points = clmst.read_points(path, metric="haversine")
    assert isinstance(points, clmst.Points)
    assert points.metric == "haversine"
    assert points.weights_of(np.array([0]), np.array([1]))[0] == pytest.approx(68.88, abs=0.02)
    with pytest.raises(InvalidArgumentError, match="metric is 'taxi'"):
        clmst.read_points(path, metric="taxi")  # type: ignore[arg-type]
    path.write_text(
        "DIMENSION : 1\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\n"
        "EDGE_WEIGHT_SECTION\n0\n"
    )
    with pytest.raises(FileFormatError, match="lists a matrix, not points"):
        clmst.read_points(path, metric="haversine")
