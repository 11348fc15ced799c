"""Changes of a dynamic forest: their description (:class:`Edit`), and the function for them.

The result of a change is described by :class:`Change`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms.changes.kept import FOREST, FRESH, MARKED, PRESENT
from clmst.core.weight_keys import Array
from clmst.dynamic.on_device import OnDevice
from clmst.dynamic.one_by_one import OneByOne, Order
from clmst.dynamic.solves import joined, merged, reconnected, without
from clmst.dynamic.state import EdgeStore, State, distinct, is_among

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

    Examples
    --------
    The edge 2 of weight 2 replaces the edge 0 of weight 3 on the path between the vertices 0 and 2:

    >>> import clmst
    >>> forest = clmst.DynamicForest(3)
    >>> change = forest.insert([0, 1], [1, 2], [3.0, 1.0])
    >>> forest.insert([0], [2], [2.0])
    Change(ids=array([2]), entered=array([2]), left=array([0]), replaced=None)
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
    """A change to make: edges to delete, edges that get new weights, and edges to insert.

    All of it has been checked. Edges to delete or to change are given by their rows, which are
    their places in the columns of an :class:`EdgeStore`. No row is in both `deleted` and `changed`.
    The rows in `changed` are ascending.
    """

    deleted: npt.NDArray[np.int64] = field(default_factory=_NO_ROWS.copy)
    ids: npt.NDArray[np.int64] = field(default_factory=_NO_ROWS.copy)  # of the rows in `deleted`
    changed: npt.NDArray[np.int64] = field(default_factory=_NO_ROWS.copy)
    weights: Array = field(default_factory=_NO_ROWS.copy)  # the new weights of `changed`
    batch: Batch | None = None
    one_by_one: bool = False  # may be True only if nothing is deleted or changed

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The rows in which values are overwritten."""
        return np.concatenate((self.deleted, self.changed))


def carry_out(before: State, edit: Edit, device: Any, there: OnDevice) -> tuple[State, Change]:
    """Carry out `edit` on a state. Return the state after it, and what it has changed.

    `before` is the state before it. Its columns are overwritten, so it must not be used afterwards.
    The caller can restore it with the values that :meth:`State.with_undo` has stored. `there` are
    the rows of edges on the device, which computes the change if the router decides so.
    """
    columns, n = before.columns, before.n_vertices
    old = columns.weights[edit.changed]
    inside, is_less = columns.in_forest[edit.changed], edit.weights < old
    risen = edit.changed[inside & (edit.weights > old)]
    fallen, lightened = edit.changed[~inside & is_less], edit.changed[inside & is_less]
    lost = np.concatenate((edit.deleted[columns.in_forest[edit.deleted]], risen))
    is_open = lost.size or fallen.size or (edit.batch is not None and edit.batch.u.size)
    is_there = not edit.one_by_one and bool(is_open) and there.prepare(before)
    columns.present[edit.deleted] = False
    columns.weights[edit.changed] = edit.weights
    columns, added = _stored(before, edit.batch)
    new = np.concatenate((fallen, added[columns.u[added] != columns.v[added]]))
    structure = before.known.pop(_ONE_BY_ONE, None)  # removed, because it is changed below
    stamp, known, stats, replaced = object(), {}, before.stats, None
    if edit.one_by_one:
        if structure is None or structure.n_vertices != n:
            structure = OneByOne(n)
            for edge in _orders(columns, before.forest):
                structure.add(edge)
        gone = _replaced(structure, columns, added)
        replaced = np.where(gone < 0, -1, columns.ids[gone])
        gone = np.sort(gone[gone >= 0])
        touched = distinct(np.concatenate((added, gone)))
        is_now = ~is_among(touched, gone)
        known[_ONE_BY_ONE] = structure
    elif not (lost.size or new.size):
        touched, is_now = _NO_ROWS, np.zeros(0, np.bool_)
        there.note(before, np.concatenate((edit.rows, added)), lightened, stamp)
    elif is_there:
        rows = np.concatenate((edit.rows, added))
        marks = _marks(columns, edit, old, added)
        found, stats = there.change(
            columns, rows, marks, n_lost=lost.size, n_fresh=new.size, stamp=stamp
        )
        touched = _once(np.concatenate((found, lost)))  # a lost edge that is found has come back
        is_now = ~columns.in_forest[touched]
    else:
        forest, stats = _solved_anew(
            before, columns, device, added=added, lost=lost, fallen=fallen, new=new
        )
        now = np.zeros(before.n_rows + added.size, np.bool_)
        now[forest] = True
        touched = np.flatnonzero(now != columns.in_forest[: now.size])
        is_now = now[touched]
        known["forest"] = forest
    was = columns.in_forest[touched]
    assert before.undo is not None, "changes are undone if they break off"
    before.undo.forest = touched, was
    columns.in_forest[touched] = is_now
    batch = edit.batch
    after = State(
        columns=columns, n_vertices=n, n_rows=before.n_rows + added.size,
        n_present=before.n_present + added.size - edit.deleted.size,
        next_id=before.next_id if batch is None else batch.next_id,
        n_forest=before.n_forest + int(is_now.sum()) - int(was.sum()), stats=stats, known=known,
        stamp=stamp,
    )  # fmt: skip
    change = Change(
        ids=np.concatenate((columns.ids[added], edit.ids, columns.ids[edit.changed])),
        entered=columns.ids[touched[is_now & ~was]],
        left=columns.ids[touched[was & ~is_now]],
        replaced=replaced,
    )
    return after, change


