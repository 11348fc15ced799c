"""What users of other tools asked for; each test has the name of its threads.

More of them stand beside what they are about: ``grep -rn "def test_[a-z_]*_[0-9]" tests``. Real
graphs on which trees failed elsewhere (cugraph 4458) are in ``tests/test_shared_data.py``. A graph
of 100 vertices takes as long as with SciPy (cuml 6117): ``docs/experiments.md`` has the times.
HDBSCAN beside scikit-learn's (scikit-learn 31503): ``docs/clustering.md`` has them.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.csgraph import connected_components

import clmst
from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.cluster import HDBSCAN
from clmst.points.condensed import choose_clusters, condense, label_points
from clmst.points.dendrogram import dendrogram_of
from clmst.runtime.device import Device
from tests.matrices import matrix_of_density


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_scipy_14995_hdbscan_729_euclidean_trees_are_minimal(any_device: Device, axes: int) -> None:
    """Points twice at one place, and many equal distances."""
    places = np.random.default_rng(axes).integers(0, 12, (150, axes)).astype(np.float64)
    forest = clmst.minimum_spanning_forest(clmst.Points(places), device=any_device)
    u, v = np.triu_indices(150, 1)
    apart = np.sqrt(((places[u] - places[v]) ** 2).sum(axis=1))
    right = clmst.kruskal(clmst.Graph.from_edges(u, v, apart, n_vertices=150))
    np.testing.assert_array_equal(forest.edges, right.edges)


def test_hdbscan_317_188_510_the_tree_of_precomputed_distances(any_device: Device) -> None:
    random = np.random.default_rng(6)
    half = np.triu(random.integers(1, 30, (80, 80)).astype(np.float32), 1)
    distances = half + half.T
    forest = clmst.minimum_spanning_forest(distances, device=any_device)
    u, v = np.triu_indices(80, 1)
    right = clmst.kruskal(clmst.Graph.from_edges(u, v, half[u, v], n_vertices=80))
    np.testing.assert_array_equal(forest.edges, right.edges)
    np.testing.assert_array_equal(forest.weights, right.weights)


def test_geaflow_465_grape_57_changes_of_costs_on_one_topology(any_device: Device) -> None:
    graph = clmst.generate("road", n=500, seed=3)
    u, v, costs, _ = graph.edges()
    random = np.random.default_rng(8)
    with clmst.RepeatedSolver(graph, devices=any_device) as solver:
        solver.solve(costs)
        for _ in range(3):
            changed = random.choice(costs.size, 20, replace=False)
            costs = costs.copy()
            costs[changed] = random.integers(1, 99, 20)
            forest = solver.update(changed, costs[changed])
            right = clmst.kruskal(clmst.Graph.from_edges(u, v, costs, n_vertices=500))
            np.testing.assert_array_equal(forest.edges, right.edges)


def test_hdbscan_622_sparse_input_in_bounded_memory(any_device: Device) -> None:
    """A graph whose edges take ten times the memory that a solve may use."""
    random = np.random.default_rng(11)
    u, v = random.integers(0, 300, (2, 150_000), dtype=np.uint32)
    graph = clmst.Graph.from_edges(u, v, random.random(150_000, dtype=np.float32))
    limit = (graph.indices.nbytes + graph.weights.nbytes + graph.indptr.nbytes) // 10
    forest = clmst.stream_minimum_spanning_forest(graph, device=any_device, memory_limit=limit)
    assert forest == clmst.kruskal(graph)
    assert forest.stats["reductions"] > 1


def test_hdbscan_521_dedupe_819_gunrock_123_larger_than_memory(
    any_device: Device, tmp_path: Path
) -> None:
    """Edges in files that are never in memory as a whole."""
    random = np.random.default_rng(12)
    edges = np.zeros(60_000, [("source", "u4"), ("target", "u4"), ("weight", "i2")])
    for name, most in (("source", 200), ("target", 200), ("weight", 50)):
        edges[name] = random.integers(0, most, edges.size)
    for k, piece in enumerate(np.array_split(edges, 3)):
        np.save(tmp_path / f"{k}.npy", piece)
    forest = clmst.stream_minimum_spanning_forest(
        tmp_path, 200, device=any_device, memory_limit=100_000
    )
    u, v, w = (np.ascontiguousarray(edges[name]) for name in ("source", "target", "weight"))
    assert forest == clmst.kruskal(clmst.Graph.from_edges(u, v, w, n_vertices=200))
    assert forest.stats["reductions"] > 1


@pytest.mark.usefixtures("in_steps")
def test_cuml_4845_5357_cuvs_856_a_device_that_is_too_small(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forest comes all the same, and the caller is told."""
    random = np.random.default_rng(13)
    u, v = random.integers(0, 400, (2, 9000))
    graph = clmst.Graph.from_edges(u, v, random.integers(0, 99, 9000))
    upload = clmst.DeviceGraph.upload

    def small(graph: clmst.Graph, *arguments: Any, **named: Any) -> clmst.DeviceGraph:
        if graph.n_slots > 2000:
            raise clmst.OutOfDeviceMemoryError("the device is full")
        return upload(graph, *arguments, **named)

    monkeypatch.setattr(clmst.DeviceGraph, "upload", small)
    monkeypatch.setattr("clmst.scale.fallback.LEAST_SHARE", 0.0)
    with pytest.warns(clmst.StreamedWarning, match="the device is full"):
        forest = clmst.minimum_spanning_forest(graph, device=any_device)
    assert forest == clmst.kruskal(graph)


