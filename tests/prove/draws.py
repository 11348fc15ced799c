"""Random numbers that are the same with every version of Python and NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from clmst.core.weight_keys import Array
from clmst.generators.hashing import Stream, Words, mix

T = TypeVar("T")
Made = TypeVar("Made", bound=Callable[..., Any])


def by_name(*makers: Made) -> dict[str, Made]:
    """Return functions by their names as words."""
    return {one.__name__.replace("_", " "): one for one in makers}


class Draws:
    """A sequence of draws that follows from some integers, by 64-bit arithmetic alone."""

    def __init__(self, *key: int) -> None:
        self._key = 0
        for part in key:
            self._key = mix(self._key ^ mix(part & (1 << 64) - 1))
        self._count = 0

    def word(self) -> int:
        """Return 64 random bits."""
        self._count += 1
        return mix(self._key ^ mix(self._count))

    def below(self, bound: int) -> int:
        """Return an integer from 0 to below `bound`."""
        return self.word() % bound

    def one_in(self, count: int) -> bool:
        """Return True once in `count` times on average."""
        return self.below(count) == 0

    def choice(self, values: Sequence[T]) -> T:
        """Return one of some values."""
        return values[self.below(len(values))]

    def words(self, count: int) -> Words:
        """Return an array of 64-bit words."""
        return Stream(key=self.word()).words(count)

    def integers(self, bound: int, count: int) -> Array:
        """Return random int64 values that are at least 0 and below `bound`.

        They are 0 where `bound` is 0.
        """
        return (self.words(count) % np.uint64(max(bound, 1))).astype(np.int64)

    def pick(self, values: Array, count: int) -> Array:
        """Return some elements of an array, with repetition."""
        return values[self.integers(values.size, count)]

    def permutation(self, count: int) -> Array:
        """Return 0 .. count - 1 in random order."""
        return np.argsort(self.words(count), kind="stable")

    def shuffled(self, values: Sequence[T]) -> list[Any]:
        """Return values in random order."""
        return [values[k] for k in self.permutation(len(values))]
