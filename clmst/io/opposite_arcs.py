"""Files that have each edge as two opposite arcs: one of them is enough while a file is read.

Two arcs that follow each other are joined at once. Of arcs that stand apart, those from the greater
vertex to the lesser are left out. A balance tells at the end whether each of them has an opposite
arc of the same weight. It is a sum of hashes by secret keys of this process, so a file whose arcs
are not paired passes with a probability of 2**-64.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TypeAlias

import numpy as np

from clmst.core.weight_keys import Array

Arcs: TypeAlias = tuple[Array, Array, Array | None]  # ends u and v, and weights if there are any

_BITS = 64
_HALF = np.uint64(32)


class OppositeArcs:
    """Arcs of a file, block by block, without what is known from opposite ones.

    Attributes
    ----------
    leaves_out : bool
        Leave out arcs whose opposite ones may stand elsewhere; the caller asks `are_paired` at the
        end.
    """

    def __init__(self, *, leaves_out: bool) -> None:
        self.leaves_out = leaves_out
        self._balance = 0

    @property
    def are_paired(self) -> bool:
        """Whether each arc that was left out has an opposite one of the same weight."""
        return self._balance % (1 << _BITS) == 0

    def kept(self, u: Array, v: Array, w: Array | None) -> Arcs:
        """Return the arcs of a block that are to be kept."""
        kept, is_pair, w = _joined(u, v, w)
        u, v, w = u[kept], v[kept], None if w is None else w[kept]
        if not self.leaves_out:
            return u, v, w
        is_open = ~is_pair[kept]
        if not is_open.any():
            return u, v, w
        is_forth, is_back = is_open & (u < v), is_open & (u > v)
        hashes = _hashes(np.minimum(u, v), np.maximum(u, v), w)
        self._balance += int(hashes[is_forth].sum()) - int(hashes[is_back].sum())
        left = is_forth | ~is_open  # no loops either: they are no edges
        return u[left], v[left], None if w is None else w[left]


def _joined(u: Array, v: Array, w: Array | None) -> tuple[Array, Array, Array | None]:
    """Join each pair of opposite arcs that follow each other, from an even row on.

    Returns which rows are kept, which are in pairs, and weights: the first row of a pair has the
    lesser one. If a block begins within a pair, its pairs begin at an odd row: the first ones say
    so.
    """
    start = int(u.size > 2 and u[0] != v[1] and u[1] == v[2] and v[1] == u[2])
    end = u.size - (u.size - start) % 2
    first, second = slice(start, end, 2), slice(start + 1, end, 2)
    both = (u[first] == v[second]) & (v[first] == u[second])
    kept, is_pair = np.ones(u.size, np.bool_), np.zeros(u.size, np.bool_)
    kept[second] = ~both
    is_pair[first] = is_pair[second] = both
    if w is not None:
        lesser = both & (w[second] < w[first])
        w = w.copy()
        w[first][lesser] = w[second][lesser]
    return kept, is_pair, w


def _hashes(lesser: Array, greater: Array, w: Array | None) -> Array:
    """Return a hash of 64 bits for each edge and its weight; sums and products wrap around."""
    keys = _secret_keys()
    hashes = lesser.astype(np.uint64) * keys[0]
    hashes ^= hashes >> _HALF
    hashes += greater.astype(np.uint64)
    if w is not None:
        hashes = _mixed(hashes, keys[1])
        hashes += (w + 0.0 if w.dtype.kind == "f" else w).view(np.uint64)  # -0.0 + 0.0 is +0.0
    return _mixed(_mixed(hashes, keys[2]), keys[3])


def _mixed(words: Array, key: np.uint64) -> Array:
    words = words * key
    words ^= words >> _HALF
    return words


@cache
def _secret_keys() -> list[np.uint64]:
    """Return four random odd words, the same ones throughout the process."""
    words = np.frombuffer(os.urandom(32), np.uint64) | np.uint64(1)
    return list(words)
