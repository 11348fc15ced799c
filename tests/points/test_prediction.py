"""New points in the clusters of a fit: beside the hdbscan package, and by all pairs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform

import clmst
from clmst import InvalidArgumentError, InvalidGraphError, NotFittedError
from clmst.cluster import HDBSCAN, approximate_predict, approximate_predict_scores
from tests.points.hdbscan_peer import SEEDS, new_points, peer_of, sets, their_labels
from tests.points.test_hdbscan import blobs, parameters


@pytest.mark.parametrize("min_samples", [3, 6])
@pytest.mark.parametrize("seed", SEEDS)
def test_predictions_are_hdbscans(seed: int, min_samples: int) -> None:
    """On one tree, and with the core distances of the fit."""
    hdbscan = pytest.importorskip("hdbscan")
    X, given = sets(seed)
    given["min_samples"] = min_samples
    model = HDBSCAN(**given).fit(X)
    peer = peer_of(X, given, model)
    number = their_labels(model.labels_, peer.labels_)
    Q = new_points(X, seed)
    labels, probabilities, neighbours = approximate_predict(model, Q, True)
    theirs = hdbscan.approximate_predict(peer, Q, return_connecting_points=True)
    np.testing.assert_array_equal(neighbours, theirs[2])
    np.testing.assert_array_equal(number[labels], theirs[0])
    np.testing.assert_allclose(probabilities, theirs[1], rtol=1e-12)
    scores = hdbscan.prediction.approximate_predict_scores(peer, Q)
    ours = approximate_predict_scores(model, Q)
    np.testing.assert_allclose(ours, np.maximum(scores, 0), atol=1e-12)
    scores = hdbscan.prediction.approximate_predict_scores(peer, X)
    np.testing.assert_allclose(approximate_predict_scores(model, X), scores, atol=1e-12)


def placed(model: HDBSCAN, apart: np.ndarray, core: np.ndarray, alpha: float) -> Any:
    """Return label, probability and score of new points, one at a time, by all distances."""
    n, min_samples = len(core), model.min_samples or model.min_cluster_size
    rows = model.condensed_tree_
    of_point = rows[np.argsort(rows["child"])][:n]
    of_cluster = {int(row["child"]): row for row in rows if row["child"] >= n}
    death = {int(p): rows["value"][rows["parent"] == p].max() for p in set(rows["parent"].tolist())}
    chosen = model.selected_clusters_.tolist()

    def up(cluster: int) -> list[int]:
        """Return a cluster and those that it is in."""
        return [cluster, *(up(int(of_cluster[cluster]["parent"])) if cluster > n else [])]

    last = {one: max(death[other] for other in death if one in up(other)) for one in death}
    for distances in apart:
        own = np.sort(distances)[min_samples - 1]
        mutual = np.maximum(np.maximum(distances / alpha, core), own)
        point = int(np.lexsort((distances, mutual))[0])
        density = 1 / mutual[point] if mutual[point] > 0 else np.inf
        cluster, leaves = int(of_point["parent"][point]), of_point["value"][point]
        score_of = leaves if distances[point] == 0 else density
        score = 0.0 if score_of >= last[cluster] else 1 - score_of / last[cluster]
        while density < leaves and cluster > n and of_cluster[cluster]["value"] >= density:
            cluster = int(of_cluster[cluster]["parent"])
        around = [one for one in up(cluster) if one in chosen]
        is_early = chosen == [n] and min(density, leaves) < death[n]
        if not around or is_early:
            yield -1, 0.0, score
        else:
            strength = 1.0 if density >= death[around[0]] else density / death[around[0]]
            yield chosen.index(around[0]), strength, score


def same_as_placed(
    model: HDBSCAN, Q: Any, apart: np.ndarray, core: np.ndarray, alpha: float = 1
) -> None:
    labels, strengths, scores = map(np.array, zip(*placed(model, apart, core, alpha), strict=True))
    ours = approximate_predict(model, Q)
    np.testing.assert_array_equal(ours[0], labels)
    np.testing.assert_allclose(ours[1], strengths, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(approximate_predict_scores(model, Q), scores, rtol=1e-7, atol=1e-9)


METRICS = ["euclidean", "cityblock", "chebyshev", "cosine", "canberra", "seuclidean", "mahalanobis",
           "braycurtis"]  # fmt: skip


@pytest.mark.parametrize("alpha", [1.0, 1.4])
@pytest.mark.parametrize("metric", METRICS)
def test_predictions_by_all_pairs(metric: Any, alpha: float) -> None:
    """Metrics with a tree of boxes, and other metrics, which keep the scales of the fit."""
    X = blobs(METRICS.index(metric) * 3 + 1, 150, axes=3) + 30
    Q = new_points(X, 1, 60)
    model = HDBSCAN(4, min_samples=3, metric=metric, alpha=alpha).fit(X)
    more: dict[str, Any] = {}
    if metric == "seuclidean":
        more["V"] = X.var(axis=0, ddof=1)
    if metric == "mahalanobis":
        more["VI"] = np.linalg.inv(np.cov(X.T))
    core = np.sort(cdist(X, X, metric, **more))[:, 2]
    apart = cdist(Q, X, metric, **more)
    same_as_placed(model, Q, apart, core, alpha)


@pytest.mark.parametrize("seed", range(12))
def test_predictions_by_all_pairs_of_any_tree(seed: int) -> None:
    """With few neighbours, for which the nearest by mutual reachability is often none of them."""
    X, given = blobs(3 * seed + 1, 120), parameters(seed)
    model = HDBSCAN(**given).fit(X)
    core = np.sort(cdist(X, X))[:, given["min_samples"] - 1]
    Q = new_points(X, seed, 100)
    same_as_placed(model, Q, cdist(Q, X), core)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock", "chebyshev"])
def test_many_dimensions(metric: Any) -> None:
    """All pairs are compared by products there, if products give the metric's order."""
    X = blobs(4, 200, axes=40)
    model = HDBSCAN(5, min_samples=4, metric=metric).fit(X)
    Q = new_points(X, 2, 80)
    same_as_placed(model, Q, cdist(Q, X, metric), np.sort(cdist(X, X, metric))[:, 3])


