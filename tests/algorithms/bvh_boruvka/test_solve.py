"""bvh-boruvka: the same trees as Kruskal's algorithm over all pairs, edge for edge."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst import Device, Forest, Points
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.hierarchy import LOCAL_HEIGHT, ORDER, hierarchy_of
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from tests.helpers.forests import assert_same_forest


def ordered(coordinates: Array, device: Device, local_height: int) -> Array:
    """Return points in the order of leaves, all points being in whole leaves."""
    matrix = DeviceMatrix.upload(Points(coordinates), device)
    launch = Launcher(device, device.queue)
    ids = hierarchy_of(matrix, launch, local_height=local_height).ids.to_host()
    np.testing.assert_array_equal(np.sort(ids), np.arange(len(ids)))
    return coordinates[ids]


@pytest.mark.parametrize("local_height", [1, 4, LOCAL_HEIGHT])
def test_points_of_a_node_are_near(device: Device, local_height: int) -> None:
    """In whichever way they are ordered: evenly spread ones, and a crowd beside one far away."""
    rng = np.random.default_rng(9)
    crowd = np.append(1e-9 * rng.random((399, 2)), [[1e9, 1e9]], axis=0)
    for coordinates, side in ((rng.random((4000, 2)), 0.06), (crowd, 3e-10)):
        sides = np.ptp(ordered(coordinates, device, local_height).reshape(-1, 8, 2), axis=1)
        assert np.median(sides) < side  # a square of 8 points has sides of 0.045, 1.4e-10


@pytest.mark.parametrize("n", [1, 8, 9, 100, 1000, 2048])
@pytest.mark.parametrize("d", [1, 2, 3, 7, 40])
def test_halves_are_divided_along_the_widest_side(device: Device, n: int, d: int) -> None:
    """Of a segment no point of the lower half is beyond one of the upper half."""
    coordinates = np.random.default_rng(n).normal(size=(n, d)) * np.arange(1, d + 1)
    found, size = ordered(coordinates, device, LOCAL_HEIGHT), 16
    while size < 2 * n:
        for first in range(0, n - size // 2, size):
            lower, upper = np.split(found[first : first + size], [size // 2])
            axis = np.ptp(found[first : first + size], axis=0).argmax()
            following = (axis + np.arange(3)) % d
            tilted = 2.0 ** (-8 * np.arange(3))  # TILT of halves.cl
            keys = [part[:, following] @ tilted for part in (lower, upper)]
            assert keys[0].max() <= keys[1].min() + 1e-12
        size *= 2


@pytest.mark.parametrize("local_height", [1, LOCAL_HEIGHT])
def test_equal_points_stay_together(device: Device, local_height: int) -> None:
    """Those on a lattice have neighbours with one equal coordinate on all sides."""
    rng = np.random.default_rng(3)
    found = ordered(rng.integers(0, 7, (4000, 3)), device, local_height)
    differ = (found[1:] != found[:-1]).any(axis=1)
    assert np.count_nonzero(differ) < 1200  # 343 places; some 3,900 in any order


@pytest.mark.parametrize("core", [False, True])
def test_results_are_those_of_any_order(device: Device, core: bool) -> None:
    """The order of points makes searches quick, and does not change the result."""
    rng = np.random.default_rng(4)
    points = Points(rng.integers(0, 30, (700, 3)), core_distances=rng.random(700) if core else None)
    expected = clmst.kruskal(points.to_graph())
    for order in (np.arange(700), rng.permutation(700)):
        matrix = DeviceMatrix.upload(points, device)
        matrix.forms[ORDER] = DeviceArray.from_host(order.astype(np.uint32), device)
        launch = Launcher(device, device.queue)
        found = bvh_boruvka.solve(matrix, launch).to_host(launch)
        np.testing.assert_array_equal(found.edge_ids, expected.edge_ids)


def test_auto_takes_the_hierarchy(any_device: Device) -> None:
    """From 2000 points in the plane on CPUs, where fewer are for Prim, and 20,000 elsewhere."""
    rng, is_alone = np.random.default_rng(9), any_device.policy.work_group_size == 1
    few, many = Points(rng.random((100, 2))), Points(rng.random((3000 if is_alone else 20_000, 2)))
    solved = [clmst.minimum_spanning_forest(p, device=any_device) for p in (few, many)]
    by = ["prim" if is_alone else "dense", "bvh-boruvka"]
    assert [forest.stats["algorithm"] for forest in solved] == by
    by_dense = clmst.minimum_spanning_forest(many, algorithm="dense", device=any_device)
    assert_same_forest(solved[1], by_dense)
    assert clmst.maximum_spanning_forest(many, device=any_device).stats["algorithm"] == "dense"


def test_rounds_and_searches_are_told(any_device: Device) -> None:
    points = Points(np.random.default_rng(5).random((2000, 2)))
    matrix = DeviceMatrix.upload(points, any_device)
    stats = bvh_boruvka.solve(matrix, Launcher(any_device, any_device.queue)).stats
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
