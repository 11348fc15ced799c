"""A generated road network: streets of several ranks on a lattice, with towns and water."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from clmst.core.arguments import check_number
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.generators.edges import (
    check_integer,
    check_sizes,
    endpoints,
    graph_of_pairs,
    pairs_of,
)
from clmst.generators.hashing import Stream

Field = npt.NDArray[np.float64]
Shape = tuple[int, int]

_UNITS = 100.0  # length of an undisturbed edge
_LAND_SHARE = 0.8  # fraction of the cells that are land; the rest is sea and rivers
_CROSSING_SHARE = 0.62  # fraction of the land cells that are vertices
_SPANS = (40, 200)  # length in cells of a minor and of a major street
_TOP_RANK = 5
_BRIDGE_RANK = 3  # minimum rank of a street that may cross water
_LONGEST_BRIDGE = 16  # in cells
_NEEDLESS = 10.0  # edges with at least this score may only be in the spanning tree


def road(*, n: int, average_degree: float = 2.7, seed: int = 0) -> Graph:
    """Road map: a connected, almost planar network that looks like the roads of a region.

    Coordinates are set. Weights are the Euclidean lengths of edges, rounded to integers, as int32.
    Streets run along the lines of a lattice. Random seas and rivers are cut out of the lattice.
    There are fewer vertices away from towns. Then the lattice is bent. Streets have ranks, and a
    spanning tree that prefers high ranks connects all vertices. Further edges, most of them in
    towns, are added until the average degree is reached. A small network may not have enough of
    them. The few edges that cross are mostly bridges.

    Parameters
    ----------
    n : int
        Number of vertices.
    average_degree : float
        Average number of neighbours of a vertex, from 2 to 3.
    seed : int
        Determines all randomness.

    Notes
    -----
    Source: this project. It follows the road networks of the 9th DIMACS Implementation Challenge
    (Demetrescu, Goldberg and Johnson, 2006), whose average degrees are 2.4 to 2.8, and uses value
    noise (Perlin, "An image synthesizer", 1985). O(n log n).

    Examples
    --------
    >>> from clmst.generators import road
    >>> road(n=1000)
    Graph(n_vertices=1000, n_edges=1350, weights=int32)
    """
    n = check_integer("n", n, low=0)
    check_number("average_degree", average_degree, low=2, high=3)
    check_sizes(vertices=n, edges=2 * n)
    lattice = Lattice.of(n, seed)
    u, v, scores = _candidates(lattice, seed)
    chosen = _network(n, u, v, scores, n_edges=round(n * average_degree / 2))
    pairs = np.sort(pairs_of(u[chosen], v[chosen]))
    low, high = endpoints(pairs)
    span = lattice.points[low] - lattice.points[high]
    lengths = np.sqrt(span[:, 0] * span[:, 0] + span[:, 1] * span[:, 1])
    weights = np.maximum(np.rint(lengths), 1).astype(np.int32)
    return graph_of_pairs(n, pairs, weights, coordinates=lattice.points)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Cells in rows and columns, some of which are vertices of a road map.

    A street runs along each row and each column.
    """

    vertex: npt.NDArray[np.int64]  # the vertex number of each cell, or -1
    # For each cell, the rank of the street along the row, and of the street along the column.
    ranks: tuple[Array, Array]
    # For each cell of the grid: which street passes through it if the cell does not have a vertex.
    # 0 is the street along the row, and 1 the street along the column. With 2 neither does, because
    # the cell is water.
    passing: npt.NDArray[np.int64]
    urban: Field  # from 0 in the country to 1 or more in the centre of towns
    points: Field  # coordinates of the vertices, shape (n, 2)

    @classmethod
    def of(cls, n: int, seed: int) -> Lattice:
        """Make a lattice with `n` vertices. `seed` determines land, towns and streets."""
        n_land = math.ceil(n / _CROSSING_SHARE)
        n_cells = math.ceil(n_land / _LAND_SHARE)
        rows = max(math.isqrt(n_cells * 4 // 5), 1)
        shape = rows, -(-n_cells // rows)
        towns = found_towns(shape, seed)
        urban = urbanity(shape, towns)
        streets = Stream.named(seed, "road streets")
        ranks = _ranks(streets, shape, axis=0), _ranks(streets, shape[::-1], axis=1).T
        land = _highest(elevation(shape, urban, seed), n_land)
        appeal = np.where(land, _appeal(urban, ranks, seed), -np.inf)
        is_vertex = _highest(appeal, n)
        row, column = np.nonzero(is_vertex)
        y, x = bend(row, column, shape, seed)
        for town in towns:
            y, x = town.attract(y, x)
        return cls(
            vertex=np.where(is_vertex, np.cumsum(is_vertex).reshape(shape) - 1, -1),
            ranks=ranks,
            passing=np.where(land, ranks[1] > ranks[0], 2),
            urban=urban,
            points=np.stack([_UNITS * x, -_UNITS * y], axis=1),
        )


def _ranks(stream: Stream, shape: Shape, *, axis: int) -> Array:
    """Return, for each cell of a lattice of the given shape, the rank of the street along its row.

    Half of the streets have rank 0, a quarter rank 1, an eighth rank 2, and so on up to the highest
    rank. Along each row runs a sequence of minor streets, and a sequence of longer, major streets.
    In each cell the higher of both ranks is returned. `stream` gives the random numbers, which
    differ for each `axis`.
    """
    lines, cells = shape
    ranks = np.zeros(shape, np.int64)
    for level, span in enumerate(_SPANS):
        stretches = -(-cells // span)
        street = np.arange(lines * stretches, dtype=np.uint64) * np.uint64(2 * len(_SPANS))
        words = stream.words(street + np.uint64(len(_SPANS) * axis + level))
        lowest_bit = (words & (~words + np.uint64(1))).astype(np.float64)
        zeros = np.frexp(lowest_bit)[1].reshape(lines, stretches) - 1
        spread = np.repeat(np.minimum(zeros, _TOP_RANK), span, axis=1)[:, :cells]
        ranks = np.maximum(ranks, spread)
    return ranks


def _appeal(urban: Field, ranks: tuple[Array, Array], seed: int) -> Field:
    """Return the suitability of each cell as a vertex. The most suitable cells become vertices.

    Cells in towns (by their density, `urban`), in villages, and on streets of high rank are more
    suitable. A random number, determined by `seed`, is added.
    """
    shape = urban.shape
    appeal = 1.5 * np.minimum(urban, 0.6) + 0.35 * np.minimum(np.maximum(*ranks), 3)
    appeal += 0.25 * smooth_field(Stream.named(seed, "road villages"), shape, 30)
    appeal += 0.5 * Stream.named(seed, "road crossings").uniform(urban.size).reshape(shape)
    return np.asarray(appeal)


def _highest(values: Field, count: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the `count` highest values. Among equal values the first ones are chosen."""
    chosen = np.zeros(values.shape, bool)
    if count:
        bar = np.partition(values, values.size - count, axis=None)[values.size - count]
        chosen |= values > bar
        equals = np.flatnonzero(values == bar)
        chosen.flat[equals[: count - np.count_nonzero(chosen)]] = True
    return chosen


def _candidates(lattice: Lattice, seed: int) -> tuple[Array, Array, Field]:
    """Return all edges of a lattice that a road map may have, as arrays (u, v, score).

    Edges with low scores are preferred. `seed` determines the random part of the scores.
    """
    rows = _along_rows(lattice, 0, Stream.named(seed, "road rows"))
    turned = Lattice(
        vertex=lattice.vertex.T, ranks=(lattice.ranks[1].T, lattice.ranks[0].T),
        passing=lattice.passing.T, urban=lattice.urban.T, points=lattice.points,
    )  # fmt: skip
    columns = _along_rows(turned, 1, Stream.named(seed, "road columns"))
    parts = zip(rows, columns, _detours(lattice), strict=True)
    u, v, scores = (np.concatenate(part) for part in parts)
    return u, v, scores


def _along_rows(lattice: Lattice, axis: int, stream: Stream) -> tuple[Array, Array, Field]:
    """Join each vertex to the next vertex of its row, across any cells between them.

    `axis` is 0 for the rows of `lattice`, and 1 if `lattice` is transposed. `stream` gives the
    random part of the scores. Returns arrays (u, v, score). Edges across water or another street,
    except bridges, get high scores, so that they are only used if the spanning tree needs them.
    """
    is_vertex = lattice.vertex >= 0
    line, cell = np.nonzero(is_vertex)
    here = np.flatnonzero(line[1:] == line[:-1])
    vertices = lattice.vertex[is_vertex]
    u, v, gap = vertices[here], vertices[here + 1], cell[here + 1] - cell[here]
    barriers = ~is_vertex & (lattice.passing != axis)
    passed = np.cumsum(barriers).reshape(barriers.shape)[is_vertex]
    is_barred = passed[here + 1] > passed[here]
    rank = lattice.ranks[0][is_vertex][here]
    score = stream.uniform(u) - 0.3 * rank - 0.9 * lattice.urban[is_vertex][here]
    has_bridge = (rank >= _BRIDGE_RANK) & (gap <= _LONGEST_BRIDGE)
    return u, v, np.where(is_barred & ~has_bridge, _NEEDLESS + gap, score)


def _detours(lattice: Lattice) -> tuple[Array, Array, Field]:
    """Join the first vertex of each row to the first vertex of the next row.

    Pairs in the same column are left out, because another edge joins them. Together with the edges
    along rows and columns, these edges connect all vertices of any lattice. Returns arrays (u, v,
    score).
    """
    line, cell = np.nonzero(lattice.vertex >= 0)
    first = np.flatnonzero(np.diff(line, prepend=-1))
    across, down = np.diff(cell[first]), np.diff(line[first])
    apart = across != 0
    return first[:-1][apart], first[1:][apart], _NEEDLESS + (np.abs(across) + down)[apart]


def _network(n: int, u: Array, v: Array, scores: Field, *, n_edges: int) -> Array:
    """Choose the edges of a road map: a spanning tree, and the best of the remaining edges.

    The candidates are edges (u, v) among `n` vertices, with scores, of which low ones are better.
    The tree is the one with the lowest scores. Returns the indices of at most `n_edges` edges, best
    first.
    """
    order = np.argsort(scores, kind="stable")
    rank = np.empty(order.size)
    rank[order] = np.arange(1, order.size + 1)
    ends = u.astype(np.int32), v.astype(np.int32)  # older versions of csgraph take only int32
    tree = minimum_spanning_tree(sparse.coo_array((rank, ends), shape=(n, n)).tocsr())
    chosen = np.zeros(order.size, bool)
    chosen[tree.data.astype(np.int64) - 1] = True
    others = np.flatnonzero(~chosen & (scores[order] < _NEEDLESS))
    chosen[others[: max(n_edges - (n - 1), 0)]] = True
    return order[chosen]


# -------------------------------------------------------------------------- the ground

_TOWNS = 14
_TOWN_PULL = 0.5  # by what fraction distances shrink in the centre of a town
_HILLS = ((3, 1.0), (7, 0.6), (16, 0.35), (40, 0.15), (100, 0.07))  # bumps along a side, height
_RIVER = 4  # bumps along a side of the noise whose middle contour is the river
_RIVER_WIDTH = 0.006
_JITTER = 0.3  # in cells, to either side; up to 0.5, edges between neighbours cannot cross
# How the map is bent: every point is moved by a sum of smooth bumps of three sizes. For each size:
# the number of bumps along a side of the map, and the ratio of the height to the width of a bump.
# The slope of a bump is at most 1.5 times its ratio. The ratios add up to less than 1 / 3, so every
# partial derivative of the sum stays below 1 / 2 in magnitude, and the bent map never folds over
# itself.
_BENDS = ((3, 0.12), (9, 0.11), (30, 0.09))


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """A town, towards which vertices crowd and around which streets turn.

    All lengths are in cells of the lattice.
    """

    row: float  # row of the centre
    column: float  # column of the centre
    radius: float  # distance at which the pull of the town has fallen to a quarter
    turn: float  # tangent of half the angle by which the centre is turned

    def nearness(self, y: Array, x: Array) -> Field:
        """Return a number for each of the points (y, x): 1 in the centre, falling to 0 far away."""
        dy, dx = y - self.row, x - self.column
        near = 1.0 / (1.0 + (dy * dy + dx * dx) / (self.radius * self.radius))
        return np.asarray(near * near)

    def attract(self, y: Field, x: Field) -> tuple[Field, Field]:
        """Move points (y, x) towards the town's centre and around it, and return their new (y, x).

        A point that was nearer to the centre than another one stays nearer.
        """
        near = self.nearness(y, x)
        shrink = 1.0 - _TOWN_PULL * near
        half = self.turn * near  # rational functions round alike everywhere, sin and cos do not
        cosine = shrink * (1.0 - half * half) / (1.0 + half * half)
        sine = shrink * 2.0 * half / (1.0 + half * half)
        dy, dx = y - self.row, x - self.column
        return self.row + (cosine * dy + sine * dx), self.column + (cosine * dx - sine * dy)


def found_towns(shape: Shape, seed: int) -> tuple[Town, ...]:
    """Choose the towns of a lattice of the given shape, in descending order of size.

    The largest town is near the middle. `seed` determines where the towns are.
    """
    chances = Stream.named(seed, "road towns").uniform(3 * _TOWNS).reshape(_TOWNS, 3)
    chances[0, :2] = 0.3 + 0.4 * chances[0, :2]
    size = max(shape)
    return tuple(
        Town(
            row=shape[0] * (0.1 + 0.8 * y),
            column=shape[1] * (0.1 + 0.8 * x),
            radius=0.13 * size / (1.0 + 0.4 * rank),
            turn=0.6 * (turn - 0.5),
        )
        for rank, (y, x, turn) in enumerate(chances.tolist())
    )


def urbanity(shape: Shape, towns: tuple[Town, ...]) -> Field:
    """Return the density of towns at each cell: 0 far away, 1 or more in the centre of a town.

    `shape` is the number of rows and columns.
    """
    y, x = np.ogrid[: shape[0], : shape[1]]
    field = np.zeros(shape)
    for town in towns:
        field += town.nearness(y, x)
    return field


def elevation(shape: Shape, urban: Field, seed: int) -> Field:
    """Return the height of the ground in each cell. The lowest cells become water.

    The ground is low near the border and along the river. `shape` is the number of rows and
    columns. `urban` is the density of towns, where the ground is higher. `seed` determines the
    hills and the river.
    """
    field = 0.35 * urban
    for bumps, height in _HILLS:
        field += height * smooth_field(Stream.named(seed, f"road hills {bumps}"), shape, bumps)
    y, x = (np.linspace(-1.0, 1.0, size) for size in shape)
    field -= 0.9 * (np.square(np.square(y))[:, None] + np.square(np.square(x)))
    depth = np.abs(smooth_field(Stream.named(seed, "road river"), shape, _RIVER) - 0.5)
    depth -= 0.03 * smooth_field(Stream.named(seed, "road banks"), shape, 25)
    field[depth < _RIVER_WIDTH] -= 1.2
    return field


def bend(rows: Array, columns: Array, shape: Shape, seed: int) -> tuple[Field, Field]:
    """Bend a lattice smoothly, without folds, and return the new positions (y, x) of its points.

    `rows` and `columns` are the positions of the points on the lattice, which has the given
    `shape`. `seed` determines the bending. The attraction of towns is not included.
    """
    axes = []
    for name, lattice in (("y", rows), ("x", columns)):
        jitter = Stream.named(seed, f"road jitter {name}").uniform(lattice.size)
        at = lattice + _JITTER * (2.0 * jitter - 1.0)
        for bumps, ratio in _BENDS:
            stream = Stream.named(seed, f"road bends {name} {bumps}")
            at += (ratio * max(shape) / bumps) * smooth_field(stream, shape, bumps)[rows, columns]
        axes.append(at)
    return axes[0], axes[1]


def smooth_field(stream: Stream, shape: Shape, bumps: int) -> Field:
    """Return an array of smooth noise in [0, 1) ("value noise").

    The values are random at the points of a coarse grid, the knots, and interpolated between them.
    `stream` gives the random numbers, and `shape` is the shape of the result. There are `bumps`
    knots along the longer side.
    """
    spacing = max(max(shape) / bumps, 1.0)
    knots = tuple(int(size / spacing) + 2 for size in shape)
    field = stream.uniform(knots[0] * knots[1]).reshape(knots)
    for axis, size in enumerate(shape):
        at = np.arange(size) / spacing
        knot = at.astype(np.int64)
        part = at - knot
        ease = part * part * (3.0 - 2.0 * part)
        ease = ease[:, None] if axis == 0 else ease
        field = field.take(knot, axis) * (1.0 - ease) + field.take(knot + 1, axis) * ease
    return field