@pytest.mark.parametrize("n_parts", [1, 5, 16])
def test_graphframes_453_226_411_339_components_are_right_under_every_plan(n_parts: int) -> None:
    """Partitions, their order and the tree of merges are the engine's; components are not."""
    dask = pytest.importorskip("dask")
    random = np.random.default_rng(14)
    u, v = random.integers(0, 500, (2, 450))
    costs = random.integers(0, 5, 450)
    right = clmst.kruskal(clmst.Graph.from_edges(u, v, costs, n_vertices=500))
    parts = np.array_split(np.arange(450), n_parts)
    for order in (range(n_parts), random.permutation(n_parts)):
        delayed = [dask.delayed((u[p], v[p], costs[p], p)) for p in (parts[k] for k in order)]
        for split_every in (2, 7):
            forest = clmst.dask.minimum_spanning_forest(
                delayed, 500, edge_id="id", split_every=split_every
            )
            assert forest == right
            np.testing.assert_array_equal(forest.labels, right.labels)


def test_scipy_9031_scikit_learn_11513_single_linkage_in_little_memory(any_device: Device) -> None:
    """The distances of all pairs would take 3.2 GB; NumPy's arrays stay below 60 MB."""
    points = np.random.default_rng(11).random((20_000, 2))
    clmst.cluster.single_linkage(points[:100], device=any_device)  # builds the kernels
    tracemalloc.start()
    linkage = clmst.cluster.single_linkage(points, device=any_device)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert linkage.shape == (19_999, 4)
    assert (np.diff(linkage[:, 2]) >= 0).all()
    assert most < 60e6


def test_scikit_learn_31503_33364_hdbscan_needs_no_pairwise_loop(any_device: Device) -> None:
    """What comes after the tree: a dendrogram, a condensed tree and labels of 200,000 points."""
    random = np.random.default_rng(12)
    n, children = 200_000, np.arange(1, 200_000)
    parents = (random.random(n - 1) ** 0.2 * children).astype(np.int64)
    forest = clmst.Forest(
        n_vertices=n, edges=np.stack([parents, children], axis=1), weights=random.random(n - 1),
        edge_ids=children - 1,
    )  # fmt: skip
    forest.linkage(device=any_device)
    begun = time.process_time()
    tree = condense(dendrogram_of(forest, join_components=False, device=any_device), 10)
    labels, _, clusters = label_points(tree, choose_clusters(tree), 0.0)
    assert time.process_time() - begun < 5  # 0.1 s where nothing else runs; a loop takes 10
    assert np.unique(labels[labels >= 0]).size == clusters.size > 100


