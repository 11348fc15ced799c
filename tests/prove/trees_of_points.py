"""Trees of points by a hierarchy of boxes beside all pairs, and their linkage beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import clmst
from clmst import Device, Points
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

_SCIPYS: dict[str, Any] = {
    "euclidean": "euclidean",
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
}


def difference(points: Points, device: Device) -> str:
    """Return what is wrong with the tree or the linkage of points; empty if nothing is."""
    matrix = DeviceMatrix.upload(points, device)
    forest = bvh_boruvka.solve(matrix, Launcher(device, device.queue)).to_host()
    graph = points.to_graph()
    expected = clmst.kruskal(graph)
    if not np.array_equal(forest.edges, expected.edges):
        return "the tree has other edges than Kruskal's"
    distances = graph.weights
    if points.core_distances is None and points.metric in _SCIPYS:
        distances = pdist(points.coordinates, _SCIPYS[points.metric])
    ours, scipys = forest.linkage(device=device), hierarchy.linkage(distances, "single")
    if not np.array_equal(ours[:, 2], scipys[:, 2]):
        return "the linkage has other heights than SciPy's"
    if np.diff(ours[:, 2]).all() and not np.array_equal(ours, scipys):
        return "the linkage has other merges than SciPy's"
    return ""
