"""Distances between two sets of rows, by any metric of an HDBSCAN estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.magnitude import exponent_of, magnitudes
from clmst.core.points import Points
from clmst.core.powers import GREATEST_POWER
from clmst.core.quotients import DIVIDED
from clmst.core.weight_keys import Array
from clmst.points.metrics import scipys_name, scipys_parameters, usual_name


def distances_between(some: Array, every: Array, metric: Any, metric_params: Any) -> Array:
    """Compute the distances of the m rows of `some` to the n rows of `every`, shape (m, n).

    `metric` and `metric_params` are as in :class:`clmst.cluster.HDBSCAN`.
    """
    name = usual_name(metric)
    power = (metric_params or {}).get("p") if name == "minkowski" else None
    is_of_power = power is not None and set(metric_params) == {"p"} and 1 <= power <= GREATEST_POWER
    if name in ("haversine", "great-circle", "rounded-euclidean") or is_of_power:
        both = Points(np.concatenate([some, every]), name, p=power)
        u = np.arange(len(some))[:, None]
        return both.weights_of(u, len(some) + np.arange(len(every)))
    if name in DIVIDED and not metric_params:
        points, others = Points(some[:1], name).with_others(every)
        points = points.with_rows(some)
        return points.distances_to(others, np.arange(len(some))[:, None], np.arange(len(every)))
    parameters, exponent = scipys_parameters(metric_params), 0
    if name == "euclidean":  # scaled by a power of 2, as in Points, so that squares stay in range
        (greatest, least), (other_greatest, other_least) = magnitudes(some), magnitudes(every)
        greatest, least = max(greatest, other_greatest), min(least, other_least)
        exponent = exponent_of(greatest, least, some.shape[1])
    if exponent:
        some, every = np.ldexp(some, -exponent), np.ldexp(every, -exponent)
    from scipy.spatial.distance import cdist  # takes half a second

    distances: Array = cdist(some, every, scipys_name(metric), **parameters)
    return np.ldexp(distances, exponent) if exponent else distances
