"""Pieces of blocks, and bounds on the heaviest edge of the path between two of their points.

A block is a set of near points whose tree is computed by itself. A piece is a part of a block whose
points are connected by edges that are not much heavier than most others.

A point has a *climb*: the weight of the heaviest edge on the path between it and the root of its
piece, in the tree of its block. An edge between two points of different pieces can only be in the
spanning tree of all points if it is not heavier than some path between its ends. One of these
paths leads from one end to the root of its piece, on to the root of the other piece, and to the
other end. So the weight of an edge of the spanning tree is at most the greatest of both climbs and
of the heaviest edge between the roots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from clmst.blocks.regions import Doubles, Numbers
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.paths import components
from clmst.core.threads import chosen, gathered, in_threads, slices

_HEAVY = 3.0  # how many times heavier an edge between two pieces is than most edges of a block
_MOST_EDGES = 0.95  # the share of the edges that are "most"
_LEAST_SHARE = 1 / 64  # of the points of a block that a piece has
_NODES = 1 << 18  # to about so many nodes a larger block is contracted, before it is divided
_COUNTED = 1 << 22  # numbers that a thread counts at a time, or more if more differ
_SAMPLE = 1 << 17  # weights of edges of which a quantile is taken; a block of more points is large


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A block of points, divided into pieces.

    A block is a set of near points that are solved together, because no device can hold all points.
    A piece is a part of it whose points are connected by edges of the block's tree that are not
    much heavier than most others. Pieces bound how heavy the path between two points can be, which
    rules out most edges between blocks.

    Attributes
    ----------
    n_pieces : int
        The number of pieces, at least 1.
    labels : array of int, shape (n,)
        The piece of each point of the block.
    climbs : array of float64, shape (n,)
        The weight of the heaviest edge between each point and the root of its piece, or more.
    links : array of int, shape (k,)
        The positions of the edges of the block's tree that join different pieces. They connect all
        pieces.
    link_weights : array of float64, shape (k,)
        Their weights.
    """

    n_pieces: int
    labels: npt.NDArray[np.int32]
    climbs: Doubles
    links: Numbers
    link_weights: Doubles


