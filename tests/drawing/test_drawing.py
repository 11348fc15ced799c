"""Pictures of forests: what is on them, where it is, and what is said about it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib.image
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import pdist, squareform

from clmst import DenseGraph, Points, generators, minimum_spanning_forest
from clmst.core.errors import InvalidArgumentError, MissingDependencyError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array
from clmst.drawing import draw_change, draw_forest, layout
from clmst.drawing.change import ENTERS, LEAVES
from clmst.drawing.picture import branch_sizes
from tests.helpers.processes import run_python
from tests.helpers.strategies import graphs

PAPER = np.array([251, 250, 246]) / 255
THREE = generators.path(n=3)


def draw(graph: Graph, path: Path, **options: Any) -> Array:
    """Draw the minimum spanning forest as PNG; return its pixels below the title, as RGB."""
    draw_forest(graph, kruskal(graph), path, **options)
    return read(path)


def read(path: Path) -> Array:
    """Return the pixels below the title, as RGB."""
    pixels = matplotlib.image.imread(path)[:, :, :3]
    assert pixels.shape[1] == 2000
    np.testing.assert_allclose(pixels[0, 0], PAPER, atol=1 / 255)
    return pixels[int(1.1 * 200) :]


def ink(pixels: Array) -> Array:
    """Mark the pixels that are not blank."""
    marks: Array = np.abs(pixels - PAPER).max(axis=2) > 0.02
    return marks


def dark(pixels: Array) -> Array:
    """Mark the pixels of trunks."""
    marks: Array = pixels.max(axis=2) < 0.35
    return marks


def stress_of(graph: Graph, points: Array) -> float:
    """Return the deviation of distances in the plane from the lengths of shortest paths.

    0 is perfect.
    """
    rows = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    weighted = sparse.csr_array((graph.weights.astype(float), *rows), shape=(len(points),) * 2)
    paths = dijkstra(weighted, directed=False)
    plane = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    pairs = np.triu_indices(graph.n_vertices, k=1)
    ratio = plane[pairs] / paths[pairs]
    return float(np.std(ratio) / np.mean(ratio))


# ------------------------------------------------------------------------- pictures


def test_tree_stands_out_from_the_other_edges(tmp_path: Path) -> None:
    graph = generators.grid(rows=12, columns=16)
    pixels = draw(graph, tmp_path / "grid.png")
    without = draw(graph, tmp_path / "tree.png", max_edges=0)
    assert 0.02 < ink(pixels).mean() < 0.5
    assert 0.001 < dark(pixels).mean() < 0.1
    assert np.mean(dark(pixels) != dark(without)) < 1e-5
    assert ink(without).sum() < 0.9 * ink(pixels).sum()


def test_trunks_are_wider_than_twigs(tmp_path: Path) -> None:
    """On a path the middle edge bears half of the vertices, the last one a single vertex."""
    coordinates = np.stack([np.arange(99.0), np.zeros(99)], axis=1)
    graph = generators.path(n=99).replace(coordinates=coordinates)
    pixels = draw(graph, tmp_path / "path.png", title="")
    thickness = ink(pixels).sum(axis=0)
    assert thickness[985:1015].mean() > 1.3 * thickness[75:105].mean()
    assert dark(pixels)[:, 950:1050].any()


def test_trees_have_different_hues(tmp_path: Path) -> None:
    pixels = draw(generators.cliques(count=4, size=8), tmp_path / "cliques.png", max_edges=0)
    strong = pixels[np.ptp(pixels, axis=2) > 0.2]
    reddish, greenish, bluish = (np.mean(strong.argmax(axis=1) == k) for k in range(3))
    assert min(reddish, greenish, bluish) > 0.03


@pytest.mark.parametrize(
    "graph",
    [
        generators.path(n=0),
        generators.path(n=1),
        generators.path(n=2),
        Graph.from_edges([], [], n_vertices=7),
        Graph.from_edges([0, 0, 1], [0, 1, 0], [1, 2, 3], n_vertices=2),
        generators.path(n=5).replace(coordinates=np.zeros((5, 2))),
        generators.path(n=5).replace(coordinates=np.stack([np.zeros(5), np.arange(5)], axis=1)),
    ],
    ids=["none", "one", "two", "isolated", "loop and parallel", "one spot", "upright"],
)
def test_smallest_graphs(tmp_path: Path, graph: Graph) -> None:
    pixels = draw(graph, tmp_path / "small.png")
    assert ink(pixels).any() == (graph.n_vertices > 0)
    draw_change(graph, kruskal(graph), kruskal(graph), tmp_path / "change.png")
    assert (tmp_path / "change.png").stat().st_size > 1000


def test_isolated_vertices_are_drawn_in_large_graphs_too(tmp_path: Path) -> None:
    """A forest of 5000 single vertices is 5000 trees, not a blank sheet."""
    y, x = np.divmod(np.arange(5000), 100)
    graph = Graph.from_edges([], [], n_vertices=5000, coordinates=np.stack([x, y], axis=1))
    marked = ink(draw(graph, tmp_path / "dust.png"))
    assert 99 <= np.count_nonzero(np.diff(marked.any(axis=0).astype(int)) == 1) <= 101


def test_names_of_vertices(tmp_path: Path) -> None:
    named = nx.Graph([("Königsberg", "Altona $x"), ("Altona $x", "Danzig")])
    graph = Graph.from_networkx(named)
    draw_forest(graph, kruskal(graph), tmp_path / "towns.svg")
    text = (tmp_path / "towns.svg").read_text()
    assert all(f"<!-- {name} -->" in text for name in named)


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")]
)
def test_suffix_chooses_the_format(tmp_path: Path, suffix: str, start: bytes) -> None:
    graph = generators.complete(n=6)
    path = tmp_path / f"picture{suffix}"
    draw_forest(graph, kruskal(graph), str(path))
    assert path.read_bytes().startswith(start)


def test_large_vector_pictures_stay_small(tmp_path: Path) -> None:
    graph = generators.grid(rows=150, columns=150)
    draw_forest(graph, kruskal(graph), tmp_path / "grid.svg")
    assert (tmp_path / "grid.svg").stat().st_size < 3_000_000


def test_a_file_leaves_pyplot_alone(tmp_path: Path) -> None:
    """A library that starts pyplot chooses a backend for the whole program.

    What notebooks show needs no Matplotlib at all.
    """
    program = (
        "import sys; from clmst import generators, kruskal; from clmst.drawing import draw_forest\n"
        "g = generators.path(n=4)\n"
        "assert 'svg' in g._repr_html_() and 'svg' in kruskal(g)._repr_html_()\n"
        "assert 'matplotlib' not in sys.modules\n"
        "draw_forest(g, kruskal(g), sys.argv[1])\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    run_python("-c", program, str(tmp_path / "p.png"))
    assert (tmp_path / "p.png").exists()


# ------------------------------------------------------------------------- captions


def test_edges_left_out_are_confessed(tmp_path: Path) -> None:
    graph = generators.complete(n=50)
    path = tmp_path / "part.svg"
    draw_forest(graph, kruskal(graph), path, max_edges=100)
    assert "<!-- 100 of the 1,176 edges outside the forest are drawn -->" in path.read_text()
    draw_forest(graph, kruskal(graph), path, max_edges=1176)
    assert "outside the forest" not in path.read_text()


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_of_a_complete_graph_the_forest_is_drawn(tmp_path: Path, dimensions: int) -> None:
    """All pairs of points hide their tree; who wants pairs asks for a number of them."""
    coordinates = np.random.default_rng(4).random((40, dimensions))
    points = Points(coordinates)
    matrix = squareform(pdist(coordinates))
    forest, other = kruskal(points), kruskal(points, maximum=True)
    path = tmp_path / "few.svg"
    for graph in (points, DenseGraph(matrix), matrix):
        draw_forest(graph, forest, path)
        text = path.read_text()
        assert "<!-- the 741 edges outside the forest are not drawn -->" in text
        assert "<!-- 40 vertices · 780 edges · 1 tree" in text
        draw_change(graph, forest, other, path)
        assert "outside both forests are not drawn" in path.read_text()
        draw_forest(graph, forest, path, max_edges=10)
        assert "<!-- 10 of the 741 edges outside the forest are drawn -->" in path.read_text()
    with pytest.raises(InvalidArgumentError, match="forest of this graph"):
        draw_forest(points, kruskal(generators.path(n=40)), path)


def test_a_thousand_points_are_drawn_without_their_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """499,500 pairs took a minute, and were a brown blob."""
    points = Points(np.random.default_rng(5).random((1000, 2)))
    forest = minimum_spanning_forest(points)  # with its self-tests, which list pairs
    monkeypatch.setattr(Points, "to_graph", lambda self: pytest.fail("all pairs are listed"))
    draw_forest(points, forest, tmp_path / "points.png")
    share = ink(read(tmp_path / "points.png")).mean()
    assert 0.01 < share < 0.1


def test_the_key_says_what_width_means(tmp_path: Path) -> None:
    """In words that need no other: of the smaller side of the edge in the middle of a path."""
    graph = generators.path(n=30)
    draw_forest(graph, kruskal(graph), path := tmp_path / "path.svg")
    assert "<!-- 15 vertices beyond an edge -->" in path.read_text()


@pytest.mark.parametrize(
    ("graph", "maximum", "title", "caption"),
    [
        (THREE, False, "Minimum spanning tree", "3 vertices · 2 edges · 1 tree · total weight 4"),
        (THREE, True, "Maximum spanning tree", "3 vertices · 2 edges · 1 tree · total weight 4"),
        (
            generators.cliques(count=3, size=40, weights="equal"),
            False,
            "Minimum spanning forest",
            "120 vertices · 2,340 edges · 3 trees · total weight 117",
        ),
        (
            Graph.from_edges([0], [1], [1234.5]),
            False,
            "Minimum spanning tree",
            "2 vertices · 1 edge · 1 tree · total weight 1,234.5",
        ),
    ],
)
def test_title_and_caption(
    tmp_path: Path, graph: Graph, maximum: bool, title: str, caption: str
) -> None:
    path = tmp_path / "titled.svg"
    draw_forest(graph, kruskal(graph, maximum=maximum), path)
    text = path.read_text()
    assert f"<!-- {title} -->" in text
    assert f"<!-- {caption} -->" in text
    draw_forest(graph, kruskal(graph, maximum=maximum), path, title="Mine")
    assert "<!-- Mine -->" in path.read_text()
    assert title not in path.read_text()


# --------------------------------------------------------------------------- errors


NOWHERE = generators.path(n=2).replace(coordinates=np.array([[0, 0], [np.nan, 1]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "p.gif"}, r"p\.gif has the suffix '\.gif'; it must be one of .png"),
        ({"max_edges": -1}, "max_edges is -1; it must not be negative"),
        ({"after": generators.path(n=4)}, "the forest has 4 vertices but the graph has 3"),
        ({"after": generators.star(n=3)}, "it must be a forest of this graph"),
        ({"graph": NOWHERE, "after": NOWHERE}, r"vertex 1 is at \(nan, 1.0\); coordinates"),
        ({"before": generators.path(n=4)}, "the forest has 4 vertices but the graph has 3"),
        ({"window": (1, 0, 1, 2)}, "it must be .left, bottom, right, top. with left < right"),
        ({"window": (0, 0, np.inf, 2)}, "the window is .0, 0, inf, 2."),
    ],
)
def test_impossible_pictures(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    given = {"graph": THREE, "path": "p.png", **options}
    graph, path = given.pop("graph"), tmp_path / given.pop("path")
    after = kruskal(given.pop("after", graph))
    before = kruskal(given.pop("before", graph))
    with pytest.raises(InvalidArgumentError, match=message):
        draw_change(graph, before, after, path, **given)
    if options.keys() <= {"path", "max_edges", "after", "graph"}:
        with pytest.raises(InvalidArgumentError, match=message):
            draw_forest(graph, after, path, **given)
    assert not list(tmp_path.iterdir())


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    graph = generators.path(n=2)
    with pytest.raises(MissingDependencyError, match=r"pip install 'matplotlib>="):
        draw_forest(graph, kruskal(graph), tmp_path / "p.png")


# -------------------------------------------------------------------------- changes


def changed(graph: Graph, seed: int) -> tuple[Forest, Forest]:
    """Return the forest of a graph, and the one under other weights."""
    weights = np.random.default_rng(seed).random(graph.n_slots)
    return kruskal(graph), kruskal(graph.replace(weights=weights))


def coloured(pixels: Array, colour: str) -> Array:
    """Mark the pixels of a colour."""
    wanted = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    marks: Array = np.abs(pixels - wanted).max(axis=2) < 0.02
    return marks


def test_what_leaves_and_what_enters_have_colours(tmp_path: Path) -> None:
    """A square whose one missing side moves: two sides stay, one leaves, one enters."""
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]])
    square = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [1, 1, 1, 2], coordinates=corners)
    after = kruskal(Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [1, 3, 1, 2]))
    draw_change(square, kruskal(square), after, tmp_path / "a.png")
    pixels = read(tmp_path / "a.png")
    rows, columns = np.nonzero(ink(pixels))
    middle = (columns.min() + columns.max()) / 2
    right, left = (np.nonzero(coloured(pixels, one)) for one in (LEAVES, ENTERS))
    assert np.ptp(right[0]) > 0.95 * np.ptp(rows)
    assert np.ptp(left[0]) > 0.95 * np.ptp(rows)
    assert right[1].min() > middle + 0.4 * np.ptp(columns)
    assert left[1].max() < middle - 0.4 * np.ptp(columns)


def test_nothing_changes(tmp_path: Path) -> None:
    graph = generators.grid(rows=9, columns=9)
    draw_change(graph, kruskal(graph), kruskal(graph), tmp_path / "a.png", title="a")
    pixels = read(tmp_path / "a.png")
    assert ink(pixels).any()
    assert np.ptp(pixels, axis=2).max() < 0.15  # what stays is grey


def test_window_shows_a_part_larger(tmp_path: Path) -> None:
    """The legend counts what is drawn; what a window touches goes on beyond it."""
    graph = generators.grid(rows=20, columns=20)
    before, after = changed(graph, 1)
    counts = []
    for name, window in (("all", None), ("part", (5, -11, 12, -4))):
        for suffix in (".png", ".svg"):
            draw_change(graph, before, after, tmp_path / f"{name}{suffix}", window=window)
        text = (tmp_path / f"{name}.svg").read_text()
        counts.append([int(n) for n in re.findall(r"<!-- (\d+) (?:leave|enter|stay) -->", text)])
    common = np.isin(before.edge_ids, after.edge_ids).sum()
    assert counts[0] == [399 - common, 399 - common, common]
    assert 7 * 7 < sum(counts[1]) < sum(counts[0]) / 3
    whole, part = read(tmp_path / "all.png"), read(tmp_path / "part.png")

    def touches(pixels: Array) -> bool:
        """Say whether a coloured line is at the left end of the axes, which begin at pixel 70."""
        return bool((np.ptp(pixels[:, 71:75], axis=2) > 0.2).any())

    assert not touches(whole)
    assert touches(part)


@given(graph=graphs())
def test_branch_sizes_are_those_of_cutting(graph: Graph) -> None:
    forest = kruskal(graph)
    edges = forest.edges.tolist()
    for cut, size in zip(edges, branch_sizes(forest).tolist(), strict=True):
        parts = nx.Graph([edge for edge in edges if edge != cut])
        parts.add_nodes_from(cut)
        assert size == min(len(nx.node_connected_component(parts, end)) for end in cut)


def test_branches_of_a_path_deeper_than_any_recursion() -> None:
    sizes = branch_sizes(kruskal(generators.path(n=100_001)))
    rising = np.arange(1, 50_001)
    np.testing.assert_array_equal(sizes, np.concatenate([rising, rising[::-1]]))


# --------------------------------------------------------------------------- layout


@pytest.mark.parametrize(
    ("graph", "limit"),
    [
        (generators.grid(rows=12, columns=9, weights="equal"), 0.2),
        (generators.circulant(n=40, offsets=(1,), weights="equal"), 0.2),
        (generators.path(n=60, weights="equal"), 0.02),
        (generators.delaunay(n=300), 0.1),
    ],
    ids=["grid", "cycle", "path", "delaunay"],
)
def test_distances_follow_shortest_paths(graph: Graph, limit: float) -> None:
    points = layout(graph.replace(coordinates=None))
    assert points.shape == (graph.n_vertices, 2)
    assert stress_of(graph, points) < limit


def test_large_layout_is_a_map() -> None:
    """Through landmarks: places near each other on the true map must stay so."""
    graph = generators.road(n=4000, seed=3)
    points = layout(graph.replace(coordinates=None))
    assert graph.coordinates is not None
    sample = np.arange(0, 4000, 16)
    ours, true = (
        np.sqrt(((xy[sample][:, None] - xy[sample]) ** 2).sum(axis=2)).ravel()
        for xy in (points, graph.coordinates)
    )
    assert np.corrcoef(ours, true)[0, 1] > 0.95
    u, v, w, _ = graph.edges()
    drawn = np.sqrt(((points[u] - points[v]) ** 2).sum(axis=1))
    assert np.corrcoef(drawn, w)[0, 1] > 0.7


@pytest.mark.parametrize("seed", [0, 2])
def test_longer_tails_go_right_and_up(seed: int) -> None:
    """The longer axis is horizontal; third powers tell which of its tails is the longer one."""
    points = layout(generators.preferential(n=60, edges_per_vertex=1, seed=seed))
    points -= points.mean(axis=0)
    width, height = points.std(axis=0)
    assert width > height
    assert (points**3).sum(axis=0).min() >= 0


def test_layout_is_the_same_every_time() -> None:
    graph = generators.road(n=1500).replace(coordinates=None)
    np.testing.assert_array_equal(layout(graph), layout(graph))


@pytest.mark.parametrize("kind", ["star", "complete"])
def test_vertices_that_distances_do_not_tell_apart(kind: str) -> None:
    """All leaves of a star are equally far from everything: they still need a place each."""
    points = layout(generators.generate(kind, n=30, weights="equal"))
    apart = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 0.03 * np.ptp(points, axis=0).max()


def test_components_do_not_overlap() -> None:
    sizes = [40, 17, 9, 9, 4, 3, 2, 2, 1, 1, 1]
    whole = nx.disjoint_union_all([nx.path_graph(size) for size in sizes])
    points = layout(Graph.from_networkx(whole))
    ends = np.cumsum(sizes)
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in np.split(points, ends[:-1].tolist())]
    for first, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:first]:
            assert (low > other_high).any() or (high < other_low).any()


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 30])
def test_equal_components_fill_the_sheet(count: int) -> None:
    graph = generators.cliques(count=count, size=7, weights="equal")
    width, height = np.ptp(layout(graph), axis=0)
    assert 0.4 < width / height < 4


@given(graph=graphs())
def test_every_graph_has_a_finite_layout(graph: Graph) -> None:
    points = layout(graph)
    assert points.shape == (graph.n_vertices, 2)
    assert np.isfinite(points).all()


@pytest.mark.parametrize(
    ("weights", "ratio"),
    [
        *(([1.0, weight], 1) for weight in (0.0, -2.0, np.inf, 1e7)),  # edges of length 1
        ([1.0, 3.0], 3),
        ([1.0, 1.0, 9.0, 9.0], 1),  # parallel edges are as long as the shortest, not their sum
    ],
)
def test_weights_are_lengths_where_they_can_be(weights: list[float], ratio: float) -> None:
    graph = Graph.from_edges([0, 1, 0, 0][: len(weights)], [1, 2, 1, 1][: len(weights)], weights)
    first, second = np.diff(np.sort(layout(graph)[:, 0]))
    assert max(first / second, second / first) == pytest.approx(ratio, rel=0.01)
