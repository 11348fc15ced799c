"""Edges drawn from a matrix that is divided into quarters again and again."""

from __future__ import annotations

import math

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array
from clmst.generators.checks import check_number
from clmst.generators.hashing import Stream, Words

Chances = tuple[float, float, float]

GTGRAPH: Chances = (0.45, 0.22, 0.22)
"""Chances of the upper left, upper right and lower left quarter (Bader and Madduri, 2006)."""

_BLOCK = 1 << 14  # edges drawn at a time: the temporaries stay in the second-level cache


def check_chances(a: float, b: float, c: float) -> None:
    """Raise unless these are chances of three of four quarters."""
    for name, chance in zip("abc", (a, b, c), strict=True):
        check_number(name, chance, low=0, high=1)
    if (total := math.fsum((a, b, c))) > 1:
        raise InvalidArgumentError(f"a + b + c is {total}; it must be at most 1")


def draw(
    count: int, scale: int, chances: Chances, stream: Stream, *, first: int = 0
) -> tuple[Array, Array]:
    """Draw edges of a matrix of 2**scale rows, whose numbers begin at `first`.

    Returns
    -------
    tuple of two ndarrays of uint32, shape (count,)
        Rows and columns; each edge depends on its number alone. O(count scale).
    """
    u, v = np.empty(count, np.uint32), np.empty(count, np.uint32)
    for start in range(0, count, _BLOCK):
        block = slice(start, min(start + _BLOCK, count))
        edges = np.arange(first + block.start, first + block.stop, dtype=np.uint64)
        u[block], v[block] = _descend(edges, scale, chances, stream)
    return u, v


def draw_below(n: int, count: int, chances: Chances, stream: Stream) -> tuple[Array, Array]:
    """Draw edges of the first n rows and columns of the least matrix that has as many.

    They are the first `count` drawn from the whole matrix that lie there. At least a share of
    ``chances[0]`` of all do, which must not be 0.
    """
    scale = max(n - 1, 0).bit_length()
    parts: list[tuple[Array, Array]] = []
    found = drawn = 0
    while found < count:
        u, v = draw(count, scale, chances, stream, first=drawn)
        inside = (u < n) & (v < n)
        parts.append((u[inside], v[inside]))
        found += parts[-1][0].size
        drawn += count
    ends = zip(*parts, strict=True) if parts else ((), ())
    u, v = (np.concatenate([np.empty(0, np.uint32), *part])[:count] for part in ends)
    return u, v


def _descend(edges: Words, scale: int, chances: Chances, stream: Stream) -> tuple[Array, Array]:
    """Choose a quarter of the matrix on every level for each edge; return (u, v) as uint32."""
    a, b, c = chances
    to_b, to_c, to_d = (np.uint32(min(int(p * 2.0**32), 2**32 - 1)) for p in (a, a + b, a + b + c))
    u, v = np.zeros(edges.size, np.uint32), np.zeros(edges.size, np.uint32)
    first_words = edges * np.uint64((scale + 1) // 2)
    for level in range(scale):
        if level % 2 == 0:  # one word of 64 bits serves two levels
            words = stream.words(first_words + np.uint64(level // 2))
        draw = words.astype(np.uint32)
        words >>= np.uint64(32)
        lower = draw >= to_c
        right = (draw >= to_b) ^ lower ^ (draw >= to_d)
        u = (u << np.uint32(1)) | lower
        v = (v << np.uint32(1)) | right
    return u, v
