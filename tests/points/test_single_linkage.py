"""Single linkage, beside SciPy's: heights bit for bit, merges where no two distances are equal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import clmst
from clmst import Device, GraphWarning, InvalidArgumentError, InvalidForestError
from clmst.cluster import SingleLinkage, single_linkage


def points(seed: int) -> np.ndarray:
    """Return points on a small grid, with duplicates, or such without equal distances."""
    random = np.random.default_rng(seed)
    n, axes = int(random.integers(2, 40)), int(random.integers(1, 4))
    if seed % 2:
        return random.integers(0, 5, (n, axes)).astype(np.float64)
    return random.random((n, axes))


@pytest.mark.parametrize("seed", range(40))
def test_linkage_is_scipys(any_device: Device, seed: int) -> None:
    """With equal distances the merges may differ, and the clusters at each height may not."""
    X = points(seed)
    ours, scipys = single_linkage(X, device=any_device), hierarchy.linkage(X, "single")
    np.testing.assert_array_equal(ours[:, 2], scipys[:, 2])
    assert hierarchy.is_valid_linkage(ours)
    if seed % 2 == 0:
        np.testing.assert_array_equal(ours, scipys)
    np.testing.assert_array_equal(hierarchy.cophenet(ours), hierarchy.cophenet(scipys))


def test_distances_and_graphs_give_the_tree_of_points(any_device: Device) -> None:
    X = np.random.default_rng(0).random((30, 2))
    expected = single_linkage(X, device=any_device)
    condensed = pdist(X)
    matrix: npt.NDArray[np.float64] = squareform(condensed)
    forest = clmst.minimum_spanning_forest(clmst.Points(X), device=any_device)
    u, v = np.triu_indices(30, 1)
    upper = sparse.coo_array((condensed, (u, v)), shape=(30, 30))
    nearly = matrix + np.tril(np.spacing(matrix))  # directions that differ by rounding
    rows = (X.tolist(), X.astype(object))
    for given in (clmst.Points(X), forest, upper, sparse.csr_array(nearly), *rows):
        np.testing.assert_array_equal(single_linkage(given, device=any_device), expected)
    for given in (condensed, matrix, nearly):
        ours = single_linkage(given, metric="precomputed", device=any_device)
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("metric", ["canberra", "braycurtis", lambda a, b: abs(a - b).sum()])
def test_other_metrics_are_scipys(any_device: Device, metric: Any) -> None:
    X = np.random.default_rng(1).random((25, 4))
    expected = hierarchy.linkage(X, "single", metric)
    np.testing.assert_array_equal(single_linkage(X, metric=metric, device=any_device), expected)


@pytest.mark.parametrize(("power", "metric"), [(1, "manhattan"), (2, None), (np.inf, "chebyshev")])
def test_powers_that_are_computed_on_demand(power: float, metric: Any) -> None:
    """No matrix of all distances: 100,000 points would need 80 GB."""
    X = np.random.default_rng(9).random((100_000, 2))
    found = single_linkage(X, metric="minkowski", metric_params={"p": power})
    np.testing.assert_array_equal(found, single_linkage(X, metric=metric or "minkowski"))


@pytest.mark.parametrize("power", [1.5, 2.3, 3, 12, 70])
def test_powers_are_scipys(any_device: Device, power: float) -> None:
    """To rounding, as powers are not rounded alike. From 64 on, SciPy computes the distances."""
    X = np.random.default_rng(3).random((60, 3))
    given: dict[str, Any] = {"metric": "minkowski", "metric_params": {"p": power}}
    found = single_linkage(X, device=any_device, **given)
    expected = hierarchy.linkage(pdist(X, "minkowski", p=power), "single")
    np.testing.assert_array_equal(found[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    np.testing.assert_allclose(found[:, 2], expected[:, 2], rtol=1e-13)


def test_powers_take_no_matrix(any_device: Device) -> None:
    """All distances of 40,000 points would need 13 GB."""
    X = np.random.default_rng(4).random((40_000, 2))
    given: dict[str, Any] = {"metric": "minkowski", "metric_params": {"p": 3}}
    heights = single_linkage(X, device=any_device, **given)[:, 2]
    by_sums = single_linkage(X, metric="manhattan", device=any_device)[:, 2]
    assert (heights <= by_sums * (1 + 1e-12)).all()  # each distance is at most the sum


def test_a_graph_in_parts_is_joined_on_request(any_device: Device) -> None:
    graph = clmst.Graph.from_edges([0, 2, 4], [1, 3, 5], [3.0, 1.0, 2.0])
    with pytest.raises(InvalidForestError, match="3 trees"):
        single_linkage(graph, device=any_device)
    joined = single_linkage(graph, join_components=True, device=any_device)
    assert joined[:, 2].tolist() == [1, 2, 3, np.inf, np.inf]
    assert joined[-1, 3] == 6
    with pytest.warns(GraphWarning, match="3 components"):
        fitted = SingleLinkage(n_clusters=2, device=any_device).fit(graph)
    assert fitted.n_connected_components_ == 3
    assert fitted.labels_.tolist() == [0, 0, 0, 0, 1, 1]


def test_estimator_as_agglomerative_clustering(any_device: Device) -> None:
    cluster = pytest.importorskip("sklearn.cluster")
    X = np.random.default_rng(2).random((60, 3))
    agglomerative = partial(cluster.AgglomerativeClustering, linkage="single")
    for given in ({"n_clusters": 7}, {"n_clusters": None, "distance_threshold": 0.2}):
        ours = SingleLinkage(**given, device=any_device).fit(X)
        peer = agglomerative(compute_distances=True, **given).fit(X)
        assert ours.n_clusters_ == peer.n_clusters_
        assert (ours.n_leaves_, ours.n_features_in_) == (60, 3)
        np.testing.assert_array_equal(ours.distances_, peer.distances_)
        pairs = np.unique(np.stack([ours.labels_, peer.labels_]), axis=1)
        assert pairs.shape[1] == ours.n_clusters_
        assert not hasattr(ours, "feature_names_in_")


def test_points_that_are_all_equal_and_a_single_one(any_device: Device) -> None:
    assert single_linkage(np.ones((1, 3)), device=any_device).shape == (0, 4)
    assert SingleLinkage(n_clusters=1).fit([[1.0]]).labels_.tolist() == [0]
    assert single_linkage(np.ones((5, 2)), device=any_device)[:, 2].tolist() == [0] * 4


def test_connectivity_restricts_the_pairs(any_device: Device) -> None:
    """A ring of points, cut open where it is the least wide; the input names one direction."""
    angle = np.arange(12) * 0.5
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    chain = sparse.coo_array((np.ones(11), (np.arange(11), np.arange(1, 12))), shape=(12, 12))
    whole, along = (
        SingleLinkage(n_clusters=3, connectivity=one, device=any_device).fit(X)
        for one in (None, lambda _: chain)
    )
    assert whole.distances_[-1] <= along.distances_[-1]
    assert (np.diff(along.labels_) >= 0).all()
    loose = sparse.coo_array(([1.0], ([0], [1])), shape=(12, 12))
    with pytest.warns(GraphWarning, match="11 components"):
        SingleLinkage(n_clusters=3, connectivity=loose, device=any_device).fit(X)


def test_connectivity_in_components_is_completed_as_scikit_learn_does(any_device: Device) -> None:
    """The shortest edges between components are added.

    Heights and clusters equal scikit-learn's.
    """
    cluster = pytest.importorskip("sklearn.cluster")
    neighbors = pytest.importorskip("sklearn.neighbors")
    rng = np.random.default_rng(8)
    X = np.concatenate([rng.random((20, 2)) + at for at in ((0, 0), (3, 0), (1, 4), (9, 9))])
    matrix = neighbors.kneighbors_graph(X, 4)
    given = {"n_clusters": 3, "connectivity": matrix}
    with pytest.warns(GraphWarning, match="4 components, which are joined by the shortest edges"):
        ours = SingleLinkage(**given, device=any_device).fit(X)
    agglomerative = partial(cluster.AgglomerativeClustering, linkage="single")
    with pytest.warns(UserWarning, match="4 > 1"):
        peer = agglomerative(compute_distances=True, **given).fit(X)
    assert ours.n_connected_components_ == peer.n_connected_components_ == 4
    np.testing.assert_allclose(ours.distances_, peer.distances_, rtol=1e-12)
    pairs = np.unique(np.stack([ours.labels_, peer.labels_]), axis=1)
    assert pairs.shape[1] == 3


def test_parameters_by_name() -> None:
    estimator = SingleLinkage(3)
    assert estimator.set_params(n_clusters=4).get_params()["n_clusters"] == 4
    assert repr(estimator) == "SingleLinkage(n_clusters=4)"
    with pytest.raises(InvalidArgumentError, match="no parameter 'k'"):
        estimator.set_params(k=3)
