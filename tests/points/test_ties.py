"""HDBSCAN with simultaneous ties: by its definition, and for rows in any order."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

import clmst
from clmst import Device, InvalidArgumentError, Points
from clmst.cluster import HDBSCAN, approximate_predict, approximate_predict_scores
from tests.helpers.variants import Variant, shaped_variants
from tests.points.test_hdbscan import blobs, parameters
from tests.prove import equal_heights

Array = Any
SETS = 180
CHUNKS = [
    pytest.param(range(first, first + SETS), 300, id=f"{first}",
                 marks=[pytest.mark.exhaustive] if first else [])
    for first in range(0, 2000, SETS)
] + [pytest.param(range(18), 3000, id="large", marks=pytest.mark.exhaustive)]  # fmt: skip


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize(("numbers", "most"), CHUNKS)
def test_clusters_are_those_of_the_definition(
    any_device: Device, numbers: range, most: int
) -> None:
    """Of each kind, and bit for bit those of the rows in five other orders."""
    kinds = equal_heights.compare(numbers, any_device, most=most)
    assert kinds.keys() >= {"integers", "grid", "bits", "matrix", "sparse", "eom", "leaf"}


def test_minimax_heights_of_single_linkage_are_those_of_paths() -> None:
    for number in range(27):
        heights = equal_heights.heights_of(equal_heights.draw(number, 300))
        np.testing.assert_array_equal(
            equal_heights.minimax_by_linkage(heights), equal_heights.minimax_by_paths(heights)
        )


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize("driver", shaped_variants(), ids=lambda one: one.name)
def test_every_device_has_the_same_clusters(any_device: Device, driver: Variant) -> None:
    """The tree is merged by one work-item or by many, and is the same to the last bit."""
    for number in range(2, 9, 3):
        case = equal_heights.draw(number, 300)
        expected, found = (equal_heights.fit(case, on) for on in (any_device, driver.device))
        assert found.condensed_tree_.tobytes() == expected.condensed_tree_.tobytes()
        np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("seed", range(12))
def test_without_equal_heights_both_ways_agree(any_device: Device, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(300, 2))
    given = parameters(seed) | {"min_samples": 1}
    one_by_one = HDBSCAN(**given, device=any_device).fit(X)
    assert np.unique(one_by_one.forest_.weights).size == 299
    at_once = HDBSCAN(**given, ties="simultaneous", device=any_device).fit(X)
    for name in ("labels_", "probabilities_", "outlier_scores_"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(one_by_one, name))
    np.testing.assert_allclose(
        at_once.cluster_persistence_, one_by_one.cluster_persistence_, rtol=1e-12
    )


def test_a_cluster_splits_into_all_of_its_parts() -> None:
    """Four groups at the corners of a square are four children of one cluster."""
    corners = np.array([[0, 0], [0, 9], [9, 0], [9, 9]])
    X = (corners[:, None] + np.array([[0, 0], [0, 1], [1, 0], [1, 1]])).reshape(-1, 2)
    model = HDBSCAN(3, min_samples=1, ties="simultaneous").fit(X)
    tree = model.condensed_tree_
    clusters = tree[tree["child"] >= len(X)]
    assert clusters["parent"].tolist() == [16] * 4
    assert clusters["value"].tolist() == [1 / 8] * 4
    assert model.labels_.tolist() == np.repeat(range(4), 4).tolist()
    assert HDBSCAN(3, min_samples=1).fit(X).condensed_tree_["parent"].max() > 20


def test_points_that_leave_at_one_height_leave_together() -> None:
    """Of a row of equal distances, no point is left over; one by one, the last pair is."""
    model = HDBSCAN(2, min_samples=1, allow_single_cluster=True, ties="simultaneous")
    model.fit(np.arange(9.0)[:, None])
    assert model.condensed_tree_["value"].tolist() == [1] * 9
    assert model.probabilities_.tolist() == [1] * 9


def test_distance_0() -> None:
    """Lambda is infinite, stability too, and nothing is NaN."""
    X = np.repeat([[0.0], [1.0], [5.0], [5.5]], [4, 4, 6, 1], axis=0)
    model = HDBSCAN(3, min_samples=2, ties="simultaneous").fit(X)
    assert model.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 7
    assert model.probabilities_.tolist() == [1] * 14 + [0]
    # The finite lambdas are 1/4, 1 and 2, and each stay without an end counts as 2. The last point
    # comes at 1/4 and leaves at 2.
    assert model.cluster_persistence_.tolist() == [1, 1, (6 * 2 + 2 - 1 / 4) / 2 / 7]
    assert model.outlier_scores_.tolist() == [0] * 14 + [1]
    equal = HDBSCAN(3, allow_single_cluster=True, ties="simultaneous").fit(np.ones((9, 2)))
    assert equal.labels_.tolist() == [0] * 9
    assert equal.cluster_persistence_.tolist() == [1]
    single = HDBSCAN(2, min_samples=1, ties="simultaneous").fit([[1.0, 2.0]])
    assert single.labels_.tolist() == [-1]


@pytest.mark.parametrize("scale", [2.0**-1022, 2.0**-1010, 2.0**-300, 1, 2.0**900])
def test_coordinates_of_any_scale(scale: float) -> None:
    """Sums of densities do not overflow; a power of two changes nothing."""
    X = np.random.default_rng(3).integers(0, 9, (120, 2)).astype(float)
    given: dict[str, Any] = {"min_samples": 4, "ties": "simultaneous"}
    usual, model = (HDBSCAN(3, **given).fit(X * by) for by in (1.0, scale))
    np.testing.assert_array_equal(model.labels_, usual.labels_)
    for name in ("probabilities_", "outlier_scores_", "cluster_persistence_"):
        np.testing.assert_allclose(getattr(model, name), getattr(usual, name), rtol=1e-12)


def orders(n: int) -> list[Array]:
    return [np.random.default_rng(seed).permutation(n) for seed in range(5)]


def tied(seed: int, n: int = 160) -> Array:
    return np.random.default_rng(seed).integers(1, 7, (n, 3)).astype(float)


METRICS = (
    "euclidean", "cosine", "manhattan", "chebyshev", "haversine", "rounded-euclidean", "canberra",
    "correlation", "hamming", "jaccard", "braycurtis",
)  # fmt: skip


def assert_same_in_any_order(X: Array, new: Array, least: int, **given: Any) -> None:
    """Assert that clusters, their centres and predictions do not depend on the order of rows."""
    given = {"store_centers": "both", "ties": "simultaneous", **given}
    model = HDBSCAN(least, **given).fit(X)
    labels, strengths, points = approximate_predict(model, new, True)
    scores = approximate_predict_scores(model, new)
    for order in orders(len(X)):
        other = HDBSCAN(least, **given).fit(X[order])
        assert equal_heights.difference(model, other, order) == ""
        count = len(model.medoids_)
        number = np.full(count + 1, -1)  # the last is the label of noise, -1
        number[model.labels_[order]] = other.labels_
        assert model.centroids_.tobytes() == other.centroids_[number[:count]].tobytes()
        assert model.medoids_.tobytes() == other.medoids_[number[:count]].tobytes()
        found = approximate_predict(other, new, True)
        np.testing.assert_array_equal(found[0], number[labels])
        np.testing.assert_array_equal(found[1], strengths)
        np.testing.assert_array_equal(X[order][found[2]], X[points])
        np.testing.assert_array_equal(approximate_predict_scores(other, new), scores)


@pytest.mark.parametrize("metric", METRICS)
def test_centres_and_predictions_do_not_depend_on_the_order(metric: str) -> None:
    X, new = tied(1), tied(2, 60) + 0.5 * (np.arange(60) % 2)[:, None]
    if metric == "haversine":
        X, new = 9 * X[:, :2], 9 * new[:, :2]
    if metric == "correlation":
        X, new = (np.column_stack([rows, rows[:, 0] ** 2, rows[:, 1] ** 3]) for rows in (X, new))
        X, new = (rows[np.ptp(rows, axis=1) > 0] for rows in (X, new))
    assert_same_in_any_order(X, new, 4, metric=metric)
    assert_same_in_any_order(X, new, 3, metric=metric, min_samples=2, alpha=1.5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_predictions_in_many_dimensions(metric: str) -> None:
    """Where inner products of all pairs would be quicker, and are rounded by their order."""
    random = np.random.default_rng(4)
    X = random.integers(0, 3, (6, 40))[random.integers(0, 6, 150)] + random.integers(
        0, 2, (150, 40)
    )
    assert_same_in_any_order(
        X + 1.0, X[:50] + 1.0 + 0.5 * random.random((50, 40)), 5, metric=metric
    )


def test_the_lexicographically_least_of_the_nearest_is_taken() -> None:
    X = np.array([[0, 0], [0, 2], [2, 0], [2, 2]] * 3 + [[9, 9], [9, 8], [8, 9], [8, 8]])[::-1]
    model = HDBSCAN(4, min_samples=2, ties="simultaneous").fit(X.astype(float))
    _, _, points = approximate_predict(model, [[1.0, 1.0], [8.5, 8.5], [1.0, 2.0]], True)
    assert X[points].tolist() == [[0, 0], [8, 8], [0, 2]]


def test_medoids_that_are_equally_central() -> None:
    X = np.array([[1, 1], [1, 0], [0, 1], [0, 0]] * 2 + [[9, 9]] * 4)
    model = HDBSCAN(4, min_samples=1, store_centers="medoid", ties="simultaneous").fit(X)
    assert [0, 0] in model.medoids_.tolist()


@pytest.mark.filterwarnings("ignore:the graph has")
def test_graphs_and_matrices_in_any_order() -> None:
    """A sparse graph in two components, a matrix, and Points, by each door."""
    X = tied(5, 90)
    X[45:] += 100
    near = sparse.csr_array(np.where(squareform(pdist(X)) < 9, squareform(pdist(X)), 0))
    for given, order in ((near, orders(90)[0]), (squareform(pdist(X)), orders(90)[1])):
        how: dict[str, Any] = {"metric": "precomputed", "ties": "simultaneous"}
        model, other = HDBSCAN(**how), HDBSCAN(**how)
        model.fit(given)
        other.fit(given[order][:, order])
        assert equal_heights.difference(model, other, order) == ""
    points = HDBSCAN(ties="simultaneous").fit(Points(X))
    rows = HDBSCAN(ties="simultaneous").fit(X)
    assert points.condensed_tree_.tobytes() == rows.condensed_tree_.tobytes()
    of_graph = HDBSCAN(ties="simultaneous").fit(clmst.Graph.from_scipy(near))
    of_matrix = HDBSCAN(ties="simultaneous", metric="precomputed").fit(near)
    assert of_graph.n_connected_components_ == 2
    assert of_graph.condensed_tree_.tobytes() == of_matrix.condensed_tree_.tobytes()


def test_parameter() -> None:
    """It is checked, copied and pickled, and taken by position by no program of scikit-learn's."""
    X = blobs(3, 80)
    model = HDBSCAN(ties="simultaneous")
    assert model.get_params()["ties"] == "simultaneous"
    assert repr(model) == "HDBSCAN(ties='simultaneous')"
    copied = pickle.loads(pickle.dumps(model.fit(X)))
    np.testing.assert_array_equal(copied.outlier_scores_, model.outlier_scores_)
    np.testing.assert_array_equal(copied.cluster_persistence_, model.cluster_persistence_)
    usual, named = HDBSCAN().fit(X), HDBSCAN(ties="sequential").fit(X)
    assert usual.condensed_tree_.tobytes() == named.condensed_tree_.tobytes()
    for value in ("both", None, True, 1):
        with pytest.raises(InvalidArgumentError, match=r"^ties is .*'sequential'.*'simultaneous'"):
            HDBSCAN(ties=value).fit(X)  # type: ignore[arg-type]
    changed = HDBSCAN(3, ties="simultaneous").fit(tied(6))
    before = approximate_predict(changed, tied(7), True)
    changed.set_params(ties="sequential")
    np.testing.assert_array_equal(approximate_predict(changed, tied(7), True), before)
