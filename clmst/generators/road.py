"""A road network from nothing: land, towns, streets of several ranks, bridges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.generators.checks import check_integer, check_number, check_sizes
from clmst.generators.edges import graph_of_pairs, pairs_of
from clmst.generators.hashing import Stream

Field = npt.NDArray[np.float64]

_LAND_SHARE = 0.8  # of the cells of the lattice: the rest is sea, rivers and lakes
_CROSSING_SHARE = 0.62  # of the land: the rest is built over, or a street passes straight through
_UNITS = 100.0  # length of an undisturbed edge
_JITTER = 0.3  # of a cell, to either side; up to 0.5 edges between neighbours cannot cross
_BENDS = ((3, 0.12), (9, 0.11), (30, 0.09))  # bumps to a side, height over width
_TOWNS = 14
_TOWN_PULL = 0.5
_DISTRICT = 40  # cells across the part of the map that shares its minor streets
_OBSTACLE = 10.0  # score of a street that must cross water: above all others


def road(*, n: int, average_degree: float = 2.7, seed: int = 0) -> Graph:
    """Connected, all but planar network that looks and measures like the roads of a region.

    A jittered lattice loses its sea, lakes and rivers to a noise field and is drawn together
    round a few towns. Streets have ranks; the spanning tree prefers streets of high rank, and of
    what it leaves out the best edges are added, most of them in towns, until the average degree
    is met (or the lattice has no more). Coordinates are set; weights are the Euclidean lengths
    between them, rounded to integers (int32).

    Parameters
    ----------
    n : int
        Number of vertices.
    average_degree : float
        Twice the number of edges over the number of vertices.
    seed : int
        What all randomness follows from.

    Notes
    -----
    Source: own; made after the road networks of the 9th DIMACS Challenge (Demetrescu, Goldberg
    and Johnson, 2006), whose average degree is 2.4 to 2.8. The noise is value noise (Perlin,
    "An image synthesizer", 1985). O(n log n).
    """
    check_integer("n", n, low=0)
    check_number("average_degree", average_degree, low=2.0, high=3.5)
    check_sizes(vertices=n, edges=4 * n)
    land = Land.of(n, seed)
    points = _place(land, seed)
    u, v, scores = _candidates(land, seed)
    chosen = _network(n, u, v, scores, n_edges=round(n * average_degree / 2))
    u, v = u[chosen], v[chosen]
    pairs = pairs_of(u, v)
    order = np.argsort(pairs)
    span = points[u[order]] - points[v[order]]
    lengths = np.sqrt(span[:, 0] * span[:, 0] + span[:, 1] * span[:, 1])
    weights = np.maximum(np.rint(lengths), 1).astype(np.int32)
    return graph_of_pairs(n, pairs[order], weights, coordinates=points)


@dataclass(frozen=True, slots=True, kw_only=True)
class Land:
    """Which cells of a lattice are vertices, and how urban the lattice is.

    Attributes
    ----------
    vertex : ndarray of int64, shape (rows, columns)
        Number of each cell's vertex, in row-major order; -1 where there is none.
    along : ndarray of int8, shape (rows, columns)
        Which streets pass a cell that is no vertex: 0 within its row, 1 within its column,
        2 none, as it is water.
    urban : ndarray of float64, shape (rows, columns)
        From 0 in the country to 1 or more in the middle of a town.
    towns : tuple of (row, column, radius, turn)
        In cells; and the half-angle tangent by which the town is turned.
    """

    vertex: npt.NDArray[np.int64]
    along: npt.NDArray[np.int8]
    urban: Field
    towns: tuple[tuple[float, float, float, float], ...]

    @classmethod
    def of(cls, n: int, seed: int) -> Land:
        """Lay out `n` vertices."""
        n_land = int(np.ceil(n / _CROSSING_SHARE))
        rows = max(int(np.sqrt(n_land / _LAND_SHARE / 1.25)), 1)
        shape = rows, -(-int(np.ceil(n_land / _LAND_SHARE)) // rows)
        towns = _towns(shape, Stream.named(seed, "road towns"))
        y, x = (np.arange(size, dtype=np.float64) for size in shape)
        urban = np.zeros(shape)
        for row, column, radius, _ in towns:
            near = ((y - row) ** 2)[:, None] + (x - column) ** 2
            urban += 1 / (1 + near / radius**2) ** 2
        hills = sum(
            smooth_field(Stream.named(seed, f"road hills {bumps}"), shape, bumps) * share
            for bumps, share in ((3, 1.0), (7, 0.6), (16, 0.35), (40, 0.15), (100, 0.07))
        )
        river = np.abs(smooth_field(Stream.named(seed, "road river"), shape, 4) - 0.5)
        river -= 0.03 * smooth_field(Stream.named(seed, "road banks"), shape, 25)
        middle = (2 * y / shape[0] - 1)[:, None] ** 6 + (2 * x / shape[1] - 1) ** 6
        height = hills + 0.35 * urban - 0.9 * middle
        height = np.where(river < 0.006, height - 1.2, height)
        dry = np.argsort(height, axis=None, kind="stable")[height.size - n_land :]
        noise = Stream.named(seed, "road crossings").uniform(height.size)
        attraction = 1.5*np.minimum(urban, 0.6).ravel() + 0.25*smooth_field(Stream.named(seed, "road villages"), shape, 30).ravel()+0.8*noise
        attraction = attraction[dry]
        vertices = dry[np.argsort(attraction, kind="stable")[n_land - n :]]
        along = np.full(height.size, 2, np.int8)
        along[dry] = Stream.named(seed, "road along").below(dry, 2)
        is_vertex = np.zeros(height.size, bool)
        is_vertex[vertices] = True
        vertex = np.where(is_vertex, np.cumsum(is_vertex) - 1, -1).reshape(shape)
        return cls(vertex=vertex, along=along.reshape(shape), urban=urban, towns=towns)


def smooth_field(stream: Stream, shape: tuple[int, int], bumps: float) -> Field:
    """Return value noise in [0, 1): random at knots, `bumps` to the longer side, smooth between."""
    spacing = max(max(shape) / bumps, 1.0)
    knots = tuple(int(size / spacing) + 2 for size in shape)
    field = stream.uniform(knots[0] * knots[1]).reshape(knots)
    for axis, size in enumerate(shape):
        at = np.arange(size, dtype=np.float64) / spacing
        knot = at.astype(np.int64)
        part = at - knot
        ease = (part * part * (3 - 2 * part)).reshape((-1, 1) if axis == 0 else (1, -1))
        field = field.take(knot, axis) * (1 - ease) + field.take(knot + 1, axis) * ease
    return field


def _towns(shape: tuple[int, int], stream: Stream) -> tuple[tuple[float, float, float, float], ...]:
    """Choose the towns, each smaller than the one before, the first near the middle."""
    chance = stream.uniform(3 * _TOWNS).reshape(_TOWNS, 3)
    chance[0,:2] = 0.35 + 0.3 * chance[0,:2]
    size = float(max(shape))
    return tuple(
        (shape[0] * (0.1 + 0.8 * y), shape[1] * (0.1 + 0.8 * x), size * 0.13 / (1 + 0.4 * rank), 0.6*(turn-0.5))
        for rank, (y, x, turn) in enumerate(chance.tolist())
    )


def _place(land: Land, seed: int) -> Field:
    """Return the coordinates of the vertices, shape (n, 2)."""
    shape = land.vertex.shape
    is_vertex = land.vertex >= 0
    row, column = np.nonzero(is_vertex)
    n = row.size
    axes = []
    for name, lattice in (("x", column), ("y", row)):
        at = lattice + (Stream.named(seed, f"road jitter {name}").uniform(n) - 0.5) * (2 * _JITTER)
        for bumps, bend in _BENDS:
            bends = smooth_field(Stream.named(seed, f"road bends {name} {bumps}"), shape, bumps)
            at += bends[is_vertex] * (bend * max(shape) / bumps)
        axes.append(at)
    x, y = axes
    for town_row, town_column, radius, turn in land.towns:
        dx, dy = x - town_column, y - town_row
        near = 1 / (1 + (dx * dx + dy * dy) / (radius * radius))
        near *= near
        shrink = 1- _TOWN_PULL * near
        t = turn * near
        cos = (1-t*t)/(1+t*t)
        sin = 2*t/(1+t*t)
        x, y = town_column+shrink*(cos*dx-sin*dy), town_row+shrink*(sin*dx+cos*dy)
    return np.stack([x * _UNITS, -y * _UNITS], axis=1)


def _candidates(land: Land, seed: int) -> tuple[Array, Array, Field]:
    """Return all edges that may be built as (u, v, score); the least score is the best."""
    stream = Stream.named(seed, "road streets")
    parts = []
    for axis, vertex, urban, along in ((0, land.vertex, land.urban, land.along), (1, land.vertex.T, land.urban.T, land.along.T)):
        line, cell = np.nonzero(vertex >= 0)
        barred = np.cumsum((vertex < 0) & (along != axis))[vertex.ravel()>=0]
        same = line[1:] == line[:-1]
        line, here, there = line[:-1], cell[:-1], cell[1:]
        gap = np.where(same, there - here, 1)
        u = vertex[line, here]
        v = np.roll(vertex[vertex >= 0], -1)[:-1]
        ranks = _street_ranks(stream, axis, line, here)
        noise = stream.uniform(np.uint64(1 << 62) + (2 * u + axis).astype(np.uint64))
        score = noise - 0.3 * ranks - 0.9 * urban[line, here]
        # Water is crossed where the tree needs it, and the end of a line where nothing else helps.
        score = np.where(np.diff(barred)>0, _OBSTACLE + gap, score)
        score = np.where(same, score, 1e9 + np.abs(there - here))
        parts.append((u, v, score))
    u, v, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    return u, v, scores


def _street_ranks(stream: Stream, axis: int, line: Array, cell: Array) -> Array:
    """Return the rank of the street that runs along `line` through `cell`: each half as common."""
    district = cell // _DISTRICT
    far = district // 4
    ranks = np.zeros(line.size)
    for level, part in enumerate((district, far)):
        street = ((part * (1 << 24) + line) * 2 + axis) * 2 + level
        words = stream.words(street.astype(np.uint64))
        zeros = np.frexp((words & -words).astype(np.float64))[1] - 1
        ranks = np.maximum(ranks, np.minimum(zeros, 5))
    return ranks


def _network(n: int, u: Array, v: Array, scores: Field, *, n_edges: int) -> Array:
    """Choose the minimum spanning tree of the scores, then the best of the rest."""
    order = np.argsort(scores, kind="stable")
    rank = np.empty(order.size)
    rank[order] = np.arange(1, order.size + 1)
    tree = minimum_spanning_tree(sparse.coo_array((rank, (u, v)), shape=(n, n)).tocsr())
    chosen = np.zeros(order.size, bool)
    chosen[tree.data.astype(np.int64) - 1] = True
    rest = np.flatnonzero(~chosen)
    rest = rest[scores[order[rest]] < 10.0]
    print('share of rest', max(n_edges - (n - 1), 0)/rest.size)
    chosen[rest[: max(n_edges - (n - 1), 0)]] = True
    return order[chosen]
