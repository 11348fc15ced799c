"""Interactive pictures: what is on them, what they tell, where they are written."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import InvalidArgumentError, MissingDependencyError
from clmst.cluster import single_linkage
from clmst.core.errors import pip_install
from clmst.drawing import PALETTE, explore_clusters, explore_dendrogram

X = np.random.default_rng(6).normal(np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0), 0.5)
LABELS = np.repeat([0, 1, -1], 20)


def named(figure: Any) -> dict[str, Any]:
    """Return the traces by their names."""
    return {trace.name: trace for trace in figure.data}


@pytest.mark.parametrize("explore", [explore_clusters, explore_dendrogram])
def test_without_plotly(explore: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    given = (X, LABELS) if explore is explore_clusters else (single_linkage(X),)
    with pytest.raises(MissingDependencyError, match=rf"{re.escape(pip_install('plotly'))}$"):
        explore(*given)


def test_a_map_has_every_point_in_its_cluster() -> None:
    pytest.importorskip("plotly")
    names = [f"n{k}" for k in range(60)]
    forest = clmst.minimum_spanning_forest(clmst.Points(X))
    traces = named(explore_clusters(X, LABELS, names=names, forest=forest))
    assert list(traces) == ["tree", "0 (20)", "1 (20)", "noise (20)"]
    own = traces["1 (20)"]
    np.testing.assert_allclose(np.stack([own.x, own.y], 1), X[20:40])
    assert list(own.text) == names[20:40]
    assert own.marker.color == PALETTE[1]
    ends = np.stack([traces["tree"].x, traces["tree"].y], 1).reshape(59, 3, 2)
    np.testing.assert_allclose(ends[:, :2], X[forest.edges])
    assert np.isnan(ends[:, 2]).all()
    assert traces["tree"].visible is True


def test_a_tree_of_many_dimensions_is_hidden_at_first() -> None:
    pytest.importorskip("plotly")
    points = np.hstack([X, X])
    forest = clmst.minimum_spanning_forest(clmst.Points(points))
    assert named(explore_clusters(points, LABELS, forest=forest))["tree"].visible == "legendonly"


def numbers_of(figure: Any) -> dict[str, Any]:
    """Return the traces of the labels on a map, by the label."""
    return {one.text[0]: one for one in figure.data if one.mode == "markers+text"}


def test_more_than_thirty_clusters_are_numbered() -> None:
    """Colours and marks of forty clusters are hard to tell apart."""
    pytest.importorskip("plotly")
    random = np.random.default_rng(4)
    middles = np.stack(np.divmod(np.arange(40), 8), axis=1) * 10.0
    points = (middles[:, None] + random.normal(size=(40, 5, 2))).reshape(-1, 2)
    labels = np.arange(40).repeat(5)
    few = explore_clusters(points, labels % 30)
    assert numbers_of(few) == {}

    figure = explore_clusters(points, labels)
    numbers, clusters = numbers_of(figure), named(figure)
    assert list(numbers) == [str(k) for k in range(40)]
    assert all(one.mode == "markers+text" for one in figure.data[-40:])  # above all points
    for k, (label, one) in enumerate(numbers.items()):
        median = np.median(points[labels == k], axis=0)
        np.testing.assert_allclose([one.x[0], one.y[0]], median)
        assert not one.showlegend
        assert one.legendgroup == clusters[f"{label} (5)"].legendgroup  # hidden together
    assert len({one.legendgroup for one in numbers.values()}) == 40


@pytest.mark.parametrize("width", [0.0, 1.0])
def test_numbers_of_clusters_do_not_cover_each_other(width: float) -> None:
    """Clusters may lie on top of each other, and all points at one place."""
    pytest.importorskip("plotly")
    points = np.random.default_rng(4).normal(scale=width, size=(80, 2))
    numbers = numbers_of(explore_clusters(points, np.arange(80) // 2))
    at = np.array([[one.x[0], one.y[0]] for one in numbers.values()])
    discs = np.array([one.marker.size for one in numbers.values()])
    extent = np.ptp(points, axis=0) if width else np.full(2, 2.0)
    pixel = (extent / (560, 460)).max()  # the map of a small notebook
    apart = np.abs(at[:, None] - at).max(axis=2) / pixel
    np.fill_diagonal(apart, np.inf)
    assert (apart >= (discs[:, None] + discs) / 2).all()


def test_the_largest_of_very_many_clusters_are_numbered() -> None:
    pytest.importorskip("plotly")
    labels = np.concatenate([np.arange(250), np.arange(201)])
    points = np.random.default_rng(4).normal(size=(labels.size, 2))
    points[labels == 7] = np.nan
    figure = explore_clusters(points, labels)
    assert numbers_of(figure).keys() == {str(k) for k in range(200) if k != 7}
    assert "the 200 largest clusters are numbered" in figure.layout.title.text


def test_a_dendrogram_tells_heights_and_sizes() -> None:
    pytest.importorskip("plotly")
    linkage = np.array([[0, 1, 1.0, 2], [2, 3, np.inf, 3]])
    figure = explore_dendrogram(linkage, labels=[0, 0, 1], names=["a", "b", "c"])
    points, finite, infinite = figure.data[-3:]
    assert list(points.text) == ["a", "b", "c"]
    assert points.hovertemplate.startswith("%{text}<br>point %{customdata}")
    assert (list(finite.y), list(finite.customdata)) == ([1], [2])
    assert finite.hovertemplate.startswith("height %{y:.6g}<br>%{customdata:,} points")
    assert (infinite.y[0] > 1, list(infinite.customdata)) == (True, [3])
    assert infinite.hovertemplate.startswith("height infinite")
    assert {"between clusters", "0 (2)", "1 (1)"} <= named(figure).keys()
    assert sum(len(trace.x) for trace in figure.data[:-3]) == 2 * 3 * 3


def test_a_large_dendrogram_has_few_lines_that_cover_all_others() -> None:
    """A browser takes most of a minute for the lines of 100,000 points, one by one."""
    pytest.importorskip("plotly")
    n = 30_000
    linkage = single_linkage(np.random.default_rng(1).normal(size=(n, 2)))
    labels = np.zeros(n, np.int64)
    labels[0] = -1
    figure = explore_dendrogram(linkage, labels=labels)
    assert "drawn as one" in figure.layout.title.text
    lines = [np.stack([one.x, one.y], 1).reshape(-1, 3, 2) for one in figure.data if one.line.width]
    drawn = np.concatenate(lines)[:, :2]
    assert len(drawn) < 3 * (n - 1) / 3
    column = (n - 1) / 4000
    tops = np.stack([figure.data[-1].x, figure.data[-1].y], 1)  # of every merge
    for x, y in tops[np.random.default_rng(2).integers(0, n - 1, 200)]:
        near = (drawn[:, :, 0].min(axis=1) <= x + column) & (drawn[:, :, 0].max(1) >= x - column)
        apart = np.abs(np.clip(y, drawn[:, :, 1].min(1), drawn[:, :, 1].max(1)) - y)
        assert apart[near].min() <= linkage[-1, 2] / 1000


def test_a_page_is_written_whole_and_needs_no_network(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    path = tmp_path / "a.html"
    explore_dendrogram(single_linkage(X), path)
    text = path.read_text(encoding="utf-8")
    assert "Plotly.newPlot(" in text
    assert 'src="http' not in text
    assert "height:100%; width:100%" in text  # of the window
    wrong: Any
    for wrong in (tmp_path / "a.png", 3):
        with pytest.raises(InvalidArgumentError):
            explore_clusters(X, LABELS, wrong)
    with pytest.raises(InvalidArgumentError, match="one for each of 60 points"):
        explore_clusters(X, LABELS, names=["a", "b"])
    assert [one.name for one in tmp_path.iterdir()] == ["a.html"]
