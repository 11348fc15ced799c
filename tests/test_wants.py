"""What users of other tools asked for; each test has the name of its threads.

More of them stand beside what they are about: ``grep -rn "def test_[a-z_]*_[0-9]" tests``. Not met:
single linkage, HDBSCAN and clusters at many thresholds (scipy 9031, scikit-learn 11513 and 31503,
splink 2437 and 2617), since clmst makes no dendrograms. A graph of 100 vertices takes as long as
with SciPy (cuml 6117): ``docs/experiments.md`` has the times.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.runtime.device import Device


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
    monkeypatch.setattr("clmst.scale.fallback._LEAST_SHARE", 0.0)
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