def _solved_anew(
    before: State, columns: EdgeStore, device: Any, *, added: Array, lost: Array, fallen: Array,
    new: Array,
) -> tuple[Array, Mapping[str, Any]]:  # fmt: skip
    """Compute the forest after a change by solves of edges that are uploaded for that.

    `before` is the state before, and `columns` has the edges after the change. The rows `added` are
    new, the rows `lost` have left the forest, those in `fallen` became lighter outside of it, and
    `new` has these and the added ones. Return the rows of the forest in ascending order, and the
    statistics of the last solve.
    """
    n, forest, stats = before.n_vertices, before.forest, before.stats
    if not route.keeps_trees(forest.size, lost.size):
        present = np.concatenate((before.present_rows(), added))
        return joined(columns, n, present, _NO_ROWS, device)
    if lost.size:
        forest = without(forest, np.sort(lost))
        entering, reconnecting = reconnected(before, forest, fallen, device)
        forest, stats = merged(forest, entering), reconnecting or stats
    if new.size:
        forest, stats = joined(columns, n, forest, new, device)
    return forest, stats


def _marks(columns: EdgeStore, edit: Edit, old: Array, added: Array) -> npt.NDArray[np.uint8]:
    """Return the flags with which the rows of a change are brought to the device.

    `columns` has the edges after the change, but the forest before it. `old` has the weights of the
    changed rows before the change. Returns the flags of the deleted rows, then of the changed rows,
    then of the added rows. :meth:`KeptForest.change` explains them.
    """
    gone = np.where(columns.in_forest[edit.deleted], MARKED, 0)
    inside = columns.in_forest[edit.changed]
    is_less, is_more = edit.weights < old, edit.weights > old
    changed = np.where(inside & ~is_more, PRESENT | FOREST, PRESENT)
    changed[is_less & ~inside] |= FRESH
    changed[is_less | (inside & is_more)] |= MARKED
    is_loop = columns.u[added] == columns.v[added]
    new = np.where(is_loop, PRESENT, PRESENT | FRESH | MARKED)
    return np.concatenate((gone, changed, new)).astype(np.uint8)


def _once(rows: Array) -> npt.NDArray[np.int64]:
    """Return the elements that occur once in `rows`, in which none occurs more than twice.

    The result is in ascending order.
    """
    rows = np.sort(rows)
    again = np.zeros(rows.size + 1, np.bool_)
    np.equal(rows[1:], rows[:-1], out=again[1 : max(rows.size, 1)])
    found: npt.NDArray[np.int64] = rows[~(again[:-1] | again[1:])]
    return found


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
    columns.present[space], columns.in_forest[space] = True, False
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
