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

_NAMES = ("u", "v", "weights", "ids", "present")
_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeStore:
    """The edges of a dynamic forest, in columns of equal length.

    Columns may be longer than the number of rows in use. If they are full, they grow to twice their
    length, so an insert takes constant time per edge on average. An edge takes 17 bytes and the
    bytes of its weight.
    """

    u: npt.NDArray[np.uint32]  # the lesser end
    v: npt.NDArray[np.uint32]  # the greater end
    weights: Array
    ids: npt.NDArray[np.int64]  # ascending
    present: npt.NDArray[np.bool_]  # False for an edge that has been deleted

    @classmethod
    def empty(cls, capacity: int, dtype: np.dtype[Any]) -> EdgeStore:
        """Create a store for up to `capacity` edges, without edges, with weights of a dtype."""
        ends = (np.empty(capacity, np.uint32) for _ in range(2))
        u, v = ends
        return cls(
            u=u, v=v, weights=np.empty(capacity, dtype), ids=np.empty(capacity, np.int64),
            present=np.zeros(capacity, np.bool_),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """The old values of rows that a change overwrites."""

    rows: Array
    present: Array
    weights: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The vertices, edges and forest of a dynamic forest, and the results computed from them."""

    columns: EdgeStore
    n_vertices: int
    n_rows: int = 0  # number of rows in use, including those of deleted edges
    n_present: int = 0  # number of edges that have not been deleted
    next_id: int = 0  # the id that the next inserted edge gets
    # The rows of the edges of the forest, ascending.
    forest: npt.NDArray[np.int64] = field(default_factory=_NO_ROWS.copy)
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

    def rows_of(self, ids: Array) -> tuple[npt.NDArray[np.int64], int | None]:
        """Return the row of each of `ids`, and None if the edges of all ids are present.

        If some are not, the second result is the position of the first such id in `ids`, and the
        rows must not be used.
        """
        known = self.columns.ids[: self.n_rows]
        rows = np.searchsorted(known, ids)
        is_here = rows < self.n_rows
        rows[~is_here] = 0
        if self.n_rows:
            is_here &= (known[rows] == ids) & self.columns.present[rows]
        return rows, None if is_here.all() else int(np.argmin(is_here))

    def present_rows(self, end: int | None = None) -> npt.NDArray[np.int64]:
        """Return the rows of all present edges in the rows below `end`, in ascending order.

        If `end` is None, return the rows of all present edges.
        """
        return np.flatnonzero(self.columns.present[: self.n_rows if end is None else end])

    def is_in_forest(self, rows: Array) -> npt.NDArray[np.bool_]:
        """Return for each row whether its edge is in the forest, in O(k log n) for k rows."""
        forest = self.forest
        if not forest.size:
            return np.zeros(rows.size, np.bool_)
        at = np.minimum(np.searchsorted(forest, rows), forest.size - 1)
        found: npt.NDArray[np.bool_] = forest[at] == rows
        return found

    def with_undo(self, rows: Array) -> State:
        """Return this state with a copy of the values in `rows` in the field `undo`.

        If a change that overwrites these rows is interrupted, :meth:`restored` restores them.
        """
        columns = self.columns
        undo = Undo(rows=rows, present=columns.present[rows], weights=columns.weights[rows])
        return replace(self, undo=undo)

    def restored(self) -> State:
        """Write the old values back to the columns, and return the state without `undo`.

        If the call itself is interrupted, it can be repeated.
        """
        undo = self.undo
        if undo is None:
            return self
        self.columns.present[undo.rows] = undo.present
        self.columns.weights[undo.rows] = undo.weights
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
            forest=np.searchsorted(kept, self.forest),
            known={},
        )
