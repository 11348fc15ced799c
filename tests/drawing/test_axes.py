"""Destinations of pictures, texts of their legends, and hues of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import InvalidArgumentError, drawing, generators
from clmst.cluster import HDBSCAN, PersistentLeaves, single_linkage
from clmst.core.weight_keys import Array
from clmst.drawing import (
    draw_clusters,
    draw_condensed_tree,
    draw_dendrogram,
    draw_forest,
    draw_persistence,
)
from clmst.drawing.dendrogram import DrawnTree
from clmst.drawing.layout import projected

plt = pytest.importorskip("matplotlib.pyplot")

X = np.random.default_rng(6).normal(np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0), 0.5)
LABELS = np.repeat([0, 1, -1], 20)
ROADS = generators.road(n=80, seed=1)
FOREST = clmst.kruskal(ROADS)
MODEL = HDBSCAN(8).fit(X)
LEAVES = PersistentLeaves(4).fit(X)
DRAWN: dict[str, Callable[..., Any]] = {
    "draw_forest": partial(draw_forest, ROADS, FOREST),
    "draw_change": partial(drawing.draw_change, ROADS, FOREST, clmst.kruskal(ROADS, maximum=True)),
    "draw_clusters": partial(draw_clusters, X, labels=LABELS),
    "draw_dendrogram": partial(draw_dendrogram, single_linkage(X), labels=LABELS),
    "draw_condensed_tree": partial(
        draw_condensed_tree, MODEL.condensed_tree_, selected=MODEL.selected_clusters_
    ),
    "draw_persistence": partial(draw_persistence, LEAVES.trace_, selected=LEAVES.min_cluster_size_),
}
every_picture = pytest.mark.parametrize("name", DRAWN)


@pytest.fixture(autouse=True)
def _without_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Leave no figure of pyplot behind, and show a file that nobody asked for."""
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


