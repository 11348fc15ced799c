"""Trees by graphs of near points: beside all pairs, in which the graph's edges go first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import clmst
from clmst import Device, Forest, Points
from clmst.cluster import neighbour_forest, single_linkage
from tests.helpers.forests import assert_same_forest
from tests.prove.brute_force import coordinates_of

Array = Any


def nearest(points: Points, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return lists of k of the k + 1 nearest points, and distances that partly are other ones."""
    n = points.n_vertices
    every = np.arange(n)
    distances = points.weights_of(every[:, None], every).astype(float)
    order = np.argsort(distances, axis=1, kind="stable")[:, : k + 1]
    indices = rng.permuted(order, axis=1)[:, :k]
    indices[rng.random(indices.shape) < 0.2] = -1
    lengths = np.take_along_axis(distances, indices, axis=1)
    lengths[rng.random(lengths.shape) < 0.1] *= 2
    return indices, np.where(indices < 0, np.nan, lengths)


def brute(points: Points, indices: Array, distances: Array) -> Forest:
    """Return the tree of all pairs, where edges of the graph come first, by the graph's weights."""
    n, own = points.n_vertices, np.full((points.n_vertices,) * 2, np.inf)
    rows = np.repeat(np.arange(n)[:, None], indices.shape[1], axis=1)
    is_pair = (indices != -1) & (indices != rows)
    ends = (f(rows, indices)[is_pair] for f in (np.minimum, np.maximum))
    np.minimum.at(own, tuple(ends), distances[is_pair])
    u, v = np.triu_indices(n, 1)
    is_listed = own[u, v] < np.inf
    weights = np.where(is_listed, own[u, v], points.weights_of(u, v))
    rank = np.empty(u.size, np.int64)
    rank[np.lexsort((weights, ~is_listed))] = np.arange(u.size)
    tree = clmst.kruskal(clmst.Graph.from_edges(u, v, rank, n_vertices=n))
    return replace(tree, weights=weights[tree.edge_ids])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "rounded-euclidean"])
def test_connected_is_brute_force(any_device: Device, metric: Any) -> None:
    """Ties and duplicates; the graph's weights are its own, and lists leave near points out."""
    rng = np.random.default_rng(len(metric))
    n_joined = 0
    for _ in range(25):
        n, d = int(rng.integers(2, 70)), int(rng.integers(1, 4))
        coordinates = coordinates_of(rng, n, d, np.float64)[1] + (metric == "cosine")
        points = Points(coordinates * (9 if metric == "rounded-euclidean" else 1), metric)
        lists = nearest(points, int(rng.integers(1, 4)), rng)
        forest = neighbour_forest(points, lists, device=any_device)
        assert_same_forest(forest, brute(points, *lists))
        n_joined += forest.stats["graph_components"] > 2
        assert forest.stats["join"] == "connected"
        assert forest.stats["joining"].size == forest.stats["graph_components"] - 1
    assert n_joined > 5


def test_core_distances_count_between_components(any_device: Device) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (80, 2))
    points = Points(X, core_distances=rng.integers(0, 5, 80))
    lists = nearest(points, 2, rng)
    assert_same_forest(neighbour_forest(points, lists, device=any_device), brute(points, *lists))


def test_more_neighbours_than_points(any_device: Device) -> None:
    """The lists name every point, themselves too, and end with none: the tree is exact."""
    X = np.random.default_rng(2).random((6, 2))
    lists = np.full((6, 9), -1)
    lists[:, :6] = np.arange(6)
    exact = clmst.minimum_spanning_forest(Points(X), device=any_device)
    for given in (lists, lists.astype(np.uint64), lists.astype(np.uint32)):
        found = neighbour_forest(X, given, device=any_device)
        assert_same_forest(found, exact)
        assert found.stats["graph_components"] == 1


def test_exact_is_the_tree_of_all_pairs(any_device: Device) -> None:
    X = np.random.default_rng(3).random((300, 2))
    found = neighbour_forest(X, np.arange(300)[::-1, None], join="exact", device=any_device)
    assert_same_forest(found, clmst.minimum_spanning_forest(Points(X), device=any_device))
    assert found.stats["join"] == "exact"


def test_forms_of_other_libraries(any_device: Device) -> None:
    """Pairs in either order, sparse matrices of one direction or both: the same tree."""
    neighbors = pytest.importorskip("sklearn.neighbors")
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.random((40, 2)), rng.random((30, 2)) + 5, rng.random((1, 2)) - 9])
    model = neighbors.NearestNeighbors(n_neighbors=3).fit(X)
    distances, indices = model.kneighbors(X)
    matrix = model.kneighbors_graph(X, mode="distance")
    expected = neighbour_forest(X, (indices, distances), device=any_device)
    assert expected.stats["graph_components"] > 2
    u, v = np.repeat(np.arange(71), 3), indices.ravel()
    graph = clmst.Graph.from_edges(u, v, distances.ravel(), n_vertices=71)
    for given in ((distances, indices), matrix, matrix.maximum(matrix.T).tocoo(), graph):
        found = neighbour_forest(X, given, device=any_device)
        np.testing.assert_array_equal(found.edges, expected.edges)
        np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-14)
    linkage = single_linkage(X, neighbours=(indices, distances), device=any_device)
    assert hierarchy.is_valid_linkage(linkage)
    np.testing.assert_array_equal(linkage[:, 2], np.sort(expected.weights))
    exact = single_linkage(X, neighbours=matrix, join="exact", device=any_device)
    np.testing.assert_array_equal(exact, single_linkage(X, device=any_device))


def test_distances_of_other_metrics(any_device: Device) -> None:
    """The components of the graph are joined by SciPy's distances, and by stored ones."""
    X = np.random.default_rng(5).random((20, 3)) + 0.1
    lists = np.arange(20).reshape(-1, 2)[:, ::-1].reshape(-1, 1)
    expected = single_linkage(X, metric="canberra", neighbours=lists, device=any_device)
    matrix = squareform(pdist(X, "canberra"))
    found = single_linkage(matrix, metric="precomputed", neighbours=lists, device=any_device)
    np.testing.assert_array_equal(found, expected)
    exact = hierarchy.linkage(X, "single", "canberra")
    assert (expected[:, 2] >= exact[:, 2]).all()


@pytest.mark.parametrize("n", [1, 2])
def test_the_fewest_points(any_device: Device, n: int) -> None:
    found = neighbour_forest(np.zeros((n, 2)), np.full((n, 1), -1), device=any_device)
    assert found.weights.tolist() == [0.0] * (n - 1)