@pytest.mark.parametrize("axes", [2, 40])
def test_squares_beyond_doubles(axes: int) -> None:
    X = blobs(4, 100, axes=axes)
    far = np.full((2, axes), 1e200)
    labels, probabilities, neighbours = approximate_predict(HDBSCAN().fit(X), far, True)
    assert labels.tolist() == [-1, -1]
    assert probabilities.tolist() == [0, 0]
    assert set(neighbours.tolist()) <= set(range(100))
    assert approximate_predict_scores(HDBSCAN().fit(X), far).tolist() == [1, 1]


@pytest.mark.parametrize("metric", ["haversine", "great-circle", "rounded-euclidean"])
def test_metrics_of_whole_numbers_and_spheres(metric: Any) -> None:
    X = blobs(7, 120) * 0.7
    points = clmst.Points(X, metric)
    model = HDBSCAN(5, min_samples=3).fit(points)
    Q = new_points(X, 3, 60) / 2
    both = clmst.Points(np.concatenate([Q, X]), metric)
    apart = both.weights_of(np.arange(len(Q))[:, None], len(Q) + np.arange(len(X)))
    core = clmst.core_distances(points, 3)
    labels, strengths, _ = map(
        np.array, zip(*placed(model, apart.astype(float), core, 1), strict=True)
    )
    ours = approximate_predict(model, Q)
    # Of equal distances any may be found.
    assert (ours[0] == labels).mean() > (0.99 if metric == "haversine" else 0.8)
    is_same = ours[0] == labels
    np.testing.assert_allclose(ours[1][is_same], strengths[is_same])


@pytest.mark.parametrize("seed", range(20))
def test_points_of_the_fit_have_their_labels(seed: int) -> None:
    """Of one place several may be found, so no set is on a grid; all may be one cluster, too."""
    X, given = blobs(3 * seed + 1), parameters(seed)
    for metric in ("euclidean", "chebyshev", "canberra", "cosine"):
        model = HDBSCAN(**given, metric=metric).fit(X)
        labels, probabilities, neighbours = approximate_predict(model, X, True)
        np.testing.assert_array_equal(labels, model.labels_)
        np.testing.assert_array_equal(neighbours, np.arange(len(X)))
        assert (probabilities >= model.probabilities_ - 1e-12).all()
        scores = approximate_predict_scores(model, X)
        np.testing.assert_allclose(scores, model.outlier_scores_, atol=1e-12)


