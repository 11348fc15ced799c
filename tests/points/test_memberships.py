"""Memberships in all clusters: beside the hdbscan package, by definition, and the greatest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

import clmst
from clmst import InvalidArgumentError, InvalidGraphError, NotFittedError
from clmst.cluster import (
    HDBSCAN,
    SingleLinkage,
    all_points_membership_vectors,
    approximate_predict,
    membership_vector,
)
from tests.points.hdbscan_peer import SEEDS, new_points, peer_of, sets, their_labels
from tests.points.test_hdbscan import blobs, parameters

Tree = dict[int, tuple[int, float]]  # of each cluster but the root: its parent, and its birth


def clusters_of(model: HDBSCAN) -> tuple[int, Tree, dict[int, float]]:
    """Return the root of the condensed tree, its other clusters, and the death of each."""
    rows = model.condensed_tree_
    root = int(rows["parent"].min())
    tree = {int(c): (int(p), float(v)) for p, c, v, _ in rows.to_numpy().tolist() if c >= root}
    death = {int(p): float(rows["value"][rows["parent"] == p].max()) for p in set(rows["parent"])}
    return root, tree, death


def around(cluster: int, tree: Tree) -> list[int]:
    """Return a cluster and those that it is in, the root last."""
    found = [cluster]
    while found[-1] in tree:
        found.append(tree[found[-1]][0])
    return found


def joined(cluster: int, chosen: int, tree: Tree, death: dict[int, float]) -> float:
    """Return the density up to which two clusters are one: infinite if one is in the other."""
    ours, theirs = around(cluster, tree), around(chosen, tree)
    if chosen in ours or cluster in theirs:
        return np.inf
    return death[next(one for one in ours if one in theirs)]


def by_definition(
    model: HDBSCAN, apart: list[np.ndarray], cluster: np.ndarray, density: np.ndarray, *, own: bool
) -> np.ndarray:
    """Return memberships, a point at a time.

    `apart` has, for each chosen cluster, the distances of all points to its exemplars.
    """
    _, tree, death = clusters_of(model)
    chosen, found = model.selected_clusters_.tolist(), []
    together = {
        last: [joined(last, one, tree, death) for one in chosen] for last in set(cluster.tolist())
    }
    for point, (last, leaves) in enumerate(zip(cluster.tolist(), density.tolist(), strict=True)):
        heights = np.minimum(together[last], leaves)
        nearest = np.array([one[point].min() for one in apart])
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.where(nearest == nearest.min(), 1.0, nearest.min() / nearest)
            if own:
                ratio = np.where(heights == death[last], 1.0, death[last] / heights)
                parts = np.exp(np.exp(-ratio))
            else:
                scores = np.where(heights >= death[last], np.inf, 1 / (1 - heights / death[last]))
                parts = np.where(scores == scores.max(), 1, np.exp(scores - scores.max())) ** 2
                near = np.sqrt(near)
        weights = near * parts if (near * parts).any() else near
        own_one = [one for one in around(last, tree) if one in chosen]
        nearest_ones = [one for one, h in zip(chosen, heights, strict=True) if h == heights.max()]
        densest = max(death[one] for one in own_one or nearest_ones)
        total = 1.0 if heights.max() >= densest else heights.max() / densest
        found.append(weights / weights.sum() * total)
    return np.array(found)


def places_of(model: HDBSCAN) -> tuple[np.ndarray, np.ndarray]:
    """Return the last cluster of each point, and the density at which it leaves that cluster."""
    rows = model.condensed_tree_
    root = int(rows["parent"].min())
    rows = rows[np.argsort(rows["child"], kind="stable")][:root]
    return rows["parent"], rows["value"]


@pytest.mark.parametrize("seed", range(24))
def test_memberships_follow_their_definition(seed: int) -> None:
    """A third of the sets is on a grid, and some have points at one place."""
    X = blobs(seed, 110)
    if seed % 6 == 0:
        X[:20] = X[0]
    metric = ("euclidean", "manhattan", "canberra", "cosine")[seed % 4]
    model = HDBSCAN(**parameters(seed), metric=metric).fit(X + 30)
    found = all_points_membership_vectors(model)
    assert isinstance(found, np.ndarray)
    assert found.shape == (110, model.labels_.max() + 1)
    if not found.size:
        return
    scipys: Any = {"manhattan": "cityblock"}.get(metric, metric)
    apart = [cdist(X + 30, one, scipys) for one in model.exemplars_]
    expected = by_definition(model, apart, *places_of(model), own=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert found.min() >= 0
    assert found.sum(axis=1).max() <= 1 + 1e-12


@pytest.mark.parametrize("ties", ["sequential", "simultaneous"])
@pytest.mark.parametrize("seed", range(10))
def test_new_points_follow_the_definition(seed: int, ties: Any) -> None:
    X = blobs(seed, 120)
    Q = new_points(X, seed, 80)
    model = HDBSCAN(**parameters(seed), ties=ties).fit(X)
    found = membership_vector(model, Q)
    assert isinstance(found, np.ndarray)
    if not found.size:
        return
    _, _, neighbours = approximate_predict(model, Q, True)
    core = clmst.core_distances(X, parameters(seed)["min_samples"])
    every = cdist(Q, X)
    own = np.sort(every, axis=1)[:, parameters(seed)["min_samples"] - 1]
    mutual = np.maximum(np.maximum(every, core), own[:, None])[np.arange(len(Q)), neighbours]
    last, leaves = places_of(model)
    with np.errstate(divide="ignore"):
        density = np.minimum(1 / mutual, leaves[neighbours])
    apart = [cdist(Q, one) for one in model.exemplars_]
    expected = by_definition(model, apart, last[neighbours], density, own=False)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def normalised(rows: Any) -> Any:
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("min_samples", [3, 6])
@pytest.mark.parametrize("seed", SEEDS)
def test_memberships_are_hdbscans(seed: int, min_samples: int) -> None:
    """On one tree. hdbscan adds 1e-8 to densities, and the other differences are told here.

    Points of no cluster are as near to several clusters, of which hdbscan takes the first, and
    clmst the densest. So clmst's sum is the lesser. So are points that leave their cluster where it
    begins, for which clmst takes that cluster. Of a new point that connects below the birth
    of the cluster of its neighbour, hdbscan takes greater densities than that of the connection.
    """
    hdbscan = pytest.importorskip("hdbscan")
    X, given = sets(seed)
    given["min_samples"] = min_samples
    model = HDBSCAN(**given).fit(X)
    peer = peer_of(X, given, model)
    number = their_labels(model.labels_, peer.labels_)[:-1]
    ours: Any = all_points_membership_vectors(model)
    theirs = hdbscan.all_points_membership_vectors(peer)[:, number]
    np.testing.assert_allclose(normalised(ours), normalised(theirs), rtol=1e-6, atol=1e-12)
    _, tree, _ = clusters_of(model)
    is_in = model.labels_ >= 0
    birth_of = np.array([tree[one][1] for one in model.selected_clusters_.tolist()] + [np.inf])
    is_inside = places_of(model)[1] > birth_of[model.labels_]
    assert is_inside.any()
    np.testing.assert_allclose(ours[is_inside], theirs[is_inside], rtol=1e-6, atol=1e-12)
    assert (ours.sum(axis=1) <= theirs.sum(axis=1) + 1e-9)[~is_in].all()

    Q = new_points(X, seed)
    labels, _, neighbours = approximate_predict(model, Q, True)
    ours, theirs = membership_vector(model, Q), hdbscan.membership_vector(peer, Q)[:, number]
    core = clmst.core_distances(X, min_samples)
    every = cdist(Q, X)
    own = np.sort(every, axis=1)[:, min_samples - 1]
    mutual = np.maximum(np.maximum(every, core), own[:, None])[np.arange(len(Q)), neighbours]
    last = places_of(model)[0][neighbours].tolist()
    birth = np.array([tree[one][1] if one in tree else 0.0 for one in last])
    is_dense = 1 / mutual >= birth
    assert is_dense.mean() > 0.5
    np.testing.assert_allclose(
        normalised(ours[is_dense]), normalised(theirs[is_dense]), rtol=1e-4, atol=1e-6
    )
    is_in = is_dense & (labels >= 0) & (1 / mutual > birth_of[labels])
    np.testing.assert_allclose(ours[is_in], theirs[is_in], rtol=1e-4, atol=1e-6)


METRICS: list[tuple[str, float | None]] = [
    ("euclidean", None), ("manhattan", None), ("minkowski", 3), ("minkowski", 1.7),
    ("chebyshev", None), ("cosine", None), ("canberra", None),
]  # fmt: skip
SETS: list[tuple[str, float | None, int, float]] = [
    *((metric, p, axes, 1.0) for metric, p in METRICS for axes in (2, 5)),
    ("euclidean", None, 1, 1.0), ("manhattan", None, 1, 1.0),
    ("euclidean", None, 2, 1e-155), ("euclidean", None, 2, 1e160), ("manhattan", None, 3, 1e300),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "p", "axes", "scale"), SETS)
def test_memberships_do_not_depend_on_the_points_beside(
    metric: str, p: float | None, axes: int, scale: float
) -> None:
    """Many points are compared with some exemplars of each cluster, and few points with all.

    In two dimensions the points are on a grid, so that several exemplars are equally near.
    """
    rng = np.random.default_rng(axes)
    middles = rng.uniform(20, 60, (30, axes))
    X = middles[rng.integers(0, 30, 1200)] + rng.normal(scale=0.7, size=(1200, axes))
    Q = np.concatenate([X[:200], rng.uniform(15, 65, (300, axes)), X[200:400] + 0.1])
    if axes == 2:
        X, Q = np.round(X, 1), np.round(Q, 1)
    X, Q = X * scale, Q * scale
    model = HDBSCAN(12, min_samples=3, metric=metric, p=p).fit(X)
    assert model.labels_.max() > 1
    together = membership_vector(model, Q)
    for first in range(0, len(Q), 70):
        some = Q[first : first + 5]
        np.testing.assert_array_equal(together[first : first + 5], membership_vector(model, some))


@pytest.mark.parametrize("top_k", [1, 2, 5])
def test_the_greatest_are_those_of_all(top_k: int) -> None:
    """Of many points, so that they are computed in several blocks."""
    X = np.concatenate([blobs(seed, 1500, axes=3) + 40 * seed for seed in (1, 2, 4, 5, 7)])
    model = HDBSCAN(15, min_samples=4, cluster_selection_method="leaf").fit(X)
    for call in (all_points_membership_vectors, lambda m, **k: membership_vector(m, X[:300], **k)):
        every: Any = call(model)
        labels, greatest = call(model, top_k=top_k)
        assert labels.shape == greatest.shape == (len(every), top_k)
        np.testing.assert_array_equal(greatest, -np.sort(-every, axis=1)[:, :top_k])
        np.testing.assert_array_equal(greatest, np.take_along_axis(every, labels, axis=1))
        expected = np.argsort(-every, axis=1, kind="stable")[:, :top_k]
        np.testing.assert_array_equal(labels, expected)


def test_equal_memberships_are_in_the_order_of_labels() -> None:
    """A point in the middle of four equal groups."""
    corners = np.array([[0, 0], [0, 12], [12, 0], [12, 12]])
    X = (corners[:, None] + [[0, 0], [0, 1], [1, 0], [1, 1]]).reshape(-1, 2).astype(float)
    model = HDBSCAN(3, min_samples=1, ties="simultaneous").fit(X)
    labels, greatest = membership_vector(model, [[6.5, 6.5], [0, 0]], top_k=3)
    assert labels[0].tolist() == [0, 1, 2]
    assert greatest[0, 0] > greatest[0, 1] == greatest[0, 2]
    assert labels[1, 0] == 0
    assert greatest[1, 0] == pytest.approx(1)


def test_points_at_one_place() -> None:
    """Densities and distances of 0 and infinity give no NaN."""
    X = np.repeat([[0.0, 0.0], [9.0, 9.0], [30.0, 0.0]], 8, axis=0)
    model = HDBSCAN(4, min_samples=3).fit(X)
    found: Any = all_points_membership_vectors(model)
    assert found.tolist() == np.repeat(np.eye(3), 8, axis=0).tolist()
    new: Any = membership_vector(model, [[0, 0], [9, 9], [4, 4.5], [1e6, 0]])
    assert new[:2].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert np.isfinite(new).all()
    one = HDBSCAN(3, allow_single_cluster=True).fit(np.ones((9, 2)))
    assert np.unique(all_points_membership_vectors(one)).tolist() == [1]


def test_rows_with_gaps() -> None:
    X = blobs(8, 80)
    gaps = np.insert(X, [2, 30], [[np.nan, 1.0], [np.inf, 1.0]], axis=0)
    model, whole = HDBSCAN().fit(gaps), HDBSCAN().fit(X)
    for call in (all_points_membership_vectors, lambda m, **k: membership_vector(m, gaps, **k)):
        found: Any = call(model)
        assert np.isnan(found[2]).all()
        assert (found[31] == 0).all()
        labels, greatest = call(model, top_k=1)
        assert labels[[2, 31], 0].tolist() == [-1, -1]
        np.testing.assert_array_equal(greatest[[2, 31], 0], [np.nan, 0])
    ours: Any = all_points_membership_vectors(model)
    np.testing.assert_array_equal(
        np.delete(ours, [2, 31], axis=0), all_points_membership_vectors(whole)
    )


def test_a_fit_without_clusters() -> None:
    model = HDBSCAN(9).fit(blobs(8, 12))
    assert model.labels_.max() == -1
    found: Any = all_points_membership_vectors(model)
    assert found.shape == (12, 0)
    new: Any = membership_vector(model, [[0, 0]])
    assert new.shape == (1, 0)


FITTED = HDBSCAN(4).fit(blobs(4, 60))
BY_DISTANCES = HDBSCAN(4, metric="precomputed").fit(squareform(pdist(blobs(4, 60))))
COUNT = int(FITTED.labels_.max()) + 1
wrong: Any = "1"
CALLS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (HDBSCAN(7), {}, NotFittedError, r"^HDBSCAN\(min_cluster_size=7\) is not fitted; fit must"),
    (BY_DISTANCES, {}, NotFittedError, "was fitted with distances; memberships need a fit with po"),
    (SingleLinkage(), {}, InvalidArgumentError, "clusterer is .*; it must be a HDBSCAN"),
    (FITTED, {"top_k": COUNT + 1}, InvalidArgumentError, f"top_k is {COUNT + 1}, and the fit has "
     f"{COUNT} clusters; it must be at most the number of clusters"),
    (FITTED, {"top_k": 0}, InvalidArgumentError, "top_k is 0; it must be"),
    (FITTED, {"top_k": True}, InvalidArgumentError, "top_k is True; it must be"),
    (FITTED, {"top_k": 1.5}, InvalidArgumentError, "top_k is 1.5; it must be"),
    (HDBSCAN(9).fit(blobs(8, 12)), {"top_k": 1}, InvalidArgumentError, "the fit has 0 clusters"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "given", "error", "message"), CALLS)
def test_one_clear_error(
    model: Any, given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        all_points_membership_vectors(model, **given)
    with pytest.raises(error, match=message):
        membership_vector(model, [[0, 0]], **given)


def test_new_points_must_be_like_those_of_the_fit() -> None:
    for points in ([[0, 0, 0]], [[0]], np.zeros((0, 2))):
        with pytest.raises(InvalidGraphError, match=r"it must be \(m, 2\)"):
            membership_vector(FITTED, points)
