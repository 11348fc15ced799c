"""Surrogate graphs without any structure: every vertex draws its neighbours from all vertices."""

from __future__ import annotations

from functools import partial

import numpy as np

from clmst.core.graph import Graph
from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.generators.hashing import next_words
from clmst.generators.surrogates.pairs import BLOCK
from clmst.generators.surrogates.rows import CHUNK, graph_of_edges


def uniform(*, n: int, drawn: int) -> Graph:
    """Let the vertices draw in turn until so many edges are drawn, each end by two hashes.

    Loops and duplicates go, which are few as long as vertices draw few of all.
    """
    return graph_of_edges(n, (partial(_chunk, chunk, n) for chunk in slices(drawn, CHUNK)))


def _chunk(chunk: slice, n: int) -> tuple[Array, Array]:
    u, v = (np.empty(chunk.stop - chunk.start, np.uint32) for _ in range(2))
    for block in slices(u.size, BLOCK):
        edges = np.arange(chunk.start + block.start, chunk.start + block.stop, dtype=np.uint64)
        u[block] = edges % np.uint64(n)
        edges *= np.uint64(3)
        edges += np.uint64(1)
        v[block] = next_words(next_words(edges)) % np.uint64(n)
    return u, v