def test_all_points_one_cluster_within_a_distance() -> None:
    """New points beyond it are noise, as points of the fit are; hdbscan gives them the label 0."""
    X = blobs(4, 150)
    given: dict[str, Any] = {"allow_single_cluster": True, "cluster_selection_epsilon": 20.0}
    model = HDBSCAN(10, min_samples=3, **given).fit(X)
    assert model.selected_clusters_.tolist() == [150]
    labels, probabilities = approximate_predict(model, X)
    np.testing.assert_array_equal(labels, model.labels_)
    assert approximate_predict(model, [[1e4, 1e4]])[0].tolist() == [-1]
    assert probabilities[labels == 0].min() > 0


def test_points_at_one_place() -> None:
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 8, axis=0)
    model = HDBSCAN(4, min_samples=3).fit(X)
    labels, probabilities = approximate_predict(model, [[0, 0], [9, 9], [9, 8], [900, 0]])
    assert labels.tolist()[:3] == [0, 1, 1]
    assert probabilities.tolist() == [1, 1, 0, 0]
    scores = approximate_predict_scores(model, [[0, 0], [9, 8]])
    assert scores.tolist() == [0, 1]


def test_rows_with_gaps() -> None:
    X = blobs(8, 80)
    gaps = np.insert(X, [2, 30], [[np.nan, 1.0], [np.inf, 1.0]], axis=0)
    model, whole = HDBSCAN().fit(gaps), HDBSCAN().fit(X)
    Q = np.insert(X, [4, 5], [[np.inf, np.nan], [1.0, -np.inf]], axis=0)
    labels, probabilities, neighbours = approximate_predict(model, Q, return_connecting_points=True)
    assert labels[[4, 6]].tolist() == [-3, -2]
    np.testing.assert_array_equal(probabilities[[4, 6]], [np.nan, 0])
    assert neighbours[[4, 6]].tolist() == [-1, -1]
    np.testing.assert_array_equal(np.delete(labels, [4, 6]), whole.labels_)
    np.testing.assert_array_equal(gaps[np.delete(neighbours, [4, 6])], X)
    scores = approximate_predict_scores(model, Q)
    np.testing.assert_array_equal(scores[[4, 6]], [np.nan, 1])
    assert approximate_predict(model, Q[4:5])[0].tolist() == [-3]


