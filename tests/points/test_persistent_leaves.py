"""PersistentLeaves: its sums by the definition, size for size, and its clusters by HDBSCAN."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

import clmst
from clmst import Device, InvalidArgumentError, NotFittedError
from clmst.cluster import HDBSCAN, PersistentLeaves, approximate_predict
from tests.prove import equal_heights

Array = Any
SETS = 126
LEVELS = [((0, 6), (9, 5), (17, 4)), ((90, 6), (99, 5), (107, 4))]
LINE = np.array([[at + k] for level in LEVELS for at, count in level for k in range(count)])


class Node(NamedTuple):
    """A cluster of the hierarchy: the height at which its parts meet, and these parts."""

    height: float
    points: frozenset[int]
    parts: list[Node]


class Leaf(NamedTuple):
    """A leaf for one minimum cluster size: its points, and the heights where it begins and ends."""

    points: frozenset[int]
    joins: float
    ends: float


def minimax(heights: Array) -> Array:
    """Return the least number h for which a path of edges of at most h joins each two points."""
    least = heights.copy()
    for k in range(len(least)):
        np.minimum(least, np.maximum(least[:, k, None], least[k]), out=least)
    np.fill_diagonal(least, -1)
    return least


def at_once(least: Array, points: Array) -> Node:
    """Return the hierarchy in which a cluster falls into all of its parts below a height."""
    every = frozenset(points.tolist())
    if points.size == 1:
        return Node(-1.0, every, [])
    within = least[np.ix_(points, points)]
    height, parts, rest = float(within.max()), [], set(range(points.size))
    while rest:
        first = min(rest)
        part = {first, *np.flatnonzero(within[first] < height).tolist()}
        parts.append(at_once(least, points[sorted(part)]))
        rest -= part
    return Node(height, every, parts)


def one_by_one(linkage: Array) -> Node:
    """Return the hierarchy of a linkage matrix, whose merges are all of two parts."""
    nodes = [Node(-1.0, frozenset([k]), []) for k in range(len(linkage) + 1)]
    for left, right, height, _ in linkage.tolist():
        parts = [nodes[int(left)], nodes[int(right)]]
        nodes.append(Node(height, parts[0].points | parts[1].points, parts))
    return nodes[-1]


def leaves(root: Node, size: int) -> list[Leaf]:
    """Return the leaves of HDBSCAN's condensed tree for one minimum cluster size."""
    found, waiting = [], [(root, root, np.inf)]
    while waiting:
        begun, node, joins = waiting.pop()
        large = [part for part in node.parts if len(part.points) >= size]
        if len(large) > 1:
            waiting += [(part, part, node.height) for part in large]
        elif large:
            waiting.append((begun, large[0], joins))
        elif begun is not root:
            found.append(Leaf(begun.points, joins, node.height))
    return found


def sums_of(root: Node, sizes: range, greatest: float) -> dict[str, list[float]]:
    """Return the sums of persistences by each measure, for each minimum cluster size."""
    of_size = [leaves(root, size) for size in sizes]
    times = Counter(leaf.points for found in of_size for leaf in found)
    # Of each cluster: its range of heights for the least size for which it is a leaf.
    ranges = {
        leaf.points: min(leaf.joins, greatest) - min(leaf.ends, greatest)
        for found in reversed(of_size) for leaf in found
    }  # fmt: skip
    return {
        "size": [float(sum(times[leaf.points] for leaf in found)) for found in of_size],
        "distance": [sum(ranges[leaf.points] for leaf in found) for found in of_size],
        "count": [float(len(found)) for found in of_size],
    }


def on_all(trace: Array, field: str, sizes: Sequence[int]) -> Array:
    """Return a field of a trace for each size, by the row that holds for the size."""
    return trace[field][np.searchsorted(trace["min_cluster_size"], sizes, side="right") - 1]


def groups(labels: Array, rows: Array | None = None) -> set[frozenset[int]]:
    """Return the clusters as sets of rows."""
    rows = np.arange(labels.size) if rows is None else rows
    return {frozenset(rows[labels == k].tolist()) for k in range(labels.max() + 1)}


