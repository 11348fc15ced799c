"""Random numbers without state: every number is a hash of a seed, a name and a counter.

Numbers with the same seed and name form a stream, and the counter is the position in the stream.
Only unsigned 64-bit arithmetic and exact conversions are used. Therefore a seed gives the same
numbers on every platform and with every version of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import check_integer
from clmst.core.weight_keys import Array

Words = npt.NDArray[np.uint64]

_MASK = (1 << 64) - 1
_BLOCK = 1 << 14  # words hashed at a time; their temporaries fit the second-level cache
_PERMUTATION_ROUNDS = 5


_GOLDEN = 0x9E3779B97F4A7C15  # 2**64 / golden ratio, which spreads successive counters
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def mix(word: int) -> int:
    """Scramble a 64-bit word with the finaliser "mix13" of SplitMix64 (Steele et al., 2014)."""
    word = ((word ^ (word >> 30)) * _FIRST) & _MASK
    word = ((word ^ (word >> 27)) * _SECOND) & _MASK
    return word ^ (word >> 31)


def next_word(state: int) -> int:
    """Return the word that SplitMix64 outputs next from `state`, an integer of 64 bits."""
    return mix((state + _GOLDEN) & _MASK)


def next_words(states: Words) -> Words:
    """Replace each state of `states`, in place, by the word that SplitMix64 outputs next.

    Returns the array.
    """
    states += np.uint64(_GOLDEN)
    return _finalise(states)


def _finalise(words: Words) -> Words:
    """Scramble each of the words in place, as :func:`mix` does, and return the array."""
    shifted = np.empty_like(words)
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        words ^= np.right_shift(words, np.uint64(shift), out=shifted)
        words *= np.uint64(factor)
    words ^= np.right_shift(words, np.uint64(31), out=shifted)
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An endless random sequence that can be read at any position, in any order.

    Attributes
    ----------
    key : int
        64 bits that distinguish this stream from all others.
    """

    key: int

    @classmethod
    def named(cls, seed: int, name: str) -> Stream:
        """Return the stream of random numbers for a seed and a name, such as "weights".

        Streams with different names are independent. Raises :class:`InvalidArgumentError` unless
        `seed` is an integer from 0 to 2**64 - 1.
        """
        seed = check_integer("seed", seed, low=0, high=_MASK)
        key = mix(int(seed))
        for byte in name.encode():
            key = mix(key ^ byte)
        return cls(key=key)

    def words(self, counters: Array | int) -> Words:
        """Return the 64 random bits at each of the positions `counters` of the stream.

        An integer n stands for the positions 0, 1, ..., n - 1.
        """
        if isinstance(counters, int):
            counters = np.arange(counters, dtype=np.uint64)
        return _blockwise(self._words, counters.astype(np.uint64, copy=False))

    def uniform(self, counters: Array | int) -> npt.NDArray[np.float64]:
        """Return the random float64 in [0, 1) at each of the positions `counters` of the stream.

        It is a multiple of 2**-53. An integer n stands for the positions 0, 1, ..., n - 1.
        """
        return (self.words(counters) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, counters: Array | int, bound: Array | int) -> Words:
        """Return the random integer in [0, bound) at each of the positions `counters`.

        `bound` may be an array with a bound for each position.
        """
        return self.words(counters) % np.asarray(bound, dtype=np.uint64)

    def permuted(self, values: Array, size: int) -> Words:
        """Apply a random permutation of the numbers 0, 1, ..., size - 1 to each value.

        Notes
        -----
        Let b be the minimum with size <= 2**b. Each round multiplies by an odd number, adds, and
        folds high bits onto low ones, which is a bijection of words of b bits. A value that leaves
        the range goes through the rounds again until it is back ("cycle walking", Black and
        Rogaway, 2002). That takes fewer than two passes on average. O(len(values)).
        """
        bits = max(size - 1, 1).bit_length()
        values = _blockwise(lambda part: self._scrambled(part, bits), values.astype(np.uint64))
        while (outside := np.flatnonzero(values >= np.uint64(size))).size:
            values[outside] = self._scrambled(values[outside], bits)
        return values

    def _words(self, counters: Words) -> Words:
        words = counters * np.uint64(_GOLDEN)
        words += np.uint64(self.key)
        return _finalise(words)

    def _scrambled(self, words: Words, bits: int) -> Words:
        mask = np.uint64((1 << bits) - 1)
        fold = np.uint64((bits + 1) // 2)
        for round_number in range(_PERMUTATION_ROUNDS):
            factor = mix(self.key + 2 * round_number) | 1
            words = (words * np.uint64(factor)) + np.uint64(mix(self.key + 2 * round_number + 1))
            words &= mask
            words ^= words >> fold
        return words


def _blockwise(function: Callable[[Words], Words], words: Words) -> Words:
    """Apply an elementwise function to blocks of words that fit into the cache."""
    out = np.empty(words.shape, np.uint64)
    for start in range(0, words.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        out[block] = function(words[block])
    return out
