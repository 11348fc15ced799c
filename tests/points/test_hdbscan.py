"""HDBSCAN: beside scikit-learn's own choice of clusters on the same tree, and of its inputs."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform

import clmst
from clmst import Device, GraphWarning
from clmst.cluster import (
    HDBSCAN,
    SingleLinkage,
    approximate_predict,
    approximate_predict_scores,
    neighbour_forest,
    single_linkage,
    validity_index,
)
from tests.helpers.bounds import bounds


def blobs(seed: int, n: int = 0, axes: int = 2) -> np.ndarray:
    """Return points around some centres.

    A third of them are on a grid, where distances are equal.
    """
    random = np.random.default_rng(seed)
    n = n or int(random.integers(6, 200))
    middles = random.random((int(random.integers(1, 6)), axes)) * 20
    chosen = middles[random.integers(0, len(middles), n)]
    points: np.ndarray = chosen + random.normal(size=(n, axes)) * (0.1 + 2 * random.random())
    return np.round(points) if seed % 3 == 0 else points


def parameters(seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "min_cluster_size": int(random.integers(2, 12)),
        "min_samples": int(random.integers(1, 5)),
        "cluster_selection_method": ("eom", "leaf")[seed % 2],
        "allow_single_cluster": seed % 5 == 0,
        "max_cluster_size": 50 if seed % 7 == 0 else None,
    }


class Shared:
    """An object that gives its numbers by `__dlpack__` alone, as tensors of other libraries do."""

    def __init__(self, array: np.ndarray) -> None:
        self._array, self.shape = array, array.shape

    def __dlpack__(self, **given: Any) -> Any:
        return self._array.__dlpack__(**given)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class Exported:
    """A table that is known by what it exports alone, as a relation of DuckDB is."""

    def __init__(self, table: Any) -> None:
        self._table, self.columns, self.shape = table, table.column_names, table.shape

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def arrow_table(X: np.ndarray) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({f"x{number}": column for number, column in enumerate(X.T)})


# How other libraries keep points.
FRAMES: dict[str, Callable[[np.ndarray], Any]] = {
    "pandas": lambda X: pytest.importorskip("pandas").DataFrame(X).add_prefix("x"),
    "polars": lambda X: pytest.importorskip("polars").DataFrame(X),
    "arrow": arrow_table,
    "exported": lambda X: Exported(arrow_table(X)),
    "torch": lambda X: pytest.importorskip("torch").from_numpy(X),
    "dlpack": Shared,
    "list": np.ndarray.tolist,
}


def assert_same_partition(ours: np.ndarray, peers: np.ndarray) -> None:
    np.testing.assert_array_equal(ours == -1, peers == -1)
    pairs = np.unique(np.stack([ours, peers]), axis=1)
    assert pairs.shape[1] == np.unique(ours).size == np.unique(peers).size


@pytest.mark.parametrize("seed", range(60))
def test_choice_is_scikit_learns_on_the_same_tree(any_device: Device, seed: int) -> None:
    """Its own tree breaks ties otherwise; so its clusters of our tree are compared."""
    tree = pytest.importorskip("sklearn.cluster._hdbscan._tree")
    linkage = pytest.importorskip("sklearn.cluster._hdbscan._linkage")
    given = parameters(seed)
    model = HDBSCAN(**given, device=any_device).fit(blobs(seed))
    rows = np.empty(len(blobs(seed)) - 1, linkage.HIERARCHY_dtype)
    for name, column in zip(rows.dtype.names or (), model.forest_.linkage().T, strict=True):
        rows[name] = column
    labels, strengths = tree.tree_to_labels(
        rows, given["min_cluster_size"], given["cluster_selection_method"],
        given["allow_single_cluster"], 0.0, given["max_cluster_size"],
    )  # fmt: skip
    assert_same_partition(model.labels_, labels)
    np.testing.assert_allclose(model.probabilities_, strengths, rtol=1e-12)
    theirs = np.sort(tree._condense_tree(rows, given["min_cluster_size"]), order="child")
    ours = model.condensed_tree_
    assert ours.dtype.names == theirs.dtype.names
    n_points = rows.size + 1
    for field in ("value", "cluster_size"):
        np.testing.assert_allclose(ours[field][:n_points], theirs[field][:n_points])
        np.testing.assert_allclose(
            np.sort(ours[field][n_points:]), np.sort(theirs[field][n_points:])
        )


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "chebyshev", "canberra", "braycurtis"]
)
@pytest.mark.parametrize("seed", [1, 4])
def test_labels_are_scikit_learns(any_device: Device, seed: int, metric: str) -> None:
    """Without equal distances: every point is dense by itself, so no two weights are equal."""
    cluster = pytest.importorskip("sklearn.cluster")
    X = blobs(seed, 150, axes=4)
    if metric == "braycurtis":  # scikit-learn's differs from SciPy's if coordinates are negative
        X = np.abs(X)
    given: dict[str, Any] = {"min_samples": 1, "min_cluster_size": 4, "metric": metric}
    given["store_centers"] = "both"
    ours = HDBSCAN(**given, device=any_device).fit(X)
    theirs = cluster.HDBSCAN(**given, copy=True).fit(X)
    assert_same_partition(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_)
    order = np.unique(ours.labels_[ours.labels_ >= 0], return_index=True)[1]
    peer = theirs.labels_[ours.labels_ >= 0][order]
    np.testing.assert_allclose(ours.centroids_, theirs.centroids_[peer])
    np.testing.assert_allclose(ours.medoids_, theirs.medoids_[peer])
    first = [int(np.flatnonzero(ours.labels_ == k)[0]) for k in range(ours.labels_.max() + 1)]
    assert first == sorted(first)


@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
@pytest.mark.parametrize("seed", range(4))
def test_labels_of_bits_are_scikit_learns(any_device: Device, seed: int, metric: str) -> None:
    """Groups of bits, of which each point has its own noise; many distances are equal."""
    cluster = pytest.importorskip("sklearn.cluster")
    rng = np.random.default_rng(seed)
    X = (rng.random((5, 90)) < 0.4)[np.arange(200) % 5] ^ (rng.random((200, 90)) < 0.03)
    given: dict[str, Any] = {"min_samples": 4, "min_cluster_size": 10, "metric": metric}
    ours = HDBSCAN(**given, device=any_device).fit(X)
    theirs = cluster.HDBSCAN(**given, copy=True).fit(X.astype(float))
    assert_same_partition(ours.labels_, theirs.labels_)
    assert ours.labels_.max() == 4


def test_distances_below_0_by_rounding_are_0(any_device: Device) -> None:
    """As one minus a cosine of equal rows is; those further below are refused elsewhere."""
    X = blobs(2, 60, axes=5)
    X = np.repeat(X / np.linalg.norm(X, axis=1)[:, None], 2, axis=0)

    def distance(one: np.ndarray, other: np.ndarray) -> float:
        return float(1 - one @ other)

    given = np.array([[distance(one, other) for other in X] for one in X])
    assert -1e-14 < given.min() < 0, "rounding gives no negative distance here"
    model = HDBSCAN(min_cluster_size=4, metric=distance, device=any_device).fit(X)
    np.fill_diagonal(given, 0)
    plain = HDBSCAN(min_cluster_size=4, metric="precomputed", device=any_device)
    assert np.array_equal(model.labels_, plain.fit(np.maximum(given, 0)).labels_)


def test_epsilon_joins_clusters_that_are_near(any_device: Device) -> None:
    """Four groups in two pairs: groups of a pair are 1 apart, the pairs 10."""
    X = np.concatenate([at + np.arange(6)[:, None] / 100 for at in (0.0, 1.0, 11.0, 12.0)])
    for epsilon, expected in ((0.0, 4), (0.5, 4), (2.0, 2)):
        model = HDBSCAN(
            5, min_samples=1, cluster_selection_epsilon=epsilon, device=any_device,
            cluster_selection_method="leaf",
        )  # fmt: skip
        labels = model.fit_predict(X)
        assert labels.max() + 1 == expected
        np.testing.assert_array_equal(labels, np.repeat(np.arange(expected), 24 // expected))


@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_the_forest_is_that_of_points_with_core_distances(any_device: Device, alpha: float) -> None:
    """Of points that a hierarchy takes: its order serves core distances and the tree."""
    X = blobs(3, 2100) + blobs(4, 2100) / 1000
    model = HDBSCAN(min_samples=4, alpha=alpha, device=any_device).fit(X)
    core = clmst.core_distances(X, 4, device=any_device)
    graph = clmst.Points(X, core_distances=alpha * core)
    expected = clmst.minimum_spanning_forest(graph, device=any_device)
    np.testing.assert_array_equal(model.forest_.edges, expected.edges)
    np.testing.assert_array_equal(model.forest_.weights, expected.weights / alpha)


def test_every_door_gives_the_same_clusters(any_device: Device) -> None:
    X = blobs(8, 90)
    expected = HDBSCAN(device=any_device).fit(X)
    distances = squareform(pdist(X))
    u, v = np.triu_indices(90, 1)
    graph = clmst.Graph.from_edges(u, v, distances[u, v])
    stored: Any = sparse.csr_array(distances)
    rows: Any = sparse.csr_array(X)
    doors: list[tuple[Any, dict[str, Any]]] = [
        (clmst.Points(X), {}),
        (graph, {}),
        (rows, {}),
        (X.tolist(), {"metric": "l2"}),
    ]
    doors += [(one, {"metric": "precomputed"}) for one in (distances, stored, graph)]
    for given, more in doors:
        model = HDBSCAN(**more, device=any_device).fit(given)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_allclose(model.probabilities_, expected.probabilities_)


def test_neighbours_of_any_library(any_device: Device) -> None:
    """A directed graph of nearest neighbours, with and without the points themselves."""
    neighbors = pytest.importorskip("sklearn.neighbors")
    X = blobs(10, 120)
    near = neighbors.kneighbors_graph(X, 60, mode="distance")
    with_loops = neighbors.kneighbors_graph(X, 60, mode="distance", include_self=True)
    expected = HDBSCAN(device=any_device).fit(X)
    for graph in (near, with_loops):
        model = HDBSCAN(metric="precomputed", device=any_device).fit(graph)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
    few = neighbors.kneighbors_graph(np.concatenate([X, X + 1000]), 6, mode="distance")
    with pytest.warns(GraphWarning, match="components"):
        model = HDBSCAN(metric="precomputed", device=any_device).fit(few)
    assert model.n_connected_components_ > 1
    assert not set(model.labels_[:120].tolist()) & set(model.labels_[120:].tolist()) - {-1}


def test_rows_that_are_not_finite(any_device: Device) -> None:
    X = blobs(11, 60)
    gaps = np.insert(X, [3, 20, 40], [[np.nan, 0], [np.inf, 1], [np.inf, np.nan]], axis=0)
    model, whole = (HDBSCAN(device=any_device).fit(one) for one in (gaps, X))
    at = np.array([3, 21, 42])
    assert model.labels_[at].tolist() == [-3, -2, -3]
    np.testing.assert_array_equal(model.probabilities_[at], [np.nan, 0, np.nan])
    np.testing.assert_array_equal(np.delete(model.labels_, at), whole.labels_)
    cut, whole_cut = (one.dbscan_clustering(1.5) for one in (model, whole))
    assert cut[at].tolist() == [-3, -2, -3]
    np.testing.assert_array_equal(np.delete(cut, at), whole_cut)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_tree_of_few_points_at_once(device: Device, axes: int, metric: str) -> None:
    """With work-groups there are three launches. The clusters are the same by every other way."""
    if device.policy.work_group_size == 1:
        pytest.skip("one work-item finds such a tree by Prim's algorithm")
    X = blobs(3 + axes, n=500, axes=axes) + 30
    for alpha in (1.0, 0.7):
        model = HDBSCAN(4, metric=metric, alpha=alpha, device=device).fit(X)
        assert model.forest_.stats["launches"] == 3
        with bounds(dense_at_once=0):
            apart = HDBSCAN(4, metric=metric, alpha=alpha, device=device).fit(X)
        assert apart.forest_.stats["launches"] > 3
        assert model.forest_ == apart.forest_
        np.testing.assert_array_equal(model.forest_.edge_ids, apart.forest_.edge_ids)
        np.testing.assert_array_equal(model.condensed_tree_, apart.condensed_tree_)
        np.testing.assert_array_equal(model.probabilities_, apart.probabilities_)


def test_alpha_divides_distances(any_device: Device) -> None:
    """And no core distances, at every door; of points as scikit-learn does it by its trees."""
    X = blobs(14, 70)
    given: dict[str, Any] = {"alpha": 1.3, "min_samples": 4, "device": any_device}
    expected = HDBSCAN(**given).fit(X)
    D = squareform(pdist(X))
    core = np.sort(D, axis=1)[:, 3]
    mutual = np.maximum(np.maximum(D / 1.3, core), core[:, None])
    heights = clmst.kruskal(clmst.DenseGraph(mutual)).weights
    np.testing.assert_allclose(np.sort(expected.forest_.weights), np.sort(heights))
    for door in (D, sparse.csr_array(D), clmst.DenseGraph(D)):
        model = HDBSCAN(**given, metric="precomputed").fit(door)
        np.testing.assert_allclose(np.sort(model.forest_.weights), np.sort(heights))
        np.testing.assert_array_equal(model.labels_, expected.labels_)
    cluster = pytest.importorskip("sklearn.cluster")
    theirs = cluster.HDBSCAN(alpha=1.3, min_samples=4, copy=True).fit(X)
    np.testing.assert_allclose(np.sort(theirs._single_linkage_tree_["value"]), np.sort(heights))


def test_points_that_are_all_equal_or_few(any_device: Device) -> None:
    equal = HDBSCAN(allow_single_cluster=True, device=any_device).fit(np.ones((20, 3)))
    assert set(equal.labels_.tolist()) == {0}
    assert equal.probabilities_.tolist() == [1] * 20
    assert HDBSCAN(min_samples=1, device=any_device).fit_predict([[1.0, 2.0]]).tolist() == [-1]
    assert set(HDBSCAN(min_samples=1).fit_predict(np.eye(3)).tolist()) == {-1}


def test_names_of_columns(any_device: Device) -> None:
    pandas = pytest.importorskip("pandas")
    X = blobs(17, 40)
    model = HDBSCAN(device=any_device).fit(pandas.DataFrame(X, columns=["x", "y"]))
    assert model.feature_names_in_.tolist() == ["x", "y"]
    np.testing.assert_array_equal(model.labels_, HDBSCAN(device=any_device).fit(X).labels_)
    assert not hasattr(model.fit(X), "feature_names_in_")


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_points(kind: str) -> None:
    """Square and symmetric ones, too, which as graphs would be other clusters."""
    wanted = blobs(17, 12, axes=12)
    X = wanted + wanted.T
    frame = FRAMES[kind](X)
    expected = HDBSCAN(3).fit(X)
    model = HDBSCAN(3).fit(frame)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.forest_.weights, expected.forest_.weights)
    assert model.n_features_in_ == 12
    has_names = kind in ("pandas", "polars", "arrow", "exported")
    assert hasattr(model, "feature_names_in_") == has_names
    one = SingleLinkage(3).fit(frame)
    np.testing.assert_array_equal(one.labels_, SingleLinkage(3).fit(X).labels_)
    assert hasattr(one, "feature_names_in_") == has_names
    np.testing.assert_array_equal(single_linkage(frame), single_linkage(X))
    np.testing.assert_array_equal(clmst.core_distances(frame, 3), clmst.core_distances(X, 3))
    np.testing.assert_array_equal(approximate_predict(model, frame)[0], model.labels_)
    scores = approximate_predict_scores(model, frame)
    np.testing.assert_array_equal(scores, approximate_predict_scores(expected, X))
    labels = np.arange(12) % 3
    assert validity_index(frame, labels) == validity_index(X, labels)
    near = np.roll(np.arange(12), 1)[:, None]
    assert neighbour_forest(frame, near) == neighbour_forest(X, near)
    assert clmst.minimum_spanning_forest(clmst.Points(frame)) == one.forest_
    np.fill_diagonal(D := np.abs(X), 0)
    as_distances: Any = {"metric": "precomputed"}
    np.testing.assert_array_equal(
        HDBSCAN(3, **as_distances).fit(FRAMES[kind](D)).labels_,
        HDBSCAN(3, **as_distances).fit(D).labels_,
    )


def test_frames_with_gaps() -> None:
    """As pandas has them: NaN, and NA of its own types."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs(17, 40)).mask(np.arange(80).reshape(40, 2) == 7)
    for given in (frame, frame.convert_dtypes(), frame.astype(object)):
        assert np.flatnonzero(HDBSCAN().fit_predict(given) == -3).tolist() == [3]


