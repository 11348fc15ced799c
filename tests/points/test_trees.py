"""The trees of a fit as arrays, tables, graphs and pictures: beside the hdbscan package."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.spatial.distance import pdist, squareform

from clmst import InvalidArgumentError, NotFittedError
from clmst.cluster import HDBSCAN
from tests.points.hdbscan_peer import SEEDS, sets
from tests.points.test_hdbscan import assert_same_partition, blobs

TREES = ("condensed_tree_", "single_linkage_tree_", "minimum_spanning_tree_")
X = blobs(8, 80)
MODEL = HDBSCAN(4, min_samples=2).fit(X)


def peer(**given: Any) -> Any:
    """Return hdbscan's fit, of which clmst's `min_samples` is one more."""
    hdbscan = pytest.importorskip("hdbscan")
    how = {"algorithm": "prims_kdtree", "gen_min_span_tree": True, "approx_min_span_tree": False}
    return hdbscan.HDBSCAN(4, min_samples=1, **how, **given).fit(X)


@pytest.mark.parametrize("name", TREES)
def test_tables_are_hdbscans(name: str) -> None:
    """With the same names and dtypes; rows in another order, and clusters with other numbers."""
    pytest.importorskip("pandas")
    ours, theirs = getattr(MODEL, name).to_pandas(), getattr(peer(), name).to_pandas()
    assert list(ours.columns) == list(theirs.columns)
    assert ours.shape == theirs.shape
    for column in ("lambda_val", "child_size", "distance", "size"):
        if column in ours:
            found, expected = np.sort(ours[column]), np.sort(theirs[column])
            np.testing.assert_allclose(found, expected)
    array = getattr(MODEL, name).to_numpy()
    assert type(array) is np.ndarray
    expected_array = getattr(peer(), name).to_numpy()
    assert array.dtype.names == expected_array.dtype.names
    assert array.shape == expected_array.shape


@pytest.mark.parametrize("name", TREES)
def test_graphs_are_hdbscans(name: str) -> None:
    networkx = pytest.importorskip("networkx")
    ours, theirs = getattr(MODEL, name).to_networkx(), getattr(peer(), name).to_networkx()
    assert ours.is_directed() == theirs.is_directed()
    assert ours.number_of_nodes() == theirs.number_of_nodes()
    weights = [
        np.sort([weight for _, _, weight in graph.edges(data="weight")]) for graph in (ours, theirs)
    ]
    np.testing.assert_allclose(weights[0], weights[1])
    if name == "minimum_spanning_tree_":
        assert ours.nodes[3]["data"] == tuple(X[3])
        assert networkx.is_tree(ours)
    else:
        root = next(node for node, degree in ours.in_degree() if degree == 0)
        assert ours.nodes[root]["size"] == 80


def test_arrays_are_used_as_arrays() -> None:
    """Parts and results are ordinary arrays; SciPy takes the linkage matrix."""
    rows = MODEL.condensed_tree_
    assert rows.dtype.names == ("parent", "child", "value", "cluster_size")
    assert type(rows["value"]) is np.ndarray
    assert type(rows[rows["child"] >= 80]) is np.ndarray
    tree = MODEL.single_linkage_tree_
    assert type(tree + 1) is np.ndarray
    assert isinstance(tree.max(), float)
    assert is_valid_linkage(np.asarray(tree))
    assert fcluster(tree, 3, "maxclust").max() == 3
    edges = MODEL.minimum_spanning_tree_
    np.testing.assert_array_equal(edges[:, :2], MODEL.forest_.edges)
    np.testing.assert_array_equal(edges[:, 2], MODEL.forest_.weights)
    copied = edges.to_numpy()
    copied[:] = 0
    assert MODEL.minimum_spanning_tree_[:, 2].max() > 0
    assert repr(edges) == repr(np.asarray(edges))


@pytest.mark.parametrize("seed", SEEDS)
def test_cuts_are_hdbscans(seed: int) -> None:
    points, given = sets(seed)
    hdbscan = pytest.importorskip("hdbscan")
    model = HDBSCAN(given["min_cluster_size"], min_samples=2).fit(points)
    theirs = hdbscan.HDBSCAN(given["min_cluster_size"], min_samples=1).fit(points)
    for height in np.quantile(model.single_linkage_tree_[:, 2], (0.3, 0.8, 0.95)).tolist():
        ours = model.single_linkage_tree_.get_clusters(height * (1 + 1e-9), 6)
        expected = theirs.single_linkage_tree_.get_clusters(height * (1 + 1e-9), 6)
        assert_same_partition(ours, expected)


@pytest.mark.parametrize("name", TREES)
def test_pictures(name: str) -> None:
    """The keywords for looks are taken, and those that are unknown are refused."""
    figure = pytest.importorskip("matplotlib.figure")
    looks: dict[str, dict[str, Any]] = {
        "condensed_tree_": {"select_clusters": True, "selection_palette": ["red"], "cmap": "v"},
        "single_linkage_tree_": {"cmap": "viridis", "colorbar": True},
        "minimum_spanning_tree_": {"edge_cmap": "viridis", "edge_alpha": 0.6, "node_size": 80},
    }
    tree = getattr(MODEL, name)
    axes = tree.plot(axis=figure.Figure().subplots(), **looks[name])
    assert axes.get_title(loc="left") or axes.texts or axes.patches or axes.collections
    again = pickle.loads(pickle.dumps(tree)).plot(axis=figure.Figure().subplots())
    assert type(again) is type(axes)
    with pytest.raises(InvalidArgumentError, match=r"^plot has no keyword 'colour'; it takes axis"):
        tree.plot(axis=figure.Figure().subplots(), colour="red")


@pytest.mark.parametrize("name", [*TREES, "relative_validity_"])
def test_trees_need_a_fit(name: str) -> None:
    with pytest.raises(NotFittedError, match="is not fitted"):
        getattr(HDBSCAN(), name)
    assert not hasattr(HDBSCAN(), name)


def test_trees_are_those_of_the_last_fit() -> None:
    model = HDBSCAN(4).fit(X)
    before = model.single_linkage_tree_
    model.fit(X[:60])
    assert len(model.single_linkage_tree_) == 59
    assert before.get_clusters(1.0).size == 80


def test_trees_of_distances() -> None:
    distances = squareform(pdist(X))
    model = HDBSCAN(4, min_samples=2, metric="precomputed").fit(distances)
    np.testing.assert_allclose(model.minimum_spanning_tree_, MODEL.minimum_spanning_tree_)
    pytest.importorskip("networkx")
    assert model.minimum_spanning_tree_.to_networkx().number_of_nodes() == 80
    figure = pytest.importorskip("matplotlib.figure")
    model.minimum_spanning_tree_.plot(axis=figure.Figure().subplots())


@pytest.mark.parametrize("seed", SEEDS)
def test_relative_validity_is_hdbscans(seed: int) -> None:
    hdbscan = pytest.importorskip("hdbscan")
    points, given = sets(seed)
    ours = HDBSCAN(**given, min_samples=2).fit(points)
    theirs = hdbscan.HDBSCAN(
        **given, min_samples=1, algorithm="prims_kdtree", gen_min_span_tree=True
    ).fit(points)
    assert ours.relative_validity_ == pytest.approx(theirs.relative_validity_, rel=1e-9)


def test_relative_validity_of_few_clusters() -> None:
    """Of none, of one beside noise, and of points at one place."""
    assert HDBSCAN(9).fit(blobs(8, 12)).relative_validity_ == 0
    line = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    one = HDBSCAN(3, min_samples=1, allow_single_cluster=True, cluster_selection_epsilon=2.0)
    # The heaviest edge within is 1, and the separation is twice the edge of 6 to noise.
    assert one.fit(line).relative_validity_ == pytest.approx(4 / 5 * (1 - 1 / 12))
    equal = HDBSCAN(3, allow_single_cluster=True).fit(np.ones((9, 2)))
    assert equal.relative_validity_ == 0
    gaps = np.concatenate([line, [[np.nan]] * 5])
    assert one.fit(gaps).relative_validity_ == pytest.approx(4 / 10 * (1 - 1 / 12))


def test_a_notebook_shows_an_estimator() -> None:
    """What was found, with a dot for each point in the plane, and no code from a repr."""
    assert "HDBSCAN(min_cluster_size=7)" in HDBSCAN(7)._repr_html_()
    shown = MODEL._repr_html_()
    assert shown.count("<circle") == 80
    assert f"<th style='text-align:left'>clusters</th><td>{MODEL.labels_.max() + 1}</td>" in shown
    assert "<svg" not in HDBSCAN(4).fit(blobs(8, 80, axes=3))._repr_html_()
    assert "&lt;script&gt;" in HDBSCAN(metric="<script>")._repr_html_()
    assert HDBSCAN(4).fit(X * 1e300)._repr_html_()