def entries(ax: Any) -> list[str]:
    """Return the texts of a legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_every_picture_is_tested() -> None:
    assert set(DRAWN) == {name for name in drawing.__all__ if name.startswith("draw_")}


@every_picture
def test_it_is_drawn_on_the_axes_that_are_given(name: str, tmp_path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert DRAWN[name](ax=right) is right
    assert right.has_data() or right.collections
    assert right.get_title(loc="left")
    assert not left.collections
    assert left.get_xlim() == (0, 1)
    assert plt.get_fignums() == [figure.number]
    assert not list(tmp_path.iterdir())


@every_picture
def test_without_path_and_axes_pyplot_shows_it(name: str, tmp_path: Path) -> None:
    ax = DRAWN[name]()
    assert plt.gcf() is ax.figure
    assert not list(tmp_path.iterdir())


@every_picture
def test_a_path_is_written_and_nothing_is_shown(name: str, tmp_path: Path) -> None:
    ax = DRAWN[name](path=tmp_path / "a.png")
    assert ax.get_title(loc="left")
    assert plt.get_fignums() == []
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


@every_picture
def test_a_path_and_axes_write_the_whole_figure(name: str, tmp_path: Path) -> None:
    figure = plt.figure(figsize=(8, 3))
    part = figure.subfigures(1, 2)[0].subplots()
    DRAWN[name](path=tmp_path / "both.png", ax=part)
    assert plt.imread(tmp_path / "both.png").shape[:2] == (600, 1600)


@every_picture
def test_what_is_no_plane_is_refused(name: str) -> None:
    for wrong in (3, plt.figure(), plt.subplot(projection="polar")):
        with pytest.raises(
            InvalidArgumentError,
            match=r"^ax is .*; it must be two-dimensional "
            "Axes of Matplotlib",
        ):
            DRAWN[name](ax=wrong)
    with pytest.raises(InvalidArgumentError, match="legend is 1; it must be True or False"):
        DRAWN[name](legend=1)


@every_picture
def test_titles_are_as_they_are_written_and_fit(name: str) -> None:
    """A dollar begins no formula, and a long title gets smaller letters."""
    ax = DRAWN[name](title="costs $5_a or $6" + " and more" * 12)
    (title,) = (text for text in ax.findobj() if getattr(text, "get_text", str)()[:5] == "costs")
    assert not title.get_parse_math()
    box = title.get_window_extent()
    assert box.x1 < ax.figure.bbox.width
    assert box.y1 < ax.figure.bbox.height


@every_picture
def test_all_that_is_written_is_on_the_sheet(name: str) -> None:
    ax = DRAWN[name]()
    sheet = ax.figure.bbox
    box = ax.get_tightbbox()
    assert box.x0 > 0
    assert box.y0 > 0
    assert box.x1 <= sheet.width
    assert box.y1 < sheet.height
    assert min(box.y0, ax.bbox.y0) == pytest.approx(35, abs=4)  # no more than the edge is left


# -------------------------------------------------------------------------- legends


def test_legends_name_clusters_and_noise() -> None:
    for name in ("draw_clusters", "draw_dendrogram"):
        assert entries(DRAWN[name]()) == ["0 (20)", "1 (20)", "noise (20)"]
        assert DRAWN[name](legend=False).get_legend() is None
    condensed = DRAWN["draw_condensed_tree"]()
    assert entries(condensed) == [f"{k} ({20})" for k in range(3)]


def test_legends_name_trees_and_changes() -> None:
    apart = generators.cliques(count=3, size=4)
    assert entries(draw_forest(apart, clmst.kruskal(apart))) == ["4 vertices"] * 3
    changes = entries(DRAWN["draw_change"]())
    assert [text.split()[1] for text in changes] == ["leave", "enter", "stay"]
    assert int(changes[0].split()[0]) > 0


def test_more_than_thirty_clusters_are_numbered_and_noise_is_listed() -> None:
    """A legend of thirty cannot tell forty clusters apart, and noise is not the last of them."""
    random = np.random.default_rng(4)
    labels = np.concatenate([np.arange(40), np.arange(40), np.full(5, -1)])
    axes = draw_clusters(random.normal(size=(85, 2)), labels, ax=plt.figure().subplots())
    listed = [text.get_text() for text in axes.get_legend().get_texts()]
    assert listed[29:] == ["29 (2)", "and 10 more", "noise (5)"]
    assert sorted(int(text.get_text()) for text in axes.texts if text.get_zorder() == 4) == [
        *range(40)
    ]
    assert no_two_overlap([text for text in axes.texts if text.get_zorder() == 4])


def test_names_do_not_cover_each_other() -> None:
    """Vertices may lie close together, or at one place."""
    places = np.array([[0, 0], [0, 0], [0.01, 0], [0.02, 0.01], [9, 9]], float)
    graph = clmst.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1, 1, 1, 1], coordinates=places)
    for names in (None, ["a long name", "another one", "a third", "a fourth", "far away"]):
        named = graph if names is None else graph.replace(vertex_labels=names)
        axes = draw_forest(named, clmst.kruskal(named), ax=plt.figure().subplots())
        written = [text for text in axes.texts if text.get_zorder() == 4]
        assert len(written) == 5
        assert no_two_overlap(written)


def no_two_overlap(texts: list[Any]) -> bool:
    """Return whether the boxes of texts are apart."""
    boxes = [text.get_window_extent() for text in texts]
    return not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


def test_names_of_a_large_dendrogram_are_chosen_evenly() -> None:
    n = 1797
    linkage = single_linkage(np.random.default_rng(5).normal(size=(n, 2)))
    names = [f"image {k}" for k in range(n)]
    axes = draw_dendrogram(linkage, names=names, ax=plt.figure(figsize=(10, 6)).subplots())
    written = axes.get_xticklabels()
    assert 50 < len(written) < n / 5
    assert f"{len(written)} of the 1,797 names are written" in {
        text.get_text() for text in axes.texts
    }
    assert no_two_overlap(written)


def test_the_caption_tells_of_a_projection() -> None:
    points = np.random.default_rng(6).normal(size=(30, 64))
    forest = clmst.minimum_spanning_forest(clmst.Points(points))
    for axes in (
        draw_clusters(points, np.zeros(30, int), ax=plt.figure().subplots()),
        draw_forest(clmst.Points(points), forest, ax=plt.figure().subplots()),
    ):
        assert any("projected from 64 dimensions" in text.get_text() for text in axes.texts)


def test_a_legend_has_the_labels_of_the_caller() -> None:
    labels = np.where(LABELS == 1, 10**12, LABELS)
    assert entries(draw_clusters(X, labels)) == ["0 (20)", "1000000000000 (20)", "noise (20)"]


def looks_of(ax: Any) -> list[tuple[Any, ...]]:
    """Return (colour, marker) of each entry of a legend."""
    handles = ax.get_legend().legend_handles
    return [(*handle.get_color(), handle.get_marker()) for handle in handles]


def test_no_two_of_thirty_clusters_look_alike() -> None:
    labels = np.arange(60) // 2
    looks = looks_of(draw_clusters(X, labels))
    assert len(set(looks)) == len(looks) == 30
    assert entries(draw_clusters(X, np.arange(60)))[-1] == "and 30 more"


def test_few_labels_far_apart_do_not_share_a_colour() -> None:
    looks = looks_of(draw_clusters(X, np.repeat([3, 23, 43], 20)))
    assert len({look[:3] for look in looks}) == 3


def test_a_cluster_keeps_its_colour_where_others_are_missing() -> None:
    whole, part = looks_of(draw_clusters(X, np.repeat([0, 1, 2], 20))), LABELS >= 1
    assert looks_of(draw_clusters(X[part], LABELS[part])) == [whole[1]]


@pytest.mark.parametrize(
    ("name", "of_none"),
    [
        ("draw_clusters", {"labels": np.full(60, -1)}),
        ("draw_dendrogram", {"labels": None}),
        ("draw_condensed_tree", {"selected": ()}),
        ("draw_persistence", {"selected": None}),
    ],
)
def test_clusters_have_hues(name: str, of_none: dict[str, Any], tmp_path: Path) -> None:
    """Noise, and trees without a selection, are grey."""
    DRAWN[name](path=tmp_path / "hues.png")
    DRAWN[name](path=tmp_path / "grey.png", **of_none)
    assert coloured(tmp_path / "hues.png").sum() > 1000
    assert not coloured(tmp_path / "grey.png").any()


def coloured(path: Path) -> Array:
    """Mark the pixels that have a strong hue."""
    marks: Array = np.ptp(plt.imread(path)[:, :, :3], axis=2) > 0.25
    return marks


# ------------------------------------------------------------------ many dimensions


def test_points_are_projected_where_they_are_widest() -> None:
    """The first two principal components keep distances of points in a plane."""
    plane = np.linalg.qr(np.random.default_rng(7).random((5, 2)))[0]
    places = projected(X @ plane.T + 3)
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    np.testing.assert_allclose(apart, np.linalg.norm(X[:, None] - X, axis=2), atol=1e-9)
    assert projected(np.arange(4.0)[:, None]).tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]]


def test_the_tree_hides_no_points_of_many_dimensions(tmp_path: Path) -> None:
    """Edges of a tree in 30 dimensions cross the whole map; points are seen all the same."""
    random = np.random.default_rng(3)
    points = random.normal(random.normal(0, 1, (5, 1, 30)), 1, (5, 160, 30)).reshape(-1, 30)
    labels = np.repeat(np.arange(5), 160)
    forest = clmst.minimum_spanning_forest(clmst.Points(points))
    for name, tree in (("with", True), ("without", False)):
        draw_clusters(points, labels, tmp_path / f"{name}.png", forest=forest, tree=tree)
    with_tree, without = (coloured(tmp_path / f"{name}.png") for name in ("with", "without"))
    assert without.sum() > 5000
    assert (with_tree & without).sum() > 0.99 * without.sum()
    pixels = plt.imread(tmp_path / "with.png")[250:, :, :3]
    lines = ~with_tree[250:] & (pixels.max(axis=2) < 0.96)
    assert lines.mean() > 0.02
    assert np.median(pixels[lines].mean(axis=1)) > 0.8


def test_long_edges_are_fainter() -> None:
    path = clmst.kruskal(clmst.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 1.0, 9.0]))
    ax = draw_clusters([[0, 0], [1, 0], [2, 0], [11, 0]], [0, 0, 0, 0], forest=path)
    colours = ax.collections[0].get_edgecolors()
    assert len(colours) == 2
    assert colours[0, 3] < 0.6 * colours[1, 3]


def test_without_the_tree_there_is_no_line() -> None:
    assert len(draw_clusters(X, LABELS, forest=MODEL.forest_).collections) == 3
    assert len(draw_clusters(X, LABELS, forest=MODEL.forest_, tree=False).collections) == 2


# -------------------------------------------------------------- points without a place


def test_rows_that_hdbscan_takes_are_drawn() -> None:
    """A row with NaN or infinity has a label, but no place; the other points keep theirs."""
    rows = X.copy()
    rows[3, 1], rows[50] = np.nan, np.inf
    model = HDBSCAN(8).fit(rows)
    for forest in (None, model.forest_):  # whose vertices are the finite points
        ax = draw_clusters(rows, model.labels_, forest=forest)
        dots = np.concatenate([one.get_offsets() for one in ax.collections])
        known = np.isfinite(rows).all(axis=1)
        assert {tuple(place) for place in dots.tolist()} >= {tuple(x) for x in rows[known].tolist()}
        assert any("2 points with NaN or infinity" in text.get_text() for text in ax.texts)
    ends = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    ends = ends[np.isfinite(ends).all(axis=1)]
    assert {tuple(end) for end in ends.tolist()} == {tuple(x) for x in rows[known].tolist()}
    assert projected(np.array([[1.0, 2.0, np.nan], [0, 0, 0], [3, 4, 0]])).shape == (3, 2)
    assert not np.isfinite(projected(np.full((2, 3), np.nan))).any()


# ----------------------------------------------------------------------------- maps


CITIES = [[47.4, 8.5], [14.7, -17.5], [60.2, 24.9], [-33.9, 151.2]]  # latitude, longitude


@pytest.mark.parametrize("metric", ["haversine", "great-circle"])
def test_north_is_up(metric: Any) -> None:
    """Points on a sphere are given by latitude and longitude, and maps have these the other way."""
    points = clmst.Points(CITIES, metric=metric)
    forest = clmst.kruskal(points)
    east, north = np.transpose(CITIES)[::-1].tolist()
    maps = [draw_forest(points, forest, max_edges=k, ax=plt.figure().subplots()) for k in (None, 9)]
    maps.append(draw_forest(points.to_graph(), forest, ax=plt.figure().subplots()))
    for ax in maps:
        assert sorted(t.get_position() for t in ax.texts if t.get_text() in "0123") == sorted(
            zip(east, north, strict=True)
        )
    dots = draw_clusters(points, np.zeros(4, np.int64)).collections[-1].get_offsets()
    np.testing.assert_array_equal(dots, np.transpose([east, north]))


# ----------------------------------------------------------------------------- axes


@pytest.mark.parametrize("greatest", [1e-9, 0.3, 1.0, 4.41, 9.99, 100.0, 3e38])
def test_levels_are_few_round_and_below_the_top(greatest: float) -> None:
    ax = draw_dendrogram([[0, 1, greatest / 3, 2], [2, 3, greatest, 3]])
    levels = ax.get_yticks()
    assert 3 <= len(levels) <= 7
    assert levels[0] == 0
    assert 0.6 * greatest < levels[-1] <= greatest
    assert all(len(label.get_text()) <= 7 for label in ax.get_yticklabels())


def test_infinite_heights_are_above_all_others() -> None:
    ax = draw_dendrogram([[0, 1, 2.0, 2], [2, 3, np.inf, 3]])
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "∞"
    assert ax.get_ylim()[1] > ax.get_yticks()[-1] > 2


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


def from_left(ax: Any) -> list[str]:
    """Return the names below a dendrogram."""
    labels = sorted(ax.get_xticklabels(), key=lambda label: float(label.get_position()[0]))
    return [label.get_text() for label in labels]


def test_names_stand_below_their_points() -> None:
    linkage = [[0, 2, 1.0, 2], [1, 3, 2.0, 3]]
    names = ["ape", "bee", "a $cat of_a very long name indeed"]
    ax = draw_dendrogram(linkage, names=names)
    assert from_left(ax) == [names[1], names[0], names[2]]
    assert from_left(draw_dendrogram(linkage)) == [*"102"]
    assert ax.get_tightbbox().y0 > 0  # the sheet is as long as the longest name


def test_maps_do_not_distort() -> None:
    _, ax = plt.subplots(figsize=(12, 2))
    draw_forest(ROADS, FOREST, ax=ax)
    ax.figure.canvas.draw()
    assert ROADS.coordinates is not None
    corners = ax.transData.transform([[0, 0], [1, 0], [0, 1]])
    assert np.hypot(*(corners[1] - corners[0])) == pytest.approx(
        np.hypot(*(corners[2] - corners[0]))
    )
    low, high = ax.transData.transform([ROADS.coordinates.min(0), ROADS.coordinates.max(0)])
    assert ax.bbox.contains(*low)
    assert ax.bbox.contains(*high)


@pytest.mark.parametrize(
    ("draw", "given"),
    [
        (draw_dendrogram, {"linkage": np.zeros((3, 3))}),
        (draw_dendrogram, {"linkage": [[0, 1, 1, 2], [0, 2, 2, 3]]}),
        (draw_dendrogram, {"linkage": [[0, 3, 1, 2], [1, 2, 2, 3]]}),
        (draw_dendrogram, {"linkage": [[0, 1, 1, 2]], "labels": [0]}),
        (draw_dendrogram, {"linkage": [[0, 1, 1, 2]], "names": ["a"]}),
        (draw_dendrogram, {"linkage": [[0, 1, 1, 2]], "names": 3}),
        (draw_clusters, {"points": [["a", "b"]], "labels": [0]}),
        (draw_condensed_tree, {"tree": MODEL.condensed_tree_, "selected": [0, 1]}),
        (draw_condensed_tree, {"tree": MODEL.condensed_tree_, "selected": [10**6]}),
        (draw_clusters, {"points": [[0, 1]], "labels": [0.5]}),
        (draw_clusters, {"points": [[0, 1]], "labels": [0], "forest": FOREST}),
        (draw_condensed_tree, {"tree": np.zeros(3)}),
        (draw_persistence, {"trace": np.zeros(3)}),
        (draw_persistence, {"trace": LEAVES.trace_[:0]}),
        (draw_persistence, {"trace": LEAVES.trace_[::-1]}),
        (draw_persistence, {"trace": LEAVES.trace_, "selected": 3}),
        (draw_persistence, {"trace": np.array([(2, np.nan, 1, True)], LEAVES.trace_.dtype)}),
    ],
)  # fmt: skip
def test_what_is_no_such_thing_is_refused(draw: Any, given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError):
        draw(**given, path=tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_layers_have_their_numbers_of_clusters() -> None:
    """Above the middle of their sizes; the selected size is named, and the axis has round sizes."""
    trace = np.array(
        [(3, 9.0, 8, True), (5, 4.0, 3, False), (20, 6.0, 2, True), (50, 0.0, 0, False)],
        LEAVES.trace_.dtype,
    )
    ax = draw_persistence(trace, selected=30)
    written = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert {"8", "2"} <= written.keys()
    assert "3" not in written
    assert np.log2(20 / 3) < written["2"] < np.log2(50 / 3)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["3", "5", "10", "20", "50"]
    assert entries(ax) == ["selected: size 30, 2 clusters"]


@pytest.mark.parametrize("most", [None, 4])
def test_a_trace_of_one_row_is_drawn(most: int | None) -> None:
    """Without clusters, or cut off by the greatest size."""
    X = np.zeros((9, 2)) if most is None else MODEL._given.rows
    model = PersistentLeaves(4, max_size=most).fit(X)
    assert model.trace_.size == 1
    ax = draw_persistence(model.trace_, selected=4)
    assert ax.get_xlim() == (0.0, pytest.approx(np.log2(5 / 4)))