def test_hdbscan_622_sparse_distances_in_memory_of_the_edges(any_device: Device) -> None:
    """A ring of 30,000 points, each with four stored neighbours: a matrix would take 7 GB."""
    n = 30_000
    at = np.arange(n)
    u = np.concatenate([at, at])
    v = np.concatenate([(at + 1) % n, (at + 2) % n])
    gap = np.where(at % 1_000 == 999, 50.0, 1.0)
    near = sparse.coo_array((np.concatenate([gap, gap + 0.5]), (u, v)), shape=(n, n))
    model = HDBSCAN(100, min_samples=2, metric="precomputed", device=any_device)
    tracemalloc.start()
    labels = model.fit_predict(near)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 60e6
    assert labels.max() + 1 == 30
    assert np.count_nonzero(np.diff(labels)) <= 60


def test_splink_2437_2617_clusters_at_many_thresholds_at_once() -> None:
    """Each row is what the graph of the pairs up to its threshold has for components."""
    graph = clmst.generate("road", n=400, seed=6)
    u, v, weights, _ = graph.edges()
    forest = clmst.kruskal(graph)
    thresholds = np.quantile(weights, [0.1, 0.3, 0.5, 0.9])
    for threshold, labels in zip(thresholds, forest.cut(height=thresholds), strict=True):
        kept = weights <= threshold
        matrix = sparse.coo_array((weights[kept] + 1.0, (u[kept], v[kept])), shape=(400, 400))
        np.testing.assert_array_equal(labels, connected_components(matrix, directed=False)[1])


def test_cuml_6117_not_slower_than_a_cpu_when_small(any_device: Device) -> None:
    """SciPy's function beside ours, by processor time: a matrix of 5,000 edges, many times."""
    if not small_matrix.works_on(any_device):
        pytest.skip("the device does not work in the host's memory by single work-items")
    random = matrix_of_density(1250, density=0.0064)
    upper = sparse.csr_array(sparse.triu(random, 1))
    matrix = sparse.csr_array(upper + upper.T)
    matrix.indptr, matrix.indices = matrix.indptr.astype("i4"), matrix.indices.astype("i4")

    def least(solve: Callable[[Any], Any]) -> float:
        times = []
        for _ in range(30):
            start = time.process_time()
            solve(matrix)
            times.append(time.process_time() - start)
        return min(times)

    ours, theirs = clmst.csgraph.minimum_spanning_tree, csgraph.minimum_spanning_tree
    assert (ours(matrix) != theirs(matrix)).nnz == 0
    assert least(ours) < 1.5 * least(theirs)  # a third of it is usual; the machine may be busy
    assert clmst.minimum_spanning_forest(matrix, device=any_device).stats["launches"] == 1


def test_diplib_118_exact_stochastic_watershed_by_trees(any_device: Device) -> None:
    """Of all pairs of seeds, an edge of the tree separates as many as Kruskal's merge says.

    The edge that joins trees of a and of b pixels is cut by a * b pairs of seeds: so the chance of
    each boundary follows from the tree alone, without a single random marker.
    """
    image = np.random.default_rng(3).integers(0, 50, (4, 5)).astype(np.uint8)
    forest = clmst.minimum_spanning_forest(clmst.Graph.from_image(image), device=any_device)
    n = image.size
    cut = np.zeros(forest.n_edges, int)
    for first, second in combinations(range(n), 2):
        seeds = np.zeros(n, np.int32)
        seeds[[first, second]] = 1, 2
        labels = clmst.seeded_segmentation(forest, seeds, device=any_device)
        ends = labels[forest.edges]
        cut += ends[:, 0] != ends[:, 1]
    merged = np.zeros(forest.n_edges, int)
    tree = np.arange(n)
    for edge in np.argsort(forest.weights, kind="stable"):
        u, v = tree[forest.edges[edge]]
        merged[edge] = np.count_nonzero(tree == u) * np.count_nonzero(tree == v)
        tree[tree == u] = v
    assert cut.tolist() == merged.tolist()
