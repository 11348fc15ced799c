"""The density-based validity of clusterings: beside the hdbscan package, and by its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform

import clmst
from clmst import InvalidArgumentError, InvalidGraphError
from clmst.cluster import HDBSCAN, validity_index
from tests.points.hdbscan_peer import SEEDS, sets
from tests.points.test_hdbscan import blobs


def labelled(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and labels.

    For every third set the labels are random, otherwise they fit the points.
    """
    X, given = sets(seed)
    labels = HDBSCAN(**given, min_samples=4).fit_predict(X)
    return X, np.random.default_rng(seed).integers(-1, 6, len(X)) if seed % 3 == 2 else labels


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_validity_is_hdbscans(seed: int, raw: bool) -> None:
    pytest.importorskip("hdbscan")
    from hdbscan.validity import validity_index as peer

    X, labels = labelled(seed)
    metric: Any = ("euclidean", "cityblock", "chebyshev", "canberra", "cosine")[seed % 5]
    given: dict[str, Any] = {"per_cluster_scores": True, "mst_raw_dist": raw}
    index, scores = peer(X, labels, metric=metric, **given)
    ours = validity_index(X, labels, metric, **given)
    np.testing.assert_allclose(ours[0], index, rtol=1e-8)
    np.testing.assert_allclose(ours[1], scores, rtol=1e-8)
    assert scores.size > 1
    matrix = squareform(pdist(X, metric))
    stored = validity_index(matrix, labels, "precomputed", X.shape[1], mst_raw_dist=raw)
    np.testing.assert_allclose(stored, index, rtol=1e-8)
    assert validity_index(X, labels, metric, mst_raw_dist=raw) == ours[0]


def defined(X: np.ndarray, labels: np.ndarray, d: int) -> tuple[float, dict[int, float]]:
    """Return the index and the scores by their definition, from all pairs.

    The spanning tree takes pairs in their order by weight and number.
    """
    apart, core = cdist(X, X), np.zeros(len(X))
    counts = {int(k): int((labels == k).sum()) for k in set(labels.tolist()) if k >= 0}
    groups: dict[int, list[int]] = {
        k: np.flatnonzero(labels == k).tolist() for k, count in counts.items() if count > 1
    }
    inner, sparseness = dict[int, list[int]](), dict[int, float]()
    for k, group in groups.items():
        for i in group:
            terms = [(1 / apart[i, j]) ** d for j in group if apart[i, j] > 0]
            mean = sum(terms) / (len(group) - 1)
            core[i] = mean ** (-1 / d) if mean else 0
        pairs = [(i, j) for at, i in enumerate(group) for j in group[at + 1 :]]
        weighed = sorted((max(apart[i, j], core[i], core[j]), i, j) for i, j in pairs)
        part, tree = {i: i for i in group}, []
        for weight, i, j in weighed:
            if part[i] != part[j]:
                tree.append((weight, i, j))
                old = part[j]
                part = {one: part[i] if of == old else of for one, of in part.items()}
        degrees = np.bincount([end for _, i, j in tree for end in (i, j)], minlength=len(X))
        inner[k] = np.flatnonzero(degrees > 1).tolist() or group
        edges = [w for w, i, j in tree if i in inner[k] and j in inner[k]]
        sparseness[k] = max(edges or [w for w, _, _ in tree])
    scores = dict[int, float]()
    for k in groups:
        others = [j for other in groups if other != k for j in inner[other]]
        if not others:
            return np.nan, {k: np.nan}
        least = min(max(apart[i, j], core[i], core[j]) for i in inner[k] for j in others)
        greater = max(least, sparseness[k])
        scores[k] = (least - sparseness[k]) / greater if greater else 0.0
    return sum(scores[k] * counts[k] for k in scores) / len(X), scores


@pytest.mark.parametrize("seed", range(20))
def test_validity_follows_its_definition(seed: int) -> None:
    """With clusters of one and two points, labels of no point, and points at one place."""
    random = np.random.default_rng(seed)
    X = np.round(blobs(seed + 1, 60), seed % 2)
    labels = random.integers(-2, 4, 60) * 2
    labels[:3] = 9, 13, 13
    index, scores = defined(X, labels, 2)
    found, each = validity_index(X, labels, per_cluster_scores=True)
    assert found == pytest.approx(index, rel=1e-9)
    assert each.shape == (14,)
    assert {k: each[k] for k in np.flatnonzero(~np.isnan(each))} == pytest.approx(scores, rel=1e-9)


