"""How a dynamic forest is changed: what to change (:class:`Edit`), and the function that does it.

The result of a change is described by :class:`Change`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.core.weight_keys import Array
from clmst.dynamic.one_by_one import OneByOne, Order
from clmst.dynamic.solves import joined, merged, reconnected, without
from clmst.dynamic.state import EdgeStore, State

# The key under which a state of the forest keeps the data structure for changes of single edges.
_ONE_BY_ONE = "one by one"
_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an operation of a :class:`DynamicForest` has changed.

    Attributes
    ----------
    ids : ndarray of int64, shape (k,)
        The edges that the call inserted, deleted or updated. Inserted edges have new ids, and are
        in the order in which they were given. Deleted edges are in the order of the call. Updated
        edges are in ascending order, each once. After a call of :meth:`DynamicForest.apply`, all
        inserted edges come first, then the deleted ones, then the updated ones.
    entered : ndarray of int64
        The ids of the edges that are in the forest now and were not before, in ascending order.
    left : ndarray of int64
        The ids of the edges that were in the forest before and are not now, in ascending order.
        Some of them may have been deleted.
    replaced : ndarray of int64, shape (k,), or None
        None unless edges were inserted one by one. For each inserted edge, the id of the edge that
        left the forest when it was inserted. It is the inserted edge's own id if this edge did not
        enter the forest, and -1 if it connected two trees, so that no edge left.
    """

    ids: npt.NDArray[np.int64]
    entered: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    replaced: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The edges of an insert, which have been checked."""

    u: npt.NDArray[np.uint32]  # the lesser end of each edge
    v: npt.NDArray[np.uint32]  # the greater end of each edge
    weights: Array
    ids: npt.NDArray[np.int64]  # ascending
    next_id: int  # the id that the first edge after the batch gets


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What to change: edges to delete, edges that get new weights, and edges to insert.

    All of it has been checked. Edges to delete or to change are given by their rows, which are
    their places in the columns of an :class:`EdgeStore`. No row is in both `deleted` and `changed`.
    The rows in `changed` are ascending.
    """

    deleted: npt.NDArray[np.int64] = field(default_factory=_NO_ROWS.copy)
    changed: npt.NDArray[np.int64] = field(default_factory=_NO_ROWS.copy)
    weights: Array = field(default_factory=_NO_ROWS.copy)  # the new weights of `changed`
    batch: Batch | None = None
    one_by_one: bool = False  # may be True only if nothing is deleted or changed

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The rows in which values are overwritten."""
        return np.concatenate((self.deleted, self.changed))


def carry_out(before: State, edit: Edit, device: Any) -> tuple[State, Change]:
    """Carry out `edit` on a state. Return the state after it, and what it has changed.

    `before` is the state before it. Its columns are overwritten, so it must not be used afterwards.
    The caller can restore it with the values that :meth:`State.with_undo` has stored.
    """
    columns, n = before.columns, before.n_vertices
    old = columns.weights[edit.changed]
    columns.present[edit.deleted] = False
    columns.weights[edit.changed] = edit.weights
    inside = before.is_in_forest(edit.changed)
    risen = edit.changed[inside & (edit.weights > old)]
    fallen = edit.changed[~inside & (edit.weights < old)]
    lost = np.concatenate((edit.deleted[before.is_in_forest(edit.deleted)], risen))
    forest, stats = before.forest, before.stats
    touched = [lost]  # all rows that may have entered or left the forest
    keeps_trees = route.keeps_trees(forest.size, lost.size)
    if lost.size and keeps_trees:
        forest = without(forest, lost)
        entering, found = reconnected(before, forest, fallen, device)
        forest, stats = merged(forest, entering), stats if found is None else found
        touched.append(entering)
    columns, added = _stored(before, edit.batch)
    new = np.concatenate((fallen, added[columns.u[added] != columns.v[added]]))
    known, replaced = {}, None
    structure = before.known.pop(_ONE_BY_ONE, None)  # removed, because it is changed below
    if edit.one_by_one:
        if structure is None or structure.n_vertices != n:
            structure = OneByOne(n)
            for edge in _orders(columns, forest):
                structure.add(edge)
        gone = _replaced(structure, columns, added)
        replaced = np.where(gone < 0, -1, columns.ids[gone])
        gone = np.sort(gone[gone >= 0])
        forest = without(merged(forest, added), gone)
        touched += [added, gone]
        known[_ONE_BY_ONE] = structure
    elif not keeps_trees:
        present = np.concatenate((before.present_rows(), added))
        forest, _, stats = joined(columns, n, present, _NO_ROWS, device)
        touched += [before.forest, forest]
    elif new.size:
        forest, gone, stats = joined(columns, n, forest, new, device)
        touched += [new, gone]
    batch = edit.batch
    after = State(
        columns=columns, n_vertices=n, n_rows=before.n_rows + added.size,
        n_present=before.n_present + added.size - edit.deleted.size,
        next_id=before.next_id if batch is None else batch.next_id,
        forest=forest, stats=stats, known=known,
    )  # fmt: skip
    every = np.unique(np.concatenate(touched))
    was, is_now = before.is_in_forest(every), after.is_in_forest(every)
    change = Change(
        ids=columns.ids[np.concatenate((added, edit.deleted, edit.changed))],
        entered=columns.ids[every[is_now & ~was]],
        left=columns.ids[every[was & ~is_now]],
        replaced=replaced,
    )
    return after, change


def _stored(before: State, batch: Batch | None) -> tuple[EdgeStore, npt.NDArray[np.int64]]:
    """Write the edges of a batch after the rows in use, and return the columns and the new rows.

    `before` is the state without the batch, and remains so: it does not count the new rows. If
    `batch` is None, nothing is written.
    """
    if batch is None:
        return before.columns, _NO_ROWS
    first, size = before.n_rows, batch.u.size
    columns = before.with_space(size)
    space = slice(first, first + size)
    columns.u[space], columns.v[space] = batch.u, batch.v
    columns.weights[space], columns.ids[space] = batch.weights, batch.ids
    columns.present[space] = True
    return columns, np.arange(first, first + size)


def _orders(columns: EdgeStore, rows: Array) -> list[Order]:
    """Return (weight, lesser end, greater end, row) of the edge in each of `rows`.

    `columns` has the edges. These tuples sort in the order of edges.
    """
    parts = (columns.weights[rows], columns.u[rows], columns.v[rows], rows)
    return list(zip(*(part.tolist() for part in parts), strict=True))


def _replaced(into: OneByOne, columns: EdgeStore, added: Array) -> npt.NDArray[np.int64]:
    """Add the edges in the rows `added` to the structure `into`, one by one.

    `columns` has the edges. Returns, for each added edge, the row of the edge that left the forest
    when it was added, or -1 if none left.
    """
    gone = [-1] * added.size
    for step, edge in enumerate(_orders(columns, added)):
        if (one := into.add(edge)) is not None:
            gone[step] = one[3]
    return np.array(gone, np.int64)