def test_every_door_gives_the_same_prediction() -> None:
    pandas = pytest.importorskip("pandas")
    X = np.maximum(np.round(blobs(8, 80), 1), 0)
    Q = np.maximum(np.round(new_points(X, 4, 30), 1), 0)
    expected = approximate_predict(HDBSCAN().fit(X), Q)
    models = [HDBSCAN().fit(one) for one in (clmst.Points(X), sparse.csr_array(X))]
    doors: list[Any] = [Q, Q.tolist(), sparse.csr_array(Q), pandas.DataFrame(Q), Q.astype(object)]
    for model in models:
        for door in doors:
            for ours, theirs in zip(approximate_predict(model, door), expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_names_of_columns_are_those_of_the_fit() -> None:
    """And in their order; if only one of both has names, a warning says so: as scikit-learn."""
    pandas = pytest.importorskip("pandas")
    X = blobs(8, 80)
    frame = pandas.DataFrame(X, columns=["length", "width"])
    named, nameless = HDBSCAN().fit(frame), HDBSCAN().fit(X)
    turned, other = frame[["width", "length"]], frame.rename(columns={"width": "height"})
    for call in (approximate_predict, approximate_predict_scores):
        rule = "must be in the same order, which X.model.feature_names_in_. brings about"
        with pytest.raises(InvalidGraphError, match=f"^the feature names should match .*{rule}"):
            call(named, turned)
        with pytest.raises(InvalidGraphError, match=r"unseen at fit time: height; .*: width$"):
            call(named, other)
        with pytest.warns(UserWarning, match="HDBSCAN was fitted without feature names"):
            call(nameless, frame)
        with pytest.warns(UserWarning, match="HDBSCAN was fitted with feature names"):
            call(named, X)
    found = approximate_predict(named, turned[named.feature_names_in_])
    np.testing.assert_array_equal(found[0], named.labels_)


@pytest.mark.parametrize("far", [1e200, 1e-200])
@pytest.mark.parametrize("axes", [2, 40])
def test_new_points_of_any_scale(axes: int, far: float) -> None:
    """Whatever the scale of the fit: each is put where its nearest point is."""
    X = np.random.default_rng(axes).normal(size=(60, axes)) + 9 * (np.arange(60) % 3)[:, None]
    every = np.concatenate([X, X * far])
    model = HDBSCAN(5, min_samples=2).fit(X)
    labels, _, neighbours = approximate_predict(model, every, True)
    np.testing.assert_array_equal(labels[:60], model.labels_)
    by_distance = clmst.Points(every).weights_of(np.arange(60, 120)[:, None], np.arange(60))
    assert np.isfinite(by_distance).all()
    core = clmst.core_distances(X, 2)
    own = np.sort(by_distance, axis=1)[:, 1]
    mutual = np.maximum(np.maximum(by_distance, core), own[:, None])
    np.testing.assert_array_equal(mutual.min(axis=1), mutual[np.arange(60), neighbours[60:]])
    of_far = HDBSCAN(5, min_samples=2).fit(X * far)
    assert model.labels_.max() == 2
    np.testing.assert_array_equal(of_far.labels_, model.labels_)
    np.testing.assert_array_equal(approximate_predict(of_far, X * far)[0], of_far.labels_)
    assert set(approximate_predict(of_far, X)[0]) <= {-1, *of_far.labels_.tolist()}


def test_a_prediction_is_of_the_last_fit() -> None:
    """Parameters that were changed after it count for the next one."""
    X, other = blobs(8, 80), blobs(10, 80)
    Q = new_points(X, 4, 30)
    model = HDBSCAN(min_samples=4, alpha=1.5).fit(X)
    expected = approximate_predict(model, Q)
    model.set_params(min_samples=9, alpha=1.0, metric="cosine")
    fresh = pickle.loads(pickle.dumps(model))
    for one in (model, fresh, HDBSCAN(min_samples=4, alpha=1.5).fit(X)):
        for ours, theirs in zip(approximate_predict(one, Q), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    model.set_params(metric="euclidean").fit(other)
    again = approximate_predict(HDBSCAN(min_samples=9).fit(other), Q)
    for ours, theirs in zip(approximate_predict(model, Q), again, strict=True):
        np.testing.assert_array_equal(ours, theirs)


FITTED = HDBSCAN(4).fit(blobs(4, 60))
BY_DISTANCES = HDBSCAN(4, metric="precomputed").fit(squareform(pdist(blobs(4, 60))))
one: Any = 1
# The estimator, the points, the error and what it says.
CALLS: list[tuple[Any, Any, type[Exception], str]] = [
    (HDBSCAN(7), [[0, 0]], NotFittedError, r"^HDBSCAN\(min_cluster_size=7\) is not fitted; fit mu"),
    (BY_DISTANCES, [[0, 0]], NotFittedError, "was fitted with distances; prediction needs a fit "
                                        "with"),
    (FITTED, [[0, 0, 0]], InvalidGraphError, r"shape \(1, 3\); it must be \(m, 2\) with m at"),
    (FITTED, [[0]], InvalidGraphError, r"shape \(1, 1\); it must be \(m, 2\)"),
    (FITTED, np.zeros((0, 2)), InvalidGraphError, r"shape \(0, 2\); it must be \(m, 2\) with m"),
    (FITTED, [], InvalidGraphError, r"shape \(0,\).*; points are rows of real numbers"),
    (FITTED, [0, 0], InvalidGraphError, r"shape \(2,\).*; points are rows of real numbers"),
    (FITTED, [["a", "b"]], InvalidGraphError, "points are rows of real numbers"),
    (clmst.cluster.SingleLinkage(), [[0, 0]], InvalidArgumentError, "it must be a HDBSCAN"),
    (None, [[0, 0]], InvalidArgumentError, "clusterer is None; it must be a HDBSCAN"),
    (HDBSCAN(4, metric="cosine").fit(blobs(4, 60)), [[1, 0], [0, 0]], InvalidGraphError, "point 1"),
    (HDBSCAN(4, metric="haversine").fit(blobs(4, 60)), [[99, 0]], InvalidGraphError, "latitude"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "points", "error", "message"), CALLS)
def test_one_clear_error(model: Any, points: Any, error: type[Exception], message: str) -> None:
    for call in (approximate_predict, approximate_predict_scores):
        with pytest.raises(error, match=message):
            call(model, points)


def test_a_choice_is_a_bool() -> None:
    with pytest.raises(InvalidArgumentError, match="return_connecting_points is 1; it must be"):
        approximate_predict(FITTED, [[0, 0]], one)
