"""Core distances of points, and their clusters by HDBSCAN, beside all pairs on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

import clmst
from clmst import Device, Points
from clmst.core.weight_keys import Array
from clmst.points.condensed import choose_clusters, condense, label_points
from clmst.points.dendrogram import Dendrogram
from tests.prove.plain import merges


def difference(
    points: Points, device: Device, distances: Array, *, min_samples: int, **model: Any
) -> str:
    """Return what is wrong with core distances, labels or strengths; empty if nothing is.

    Parameters
    ----------
    points : Points
        Without core distances.
    device : Device
    distances : ndarray of float64, shape (n, n)
        Of all pairs.
    min_samples : int
    **model
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
    merged = merges(clmst.kruskal(graph))
    dendrogram = Dendrogram(
        n_points=merged.n, children=merged.children, heights=merged.heights, sizes=merged.sizes
    )
    tree = condense(dendrogram, min_cluster_size)
    chosen = choose_clusters(
        tree, method=cluster_selection_method, allow_single=allow_single_cluster
    )
    labels, strengths, _ = label_points(tree, chosen, 0.0)
    return labels, strengths
