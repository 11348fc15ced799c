"""Programs written for hdbscan run with their import changed, and BERTopic's calls are answered.

Each program is run twice, with hdbscan and with :mod:`clmst.cluster` under its name. `min_samples`
is one more for clmst, which counts a point itself. Without equal distances both give the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clmst.cluster
from tests.points.test_hdbscan import assert_same_partition

Found = dict[str, Any]
RANDOM = np.random.default_rng(7)
X = np.concatenate(
    [RANDOM.normal(at, spread, (70, 2)) for at, spread in (((0, 0), 1), ((9, 0), 0.6), ((4, 9), 2))]
    + [RANDOM.uniform(-8, 16, (30, 2))]
)
NEW = RANDOM.uniform(-8, 16, (50, 2))


def fit_predict(hdbscan: Any, k: int) -> Found:
    clusterer = hdbscan.HDBSCAN(min_cluster_size=10, min_samples=k, core_dist_n_jobs=1)
    return {"labels": clusterer.fit_predict(X), "numbers": clusterer.probabilities_}


def leaves(hdbscan: Any, k: int) -> Found:
    clusterer = hdbscan.HDBSCAN(8, k, cluster_selection_method="leaf", algorithm="prims_kdtree")
    clusterer.fit(X)
    sizes = np.sort(np.bincount(clusterer.labels_ + 1))
    return {"labels": clusterer.labels_, "numbers": sizes}


def epsilon(hdbscan: Any, k: int) -> Found:
    clusterer = hdbscan.HDBSCAN(
        min_cluster_size=5, min_samples=k, cluster_selection_epsilon=1.2, max_cluster_size=0
    ).fit(X)
    return {"labels": clusterer.labels_, "numbers": clusterer.probabilities_}


def new_points(hdbscan: Any, k: int) -> Found:
    clusterer = hdbscan.HDBSCAN(10, k, prediction_data=True).fit(X)
    labels, strengths = hdbscan.approximate_predict(clusterer, X[:9] + 1e-9)
    assert len(hdbscan.approximate_predict(clusterer, NEW)[0]) == len(NEW)
    # Labels alone are of too few points to number the clusters.
    return {"labels": clusterer.labels_, "numbers": strengths, "noise": labels < 0}


def data_made_later(hdbscan: Any, k: int) -> Found:
    clusterer = hdbscan.HDBSCAN(min_cluster_size=12, min_samples=k).fit(X)
    clusterer.generate_prediction_data()
    vectors = hdbscan.all_points_membership_vectors(clusterer)
    assert vectors.shape == (len(X), clusterer.labels_.max() + 1)
    is_in = clusterer.labels_ >= 0
    return {"labels": clusterer.labels_, "numbers": vectors[is_in].max(axis=1)}


def soft(hdbscan: Any, k: int) -> Found:
    clusterer = hdbscan.HDBSCAN(min_cluster_size=12, min_samples=k, prediction_data=True).fit(X)
    near = X[clusterer.labels_ >= 0][::7]
    vectors = hdbscan.prediction.membership_vector(clusterer, near)
    return {"labels": clusterer.labels_, "numbers": np.sort(vectors, axis=1)[:, -1]}


def outliers(hdbscan: Any, k: int) -> Found:
    clusterer = hdbscan.HDBSCAN(min_cluster_size=15, min_samples=k).fit(X)
    threshold = np.quantile(clusterer.outlier_scores_, 0.9)
    is_out = clusterer.outlier_scores_ > threshold
    return {"labels": clusterer.labels_, "numbers": clusterer.outlier_scores_, "noise": is_out}


def trees(hdbscan: Any, k: int) -> Found:
    clusterer = hdbscan.HDBSCAN(min_samples=k, gen_min_span_tree=True, algorithm="best").fit(X)
    edges = clusterer.minimum_spanning_tree_.to_pandas()
    frame = clusterer.condensed_tree_.to_pandas()
    of_points = frame[frame["child_size"] == 1].sort_values("child")
    merges = clusterer.single_linkage_tree_.to_numpy()
    labels = clusterer.single_linkage_tree_.get_clusters(1.0, min_cluster_size=4)
    numbers = [np.sort(edges["distance"]), of_points["lambda_val"], np.sort(merges[:, 2])]
    return {"labels": labels, "numbers": np.concatenate(numbers)}


def distances(hdbscan: Any, k: int) -> Found:
    apart = np.abs(X[:, None] - X).sum(axis=2)
    clusterer = hdbscan.HDBSCAN(metric="precomputed", min_cluster_size=9, min_samples=k)
    labels = clusterer.fit_predict(apart)
    return {"labels": labels, "numbers": np.sort(clusterer.cluster_persistence_)}


def search(hdbscan: Any, k: int) -> Found:
    """Choose the size with the best validity, as programs that tune hdbscan do."""
    grades = {}
    for size in (5, 10, 20, 40):
        clusterer = hdbscan.HDBSCAN(size, k, gen_min_span_tree=True).fit(X)
        grades[size] = clusterer.relative_validity_, clusterer
    best = max(grades, key=lambda size: grades[size][0])
    labels = grades[best][1].labels_
    grade = hdbscan.validity.validity_index(X, labels)
    exemplars = [len(one) for one in grades[best][1].exemplars_]
    return {
        "labels": labels,
        "numbers": [*(g for g, _ in grades.values()), grade, *sorted(exemplars)],
    }


PROGRAMS: list[Callable[[Any, int], Found]] = [
    fit_predict, leaves, epsilon, new_points, data_made_later, soft, outliers, trees, distances,
    search,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_programs_run_with_the_import_changed(program: Callable[[Any, int], Found]) -> None:
    hdbscan = pytest.importorskip("hdbscan")
    pytest.importorskip("pandas")
    theirs, ours = program(hdbscan, 1), program(clmst.cluster, 2)
    assert_same_partition(np.array(ours["labels"]), np.array(theirs["labels"]))
    np.testing.assert_allclose(ours["numbers"], theirs["numbers"], rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(ours.get("noise", 0), theirs.get("noise", 0))


def test_a_point_counts_itself() -> None:
    """The clusters of hdbscan's `min_samples` are those of one more, by its default size, too."""
    hdbscan = pytest.importorskip("hdbscan")
    heights = []
    for size in (5, 15):
        theirs = hdbscan.HDBSCAN(size, algorithm="prims_kdtree").fit(X)
        ours = clmst.cluster.HDBSCAN(size, min_samples=size + 1).fit(X)
        np.testing.assert_allclose(
            ours.single_linkage_tree_[:, 2], theirs.single_linkage_tree_.to_numpy()[:, 2]
        )
        heights.append(ours.single_linkage_tree_[:, 2])
    assert (heights[0] < heights[1]).all()


