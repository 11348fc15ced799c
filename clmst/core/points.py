"""Points as a complete graph: weights are distances, computed on demand."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import iadd
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from clmst.core import pairs, sphere
from clmst.core.arguments import as_reals, check_choice
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_size
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array

Metric: TypeAlias = Literal[
    "euclidean",
    "manhattan",
    "chebyshev",
    "cosine",
    "rounded-euclidean",
    "great-circle",
    "haversine",
]

_ON_A_SPHERE = ("great-circle", "haversine")
_ROUNDED = ("rounded-euclidean", "great-circle")
_TOO_FAR = 2.0**31  # rounded distances have 32 bits on the device
_SUMMED_AT_ONCE, _TURNED_AT_ONCE = 1 << 20, 1 << 15


@dataclass(frozen=True, eq=False)
class Points:
    """Points as the complete graph of their distances.

    No distance is stored: `dense` computes them on the device, in O(n) memory. They are bitwise
    equal on every device, so the forest is the same.

    Parameters
    ----------
    coordinates : array of real numbers, shape (n, d)
        A row a point, d at least 1. Finite, taken as float64. For "great-circle" and "haversine"
        latitude and longitude, shape (n, 2).
    metric : str
        * "euclidean": ``sqrt(dx*dx + dy*dy + ...)``, the square root of the sum of squares;
        * "manhattan": the sum of ``abs(dx)``; "chebyshev": the greatest ``abs(dx)``;
        * "cosine": ``max(0, 1 - (a @ b))`` of both rows divided by their lengths;
        * "rounded-euclidean": "euclidean", rounded to the nearest integer, halves up (TSPLIB's
          EUC_2D and EUC_3D);
        * "great-circle": whole kilometres of TSPLIB's GEO, of coordinates DDD.MM, degrees and
          minutes;
        * "haversine": kilometres on a sphere of 6371.0088 km, of coordinates in decimal degrees;
          the straight line between two points is rounded to centimetres before.

        All are computed in float64, one dimension after the other, each operation rounded as IEEE
        754 says. Distances of "rounded-euclidean" and "great-circle" are int64.
    core_distances : array of real numbers, shape (n,), optional
        The weight of a pair is then the *mutual reachability* of HDBSCAN: the greatest of its
        distance and the core distances of both points (:func:`clmst.core_distances`). For
        "euclidean", "manhattan", "chebyshev" and "cosine".

    Raises
    ------
    InvalidGraphError
        Wrong shape or dtype, a coordinate that is not finite, more than 2**32 - 2 points, a
        rounded distance of 2**31 or more; for "haversine" a latitude beyond 90 or a longitude
        beyond 360 degrees; for "cosine" a row of zeros; a core distance that is negative or NaN.
    InvalidArgumentError
        The metric is unknown, or takes no core distances.

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
    core_distances: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", check_choice("metric", self.metric, get_args(Metric)))
        object.__setattr__(self, "coordinates", _checked(self.coordinates, self.metric))
        check_size(self.n_vertices, 0)
        if self.core_distances is not None:
            core = _checked_core(self.core_distances, self.n_vertices, self.metric)
            object.__setattr__(self, "core_distances", core)
        if self.metric == "rounded-euclidean":
            _check_extent(self.coordinates)
        if self.metric == "haversine":
            _check_degrees(self.coordinates)
        if self.metric == "cosine":
            _ = self.planes  # which raises for points without a direction

    def __repr__(self) -> str:
        core = "" if self.core_distances is None else ", with core distances"
        rows, columns = self.coordinates.shape
        return f"Points({rows} x {columns}, metric={self.metric!r}{core})"

    @property
    def n_vertices(self) -> int:
        """Number of points."""
        return int(self.coordinates.shape[0])

    @property
    def dimensions(self) -> int:
        """Coordinates that distances are computed of, at least 2; three on a sphere."""
        return 3 if self.metric in _ON_A_SPHERE else max(int(self.coordinates.shape[1]), 2)

    @property
    def n_edges(self) -> int:
        """Number of pairs."""
        return pairs.count(self.n_vertices)

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of distances: float64, or int64 where they are rounded."""
        return np.dtype(np.int64 if self.metric in _ROUNDED else np.float64)

    @property
    def compared_as(self) -> Metric:
        """The metric of the distances that are compared; that of :attr:`planes`.

        Arcs are compared by their chords, which are rounded: so no two arcs of different chords
        are equal, and edges have the same order by either.
        """
        return "rounded-euclidean" if self.metric == "haversine" else self.metric

    @cached_property
    def planes(self) -> npt.NDArray[np.float64]:
        """The coordinates that distances are computed of: a row a dimension, at least 2."""
        if self.metric == "great-circle":
            return sphere.on_unit_sphere(self.coordinates)
        if self.metric == "haversine":
            return sphere.on_earth(self.coordinates)
        n, dimensions = self.coordinates.shape
        planes = np.zeros((max(dimensions, 2), n))

        def turn(rows: slice) -> None:
            planes[:dimensions, rows] = self.coordinates[rows].T

        in_threads(turn, slices(n, _TURNED_AT_ONCE))
        return _of_length_1(planes) if self.metric == "cosine" else planes

    @cached_property
    def steps(self) -> npt.NDArray[np.float64]:
        """The squared chords at which great-circle distances change; none for other metrics."""
        return sphere.squared_chords() if self.metric == "great-circle" else np.zeros(0)

    @property
    def on_map(self) -> npt.NDArray[np.float64]:
        """The coordinates in the order of a map: on a sphere longitude, then latitude."""
        found: npt.NDArray[np.float64] = self.coordinates
        return found[:, ::-1] if self.metric in _ON_A_SPHERE else found

    def with_core_distances(self, core: Any) -> Points:
        """Return the same points, which are not checked again, with core distances."""
        found = copy(self)
        checked = None if core is None else _checked_core(core, self.n_vertices, self.metric)
        object.__setattr__(found, "core_distances", checked)
        return found

    def weights_of(self, u: Array, v: Array) -> Array:
        """Return the distances of pairs of points, as the device computes them.

        Raises
        ------
        InvalidGraphError
            There is no such point, or an array is not of integers.
        """
        return self._distances(*pairs.check_ends(u, v, self.n_vertices))

    def _distances(self, u: Array, v: Array) -> Array:
        distances = self.distances_to(self, u, v)
        core = self.core_distances
        if core is None:
            return distances
        farthest: Array = np.maximum(np.maximum(distances, core[u]), core[v])
        return farthest

    def distances_to(self, others: Points, u: Array, v: Array) -> Array:
        """Return the distances of points `u` to points `v` of others, core distances aside.

        As cl/device/distance.cl computes them. The others have the same metric and dimensions.
        """
        # Indices as each gather would make them anew; terms and sums in place: new memory is slow.
        u, v = np.broadcast_arrays(u.astype(np.intp), v.astype(np.intp))
        both = zip(self.planes, others.planes, strict=True)
        terms = (self._term(plane[u], other[v]) for plane, other in both)
        with np.errstate(over="ignore"):
            sums: Array = reduce(np.maximum if self.metric == "chebyshev" else iadd, terms)
        if self.metric == "cosine":
            return np.maximum(1.0 - sums, 0.0)
        if self.metric in ("manhattan", "chebyshev"):
            return sums
        if self.metric == "great-circle":
            return np.searchsorted(self.steps, sums, side="right").astype(np.int64)
        distances = np.sqrt(sums)
        if self.metric == "euclidean":
            return distances
        rounded = (distances + 0.5).astype(np.int64)
        return sphere.kilometres(rounded) if self.metric == "haversine" else rounded

    def _term(self, a: Any, b: Array) -> Any:
        """Return what one dimension adds to the sums of distances; `a` is overwritten."""
        if self.metric == "cosine":
            a *= b
            return a
        a -= b
        if self.metric in ("manhattan", "chebyshev"):
            return np.abs(a)
        a *= a
        return a

    def to_graph(self) -> Graph:
        """Return the graph with every pair stored, for algorithms that take edges. O(n**2) memory.

        Edge ids, and so forests, stay the same. The graph has `coordinates` for pictures if the
        points have two. On a sphere these are longitude and latitude, in this order.

        Raises
        ------
        InvalidGraphError
            There are more pairs than a graph may have edges.
        """
        n = self.n_vertices
        return pairs.graph_of(
            n, self.weight_dtype, lambda u: self._distances(np.array(u), np.arange(u + 1, n)),
            coordinates=self.on_map if self.coordinates.shape[1] == 2 else None,
        )  # fmt: skip


def _checked(coordinates: Any, metric: Metric) -> npt.NDArray[np.float64]:
    """Return coordinates as float64 of shape (n, d), or raise."""
    array = as_reals("coordinates", coordinates)
    if array.size == 0 and array.ndim < 2:
        array = np.zeros((0, 2))
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidGraphError(f"coordinates have shape {array.shape}; it must be (n, d), d > 0")
    if metric in _ON_A_SPHERE and array.shape[1] != 2:
        raise InvalidGraphError(f"coordinates have shape {array.shape}; {metric} takes (n, 2)")
    doubles = np.ascontiguousarray(array)
    check_finite(doubles)
    return doubles


def check_finite(doubles: npt.NDArray[np.float64]) -> None:
    """Raise unless all coordinates, a row a point, are finite."""
    if not are_finite(doubles):
        point, axis = np.argwhere(~np.isfinite(doubles))[0].tolist()
        value = "NaN" if np.isnan(doubles[point, axis]) else doubles[point, axis]
        raise InvalidGraphError(
            f"coordinate {axis} of point {point} is {value}; all must be finite"
        )


def are_finite(doubles: npt.NDArray[np.float64]) -> bool:
    """Return whether no number is infinite or NaN: then their sum is neither, unless it overflows.

    A sum takes a third of the time of looking at each. Threads share large arrays.
    """
    flat = doubles.reshape(-1)
    pieces = [flat[at : at + _SUMMED_AT_ONCE] for at in range(0, flat.size, _SUMMED_AT_ONCE)]

    def is_finite(piece: npt.NDArray[np.float64]) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(piece.sum()) or np.isfinite(piece).all())

    return all(in_threads(is_finite, pieces))


def _checked_core(given: Any, n: int, metric: Metric) -> npt.NDArray[np.float64]:
    """Return core distances as float64 of shape (n,), or raise."""
    if metric in (*_ROUNDED, "haversine"):
        raise InvalidArgumentError(
            f"core_distances are given for the metric {metric!r}; they go with 'euclidean', "
            "'manhattan', 'chebyshev' and 'cosine'"
        )
    core = np.ascontiguousarray(as_reals("core_distances", given))
    if core.shape != (n,):
        raise InvalidGraphError(
            f"core_distances have shape {core.shape}; there must be one for each of {n} points"
        )
    wrong = np.flatnonzero(~(core >= 0))
    if wrong.size:
        point = int(wrong[0])
        raise InvalidGraphError(f"core distance {point} is {core[point]}; none may be negative")
    return core + 0.0  # -0.0 is 0.0


def _of_length_1(planes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return points, a row a dimension, divided by their distances from the origin.

    By the greatest coordinate first, so that no square overflows.
    """
    greatest = np.abs(planes).max(axis=0)
    wrong = np.flatnonzero(greatest == 0)
    if wrong.size:
        raise InvalidGraphError(
            f"all coordinates of point {wrong[0]} are 0; a point has a cosine distance to others "
            "only if one of them is not"
        )
    scaled = planes / greatest
    squares = np.zeros(planes.shape[1])
    for plane in scaled:
        squares = squares + plane * plane
    units: npt.NDArray[np.float64] = scaled / np.sqrt(squares)
    return units


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
