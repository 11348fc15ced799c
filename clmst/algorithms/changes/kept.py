"""Keep a forest on a device while edges come and go, and compute what each change does to it.

The kernels are in ``cl/algorithms/changes``. ``state.cl`` explains the kept contraction: clusters
of the forest's vertices, which Borůvka's rounds have made. A change dissolves the clusters with an
end of an edge that is inserted, becomes lighter, or leaves the forest. Only the edges between the
remaining clusters are open, and are contracted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.core.errors import DeviceError
from clmst.core.weight_keys import Array, weight_kind_or_none
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.handles import KernelArgument, Memory
from clmst.runtime.launcher import Launcher, check_count

SOURCE = "algorithms/changes/changes.cl"
ROUNDS_SOURCE = "algorithms/changes/rounds.cl"
WEIGHTS_SOURCE = "algorithms/changes/weights.cl"

# Each edge has a row in the arrays of a dynamic forest. These are the bits of a row's flags, the
# macros ROW_PRESENT and so on of cl/algorithms/changes/state.cl:
#   PRESENT   the row has an edge
#   FOREST    the edge is in the forest
#   FRESH     the edge is new, or has become lighter in the present change
#   MARKED    the clusters that contain an end of the edge have to be dissolved
PRESENT, FOREST, FRESH, MARKED = 1, 2, 4, 16

_WORD, _FLAG, _EDGE = np.dtype(np.uint32), np.dtype(np.uint8), np.dtype("V16")
_MOST_SIZES = 34  # MOST_SIZES of state.cl
# Rounds of a contraction take three launches each. As soon as at most _ONE_GROUP edges remain, one
# work-group does all remaining rounds in one launch. To know how many rounds to enqueue until then,
# the host assumes that each round leaves the fraction _LEFT of the edges. Neither value was
# measured.
_ONE_GROUP, _LEFT = 4096, 0.4
# If a change has at most this number of fresh edges (edges that are new or have become lighter),
# the guess by _LEFT suffices. If it has more, the host reads the number of edges that are left.
_MOST_GUESSED = 1 << 14
_READ_FIRST = 4096  # rows that are read together with their number
_ALL = (1 << 64) - 1  # above all keys of weights


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    """Edges to store on the device: the row of each edge, its ends, its weight and its flags."""

    numbers: npt.NDArray[np.int64]
    u: npt.NDArray[np.uint32]
    v: npt.NDArray[np.uint32]
    weights: Array
    flags: npt.NDArray[np.uint8]

    def words(self) -> npt.NDArray[np.uint32]:
        """Return all values as words, column by column, as the kernel changes_store reads them."""
        bits = self.weights.view(f"u{self.weights.dtype.itemsize}")
        parts: list[Array] = [self.numbers, self.u, self.v, self.flags]
        parts += [bits, bits >> np.uint64(32)] if bits.dtype.itemsize == 8 else [bits]
        words = np.empty((len(parts), self.numbers.size), np.uint32)
        for place, part in zip(words, parts, strict=True):
            place[:] = part if part.dtype.itemsize < 8 else part & 0xFFFFFFFF
        return words.reshape(-1)


class KeptForest:
    """The edges of a graph in rows on a device, with the contraction of its forest.

    A thread that calls a method must have the device's lock. If a method raises, the object must
    not be used any more.

    Parameters
    ----------
    n_vertices : int
        The number of vertices.
    columns : sequence of four ndarray or DeviceArray, shape (m,)
        The lesser end and the greater end, as uint32, the weight, and the bits PRESENT and FOREST,
        as uint8, of each row. The rows with the bit FOREST must be the minimum spanning forest of
        the present rows, in the order of (weight, u, v, row). Arrays on the device are used
        without a copy.
    device : Device
        The device that keeps the columns.
    launch : Launcher
        A launcher of the device.
    stored : dtype, optional
        The dtype of the weights, if that is not the dtype of their column.
    maximum : bool
        Whether the forest is a maximum spanning forest.

    Notes
    -----
    The device's memory is 9 bytes and the weight for each row, 36 for each vertex, and up to 40 for
    each open edge of a change, which are kept for later changes. The first contraction opens all
    edges of the forest.
    """

    def __init__(
        self, n_vertices: int, columns: Sequence[Array | DeviceArray], device: Device,
        launch: Launcher, *, stored: np.dtype[Any] | None = None, maximum: bool = False,
    ) -> None:  # fmt: skip
        u, _, weights, _ = columns
        kind = weight_kind_or_none(stored or weights.dtype)
        assert kind is not None, "dtypes are checked before"
        self.device, self.n_vertices, self.n_rows = device, n_vertices, u.size
        bits = 8 * weights.dtype.itemsize
        self._defines = defines = weight_defines(bits, kind, maximum=maximum)
        self._program = device.program(SOURCE, **defines)
        self._rounds = device.program(ROUNDS_SOURCE, **defines)
        self._columns = [
            one if isinstance(one, DeviceArray) else DeviceArray.from_host(one, device)
            for one in columns
        ]
        words = {"nodes": 4, "sets": 1, "pieces": 1, "even": 1, "odd": 1}
        self._of_vertices = {name: self._new(k * n_vertices) for name, k in words.items()}
        self._rows, self._changed, self._count = self._new(0), self._new(0), self._new(1)
        self._n_crossing = self._new(1)
        self._lists = [self._new(0, _EDGE), self._new(0, _EDGE)]
        self._sizes = self._new(_MOST_SIZES)
        self._level = 0  # the level of the last round
        self.contract(launch)

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays in the memory of the device."""
        arrays = (*self._columns, *self._of_vertices.values(), self._rows, self._changed)
        arrays = (*arrays, *self._lists)
        return sum(array.nbytes for array in arrays)

    def change(
        self, rows: StoredRows, n_fresh: int, n_lost: int, limits: Sequence[int], launch: Launcher
    ) -> tuple[npt.NDArray[np.int64], dict[str, Any]]:
        """Store edges that have changed, and update the forest. The call waits for the device.

        Parameters
        ----------
        rows : StoredRows
            All edges whose values differ from the device's. New edges may have rows behind the last
            one. The caller sets flags. An edge that is new, or outside of the forest and now
            lighter, has FRESH and MARKED. An edge of the forest that became lighter has FOREST and
            MARKED. An edge that the forest has lost, because it was deleted or became heavier, has
            MARKED, but not FOREST.
        n_fresh : int
            The number of `rows` with the flag FRESH.
        n_lost : int
            The number of edges that the forest has lost.
        limits : sequence of int
            Ascending sort keys of weights. Edges that replace lost edges are searched among the
            edges up to the first limit, then among those up to the next one, and finally among all.
        launch : Launcher
            A launcher of the device.

        Returns
        -------
        rows, stats
            The rows of the edges that have entered or left the forest, in any order; and
            statistics. An edge that the caller has given as lost is only listed if it has entered
            the forest again.
        """
        size = rows.numbers.size
        self._grow(int(rows.numbers.max(initial=-1)) + 1, launch)
        words = DeviceArray.from_host(rows.words(), self.device)
        listed = self._new_list(n_fresh, launch)
        nodes = self._of_vertices["nodes"]
        self._each("store", size, launch, words, *self._columns, nodes, *listed, size)
        return self._updated(n_fresh, n_lost, limits, launch)

    def reweigh(
        self, differing: DeviceArray, weights: Memory, counts: tuple[int, int, int],
        limits: Sequence[int], launch: Launcher,
    ) -> dict[str, Any]:  # fmt: skip
        """Give rows new weights, and update the forest. The call waits for the device.

        Parameters
        ----------
        differing : DeviceArray of uint32
            The rows whose weights change, each once.
        weights : device buffer, shape (m,)
            The weights of all rows after the change.
        counts : tuple of int
            The number of rows that change, the number of edges of the forest that become heavier,
            and the number of edges outside the forest that become lighter.
        limits : sequence of int
            The same as in :meth:`change`.
        launch : Launcher
            A launcher of the device.

        Returns
        -------
        dict
            Statistics.
        """
        size, n_lost, n_fresh = counts
        listed = self._new_list(n_fresh, launch)
        nodes = self._of_vertices["nodes"]
        program = self.device.program(WEIGHTS_SOURCE, **self._defines)
        launch.for_each(
            program, "changes_weights_store", size, differing, weights, *self._columns,
            nodes, *listed, size,
        )  # fmt: skip
        return self._updated(n_fresh, n_lost, limits, launch)[1]

    # ------------------------------------------------------------------------ parts

    def _new_list(self, n_fresh: int, launch: Launcher) -> tuple[DeviceArray, DeviceArray]:
        """Return an empty list of rows, and the number of its rows.

        The list has space for all edges of the forest and `n_fresh` more.
        """
        self._have_rows(self.n_vertices + n_fresh)
        launch.fill(self._count.memory, 0, 1)
        return self._rows, self._count

    def _updated(
        self, n_fresh: int, n_lost: int, limits: Sequence[int], launch: Launcher
    ) -> tuple[npt.NDArray[np.int64], dict[str, Any]]:
        """Update the forest after rows were stored. The call waits for the device.

        The list has the `n_fresh` fresh rows. The other arguments and the result are explained in
        :meth:`change`.
        """
        n, of = self.n_vertices, self._of_vertices
        nodes, listed = of["nodes"], (self._rows, self._count)
        pieces = of["pieces"] if n_lost else None
        self._each("list_open", n, launch, nodes, *listed, pieces, n)
        flags, first = self._columns[3], n_fresh
        k = self._read_count(n + first, launch)
        passes = 0
        self._have_lists(k + n_lost)
        self._enter(0, k, launch)
        self._begin(0, k, launch)
        if n_lost:
            self._each("join_kept", k, launch, self._lists[0], flags, of["sets"], k)
            end, passes = self._reconnect(k, n_lost, limits, launch)
            self._each("drop_lost", k, launch, flags, self._lists[0], self._rows, k)
            self._enter(k, end, launch)
            k = end
            self._begin(0, k, launch)
        rounds = self._contract(k, n_fresh, launch)
        stats = {"open": k, "rounds": rounds, "passes": passes}
        return self._settled(k, launch), stats

    def contract(self, launch: Launcher) -> None:
        """Contract the whole forest that the columns have now. The call waits for the device.

        Raise DeviceError if the edges of the forest close a cycle.
        """
        n, m, of = self.n_vertices, self.n_rows, self._of_vertices
        self._each("part", n, launch, of["nodes"], of["sets"], n)
        self._have_rows(n)
        launch.fill(self._count.memory, 0, 1)
        self._each("list_forest", m, launch, self._columns[3], self._rows, self._count, m)
        k = self._read_count(n, launch)
        self._have_lists(k)
        self._enter(0, k, launch)
        self._begin(0, k, launch)
        self._contract(k, 0, launch)
        if wrong := self._settled(k, launch).size:
            raise DeviceError(
                f"{self.device.description} left {wrong} of {k} edges out of a forest; its results "
                "cannot be relied on"
            )

    def _reconnect(
        self, k: int, n_lost: int, limits: Sequence[int], launch: Launcher
    ) -> tuple[int, int]:
        """List the edges that connect the pieces of a forest that has lost `n_lost` edges.

        The rows of these edges are put behind the `k` rows of open edges, which are listed already.
        Return the new number of listed rows, and the number of passes over all edges. The call
        waits for the device.
        """
        n, m, of = self.n_vertices, self.n_rows, self._of_vertices
        sets, pieces, choices = of["sets"], of["pieces"], of["even"]
        self._have_rows(k + n_lost, launch)
        self._each("find_pieces", n, launch, sets, pieces, n)
        u, v, weights, flags = self._columns
        pieced = pieces, sets, choices
        crossing, capacity, n_crossing = self._lists[1], 4 * self._lists[1].size, -1
        end, passes, waiting = k, 0, [*limits, _ALL]
        while end < k + n_lost:
            # Pieces are the parts into which the forest has fallen by losing edges. If an earlier
            # pass over all edges has listed the edges between two pieces, and the list had space
            # for all of them, a pass only looks at the listed edges.
            is_last = len(waiting) == 1 and n_lost > 1
            if 0 <= n_crossing <= capacity:
                arrays = u, v, weights, *pieced
                self._each("choose_listed", n_crossing, launch, *arrays, crossing, n_crossing)
            else:
                listed = crossing if is_last else None, self._n_crossing
                launch.fill(self._n_crossing.memory, 0, 1)
                self._each(
                    "choose_rows", m, launch, u, v, weights, flags, *pieced, *listed,
                    np.uint64(waiting[0]), capacity, m,
                )  # fmt: skip
                passes += 1
                if is_last:
                    n_crossing = launch.read_count(self._n_crossing.memory, m)
            self._each(
                "join_pieces", 2 * k, launch, self._lists[0], choices, u, v, pieces, sets,
                self._rows, self._count, k,
            )  # fmt: skip
            self._each("forget", 2 * k, launch, self._lists[0], choices, k)
            before, end = end, self._read_count(k + n_lost, launch)
            if len(waiting) > 1 and not route.repeats_pass(end - before, k + n_lost - end):
                waiting.pop(0)
            elif end == before:
                break
        return end, passes

    def _enter(self, first: int, end: int, launch: Launcher) -> None:
        """Enqueue the search for the tops of the edges `first` to `end` - 1 of the list.

        A top is the root of an end's greatest cluster that is not dissolved (``state.cl``).
        """
        u, v, _, _ = self._columns
        arrays = self._rows, u, v, self._of_vertices["nodes"], self._lists[0]
        self._each("enter", end - first, launch, *arrays, first, end)

    def _begin(self, first: int, end: int, launch: Launcher) -> None:
        """Enqueue the reset of the tops (ends) of the listed edges `first` to `end` - 1."""
        of = self._of_vertices
        arrays = (of[name] for name in ("nodes", "sets", "even", "odd"))
        n_items = 2 * (end - first)
        self._each("begin", n_items, launch, self._lists[0], *arrays, self._sizes, first, end)

    def _contract(self, k: int, n_fresh: int, launch: Launcher) -> int:
        """Contract the first `k` edges of the list, of which `n_fresh` are fresh.

        Return the number of rounds that had launches of their own. The call waits for the device
        only if there are many fresh edges.
        """
        of, sizes = self._of_vertices, self._sizes
        u, v, weights, flags = self._columns
        left, done = float(k), 0
        while left > _ONE_GROUP and done + 1 < _MOST_SIZES:
            here, there = self._lists[done % 2], self._lists[1 - done % 2]
            names = ("even", "odd") if done % 2 == 0 else ("odd", "even")
            choices, others = (of[name] for name in names)
            arrays = here, sizes, done
            self._level += 1
            self._round("choose", k, launch, *arrays, u, v, weights, choices)
            self._round("join", k, launch, *arrays, choices, of["sets"], flags)
            self._round(
                "merge", k, launch, *arrays, choices, of["sets"], of["nodes"], others, there,
                self._level,
            )  # fmt: skip
            done, left = done + 1, _LEFT * left
            if left <= _ONE_GROUP and n_fresh > _MOST_GUESSED:
                (left,) = launch.read_words(sizes.memory, 1, first=done)
                check_count(self.device, left, k)
        here, there = self._lists[done % 2], self._lists[1 - done % 2]
        launch.for_each(
            self._rounds, "changes_rounds_finish", min(k, 1), here, there, sizes, done, u, v,
            weights, of["even"], of["odd"], of["sets"], flags, of["nodes"], self._level + 1,
            alone=True,
        )  # fmt: skip
        self._level += _MOST_SIZES - done
        return done

    def _settled(self, k: int, launch: Launcher) -> npt.NDArray[np.int64]:
        """Return the rows, among the first `k` of the list, that have entered or left the forest.

        The call waits for the device.
        """
        if self._changed.size < 1 + max(k, _READ_FIRST):
            self._changed = self._new(1 + max(2 * k, _READ_FIRST))
        changed = self._changed
        launch.fill(changed.memory, 0, 1)
        self._each("settle", k, launch, self._rows, self._columns[3], changed, k)
        words = np.empty(1 + _READ_FIRST, np.uint32)
        launch.read(changed.memory, words)
        count = int(words[0])
        check_count(self.device, count, k)
        if count > _READ_FIRST:
            words = np.empty(1 + count, np.uint32)
            launch.read(changed.memory, words)
        return words[1 : 1 + count].astype(np.int64)

    # ----------------------------------------------------------------------- memory

    def _new(self, size: int, dtype: np.dtype[Any] = _WORD) -> DeviceArray:
        return DeviceArray.unchecked(size, dtype, self.device)

    def _each(
        self, kernel: str, n_items: int, launch: Launcher, *arguments: KernelArgument
    ) -> None:
        launch.for_each(self._program, f"changes_{kernel}", n_items, *arguments)

    def _round(
        self, kernel: str, n_edges: int, launch: Launcher, *arguments: KernelArgument
    ) -> None:
        launch.for_each(self._rounds, f"changes_rounds_{kernel}", n_edges, *arguments)

    def _grow(self, n_rows: int, launch: Launcher) -> None:
        """Enlarge the arrays of edges to `n_rows` rows, or to twice their size if that is more."""
        capacity = self._columns[0].size
        if n_rows > capacity:
            for at, column in enumerate(self._columns):
                grown = self._new(max(n_rows, 2 * capacity), column.dtype)
                launch.copy(column.memory, grown.memory, column.nbytes)
                self._columns[at] = grown
        self.n_rows = max(self.n_rows, n_rows)

    def _have_rows(self, size: int, launch: Launcher | None = None) -> None:
        """Make space for a list of `size` rows. With `launch`, the present list is kept."""
        if size > self._rows.size:
            before, self._rows = self._rows, self._new(size)
            if launch is not None:
                launch.copy(before.memory, self._rows.memory, before.nbytes)

    def _have_lists(self, size: int) -> None:
        """Make space for `size` edges in both lists, which lose their contents if that is new."""
        if size > self._lists[0].size:
            size = max(size, min(2 * self._lists[0].size, self.n_vertices))
            self._lists = [self._new(0, _EDGE)]  # frees memory
            self._lists = [self._new(size, _EDGE), self._new(size, _EDGE)]

    def _read_count(self, most: int, launch: Launcher) -> int:
        return launch.read_count(self._count.memory, most)
