"""Metrics for which :class:`Points` cannot compute distances on a device.

SciPy, or a function of the caller, computes all distances by these metrics on the host. This module
has the names and the parameters of the metrics, and computes the matrix of distances.
"""

from __future__ import annotations

from inspect import signature
from numbers import Real
from typing import Any, get_args

import numpy as np

from clmst.core.arguments import shown
from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError
from clmst.core.point_checks import check_finite
from clmst.core.point_rows import check_rows
from clmst.core.points import Metric
from clmst.core.powers import NAME_OF_POWER
from clmst.core.weight_keys import Array

# Other names of metrics, and the name that clmst uses: a metric of Points, or "minkowski".
_USUAL_NAME = {
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "l1": "manhattan",
    "l2": "euclidean",
    "p": "minkowski",
}
# Rounding may make a distance negative, by at most this share of the greatest distance.
_ROUNDED = 1e-12


def by_power(metric_params: Any) -> tuple[str, dict[str, Any]]:
    """Return clmst's name of Minkowski's distance with a given power, and its other parameters.

    `metric_params` has the power as "p", by default 2. The name is "manhattan" for the power 1,
    "euclidean" for 2 and "chebyshev" for infinity, unless `metric_params` has further items. In all
    other cases the name is "minkowski", and the power stays among the parameters. Raises
    InvalidArgumentError unless the power is above 0.
    """
    given = dict(metric_params or {})
    power: Any = given.pop("p", 2)
    check_power(power)
    if given or float(power) not in NAME_OF_POWER:
        return "minkowski", {**given, "p": power}
    return NAME_OF_POWER[float(power)], {}


def check_power(power: Any) -> None:
    """Raise InvalidArgumentError unless the power of Minkowski's distance is a number above 0."""
    if not isinstance(power, Real) or isinstance(power, bool) or not float(power) > 0:
        raise InvalidArgumentError(
            f"p of Minkowski's distance is {shown(power)}; it must be a number above 0"
        )


def check_metric(metric: Any) -> Any:
    """Return `metric`. Raise InvalidArgumentError unless it is a string or a function.

    Whether a metric of this name exists is checked later, when distances are computed.
    """
    if not isinstance(metric, str) and not callable(metric):
        raise InvalidArgumentError(
            f"metric is {shown(metric)}; it must be a name, or a function of two rows"
        )
    return str.__str__(metric) if isinstance(metric, str) else metric


def check_metric_name(name: str) -> None:
    """Raise InvalidArgumentError unless clmst or SciPy has a metric with this name.

    The name "precomputed" is also accepted. A function of ``scipy.spatial.distance`` is a metric if
    its first two parameters are named u and v.
    """
    if name == "precomputed" or usual_name(name) in get_args(Metric):
        return
    from scipy.spatial import distance  # takes a tenth of a second

    function = getattr(distance, scipys_name(name), None)
    if not callable(function) or [*signature(function).parameters][:2] != ["u", "v"]:
        raise InvalidArgumentError(
            f"metric is {shown(name)}; it must be one of {', '.join(get_args(Metric))}, "
            "precomputed, or one of scipy.spatial.distance"
        )


def usual_name(metric: Any) -> Any:
    """Return clmst's name of a metric that has several names. Return any other metric unchanged."""
    return _USUAL_NAME.get(metric, metric) if isinstance(metric, str) else metric


def scipys_name(metric: Any) -> Any:
    """Return SciPy's name of a metric. If `metric` is a function, return the function."""
    return "cityblock" if usual_name(metric) == "manhattan" else usual_name(metric)


def scipys_parameters(metric_params: Any) -> dict[str, Any]:
    """Return the parameters of a metric under SciPy's names.

    scikit-learn takes a covariance matrix as "V", where SciPy takes its inverse as "VI".
    """
    given = dict(metric_params or {})
    if "V" in given and np.ndim(given["V"]) == 2:
        given["VI"] = np.linalg.inv(given.pop("V"))
    return given


def own_parameters(rows: Array, metric: Any, metric_params: Any) -> dict[str, Any]:
    """Return SciPy's parameters of a metric, with defaults that depend on the rows filled in.

    The variances of "seuclidean" and the inverse covariance of "mahalanobis" are computed from all
    `rows` if they are not given.
    """
    given, name = scipys_parameters(metric_params), usual_name(metric)
    if isinstance(name, str) and name == "seuclidean":
        given.setdefault("V", rows.var(axis=0, ddof=1))
    if isinstance(name, str) and name == "mahalanobis" and "VI" not in given:
        given["VI"] = np.linalg.inv(np.atleast_2d(np.cov(rows.T))).T
    return given


def stored_distances(array: Array, metric: Any, metric_params: Any) -> Array:
    """Compute the matrix of all distances by a metric of SciPy, or by a function of two rows.

    `array` has the points as rows. `metric_params` are further arguments of the metric, or None. If
    a function returns a distance that is negative only by rounding, as one minus a cosine may be,
    the distance becomes 0. Raises InvalidArgumentError if the metric is unknown or the function
    raises, and InvalidGraphError if a distance is negative or NaN.
    """
    from scipy.spatial import distance  # takes a tenth of a second

    check_rows(array)
    rows = array.astype(np.float64)
    check_finite(rows)
    metric = scipys_name(metric)
    try:
        distances = distance.pdist(rows, metric, **scipys_parameters(metric_params))
    except (ClmstError, MemoryError):
        raise
    except Exception as error:  # the caller's function may raise any exception
        raise InvalidArgumentError(
            f"metric is {shown(metric)} with parameters {shown(metric_params)}; it must be one of "
            f"SciPy's, or a function of two rows ({shown(error)})"
        ) from error
    if not callable(metric):
        _check_range(rows, distances, metric, metric_params)
    wrong = np.isnan(distances)
    # Some metrics of SciPy return negative values for rows for which they are not defined. Such
    # rows are accepted.
    if callable(metric):
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
    """Raise InvalidGraphError if the computation of a distance left the range of doubles.

    `distances` are in SciPy's condensed form, by the metric with these parameters. An infinite
    distance shows that a power of a difference of coordinates has overflowed. A very small distance
    shows that a power has lost bits by underflow. Distances of equal rows are not checked.
    """
    lost = np.isinf(distances)
    power = {"sqeuclidean": 1.0, "minkowski": (metric_params or {}).get("p", 2)}.get(metric)
    if power is not None and np.isfinite(power):
        lost |= distances < 2.0 ** (-1022 / max(power, 1))
    if not lost.any():
        return
    near = np.flatnonzero(lost)
    starts = np.cumsum(np.arange(len(rows), 0, -1)) - len(rows)  # first index of each row's pairs
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
