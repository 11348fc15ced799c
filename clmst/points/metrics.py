"""Metrics beside those of Points: their names, their parameters, and distances that are stored."""

from __future__ import annotations

from inspect import signature
from numbers import Real
from typing import Any, get_args

import numpy as np
from scipy.spatial import distance

from clmst.core.arguments import shown
from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError
from clmst.core.point_checks import check_finite
from clmst.core.point_rows import check_rows
from clmst.core.points import Metric
from clmst.core.weight_keys import Array

# Other names of metrics that Points has, and of one that SciPy has.
_USUAL_NAME = {
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "l1": "manhattan",
    "l2": "euclidean",
    "p": "minkowski",
}
_ROUNDED = 1e-12  # of the greatest distance: one that is further below 0 is no distance
# Minkowski's distances that Points has, by their power.
_OF_POWER = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}


def by_power(metric_params: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of Minkowski's distance of a power, and what parameters are left."""
    given = dict(metric_params or {})
    power: Any = given.pop("p", 2)
    if not isinstance(power, Real) or isinstance(power, bool) or not float(power) > 0:
        raise InvalidArgumentError(
            f"p of Minkowski's distance is {shown(power)}; it must be a number above 0"
        )
    if given or float(power) not in _OF_POWER:
        return "minkowski", {**given, "p": power}
    return _OF_POWER[float(power)], {}


def check_metric(metric: Any) -> Any:
    """Return a metric, or raise unless it is a name or a function."""
    if not isinstance(metric, str) and not callable(metric):
        raise InvalidArgumentError(
            f"metric is {shown(metric)}; it must be a name, or a function of two rows"
        )
    return str.__str__(metric) if isinstance(metric, str) else metric


def check_metric_name(name: str) -> None:
    """Raise unless clmst or SciPy has a metric of this name, or it is "precomputed".

    A metric of SciPy is a function of two vectors, which it calls u and v.
    """
    if name == "precomputed" or usual_name(name) in get_args(Metric):
        return
    function = getattr(distance, scipys_name(name), None)
    if not callable(function) or [*signature(function).parameters][:2] != ["u", "v"]:
        raise InvalidArgumentError(
            f"metric is {shown(name)}; it must be one of {', '.join(get_args(Metric))}, "
            "precomputed, or one of scipy.spatial.distance"
        )


def usual_name(metric: Any) -> Any:
    """Return the one name of a metric that has several."""
    return _USUAL_NAME.get(metric, metric) if isinstance(metric, str) else metric


def scipys_name(metric: Any) -> Any:
    """Return SciPy's name of a metric."""
    return "cityblock" if usual_name(metric) == "manhattan" else usual_name(metric)


def scipys_parameters(metric_params: Any) -> dict[str, Any]:
    """Return the arguments of a metric as SciPy names them: scikit-learn takes a covariance."""
    given = dict(metric_params or {})
    if "V" in given and np.ndim(given["V"]) == 2:
        given["VI"] = np.linalg.inv(given.pop("V"))
    return given


def own_parameters(rows: Array, metric: Any, metric_params: Any) -> dict[str, Any]:
    """Return SciPy's arguments of a metric, those that it takes from all rows if none are given."""
    given, name = scipys_parameters(metric_params), usual_name(metric)
    if isinstance(name, str) and name == "seuclidean":
        given.setdefault("V", rows.var(axis=0, ddof=1))
    if isinstance(name, str) and name == "mahalanobis" and "VI" not in given:
        given["VI"] = np.linalg.inv(np.atleast_2d(np.cov(rows.T))).T
    return given


def stored_distances(array: Array, metric: Any, metric_params: Any) -> Array:
    """Return the matrix of all distances by a metric of SciPy, or by a function of two rows.

    One of a function that is below 0 by rounding, as one minus a cosine may be, is 0.
    """
    check_rows(array)
    rows = array.astype(np.float64)
    check_finite(rows)
    metric = scipys_name(metric)
    try:
        distances = distance.pdist(rows, metric, **scipys_parameters(metric_params))
    except (ClmstError, MemoryError):
        raise
    except Exception as error:  # a function of the caller's may raise anything
        raise InvalidArgumentError(
            f"metric is {shown(metric)} with parameters {shown(metric_params)}; it must be one of "
            f"SciPy's, or a function of two rows ({shown(error)})"
        ) from error
    if not callable(metric):
        _check_range(rows, distances, metric, metric_params)
    wrong = np.isnan(distances)
    if callable(metric):  # some of SciPy's are negative where rows are not what they are made for
        by_rounding = (distances < 0) & (distances >= -_ROUNDED * distances.max(initial=0.0))
        distances[by_rounding] = 0.0
        wrong |= distances < 0
    matrix: Array = distance.squareform(distances)
    if wrong.any():
        u, v = np.argwhere(distance.squareform(wrong))[0]
        raise InvalidGraphError(
            f"metric {shown(metric)} gives {matrix[u, v]} for points {u} and {v}; distances are "
            "neither negative nor NaN"
        )
    return matrix


def _check_range(rows: Array, distances: Array, metric: str, metric_params: Any) -> None:
    """Raise if powers of differences have overflowed, or have lost bits because they are small."""
    lost = np.isinf(distances)
    power = {"sqeuclidean": 1.0, "minkowski": (metric_params or {}).get("p", 2)}.get(metric)
    if power is not None and np.isfinite(power):
        lost |= distances < 2.0 ** (-1022 / max(power, 1))
    if not lost.any():
        return
    near = np.flatnonzero(lost)
    starts = np.cumsum(np.arange(len(rows), 0, -1)) - len(rows)  # of rows of the condensed form
    u = np.searchsorted(starts, near, side="right") - 1
    v = near - starts[u] + u + 1
    wrong = np.flatnonzero((rows[u] != rows[v]).any(axis=1))
    if wrong.size:
        at = int(wrong[0])
        one, other = int(u[at]), int(v[at])
        apart = np.abs(rows[one] - rows[other]).max()
        raise InvalidGraphError(
            f"metric {shown(metric)} gives {distances[near[at]]:.3g} for points {one} and {other}, "
            f"which are {apart:.3g} apart in a coordinate; a power of that is beyond the range "
            "of doubles, so multiply all coordinates by a number"
        )
