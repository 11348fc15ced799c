"""Check the input of clustering and convert it to a graph of distances.

The input may be points, a matrix of distances, or a graph.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt

from clmst.api import minimum_spanning_forest
from clmst.core import from_scipy
from clmst.core.arguments import as_array, check_dict, has, is_sparse
from clmst.core.coercion import as_graph, is_of_another_library
from clmst.core.columns import SOURCE, TARGET, is_name
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import (
    GraphWarning,
    InvalidArgumentError,
    InvalidGraphError,
    callers_level,
)
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.mapped_rows import RowFile, is_mapped, passes
from clmst.core.point_checks import are_finite
from clmst.core.point_rows import are_rows, check_rows, column_names, rows_of
from clmst.core.points import Metric, Points
from clmst.core.powers import GREATEST_POWER
from clmst.core.weight_keys import Array
from clmst.points.metrics import by_power, check_metric, stored_distances, usual_name
from clmst.points.weights import checked_weights, induced

if TYPE_CHECKING:
    from clmst.points.hdbscan import HDBSCAN

INFINITE, MISSING = -2, -3  # labels of points with an infinite coordinate, and with a NaN
_UNITS = 16  # how far below 0 a distance may be by rounding, in units in the last place


def forest_of(
    X: Any, metric: Any, metric_params: Any, device: Any, block_points: Any = None
) -> Forest:
    """Compute the minimum spanning forest of an input of clustering, `X`.

    If `X` is a Forest, it is returned unchanged. The other arguments are explained in
    :func:`clmst.cluster.single_linkage`.
    """
    if isinstance(X, Forest):
        return X
    graph = graph_of(X, metric, metric_params)
    return minimum_spanning_forest(graph, device=device, block_points=block_points)


def graph_of(X: Any, metric: Any, metric_params: Any = None) -> Any:
    """Convert `X`, an input of clustering, to a graph of distances by a metric.

    Points become :class:`Points`, or a :class:`DenseGraph` of all distances if :class:`Points` does
    not have the metric. A matrix of distances becomes a DenseGraph, and a sparse matrix of
    distances a :class:`Graph`. Raises InvalidGraphError if the input is malformed or empty.
    """
    graph = _given(X, check_metric(metric), metric_params)
    if graph.n_vertices == 0:
        raise InvalidGraphError("there are no points; a clustering takes one at least")
    return graph


def _given(X: Any, metric: Any, metric_params: Any) -> Any:
    """Convert `X` to a graph of distances by a metric. The graph may be empty."""
    if is_sparse(X):
        return of_sparse(X)
    if is_graph(X):
        return checked_graph(as_graph(X))
    is_precomputed = isinstance(metric, str) and metric == "precomputed"
    if is_precomputed and {SOURCE, TARGET} <= set(filter(is_name, column_names(X))):
        return checked_graph(as_graph(X))  # a table of edges
    array = rows_of("X", X)
    if is_precomputed:
        return precomputed(array)
    return of_points(array, metric, metric_params)


def is_graph(X: Any) -> bool:
    """Return True if `X` is a graph of clmst or of another library.

    A graph of clmst may be on the host or on a device. A matrix and a data frame are not graphs:
    they contain points, unless the caller states that they contain distances.
    """
    if isinstance(X, Graph | DenseGraph | Points):
        return True
    if are_rows(X) or is_sparse(X):
        return False
    is_on_device = has(X, "graph") and isinstance(X.graph, Graph | DenseGraph | Points)
    return is_on_device or is_of_another_library(X)


def restricted(graph: Any, connectivity: Any) -> Graph:
    """Build a graph with those pairs of a complete graph that a connectivity matrix names.

    A pair (u, v) is named if the entry (u, v) or (v, u) of the matrix is not 0. Raises
    InvalidArgumentError if `graph` lists its edges, or if the matrix has another number of points.
    """
    if isinstance(graph, Graph):
        raise InvalidArgumentError(
            "connectivity is given, and X is a graph, which has edges of its own; connectivity is "
            "for points and for complete matrices"
        )
    n = graph.n_vertices
    if not is_sparse(connectivity):
        connectivity = as_array("connectivity", connectivity)
    if connectivity.shape != (n, n):
        raise InvalidArgumentError(
            f"connectivity has shape {connectivity.shape} for {n} points; it must be ({n}, {n})"
        )
    from scipy import sparse  # takes a quarter of a second

    given = sparse.coo_array(connectivity)
    is_pair = (given.row != given.col) & (given.data != 0)
    low, high = (f(given.row, given.col)[is_pair] for f in (np.minimum, np.maximum))
    pairs = np.unique(np.stack([low, high]).astype(np.int64), axis=1)
    u, v = pairs
    return Graph.from_edges(u, v, graph.weights_of(u, v), n_vertices=n)


def filled(matrix: Any, name: str = "X") -> Array:
    """Return a matrix of points as a dense NumPy array.

    A sparse matrix is checked before it is converted. `name` is the name of the argument in error
    messages.
    """
    if not is_sparse(matrix):
        return rows_of(name, matrix)
    indptr, indices, data, shape = from_scipy.csr_parts(matrix, square=False)
    from_scipy.check_parts("csr", shape, {"indptr": indptr, "indices": indices, "data": data})
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    filled = np.zeros(shape)
    np.add.at(filled, (rows, indices), data)
    return filled


def of_points(array: Array, metric: Any, metric_params: Any) -> Points | DenseGraph:
    """Convert an array of points and a metric to a graph of distances.

    The result is :class:`Points`, which compute distances when they are needed, if clmst has the
    metric. Otherwise it is a matrix of all distances, in O(n**2) memory.
    """
    if metric_params is not None:
        check_dict("metric_params", metric_params)
    name = usual_name(metric)
    power = None
    if isinstance(name, str) and name == "minkowski":
        name, metric_params = by_power(metric_params)
        if set(metric_params) == {"p"} and 1 <= metric_params["p"] <= GREATEST_POWER:
            power = metric_params.pop("p")
    is_own = isinstance(name, str) and name in get_args(Metric) and not metric_params
    if is_own and (name != "minkowski" or power is not None):
        points = Points(array, name, p=power)
        if name == "haversine":
            _warn_of_radians(points)
        return points
    return DenseGraph(stored_distances(array, name, metric_params), symmetrize=True)


def _warn_of_radians(points: Points) -> None:
    """Give a GraphWarning if all coordinates are between -2 pi and 2 pi, so they may be radians.

    The coordinates of the points are latitudes and longitudes in degrees.
    """
    coordinates = points.coordinates
    if coordinates.size and np.abs(coordinates).max() <= 2 * np.pi:
        warnings.warn(
            "metric is 'haversine', and all coordinates lie within plus or minus 2 pi; they are "
            "taken as degrees, and distances are kilometres, where scikit-learn takes radians "
            "(np.degrees converts them; clmst.Points(X, 'haversine') takes degrees near 0 without "
            "this warning)",
            GraphWarning,
            stacklevel=callers_level(),
        )


def checked_graph(graph: Any) -> Any:
    """Return `graph` unchanged. Raise InvalidGraphError if a weight of the graph is negative."""
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
    """Convert a sparse matrix of distances to a Graph. An edge may be stored in one direction only.

    If both directions are stored, they may differ by rounding, and the lesser distance counts.
    Raises InvalidGraphError if they differ by more, or if a distance is negative.
    """
    if len(set(matrix.shape)) != 1:
        raise InvalidGraphError(
            f"the sparse matrix X has shape {matrix.shape}; a sparse matrix has distances and must "
            "be square, so points must be given as an array, X.toarray()"
        )
    graph = Graph.from_scipy(matrix)
    weights = graph.weights
    if weights.dtype.kind == "f" and (rounded := _without_rounding(weights)) is not weights:
        graph = graph.replace_unchecked(weights=rounded)
    checked_graph(graph)
    if not graph.is_symmetric and graph.weights.size < matrix.nnz:
        _check_both_directions(graph, matrix.tocoo())
    return graph


def _check_both_directions(graph: Graph, stored: Any) -> None:
    """Raise InvalidGraphError if the two directions of an edge differ by more than rounding.

    `stored` is the caller's matrix in COO form, and `graph` has been made from it.
    """
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
    """Convert an array of distances, square or in SciPy's condensed form, to a DenseGraph.

    Cells (i, j) and (j, i) may differ by rounding, and then the lesser distance counts. Raises
    InvalidGraphError if they differ by more, or if a distance is negative or NaN.
    """
    if array.ndim == 1 and array.size:
        from scipy.spatial import distance  # takes a tenth of a second

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
        array = _without_rounding(array)
    graph: DenseGraph = checked_graph(DenseGraph(array, symmetrize=array.dtype.kind == "f"))
    return graph


def _without_rounding(array: Array) -> Array:
    """Return a copy of an array in which distances that are negative only by rounding are 0.

    For example, one minus the cosine of two equal points may be slightly negative. A distance is
    negative by rounding if it is below 0 by at most a few units in the last place of the greatest
    distance, or of 1. The array itself is returned if no distance is negative, or if one is too far
    below 0.
    """
    least = array.min(initial=0)
    if not least < 0:
        return array
    unit = _UNITS * float(np.finfo(array.dtype).eps)
    greatest = max(float(np.abs(array).max()), 1.0)
    if not np.isfinite(greatest) or least < -unit * greatest:
        return array
    rounded: Array = np.maximum(array, array.dtype.type(0))
    return rounded


def check_nearly_symmetric(array: Array) -> None:
    """Raise InvalidGraphError if an array contains NaN, or is asymmetric beyond rounding."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """The input of a clustering as a graph of distances, whose vertices are the finite rows.

    Rows with an infinite or missing coordinate, and rows of sample weight 0, are not vertices.
    """

    graph: Any  # the graph of distances, whose vertices are the finite rows
    n_rows: int  # the number of all rows of the input
    finite: npt.NDArray[np.int64]  # shape (n,): the row of the input for each vertex
    missing: npt.NDArray[np.int64]  # indices of the rows with a NaN
    n_features: int | None  # the number of coordinates; None if distances were given
    # The rows whose coordinates are all finite, as float64 or mapped from a file in any dtype. None
    # if distances were given instead of points.
    stored_rows: Array | None
    # Shape (n,): the sample weight of each vertex, 1 or more; None if there are none. Rows of
    # weight 0 are left out: they are not vertices.
    weights: npt.NDArray[np.int64] | None = None
    left_out: npt.NDArray[np.int64] | None = None  # indices of the finite rows of weight 0
    n_samples: int | None = None  # the sum of the weights of all rows

    @property
    def rows(self) -> Array | None:
        """The finite rows as float64, or None if distances were given.

        If the rows are mapped from a file, all of them are read each time.
        """
        stored = self.stored_rows
        return None if stored is None else np.asarray(stored, np.float64)

    def spread(
        self, values: Array, infinite: float, missing: float, left_out: float | None = None
    ) -> Array:
        """Expand an array of values, one for each vertex, to all rows of the input.

        Rows with a NaN get the value `missing`, other rows that are not finite get `infinite`, and
        finite rows of sample weight 0 get `left_out`. `left_out` may be None if no row has the
        weight 0.
        """
        if len(values) == self.n_rows:
            return values
        every = np.full((self.n_rows, *values.shape[1:]), infinite, values.dtype)
        every[self.finite] = values
        every[self.missing] = missing
        if self.left_out is not None:
            every[self.left_out] = left_out
        return every

    def weighted(self, sample_weight: Any) -> Distances:
        """Return a copy with sample weights, in which only rows of a weight above 0 are vertices.

        Raises InvalidArgumentError unless `sample_weight` has whole numbers of 0 or more, one for
        each row of the input, and some finite row has a weight above 0.
        """
        every = checked_weights(sample_weight, self.n_rows)
        weights = every[self.finite]
        kept = np.flatnonzero(weights)
        if not kept.size:
            raise InvalidArgumentError(
                "sample_weight is 0 for each row that is finite; one row at least must count"
            )
        return replace(
            self, graph=induced(self.graph, kept), finite=self.finite[kept],
            stored_rows=None if self.stored_rows is None else self.stored_rows[kept],
            weights=weights[kept],
            left_out=self.finite[weights == 0], n_samples=int(every.sum()),
        )  # fmt: skip


def distances_of(X: Any, model: HDBSCAN) -> Distances:
    """Check `X`, the input of the HDBSCAN estimator `model`, and convert it to distances.

    Raises InvalidArgumentError if a parameter of the estimator does not fit the input, and
    InvalidGraphError if the input is malformed.
    """
    is_precomputed = isinstance(model.metric, str) and model.metric == "precomputed"
    is_own = is_graph(X) and not isinstance(X, Points)
    if is_precomputed or is_own:
        if model.store_centers is not None:
            raise InvalidArgumentError(
                f"store_centers is {model.store_centers!r}, and distances are precomputed; centers "
                "need points"
            )
        return _complete(X)
    if isinstance(X, Points):
        return _complete(X, X.coordinates)
    if is_sparse(X) and model.algorithm in ("kd_tree", "ball_tree"):
        raise InvalidArgumentError(
            f"algorithm is {model.algorithm!r}, and X is sparse; sparse points take 'auto' or "
            "'brute'"
        )
    return _of_rows(filled(X), model)


def _complete(X: Any, rows: Array | None = None) -> Distances:
    """Convert `X`, whose rows are all finite, to :class:`Distances`.

    `X` is Points, a matrix of distances, or a graph. `rows` are the coordinates of points, or None
    for a matrix or a graph.
    """
    graph = graph_of(X, "precomputed")
    n, features = graph.n_vertices, None if rows is None else int(rows.shape[1])
    none, every = np.zeros(0, np.int64), np.arange(n)
    return Distances(
        graph=graph, n_rows=n, finite=every, missing=none, n_features=features, stored_rows=rows
    )


def finite_rows(array: Array, name: str = "X") -> tuple[Array, Array, Array]:
    """Return the finite rows as float64, their indices, and the indices of the rows with a NaN.

    If `array` is mapped from a file, rows keep their dtype. They stay in the file, or, if some are
    not finite, the finite rows are copied to a temporary file. `name` is the name of the argument
    in error messages.
    """
    check_rows(array, name)
    stay = is_mapped(array)
    rows = array if stay else array.astype(np.float64, copy=False)
    if are_finite(rows):
        return rows, np.arange(len(rows)), np.zeros(0, np.int64)
    is_finite, is_missing = np.empty((2, len(rows)), bool)
    kept = RowFile(rows.dtype, rows.shape[1]) if stay else None
    for run in passes(*rows.shape):
        some = rows[run]
        is_finite[run] = np.isfinite(some).all(axis=1)
        is_missing[run] = np.isnan(some).any(axis=1)
        if kept is not None:
            kept.append(some[is_finite[run]])
    found = rows[is_finite] if kept is None else kept.mapped()
    return found, np.flatnonzero(is_finite), np.flatnonzero(is_missing)


def _of_rows(array: Array, model: HDBSCAN) -> Distances:
    """Convert an array of points to distances of its finite rows, by the metric of `model`.

    Raises InvalidGraphError if no row is finite.
    """
    rows, finite, missing = finite_rows(array)
    if not finite.size:
        raise InvalidGraphError(
            f"X has {len(array)} rows, of which none is finite; a clustering takes one at least"
        )
    return Distances(
        graph=graph_of(rows, model.metric, model._metric_params), n_rows=len(array), finite=finite,
        missing=missing, n_features=array.shape[1], stored_rows=rows,
    )  # fmt: skip
