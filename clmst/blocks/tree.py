"""The spanning tree of points that are divided into blocks.

An edge of the tree between two blocks is in the tree of any set of points that contains both of its
ends (the cycle property). So the tree of all points is the tree of these edges together: the trees
of all blocks, and for each two pieces of blocks the edges between them in the tree of the points
that may matter (:mod:`clmst.blocks.pieces` defines pieces and climbs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from clmst.blocks.partition import Block
from clmst.blocks.pieces import Pieces, divide_tree
from clmst.blocks.regions import (
    BoxArray,
    Cloud,
    Doubles,
    Numbers,
    near_a_box,
    near_to_points,
    rising,
)
from clmst.blocks.tasks import FoundEdges, Solver, Step, Task
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.paths import Hierarchy
from clmst.core.points import Points
from clmst.core.threads import chosen, gathered, scatter

# Number of points of each of two pieces (parts of blocks of points) that are compared to find a
# first edge between the two pieces.
_PROBED = 128
_PROBED_LEAVES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A piece of a block, for which the edges to another block are looked for.

    `climbs` are the climbs of its points, in the order of `cloud`, and `greatest` the greatest
    climb in each leaf of `cloud`. `nearest` is the least core distance of a point, or 0 without
    core distances.
    """

    block: int
    climbs: Doubles
    cloud: Cloud
    greatest: Doubles
    nearest: float

    @property
    def numbers(self) -> Numbers:
        """The numbers of its points among all points, in the order of `cloud`."""
        return self.cloud.numbers


@dataclass(slots=True, eq=False)
class Bounds:
    """Upper bounds of the heaviest edge on the path between the roots of each two pieces.

    The bounds come from edges that are known between pieces: `u`, `v` are the pieces. `weights`
    has, for each known edge, the greatest of its weight and the climbs of its ends. The climb of a
    point is the weight of the heaviest edge between the point and the root of its piece.
    """

    u: list[Numbers] = field(default_factory=list)
    v: list[Numbers] = field(default_factory=list)
    weights: list[Doubles] = field(default_factory=list)

    def add(self, u: Numbers, v: Numbers, weights: Doubles) -> None:
        """Add edges between the pieces `u` and `v`, with `weights` as in the attribute."""
        self.u.append(u)
        self.v.append(v)
        self.weights.append(weights)

    def between(self, n_pieces: int, a: Numbers, b: Numbers) -> Doubles:
        """Return the bound for each pair of pieces (a[i], b[i]), infinite if no path is known.

        The pieces of a pair differ, and there are `n_pieces` in all. O(k log k) for k known edges,
        and O(log n) for each pair.
        """
        u, v = np.concatenate(self.u), np.concatenate(self.v)
        weights = np.concatenate(self.weights)
        order = np.argsort(weights, kind="stable")
        u, v, weights = u[order], v[order], weights[order]
        in_order = Graph.from_edges(u, v, np.arange(u.size), n_vertices=n_pieces)
        kept = np.sort(kruskal(in_order).edge_ids)
        self.u, self.v, self.weights = [u[kept]], [v[kept]], [weights[kept]]
        hierarchy = Hierarchy(n_pieces, u[kept], v[kept])
        trees = hierarchy.trees()
        bounds = np.full(a.size, np.inf)
        joined = np.flatnonzero(trees[a] == trees[b])
        bounds[joined] = weights[kept][hierarchy.last_ranks(a[joined], b[joined])]
        return bounds


def edges_by_blocks(blocks: Sequence[Block], solver: Solver) -> Iterator[FoundEdges]:
    """Yield edges between points, among which are all edges of the spanning tree of the points.

    No edge is yielded twice. `solver` gets at most two blocks at once, in the order of the numbers
    of their points, so that equal weights are ordered as among all points.
    """
    pieces: list[Piece] = []
    bounds = Bounds()

    def of_block(number: int) -> Task:
        return Task(f"block-{number}", rising(blocks[number].numbers))

    tasks = (partial(of_block, number) for number in range(len(blocks)))
    step = Step.begun("trees of blocks", len(blocks), solver.note)
    places = np.empty(solver.points.n_vertices, np.uint32)  # position in its cloud of each point
    solved = zip(blocks, solver.solved(tasks, step), strict=True)
    for which, (block, (_, edges)) in enumerate(solved):
        yield edges
        scatter(np.arange(block.numbers.size, dtype=np.uint32), block.numbers, places)
        u, v = gathered(places, edges.u), gathered(places, edges.v)
        weights = edges.weights.astype(np.float64, copy=False)
        found = divide_tree(block.numbers.size, u, v, weights)
        bounds.add(*_links(found, u, v, len(pieces)))
        pieces += _pieces(solver.points, which, block, found)
    if len(blocks) > 1:
        yield from _between_blocks(pieces, bounds, solver)


