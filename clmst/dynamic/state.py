"""The state of a dynamic forest: its edges, which of them are present, and which are in the forest.

Edges are stored in columns: one array of the lesser ends, one of the weights, and so on. The *row*
of an edge is its place in the columns. Rows are in the order of edge ids. A change first stores the
old values of all rows that it overwrites in the state (:class:`Undo`). Then it overwrites them, and
at its end it assigns a new state to the forest. If it is interrupted before that, the old state is
restored from the stored values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.core.weight_keys import Array
from clmst.dynamic.missing_ids import MissingIds

_NAMES = ("u", "v", "weights", "ids", "present", "in_forest")
_FOREST = "forest"  # the key of the forest's rows among the known results of a state


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeStore:
    """The edges of a dynamic forest, in columns of equal length.

    Columns may be longer than the number of rows in use. If they are full, they grow to twice their
    length, so an insert takes constant time per edge on average. An edge takes 18 bytes and the
    bytes of its weight.
    """

    u: npt.NDArray[np.uint32]  # the lesser end
    v: npt.NDArray[np.uint32]  # the greater end
    weights: Array
    ids: npt.NDArray[np.int64]  # ascending
    present: npt.NDArray[np.bool_]  # False for an edge that has been deleted
    in_forest: npt.NDArray[np.bool_]
    # A cache of at most one element: the numbers between the first and the last edge id that are
    # not ids. It is filled when ids are first looked up.
    missing: list[MissingIds] = field(default_factory=list)

    @classmethod
    def empty(cls, capacity: int, dtype: np.dtype[Any]) -> EdgeStore:
        """Create a store for up to `capacity` edges, without edges, with weights of a dtype."""
        ends = (np.empty(capacity, np.uint32) for _ in range(2))
        u, v = ends
        return cls(
            u=u, v=v, weights=np.empty(capacity, dtype), ids=np.empty(capacity, np.int64),
            present=np.zeros(capacity, np.bool_), in_forest=np.zeros(capacity, np.bool_),
        )  # fmt: skip

    @property
    def capacity(self) -> int:
        """The length of the columns: the number of edges for which they have space."""
        return self.ids.size

    @property
    def n_bytes(self) -> int:
        """The size of all columns in bytes."""
        return sum(getattr(self, name).nbytes for name in _NAMES)

    def copied(self, capacity: int, rows: Any) -> EdgeStore:
        """Return a new store with space for `capacity` edges, which begins with a copy of `rows`.

        `rows` is an array of rows or a slice.
        """
        made = EdgeStore.empty(capacity, self.weights.dtype)
        for name in _NAMES:
            values = getattr(self, name)[rows]
            getattr(made, name)[: values.size] = values
        return made


@dataclass(slots=True, kw_only=True)
class Undo:
    """The values that rows had before an operation changed the rows in place.

    `forest` are further rows that enter or leave the forest, and whether they were in it. It is
    set before they are changed, in one assignment.
    """

    deleted: Array  # rows that were present
    changed: Array
    weights: Array  # of the rows in `changed`
    forest: tuple[Array, Array] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The vertices, edges and forest of a dynamic forest, and the results computed from them."""

    columns: EdgeStore
    n_vertices: int
    n_rows: int = 0  # number of rows in use, including those of deleted edges
    n_present: int = 0  # number of edges that have not been deleted
    next_id: int = 0  # the id that the next inserted edge gets
    n_forest: int = 0  # number of edges of the forest
    # The statistics of the last solve.
    stats: Mapping[str, Any] = field(
        default_factory=lambda: {
            "algorithm": "kruskal",
            "device": "host",
            "route": route.Way(route.HOST, "no edge has been inserted").as_stats(),
        }
    )
    undo: Undo | None = None  # during a change, the values that it overwrites
    known: dict[str, Any] = field(default_factory=dict)  # results computed from this state
    # An object that stands for the edges and the forest of this state. Every state has its own, so
    # two states can be compared by it.
    stamp: object = field(default_factory=object)

    @property
    def forest(self) -> npt.NDArray[np.int64]:
        """The rows of the forest in ascending order. O(n_rows) the first time."""
        rows: npt.NDArray[np.int64] | None = self.known.get(_FOREST)
        if rows is None:
            rows = self.known[_FOREST] = np.flatnonzero(self.columns.in_forest[: self.n_rows])
        return rows

    def rows_of(self, ids: Array) -> tuple[npt.NDArray[np.int64], int | None]:
        """Return the row of each of `ids`, and None if the edges of all ids are present.

        If some edges are not present, the second result is the position in `ids` of the first id
        whose edge is missing, and the rows must not be used.
        """
        known = self.columns.ids[: self.n_rows]
        if not known.size:
            return np.zeros(ids.size, np.int64), 0 if ids.size else None
        first, last = int(known[0]), int(known[-1])
        is_here = (ids >= first) & (ids <= last)
        places = ids if is_here.all() else np.where(is_here, ids, first)
        places = places.astype(np.int64) - first
        missing = self.columns.missing
        if not missing or not missing[0].fits(known):
            missing[:] = [MissingIds.of(known)]
        rows, exists = missing[0].rows_of(places, known)
        is_here &= self.columns.present[rows]
        if exists is not None:
            is_here &= exists
        return rows, None if is_here.all() else int(np.argmin(is_here))

    def present_rows(self, end: int | None = None) -> npt.NDArray[np.int64]:
        """Return the rows of all present edges in the rows below `end`, in ascending order.

        If `end` is None, return the rows of all present edges.
        """
        return np.flatnonzero(self.columns.present[: self.n_rows if end is None else end])

    def with_undo(self, deleted: Array, changed: Array) -> State:
        """Return this state, with what is needed to undo a change in the field `undo`.

        The rows `deleted` are present. The rows `changed` get new weights.
        """
        weights = self.columns.weights[changed]
        return replace(self, undo=Undo(deleted=deleted, changed=changed, weights=weights))

    def restored(self) -> State:
        """Write the old values back to the columns, and return the state without `undo`.

        If the call itself is interrupted, it can be repeated.
        """
        undo = self.undo
        if undo is None:
            return self
        self.columns.present[undo.deleted] = True
        self.columns.weights[undo.changed] = undo.weights
        if undo.forest is not None:
            rows, was = undo.forest
            own = rows < self.n_rows  # all others are of edges that the operation has inserted
            self.columns.in_forest[rows[own]] = was[own]
        return replace(self, undo=None)

    def with_space(self, n_new: int) -> EdgeStore:
        """Return columns with space for `n_new` more rows.

        They are the present columns if these have enough space, and otherwise a copy of at least
        twice the length.
        """
        needed = self.n_rows + n_new
        if needed <= self.columns.capacity:
            return self.columns
        return self.columns.copied(max(needed, 2 * self.columns.capacity), slice(0, self.n_rows))

    def compacted(self) -> State:
        """Return a state without the rows of deleted edges if these are more than half of all rows.

        Otherwise return the state itself.
        """
        if 2 * self.n_present >= self.n_rows:
            return self
        kept = self.present_rows()
        return replace(
            self,
            columns=self.columns.copied(kept.size, kept),
            n_rows=kept.size,
            known={},
            stamp=object(),
        )


def distinct(rows: Array) -> npt.NDArray[np.int64]:
    """Return the distinct elements of `rows` in ascending order.

    NumPy's `unique` fills a table of hashes first, which takes far longer than a sort.
    """
    rows = np.sort(rows)
    if rows.size < 2:
        return rows
    is_first = np.ones(rows.size, np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    found: npt.NDArray[np.int64] = rows if is_first.all() else rows[is_first]
    return found


def is_among(rows: Array, some: Array) -> npt.NDArray[np.bool_]:
    """Return for each row whether it is in `some`, an ascending array."""
    if not some.size:
        return np.zeros(rows.size, np.bool_)
    at = np.minimum(np.searchsorted(some, rows), some.size - 1)
    found: npt.NDArray[np.bool_] = some[at] == rows
    return found
