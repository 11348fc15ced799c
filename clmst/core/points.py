"""Points as a complete graph: weights are distances, computed on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from clmst.core import pairs, sphere
from clmst.core.arguments import as_array, check_choice
from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_size
from clmst.core.weight_keys import Array

Metric: TypeAlias = Literal["euclidean", "rounded-euclidean", "great-circle", "haversine"]

_MOST_DIMENSIONS = 3
_TOO_FAR = 2.0**31  # rounded distances have 32 bits on the device


@dataclass(frozen=True, eq=False)
class Points:
    """Points as the complete graph of their distances.

    No distance is stored: `dense` computes them on the device, in O(n) memory. They are bitwise
    equal on every device, so the forest is the same.

    Parameters
    ----------
    coordinates : array of real numbers, shape (n, 1), (n, 2) or (n, 3)
        Finite, taken as float64. For "great-circle" and "haversine" latitude and longitude, shape
        (n, 2).
    metric : {"euclidean", "rounded-euclidean", "great-circle", "haversine"}
        "euclidean": ``sqrt(dx*dx + dy*dy + dz*dz)`` in float64, each operation rounded as IEEE 754
        says. "rounded-euclidean": the same, rounded to the nearest integer, halves up (TSPLIB's
        EUC_2D and EUC_3D). "great-circle": whole kilometres of TSPLIB's GEO, of coordinates
        DDD.MM, degrees and minutes. "haversine": kilometres on a sphere of 6371.0088 km, of
        coordinates in decimal degrees; the straight line between two points is rounded to
        centimetres before. Distances of "rounded-euclidean" and "great-circle" are int64.

    Raises
    ------
    InvalidGraphError
        Wrong shape or dtype, a coordinate that is not finite, more than 2**26 - 1 points, a
        rounded distance of 2**31 or more, or, for "haversine", a latitude beyond 90 or a longitude
        beyond 360 degrees.
    InvalidArgumentError
        The metric is unknown.

    Notes
    -----
    The id of the edge (u, v), u < v, is the index of its distance in SciPy's condensed form,
    ``scipy.spatial.distance.pdist(coordinates)``.

    Examples
    --------
    >>> import clmst
    >>> square = clmst.Points([[0, 0], [0, 3], [4, 3], [4, 0]])
    >>> clmst.minimum_spanning_forest(square).total_weight
    10.0
    """

    coordinates: Any
    metric: Metric = "euclidean"

    def __post_init__(self) -> None:
        """Check everything."""
        object.__setattr__(self, "metric", check_choice("metric", self.metric, get_args(Metric)))
        object.__setattr__(self, "coordinates", _checked(self.coordinates, self.metric))
        pairs.check_count(self.n_vertices)
        if self.metric == "rounded-euclidean":
            _check_extent(self.coordinates)
        if self.metric == "haversine":
            _check_degrees(self.coordinates)

    @property
    def n_vertices(self) -> int:
        """Number of points."""
        return int(self.coordinates.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of pairs."""
        return pairs.count(self.n_vertices)

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """Of distances: float64, or int64 where they are rounded."""
        return np.dtype(np.float64 if self.metric in ("euclidean", "haversine") else np.int64)

    @property
    def compared_as(self) -> Metric:
        """The metric of the distances that are compared; that of :attr:`planes`.

        Arcs are compared by their chords, which are rounded: so no two arcs of different chords
        are equal, and edges have the same order by either.
        """
        return "rounded-euclidean" if self.metric == "haversine" else self.metric

    @cached_property
    def planes(self) -> npt.NDArray[np.float64]:
        """The coordinates for squared distances: a row for each of 2 or 3 dimensions."""
        if self.metric == "great-circle":
            return sphere.on_unit_sphere(self.coordinates)
        if self.metric == "haversine":
            return sphere.on_earth(self.coordinates)
        n, dimensions = self.coordinates.shape
        planes = np.zeros((max(dimensions, 2), n))
        planes[:dimensions] = self.coordinates.T
        return planes

    @cached_property
    def steps(self) -> npt.NDArray[np.float64]:
        """The squared chords at which great-circle distances change; none for other metrics."""
        return sphere.squared_chords() if self.metric == "great-circle" else np.zeros(0)

    def weights_of(self, u: Array, v: Array) -> Array:
        """Return the distances of pairs of points, as the device computes them.

        Raises
        ------
        InvalidGraphError
            There is no such point, or an array is not of integers.
        """
        return self._distances(*pairs.check_ends(u, v, self.n_vertices))

    def _distances(self, u: Array, v: Array) -> Array:
        squares = np.zeros(np.broadcast(u, v).shape)
        with np.errstate(over="ignore"):
            for plane in self.planes:
                difference = plane[u] - plane[v]
                squares = squares + difference * difference
        if self.metric == "great-circle":
            return np.searchsorted(self.steps, squares, side="right").astype(np.int64)
        distances = np.sqrt(squares)
        if self.metric == "euclidean":
            return distances
        rounded = (distances + 0.5).astype(np.int64)
        return sphere.kilometres(rounded) if self.metric == "haversine" else rounded

    def to_graph(self) -> Graph:
        """Return the graph with every pair stored, for algorithms that take edges. O(n**2) memory.

        Edge ids, and so forests, stay the same.

        Raises
        ------
        InvalidGraphError
            There are more pairs than a graph may have edges.
        """
        n = self.n_vertices
        check_size(n, self.n_edges)
        indptr = pairs.rows(n)
        weights = np.empty(self.n_edges, self.weight_dtype)
        for u in range(n - 1):
            others = slice(u + 1, n)
            ours = np.arange(others.start, others.stop)
            weights[indptr[u] : indptr[u + 1]] = self._distances(np.array(u), ours)
        return Graph.unchecked(
            indptr=indptr,
            indices=pairs.columns(n),
            weights=weights,
            is_symmetric=False,
            edge_ids=None,
            n_input=self.n_edges,
            coordinates=self.coordinates if self.coordinates.shape[1] == 2 else None,
        )


