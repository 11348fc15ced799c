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

_NAMES = ("u", "v", "weights", "ids", "present")
_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeStore:
    """The edges in columns, which are longer than the number of rows in use.

    An edge takes 17 bytes and the bytes of its weight. Columns grow to twice their length, so that
    an insert takes constant time per edge on average.
    """

    u: npt.NDArray[np.uint32]  # the lesser end
    v: npt.NDArray[np.uint32]  # the greater end
    weights: Array
    ids: npt.NDArray[np.int64]  # ascending
    present: npt.NDArray[np.bool_]  # False for an edge that has been deleted

    @classmethod
    def empty(cls, capacity: int, dtype: np.dtype[Any]) -> EdgeStore:
        """Create columns for up to `capacity` edges with weights of a dtype."""
        ends = (np.empty(capacity, np.uint32) for _ in range(2))
        u, v = ends
        return cls(
            u=u, v=v, weights=np.empty(capacity, dtype), ids=np.empty(capacity, np.int64),
            present=np.zeros(capacity, np.bool_),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """The values that rows had before an operation changed the rows in place."""

    rows: Array
    present: Array
    weights: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything that a dynamic forest knows between two operations."""

    columns: EdgeStore
    n_vertices: int
    n_rows: int = 0  # number of rows in use, deleted edges included
    n_present: int = 0
    next_id: int = 0
    forest: npt.NDArray[np.int64] = field(default_factory=_NO_ROWS.copy)  # its rows, ascending
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

    def rows_of(self, ids: Array) -> tuple[npt.NDArray[np.int64], int | None]:
        """Return the row of each id, and the position of the first id that is not present, or None.

        If an id is not present, the rows are not meaningful.
        """
        known = self.columns.ids[: self.n_rows]
        rows = np.searchsorted(known, ids)
        is_here = rows < self.n_rows
        rows[~is_here] = 0
        if self.n_rows:
            is_here &= (known[rows] == ids) & self.columns.present[rows]
        return rows, None if is_here.all() else int(np.argmin(is_here))

    def present_rows(self, end: int | None = None) -> npt.NDArray[np.int64]:
        """Return the rows of all present edges before row `end`, in ascending order.

        None as `end` means all rows in use.
        """
        return np.flatnonzero(self.columns.present[: self.n_rows if end is None else end])

    def is_in_forest(self, rows: Array) -> npt.NDArray[np.bool_]:
        """Return for each row whether the edge in it is in the forest. O(k log n) for k rows."""
        forest = self.forest
        if not forest.size:
            return np.zeros(rows.size, np.bool_)
        at = np.minimum(np.searchsorted(forest, rows), forest.size - 1)
        found: npt.NDArray[np.bool_] = forest[at] == rows
        return found

    def with_undo(self, rows: Array) -> State:
        """Return this state, with the present values of some rows of edges in the field `undo`.

        If a change of these rows is interrupted, the values can be restored.
        """
        columns = self.columns
        undo = Undo(rows=rows, present=columns.present[rows], weights=columns.weights[rows])
        return replace(self, undo=undo)

    def restored(self) -> State:
        """Write the old values back to the columns, and return the state without `undo`.

        An interrupted call can be repeated.
        """
        undo = self.undo
        if undo is None:
            return self
        self.columns.present[undo.rows] = undo.present
        self.columns.weights[undo.rows] = undo.weights
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
            forest=np.searchsorted(kept, self.forest),
            known={},
        )
