"""Make a graph from pairs of vertices: check sizes, merge duplicates, choose weights."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from clmst.core import arguments
from clmst.core.arguments import check_choice
from clmst.core.canonical import row_starts
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.graph_checks import MAX_SLOTS, MAX_VERTICES
from clmst.core.weight_keys import Array
from clmst.generators.hashing import Stream, Words


def check_integer(name: str, value: int, *, low: int, high: int = MAX_VERTICES) -> int:
    """Return `value` as an int.

    Raises :class:`InvalidArgumentError` unless it is an integer from `low` to `high`. `name` is the
    name of the argument in messages.
    """
    return arguments.check_integer(name, value, low=low, high=high)


def check_sizes(*, vertices: int, edges: int) -> None:
    """Raise :class:`InvalidArgumentError` if a graph has too many vertices or edges for clmst.

    Numbers of vertices and of stored edges have 32 bits. Call this before anything is allocated.
    """
    for what, count, limit in (("vertices", vertices, MAX_VERTICES), ("edges", edges, MAX_SLOTS)):
        if count > limit:
            raise InvalidArgumentError(
                f"these parameters ask for {count} {what}; there may be up to {limit}"
            )


Entries = npt.NDArray[np.int64]
WeightChoice = Literal["int", "float", "equal", "rising", "ruler"]

HALF = np.uint64(32)
_LOW_WORD = np.uint64(0xFFFFFFFF)


def packed(rows: Array, columns: Array) -> Words:
    """Pack each matrix entry (row, column) into one 64-bit word, ``row << 32 | column``."""
    words = rows.astype(np.uint64)
    words <<= HALF
    words |= columns.astype(np.uint64, copy=False)
    return words


def pairs_of(u: Array, v: Array) -> Words:
    """Pack the pairs (u, v) into 64-bit words, with the lesser vertex in the upper half.

    In ascending order of the words, edges are in canonical order: by the lesser vertex, then by the
    greater one.
    """
    return packed(np.minimum(u, v), np.maximum(u, v))


def endpoints(pairs: Words) -> tuple[Words, Words]:
    """Unpack the words `pairs` into two arrays: the lesser and the greater vertex of each pair."""
    return pairs >> HALF, pairs & _LOW_WORD


def resolve(entries: Entries) -> None:
    """Replace, in place, each reference to another entry by the value to which it leads.

    A negative entry ~k refers to entry k, which may itself be a reference. Chains of references
    must not form a cycle. The chains are followed by pointer jumping: in every round each reference
    is replaced by the entry to which it refers, which halves the length of chains. O(m) if the
    references lead to random entries, because chains are then short, and O(m log m) at worst.
    """
    copies = np.flatnonzero(entries < 0)
    while copies.size:
        entries[copies] = entries[~entries[copies]]
        copies = copies[entries[copies] < 0]


def simple_pairs(u: Array, v: Array) -> Words:
    """Pack the pairs (u, v) into words, without self-loops and duplicates, in canonical order."""
    proper = u != v
    pairs = pairs_of(u, v)
    if not proper.all():
        pairs = pairs[proper]
    pairs.sort()
    keep = np.ones(pairs.size, bool)
    keep[1:] = pairs[1:] != pairs[:-1]
    return pairs if keep.all() else pairs[keep]


def graph_of_pairs(
    n: int, pairs: Words, weights: Array, *, coordinates: Array | None = None
) -> Graph:
    """Make a graph of `n` vertices whose edges are given as packed pairs.

    The pairs must be distinct and in canonical order. `weights` has a weight for each pair. Edge
    ids are 0, 1, 2, ... in the order of the pairs. `coordinates` has a row for each vertex, or is
    None.
    """
    low, high = endpoints(pairs)
    return Graph.unchecked(
        indptr=row_starts(low.astype(np.int64), n), indices=high.astype(np.uint32), weights=weights,
        is_symmetric=False, edge_ids=None, n_input=pairs.size, coordinates=coordinates,
    )  # fmt: skip


def weighted_graph(
    n: int, u: Array, v: Array, *, weights: str, seed: int, coordinates: Array | None = None
) -> Graph:
    """Make a graph from pairs (u, v) in any order, without self-loops and duplicates.

    The graph has `n` vertices. `weights` says how weights are chosen, as for
    :func:`clmst.generate`, and `seed` determines random weights. `coordinates` has a row for each
    vertex, or is None.
    """
    pairs = simple_pairs(u, v)
    chosen = choose_weights(pairs, n, choice=weights, seed=seed)
    return graph_of_pairs(n, pairs, chosen, coordinates=coordinates)


def choose_weights(pairs: Words, n: int, *, choice: str, seed: int) -> Array:
    """Return a weight for each edge, given as distinct packed pairs in canonical order.

    `choice` says how the weights are chosen. :func:`clmst.generate` lists the choices. `n` is the
    number of vertices, and `seed` determines random weights. With the choice "ruler" on a path,
    every round of Borůvka's algorithm only halves the number of trees, which is its worst case.
    """
    check_choice("weights", choice, get_args(WeightChoice))
    stream = Stream.named(seed, "weights")
    if choice == "int":
        limit = min(max(n, 1), 2**31 - 1)
        return (stream.below(pairs, limit) + np.uint64(1)).astype(np.int32)
    if choice == "float":
        return stream.uniform(pairs)
    if choice == "equal":
        return np.ones(pairs.size, np.int32)
    rising = np.arange(1, pairs.size + 1, dtype=np.int64)
    if choice == "rising":
        return rising
    lowest_bit = rising & -rising
    return np.frexp(lowest_bit.astype(np.float64))[1].astype(np.int32)
