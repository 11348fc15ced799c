"""bvh-boruvka: the same trees as Kruskal's algorithm over all pairs, edge for edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Forest, Points
from clmst.algorithms.bvh_boruvka import choice, hierarchy
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.hierarchy import hierarchy_of
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from tests.forests import assert_same_forest

Array = Any


def solve(points: Points, device: Device) -> Forest:
    """Solve by a hierarchy, whatever "auto" would choose."""
    matrix = DeviceMatrix.upload(points, device)
    return bvh_boruvka.solve(matrix, Launcher(device, device.queue)).to_host()


def assert_right(points: Points, device: Device) -> None:
    assert_same_forest(solve(points, device), clmst.kruskal(points.to_graph()))


def clusters(n: int, d: int, *, seed: int) -> Array:
    """Return points in clusters of very different density, and some between them."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** -rng.integers(0, 9, n)
    centres = rng.random((6, d))[rng.integers(0, 6, n)]
    return centres + scale[:, None] * rng.normal(size=(n, d))


@pytest.mark.parametrize("d", [2, 3])
def test_random_points(device: Device, d: int) -> None:
    """On every variant of the kernels."""
    assert_right(Points(np.random.default_rng(d).random((700, d))), device)


def test_equal_distances(device: Device) -> None:
    """A lattice with many equal points: ties are broken by numbers, through all rounds."""
    assert_right(Points(np.random.default_rng(3).integers(0, 7, (600, 2))), device)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("with_cores", [False, True])
def test_metrics_and_core_distances(any_device: Device, metric: Any, with_cores: bool) -> None:
    rng = np.random.default_rng(4)
    for coordinates in (rng.random((500, 3)) + 0.1, rng.integers(1, 6, (500, 3))):
        core = rng.integers(0, 4, 500) / 4 if with_cores else None
        assert_right(Points(coordinates, metric, core), any_device)


@pytest.mark.parametrize("d", [1, 5, 18])
def test_other_dimensions(any_device: Device, d: int) -> None:
    assert_right(Points(clusters(400, d, seed=d)), any_device)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sums_of_many_dimensions_keep_their_order(device: Device, metric: Any) -> None:
    """By optimised kernels: from 16 dimensions on a compiler may find it quicker to change it."""
    rng = np.random.default_rng(16)
    points = Points(rng.random((300, 37)), metric, rng.integers(0, 4, 300) / 4)
    assert_right(points, device)
    by_dense = clmst.minimum_spanning_forest(points, algorithm="dense", device=device)
    assert_same_forest(by_dense, clmst.kruskal(points.to_graph()))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 513])
def test_sizes(any_device: Device, n: int) -> None:
    """Around the bounds of leaves and levels."""
    assert_right(Points(np.random.default_rng(n).random((n, 2))), any_device)


def test_far_and_near_points(any_device: Device) -> None:
    """Differences that overflow, squares that vanish, and coordinates of all magnitudes."""
    rng = np.random.default_rng(6)
    huge = rng.choice([-1e308, 1e308, 0.0, 1e200], (120, 2))
    tiny = rng.integers(0, 9, (120, 2)) * 5e-324
    spread = rng.normal(size=(300, 2)) * 10.0 ** rng.integers(-300, 150, (300, 1))
    for coordinates in (huge, tiny, spread, np.concatenate([spread, tiny])):
        assert_right(Points(coordinates), any_device)


def test_points_on_a_line_and_all_equal(any_device: Device) -> None:
    line = np.arange(300.0)[:, None] ** 2 * [1, 1, 1]
    assert_right(Points(line), any_device)
    assert_right(Points(np.ones((300, 3))), any_device)
    assert_right(Points(np.repeat(np.random.default_rng(7).random((20, 2)), 20, 0)), any_device)


def test_crowds_get_boxes_of_their_own(any_device: Device) -> None:
    """One point far away, and the others in one cell of the first codes."""
    rng = np.random.default_rng(8)
    coordinates = np.concatenate([1e-9 * rng.random((400, 2)), [[1e9, 1e9]]])
    assert_right(Points(coordinates), any_device)
    matrix = DeviceMatrix.upload(Points(coordinates), any_device)
    tree = hierarchy_of(matrix, Launcher(any_device, any_device.queue))
    sides = np.ptp(tree.points.to_host().reshape(-1, 2, 8)[:50], axis=2)
    assert np.median(sides) < 3e-10  # in any order it would be 8e-10


def test_clusters_get_fine_codes_at_once(any_device: Device) -> None:
    """A sample shows that they share cells; spread points do not, and get short codes."""
    rng = np.random.default_rng(9)
    spread = rng.random((6000, 2))
    clusters = np.concatenate([rng.random((600, 2)), 0.5 + 1e-4 * rng.random((5400, 2))])
    for coordinates, is_crowded in ((spread, False), (clusters, True), (clusters * 1e-300, True)):
        matrix = DeviceMatrix.upload(Points(coordinates), any_device)
        builder = hierarchy._Builder(matrix, Launcher(any_device, any_device.queue))
        assert builder._is_crowded(builder._box(), 9) == is_crowded
    assert_right(Points(clusters[::8]), any_device)


def test_auto_takes_the_hierarchy(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_LEAST_POINTS", 2000)  # of GPUs
    rng = np.random.default_rng(9)
    few, many = Points(rng.random((100, 2))), Points(rng.random((3000, 2)))
    solved = [clmst.minimum_spanning_forest(p, device=any_device) for p in (few, many)]
    assert [forest.stats["algorithm"] for forest in solved] == ["dense", "bvh-boruvka"]
    by_dense = clmst.minimum_spanning_forest(many, algorithm="dense", device=any_device)
    assert_same_forest(solved[1], by_dense)
    assert clmst.maximum_spanning_forest(many, device=any_device).stats["algorithm"] == "dense"


def test_rounds_and_searches_are_told(any_device: Device) -> None:
    stats = solve(Points(np.random.default_rng(5).random((2000, 2))), any_device).stats
    assert stats["components"][0] == 2000
    assert stats["components"][-1] == 1
    assert stats["rounds"] == len(stats["searches"]) == len(stats["components"]) - 1


def test_components_are_joined(device: Device) -> None:
    """What part of a tree is missing is found, on every variant; with many components and one."""
    points = Points(np.random.default_rng(10).integers(0, 20, (700, 2)))
    tree = clmst.kruskal(points.to_graph())
    matrix = DeviceMatrix.upload(points, device)
    for kept in (slice(0, 0), slice(0, None, 2), slice(1, None), slice(0, None)):
        given = Forest(
            n_vertices=700, edges=tree.edges[kept], weights=tree.weights[kept],
            edge_ids=tree.edge_ids[kept],
        )  # fmt: skip
        launch = Launcher(device, device.queue)
        joining = bvh_boruvka.joining_edges(matrix, given.labels, launch)
        missing = np.delete(tree.edges, kept, axis=0)
        np.testing.assert_array_equal(joining, missing)