def _links(found: Pieces, u: Numbers, v: Numbers, first: int) -> tuple[Numbers, Numbers, Doubles]:
    """Return the edges between the pieces of a block, for :meth:`Bounds.add`.

    A piece is a part of a block whose points are near to one another. `found` has the pieces of the
    block, (u[i], v[i]) are the edges of its tree, and `first` is the number of the first of these
    pieces among all pieces.
    """
    u, v = u[found.links], v[found.links]
    weights = np.maximum(found.link_weights, np.maximum(found.climbs[u], found.climbs[v]))
    one, other = (first + found.labels[ends].astype(np.int64) for ends in (u, v))
    return one, other, np.asarray(weights)


def _pieces(points: Points, which: int, block: Block, found: Pieces) -> list[Piece]:
    """Return the pieces of block number `which`, given their division in `found`.

    A piece is a part of a block whose points are near to one another. `points` are all points, of
    all blocks.
    """
    core, pieces = points.core_distances, []
    for label in range(found.n_pieces):
        cloud, climbs = block.cloud, found.climbs
        if found.n_pieces > 1:
            numbers, climbs = chosen(found.labels == label, block.numbers, climbs)
            cloud, order = Cloud.of(points, numbers)
            climbs = gathered(climbs, order)
        nearest = 0.0 if core is None else float(gathered(core, cloud.numbers).min())
        pieces.append(Piece(which, climbs, cloud, cloud.greatest_of_leaves(climbs), nearest))
    return pieces


def _between_blocks(pieces: list[Piece], bounds: Bounds, solver: Solver) -> Iterator[FoundEdges]:
    """Yield the edges between pieces of different blocks that may be in the tree of all points.

    A piece is a part of a block whose points are near to one another. `bounds` has upper bounds for
    the heaviest edges on the paths between pieces, and `solver` computes the edges.
    """
    points = solver.points
    a, b, least = _pairs(points, pieces)
    is_probed = np.zeros(a.size, bool)
    while True:
        between = bounds.between(len(pieces), a, b)
        wanted = np.flatnonzero((least <= between) & ~is_probed)
        if not wanted.size:
            break
        chosen = wanted[_first_of_each(len(pieces), a[wanted], b[wanted])]
        is_probed[chosen] = True
        for at in chosen.tolist():
            bounds.add(*_probe(points, pieces, int(a[at]), int(b[at])))
    climbs = np.array([piece.greatest.max() for piece in pieces])
    needed = np.flatnonzero(least <= np.maximum(between, np.maximum(climbs[a], climbs[b])))
    sizes = np.array([piece.numbers.size for piece in pieces])
    step = Step.begun(
        "edges between blocks", needed.size, solver.note, n_dropped=a.size - needed.size,
        seconds_expected=solver.pace.expected(sizes[a[needed]] + sizes[b[needed]]),
    )  # fmt: skip

    def of_pair(at: int) -> Task | None:
        one, other = pieces[a[at]], pieces[b[at]]
        near = _near_parts(points, one, other, float(least[at]), float(between[at]))
        has_points = all(part.size for part in near)
        return _task(f"pair-{a[at]}-{b[at]}", one, other, *near) if has_points else None

    for _, edges in solver.solved((partial(of_pair, at) for at in needed.tolist()), step):
        yield edges


def _pairs(points: Points, pieces: list[Piece]) -> tuple[Numbers, Numbers, Doubles]:
    """Return all pairs of pieces of different blocks, the pairs with the least bounds first.

    `points` are all points. The third array has a lower bound of the weights of the edges between
    the pieces of each pair. O(p**2 log p) for p pieces.
    """
    boxes = BoxArray.joined([piece.cloud.box for piece in pieces])
    block = np.array([piece.block for piece in pieces])
    nearest = np.array([piece.nearest for piece in pieces])
    found: list[tuple[Numbers, Numbers, Doubles]] = []
    for which, piece in enumerate(pieces):
        others = which + 1 + np.flatnonzero(block[which + 1 :] != piece.block)
        least = points.least_distances(boxes[others].gaps_to(piece.cloud.box))
        least = np.maximum(np.maximum(least, nearest[others]), piece.nearest)
        found.append((np.full(others.size, which), others, least))
    a, b, least = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(least, kind="stable")
    return a[order], b[order], least[order]


