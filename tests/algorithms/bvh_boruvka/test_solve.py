"""bvh-boruvka: the same trees as Kruskal's algorithm over all pairs, edge for edge."""

from __future__ import annotations

import numpy as np

import clmst
from clmst import Device, Forest, Points
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.hierarchy import hierarchy_of
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher, Profile
from tests.forests import assert_same_forest


def test_crowds_get_boxes_of_their_own(any_device: Device) -> None:
    """One point far away, and the others in one cell of the first codes."""
    rng = np.random.default_rng(8)
    coordinates = np.concatenate([1e-9 * rng.random((400, 2)), [[1e9, 1e9]]])
    matrix = DeviceMatrix.upload(Points(coordinates), any_device)
    tree = hierarchy_of(matrix, Launcher(any_device, any_device.queue), by_codes=True)
    sides = np.ptp(tree.points.to_host().reshape(-1, 2, 8)[:50], axis=2)
    assert np.median(sides) < 3e-10  # in any order it would be 8e-10


def test_clusters_get_fine_codes_at_once(any_device: Device) -> None:
    """A sample shows that they share cells; spread points do not, and get short codes."""
    rng = np.random.default_rng(9)
    spread = rng.random((6000, 2))
    clusters = np.concatenate([rng.random((600, 2)), 0.5 + 1e-4 * rng.random((5400, 2))])
    sorts = []
    for coordinates in (spread, clusters, clusters * 1e-300):
        profile = Profile()
        matrix = DeviceMatrix.upload(Points(coordinates), any_device)
        launch = Launcher(any_device, any_device.profiling_queue, profile)
        hierarchy_of(matrix, launch, by_codes=True)
        any_device.profiling_queue.finish()
        launched = {name: one.launches for name, one in profile.summary().items()}
        assert "bvh_boruvka_build_refine" not in launched
        sorts.append(sum(count for name, count in launched.items() if name.startswith("split")))
    assert 0 < sorts[0] < sorts[1] == sorts[2]


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


def test_the_host_orders_few_points(any_device: Device) -> None:
    """Points of a leaf are near each other; no kernel of codes is launched on a CPU."""
    profile = Profile()
    matrix = DeviceMatrix.upload(Points(np.random.default_rng(9).random((4000, 2))), any_device)
    tree = hierarchy_of(matrix, Launcher(any_device, any_device.profiling_queue, profile))
    any_device.profiling_queue.finish()
    sides = np.ptp(tree.points.to_host().reshape(-1, 2, 8), axis=2)
    assert np.median(sides) < 0.06  # a square of 8 points has sides of 0.045
    by_codes = "bvh_boruvka_build_encode" in profile.summary()
    assert by_codes == (any_device.policy.work_group_size > 1)


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
