"""What a caller gives to be clustered, as a graph whose weights are distances."""

from __future__ import annotations

from numbers import Real
from typing import Any, get_args

import numpy as np
from scipy import sparse
from scipy.spatial import distance

from clmst.api import minimum_spanning_forest
from clmst.core.arguments import as_array, check_dict, has, shown
from clmst.core.coercion import as_graph
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.points import Metric, Points
from clmst.core.weight_keys import Array
from clmst.points.distance_matrices import checked_graph, of_sparse, precomputed

# Other names of metrics that Points has, and of one that SciPy has.
_USUAL_NAME = {
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "l1": "manhattan",
    "l2": "euclidean",
    "p": "minkowski",
}
# Minkowski's distances that Points has, by their power.
_OF_POWER = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}


def forest_of(X: Any, metric: Any, metric_params: Any, device: Any) -> Forest:
    """Return the minimum spanning forest of what is to be clustered; a forest as it is."""
    if isinstance(X, Forest):
        return X
    return minimum_spanning_forest(graph_of(X, metric, metric_params), device=device)


def graph_of(X: Any, metric: Any, metric_params: Any = None) -> Any:
    """Return the graph of distances: of points by a metric, of a matrix, or a caller's own.

    Raises
    ------
    InvalidGraphError
        Malformed input, no points, or a distance below 0.
    InvalidArgumentError
        An unknown metric.
    """
    graph = _given(X, check_metric(metric), metric_params)
    if graph.n_vertices == 0:
        raise InvalidGraphError("there are no points; a clustering takes one at least")
    return graph


def _given(X: Any, metric: Any, metric_params: Any) -> Any:
    if sparse.issparse(X):
        return of_sparse(X)
    if isinstance(X, Graph | DenseGraph):
        return checked_graph(X)
    is_frame = has(X, "columns", "to_numpy")
    if not (is_frame or isinstance(X, np.ndarray | list | tuple)):
        return checked_graph(as_graph(X))
    array = as_rows(X)
    if isinstance(metric, str) and metric == "precomputed":
        return precomputed(array)
    return of_points(array, metric, metric_params)


def restricted(graph: Any, connectivity: Any) -> Graph:
    """Return the pairs of a complete graph that a matrix names in either direction.

    Raises
    ------
    InvalidArgumentError
        `graph` has edges of its own, or the matrix has another number of points.
    """
    if isinstance(graph, Graph):
        raise InvalidArgumentError(
            "connectivity is given, and X is a graph, which has edges of its own; connectivity is "
            "for points and for complete matrices"
        )
    n = graph.n_vertices
    if not sparse.issparse(connectivity):
        connectivity = as_array("connectivity", connectivity)
    if connectivity.shape != (n, n):
        raise InvalidArgumentError(
            f"connectivity has shape {connectivity.shape} for {n} points; it must be ({n}, {n})"
        )
    given = sparse.coo_array(connectivity)
    is_pair = (given.row != given.col) & (given.data != 0)
    low, high = (f(given.row, given.col)[is_pair] for f in (np.minimum, np.maximum))
    pairs = np.unique(np.stack([low, high]).astype(np.int64), axis=1)
    u, v = pairs
    return Graph.from_edges(u, v, graph.weights_of(u, v), n_vertices=n)


def as_rows(X: Any) -> Array:
    """Return what a caller gives as an array; numbers that are stored as objects are converted.

    A data frame is such an array if its columns have several types.
    """
    array = as_array("X", X, error=InvalidGraphError)
    if array.dtype != object:
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidGraphError(
            f"X has dtype object, and not all of it are numbers ({error}); X must be real numbers"
        ) from error


def of_points(array: Array, metric: Any, metric_params: Any) -> Points | DenseGraph:
    """Return points under a metric: computed on demand where clmst has it, else stored, O(n**2)."""
    if metric_params is not None:
        check_dict("metric_params", metric_params)
    name = usual_name(metric)
    if isinstance(name, str) and name == "minkowski":
        name, metric_params = _by_power(metric_params)
    if isinstance(name, str) and name in get_args(Metric) and not metric_params:
        return Points(array, name)  # type: ignore[arg-type]  # it is one of them
    return DenseGraph(stored_distances(array, name, metric_params), symmetrize=True)


def _by_power(metric_params: Any) -> tuple[str, dict[str, Any]]:
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
    return metric


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


def stored_distances(array: Array, metric: Any, metric_params: Any) -> Array:
    """Return the matrix of all distances by a metric of SciPy, or by a function of two rows."""
    rows = checked_rows(array)
    metric = scipys_name(metric)
    try:
        condensed: Array = distance.pdist(rows, metric, **scipys_parameters(metric_params))
        return distance.squareform(condensed)
    except (ClmstError, MemoryError):
        raise
    except Exception as error:  # a function of the caller's may raise anything
        raise InvalidArgumentError(
            f"metric is {shown(metric)} with parameters {shown(metric_params)}; it must be one of "
            f"SciPy's, or a function of two rows ({shown(error)})"
        ) from error


def checked_rows(array: Array) -> Array:
    """Return points as rows of float64, or raise unless they are finite real numbers."""
    if array.dtype.kind not in "biuf" or array.ndim != 2 or not array.shape[1]:
        raise InvalidGraphError(
            f"X has shape {array.shape} and dtype {array.dtype}; points are rows of real numbers"
        )
    rows = array.astype(np.float64)
    wrong = np.argwhere(~np.isfinite(rows))
    if wrong.size:
        i, j = wrong[0].tolist()
        value = "NaN" if np.isnan(rows[i, j]) else rows[i, j]
        raise InvalidGraphError(f"coordinate {j} of point {i} is {value}; all must be finite")
    return rows
