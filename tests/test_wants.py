"""What users of other tools asked for; each test has the name of its threads.

More of them stand beside what they are about: ``grep -rn "def test_[a-z_]*_[0-9]" tests``. Not met:
single linkage, HDBSCAN and clusters at many thresholds (scipy 9031, scikit-learn 11513 and 31503,
splink 2437 and 2617), since clmst makes no dendrograms; graphs larger than memory (hdbscan 521 and
622, dedupe 819, gunrock 123, cuml 4845 and 5357, cuvs 856), since a graph must fit one device;
trees under a cluster's scheduler (graphframes 453, 226, 411 and 339). A graph of 100 vertices takes
as long as with SciPy (cuml 6117): ``docs/experiments.md`` has the times.
"""

from __future__ import annotations

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
