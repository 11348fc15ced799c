"""Pictures of clusters: what is on them, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import InvalidArgumentError
from clmst.cluster import HDBSCAN, single_linkage
from clmst.core.weight_keys import Array
from clmst.drawing import draw_clusters, draw_condensed_tree, draw_dendrogram
from clmst.drawing.clusters import projected
from clmst.drawing.dendrogram import DrawnTree

image = pytest.importorskip("matplotlib.image")

X = np.random.default_rng(6).normal(np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0), 0.5)
PAIR = clmst.kruskal([[0, 1], [1, 0]])
BLUE, ORANGE = np.array([43, 143, 184]) / 255, np.array([227, 118, 47]) / 255


def n_like(pixels: Array, colour: Array) -> int:
    """Return how many pixels are nearer to a colour's hue than to grey."""
    shares = pixels[..., :3] - pixels[..., :3].mean(axis=2, keepdims=True)
    hue = colour - colour.mean()
    return int(((shares @ hue) > 0.6 * hue @ hue).sum())


def test_clusters_have_hues(tmp_path: Path) -> None:
    model = HDBSCAN(8).fit(X)
    path = tmp_path / "map.png"
    draw_clusters(X, model.labels_, path, forest=model.forest_)
    pixels = image.imread(path)
    assert n_like(pixels, BLUE) > 100
    assert n_like(pixels, ORANGE) > 100
    draw_clusters(X, np.full(60, -1), path)
    assert n_like(image.imread(path), ORANGE) == 0


def test_dendrogram_has_its_clusters_in_hues(tmp_path: Path) -> None:
    linkage = single_linkage(X)
    path = tmp_path / "tree.png"
    forest = clmst.minimum_spanning_forest(clmst.Points(X))
    draw_dendrogram(linkage, path, labels=forest.cut(k=3))
    assert n_like(image.imread(path), ORANGE) > 100
    draw_dendrogram(linkage, path, labels=forest.cut(k=3).astype(np.int64) << 40)  # numbered anew
    assert n_like(image.imread(path), ORANGE) > 100
    draw_dendrogram(linkage, path)
    assert n_like(image.imread(path), ORANGE) == 0
    graph = clmst.Graph.from_edges([0, 2], [1, 3], [1.0, 2.0])
    joined = clmst.kruskal(graph).linkage(join_components=True)
    draw_dendrogram(joined, tmp_path / "tree.svg")


def test_no_lines_of_a_dendrogram_cross() -> None:
    """The points below each merge are neighbours, the left ones below its left node."""
    linkage = single_linkage(X)
    x = DrawnTree.of(linkage, None, None).x
    n = len(X)
    below = [{point} for point in range(n)]
    for a, b in linkage[:, :2].astype(int).tolist():
        below.append(below[a] | below[b])
        assert max(x[k] for k in below[a]) < min(x[k] for k in below[b])
    assert sorted(np.rint(x[:n] / x[:n].max() * (n - 1)).astype(int).tolist()) == list(range(n))


def test_condensed_tree_has_its_selection_in_hues(tmp_path: Path) -> None:
    model = HDBSCAN(8).fit(X)
    path = tmp_path / "condensed.png"
    draw_condensed_tree(model.condensed_tree_, path, selected=model.selected_clusters_)
    assert n_like(image.imread(path), ORANGE) > 1000
    draw_condensed_tree(model.condensed_tree_, path)
    assert n_like(image.imread(path), ORANGE) == 0


def test_points_are_projected_where_they_are_widest() -> None:
    """The first two principal components keep distances of points in a plane."""
    plane = np.linalg.qr(np.random.default_rng(7).random((5, 2)))[0]
    places = projected(X @ plane.T + 3)
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    np.testing.assert_allclose(apart, np.linalg.norm(X[:, None] - X, axis=2), atol=1e-9)
    assert projected(np.arange(4.0)[:, None]).tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]]


@pytest.mark.parametrize(
    ("draw", "given"),
    [
        (draw_dendrogram, {"linkage": np.zeros((3, 3))}),
        (draw_dendrogram, {"linkage": [[0, 1, 1, 2], [0, 2, 2, 3]]}),
        (draw_dendrogram, {"linkage": [[0, 3, 1, 2], [1, 2, 2, 3]]}),
        (draw_dendrogram, {"linkage": [[0, 1, 1, 2]], "labels": [0]}),
        (draw_dendrogram, {"linkage": [[0, 1, 1, 2]], "names": ["a"]}),
        (draw_dendrogram, {"linkage": [[0, 1, 1, 2]], "names": 3}),
        (draw_clusters, {"points": [[0, np.nan]], "labels": [0]}),
        (draw_clusters, {"points": [[0, 1]], "labels": [0.5]}),
        (draw_clusters, {"points": [[0, 1]], "labels": [0], "forest": PAIR}),
        (draw_condensed_tree, {"tree": np.zeros(3)}),
    ],
)  # fmt: skip
def test_what_is_no_such_thing_is_refused(draw: Any, given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError):
        draw(**given, path=tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
