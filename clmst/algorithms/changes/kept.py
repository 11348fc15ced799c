"""Keep a forest on a device while edges come and go, and compute what each change does to it.

The kernels are in ``cl/algorithms/changes``. ``state.cl`` explains the kept contraction: clusters of
the forest's vertices, which Borůvka's rounds have made. A change dissolves the clusters with an end
of an edge that is inserted, becomes lighter, or leaves the forest. Only the edges between the
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
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher, check_count

SOURCE = "algorithms/changes/changes.cl"

# Bits of a row's flags: ROW_... of cl/algorithms/changes/state.cl.
PRESENT, FOREST, FRESH = 1, 2, 4

_WORD, _FLAG, _EDGE = np.dtype(np.uint32), np.dtype(np.uint8), np.dtype("V16")
# In each round, every cluster with an edge is merged with another one, so that at most half of the
# clusters remain, and 32 rounds are enough for 2**32 vertices.
_MOST_ROUNDS = 33
_ROUNDS_AT_ONCE = 6  # rounds that are enqueued before the host reads how many edges remain
_READ_FIRST = 4096  # rows that are read together with their number
_ALL = (1 << 64) - 1  # above all keys of weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of the columns, with the values of each."""

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
    u, v, weights, flags : ndarray, shape (m,)
        The columns: lesser end, greater end, weight, and PRESENT and FOREST bits of each row. The
        rows with the bit FOREST must be the minimum spanning forest of the present rows, in the
        order of (weight, u, v, row).
    device : Device
        The device that keeps the columns.
    launch : Launcher
        A launcher of the device.

    Notes
    -----
    The device's memory is 9 bytes and the weight for each row, 32 for each vertex, and in a change
    up to 36 for each open edge.
    """

    def __init__(
        self, n_vertices: int, u: Array, v: Array, weights: Array, flags: Array, device: Device,
        launch: Launcher,
    ) -> None:  # fmt: skip
        kind = weight_kind_or_none(weights.dtype)
        assert kind is not None, "dtypes are checked before"
        self.device, self.n_vertices, self.n_rows = device, n_vertices, u.size
        bits = 8 * weights.dtype.itemsize
        self._program = device.program(SOURCE, **weight_defines(bits, kind, maximum=False))
        self._columns = [DeviceArray.from_host(one, device) for one in (u, v, weights, flags)]
        names = ("parents", "levels", "dissolved", "chosen", "sets", "pieces", "even", "odd")
        self._of_vertices = {name: self._new(n_vertices) for name in names}
        self._rows, self._count = self._new(0), self._new(1)
        self._lists = [self._new(0, _EDGE), self._new(0, _EDGE)]
        self._sizes = self._new(_MOST_ROUNDS + 1)
        self._level = 0  # the level of the last round
        self._contract_all(launch)

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays in the memory of the device."""
        arrays = (*self._columns, *self._of_vertices.values(), self._rows, *self._lists)
        return sum(array.nbytes for array in arrays)

    def store(self, rows: Rows, launch: Launcher) -> None:
        """Store rows, which may be behind all others, without waiting. The forest is not updated.

        A row whose edge is new or became lighter must have the bit FRESH, and an edge that the
        forest has lost must not have the bit FOREST. The next call must be :meth:`change`.
        """
        k = rows.numbers.size
        if k:
            self._grow(int(rows.numbers.max()) + 1, launch)
            words = DeviceArray.from_host(rows.words(), self.device)
            self._each("store", k, launch, words, *self._columns, k)

    def change(
        self, marked: Array, fresh: Array, n_lost: int, limits: Sequence[int], launch: Launcher
    ) -> tuple[npt.NDArray[np.int64], dict[str, Any]]:
        """Update the forest after rows have been stored. The call waits for the device.

        Parameters
        ----------
        marked : ndarray
            The rows that are fresh, that the forest has lost, or that became lighter in it.
        fresh : ndarray
            The rows with the bit FRESH.
        n_lost : int
            The number of edges that the forest has lost.
        limits : sequence of int
            Keys of weights that rise. To replace lost edges, those up to the first limit are looked
            at first, then those up to the next one, and finally all.
        launch : Launcher
            A launcher of the device.

        Returns
        -------
        rows, stats
            The rows that have entered or left the forest, in any order, without those that were
            lost and have not entered again; and statistics.
        """
        n, of = self.n_vertices, self._of_vertices
        self._have_rows(n + fresh.size)
        first = fresh.size
        if first:
            self._rows_at(0, fresh, launch)
        launch.fill(self._count.memory, first, 1)
        on_device = DeviceArray.from_host(marked.astype(np.uint32), self.device)
        u, v, _, flags = self._columns
        clusters = of["parents"], of["levels"], of["dissolved"]
        self._each("dissolve", 2 * marked.size, launch, on_device, u, v, *clusters, marked.size)
        self._each("list_open", n, launch, *clusters, of["chosen"], self._rows, self._count, n)
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
        rounds = self._contract(k, launch)
        stats = {"open": k, "rounds": rounds, "passes": passes}
        return self._settled(k, launch), stats

    # ------------------------------------------------------------------------ parts

    def _contract_all(self, launch: Launcher) -> None:
        """Contract the whole forest. The call waits for the device.

        Raise DeviceError if the edges of the forest close a cycle.
        """
        n, m, of = self.n_vertices, self.n_rows, self._of_vertices
        clusters = of["parents"], of["levels"], of["dissolved"]
        self._each("part", n, launch, *clusters, of["sets"], n)
        self._have_rows(n)
        launch.fill(self._count.memory, 0, 1)
        self._each("list_forest", m, launch, self._columns[3], self._rows, self._count, m)
        k = self._read_count(n, launch)
        self._have_lists(k)
        self._enter(0, k, launch)
        self._begin(0, k, launch)
        self._contract(k, launch)
        if wrong := self._settled(k, launch).size:
            raise DeviceError(
                f"{self.device.description} left {wrong} of {k} edges out of a forest; its results "
                "cannot be relied on"
            )

    def _reconnect(
        self, k: int, n_lost: int, limits: Sequence[int], launch: Launcher
    ) -> tuple[int, int]:
        """List the edges that connect the pieces of a forest that has lost `n_lost` edges.

        The rows of these edges are put behind the `k` open ones. Return the number of all, and the
        number of passes over the columns. The call waits for the device.
        """
        n, m, of = self.n_vertices, self.n_rows, self._of_vertices
        clusters = of["parents"], of["levels"], of["dissolved"]
        sets, pieces, choices = of["sets"], of["pieces"], of["even"]
        self._have_rows(k + n_lost, launch)
        self._each("find_pieces", n, launch, *clusters, sets, pieces, n)
        u, v, weights, flags = self._columns
        end, passes, waiting = k, 0, [*limits, _ALL]
        while end < k + n_lost:
            most = np.uint64(waiting[0])
            self._each(
                "choose_rows", m, launch, u, v, weights, flags, pieces, sets, choices, most, m
            )
            self._each(
                "join_pieces", 2 * k, launch, self._lists[0], choices, u, v, pieces, sets,
                self._rows, self._count, k,
            )  # fmt: skip
            self._each("forget", 2 * k, launch, self._lists[0], choices, k)
            before, end = end, self._read_count(k + n_lost, launch)
            passes += 1
            if len(waiting) > 1 and not route.repeats_pass(end - before, k + n_lost - end):
                waiting.pop(0)
            elif end == before:
                break
        return end, passes

    def _enter(self, first: int, end: int, launch: Launcher) -> None:
        """Enqueue the search for the tops of listed rows from `first` to `end`."""
        of, (u, v, _, _) = self._of_vertices, self._columns
        clusters = of["parents"], of["levels"], of["dissolved"]
        lists = self._lists[0], first, end
        self._each("enter", end - first, launch, self._rows, u, v, *clusters, *lists)

    def _begin(self, first: int, end: int, launch: Launcher) -> None:
        """Enqueue the reset of the tops of listed edges from `first` to `end`."""
        of = self._of_vertices
        arrays = (of[name] for name in ("levels", "dissolved", "sets", "even", "odd"))
        self._each("begin", 2 * (end - first), launch, self._lists[0], *arrays, first, end)

    def _contract(self, k: int, launch: Launcher) -> int:
        """Contract the first `k` edges of the list, and return the number of rounds.

        The call waits for the device.
        """
        of, sizes = self._of_vertices, self._sizes
        u, v, weights, flags = self._columns
        launch.fill(sizes.memory, 0, sizes.size)
        launch.fill(sizes.memory, k, 1)
        clusters = of["parents"], of["levels"], of["chosen"]
        bound, done = k, 0
        while bound:
            for r in range(done, min(done + _ROUNDS_AT_ONCE, _MOST_ROUNDS)):
                here, there = self._lists[r % 2], self._lists[1 - r % 2]
                names = ("even", "odd") if r % 2 == 0 else ("odd", "even")
                choices, others = (of[name] for name in names)
                self._level += 1
                arrays = here, sizes, r
                self._each("choose", bound, launch, *arrays, u, v, weights, choices)
                self._each("join", bound, launch, *arrays, choices, of["sets"], flags)
                self._each(
                    "merge", bound, launch, *arrays, choices, of["sets"], *clusters, others, there,
                    self._level,
                )  # fmt: skip
            done = min(done + _ROUNDS_AT_ONCE, _MOST_ROUNDS)
            (bound,) = launch.read_words(sizes.memory, 1, first=done)
            check_count(self.device, bound, 0 if done == _MOST_ROUNDS else k)
        return done

    def _settled(self, k: int, launch: Launcher) -> npt.NDArray[np.int64]:
        """Return which of the first `k` rows have entered or left the forest.

        The call waits for the device.
        """
        changed = self._new(1 + max(k, _READ_FIRST))
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

    def _grow(self, n_rows: int, launch: Launcher) -> None:
        """Make space in the columns for rows up to `n_rows`. Columns at least double."""
        capacity = self._columns[0].size
        if n_rows > capacity:
            for at, column in enumerate(self._columns):
                grown = self._new(max(n_rows, 2 * capacity), column.dtype)
                launch.copy(column.memory, grown.memory, column.nbytes)
                self._columns[at] = grown
        self.n_rows = max(self.n_rows, n_rows)

    def _have_rows(self, size: int, launch: Launcher | None = None) -> None:
        """Make space for `size` listed rows. With `launch`, keep those that are listed."""
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

    def _rows_at(self, first: int, rows: Array, launch: Launcher) -> None:
        """Write rows to the list of rows, from position `first` on. Block until they are there."""
        launch.write(self._rows.memory, rows.astype(np.uint32))

    def _read_count(self, most: int, launch: Launcher) -> int:
        return launch.read_count(self._count.memory, most)
