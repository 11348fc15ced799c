"""Notebook views: right sizes, and pictures that are well-formed and small."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from clmst import Graph, generate, kruskal


def parsed(shown: Graph) -> ET.Element:
    """Return the HTML that a notebook shows for a graph. Raises unless its tags are closed."""
    return ET.fromstring(shown._repr_html_())


def test_forest_with_its_picture() -> None:
    """Two trees, of two colours, every vertex with its name."""
    graph = Graph.from_edges([0, 1, 0, 3], [1, 2, 2, 4], [1, 2, 3, 1000])
    forest = kruskal(graph.replace(vertex_labels=("<a>", "b", ("c", 1), 4, 5)))
    page = ET.fromstring(forest._repr_html_())
    cells = [cell.text for cell in page.iter("td")]
    assert cells == ["5", "3", "2", "1,003"]
    assert page.findtext(".//b") == "Minimum spanning forest"
    lines, dots = list(page.iter("line")), list(page.iter("circle"))
    assert len({line.get("stroke") for line in lines}) == 2
    assert [dot.findtext("title") for dot in dots] == ["<a>", "b", "('c', 1)", "4", "5"]
    assert (len(lines), len(dots)) == (3, 5)


def test_graph_with_coordinates_is_drawn_there() -> None:
    """Its own proportions, north at the top, all within the picture."""
    corners = np.array([[0, 0], [1000, 0], [1000, 100], [0, 100]])
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], coordinates=corners)
    page = parsed(graph)
    at = np.array([[float(dot.get(name, "")) for name in ("cx", "cy")]
                   for dot in page.iter("circle")])  # fmt: skip
    (whole,) = (float(one.get("width", "")) for one in page.iter("svg"))
    width, height = np.ptp(at, axis=0)
    assert 0.9 * whole < width < whole
    assert height == pytest.approx(width / 10, abs=0.2)
    assert at[0, 1] > at[3, 1]
    assert at.min() >= 0


def test_large_graphs_have_no_picture() -> None:
    """A notebook must not wait for it, nor keep megabytes."""
    graph = generate("random", n=3000, average_degree=4.0)
    for one in (graph, kruskal(graph)):
        assert "svg" not in one._repr_html_()
        assert "3,000" in one._repr_html_()
    grid = generate("grid", rows=30, columns=30)
    assert grid.coordinates is not None
    assert 10_000 < len(grid._repr_html_()) < 200_000


def test_smallest_graphs() -> None:
    empty = Graph.from_edges([], [])
    assert parsed(empty).find(".//svg") is None
    assert "0" in kruskal(empty)._repr_html_()
    alone = Graph.from_edges([], [], n_vertices=1)
    assert len(list(parsed(alone).iter("circle"))) == 1
    nowhere = Graph.from_edges([0], [1], coordinates=np.full((2, 2), np.inf))
    assert parsed(nowhere).find(".//svg") is None
