"""bvh-boruvka: the same trees as Kruskal's algorithm over all pairs, edge for edge."""

from __future__ import annotations

from typing import Any

import numpy as np

import clmst
from clmst import Device, Forest, Points
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.hierarchy import hierarchy_of
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher, Profile
from tests.forests import assert_same_forest

Array = Any


def test_crowds_get_boxes_of_their_own(any_device: Device) -> None:
    """One point far away, and the others in one cell of the first codes."""
    rng = np.random.default_rng(8)
    coordinates = np.concatenate([1e-9 * rng.random((400, 2)), [[1e9, 1e9]]])
    matrix = DeviceMatrix.upload(Points(coordinates), any_device)
    tree = hierarchy_of(matrix, Launcher(any_device, any_device.queue))
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
        hierarchy_of(matrix, Launcher(any_device, any_device.profiling_queue, profile))
        any_device.profiling_queue.finish()
        launched = {name: one.launches for name, one in profile.summary().items()}
        assert "bvh_boruvka_build_refine" not in launched
        sorts.append(sum(count for name, count in launched.items() if name.startswith("split")))
    assert 0 < sorts[0] < sorts[1] == sorts[2]


def test_auto_takes_the_hierarchy(any_device: Device) -> None:
    """From 1000 points in the plane on CPUs, and 20,000 elsewhere."""
    rng, n = np.random.default_rng(9), 3000 if any_device.policy.work_group_size == 1 else 20_000
    few, many = Points(rng.random((100, 2))), Points(rng.random((n, 2)))
    solved = [clmst.minimum_spanning_forest(p, device=any_device) for p in (few, many)]
    assert [forest.stats["algorithm"] for forest in solved] == ["dense", "bvh-boruvka"]
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
