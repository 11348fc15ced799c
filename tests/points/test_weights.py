"""Sample weights: a row of weight w is clustered as w equal rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import clmst
from clmst import InvalidArgumentError, InvalidGraphError
from clmst.cluster import (
    HDBSCAN,
    all_points_membership_vectors,
    approximate_predict,
    approximate_predict_scores,
)
from tests.points.hdbscan_peer import new_points
from tests.points.test_hdbscan import blobs, parameters

NUMBERS = ("labels_", "probabilities_", "outlier_scores_")


def weights_of(seed: int, n: int) -> np.ndarray:
    """Return weights from 0 to 4, some of them larger than any minimum size of a cluster."""
    random = np.random.default_rng([seed, 3])
    weights = random.integers(0 if seed % 2 else 1, 5, n)
    weights[random.random(n) < 0.05] = random.integers(5, 30)
    return weights


def assert_equal_fits(model: HDBSCAN, repeated: HDBSCAN, weights: np.ndarray) -> None:
    """Assert that a fit with weights has the clusters of the repeated rows, bit for bit."""
    first = np.cumsum(weights) - weights
    kept = weights > 0
    for name in NUMBERS:
        ours, theirs = getattr(model, name)[kept], getattr(repeated, name)[first[kept]]
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(model.cluster_persistence_, repeated.cluster_persistence_)
    assert model.labels_[~kept].tolist() == [-1] * int((~kept).sum())
    assert (model.probabilities_[~kept] == 0).all()
    assert np.isnan(model.outlier_scores_[~kept]).all()
    ours, theirs = model.condensed_tree_, repeated.condensed_tree_
    n, total = int(kept.sum()), int(weights.sum())
    assert ours["cluster_size"][:n].tolist() == weights[kept].tolist()
    np.testing.assert_array_equal(ours["value"][:n], theirs["value"][:total][first[kept]])
    for field in ("value", "cluster_size"):
        np.testing.assert_array_equal(np.sort(ours[field][n:]), np.sort(theirs[field][total:]))
    for height in np.quantile(model.single_linkage_tree_[:, 2], (0.2, 0.6, 0.9)).tolist():
        cut, expected = (one.dbscan_clustering(height, 4) for one in (model, repeated))
        np.testing.assert_array_equal(cut[kept], expected[first[kept]])
    assert model.relative_validity_ == pytest.approx(repeated.relative_validity_, abs=1e-12)


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "chebyshev", "canberra", "precomputed"]
)
@pytest.mark.parametrize("seed", range(12))
def test_a_weight_is_a_number_of_rows(seed: int, metric: str) -> None:
    """A third of the sets is on a grid, where weights meet equal rows and equal distances."""
    X = blobs(seed, 70) + 30
    weights = weights_of(seed, len(X))
    given = parameters(seed) | {"metric": metric, "ties": "simultaneous"}
    given["alpha"] = (1.0, 1.3)[seed % 4 == 1]
    rows = np.repeat(X, weights, axis=0)
    if metric == "precomputed":
        model = HDBSCAN(**given).fit(squareform(pdist(X)), sample_weight=weights)
        repeated = HDBSCAN(**given).fit(squareform(pdist(rows)))
        assert_equal_fits(model, repeated, weights)
        return
    model = HDBSCAN(**given, store_centers="both").fit(X, sample_weight=weights)
    repeated = HDBSCAN(**given, store_centers="both").fit(rows)
    assert_equal_fits(model, repeated, weights)
    np.testing.assert_allclose(model.centroids_, repeated.centroids_, rtol=1e-12)
    np.testing.assert_allclose(model.medoids_, repeated.medoids_)
    Q = new_points(X, seed, 40)
    for ours, theirs in zip(
        approximate_predict(model, Q), approximate_predict(repeated, Q), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    scores = approximate_predict_scores(model, Q), approximate_predict_scores(repeated, Q)
    np.testing.assert_allclose(*scores, atol=1e-12)
    kept = weights > 0
    first = (np.cumsum(weights) - weights)[kept]
    memberships: Any = all_points_membership_vectors(model)
    expected: Any = all_points_membership_vectors(repeated)
    np.testing.assert_allclose(memberships[kept], expected[first], atol=1e-12)
    assert (memberships[~kept] == 0).all()


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize("seed", range(8))
def test_weights_of_a_graph(seed: int) -> None:
    """Of neighbours; its repetition has an edge of distance 0 between equal vertices."""
    X = blobs(seed, 60)
    weights = np.maximum(weights_of(seed, len(X)), 1)
    distances = squareform(pdist(X))
    limit = np.sort(distances, axis=1)[:, 8].max()
    u, v = np.nonzero(np.triu(distances <= limit, 1))
    copies = np.split(np.arange(weights.sum()), np.cumsum(weights)[:-1])
    ends, heights = [], []
    pairs = [(a, b, distances[a, b]) for a, b in zip(u.tolist(), v.tolist(), strict=True)]
    for a, b, height in pairs + [(k, k, 0.0) for k in range(len(X))]:
        some = [(p, q) for p in copies[a].tolist() for q in copies[b].tolist() if a != b or p < q]
        ends += some
        heights += [height] * len(some)
    starts, stops = np.array(ends).T
    graph = clmst.Graph.from_edges(u, v, distances[u, v], n_vertices=len(X))
    every = clmst.Graph.from_edges(starts, stops, heights, n_vertices=int(weights.sum()))
    given = parameters(seed) | {"ties": "simultaneous", "min_samples": 4}
    model = HDBSCAN(**given).fit(graph, sample_weight=weights)
    assert_equal_fits(model, HDBSCAN(**given).fit(every), weights)
    weights[::3] = 0  # vertices that are left out, with their edges
    kept = np.flatnonzero(weights)
    given["min_samples"] = 1
    number = np.cumsum(weights > 0) - 1
    is_in = (weights[u] > 0) & (weights[v] > 0)
    part = clmst.Graph.from_edges(
        number[u[is_in]], number[v[is_in]], distances[u, v][is_in], n_vertices=kept.size
    )
    ours = HDBSCAN(**given).fit(graph, sample_weight=weights)
    theirs = HDBSCAN(**given).fit(part, sample_weight=weights[kept])
    np.testing.assert_array_equal(ours.labels_[kept], theirs.labels_)


@pytest.mark.parametrize("seed", range(12))
def test_sequential_ties(seed: int) -> None:
    """Equal rows come first of the merges at one height, as in a tree whose edges say so."""
    X = blobs(3 * seed + 1, 80)
    weights = np.maximum(weights_of(seed, len(X)), 1)
    given = parameters(seed)
    model = HDBSCAN(**given).fit(X, sample_weight=weights)
    rows = np.repeat(X, weights, axis=0)
    own = clmst.core_distances(rows, given["min_samples"])[np.cumsum(weights) - weights]
    # The further copies have the lesser numbers, so their edges are first among equal ones.
    n, more = len(X), int(weights.sum()) - len(X)
    of = np.repeat(np.arange(n), weights - 1)
    u = np.concatenate([np.arange(more), more + model.forest_.edges[:, 0]])
    v = np.concatenate([more + of, more + model.forest_.edges[:, 1]])
    tree = clmst.Graph.from_edges(u, v, np.concatenate([own[of], model.forest_.weights]))
    expected = HDBSCAN(**given | {"min_samples": 1}).fit(tree)
    pairs = np.unique(np.stack([model.labels_, expected.labels_[more:]]), axis=1)
    assert pairs.shape[1] == np.unique(model.labels_).size
    np.testing.assert_allclose(model.probabilities_, expected.probabilities_[more:], rtol=1e-12)
    np.testing.assert_allclose(model.outlier_scores_, expected.outlier_scores_[more:], atol=1e-12)
    np.testing.assert_allclose(
        np.sort(model.cluster_persistence_), np.sort(expected.cluster_persistence_), rtol=1e-9
    )


@pytest.mark.parametrize("ties", ["sequential", "simultaneous"])
@pytest.mark.parametrize("seed", range(9))
def test_weights_of_1_change_nothing(seed: int, ties: Any) -> None:
    X = blobs(seed, 120)
    given = parameters(seed) | {"ties": ties}
    plain, model = HDBSCAN(**given).fit(X), HDBSCAN(**given).fit(X, sample_weight=np.ones(120))
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name))
    np.testing.assert_allclose(model.cluster_persistence_, plain.cluster_persistence_, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X + 0.1), plain.predict(X + 0.1))


def test_equal_directions_are_at_distance_0() -> None:
    """Of one row with a weight, as of no two rows, whose cosine may be rounded."""
    X = blobs(4, 60, axes=3) + 30
    given: dict[str, Any] = {"metric": "cosine", "min_samples": 3}
    model = HDBSCAN(4, **given).fit(X, sample_weight=np.full(60, 4))
    assert (model.condensed_tree_["value"][:60] == np.inf).all()
    assert model.labels_.tolist() == list(range(60))


@pytest.mark.parametrize("axes", [3, 40])
def test_large_weights_cost_nothing(axes: int) -> None:
    """A million rows each, of which a fit keeps one; all of them are in one place."""
    X = blobs(4, 90, axes=axes)
    model = HDBSCAN(10**6, min_samples=10**6).fit(X, sample_weight=np.full(90, 10**6))
    assert model.labels_.tolist() == list(range(90))
    assert (model.probabilities_ == 1).all()
    once = HDBSCAN(5 * 10**6, min_samples=4 * 10**6).fit(X, sample_weight=np.full(90, 10**6))
    expected = HDBSCAN(5, min_samples=4).fit(X)
    np.testing.assert_array_equal(once.labels_, expected.labels_)
    np.testing.assert_array_equal(once.forest_.weights, expected.forest_.weights)


def test_rows_with_gaps_and_weights() -> None:
    X = blobs(8, 80)
    weights = weights_of(1, 80)
    gaps = np.insert(X, [2, 30], [[np.nan, 1.0], [np.inf, 1.0]], axis=0)
    model = HDBSCAN(8).fit(gaps, sample_weight=np.insert(weights, [2, 30], [3, 0]))
    whole = HDBSCAN(8).fit(X, sample_weight=weights)
    assert model.labels_[[2, 31]].tolist() == [-3, -2]
    np.testing.assert_array_equal(np.delete(model.labels_, [2, 31]), whole.labels_)
    np.testing.assert_array_equal(
        HDBSCAN(8).fit_predict(X, sample_weight=weights.tolist()), whole.labels_
    )
    points = HDBSCAN(8).fit(clmst.Points(X), sample_weight=weights)
    np.testing.assert_array_equal(points.labels_, whole.labels_)
    forgotten = model.fit(X)
    np.testing.assert_array_equal(forgotten.labels_, HDBSCAN(8).fit(X).labels_)


X = blobs(8, 40)
REFUSED: list[tuple[Any, str]] = [
    (np.ones(39), r"sample_weight has shape \(39,\) and dtype float64 for 40 rows; it must be a n"),
    (np.ones((40, 1)), r"sample_weight has shape \(40, 1\)"),
    (3, r"sample_weight has shape \(\)"),
    (["a"] * 40, "sample_weight"),
    (np.ones(40, bool), "dtype bool for 40 rows"),
    (np.r_[np.ones(7), -1, np.ones(32)], "sample_weight of row 7 is -1.0; a weight is how often"),
    (np.r_[np.ones(7), np.nan, np.ones(32)], "sample_weight of row 7 is nan; a weight is how oft"),
    (np.r_[np.ones(7), np.inf, np.ones(32)], "sample_weight of row 7 is inf; a weight is how oft"),
    (np.r_[np.ones(7), 0.5, np.ones(32)], r"row 7 is 0.5; .* whole number .*multiply fractions"),
    (np.zeros(40, int), "sample_weight is zero for every row; the weight of"),
    (np.full(40, 2**31), "sample_weight has the sum 85899345920; it must be at most"),
    (np.r_[1, np.zeros(39)], r"min_samples \(5\) must be at most .*, and X has 1 sample;"),
]


@pytest.mark.parametrize(("weights", "message"), REFUSED)
def test_one_clear_error(weights: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        HDBSCAN().fit(X, sample_weight=weights)


def test_weights_that_a_graph_does_not_reach() -> None:
    path = clmst.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0])
    HDBSCAN(4).fit(path, sample_weight=[4, 1, 1, 4])
    with pytest.raises(
        InvalidGraphError, match=r"point 2 and .* weights of 4 in all, and min_samp"
    ):
        HDBSCAN(5).fit(path, sample_weight=[4, 1, 1, 2])
    gap = np.array([[np.nan], [1.0]])
    with pytest.raises(InvalidArgumentError, match="0 for each row that is finite; one row at lea"):
        HDBSCAN().fit(gap, sample_weight=[5, 0])
