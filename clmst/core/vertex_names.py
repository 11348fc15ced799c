"""Vertices with names of any kind, numbered: what data frames and tables have at edges' ends."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from clmst.core.arguments import shown
from clmst.core.csr import as_uint32
from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array

_DENSE = 4  # a table ranks numbers whose range is at most 4 times as long as the column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Names:
    """A column of names, each stored once.

    Attributes
    ----------
    codes : ndarray of int32, shape (m,)
        For each row the index of its name.
    distinct : sequence of hashable
        The names; those that no row has are no vertices.
    """

    codes: Array
    distinct: Sequence[Hashable]


Ends: TypeAlias = Array | Names  # integers, or names
# Distinct values of an array of integers, in any order, and for each element the index of its own.
Factorize: TypeAlias = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NumberedEnds:
    """The ends of edges as vertex numbers.

    Attributes
    ----------
    u, v : ndarray of uint32, shape (m,)
    n_vertices : int
    labels : ndarray of int64 or of object, shape (n_vertices,), or None
        The name of each vertex; None if it is its number.
    """

    u: Array
    v: Array
    n_vertices: int
    labels: Array | None


def number(source: Ends, target: Ends, factorize: Factorize) -> NumberedEnds:
    """Give a number to each vertex that occurs.

    Integers in rising order; names in the order in which rows have them, the source first, as
    NetworkX numbers nodes. O(m), and O(n log n) for the n vertices.

    Parameters
    ----------
    source, target : ndarray of int, or Names
        As long as one another.
    factorize : callable
        Returns (codes, distinct) of an array of integers; by hashing, which is quicker than to sort
        all of them.
    """
    if isinstance(source, Names) or isinstance(target, Names):
        return _number_names(_as_names(source, factorize), _as_names(target, factorize))
    return _number_integers(source, target, factorize)


def _number_integers(source: Array, target: Array, factorize: Factorize) -> NumberedEnds:
    m = source.size
    if m == 0:
        nothing = np.zeros(0, np.uint32)
        return NumberedEnds(u=nothing, v=nothing, n_vertices=0, labels=None)
    low = min(int(source.min()), int(target.min()))
    high = max(int(source.max()), int(target.max()))
    if high >= 1 << 63:
        raise InvalidGraphError(f"an id is {high}; integer ids must be below 2**63")
    if high - low < _DENSE * 2 * m + 1024:
        u, v, numbers = _rank_dense(source, target, low, high)
    else:
        u, v, numbers = _rank_sparse(source, target, factorize)
    is_own_number = low == 0 and high == numbers.size - 1
    labels = None if is_own_number else numbers
    return NumberedEnds(u=u, v=v, n_vertices=numbers.size, labels=labels)


def _rank_dense(source: Array, target: Array, low: int, high: int) -> tuple[Array, Array, Array]:
    """Return (u, v, numbers in rising order) of ids from `low` to `high`, by a table of those."""
    if low:
        source, target = (ends.astype(np.int64) - low for ends in (source, target))
    occurs = np.zeros(high - low + 1, bool)
    occurs[source] = occurs[target] = True
    numbers = np.flatnonzero(occurs)
    if numbers.size < occurs.size:
        ranks = (np.cumsum(occurs) - 1).astype(np.uint32)
        source, target = ranks[source], ranks[target]
    return as_uint32(source), as_uint32(target), numbers + low


def _rank_sparse(source: Array, target: Array, factorize: Factorize) -> tuple[Array, Array, Array]:
    """Return (u, v, numbers in rising order) of ids that are far apart."""
    codes, distinct = factorize(np.concatenate([source, target], dtype=np.int64))
    order = np.argsort(distinct)
    ranks = np.empty(order.size, np.uint32)
    ranks[order] = np.arange(order.size, dtype=np.uint32)
    return ranks[codes[: source.size]], ranks[codes[source.size :]], distinct[order]


def _as_names(ends: Ends, factorize: Factorize) -> Names:
    if isinstance(ends, Names):
        return ends
    codes, distinct = factorize(ends)
    return Names(codes=codes, distinct=distinct.tolist())


def _number_names(source: Names, target: Names) -> NumberedEnds:
    known: dict[Hashable, int] = {}
    ends = []
    for column in (source, target):
        try:
            common = [known.setdefault(name, len(known)) for name in column.distinct]
        except TypeError as error:
            raise InvalidGraphError(
                f"an id cannot be hashed ({shown(error)}); ids must be integers, strings or other "
                "hashable values"
            ) from error
        ends.append(np.array(common, np.uint32)[column.codes] if common else column.codes)
    m, names = ends[0].size, list(known)
    first = np.full(len(names), 2 * m, np.int64)  # where rows first have a name
    for offset in (1, 0):
        rows = np.arange(m - 1, -1, -1)
        first_here = np.full(len(names), 2 * m, np.int64)
        first_here[ends[offset][::-1]] = 2 * rows + offset
        np.minimum(first, first_here, out=first)
    order = np.argsort(first, kind="stable")[: int(np.count_nonzero(first < 2 * m))]
    ranks = np.zeros(len(names), np.uint32)
    ranks[order] = np.arange(order.size, dtype=np.uint32)
    labels = np.empty(order.size, object)
    labels[:] = [names[k] for k in order.tolist()]
    return NumberedEnds(u=ranks[ends[0]], v=ranks[ends[1]], n_vertices=order.size, labels=labels)


def label_of(labels: Any, vertex: int) -> str:
    """Return a vertex's name for messages."""
    if labels is None:
        return str(vertex)
    name = labels[vertex]
    return shown(name.item() if isinstance(name, np.generic) else name)
