"""Surrogates whose edges are drawn one by one: uniform random graphs, and recursive matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from clmst.core.graph import Graph
from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.generators.edges import HALF, packed, resolve
from clmst.generators.hashing import Words, next_words
from clmst.generators.surrogates.rows import BLOCK, CHUNK, Draw, graph_of_edges


def uniform(*, n: int, drawn: int) -> Graph:
    """Make a uniform random graph of `n` vertices.

    `drawn` edges are drawn. They begin at vertices 0, 1, 2 and so on, again and again, and end at
    random vertices. Self-loops and duplicates are dropped. There are few of them if the average
    degree is small in comparison with n.
    """
    return graph_of_edges(n, (partial(_uniform_chunk, chunk, n) for chunk in slices(drawn, CHUNK)))


def _uniform_chunk(chunk: slice, n: int) -> tuple[Array, Array]:
    u, v = (np.empty(chunk.stop - chunk.start, np.uint32) for _ in range(2))
    for block in slices(u.size, BLOCK):
        edges = np.arange(chunk.start + block.start, chunk.start + block.stop, dtype=np.uint64)
        u[block] = edges % np.uint64(n)
        edges *= np.uint64(3)
        edges += np.uint64(1)
        v[block] = next_words(next_words(edges)) % np.uint64(n)
    return u, v


_SEED_STRIDE = 1_000_003
_BYTE = 8  # number of levels whose choices fit into a byte


def recursive_matrix(
    *,
    scale: int,
    drawn: int,
    chances: tuple[float, float, float],
    seed: int,
    renamed: bool = False,
) -> Graph:
    """Make a recursive-matrix (R-MAT) graph with 2**scale vertices, by drawing `drawn` edges.

    `chances` are the probabilities of the upper left, upper right and lower left quarter of the
    adjacency matrix. `seed` determines the edges. Self-loops and duplicates are dropped. If
    `renamed` is true, the vertices are renumbered at random. Otherwise the vertices with the most
    edges have low numbers. O(drawn * scale) hashes are computed.
    """
    n = 1 << scale
    names = shuffled(n) if renamed else None
    return graph_of_edges(n, _draws(scale, drawn, chances, seed, names))


def shuffled(n: int) -> npt.NDArray[np.uint32]:
    """Return the numbers 0 to n - 1 in the order that a Fisher-Yates shuffle gives them.

    The shuffle makes the steps n - 1, ..., 1, 0. Each step exchanges the number at index `step`
    with the number at the index `partner`, which is a hash of the step, modulo step + 1. Here all
    steps are made at once, in O(n log n).

    When a step is made, the number at its partner's index was put there by the previous step with
    the same partner. If there was none, it is still the initial number. The number at the step's
    own index was put there by the last step before whose partner is this index. If there was none,
    it is the initial number, too.
    """
    steps = np.arange(n, dtype=np.uint64)
    partners = next_words(steps * np.uint64(77) + np.uint64(5)) % (steps + np.uint64(1))
    words = packed(partners, steps)
    words.sort()
    partner, step = (words >> HALF).astype(np.int64), words.astype(np.uint32).astype(np.int64)
    leads = np.ones(n, bool)  # the first word of each partner
    np.not_equal(partner[1:], partner[:-1], out=leads[1:])
    before = np.full(n, -1)  # for each step, the previous step with the same partner
    before[step[:-1]] = np.where(leads[1:], -1, step[1:])

    place, last = partner[leads], step[leads]
    found = np.arange(n)  # for each index, the number that its own step finds there
    # `last` is, for each index, the last step of the shuffle that has this index as its partner. It
    # may be the step with this index itself, which changes nothing. Then the previous step with
    # this partner is taken instead.
    last = np.where(last > place, last, before[last])
    found[place[last >= 0]] = ~last[last >= 0]
    resolve(found)
    return np.where(before >= 0, found[before], partners.astype(np.int64)).astype(np.uint32)


def _draws(
    scale: int,
    drawn: int,
    chances: tuple[float, float, float],
    seed: int,
    names: Array | None,
) -> Iterator[Draw]:
    a, b, c = chances
    # In the model, a random float in [0, 1) decides in which quarter of the matrix an edge is, by
    # comparison with three sums of the chances. The float is made from the upper 53 bits of a
    # random word. Here the word itself is compared. The limit for a sum is the least word whose
    # float reaches the sum, so both comparisons have the same result. The sums are rounded from
    # left to right.
    limits = tuple(np.uint64(math.ceil(sum_ * 2.0**53) << 11) for sum_ in (a, a + b, a + b + c))
    for chunk in slices(drawn, CHUNK):
        yield partial(_chunk, chunk, scale, limits, seed * _SEED_STRIDE, names)


def _chunk(
    chunk: slice, scale: int, limits: tuple[np.uint64, ...], base: int, names: Array | None
) -> tuple[Array, Array]:
    """Draw the edges of a recursive matrix with numbers in `chunk`, and return arrays (u, v).

    The matrix has 2**scale rows. A hash decides in which quarter an edge is. `limits` are the
    hashes at which the upper right, lower left and lower right quarter begin. The hash of edge k is
    made from base + k. `names` has the new numbers of the vertices. If it is None, they keep their
    numbers.
    """
    u, v = (np.zeros(chunk.stop - chunk.start, np.uint32) for _ in range(2))
    for block in slices(u.size, BLOCK):
        start, stop = chunk.start + block.start, chunk.start + block.stop
        states = np.arange(base + start, base + stop, dtype=np.uint64)
        _descend(next_words(states), scale, limits, u[block], v[block])
    return (u, v) if names is None else (names[u], names[v])


def _descend(words: Words, scale: int, limits: tuple[np.uint64, ...], u: Array, v: Array) -> None:
    """Choose the ends of each edge in a recursive matrix, and write them to `u` and `v`.

    At each of `scale` levels, a hash decides in which quarter of the matrix an edge is. This gives
    one bit of u and one of v. `words` has the hash of the first level for each edge, and is
    overwritten. The hash of each further level is computed from the previous one. `limits` are the
    hashes at which the upper right, lower left and lower right quarter begin. The bits of eight
    levels are collected in bytes before they are added to u and v, which moves less memory.
    """
    to_b, to_c, to_d = limits
    for first in range(0, scale, _BYTE):
        levels = range(first, min(first + _BYTE, scale))
        lower, right = (np.zeros(words.size, np.uint8) for _ in range(2))
        for level in levels:
            words += np.uint64(level)
            next_words(words)
            is_lower = words >= to_c
            lower <<= 1
            lower |= is_lower.view(np.uint8)
            # An edge is in the right half of the matrix if its word is at least to_b and below
            # to_c, or at least to_d. These are the words that are at least as great as an odd
            # number of the three limits, so the parity is computed.
            is_lower ^= words >= to_b
            is_lower ^= words >= to_d
            right <<= 1
            right |= is_lower.view(np.uint8)
        shift = np.uint32(len(levels))
        u <<= shift
        u |= lower
        v <<= shift
        v |= right
