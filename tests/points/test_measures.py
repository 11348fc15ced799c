"""Outlier scores, persistence, exemplars: beside the hdbscan package, and by definition."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import clmst
from clmst.cluster import HDBSCAN
from tests.points.hdbscan_peer import SEEDS, peer_of, sets, their_labels
from tests.points.test_hdbscan import blobs, parameters

LAZY = ("outlier_scores_", "cluster_persistence_", "exemplars_")


def in_order(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(rows.T)]


@pytest.mark.parametrize("min_samples", [2, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_measures_are_hdbscans(seed: int, min_samples: int) -> None:
    """With 2 no distances are equal, so its own tree is taken; else ours."""
    X, given = sets(seed)
    given["min_samples"] = min_samples
    model = HDBSCAN(**given).fit(X)
    peer = peer_of(X, given, None if min_samples == 2 else model)
    number = their_labels(model.labels_, peer.labels_)[:-1]
    np.testing.assert_allclose(model.outlier_scores_, peer.outlier_scores_, atol=1e-12)
    np.testing.assert_allclose(
        model.cluster_persistence_, peer.cluster_persistence_[number], rtol=1e-10
    )
    assert len(model.exemplars_) == number.size == model.labels_.max() + 1
    for ours, at in zip(model.exemplars_, number, strict=True):
        np.testing.assert_array_equal(in_order(ours), in_order(peer.exemplars_[at]))


def measured(model: HDBSCAN, n: int) -> tuple[list[float], list[float], list[set[int]]]:
    """Return the measures by their definitions, a point and a row of the tree at a time."""
    rows = [(int(p), int(c), float(v), int(s)) for p, c, v, s in model.condensed_tree_]
    birth = {n: 0.0} | {child: value for _, child, value, _ in rows if child >= n}
    of_point = {child: (parent, value) for parent, child, value, _ in rows if child < n}

    def within(cluster: int) -> list[int]:
        below = [c for p, c, _, _ in rows if p == cluster and c >= n]
        return [cluster, *(one for c in below for one in within(c))]

    def death(cluster: int) -> float:
        return max(value for parent, _, value, _ in rows if parent == cluster)

    scores = []
    for point in range(n):
        cluster, leaves = of_point[point]
        last = max(death(one) for one in within(cluster))
        if leaves == last:
            scores.append(0.0)
        else:
            scores.append(1.0 if last == np.inf else 1 - leaves / last)
    finite = [value for _, _, value, _ in rows if value < np.inf]
    greatest = max(finite, default=0.0)
    persistence, exemplars = list[float](), list[set[int]]()
    for cluster in model.selected_clusters_.tolist():
        own = [(value, size) for parent, _, value, size in rows if parent == cluster]
        stays = [
            0.0 if value == birth[cluster] else min(value - birth[cluster], greatest)
            for value, _ in own
        ]
        total = sum(stay * size for stay, (_, size) in zip(stays, own, strict=True))
        points = sum(size for _, size in own)
        persistence.append(total / points / greatest if greatest else 1.0)
        leaves_of_tree = [one for one in within(cluster) if len(within(one)) == 1]
        exemplars.append({
            c for p, c, v, _ in rows if p in leaves_of_tree and c < n and v == death(p)
        })  # fmt: skip
    return scores, persistence, exemplars


@pytest.mark.parametrize("seed", range(24))
def test_measures_follow_their_definitions(seed: int) -> None:
    """A third of the sets is on a grid: points at one place, and so infinite densities."""
    X = blobs(seed, 90)
    if seed % 6 == 0:
        X[:20] = X[0]
    model = HDBSCAN(**parameters(seed)).fit(X)
    scores, persistence, exemplars = measured(model, len(X))
    np.testing.assert_allclose(model.outlier_scores_, scores, atol=1e-14)
    np.testing.assert_allclose(model.cluster_persistence_, persistence, rtol=1e-12)
    assert model.cluster_persistence_.min(initial=1) >= 0
    assert model.cluster_persistence_.max(initial=0) <= 1 + 1e-12
    for ours, points in zip(model.exemplars_, exemplars, strict=True):
        np.testing.assert_array_equal(ours, X[sorted(points)])


def test_infinite_densities() -> None:
    """NaN for points around others at one place, and 1 for each persistence, by hdbscan."""
    random = np.random.default_rng(5)
    group = random.normal((40, 0), size=(30, 2))
    X = np.concatenate([np.zeros((8, 2)), np.full((8, 2), 9.0), group, [[2.0, 0.0]]])
    model = HDBSCAN(6, min_samples=3).fit(X)
    assert model.labels_[[0, 8, 16]].tolist() == [0, 1, 2]
    assert model.outlier_scores_[:16].tolist() == [0] * 16
    assert model.outlier_scores_[-1] == 1
    greatest = model.condensed_tree_["value"]
    greatest = greatest[np.isfinite(greatest)].max()
    births = model.condensed_tree_[model.selected_clusters_[1:] - 1]["value"]
    assert model.cluster_persistence_[1] == 1
    assert 0 < model.cluster_persistence_[2] < 1 - births.min() / greatest
    equal = HDBSCAN(3, allow_single_cluster=True).fit(np.ones((9, 2)))
    assert equal.cluster_persistence_.tolist() == [1]
    assert equal.outlier_scores_.tolist() == [0] * 9
    assert equal.exemplars_[0].shape == (9, 2)


def test_rows_with_gaps() -> None:
    X = blobs(8, 80)
    whole = HDBSCAN().fit(X)
    gaps = np.insert(X, [2, 30], [[np.nan, 1.0], [np.inf, 1.0]], axis=0)
    model = HDBSCAN().fit(gaps)
    np.testing.assert_array_equal(model.outlier_scores_[[2, 31]], [np.nan, 1])
    np.testing.assert_array_equal(np.delete(model.outlier_scores_, [2, 31]), whole.outlier_scores_)
    for ours, theirs in zip(model.exemplars_, whole.exemplars_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_fit_by_distances_has_no_exemplars() -> None:
    X = blobs(8, 80)
    model = HDBSCAN(metric="precomputed").fit(squareform(pdist(X)))
    np.testing.assert_allclose(model.outlier_scores_, HDBSCAN().fit(X).outlier_scores_)
    with pytest.raises(clmst.NotFittedError, match=r"^HDBSCAN\(metric='precomputed'\) was fitted "):
        _ = model.exemplars_
    assert not hasattr(model, "exemplars_")


@pytest.mark.parametrize("name", LAZY)
def test_measures_need_a_fit(name: str) -> None:
    with pytest.raises(
        clmst.NotFittedError, match=r"^HDBSCAN\(min_cluster_size=8\) is not fitted; fit "
    ):
        getattr(HDBSCAN(min_cluster_size=8), name)
    assert not hasattr(HDBSCAN(), name)
    with pytest.raises(clmst.NotFittedError, match="is not fitted"):
        HDBSCAN().condensed_tree_  # noqa: B018
    with pytest.raises(clmst.NotFittedError, match="is not fitted"):
        HDBSCAN().dbscan_clustering(1.0)


def test_a_fit_computes_none_and_forgets_those_of_the_last() -> None:
    model = HDBSCAN().fit(blobs(8, 80))
    assert not set(LAZY) & set(vars(model))
    before: list[Any] = [getattr(model, name) for name in LAZY]
    assert model.outlier_scores_ is before[0]
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.outlier_scores_, before[0])
    X = blobs(10, 95)
    model.fit(X)
    fresh = HDBSCAN().fit(X)
    np.testing.assert_array_equal(model.outlier_scores_, fresh.outlier_scores_)
    np.testing.assert_array_equal(model.cluster_persistence_, fresh.cluster_persistence_)
    assert len(model.exemplars_) == len(fresh.exemplars_) == model.labels_.max() + 1


def test_a_chain_of_clusters() -> None:
    """Each cluster is in the next: as many levels as clusters, of which the scores need each."""
    gaps = 1.3 ** np.arange(60)
    X = np.repeat(np.cumsum(gaps), 4)[:, None] + np.tile(np.arange(4) * 0.01, 60)[:, None]
    model = HDBSCAN(4, min_samples=1, cluster_selection_method="leaf").fit(X)
    scores, persistence, _ = measured(model, len(X))
    np.testing.assert_allclose(model.outlier_scores_, scores, atol=1e-14)
    np.testing.assert_allclose(model.cluster_persistence_, persistence)


def test_exemplars_are_of_the_smallest_clusters() -> None:
    """A point that leaves a cluster just when that is divided leaves it last, but is none of them.

    Two groups and a point are 1 apart, and joined by `cluster_selection_epsilon`.
    """
    group = np.arange(6)[:, None] / 100
    X = np.concatenate([group, group + 1.05, [[2.1]], group + 30, group + 31.05])
    model = HDBSCAN(4, min_samples=1, cluster_selection_epsilon=3.0).fit(X)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], [13, 12]))
    assert [one[:, 0].max() < 1.2 for one in model.exemplars_] == [True, False]
    _, _, exemplars = measured(model, len(X))
    assert 12 not in exemplars[0]
    np.testing.assert_array_equal(model.exemplars_[0], X[sorted(exemplars[0])])