def _first_of_each(n_pieces: int, a: Numbers, b: Numbers) -> Numbers:
    """Return the positions of the pairs (a[i], b[i]) that are the first pair of either piece."""
    first = np.full(n_pieces, a.size)
    np.minimum.at(first, a, np.arange(a.size))
    np.minimum.at(first, b, np.arange(b.size))
    return np.unique(first[first < a.size])


def _probe(points: Points, pieces: list[Piece], a: int, b: int) -> tuple[Numbers, Numbers, Doubles]:
    """Find an edge between the pieces `a` and `b`, as a bound for the path between their roots.

    The result is a known edge as for :meth:`Bounds.add`. It is the best edge between some points of
    each piece: points for which the distance to the box of the other piece, the climb and the core
    distance are small.
    """
    one, other = pieces[a], pieces[b]
    u, v = _likely_ends(points, one, other), _likely_ends(points, other, one)
    weights = _distances_between(points, one.numbers[u], other.numbers[v])
    weights = np.maximum(weights, np.maximum(one.climbs[u][:, None], other.climbs[v]))
    return np.array([a]), np.array([b]), np.array([weights.min()])


def _distances_between(points: Points, some: Numbers, others: Numbers) -> Doubles:
    """Return the weights of the edges between some points and others, a row for each of `some`."""
    a, b = points.subset(some), points.subset(others)
    found = a.distances_to(b, np.arange(some.size)[:, None], np.arange(others.size))
    found = found.astype(np.float64, copy=False)
    if points.core_distances is not None:
        found = np.maximum(np.maximum(found, a.core_distances[:, None]), b.core_distances)
    return found


def _likely_ends(points: Points, piece: Piece, other: Piece) -> Numbers:
    """Return up to `_PROBED` points of a piece that light edges may join to another piece.

    A piece is a part of a block of points, in leaves of a tree of boxes. The returned points are in
    the leaves that are nearest to the other piece.
    """
    cloud, box = piece.cloud, other.cloud.box
    by_leaf = points.least_distances(cloud.leaves.gaps_to(box))
    at = cloud.of_leaves(np.argsort(by_leaf, kind="stable")[:_PROBED_LEAVES])
    least = points.least_distances(cloud.points_at(points, at).gaps_to(box))
    cost = np.maximum(least, piece.climbs[at])
    if points.core_distances is not None:
        np.maximum(cost, points.core_distances[piece.numbers[at]], out=cost)
    return at[np.argpartition(cost, _PROBED)[:_PROBED]] if at.size > _PROBED else at


def _near_parts(
    points: Points, one: Piece, other: Piece, least: float, between: float
) -> tuple[Numbers, Numbers]:
    """Find the points of two pieces, `one` and `other`, that an edge of the whole tree may join.

    `least` is a lower bound of the weights of edges between the pieces, and `between` an upper
    bound of the heaviest edge on the path between their roots. Returns positions in both pieces.
    """
    u, reach_of_u = _near_points(points, one, other, least, between)
    v, reach_of_v = _near_points(points, other, one, least, between)
    of_other = near_to_points(points, one.cloud, u, reach_of_u, other.cloud, roughly=True)
    of_one = near_to_points(points, other.cloud, v, reach_of_v, one.cloud, roughly=True)
    return np.union1d(u, of_one), np.union1d(v, of_other)


def _task(name: str, one: Piece, other: Piece, u: Numbers, v: Numbers) -> Task:
    """Return the task `name` of finding the edges between some points of two pieces.

    `u` are positions in the piece `one`, and `v` in the piece `other`.
    """
    numbers = np.concatenate([one.numbers[u], other.numbers[v]])
    order = np.argsort(numbers)
    return Task(name, numbers[order], is_of_one=order < u.size)


def _near_points(
    points: Points, piece: Piece, other: Piece, least: float, between: float
) -> tuple[Numbers, Doubles]:
    """Find the points of a piece whose reach may contain points of another piece.

    The reach of a point is the greater of its climb and `between`. Points whose reach is below
    `least` are left out. Returns the positions of the points in the piece, and their reaches.
    """

    def reaches(at: Numbers) -> Doubles:
        """Return the reach of points, or -inf where it is known that no edge can be within it."""
        found = np.maximum(piece.climbs[at], between)
        is_left_out = found < least
        if points.core_distances is not None:
            is_left_out |= points.core_distances[piece.numbers[at]] > found
        found[is_left_out] = -np.inf
        return found

    greatest = np.maximum(piece.greatest, between)
    greatest[greatest < least] = -np.inf
    at = near_a_box(points, piece.cloud, greatest, reaches, other.cloud.box)
    return at, np.maximum(piece.climbs[at], between)
