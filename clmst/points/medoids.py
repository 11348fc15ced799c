"""Centres of clusters: weighted means, and the points that are nearest to all others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.inputs import scipys_name, scipys_parameters, usual_name

_CELLS_AT_ONCE = 1 << 22


def centroids_of(rows: Array, labels: Array, strengths: Array) -> Array:
    """Return the mean of each cluster's rows, weighted by strength, shape (n_clusters, d)."""
    count, is_in = int(labels.max(initial=-1)) + 1, labels >= 0
    of, weights = labels[is_in], strengths[is_in]
    total = np.bincount(of, weights=weights, minlength=count)
    sums = [np.bincount(of, weights=weights * x, minlength=count) for x in rows[is_in].T]
    means: Array = np.stack(sums, axis=1) / total[:, None]
    return means


def medoids_of(
    rows: Array, labels: Array, strengths: Array, metric: Any, metric_params: Any
) -> Array:
    """Return the row of each cluster with the least sum of distances, weighted by strength.

    O(m**2) time for a cluster of m points, in O(m) memory.
    """
    order = np.argsort(labels, kind="stable")
    count = int(labels.max(initial=-1)) + 1
    starts = np.searchsorted(labels[order], np.arange(count + 1))
    medoids = np.empty((count, rows.shape[1]))
    for cluster in range(count):
        members = order[starts[cluster] : starts[cluster + 1]]
        own, weights = rows[members], strengths[members]
        sums = np.empty(members.size)
        step = max(_CELLS_AT_ONCE // members.size, 1)
        for first in range(0, members.size, step):
            some = slice(first, first + step)
            sums[some] = _distances(own[some], own, metric, metric_params) @ weights
        medoids[cluster] = own[int(sums.argmin())]
    return medoids


def _distances(some: Array, every: Array, metric: Any, metric_params: Any) -> Array:
    """Return all distances between two sets of rows."""
    name = usual_name(metric)
    if name in ("haversine", "great-circle", "rounded-euclidean"):
        both = Points(np.concatenate([some, every]), name)
        u = np.arange(len(some))[:, None]
        return both.weights_of(u, len(some) + np.arange(len(every)))
    parameters = scipys_parameters(metric_params)
    distances: Array = cdist(some, every, scipys_name(metric), **parameters)
    return distances