def test_degrees_that_may_be_radians() -> None:
    """A warning says what they are taken for; scikit-learn takes radians."""
    degrees = 60 + blobs(16, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = HDBSCAN(metric="haversine").fit_predict(degrees)
        HDBSCAN().fit(clmst.Points(np.radians(degrees), "haversine"))
    for call in (HDBSCAN(metric="haversine").fit, SingleLinkage(metric="haversine").fit):
        with pytest.warns(GraphWarning, match="within plus or minus 2 pi; they are taken as deg"):
            call(np.radians(degrees))
    assert expected.max() >= 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distances_that_rounding_brings_below_0(dtype: Any) -> None:
    """As one minus the similarity of a row with itself; the caller's matrix stays as it is."""
    X = np.random.default_rng(5).normal(size=(50, 7)).astype(dtype)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    D = 1 - X @ X.T
    D = (D + D.T) / 2
    np.fill_diagonal(D, -3 * np.finfo(dtype).eps)
    given = D.copy()
    found = HDBSCAN(4, metric="precomputed").fit(D)
    expected = HDBSCAN(4, metric="precomputed").fit(np.maximum(D, 0))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(D, given)
    np.fill_diagonal(D, -1e-3)
    with pytest.raises(clmst.InvalidGraphError, match=r"cell \(0, 0\) has the weight -0.001"):
        HDBSCAN(4, metric="precomputed").fit(D)


def test_an_estimator_on_a_device_is_copied(any_device: Device) -> None:
    """Its copy has the same device; a pickled one names it, as an error says."""
    model = HDBSCAN(4, device=any_device).fit(blobs(17, 40))
    for copied in (copy.copy(model), copy.deepcopy(model)):
        assert copied.device is any_device
        np.testing.assert_array_equal(copied.fit_predict(blobs(17, 40)), model.labels_)
    with pytest.raises(clmst.InvalidArgumentError, match=r"cannot be pickled; .* give its name"):
        pickle.dumps(model)
    base = pytest.importorskip("sklearn.base")
    assert base.clone(model).device is any_device


def test_medoids_take_the_scales_of_all_points() -> None:
    """They change as the clusters do. The points of one cluster would give another row."""
    random = np.random.default_rng(3)
    shapes = random.normal(size=(2, 60, 2)) * [[[1.0, 0.01]], [[0.02, 1.0]]]
    X = np.concatenate([shapes[0], shapes[1] + 30])
    model = HDBSCAN(20, metric="seuclidean", store_centers="medoid").fit(X)
    assert model.labels_.max() == 1
    for label, medoid in enumerate(model.medoids_):
        own, weights = X[model.labels_ == label], model.probabilities_[model.labels_ == label]
        sums = cdist(own, own, "seuclidean", V=X.var(axis=0, ddof=1)) @ weights
        np.testing.assert_array_equal(medoid, own[sums.argmin()])