def cases() -> Iterator[tuple[equal_heights.Case, int]]:
    """Yield sets of up to 72 points, most of them with equal distances, and a `min_samples`."""
    for number in range(SETS):
        case = equal_heights.draw(number, 40)
        min_samples = min(case.given["min_samples"], 1 + number % 4)
        case.given.update(alpha=1.0, min_samples=min_samples)
        yield case, min_samples
    for number in range(SETS // 3):
        rng = np.random.default_rng([number, 54])
        rows = nested(rng, is_whole=number % 2 == 0)
        given: dict[str, Any] = {"metric": "euclidean", "min_samples": 1 + number % 3, "alpha": 1.0}
        case = equal_heights.Case("nested", rows, given, squareform(pdist(rows)))
        yield case, given["min_samples"]


def nested(rng: np.random.Generator, *, is_whole: bool) -> Array:
    """Return points on a line: groups that are made of smaller groups, apart by whole numbers."""
    at, places = 0.0, []
    for _ in range(int(rng.integers(2, 4))):
        for _ in range(int(rng.integers(2, 4))):
            count = int(rng.integers(3, 9))
            places.append(at + np.arange(count) + (0 if is_whole else rng.random(count) / 2))
            at += count + 5
        at += 50
    return rng.permutation(np.concatenate(places))[:, None]


def peaks_of(sums: list[float]) -> list[int]:
    """Return where runs of equal sums begin that are greater than the sums around them."""
    starts = [k for k, value in enumerate(sums) if k == 0 or value != sums[k - 1]]
    around = [0.0, *(sums[k] for k in starts), 0.0]
    return [
        k for place, k in enumerate(starts, 1)
        if around[place - 1] < around[place] > around[place + 1]
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize("ties", ["simultaneous", "sequential"])
def test_sums_are_those_of_the_definition(any_device: Device, ties: str) -> None:
    """For each size, by both measures; and layers and labels follow from them."""
    several = 0
    for case, min_samples in cases():
        heights = equal_heights.heights_of(case)
        model = PersistentLeaves(
            min_samples, metric=case.given["metric"], ties=ties, device=any_device
        ).fit(case.X)
        if ties == "sequential":
            root = one_by_one(model.hdbscan_.single_linkage_tree_)
        else:
            root = at_once(minimax(heights), np.arange(len(heights)))
        weights = model.hdbscan_.forest_.weights
        sizes = range(max(min_samples, 2), len(heights) + 2)
        expected = sums_of(root, sizes, float(weights.max(initial=0)))
        assert on_all(model.trace_, "persistence", sizes).tolist() == expected["size"]
        assert on_all(model.trace_, "n_clusters", sizes).tolist() == expected["count"]
        best = sizes[int(np.argmax(expected["size"]))]
        assert model.min_cluster_size_ == best
        own = {leaf.points for leaf in leaves(root, best)}
        assert groups(model.labels_) == own
        layers = [sizes[k] for k in peaks_of(expected["size"])]
        rows = model.trace_[model.trace_["is_layer"]]
        assert rows["min_cluster_size"].tolist() == layers
        several += len(layers) > 1
        model.set_params(persistence="distance").fit(case.X)
        by_distance = on_all(model.trace_, "persistence", sizes)
        np.testing.assert_allclose(by_distance, expected["distance"], rtol=1e-9, atol=1e-9)
    assert several > 10


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize("measure", ["size", "distance"])
def test_the_order_of_the_rows_has_no_effect(any_device: Device, measure: str) -> None:
    """Where heights are equal, too: the same sums bit for bit, and the same clusters."""
    rng = np.random.default_rng(5)
    for case, min_samples in cases():
        model = PersistentLeaves(
            min_samples, metric=case.given["metric"], persistence=measure, device=any_device
        ).fit(case.X)
        trace, found = model.trace_, groups(model.labels_)
        order = rng.permutation(len(case.distances))
        model.fit(case.permuted(order))
        assert np.array_equal(model.trace_, trace)
        assert groups(model.labels_, order) == found


def test_the_fit_is_hdbscans_with_the_chosen_size(any_device: Device) -> None:
    """And so is that of each layer, which is found in the same tree."""
    rng = np.random.default_rng(0)
    centres = [(x + a, y + b) for x, y in ((0, 0), (30, 5)) for a, b in ((0, 0), (5, 0), (2, 4))]
    X = np.concatenate([rng.normal(at, 0.7, (40, 2)) for at in centres])
    for ties in ("simultaneous", "sequential"):
        model = PersistentLeaves(6, ties=ties, device=any_device).fit(X)
        layers = model.layers()
        assert [layer.labels_.max() + 1 for layer in layers][-2:] == [6, 2]
        assert [layer.min_cluster_size for layer in model.layers(1)] == [model.min_cluster_size_]
        assert model.min_cluster_size_ in [layer.min_cluster_size for layer in layers]
        for fitted in (*layers, model.hdbscan_):
            alone = HDBSCAN(
                fitted.min_cluster_size, 6, cluster_selection_method="leaf", ties=ties,
                device=any_device,
            ).fit(X)  # fmt: skip
            for name in ("labels_", "probabilities_", "outlier_scores_", "cluster_persistence_"):
                assert np.array_equal(getattr(fitted, name), getattr(alone, name))
        assert np.array_equal(model.labels_, model.hdbscan_.labels_)
        assert np.array_equal(model.probabilities_, model.hdbscan_.probabilities_)
        assert np.array_equal(approximate_predict(model.hdbscan_, X)[0], model.labels_)


def test_sums_by_hand() -> None:
    """Groups of 6, 5 and 4 points, twice: sizes 2 to 4 have six leaves, and 6 to 15 have two."""
    model = PersistentLeaves(1).fit(LINE)
    assert model.trace_.tolist() == [
        (2, 22.0, 6, True), (5, 16.0, 4, False), (6, 20.0, 2, True), (16, 0.0, 0, False),
    ]  # fmt: skip
    assert model.min_cluster_size_ == 2
    assert [layer.min_cluster_size for layer in model.layers()] == [2, 6]
    by_height = PersistentLeaves(1, persistence="distance").fit(LINE)
    assert by_height.trace_["persistence"].tolist() == [18.0, 12.0, 138.0, 0.0]
    assert by_height.min_cluster_size_ == 6


FAST_PLSCAN = [2, 3, 5, 15], [9.0, 27.0, 24.0, 0.0]
CLUSTERS_OF_FAST_PLSCAN = (
    {33, 35, 42, 44, 45},
    {*range(23), *range(24, 29), 31, 32, 34},
    {23, 37, 40, 43, *range(46, 50), 51, 52, 54, *range(56, 60)},
)


def test_sums_are_those_of_fast_plscan() -> None:
    """The figures of fast-plscan 0.2.1 for the same tree, whose edges have different lengths.

    It compares sizes above its `min_cluster_size`, here 2, and names each size one less.
    """
    rng = np.random.default_rng(7)
    n = 60
    ends = np.array([rng.integers(max(0, i - int(rng.integers(1, 20))), i) for i in range(1, n)])
    lengths = (rng.permutation(n - 1) + 1) / n
    tree = clmst.Graph.from_edges(ends, np.arange(1, n), lengths, n_vertices=n)
    model = PersistentLeaves(1, min_size=3, metric="precomputed").fit(tree)
    sizes, sums = FAST_PLSCAN
    assert on_all(model.trace_, "persistence", [size + 1 for size in sizes]).tolist() == sums
    assert groups(model.labels_) == {frozenset(rows) for rows in CLUSTERS_OF_FAST_PLSCAN}


def test_limits_of_sizes() -> None:
    """No size outside of them is compared, and the persistence beyond them still counts."""
    model = PersistentLeaves(1, min_size=5).fit(LINE)
    assert model.trace_["min_cluster_size"].tolist() == [5, 6, 16]
    assert model.trace_["persistence"].tolist() == [4.0, 20.0, 0.0]
    model = PersistentLeaves(1, max_size=5, persistence="distance").fit(LINE)
    assert model.trace_["persistence"].tolist() == [18.0, 12.0]
    assert model.min_cluster_size_ == 2
    model = PersistentLeaves(1, min_size=16).fit(LINE)
    assert (model.trace_.tolist(), model.layers()) == ([(16, 0.0, 0, False)], [])
    assert set(model.labels_.tolist()) == {-1}


def test_one_point_and_equal_points() -> None:
    for X in (np.zeros((1, 2)), np.zeros((9, 2))):
        for measure in ("size", "distance"):
            model = PersistentLeaves(1, persistence=measure).fit(X)
            assert set(model.labels_.tolist()) == {-1}
            assert model.trace_["persistence"].tolist() == [0.0]
            assert model.min_cluster_size_ == 2


def test_all_kinds_of_input_give_the_same_clusters(any_device: Device) -> None:
    """Points, all distances, and a graph that has each tree as a component."""
    distances = np.abs(LINE - LINE.T).astype(float)
    points = PersistentLeaves(2, device=any_device).fit(LINE)
    matrix = PersistentLeaves(2, metric="precomputed", device=any_device).fit(distances)
    assert np.array_equal(points.trace_, matrix.trace_)
    near = sparse.csr_array(np.where(distances < 10, distances, 0))
    graph = PersistentLeaves(2, metric="precomputed", device=any_device)
    with pytest.warns(clmst.GraphWarning, match="the graph has 2 components"):
        graph.fit(near)
    assert np.array_equal(graph.labels_, points.labels_)
    gaps = np.concatenate([LINE, [[np.nan]], [[np.inf]]])
    assert points.fit(gaps).labels_[-2:].tolist() == [-3, -2]


def test_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 12, (60, 2)).astype(float)
    rows = np.unique(rows, axis=0)
    times = rng.integers(1, 5, len(rows))
    for measure in ("size", "distance"):
        weighted = PersistentLeaves(4, persistence=measure).fit(rows, sample_weight=times)
        repeated = PersistentLeaves(4, persistence=measure).fit(np.repeat(rows, times, axis=0))
        assert np.array_equal(weighted.trace_, repeated.trace_)
        assert np.array_equal(np.repeat(weighted.labels_, times), repeated.labels_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_samples": 0}, "min_samples is 0; it must be at least 1"),
        ({"min_samples": None}, "min_samples is None; it must be an integer"),
        ({"min_samples": 31}, r"min_samples \(31\) must be at most the number of points, and X "
                              "has 30 samples$"),
        ({"min_size": 1}, "min_size is 1; it must be at least 2"),
        ({"max_size": 2.5}, "max_size is 2.5; it must be an integer"),
        ({"max_size": 4}, "max_size is 4, and the least size to compare is 5, from min_samples; "),
        ({"min_size": 9, "max_size": 8}, "least size to compare is 9, from min_size; "),
        ({"persistence": "mass"}, "persistence is 'mass'; it must be one of 'size', 'distance'"),
        ({"ties": "none"}, "ties is 'none'; "),
        ({"metric": "near"}, "metric"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        PersistentLeaves(**given).fit(LINE)


def test_layers_need_a_fit_and_a_number() -> None:
    with pytest.raises(NotFittedError, match=r"^PersistentLeaves\(\) is not fitted; "):
        PersistentLeaves().layers()
    with pytest.raises(InvalidArgumentError, match=r"^n is 0; it must be at least 1"):
        PersistentLeaves().fit(LINE).layers(0)


def test_a_model_is_pickled_and_cloned() -> None:
    model = PersistentLeaves(1, max_size=20).fit(LINE)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.trace_, model.trace_)
    assert [layer.labels_.tolist() for layer in again.layers()] == [
        layer.labels_.tolist() for layer in model.layers()
    ]
    clone = pytest.importorskip("sklearn.base").clone(model)
    assert repr(clone) == repr(model) == "PersistentLeaves(min_samples=1, max_size=20)"
    assert not hasattr(clone, "labels_")
    assert "clusters" in model._repr_html_()


def test_names_of_columns_are_kept_and_forgotten() -> None:
    frame = pytest.importorskip("pandas").DataFrame(LINE, columns=["x"])
    model = PersistentLeaves(1).fit(frame)
    assert (model.feature_names_in_.tolist(), model.n_features_in_) == (["x"], 1)
    assert model.hdbscan_.predict(frame).tolist() == model.labels_.tolist()
    assert not hasattr(model.fit(LINE), "feature_names_in_")