def test_the_calls_of_bertopic() -> None:
    """A topic model fits, reads labels and probabilities, and predicts new documents.

    It knows hdbscan and cuML by their types, and treats all other models alike: `fit` with `y`,
    `labels_`, `probabilities_` if there are some, and `predict`.
    """
    reduced = np.random.default_rng(2).normal(size=(300, 5)).astype(np.float32)
    reduced += 12 * (np.arange(300) % 4)[:, None] * np.eye(5, dtype=np.float32)[np.arange(300) % 4]
    model: Any = clmst.cluster.HDBSCAN(
        min_cluster_size=10, metric="euclidean", cluster_selection_method="eom",
        prediction_data=True,
    )  # fmt: skip
    topics_of_old = np.full(300, -1)
    model.fit(reduced, y=topics_of_old)
    labels, probabilities = model.labels_, model.probabilities_
    assert labels.shape == probabilities.shape == (300,)
    assert labels.dtype.kind == "i"
    assert set(labels.tolist()) == {*range(labels.max() + 1)} | ({-1} & set(labels.tolist()))
    assert labels.max() == 3
    # Topics are sorted by their sizes, which need counts of all labels from -1 on.
    sizes = np.bincount(labels + 1)
    assert sizes.sum() == 300
    assert not hasattr(model, "partial_fit")
    predictions = model.predict(reduced[:50])
    assert predictions.shape == (50,)
    np.testing.assert_array_equal(predictions, labels[:50])
    of_new = model.predict(reduced[:3] + 1e3)
    assert of_new.tolist() == [-1, -1, -1]
    # With probabilities of all topics asked for, the model's owner calls the functions.
    every = clmst.cluster.all_points_membership_vectors(model)
    assert isinstance(every, np.ndarray)
    assert every.shape == (300, 4)
    assert clmst.cluster.membership_vector(model, reduced[:5])[0].shape == (4,)