def divide_tree(n: int, u: Numbers, v: Numbers, weights: Doubles) -> Pieces:
    """Divide the tree of a block into pieces at edges that are much heavier than most.

    There are `n` points. The edges of the tree are (u[i], v[i]), whose ends are positions of points
    in the block, with `weights`. A block that lies across two clusters has a piece for
    each, so that the heavy edge between the clusters counts only for paths between the pieces. O(n
    log n).

    In a large block, points that most edges connect become one node first, and the tree of these
    nodes is divided. Climbs are then at least the weight of the heaviest of these edges. Few points
    have a lesser one, because most edges do not connect most points.
    """
    if n == 1:
        none = np.zeros(0, np.int64)
        return Pieces(1, np.zeros(1, np.int32), np.zeros(1), none, np.zeros(0))
    most = max(_MOST_EDGES, 1 - _NODES / n)
    sample = weights[:: -(-n // _SAMPLE)]
    usual, joins = (float(weight) for weight in np.quantile(sample, [_MOST_EDGES, most]))
    if n <= _SAMPLE:
        edges = np.column_stack([u, v]).astype(np.int64)
        return _divided(np.ones(n, np.int64), edges, weights, usual)
    joins = min(joins, _HEAVY * usual)
    is_light = weights <= joins
    n_nodes, node = components(n, *chosen(is_light, u, v))
    heavy = np.flatnonzero(~is_light)
    ends = np.column_stack([u[heavy], v[heavy]])
    found = _divided(_counts(node, n_nodes), node[ends].astype(np.int64), weights[heavy], usual)
    labels = found.labels
    return replace(
        found, links=heavy[found.links], climbs=gathered(np.maximum(found.climbs, joins), node),
        labels=np.zeros(n, labels.dtype) if found.n_pieces == 1 else gathered(labels, node),
    )  # fmt: skip


def _counts(numbers: npt.NDArray[np.int32], n: int) -> Numbers:
    """Count how often each number below `n` occurs, with the threads of all cores."""
    parts = slices(numbers.size, max(_COUNTED, n))  # the counts of a part take at most its memory
    counts = in_threads(lambda some: np.bincount(numbers[some], minlength=n), parts)
    return np.asarray(sum(counts[1:], counts[0]))


def _divided(sizes: Numbers, edges: Numbers, weights: Doubles, usual: float) -> Pieces:
    """Divide a tree into pieces. Its nodes are points, or sets of points that stay together.

    `sizes` has the number of points of each node, and `edges` and `weights` are the tree. Most
    edges between points of the block have at most the weight `usual`. The labels and climbs of the
    result are of nodes, and its links are positions in `edges`.
    """
    n, u, v = sizes.size, edges[:, 0], edges[:, 1]
    is_light = weights <= _HEAVY * usual
    parts = components(n, u[is_light], v[is_light])[1].astype(np.int64)
    of_parts = np.bincount(parts, sizes)
    large = np.flatnonzero(of_parts >= max(of_parts.max() * _LEAST_SHARE, 2))
    roots = _central_nodes(sizes, edges, weights, parts, large)
    is_link = _heaviest_between(n, edges, weights, roots)
    return _rooted(n, edges, weights, is_link, roots)


def _central_nodes(
    sizes: Numbers, edges: Numbers, weights: Doubles, parts: Numbers, large: Numbers
) -> Numbers:
    """Choose a root in each of the parts `large`: a node that light edges connect to many points.

    `parts` has the part of each node, `sizes` the number of its points, and the tree has these
    edges and weights. The root is a greatest node of the greatest component of the part without its
    heaviest twentieth of edges.
    """
    n = sizes.size
    inside = parts[edges[:, 0]] == parts[edges[:, 1]]
    order = np.lexsort((weights, parts[edges[:, 0]]))
    order = order[inside[order]]
    part_of = parts[edges[order, 0]]
    starts = np.searchsorted(part_of, np.arange(parts.max() + 2))
    counts = np.diff(starts)
    rank = np.arange(order.size) - starts[part_of]
    kept = order[rank <= _MOST_EDGES * (counts[part_of] - 1)]
    _, cores = components(n, edges[kept, 0], edges[kept, 1])
    of_cores = np.bincount(cores, sizes)
    by_size = np.lexsort((-sizes, -of_cores[cores], parts))
    firsts = np.searchsorted(parts[by_size], large)
    return np.asarray(by_size[firsts], np.int64)


def _heaviest_between(
    n: int, edges: Numbers, weights: Doubles, roots: Numbers
) -> npt.NDArray[np.bool_]:
    """Find the heaviest edges without which each tree of the block has one of the `roots`.

    There are `n` nodes, and the tree has these edges and weights. The result is a mask of edges.
    An additional vertex, joined to all roots by edges lighter than all others, makes cycles. The
    heaviest edge of each cycle is not in the least spanning tree.
    """
    is_link = np.zeros(len(edges) + roots.size, bool)
    if roots.size > 1:
        u = np.concatenate([edges[:, 0], np.full(roots.size, n)])
        v = np.concatenate([edges[:, 1], roots])
        light = np.concatenate([weights, np.full(roots.size, -1.0)])
        is_link[:] = True
        is_link[kruskal(Graph.from_edges(u, v, light, n_vertices=n + 1)).edge_ids] = False
    return is_link[: len(edges)]


def _rooted(
    n: int, edges: Numbers, weights: Doubles, is_link: npt.NDArray[np.bool_], roots: Numbers
) -> Pieces:
    """Return the pieces, given the root of each and the edges between pieces.

    There are `n` nodes. `is_link` tells for each edge of the tree whether it joins two pieces.
    Without these edges, each tree has one of the `roots`. A node gets the piece of the root of its
    tree, and as its climb the weight of the heaviest edge on the path to that root. `links` of the
    result are positions in `edges`.
    """
    from scipy import sparse  # takes a quarter of a second
    from scipy.sparse.csgraph import breadth_first_order

    own = edges[~is_link]
    # An additional vertex n is joined to the roots of all pieces. So all pieces are one tree, and a
    # single search finds the parents of all points.
    u = np.concatenate([own[:, 0], np.full(roots.size, n)])
    v = np.concatenate([own[:, 1], roots])
    # The values of the sparse matrix are the positions of edges plus one, since a value of 0 would
    # not be an entry.
    places = np.arange(1, u.size + 1)
    tree = sparse.coo_array((places, (u, v)), shape=(n + 1, n + 1)).tocsr()
    tree = (tree + tree.T).tocsr()
    _, parents = breadth_first_order(tree, n, directed=True)
    above = parents[:n].astype(np.int64)
    # Find, for each node, the edge to its parent in the tree of its piece. One end of the edge is
    # the parent, and the other is the node itself.
    climbs = np.zeros(n)
    is_child = above[own[:, 0]] == own[:, 1]
    children = np.where(is_child, own[:, 0], own[:, 1])
    climbs[children] = weights[~is_link]
    labels = np.full(n, -1, np.int32)
    labels[roots] = np.arange(roots.size)
    above[roots] = roots
    # Pointer jumping: each step makes every parent pointer lead twice as far, until all pointers
    # lead to roots.
    while True:
        higher = above[above]
        climbs = np.maximum(climbs, climbs[above])
        if np.array_equal(higher, above):
            break
        above = higher
    return Pieces(
        n_pieces=roots.size, labels=labels[above], climbs=climbs,
        links=np.flatnonzero(is_link), link_weights=weights[is_link],
    )  # fmt: skip
