"""The state of a dynamic forest: its edges in columns, which of them are present, and the forest.

A *row* is the place of an edge in the columns. Rows are in the order of edge ids. An operation
writes to the columns in place, but only after it has stored the old values in the state
(:class:`Undo`). It ends with one assignment of a new state. Whatever interrupts it before, the
old state can be restored from these values.
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
    """The edges in columns, which are longer than the number of rows in use.

    An edge takes 18 bytes and the bytes of its weight. Columns grow to twice their length, so that
    an insert takes constant time per edge on average.
    """

    u: npt.NDArray[np.uint32]  # the lesser end
    v: npt.NDArray[np.uint32]  # the greater end
    weights: Array
    ids: npt.NDArray[np.int64]  # ascending
    present: npt.NDArray[np.bool_]  # False for an edge that has been deleted
    in_forest: npt.NDArray[np.bool_]
    # At most one element, which is made when ids are first looked up.
    missing: list[MissingIds] = field(default_factory=list)

    @classmethod
    def empty(cls, capacity: int, dtype: np.dtype[Any]) -> EdgeStore:
        """Create columns for up to `capacity` edges with weights of a dtype."""
        ends = (np.empty(capacity, np.uint32) for _ in range(2))
        u, v = ends
        return cls(
            u=u, v=v, weights=np.empty(capacity, dtype), ids=np.empty(capacity, np.int64),
            present=np.zeros(capacity, np.bool_), in_forest=np.zeros(capacity, np.bool_),
        )  # fmt: skip

    @property
    def capacity(self) -> int:
        """The number of rows that the columns have space for."""
        return self.ids.size

    @property
    def n_bytes(self) -> int:
        """The size of all columns in bytes."""
        return sum(getattr(self, name).nbytes for name in _NAMES)

    def copied(self, capacity: int, rows: Any) -> EdgeStore:
        """Return a new store with space for `capacity` edges that begins with a copy of `rows`."""
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
    """Everything that a dynamic forest knows between two operations."""

    columns: EdgeStore
    n_vertices: int
    n_rows: int = 0  # number of rows in use, deleted edges included
    n_present: int = 0
    next_id: int = 0
    n_forest: int = 0  # number of edges of the forest
    # The statistics of the last solve.
    stats: Mapping[str, Any] = field(
        default_factory=lambda: {
            "algorithm": "kruskal",
            "device": "host",
            "route": route.Way(route.HOST, "no edge has been inserted").as_stats(),
        }
    )
    undo: Undo | None = None
    known: dict[str, Any] = field(default_factory=dict)  # results computed from this state
    # Stands for the edges and the forest of this state. Another state has another one.
    stamp: object = field(default_factory=object)

    @property
    def forest(self) -> npt.NDArray[np.int64]:
        """The rows of the forest in ascending order. O(n_rows) the first time."""
        rows: npt.NDArray[np.int64] | None = self.known.get(_FOREST)
        if rows is None:
            rows = self.known[_FOREST] = np.flatnonzero(self.columns.in_forest[: self.n_rows])
        return rows

    def rows_of(self, ids: Array) -> tuple[npt.NDArray[np.int64], int | None]:
        """Return the row of each id, and the position of the first id that is not present, or None.

        If an id is not present, the rows are not meaningful.
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
        """Return the rows of all present edges before row `end`, in ascending order.

        None as `end` means all rows in use.
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

        An interrupted call can be repeated.
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
        """Return columns with space for new rows: the present ones, or a copy of twice the size."""
        needed = self.n_rows + n_new
        if needed <= self.columns.capacity:
            return self.columns
        return self.columns.copied(max(needed, 2 * self.columns.capacity), slice(0, self.n_rows))

    def compacted(self) -> State:
        """Return the state without deleted rows if they are more than half of all rows.

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
