"""Surrogate graphs that grow vertex by vertex: each vertex is joined to some earlier vertices.

A surrogate stands for a real graph that a paper has measured. There are graphs by preferential
attachment, and graphs like the topology of the Internet. Graphs like the Internet follow two
papers. From Kumar et al., "Stochastic models for the web graph" (2000), is the copying: an edge
ends where a random earlier edge ends, so that degrees follow a power law. From Holme and Kim,
"Growing scale-free networks with tunable clustering" (2002), is the closing of triangles.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst.core.graph import Graph
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array
from clmst.generators.edges import resolve
from clmst.generators.hashing import Stream, Words, next_words
from clmst.generators.surrogates.rows import CHUNK, draws_of, graph_of_edges

_SEED = 11
_CORE = 64  # the first vertices join each other at random; else all copies would end at vertex 0
_MOST_DRAWS = 300  # maximum number of draws of a vertex
_NEARBY = 64  # a near draw ends at one of this many previous vertices
_QUARTER = 4  # of 16, the number of values of four bits


def preferential(
    *, n: int, edges_per_vertex: int, second_may_fail: bool = False, anyone: int = _QUARTER
) -> Graph:
    """Make a graph in which each of the vertices 1, 2, ..., n - 1 draws edges to earlier vertices.

    Most edges lead to a random end of a random earlier edge. The first edge of all, and `anyone`
    sixteenths of the other edges, lead to a random earlier vertex. A larger `anyone` makes the
    greatest degrees smaller. Self-loops and duplicates are dropped. If `second_may_fail` is true, a
    vertex draws its second edge only with probability 1/2.
    """
    # A draw of a vertex chooses another vertex, to which it is then joined. Draws are numbered over
    # all vertices. Vertex 0 makes none, so the numbers begin with the first draw of vertex 1.
    hashes = _hashes(edges_per_vertex, n * edges_per_vertex)
    owners = np.repeat(np.arange(1, n, dtype=np.uint32), edges_per_vertex)
    if second_may_fail:
        fails = (hashes >> np.uint64(40)) & np.uint64(1) == np.uint64(1)
        fails &= np.arange(hashes.size) % edges_per_vertex == 1
        hashes, owners = hashes[~fails], owners[~fails]
    joined = _attached_vertices(hashes, owners, np.uint64(anyone))
    del hashes
    return graph_of_edges(n, draws_of(owners, joined))


def _hashes(start: int, stop: int) -> Words:
    """Return the hashes of the numbers start .. stop - 1."""
    hashes = np.arange(start, stop, dtype=np.uint64)
    in_threads(lambda block: next_words(hashes[block]), slices(hashes.size, CHUNK))
    return hashes


def _attached_vertices(
    hashes: Words, owners: Array, sixteenths: np.uint64
) -> npt.NDArray[np.uint32]:
    """Return the second end of each edge by preferential attachment.

    `owners` has the first end of each edge, which is the vertex that draws it, and `hashes` has a
    hash for each edge. With probability `sixteenths` / 16, the second end is a random earlier
    vertex. Otherwise it is a random end of a random earlier edge.
    """
    ends = np.empty(hashes.size, np.int64)

    def fill(block: slice) -> None:
        words, numbers = hashes[block], np.arange(block.start, block.stop, dtype=np.uint64)
        anyone = words >> np.uint64(60) < sixteenths
        if block.start == 0:
            anyone[0] = True  # there is not yet an edge to copy from
        fresh = (next_words(words + np.uint64(1)) % owners[block]).astype(np.int64)
        numbers *= np.uint64(2)
        taken = next_words(words.copy()) % np.maximum(numbers, np.uint64(1))
        edges = (taken >> np.uint64(1)).astype(np.int64)
        is_joined_end = (taken & np.uint64(1)).astype(bool)
        ends[block] = np.where(anyone, fresh, np.where(is_joined_end, ~edges, owners[edges]))

    in_threads(fill, slices(hashes.size, CHUNK))
    resolve(ends)
    return ends.astype(np.uint32)


def topology(
    *, n: int, n_paths: int, in_paths: int, few: float, anyone: float, near: float
) -> Graph:
    """Make a network of `n` vertices that grows by copying earlier edges and closing triangles.

    Each vertex makes about ``few / sqrt(random)`` draws, where `random` is uniform in [0, 1), so
    some vertices make hundreds. Each draw joins the vertex to an earlier vertex, and also to a
    vertex that this one has drawn, which closes a triangle. With probability `anyone` a draw
    chooses a random earlier vertex. With probability `near` it chooses one of the previous 64
    vertices. Otherwise it chooses the same vertex as a random earlier draw. The last `in_paths`
    vertices form `n_paths` separate paths.
    """
    n_large = n - in_paths
    counts = _draw_counts(n_large, few)
    owners = np.repeat(np.arange(n_large, dtype=np.uint32), counts)
    firsts = np.zeros(n_large + 1, np.int64)
    np.cumsum(counts, out=firsts[1:])
    joined = _joined_vertices(owners, firsts, anyone, near)
    closing = _closing_vertices(joined, counts, firsts)
    ends, next_ends = _paths(n_large, n_paths, in_paths)
    return graph_of_edges(
        n,
        [
            *draws_of(owners, joined),
            *draws_of(owners, closing),
            *draws_of(ends, next_ends),
        ],
    )


def _draw_counts(n: int, few: float) -> npt.NDArray[np.int64]:
    """Return the number of draws of each of `n` vertices.

    It is ``few / sqrt(random)``, where `random` is uniform in [0, 1), but at most 300. Vertex 0
    makes one draw, in which it chooses itself.
    """
    uniform = Stream.named(_SEED, "draws").uniform(n)
    counts = np.minimum(few / np.sqrt(np.maximum(uniform, 2.0**-53)), _MOST_DRAWS)
    counts[0] = 1
    return counts.astype(np.int64)


def _joined_vertices(
    owners: Array, firsts: Array, anyone: float, near: float
) -> npt.NDArray[np.uint32]:
    """Return the vertex that each draw chooses. It is earlier than the vertex that makes the draw.

    `owners` has the vertex that makes each draw, and `firsts` the number of the first draw of each
    vertex. `anyone` and `near` are explained in :func:`topology`. The single draw of vertex 0
    chooses vertex 0 itself.
    """
    kinds, choices = Stream.named(_SEED, "kinds"), Stream.named(_SEED, "places")
    ends = np.empty(owners.size, np.int64)

    def fill(block: slice) -> None:
        draws = np.arange(block.start, block.stop, dtype=np.uint64)
        owner = owners[block].astype(np.int64)
        earlier = np.maximum(owner, 1)
        kind, choice = kinds.uniform(draws), choices.words(draws)
        any_vertex = (choice % earlier.astype(np.uint64)).astype(np.int64)
        near_vertex = np.maximum(owner - 1 - (choice % np.uint64(_NEARBY)).astype(np.int64), 0)
        # A draw that copies has the same result as a random draw of an earlier vertex, which may
        # itself be a copy. It is stored as a reference to that draw. References only lead to draws
        # of earlier vertices, so following them comes to an end.
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
    """Return, for each draw, a second vertex, which closes a triangle.

    `joined` has the vertex w that each draw has chosen. The second vertex is a random one of the
    vertices that w has chosen in draws of its own. `counts` has the number of draws of each vertex,
    and `firsts` the number of its first draw.
    """
    stream = Stream.named(_SEED, "closing")
    closing = np.empty(joined.size, np.uint32)

    def fill(block: slice) -> None:
        partner = joined[block]
        draws = np.arange(block.start, block.stop, dtype=np.uint64)
        which = stream.below(draws, counts[partner]).astype(np.int64)
        closing[block] = joined[firsts[partner] + which]

    in_threads(fill, slices(joined.size, CHUNK))
    return closing


def _paths(first: int, n_paths: int, in_paths: int) -> tuple[Array, Array]:
    """Return the edges (u, v) of `n_paths` paths through the `in_paths` vertices from `first` on.

    The lengths of the paths differ by at most 1.
    """
    vertices = np.arange(in_paths)
    path = vertices * n_paths // in_paths
    continues = np.flatnonzero(path[1:] == path[:-1]) + first
    return continues.astype(np.uint32), (continues + 1).astype(np.uint32)
