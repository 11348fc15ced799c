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
    """Draw `drawn` edges, each from the next of `n` vertices in turn to a random vertex.

    Self-loops and duplicates are dropped. There are few of them if the average degree is small
    against n.
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
    """Draw `drawn` edges of a recursive matrix with 2**scale vertices.

    `chances` are the probabilities of the upper left, upper right and lower left quarter. `seed`
    determines the edges. Self-loops and duplicates are dropped. With `renamed` the vertices are
    numbered at random, so that hubs are anywhere and not only among the low numbers. Takes O(drawn
    scale) hashes.
    """
    n = 1 << scale
    names = shuffled(n) if renamed else None
    return graph_of_edges(n, _draws(scale, drawn, chances, seed, names))


def shuffled(n: int) -> npt.NDArray[np.uint32]:
    """Return the numbers below n in the order of a Fisher-Yates shuffle that is driven by a hash.

    The shuffle makes the steps n - 1, ..., 1, 0. Each step exchanges the number at index `step`
    with the number at an earlier or equal index, its partner. Here all steps are made at once, in
    O(n log n).

    A step exchanges two numbers. The number at the partner's index was put there by the previous
    step with the same partner. Without a previous step of that kind, it is still the initial
    number. The number at the step's own index was put there by the last previous step whose partner
    is this index. Without a step of that kind, it is also the initial number.
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
    # If an index was exchanged with itself, the last step with that partner is its own step, which
    # changes nothing. The step before is taken instead.
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
    # A random float in [0, 1), made from the upper 53 bits of a random word, decides by three sums
    # of the chances. Here words are compared instead of floats. The limit for a sum is the least
    # word whose float reaches the sum, so both comparisons have the same result. The sums are
    # rounded from left to right.
    limits = tuple(np.uint64(math.ceil(sum_ * 2.0**53) << 11) for sum_ in (a, a + b, a + b + c))
    for chunk in slices(drawn, CHUNK):
        yield partial(_chunk, chunk, scale, limits, seed * _SEED_STRIDE, names)


def _chunk(
    chunk: slice, scale: int, limits: tuple[np.uint64, ...], base: int, names: Array | None
) -> tuple[Array, Array]:
    """Draw the edges of one chunk, and return arrays (u, v).

    The matrix has 2**scale rows. `limits` are the hashes at which the upper right, lower left and
    lower right quarter begin. The hash of edge k is made from base + k. `names` has the new numbers
    of vertices, or is None to keep the numbers.
    """
    u, v = (np.zeros(chunk.stop - chunk.start, np.uint32) for _ in range(2))
    for block in slices(u.size, BLOCK):
        start, stop = chunk.start + block.start, chunk.start + block.stop
        states = np.arange(base + start, base + stop, dtype=np.uint64)
        _descend(next_words(states), scale, limits, u[block], v[block])
    return (u, v) if names is None else (names[u], names[v])


def _descend(words: Words, scale: int, limits: tuple[np.uint64, ...], u: Array, v: Array) -> None:
    """Place each edge by choosing a quarter on every level, and write its ends to `u` and `v`.

    `words` has one hash for each edge, and is overwritten. The word of each level is the hash of
    the previous one. There are `scale` levels. `limits` are the hashes at which the upper right,
    lower left and lower right quarter begin. The chosen bits are collected in bytes, eight levels
    at a time, which moves an eighth of the memory.
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
            # The right quarters are from to_b to to_c and from to_d on. A word in these ranges has
            # reached an odd number of the three limits.
            is_lower ^= words >= to_b
            is_lower ^= words >= to_d
            right <<= 1
            right |= is_lower.view(np.uint8)
        shift = np.uint32(len(levels))
        u <<= shift
        u |= lower
        v <<= shift
        v |= right
