"""What users of other tools asked for; each test has the name of its threads.

More of them stand beside what they are about: ``grep -rn "def test_[a-z_]*_[0-9]" tests``. Real
graphs on which trees failed elsewhere (cugraph 4458) are in ``tests/whole/test_shared_data.py``. A
graph of 100 vertices takes as long as with SciPy (cuml 6117): ``docs/experiments.md`` has the
times. HDBSCAN beside scikit-learn's (scikit-learn 31503): ``docs/clustering.md`` has them. What
others asked for and the tests of a module hold:

* trees of points, equal distances among them (scipy 14995, hdbscan 729), and of matrices of
  distances (hdbscan 317, 188, 510): ``tests/points/test_brute_force.py``,
  ``tests/algorithms/dense``;
* changes of costs on one graph (geaflow 465, grape 57): ``tests/repeated/test_solver.py``;
* edges in little memory (hdbscan 622) and in files (hdbscan 521, dedupe 819, gunrock 123), and a
  device that is too small (cuml 4845, 5357, cuvs 856): ``tests/scale``;
* components whatever the plan of an engine (graphframes 453, 226, 411, 339):
  ``tests/test_dask.py``, ``tests/scale/test_partitions.py``;
* clusters at many thresholds at once (splink 2437, 2617): ``tests/points/test_cuts.py``.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

import clmst
from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.cluster import HDBSCAN
from clmst.points.condensed import choose_clusters, condensed_tree, label_points
from clmst.runtime.device import Device
from tests.helpers.matrices import matrix_of_density


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
    tree = condensed_tree(forest, 10, device=any_device)
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


def test_cuml_6117_not_slower_than_a_cpu_when_small(any_device: Device) -> None:
    """SciPy's function beside ours, by processor time: a matrix of 5,000 edges, many times."""
    if not small_matrix.works_on(any_device):
        pytest.skip("the device does not work in the host's memory by single work-items")
    random = matrix_of_density(1250, density=0.0064)
    upper = sparse.csr_array(sparse.triu(random, 1))
    matrix = sparse.csr_array(upper + upper.T)
    matrix.indptr, matrix.indices = matrix.indptr.astype("i4"), matrix.indices.astype("i4")

    def seconds(solve: Callable[[Any], Any]) -> float:
        start = time.process_time()
        solve(matrix)
        return time.process_time() - start

    ours, theirs = clmst.csgraph.minimum_spanning_tree, csgraph.minimum_spanning_tree
    assert (ours(matrix) != theirs(matrix)).nnz == 0
    turns = [(seconds(ours), seconds(theirs)) for _ in range(60)]
    least, scipys = map(min, zip(*turns, strict=True))
    assert least < 1.5 * scipys  # 0.8 of it is usual; the machine may be busy
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
