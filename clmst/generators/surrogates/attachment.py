"""Graphs that grow: each vertex joins earlier ones, mostly in proportion to their degree."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from clmst.core.graph import Graph
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array
from clmst.generators.hashing import Words, next_words
from clmst.generators.surrogates.copies import resolve
from clmst.generators.surrogates.rows import CHUNK, Draw, graph_of_edges

_QUARTER = np.uint64(4)  # of the sixteen values of four bits


def preferential(*, n: int, edges_per_vertex: int, second_may_fail: bool = False) -> Graph:
    """Let vertices 1, 2, ... join earlier ones, one edge after another.

    Three edges in four end where a random end of all edges before does; the others, and the very
    first, at any earlier vertex.

    Parameters
    ----------
    n : int
        Number of vertices.
    edges_per_vertex : int
        Draws of each vertex; loops and duplicates go.
    second_may_fail : bool
        Whether a vertex makes its second draw only on a hash's toss of a coin.
    """
    # Vertex 0 does not draw, so draws are counted from the first of vertex 1.
    hashes = _hashes(edges_per_vertex, n * edges_per_vertex)
    owners = np.repeat(np.arange(1, n, dtype=np.uint32), edges_per_vertex)
    if second_may_fail:
        fails = (hashes >> np.uint64(40)) & np.uint64(1) == np.uint64(1)
        fails &= np.arange(hashes.size) % edges_per_vertex == 1
        hashes, owners = hashes[~fails], owners[~fails]
    joined = _joined_vertices(hashes, owners)
    del hashes
    return graph_of_edges(n, draws_of(owners, joined))


def draws_of(u: Array, v: Array) -> list[Draw]:
    """Cut edges that are there already into chunks."""
    return [partial(_cut, u, v, chunk) for chunk in slices(u.size, CHUNK)]


def _hashes(start: int, stop: int) -> Words:
    """Return the hashes of start .. stop - 1."""
    hashes = np.arange(start, stop, dtype=np.uint64)
    in_threads(lambda block: next_words(hashes[block]), slices(hashes.size, CHUNK))
    return hashes


def _joined_vertices(hashes: Words, owners: Array) -> npt.NDArray[np.uint32]:
    """Return the vertex that each edge joins its owner to."""
    ends = np.empty(hashes.size, np.int64)

    def fill(block: slice) -> None:
        words, numbers = hashes[block], np.arange(block.start, block.stop, dtype=np.uint64)
        anyone = words >> np.uint64(60) < _QUARTER
        if block.start == 0:
            anyone[0] = True  # there is no edge before to take an end of
        fresh = (next_words(words + np.uint64(1)) % owners[block]).astype(np.int64)
        numbers *= np.uint64(2)
        taken = next_words(words.copy()) % np.maximum(numbers, np.uint64(1))
        edges = (taken >> np.uint64(1)).astype(np.int64)
        is_joined_end = (taken & np.uint64(1)).astype(bool)
        ends[block] = np.where(anyone, fresh, np.where(is_joined_end, ~edges, owners[edges]))

    in_threads(fill, slices(hashes.size, CHUNK))
    resolve(ends)
    return ends.astype(np.uint32)


def _cut(u: Array, v: Array, chunk: slice) -> tuple[Array, Array]:
    return u[chunk], v[chunk]