def _checked(coordinates: Any, metric: Metric) -> npt.NDArray[np.float64]:
    """Return coordinates as float64 of shape (n, d), or raise."""
    array = as_array("coordinates", coordinates, error=InvalidGraphError)
    if array.size == 0 and array.ndim < 2:
        array = np.zeros((0, 2))
    if array.dtype.kind not in "biuf":
        raise InvalidGraphError(f"coordinates have dtype {array.dtype}; they must be real numbers")
    allowed = (2,) if metric in ("great-circle", "haversine") else range(1, _MOST_DIMENSIONS + 1)
    if array.ndim != 2 or array.shape[1] not in allowed:
        shapes = " or ".join(f"(n, {d})" for d in allowed)
        raise InvalidGraphError(f"coordinates have shape {array.shape}; {metric} takes {shapes}")
    doubles = np.ascontiguousarray(array, np.float64)
    wrong = np.argwhere(~np.isfinite(doubles))
    if wrong.size:
        point, axis = wrong[0].tolist()
        raise InvalidGraphError(
            f"coordinate {axis} of point {point} is {doubles[point, axis]}; all must be finite"
        )
    return doubles


def _check_degrees(coordinates: npt.NDArray[np.float64]) -> None:
    """Raise unless coordinates are latitudes and longitudes in degrees."""
    for axis, (name, most) in enumerate((("latitude", 90), ("longitude", 360))):
        wrong = np.flatnonzero(np.abs(coordinates[:, axis]) > most)
        if wrong.size:
            point = int(wrong[0])
            raise InvalidGraphError(
                f"point {point} has the {name} {coordinates[point, axis]}; a point is latitude and "
                f"longitude in degrees, and a {name} goes from -{most} to {most}"
            )


def _check_extent(coordinates: npt.NDArray[np.float64]) -> None:
    """Raise if a rounded distance may need more than 31 bits."""
    if coordinates.size == 0:
        return
    sides = coordinates.max(axis=0) - coordinates.min(axis=0)
    longest = float(np.sqrt((sides * sides).sum()))
    if not longest < _TOO_FAR - 1:
        raise InvalidGraphError(
            f"the points are up to {longest:g} apart; rounded distances must be below 2**31"
        )
