"""Points as a complete graph, whose weights are distances that are computed on demand."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from clmst.core import magnitude, pairs, powers, quotients, sphere
from clmst.core.arguments import check_choice, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_size
from clmst.core.point_checks import (
    ON_A_SPHERE,
    ROUNDED,
    check_degrees,
    check_directions,
    check_divided_core,
    check_rounded_extent,
    checked_coordinates,
    checked_core,
    less_mean,
    of_length_1,
)
from clmst.core.threads import gathered, in_threads, slices
from clmst.core.weight_keys import Array

Metric: TypeAlias = Literal[
    "euclidean",
    "manhattan",
    "chebyshev",
    "minkowski",
    "cosine",
    "correlation",
    "hamming",
    "jaccard",
    "canberra",
    "braycurtis",
    "rounded-euclidean",
    "great-circle",
    "haversine",
]

METRICS_OF_FILES = tuple(name for name in get_args(Metric) if name != "minkowski")  # without p
# The metrics whose distances may overflow, and those whose coordinates may be divided by a power of
# two, so that the powers of their differences stay in the range of doubles.
_UNBOUNDED = ("euclidean", "manhattan", "chebyshev", "minkowski")
_SCALED = ("euclidean", "minkowski")
# The metrics whose distances a device does not compute itself, and what it computes instead.
_COMPARED_AS: dict[Metric, Metric] = {
    "haversine": "rounded-euclidean", "correlation": "cosine",
}  # fmt: skip
TURNED_AT_ONCE = 1 << 15  # number of points whose coordinates a thread transposes at a time


@dataclass(frozen=True, eq=False)
class Points:
    """Points, as the complete graph of the distances between them.

    Distances are not stored. A device computes them during the solve, in O(n) memory. The bits of a
    distance are the same on every device, so the forest does not depend on the device.

    Parameters
    ----------
    coordinates : array of real numbers, shape (n, d), or data frame, tensor, list of rows
        One row per point, with d >= 1 coordinates. Coordinates must be finite and are converted to
        float64. For "great-circle" and "haversine" each row is a latitude and a longitude. An array
        that is mapped from a file (``numpy.memmap``) keeps its dtype and stays in the file. A solve
        with `block_points` converts some of its rows at a time, and any other solve all of them.
    metric : str
        The distance between two points.

        * "euclidean": ``sqrt(dx*dx + dy*dy + ...)``, the square root of the sum of squares.
        * "manhattan": the sum of ``abs(dx)`` over all dimensions.
        * "chebyshev": the greatest ``abs(dx)``.
        * "minkowski": the `p`-th root of the sum of ``abs(dx)**p``. See the notes.
        * "cosine": ``max(0, 1 - (a @ b))`` of the two rows, each divided by its length.
        * "correlation": "cosine" of the two rows, after the mean of its coordinates was subtracted
          from each. Coordinates are first divided by the greatest absolute one of their row.
        * "hamming": the number of coordinates that differ, divided by the number of coordinates.
        * "jaccard": the number of dimensions in which exactly one of the two coordinates is 0,
          divided by the number of dimensions in which at least one coordinate is not 0. If all
          coordinates of both rows are 0, the distance is 0. Only whether a coordinate is 0 matters.
        * "canberra": the sum of ``abs(a - b) / (abs(a) + abs(b))`` over all dimensions. The term is
          0 if both coordinates are 0.
        * "braycurtis": the sum of ``abs(a - b)``, divided by the sum of ``abs(a + b)``.
        * "rounded-euclidean": "euclidean", rounded to the nearest integer, with halves rounded up.
          These are EUC_2D and EUC_3D of TSPLIB.
        * "great-circle": whole kilometres, GEO of TSPLIB. Coordinates are in the form DDD.MM,
          degrees and minutes.
        * "haversine": kilometres on a sphere of radius 6371.0088 km. Coordinates are in decimal
          degrees. The straight line (chord) between two points is rounded to centimetres before the
          arc is computed from it.

        Distances are computed in float64, one dimension after the other, with every operation
        rounded as IEEE 754 specifies. With "rounded-euclidean" and "great-circle", distances are
        int64. For "euclidean" and "minkowski", very large or very small coordinates are first
        divided by a power of two, so that no power overflows or vanishes.
    core_distances : array of real numbers, shape (n,), optional
        If given, the weight of a pair is the *mutual reachability distance* of HDBSCAN: the
        greatest of its distance and the core distances of both points (see
        :func:`clmst.core_distances`). Not allowed for the metrics with rounded distances, which
        are "rounded-euclidean", "great-circle" and "haversine".
    p : number, optional
        The power of the metric "minkowski", from 1 to 64 or infinity, for which it must be given.
        If it is 1, 2 or infinity, :attr:`metric` becomes "manhattan", "euclidean" or "chebyshev",
        which is the same distance, and :attr:`p` becomes None. All other metrics take None.

    Raises
    ------
    InvalidGraphError
        The coordinates have a wrong shape or dtype, or one is not finite; there are more than 2**32
        - 2 points; a rounded distance is 2**31 or more, or a distance exceeds the greatest double,
        1.8e308. For "euclidean" also if all coordinates of two different points differ by less than
        2.2e-308, or by less than about 1e-304 times the greatest coordinate. For "minkowski" the
        second limit is about ``2**(-2000 / p)`` times the greatest coordinate. For "haversine" also
        if a latitude exceeds 90 or a longitude exceeds 360 degrees. For "cosine" also if a row
        contains only zeros, and for "correlation" if all coordinates of a row are equal. For
        "canberra" and "braycurtis" also if coordinates are so large that their sums overflow. For
        "braycurtis" also if the coordinates of two points are opposite, or if two rows contain only
        zeros, because their distance would be a division by 0. Core distances must not be negative
        or NaN.
    InvalidArgumentError
        The metric is unknown, or core distances are given for a metric that does not support them.
        `p` is out of its range, is missing for "minkowski", or is given for another metric.

    Notes
    -----
    For "minkowski", a power is a product of repeated squares, for the digits of the whole part of
    `p`, and of repeated square roots, for the digits of its fraction. The distance is the greatest
    double whose power, computed in this way, is at most the sum. Thus the bits are the same on
    every device. The bits of a function `pow` are not. The result differs from the exact distance
    by a few units in the last place. A power with few binary digits, such as 3 or 2.5, is fast. For
    one with many, such as 2.3, a term takes up to 52 square roots.

    The id of the edge (u, v), u < v, is the index of its distance in SciPy's condensed form,
    ``scipy.spatial.distance.pdist(coordinates)``.

    Sources: G. Reinelt, "TSPLIB - a traveling salesman problem library", ORSA Journal on Computing
    3, 1991; R. Campello, D. Moulavi, J. Sander, "Density-based clustering based on hierarchical
    density estimates", PAKDD 2013.

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
    p: Any = None
    exponent: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", check_choice("metric", self.metric, get_args(Metric)))
        self._take_power()
        coordinates, greatest, least = checked_coordinates(self.coordinates, self.metric)
        object.__setattr__(self, "coordinates", coordinates)
        check_size(self.n_vertices, 0)
        if self.metric in _UNBOUNDED:
            magnitude.check_extent(coordinates, self.metric, greatest)
        if self.metric in _SCALED:
            p = self.power
            exponent = magnitude.exponent_of(greatest, least, coordinates.shape[1], p)
            object.__setattr__(self, "exponent", exponent)
            if exponent and magnitude.may_be_too_near(exponent, least, p):
                magnitude.check_nearness(coordinates, exponent, greatest, p)
        if self.core_distances is not None:
            object.__setattr__(self, "core_distances", self._checked_core(self.core_distances))
        if self.metric == "rounded-euclidean":
            check_rounded_extent(self.coordinates)
        if self.metric == "haversine":
            check_degrees(self.coordinates)
        if self.metric in ("cosine", "correlation"):
            check_directions(self.coordinates, self.metric)
        if self.metric in quotients.DIVIDED:
            quotients.check_divided(self.metric, coordinates, greatest, least)

    def _take_power(self) -> None:
        """Check `p`, and replace "minkowski" by the name of the metric for the powers 1, 2, inf."""
        if self.metric != "minkowski":
            if self.p is not None:
                raise InvalidArgumentError(
                    f"p is {shown(self.p)}, and metric is {self.metric!r}; only 'minkowski' takes p"
                )
            return
        p = powers.checked_power(self.p)
        name = powers.NAME_OF_POWER.get(p)
        object.__setattr__(self, "metric", name or self.metric)
        object.__setattr__(self, "p", None if name else p)

    def __repr__(self) -> str:
        power = "" if self.p is None else f", p={self.p:g}"
        core = "" if self.core_distances is None else ", with core distances"
        rows, columns = self.coordinates.shape
        return f"Points({rows} x {columns}, metric={self.metric!r}{power}{core})"

    @property
    def power(self) -> float:
        """The power of the differences of coordinates that are added up, for metrics with roots."""
        return 2.0 if self.p is None else float(self.p)

    @property
    def metric_params(self) -> dict[str, Any] | None:
        """The parameters of the metric, as SciPy takes them, or None if it has none."""
        return None if self.p is None else {"p": self.p}

    @property
    def n_vertices(self) -> int:
        """Number of points."""
        return int(self.coordinates.shape[0])

    @property
    def dimensions(self) -> int:
        """Number of coordinates from which distances are computed.

        At least 2, and 3 on a sphere. For "jaccard", 32 coordinates of a row are one of these.
        """
        if self.metric in ON_A_SPHERE:
            return 3
        d = int(self.coordinates.shape[1])
        if self.metric in quotients.DIVIDED:
            return quotients.dimensions_of(self.metric, d)
        return max(d, 2)

    @property
    def n_edges(self) -> int:
        """Number of edges, which is the number of pairs of points."""
        return pairs.count(self.n_vertices)

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of distances: int64 if they are rounded, otherwise float64."""
        return np.dtype(np.int64 if self.metric in ROUNDED else np.float64)

    @property
    def compared_as(self) -> Metric:
        """The metric of the distances that a device computes from :attr:`planes` and compares.

        This is :attr:`metric`, with two exceptions. The device compares "haversine" distances by
        their chords, rounded to centimetres. Different chords have different arcs, so edges have
        the same order by chord as by arc. The device compares "correlation" distances as
        "cosine" distances, because in :attr:`planes` the mean of the coordinates of each point is
        subtracted from them.
        """
        return _COMPARED_AS.get(self.metric, self.metric)

    @cached_property
    def planes(self) -> npt.NDArray[np.float64]:
        """The coordinates from which distances are computed, shape (dimensions, n).

        Points of one dimension get a second one, which is 0. For "euclidean" and "minkowski", the
        coordinates are divided by ``2**exponent``, so the distances that a device computes from
        them are divided as well, and so is :attr:`divided_core`. :meth:`multiplied` undoes the
        division. The exponent is 0 except for very large or very small coordinates. For "hamming",
        "jaccard", "canberra" and "braycurtis" see :func:`clmst.core.quotients.planes_of`.
        """
        if self.metric in ON_A_SPHERE:
            convert = sphere.on_earth if self.metric == "haversine" else sphere.on_unit_sphere
            return convert(np.asarray(self.coordinates, np.float64))
        if self.metric in quotients.DIVIDED:
            return quotients.planes_of(self.metric, self.coordinates)
        n, dimensions = self.coordinates.shape
        planes = np.zeros((max(dimensions, 2), n))

        def turn(rows: slice) -> None:
            planes[:dimensions, rows] = self.coordinates[rows].T

        in_threads(turn, slices(n, TURNED_AT_ONCE))
        if self.exponent:
            np.ldexp(planes, -self.exponent, out=planes)
        if self.metric == "correlation":
            planes = less_mean(planes)
        return of_length_1(planes) if self.compared_as == "cosine" else planes

    @property
    def divided_core(self) -> npt.NDArray[np.float64] | None:
        """The core distances, divided by ``2**exponent`` as the coordinates are, shape (n,).

        None if the points lack core distances.
        """
        core: npt.NDArray[np.float64] | None = self.core_distances
        if core is not None and self.exponent:
            core = np.ldexp(core, -self.exponent)
        return core

    def multiplied(self, distances: Array) -> Array:
        """Multiply distances by ``2**exponent``, by which coordinates were divided before."""
        return np.ldexp(distances, self.exponent) if self.exponent else distances

    @cached_property
    def steps(self) -> npt.NDArray[np.float64]:
        """The squared chords on the unit sphere at which great-circle distances increase by 1 km.

        The array is empty for every other metric.
        """
        return sphere.squared_chords() if self.metric == "great-circle" else np.zeros(0)

    @property
    def on_map(self) -> npt.NDArray[np.float64]:
        """The coordinates for drawing a map. For points on a sphere the longitude comes first."""
        found: npt.NDArray[np.float64] = self.coordinates
        return found[:, ::-1] if self.metric in ON_A_SPHERE else found

    def with_core_distances(self, core: Any) -> Points:
        """Return the same points with the core distances `core` in place of the present ones.

        None means that the result does not have core distances. The coordinates are not checked
        again.

        Examples
        --------
        A weight is the greatest of the distance and both core distances:

        >>> import clmst
        >>> points = clmst.Points([[0, 0], [0, 3], [4, 3]])
        >>> points.with_core_distances([4, 3, 1]).weights_of([0, 1], [1, 2])
        array([4., 4.])
        """
        return self.with_checked_core(None if core is None else self._checked_core(core))

    def with_checked_core(self, core: npt.NDArray[np.float64] | None) -> Points:
        """Return the same points with core distances that :meth:`with_core_distances` checked."""
        found = copy(self)
        object.__setattr__(found, "core_distances", core)
        return found

    def _checked_core(self, given: Any) -> npt.NDArray[np.float64]:
        """Check the core distances `given` and return them as float64 of shape (n,).

        Raise InvalidGraphError or InvalidArgumentError if they are wrong; see :func:`checked_core`.
        """
        core = checked_core(given, self.n_vertices, self.metric)
        if self.exponent:
            check_divided_core(core, self.exponent, self.coordinates)
        return core

    def subset(self, numbers: Array) -> Points:
        """Return the points with the given numbers, in this order, core distances included.

        Distances have the same bits as among all points. Nothing is checked again.
        """
        rows = self.coordinates
        of_array = isinstance(rows, np.ndarray)
        found = self.with_rows(gathered(rows, numbers) if of_array else rows[numbers])
        if self.core_distances is not None:
            core = gathered(self.core_distances, numbers)
            object.__setattr__(found, "core_distances", core)
        return found

    def with_rows(self, rows: Any) -> Points:
        """Return the same points with their coordinates stored in `rows`.

        `rows` has the same coordinates, as an array or as :class:`PlacedRows`. The points are not
        checked again.
        """
        found = copy(self)
        vars(found).pop("planes", None)
        object.__setattr__(found, "coordinates", rows)
        return found

    def at_exponent(self, exponent: int) -> Points:
        """Return the same points, whose coordinates are divided by 2**exponent on a device.

        `exponent` replaces the present one, which is 0 for points that are not scaled. The
        coordinates themselves do not change, and the points are not checked again.
        """
        if exponent == self.exponent:
            return self
        found = copy(self)
        vars(found).pop("planes", None)
        object.__setattr__(found, "exponent", exponent)
        return found

    def with_others(self, rows: Any) -> tuple[Points, Points]:
        """Return these points and other points, prepared for distances between the two sets.

        `rows` are the coordinates of the other points, which are checked. Both results have the
        same `exponent`: the exponent of these points if it suits the other points, and otherwise
        the exponent of all points together.
        """
        if self.metric in quotients.DIVIDED:  # two of the others need no distance to each other
            array, greatest, _ = checked_coordinates(rows, self.metric)
            quotients.check_sums(self.metric, greatest, array.shape[1])
            return self, self.with_core_distances(None).with_rows(array)
        others = Points(rows, self.metric, p=self.p)
        if self.metric not in _SCALED:
            return self, others
        size = *magnitude.magnitudes(others.coordinates), self.coordinates.shape[1], self.power
        if magnitude.suits(self.exponent, *size):
            return self, others.at_exponent(self.exponent)
        both = np.concatenate([self.coordinates, others.coordinates])
        together = Points(both, self.metric, p=self.p)
        return self.at_exponent(together.exponent), others.at_exponent(together.exponent)

    def weights_of(self, u: Array, v: Array) -> Array:
        """Return the distances of pairs of points, with the same bits as on a device.

        Parameters
        ----------
        u, v : array of int
            Numbers of points. The arrays must have shapes that broadcast.

        Raises
        ------
        InvalidGraphError
            A number is not a point, or an array does not consist of integers.

        Examples
        --------
        >>> import clmst
        >>> clmst.Points([[0, 0], [0, 3], [4, 3]]).weights_of([0, 0], [1, 2])
        array([3., 5.])
        """
        return self._distances(*pairs.check_ends(u, v, self.n_vertices))

    def _distances(self, u: Array, v: Array) -> Array:
        """Return the weights of the pairs (u[i], v[i]) of points, core distances included."""
        distances = self.distances_to(self, u, v)
        core = self.core_distances
        if core is None:
            return distances
        farthest: Array = np.maximum(np.maximum(distances, core[u]), core[v])
        return farthest

    def distances_to(self, others: Points, u: Array, v: Array) -> Array:
        """Return the distances of points `u` to points `v` of `others`, without core distances.

        The distances have the same bits as those from cl/device/distance.cl. `others` must have the
        same metric, dimensions and exponent.
        """
        return self._converted(self.compared_distances(others, u, v))

    def _converted(self, distances: Array) -> Array:
        """Convert the distances that a device compares to the distances that users get."""
        if self.metric in _SCALED:
            return self.multiplied(distances)
        if self.metric == "haversine":
            return sphere.kilometres(distances.astype(np.int64))
        return distances.astype(self.weight_dtype, copy=False)

    def compared_distances(self, others: Points, u: Array, v: Array) -> Array:
        """Return the distances that a device compares, of points `u` to points `v` of `others`.

        They are computed by the metric :attr:`compared_as`, from the coordinates in :attr:`planes`,
        which may differ from the caller's coordinates. The dtype is float64 or int64.
        """
        # The indices are converted once here. Otherwise NumPy would convert them at every use.
        # Terms and sums are computed in place, because new memory is slow. If all pairs of two sets
        # are wanted, each coordinate is read once, not once for each pair.
        u, v = u.astype(np.intp), v.astype(np.intp)
        both = zip(self.planes, others.planes, strict=True)
        if self.metric in quotients.DIVIDED:
            return quotients.distances(self.metric, ((plane[u], other[v]) for plane, other in both))
        add, shape = np.maximum if self.metric == "chebyshev" else np.add, np.broadcast(u, v).shape
        sums = spare = np.empty(shape, self.planes.dtype)
        with np.errstate(over="ignore"):
            for number, (plane, other) in enumerate(both):
                term = self._term(plane[u], other[v], spare)
                if number == 0:
                    sums, spare = term, np.empty(shape, self.planes.dtype)
                else:
                    add(sums, term, out=sums)
        return self.compared_of(sums[()])

    def compared_of(self, sums: Array) -> Array:
        """Convert sums over all dimensions to distances, as :meth:`compared_distances` does.

        Depending on the metric, a sum is the sum of squares or other powers, of absolute
        differences or of products, or it is the greatest absolute difference.
        """
        if self.metric == "minkowski":
            return powers.root(sums, self.power)
        if self.compared_as == "cosine":
            return np.maximum(1.0 - sums, 0.0)
        if self.metric in ("manhattan", "chebyshev"):
            return sums
        if self.metric == "great-circle":
            return np.searchsorted(self.steps, sums, side="right")
        distances: Array = np.sqrt(sums)
        return distances if self.metric == "euclidean" else np.floor(distances + 0.5)

    def least_distances(self, gaps: npt.NDArray[np.float64]) -> Array:
        """Return a lower bound of the distance of points whose coordinates differ by `gaps`.

        Parameters
        ----------
        gaps : array of float64, shape (dimensions, ...)
            For each coordinate in :attr:`planes`, a lower bound of the absolute difference.

        Returns
        -------
        array of float64
            The bounds. No computed distance of two points is less if their coordinates differ by at
            least `gaps`. Core distances are not included.

        Notes
        -----
        Each operation on the differences is rounded, and rounding keeps the order of numbers. So
        the operations of a distance, applied to lower bounds of its differences, give a lower
        bound. A cosine distance is half the square of a straight line between unit vectors, except
        for rounding, for which the bound is reduced.
        """
        return np.asarray(self._converted(self.least_compared(gaps)), np.float64)

    def least_compared(self, gaps: Iterable[Array]) -> Array:
        """Return lower bounds of distances in the form that a device compares, such as squares.

        `gaps` has an array for each coordinate in :attr:`planes`, with a lower bound of the
        difference of this coordinate for each pair of points. :meth:`least_distances` returns the
        same bounds as distances, and says why they are bounds.
        """
        with np.errstate(over="ignore"):
            if self.compared_as == "cosine":
                dimensions = self.coordinates.shape[1]
                rounding = (dimensions + 8) * float(np.finfo(np.float64).eps)
                halves: Array = reduce(np.add, (gap * gap for gap in gaps)) / 2
                least: Array = np.maximum(halves * (1 - rounding) - rounding, 0.0)
                return least
            if self.metric in ("manhattan", "chebyshev"):
                sums = reduce(np.maximum if self.metric == "chebyshev" else np.add, gaps)
            elif self.metric == "minkowski":
                sums = reduce(np.add, (powers.power(gap, self.power) for gap in gaps))
            else:
                sums = reduce(np.add, (gap * gap for gap in gaps))
        return self.compared_of(sums)

    def _term(self, a: Array, b: Array, out: Array) -> Array:
        """Return the term of one dimension in the sum from which a distance is computed.

        `a` and `b` are the coordinates of the points in this dimension. The array `out` has the
        shape of the result. It is overwritten, and may be the result.
        """
        if self.compared_as == "cosine":
            return np.multiply(a, b, out=out)
        np.subtract(a, b, out=out)
        if self.metric in ("manhattan", "chebyshev"):
            return np.abs(out, out=out)
        if self.metric == "minkowski":
            return powers.power(np.abs(out, out=out), self.power)
        return np.multiply(out, out, out=out)

    def to_graph(self) -> Graph:
        """Return a :class:`Graph` that lists every pair as an edge, for algorithms that need lists.

        Edge ids, and therefore forests, do not change. The call takes O(n**2) time and memory. If
        the points have two coordinates, the graph's `coordinates` are set for pictures; on a sphere
        they are longitude and latitude, in this order.

        Raises
        ------
        InvalidGraphError
            There are more pairs than a graph can have edges.

        Examples
        --------
        >>> import clmst
        >>> clmst.Points([[0, 0], [0, 3], [4, 3]]).to_graph()
        Graph(n_vertices=3, n_edges=3, weights=float64)
        """
        n = self.n_vertices
        return pairs.graph_of(
            Graph, n, self.weight_dtype,
            lambda u: self._distances(np.array(u), np.arange(u + 1, n)),
            coordinates=self.on_map if self.coordinates.shape[1] == 2 else None,
        )  # fmt: skip
