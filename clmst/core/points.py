"""Points as a complete graph: weights are distances, computed on demand."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import iadd
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from clmst.core import magnitude, pairs, sphere
from clmst.core.arguments import check_choice
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_size
from clmst.core.point_checks import (
    ON_A_SPHERE,
    ROUNDED,
    check_degrees,
    check_divided_core,
    check_rounded_extent,
    checked_coordinates,
    checked_core,
    of_length_1,
)
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

_UNBOUNDED = ("euclidean", "manhattan", "chebyshev")  # the metrics whose distances may overflow
_TURNED_AT_ONCE = 1 << 15


@dataclass(frozen=True, eq=False)
class Points:
    """Points as the complete graph of their distances.

    No distance is stored: `dense` computes them on the device, in O(n) memory. They are bitwise
    equal on every device, so the forest is the same.

    Parameters
    ----------
    coordinates : array of real numbers, shape (n, d), or data frame, tensor, list of rows
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
        754 says. Distances of "rounded-euclidean" and "great-circle" are int64. Before squares are
        computed for "euclidean", very large or very small coordinates are divided by a power of
        two, so that no square overflows or vanishes.
    core_distances : array of real numbers, shape (n,), optional
        The weight of a pair is then the *mutual reachability* of HDBSCAN: the greatest of its
        distance and the core distances of both points (:func:`clmst.core_distances`). For
        "euclidean", "manhattan", "chebyshev" and "cosine".

    Raises
    ------
    InvalidGraphError
        Wrong shape or dtype, a coordinate that is not finite, more than 2**32 - 2 points, a
        rounded distance of 2**31 or more, a distance beyond the greatest double, 1.8e308; for
        "euclidean" two different points whose coordinates are all closer than 2.2e-308, or than
        some 1e-304 of the greatest coordinate; for "haversine" a latitude beyond 90 or a longitude
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
    exponent: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", check_choice("metric", self.metric, get_args(Metric)))
        coordinates, greatest, least = checked_coordinates(self.coordinates, self.metric)
        object.__setattr__(self, "coordinates", coordinates)
        check_size(self.n_vertices, 0)
        if self.metric in _UNBOUNDED:
            magnitude.check_extent(coordinates, self.metric, greatest)
        if self.metric == "euclidean":
            exponent = magnitude.exponent_of(greatest, least, coordinates.shape[1])
            object.__setattr__(self, "exponent", exponent)
            if exponent and magnitude.may_be_too_near(exponent, least):
                magnitude.check_nearness(coordinates, exponent, greatest)
        if self.core_distances is not None:
            object.__setattr__(self, "core_distances", self._checked_core(self.core_distances))
        if self.metric == "rounded-euclidean":
            check_rounded_extent(self.coordinates)
        if self.metric == "haversine":
            check_degrees(self.coordinates)
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
        return 3 if self.metric in ON_A_SPHERE else max(int(self.coordinates.shape[1]), 2)

    @property
    def n_edges(self) -> int:
        """Number of pairs."""
        return pairs.count(self.n_vertices)

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of distances: float64, or int64 where they are rounded."""
        return np.dtype(np.int64 if self.metric in ROUNDED else np.float64)

    @property
    def compared_as(self) -> Metric:
        """The metric of the distances that are compared; that of :attr:`planes`.

        Arcs are compared by their chords, which are rounded: so no two arcs of different chords
        are equal, and edges have the same order by either.
        """
        return "rounded-euclidean" if self.metric == "haversine" else self.metric

    @cached_property
    def planes(self) -> npt.NDArray[np.float64]:
        """The coordinates that distances are computed of: a row a dimension, at least 2.

        Those of "euclidean" are divided by ``2**exponent``. So are :attr:`divided_core`, and all
        that a device computes from both; :meth:`multiplied` undoes it. The exponent is 0 except
        for very large and very small coordinates.
        """
        if self.metric == "great-circle":
            return sphere.on_unit_sphere(self.coordinates)
        if self.metric == "haversine":
            return sphere.on_earth(self.coordinates)
        n, dimensions = self.coordinates.shape
        planes = np.zeros((max(dimensions, 2), n))

        def turn(rows: slice) -> None:
            planes[:dimensions, rows] = self.coordinates[rows].T

        in_threads(turn, slices(n, _TURNED_AT_ONCE))
        if self.exponent:
            np.ldexp(planes, -self.exponent, out=planes)
        return of_length_1(planes) if self.metric == "cosine" else planes

    @property
    def divided_core(self) -> npt.NDArray[np.float64] | None:
        """The core distances, divided by ``2**exponent`` as :attr:`planes` are."""
        core: npt.NDArray[np.float64] | None = self.core_distances
        if core is not None and self.exponent:
            core = np.ldexp(core, -self.exponent)
        return core

    def multiplied(self, distances: Array) -> Array:
        """Return distances that were computed from :attr:`planes`, times ``2**exponent``."""
        return np.ldexp(distances, self.exponent) if self.exponent else distances

    @cached_property
    def steps(self) -> npt.NDArray[np.float64]:
        """The squared chords at which great-circle distances change; none for other metrics."""
        return sphere.squared_chords() if self.metric == "great-circle" else np.zeros(0)

    @property
    def on_map(self) -> npt.NDArray[np.float64]:
        """The coordinates in the order of a map: on a sphere longitude, then latitude."""
        found: npt.NDArray[np.float64] = self.coordinates
        return found[:, ::-1] if self.metric in ON_A_SPHERE else found

    def with_core_distances(self, core: Any) -> Points:
        """Return the same points, which are not checked again, with core distances."""
        found = copy(self)
        checked = None if core is None else self._checked_core(core)
        object.__setattr__(found, "core_distances", checked)
        return found

    def _checked_core(self, given: Any) -> npt.NDArray[np.float64]:
        """Return core distances as float64 of shape (n,), or raise."""
        core = checked_core(given, self.n_vertices, self.metric)
        if self.exponent:
            check_divided_core(core, self.exponent, self.coordinates)
        return core

    def at_exponent(self, exponent: int) -> Points:
        """Return the same points, which are not checked again, with another exponent."""
        if exponent == self.exponent:
            return self
        found = copy(self)
        vars(found).pop("planes", None)
        object.__setattr__(found, "exponent", exponent)
        return found

    def with_others(self, rows: Any) -> tuple[Points, Points]:
        """Return the same points and other ones whose distances to them can be computed.

        Both have one exponent: this one's if it serves for both, else that of all points together.
        """
        others = Points(rows, self.metric)
        if self.metric != "euclidean":
            return self, others
        dimensions = self.coordinates.shape[1]
        if magnitude.suits(self.exponent, *magnitude.magnitudes(others.coordinates), dimensions):
            return self, others.at_exponent(self.exponent)
        together = Points(np.concatenate([self.coordinates, others.coordinates]), self.metric)
        return self.at_exponent(together.exponent), others.at_exponent(together.exponent)

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

        As cl/device/distance.cl computes them. The others have the same metric, dimensions and
        exponent.
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
            return self.multiplied(distances)
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
            Graph, n, self.weight_dtype,
            lambda u: self._distances(np.array(u), np.arange(u + 1, n)),
            coordinates=self.on_map if self.coordinates.shape[1] == 2 else None,
        )  # fmt: skip
