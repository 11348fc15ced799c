"""Trees, core distances and clusters of points beside all pairs on the host, and beside SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import clmst
from clmst import Device, Points
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.dendrogram.condense import CondensedTree
from clmst.core.weight_keys import Array
from clmst.points.condensed import choose_clusters, label_points
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from tests.prove.plain import Merged, merges

_SCIPYS: dict[str, Any] = {
    "euclidean": "euclidean",
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
}


def tree_difference(points: Points, device: Device) -> str:
    """Return the errors in the tree or the linkage of points.

    The list is empty if there are none.
    """
    matrix, launch = DeviceMatrix.upload(points, device), Launcher(device, device.queue)
    forest = bvh_boruvka.solve(matrix, launch).to_host(launch)
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


def cluster_difference(
    points: Points, device: Device, distances: Array, *, min_samples: int, **model: Any
) -> str:
    """Return the errors in core distances, labels or strengths.

    The list is empty if there are none.

    Points lack core distances, `distances` is the matrix of all pairs, and `model` has
    ``min_cluster_size``, ``cluster_selection_method`` and ``allow_single_cluster`` of HDBSCAN.
    """
    core = np.partition(distances, min_samples - 1, axis=1)[:, min_samples - 1]
    found = clmst.core_distances(points, min_samples, device=device)
    if not np.array_equal(found, core):
        return f"core distances are {found.tolist()}; they must be {core.tolist()}"
    fitted = clmst.cluster.HDBSCAN(min_samples=min_samples, device=device, **model).fit(points)
    labels, strengths = _clusters(np.maximum(np.maximum(distances, core), core[:, None]), **model)
    if not np.array_equal(fitted.labels_, labels):
        return f"labels are {fitted.labels_.tolist()}; they must be {labels.tolist()}"
    if not np.array_equal(fitted.probabilities_, strengths):
        return f"strengths are {fitted.probabilities_.tolist()}; must be {strengths.tolist()}"
    return ""


def _clusters(
    mutual: Array,
    *,
    min_cluster_size: int,
    cluster_selection_method: str,
    allow_single_cluster: bool,
) -> tuple[Array, Array]:
    """Return labels and strengths by Kruskal's algorithm over all pairs, and merges in Python."""
    u, v = np.triu_indices(len(mutual), 1)
    graph = clmst.Graph.from_edges(u, v, mutual[u, v], n_vertices=len(mutual))
    tree = _condensed(merges(clmst.kruskal(graph)), min_cluster_size)
    chosen = choose_clusters(
        tree, method=cluster_selection_method, allow_single=allow_single_cluster
    )
    labels, strengths, _ = label_points(tree, chosen, 0.0)
    return labels, strengths


def _condensed(merged: Merged, least: int) -> CondensedTree:
    """Return the condensed tree of merges, by a walk from the top one down to the points."""
    n, children = merged.n, merged.children.tolist()
    sizes = [1] * n + merged.sizes.tolist()
    with np.errstate(divide="ignore"):
        times = (1 / merged.heights).tolist()
    rows: list[list[Any]] = []  # of each cluster: parent, birth, death, size, least point
    point_cluster, point_lambda = [0] * n, [np.inf] * n
    # The cluster that each node is in, and when it leaves it, unless it goes on as the cluster; of
    # the first node of a cluster the one that it comes from, and when.
    cluster, leaves, begins = [-1] * (2 * n), [np.inf] * (2 * n), {2 * n - 2: 0.0}
    for node in range(2 * n - 2, -1, -1):
        if node in begins:
            rows.append([cluster[node], begins[node], 0.0, sizes[node], n])
            cluster[node] = len(rows) - 1
        own = cluster[node]
        if node < n:
            point_cluster[node], point_lambda[node] = own, leaves[node]
            rows[own][4] = min(node, rows[own][4])
            continue
        small, pair = node != 2 * n - 2 and sizes[node] < least, children[node - n]
        if not small:
            rows[own][2] = max(times[node - n], rows[own][2])
        for below in pair:
            cluster[below] = own
            leaves[below] = leaves[node] if small else times[node - n]
        if not small and min(sizes[below] for below in pair) >= least:
            begins |= dict.fromkeys(pair, times[node - n])
    if n == 1:
        rows[0][2] = np.inf
    parent, birth, death, size, least_point = map(np.array, zip(*rows, strict=True))
    return CondensedTree(
        n_points=n, point_cluster=np.array(point_cluster), point_lambda=np.array(point_lambda),
        parent=parent, birth=birth, death=death, size=size, least_point=least_point,
    )  # fmt: skip
