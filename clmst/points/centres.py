"""The centres of clusters: means of their points, and their most central points."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.points.between import distances_between
from clmst.points.metrics import own_parameters

_CELLS_AT_ONCE = 1 << 22  # maximum number of distances in memory at a time, or about that


def centroids_of(rows: Array, labels: Array, strengths: Array) -> Array:
    """Compute the weighted mean of the rows of each cluster, shape (n_clusters, d).

    `labels` has the cluster of each row. Rows with a negative label are noise, and are left out.
    `strengths` has the weight of each row, which is its strength of membership.
    """
    count, is_in = int(labels.max(initial=-1)) + 1, labels >= 0
    of, weights = labels[is_in], strengths[is_in]
    total = np.bincount(of, weights=weights, minlength=count)
    sums = [np.bincount(of, weights=weights * x, minlength=count) for x in rows[is_in].T]
    means: Array = np.stack(sums, axis=1) / total[:, None]
    return means


def medoids_of(
    rows: Array, labels: Array, strengths: Array, metric: Any, metric_params: Any
) -> Array:
    """Find the medoid of each cluster: the row with the least weighted sum of distances.

    The sum is over the rows of the cluster, and each distance is weighted by the strength of the
    other row. `labels` has the cluster of each row, and `strengths` its strength of membership.
    `metric` and `metric_params` are as in :class:`clmst.cluster.HDBSCAN`. Takes O(m**2) time for a
    cluster of m points. The result has the shape (n_clusters, d).
    """
    metric_params = own_parameters(rows, metric, metric_params)
    order = np.argsort(labels, kind="stable")
    count = int(labels.max(initial=-1)) + 1
    starts = np.searchsorted(labels[order], np.arange(count + 1))
    medoids = np.empty((count, rows.shape[1]))
    for cluster in range(count):
        members = order[starts[cluster] : starts[cluster + 1]]
        own, weights = rows[members], strengths[members]
        sums = np.empty(members.size)
        for some in slices(members.size, max(_CELLS_AT_ONCE // members.size, 1)):
            sums[some] = distances_between(own[some], own, metric, metric_params) @ weights
        medoids[cluster] = own[int(sums.argmin())]
    return medoids
