"""Words of (row, column), row in the upper half, and the weights that follow from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst.core.threads import slices
from clmst.core.weight_keys import Array
from clmst.generators.hashing import Words, next_words

HALF = np.uint64(32)

# Words worked on at a time. Less, and threads would wait for the interpreter more than for
# arithmetic; more, and temporaries would leave the second-level cache.
BLOCK = 1 << 16


def packed(rows: Array, columns: Array) -> Words:
    """Return ``row << 32 | column`` of each pair of vertices."""
    words = rows.astype(np.uint64)
    words <<= HALF
    words |= columns.astype(np.uint64, copy=False)
    return words


def weights_of(words: Words, n: int, out: npt.NDArray[np.int32]) -> None:
    """Write 1 + hash(u, v) mod n of each word, u < v its vertices: both directions weigh the same.

    Parameters
    ----------
    words : ndarray of uint64, shape (m,)
        Pairs in either direction.
    n : int
        Number of vertices; a modulus below 2 is taken as 2.
    out : ndarray of int32, shape (m,)
    """
    modulus = np.uint64(max(n, 2))
    for block in slices(words.size, BLOCK):
        part = words[block]
        states = part << HALF
        states |= part >> HALF
        np.minimum(states, part, out=states)  # the direction whose upper half is the lesser
        hashes = next_words(states)
        hashes %= modulus
        hashes += np.uint64(1)
        out[block] = hashes
