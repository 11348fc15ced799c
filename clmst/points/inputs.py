"""The input of clustering as a graph of distances: points, matrices and graphs, checked."""

from __future__ import annotations

from inspect import signature
from numbers import Real
from typing import Any, get_args

import numpy as np
from scipy import sparse
from scipy.spatial import distance

from clmst.api import minimum_spanning_forest
from clmst.core import from_scipy
from clmst.core.arguments import as_array, check_dict, has, shown
from clmst.core.coercion import as_graph
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.points import Metric, Points, check_finite
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


def forest_of(X: Any, metric: Any, metric_params: Any, device: Any) -> Forest:
    """Return the minimum spanning forest of what is to be clustered; a forest as it is."""
    if isinstance(X, Forest):
        return X
    return minimum_spanning_forest(graph_of(X, metric, metric_params), device=device)


def graph_of(X: Any, metric: Any, metric_params: Any = None) -> Any:
    """Return the graph of distances: of points by a metric, of a matrix, or a caller's own."""
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
    """Return the pairs of a complete graph that a matrix names in either direction."""
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

    A data frame is such an array if its columns have several types. pandas' NA becomes NaN.
    """
    array = as_array("X", X, error=InvalidGraphError)
    if array.dtype != object:
        return array
    try:
        return (np.where(X.isna(), np.nan, array) if has(X, "isna") else array).astype(np.float64)
    except Exception as error:  # an object of the caller's may raise anything
        raise InvalidGraphError(
            f"X has dtype object, and not all of it are numbers ({shown(error)}); X must be real "
            "numbers"
        ) from error


def filled(matrix: Any) -> Array:
    """Return rows as an array: of a sparse matrix with its zeros, if its arrays are sound."""
    if not sparse.issparse(matrix):
        return as_rows(matrix)
    indptr, indices, data, shape = from_scipy.csr_parts(matrix, square=False)
    from_scipy.check_parts("csr", shape, {"indptr": indptr, "indices": indices, "data": data})
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    filled = np.zeros(shape)
    np.add.at(filled, (rows, indices), data)
    return filled


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
    return str.__str__(metric) if isinstance(metric, str) else metric


def check_metric_name(name: str) -> None:
    """Raise unless a metric is called so; each of SciPy's is a function of two vectors, u and v."""
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


def check_rows(array: Array) -> None:
    """Raise unless points are rows of real numbers."""
    if array.dtype.kind not in "biuf" or array.ndim != 2 or not array.shape[1]:
        raise InvalidGraphError(
            f"X has shape {array.shape} and dtype {array.dtype}; points are rows of real numbers"
        )


def checked_graph(graph: Any) -> Any:
    """Return a graph, or raise if one of its weights is no distance."""
    weights = None if isinstance(graph, Points) else graph.weights
    if weights is not None and weights.size and weights.dtype.kind != "u" and weights.min() < 0:
        lightest = int(weights.argmin())
        if isinstance(graph, DenseGraph):
            place, (u, v) = "cell", divmod(lightest, weights.shape[1])
        else:
            row = int(np.searchsorted(graph.indptr, lightest, side="right")) - 1
            place, (u, v) = "edge", (row, int(graph.indices[lightest]))
        raise InvalidGraphError(
            f"{place} ({u}, {v}) has the weight {weights.flat[lightest]}; distances are not "
            "negative"
        )
    return graph


def of_sparse(matrix: Any) -> Graph:
    """Return a sparse matrix of distances as a graph; one direction of an edge is enough.

    If both are stored they may differ as rounding makes them differ: the lesser counts.
    """
    if len(set(matrix.shape)) != 1:
        raise InvalidGraphError(
            f"the sparse matrix X has shape {matrix.shape}; a sparse matrix has distances and must "
            "be square, so points must be given as an array, X.toarray()"
        )
    graph: Graph = checked_graph(Graph.from_scipy(matrix))
    if not graph.is_symmetric and graph.weights.size < matrix.nnz:
        _check_both_directions(graph, matrix.tocoo())
    return graph


def _check_both_directions(graph: Graph, stored: Any) -> None:
    """Raise if the two directions of an edge differ by more than rounding."""
    n, is_edge = np.uint64(graph.n_vertices), stored.row != stored.col
    u, v, given = (array[is_edge] for array in (stored.row, stored.col, stored.data))
    rows = np.repeat(np.arange(graph.n_vertices, dtype=np.uint64), np.diff(graph.indptr))
    low, high = (f(u, v).astype(np.uint64) for f in (np.minimum, np.maximum))
    slots = np.searchsorted(rows * n + graph.indices.astype(np.uint64), low * n + high)
    lesser = graph.weights[slots]
    wrong = np.flatnonzero(
        ~np.isclose(given, lesser) if given.dtype.kind == "f" else given != lesser
    )
    if wrong.size:
        at = wrong[0]
        raise InvalidGraphError(
            f"cell ({u[at]}, {v[at]}) of the sparse distance matrix is {given[at]} but ({v[at]}, "
            f"{u[at]}) is {lesser[at]}; both must be equal, or one of them not stored"
        )


def precomputed(array: Array) -> DenseGraph:
    """Return a matrix of distances, square or condensed, as a graph.

    Cells (i, j) and (j, i) may differ as rounding makes them differ: the lesser counts.
    """
    if array.ndim == 1 and array.size:
        try:
            array = distance.squareform(array)
        except ValueError as error:
            raise InvalidGraphError(
                f"there are {array.size} condensed distances; n points have n * (n - 1) / 2"
            ) from error
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InvalidGraphError(
            f"the precomputed distance matrix has shape {array.shape}; it must be square, or "
            "condensed as SciPy's pdist makes it"
        )
    if array.dtype.kind == "f":
        check_nearly_symmetric(array)
    graph: DenseGraph = checked_graph(DenseGraph(array, symmetrize=array.dtype.kind == "f"))
    return graph


def check_nearly_symmetric(array: Array) -> None:
    """Raise if a matrix has a NaN, or differs from its transpose by more than rounding."""
    wrong = np.argwhere(np.isnan(array))
    if wrong.size:
        i, j = wrong[0].tolist()
        raise InvalidGraphError(f"cell ({i}, {j}) of the matrix is NaN; distances must be ordered")
    if not np.allclose(array, array.T):
        i, j = np.argwhere(~np.isclose(array, array.T))[0].tolist()
        raise InvalidGraphError(
            f"cell ({i}, {j}) of the precomputed distance matrix is {array[i, j]} but ({j}, {i}) "
            f"is {array[j, i]}; its values must be symmetric"
        )
