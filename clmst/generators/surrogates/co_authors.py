"""A surrogate of graphs of people who wrote together: overlapping cliques along a path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import numpy as np

from clmst.core.graph import Graph
from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.generators.hashing import next_word, next_words
from clmst.generators.surrogates.rows import CHUNK, Draw, graph_of_edges

_FIRST_HASH = 7
_SMALLEST, _SPREAD = 4, 80  # members of a clique: 4 to 83, small ones by far the most frequent
_NEARBY = np.uint64(256)  # three members in four lie within so many vertices of the clique's base


def co_authors(*, n: int, drawn: int) -> Graph:
    """Join all vertices to a path, then draw cliques until so many edges are drawn.

    A clique's hash makes its size, its base and its members; it is also the state that the next
    clique's hash follows from.
    """
    return graph_of_edges(n, _draws(n, drawn))


def _draws(n: int, drawn: int) -> Iterator[Draw]:
    for chunk in slices(n - 1, CHUNK):
        yield partial(_path, chunk)
    for size, hashes in _cliques_by_size(n - 1, drawn).items():
        for chunk in slices(len(hashes), max(CHUNK // (size * size // 2), 1)):
            yield partial(_cliques, np.array(hashes[chunk], np.uint64), size, n)


def _cliques_by_size(drawn: int, target: int) -> dict[int, list[int]]:
    """Return the hashes of the cliques that bring `drawn` edges to the target, by size."""
    cliques = defaultdict(list)
    word = _FIRST_HASH
    while drawn < target:
        word = next_word(word)
        fraction = (word >> 11) * 2.0**-53
        size = _SMALLEST + int(_SPREAD * (fraction * fraction))
        cliques[size].append(word)
        drawn += size * (size - 1) // 2
    return cliques


def _path(chunk: slice) -> tuple[Array, Array]:
    vertices = np.arange(chunk.start, chunk.stop + 1, dtype=np.uint32)
    return vertices[:-1], vertices[1:]


def _cliques(hashes: Array, size: int, n: int) -> tuple[Array, Array]:
    """Return all pairs of members in cliques of one size."""
    bases = next_words(hashes + np.uint64(1)) % np.uint64(n)
    words = next_words(hashes[:, None] + np.arange(2, 2 + size, dtype=np.uint64))
    is_near = words & np.uint64(3) != np.uint64(0)
    words >>= np.uint64(8)
    members = np.where(is_near, bases[:, None] + words % _NEARBY, words) % np.uint64(n)
    one, other = np.tril_indices(size, -1)
    return members[:, one].ravel(), members[:, other].ravel()