def test_few_clusters() -> None:
    X = blobs(4, 40)
    assert validity_index(X, np.full(40, -1)) == 0
    with pytest.warns(clmst.GraphWarning, match="only one cluster has two points or more; .* NaN"):
        assert np.isnan(validity_index(X, np.zeros(40, int)))
    index, scores = validity_index(X, np.arange(40), per_cluster_scores=True)
    assert index == 0
    assert np.isnan(scores).all()
    twice = np.repeat([[0.0, 0.0], [3.0, 4.0]], 5, axis=0)
    assert validity_index(twice, np.repeat([0, 1], 5)) == 1
    assert validity_index(twice * 0, np.repeat([0, 1], 5)) == 0


def test_many_dimensions_do_not_underflow() -> None:
    """``(1 / distance) ** d`` is 0 in 500 dimensions, and its inverse infinite."""
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 500)) + np.repeat([0, 3], 30)[:, None]
    labels = np.repeat([0, 1], 30)
    apart = cdist(X[:30], X[:30]) + np.diag([np.inf] * 30)
    nearest = apart.min(axis=1)
    means = np.exp(-500 * (np.log(apart) - np.log(nearest)[:, None])).sum(axis=1) / 29
    core = nearest * means ** (-1 / 500)
    # All edges are at most the greatest core distance; the clusters are far apart.
    separation = cdist(X[:30], X[30:]).min()
    assert core.max() < separation
    score = validity_index(X, labels, per_cluster_scores=True)[1][0]
    assert 1 - core.max() / separation <= score <= 1 - core.min() / cdist(X[:30], X[30:]).max()
    expected = validity_index(X, labels)
    for scale in (1e-9, 1e9):
        assert validity_index(X * scale, labels) == pytest.approx(expected)


def test_every_door_gives_the_same_index() -> None:
    pandas = pytest.importorskip("pandas")
    X, labels = labelled(3)
    X = np.maximum(X, 0)
    expected = validity_index(X, labels)
    doors: list[Any] = [X.tolist(), clmst.Points(X), sparse.csr_array(X), pandas.DataFrame(X)]
    for door in doors:
        assert validity_index(door, labels.tolist()) == expected
    assert validity_index(X, labels, "minkowski", metric_params={"p": 2}) == expected
    metrics: list[tuple[Any, dict[str, Any]]] = [("minkowski", {"p": 3}), ("cosine", {})]
    for metric, more in metrics:
        Y, of_row = labelled(1)
        found = validity_index(Y, of_row, metric, metric_params=more)
        matrix = squareform(pdist(Y, metric, **more))
        stored = validity_index(matrix, of_row, "precomputed", Y.shape[1])
        assert found == pytest.approx(stored, rel=1e-6)
    gaps = np.concatenate([X, [[np.nan] * X.shape[1], [np.inf] * X.shape[1]]])
    with_gaps = np.concatenate([labels, [-3, -2]])
    assert validity_index(gaps, with_gaps) == pytest.approx(expected * len(X) / len(gaps))
    sphere = clmst.Points(X[:, :2], "haversine")
    every = np.arange(len(X))
    stored = validity_index(sphere.weights_of(every[:, None], every), labels, "precomputed", 2)
    assert validity_index(sphere, labels) == pytest.approx(stored)


FOUR, PAIRS = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
CALLS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"labels": [0, 1]}, InvalidArgumentError, r"shape \(2,\) and dtype int64 for 4 points"),
    ({"labels": [0.0, 0, 1, 1]}, InvalidArgumentError, "dtype float64 .*; it must be an integer"),
    ({"labels": [0, 0, 1, 4]}, InvalidArgumentError, "a label is 4 for 4 points; labels number"),
    ({"metric": "unheard-of"}, InvalidArgumentError, "metric is 'unheard-of'"),
    ({"metric": 3}, InvalidArgumentError, "metric is 3"),
    ({"X": np.eye(4), "metric": "precomputed"}, InvalidArgumentError, "d is None and distances ar"),
    ({"metric": "precomputed", "d": 2}, InvalidGraphError, "must be square"),
    ({"d": 0}, InvalidArgumentError, "d is 0"),
    ({"mst_raw_dist": 1}, InvalidArgumentError, "mst_raw_dist is 1; it must be True or False"),
    ({"X": FOUR / [1, np.inf] + [0, np.nan]}, InvalidGraphError, "coordinate 1 of point 0 is NaN"),
    ({"X": [["a"]] * 4}, InvalidGraphError, "rows of real numbers"),
    ({"X": np.zeros((4, 0))}, InvalidGraphError, "rows of real numbers"),
]


@pytest.mark.parametrize(("given", "error", "message"), CALLS)
def test_one_clear_error(given: dict[str, Any], error: type[Exception], message: str) -> None:
    call: dict[str, Any] = {"X": FOUR, "labels": PAIRS}
    with pytest.raises(error, match=message):
        validity_index(**call | given)
