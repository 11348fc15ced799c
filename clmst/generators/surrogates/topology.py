"""A surrogate of the routes of the Internet: heavy-tailed degrees, hubs, triangles, crumbs.

Sources: the copying model of Kumar et al., "Stochastic models for the web graph" (2000), in which
an edge ends where a random earlier edge does, so that degrees follow a power law; and the closing
of triangles of Holme and Kim, "Growing scale-free networks with tunable clustering" (2002).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst.core.graph import Graph
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array
from clmst.generators.hashing import Stream
from clmst.generators.surrogates.attachment import draws_of
from clmst.generators.surrogates.copies import resolve
from clmst.generators.surrogates.rows import CHUNK, graph_of_edges

_SEED = 11
_CORE = 64  # the first vertices join one another at random, lest the very first be all copies' end
_MOST_DRAWS = 300  # of one vertex
_NEARBY = 64  # vertices that are found one after another lie on the same routes


def topology(
    *, n: int, n_crumbs: int, in_crumbs: int, few: float, anyone: float, near: float
) -> Graph:
    """Grow a network by copying, close triangles, and set crumbs beside it.

    Vertex i makes about ``few / sqrt(random)`` draws, so some vertices make hundreds. Each draw
    joins a vertex, and also one of those that this vertex itself has drawn. The last `in_crumbs`
    vertices are `n_crumbs` paths of their own.

    Parameters
    ----------
    n : int
        Number of vertices.
    n_crumbs, in_crumbs : int
        Components beside the large one, and the vertices in all of them.
    few : float
        The fewest draws of a vertex, not rounded down yet.
    anyone, near : float
        Chances that a draw goes to any earlier vertex, or to one of the last 64; the others copy
        an earlier draw.
    """
    n_large = n - in_crumbs
    counts = _draw_counts(n_large, few)
    owners = np.repeat(np.arange(n_large, dtype=np.uint32), counts)
    firsts = np.zeros(n_large + 1, np.int64)
    np.cumsum(counts, out=firsts[1:])
    joined = _joined_vertices(owners, firsts, anyone, near)
    closing = _closing_vertices(joined, counts, firsts)
    crumbs, next_in_crumb = _crumbs(n_large, n_crumbs, in_crumbs)
    return graph_of_edges(
        n,
        [
            *draws_of(owners, joined),
            *draws_of(owners, closing),
            *draws_of(crumbs, next_in_crumb),
        ],
    )


def _draw_counts(n: int, few: float) -> npt.NDArray[np.int64]:
    """Return how often each vertex draws; vertex 0 draws once, and finds itself."""
    uniform = Stream.named(_SEED, "draws").uniform(n)
    counts = np.minimum(few / np.sqrt(np.maximum(uniform, 2.0**-53)), _MOST_DRAWS)
    counts[0] = 1
    return counts.astype(np.int64)


def _joined_vertices(
    owners: Array, firsts: Array, anyone: float, near: float
) -> npt.NDArray[np.uint32]:
    """Return the vertex that each draw joins, an earlier one than its owner if there is one."""
    kinds, choices = Stream.named(_SEED, "kinds"), Stream.named(_SEED, "places")
    ends = np.empty(owners.size, np.int64)

    def fill(block: slice) -> None:
        draws = np.arange(block.start, block.stop, dtype=np.uint64)
        owner = owners[block].astype(np.int64)
        earlier = np.maximum(owner, 1)
        kind, choice = kinds.uniform(draws), choices.words(draws)
        any_vertex = (choice % earlier.astype(np.uint64)).astype(np.int64)
        near_vertex = np.maximum(owner - 1 - (choice % np.uint64(_NEARBY)).astype(np.int64), 0)
        # Draws of vertices before the owner's: so no chain of copies comes back to the owner.
        copied = (choice % firsts[earlier].astype(np.uint64)).astype(np.int64)
        ends[block] = np.select(
            [owner == 0, (kind < anyone) | (owner < _CORE), kind < anyone + near],
            [0, any_vertex, near_vertex],
            default=~copied,
        )

    in_threads(fill, slices(owners.size, CHUNK))
    resolve(ends)
    return ends.astype(np.uint32)


def _closing_vertices(joined: Array, counts: Array, firsts: Array) -> npt.NDArray[np.uint32]:
    """Return, for each draw, a vertex that the vertex joined has drawn."""
    stream = Stream.named(_SEED, "closing")
    closing = np.empty(joined.size, np.uint32)

    def fill(block: slice) -> None:
        partner = joined[block]
        draws = np.arange(block.start, block.stop, dtype=np.uint64)
        which = stream.below(draws, counts[partner]).astype(np.int64)
        closing[block] = joined[firsts[partner] + which]

    in_threads(fill, slices(joined.size, CHUNK))
    return closing


def _crumbs(first: int, n_crumbs: int, in_crumbs: int) -> tuple[Array, Array]:
    """Return the edges of paths that share out the vertices from `first` on as evenly as can be."""
    vertices = np.arange(in_crumbs)
    crumb = vertices * n_crumbs // in_crumbs
    continues = np.flatnonzero(crumb[1:] == crumb[:-1]) + first
    return continues.astype(np.uint32), (continues + 1).astype(np.uint32)
