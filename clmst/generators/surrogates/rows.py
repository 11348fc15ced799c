"""Make a graph from edges in any order: add both directions, sort, drop self-loops and duplicates.

The sort has two parallel steps. First, the thread that draws a chunk of edges packs each edge into
a 64-bit word, with its row in the upper half, and splits the words into buckets by the leading bits
of their rows. A bucket of all chunks together consists of whole consecutive rows. Therefore, in the
second step, each bucket is sorted, freed of duplicates and weighted independently.
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
"""A function that draws a chunk of edges and returns unsigned arrays of endpoints (u, v)."""

CHUNK = 1 << 18  # edges in a chunk
_BUCKET_BITS = 8  # a bucket number is one byte, which NumPy sorts by counting
_COPY_BLOCK = 1 << 22  # entries that a thread copies at a time

# Number of words that a thread processes at a time. With fewer words, threads would wait longer for
# the interpreter's lock than they compute. With more words, temporary arrays would not fit into the
# second-level cache.
BLOCK = 1 << 16


def weights_of(words: Words, n: int, out: npt.NDArray[np.int32]) -> None:
    """Write the weight of each edge in `words`, which are packed pairs (u, v), into `out`.

    The weight is 1 + hash(u, v) mod n, where n is the number of vertices, but at least 2. The hash
    does not depend on the direction of the edge.
    """
    modulus = np.uint64(max(n, 2))
    for block in slices(words.size, BLOCK):
        part = words[block]
        states = part << HALF
        states |= part >> HALF
        np.minimum(states, part, out=states)  # the direction with the lesser vertex above
        hashes = next_words(states)
        hashes %= modulus
        hashes += np.uint64(1)
        out[block] = hashes


# The edges of a chunk, packed into words and divided into buckets by row. Array b of the list has
# the words of bucket b.
_Split: TypeAlias = list[Words]
# Some consecutive rows of the graph as three arrays: the end of each row, counted from the first
# slot (CSR entry) of these rows, and the columns and weights of the slots.
_Rows: TypeAlias = tuple[Array, Array, Array]


def graph_of_edges(n: int, draws: Iterable[Draw]) -> Graph:
    """Make a symmetric graph of n >= 1 vertices from edges in any order.

    Each function in `draws` returns a chunk of about :data:`CHUNK` edges. It is called in some
    thread. Self-loops and duplicates are dropped, and weights are hashes of the edges. For m drawn
    edges this takes O(m log m), and 16 bytes of memory per drawn edge in addition to 16 bytes per
    edge of the graph.
    """
    shift = max((n - 1).bit_length() - _BUCKET_BITS, 0)
    splits = in_threads(lambda draw: _split(*draw(), shift), draws)
    return _graph_of_rows(n, _sorted_rows(n, splits, shift))


def draws_of(u: Array, v: Array) -> list[Draw]:
    """Divide the edges (u, v) into chunks, and return functions, each of which returns a chunk."""
    return [partial(_cut, u, v, chunk) for chunk in slices(u.size, CHUNK)]


def _cut(u: Array, v: Array, chunk: slice) -> tuple[Array, Array]:
    return u[chunk], v[chunk]


def symmetric_graph(
    indptr: npt.NDArray[np.uint32],
    columns: npt.NDArray[np.uint32],
    weights: npt.NDArray[np.int32],
) -> Graph:
    """Make a graph from the arrays of a symmetric CSR without checking them.

    `indptr` has the offsets of rows, `columns` the neighbours, and `weights` their weights. The CSR
    must be canonical: rows sorted, no self-loops and no duplicates.
    """
    return Graph.unchecked(
        indptr=indptr, indices=columns, weights=weights, is_symmetric=True, edge_ids=None,
        n_input=columns.size,
    )  # fmt: skip


def _split(u: Array, v: Array, shift: int) -> _Split:
    """Split edges into buckets by row, and return the packed words of each bucket.

    An edge (u, v) becomes a word in row u and a word in row v. The bucket of a word is row >>
    shift. Self-loops are dropped.
    """
    proper = u != v
    if not proper.all():
        u, v = u[proper], v[proper]
    words = np.concatenate([packed(u, v), packed(v, u)])
    buckets = (words >> (HALF + np.uint64(shift))).astype(np.uint8)
    order = np.argsort(buckets, kind="stable")
    inner = np.arange(1, 1 << _BUCKET_BITS, dtype=np.uint8)
    return np.split(words[order], np.searchsorted(buckets[order], inner))


def _sorted_rows(n: int, splits: list[_Split], shift: int) -> list[_Rows]:
    """Sort the edges of each bucket, and return the CSR rows of all buckets in order.

    `splits` has the edges of each chunk, divided into buckets. A bucket has 2**shift of the `n`
    rows. At the end `splits` is emptied, because its arrays take half of all memory in use.
    """

    def finish(first: int) -> _Rows:
        return _rows_of(splits, first, min(first + (1 << shift), n), shift, n)

    rows = in_threads(finish, range(0, n, 1 << shift))
    splits.clear()
    return rows


def _rows_of(splits: Sequence[_Split], first: int, stop: int, shift: int, n: int) -> _Rows:
    """Make the CSR rows of one bucket, which has the rows first, ..., stop - 1 of the graph.

    The edges are sorted, duplicates are dropped, and weights are added. `splits` has the edges of
    each chunk, divided into buckets, and this is bucket first >> shift. `n` is the number of
    vertices, on which the weights depend. Returns the end of each row within the bucket, the
    columns, and the weights.
    """
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
    """Join groups of consecutive CSR rows to a graph of `n` vertices."""
    ends, columns, weights = zip(*rows, strict=True)
    first_slots = np.cumsum([0, *(part.size for part in columns)])
    indptr = np.zeros(n + 1, np.uint32)
    indptr[1:] = np.concatenate(
        [e + first for e, first in zip(ends, first_slots[:-1], strict=True)]
    )
    return symmetric_graph(indptr, _joined(columns), _joined(weights))


def _joined(parts: Sequence[Array]) -> Array:
    """Concatenate the arrays `parts` in several threads.

    Most of the time is spent when pages of the new array are first written to. Several threads can
    do this at the same time.
    """
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
