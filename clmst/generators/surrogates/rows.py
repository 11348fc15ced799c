"""From edges in any order to a graph: both directions, sorted, without loops and duplicates.

A sort in two steps, both of them parallel. The thread that draws a chunk of edges splits its words
by the leading bits of their rows. Then each bucket, the words of all chunks with the same bits, is
sorted, freed of repeats and weighed by itself: buckets are runs of whole rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from clmst.core.graph import Graph
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array
from clmst.generators.edges import HALF, packed
from clmst.generators.hashing import Words, next_words

Draw = Callable[[], tuple[Array, Array]]
"""Draws a chunk of edges when called: arrays of endpoints u and v, unsigned."""

CHUNK = 1 << 18  # edges in a chunk
_BUCKET_BITS = 8  # a byte tells a word's bucket: NumPy sorts bytes by counting
_COPY_BLOCK = 1 << 22  # numbers that a thread copies at a time

# Words worked on at a time. Less, and threads would wait for the interpreter more than for
# arithmetic; more, and temporaries would leave the second-level cache.
BLOCK = 1 << 16


def weights_of(words: Words, n: int, out: npt.NDArray[np.int32]) -> None:
    """Write 1 + hash(u, v) mod n of each word, u < v its vertices: both directions weigh the same.

    A modulus below 2 is taken as 2.
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


# The words of a chunk by bucket: those of bucket b are the b-th array.
_Split: TypeAlias = list[Words]
# Consecutive rows of the graph, complete: where each ends, counted from the first slot among them,
# its columns, and its weights.
_Rows: TypeAlias = tuple[Array, Array, Array]


def graph_of_edges(n: int, draws: Iterable[Draw]) -> Graph:
    """Make a simple symmetric graph of n >= 1 vertices of all edges drawn, weighed by their hash.

    Each draw is of about :data:`CHUNK` edges, in some thread. O(m log m) for m drawn edges;
    16 bytes an edge drawn, beside 16 an edge of the graph.
    """
    shift = max((n - 1).bit_length() - _BUCKET_BITS, 0)
    splits = in_threads(lambda draw: _split(*draw(), shift), draws)
    return _graph_of_rows(n, _sorted_rows(n, splits, shift))


def draws_of(u: Array, v: Array) -> list[Draw]:
    """Cut edges that are there already into chunks."""
    return [partial(_cut, u, v, chunk) for chunk in slices(u.size, CHUNK)]


def _cut(u: Array, v: Array, chunk: slice) -> tuple[Array, Array]:
    return u[chunk], v[chunk]


def symmetric_graph(
    indptr: npt.NDArray[np.uint32],
    columns: npt.NDArray[np.uint32],
    weights: npt.NDArray[np.int32],
) -> Graph:
    """Make a graph of a symmetric CSR that is canonical by construction."""
    return Graph.unchecked(
        indptr=indptr, indices=columns, weights=weights, is_symmetric=True, edge_ids=None,
        n_input=columns.size,
    )  # fmt: skip


def _split(u: Array, v: Array, shift: int) -> _Split:
    """Take edges in both directions, loops left out, and split them by row >> shift."""
    proper = u != v
    if not proper.all():
        u, v = u[proper], v[proper]
    words = np.concatenate([packed(u, v), packed(v, u)])
    buckets = (words >> (HALF + np.uint64(shift))).astype(np.uint8)
    order = np.argsort(buckets, kind="stable")
    inner = np.arange(1, 1 << _BUCKET_BITS, dtype=np.uint8)
    return np.split(words[order], np.searchsorted(buckets[order], inner))


def _sorted_rows(n: int, splits: list[_Split], shift: int) -> list[_Rows]:
    """Finish all buckets, then let go of the words, which are half of all memory in use."""

    def finish(first: int) -> _Rows:
        return _rows_of(splits, first, min(first + (1 << shift), n), shift, n)

    rows = in_threads(finish, range(0, n, 1 << shift))
    splits.clear()
    return rows


def _rows_of(splits: Sequence[_Split], first: int, stop: int, shift: int, n: int) -> _Rows:
    """Finish the rows first .. stop - 1, which are one bucket."""
    words = np.concatenate([split[first >> shift] for split in splits])
    words.sort()
    keep = np.ones(words.size, bool)
    np.not_equal(words[1:], words[:-1], out=keep[1:])
    words = words[keep]
    weights = np.empty(words.size, np.int32)
    weights_of(words, n, out=weights)
    following = np.arange(first + 1, stop + 1, dtype=np.uint64) << HALF
    return np.searchsorted(words, following), words.astype(np.uint32), weights


def _graph_of_rows(n: int, rows: list[_Rows]) -> Graph:
    """Put consecutive rows together."""
    ends, columns, weights = zip(*rows, strict=True)
    first_slots = np.cumsum([0, *(part.size for part in columns)])
    indptr = np.zeros(n + 1, np.uint32)
    indptr[1:] = np.concatenate(
        [e + first for e, first in zip(ends, first_slots[:-1], strict=True)]
    )
    return symmetric_graph(indptr, _joined(columns), _joined(weights))


def _joined(parts: Sequence[Array]) -> Array:
    """Concatenate in threads: most of the time goes into pages touched for the first time."""
    starts = np.cumsum([0, *(part.size for part in parts)])
    joined = np.empty(starts[-1], parts[0].dtype)

    def copy(job: tuple[int, slice]) -> None:
        part, block = job
        joined[starts[part] + block.start : starts[part] + block.stop] = parts[part][block]

    in_threads(
        copy,
        [(i, block) for i, part in enumerate(parts) for block in slices(part.size, _COPY_BLOCK)],
    )
    return joined
