"""Borůvka's algorithm by passes; host side of ``cl/algorithms/edge_stream/passes.cl``.

On the device are a label and the best edge of every vertex, and a chunk of the stream. Edges of the
forest leave for the host after each pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream import edges
from clmst.algorithms.edge_stream.edges import (
    NO_FAULT,
    EdgeChunk,
    FaultyEdgeError,
    Marks,
    defines,
)
from clmst.algorithms.edge_stream.reducer import Columns
from clmst.algorithms.shared.solution import new_flags
from clmst.core.errors import DeviceError
from clmst.primitives.selection import positions_of
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/edge_stream/passes.cl"

# Words of passes.cl behind the leading one, and what they are before a pass.
_TRAILING, _LOW, _ID_LOWER = 1, 2, 5
_GREATEST = 0xFFFFFFFF
_MOST_LAUNCHES = 16  # each takes a vertex 33 times as far up its tree; no tree is so high
_BEST = ("leading", "trailing", "low", "high", "id_upper", "id_lower")

_WORD, _LONG = np.dtype(np.uint32), np.dtype(np.uint64)


def bytes_of_vertex(dtype: np.dtype[Any]) -> int:
    """Return what passes over edges take of a device for each vertex: label, best edge, weight."""
    return 4 * (1 + _n_best(dtype)) + dtype.itemsize


def bytes_of_row(dtype: np.dtype[Any]) -> int:
    """Return what they take for each edge of a chunk: the edge, its id, a mark, a position."""
    return 4 + 4 + 8 + dtype.itemsize + 1 + 4


def _n_best(dtype: np.dtype[Any]) -> int:
    return len(_BEST) if dtype.itemsize == 8 else len(_BEST) - 1


class EdgePasses:
    """The components that passes over all edges have joined so far.

    Parameters
    ----------
    n_vertices : int
        One at least.
    dtype : numpy.dtype
        Of the weights.
    launch : Launcher
    rows : int
        Edges of the forest that are taken together, at most; memory for so many is used.
    maximum : bool

    Attributes
    ----------
    n_forest : int
        Edges of the forest so far.
    is_done : bool
        Whether no edge joins two components any more, of those that the last pass had.

    Notes
    -----
    A pass at least halves the number of components that edges still leave, so there are
    log2(n) passes at most. Each is O(m + n). Memory: :func:`bytes_of_vertex` times n.
    """

    def __init__(
        self, *, n_vertices: int, dtype: np.dtype[Any], launch: Launcher, rows: int, maximum: bool
    ) -> None:
        device = launch.device
        self.n_vertices, self.dtype, self._launch, self._rows = n_vertices, dtype, launch, rows
        self.n_forest, self.is_done, self._maximum = 0, False, maximum
        self._program = device.program(SOURCE, **defines(dtype, maximum=maximum))
        self._labels = DeviceArray.unchecked(n_vertices, _WORD, device)
        self._weights = DeviceArray.unchecked(n_vertices, dtype, device)
        self._best = {
            name: DeviceArray.unchecked(n_vertices, _WORD, device)
            for name in _BEST
            if name != "trailing" or dtype.itemsize == 8
        }
        self._word = DeviceArray.unchecked(1, _WORD, device)
        self._each("begin", n_vertices, self._labels, n_vertices)
        self._begin_pass()

    def narrowed(self, u: DeviceArray, v: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Return ends of 64 bits as ends of 32, as :func:`edges.narrowed`."""
        device, kind = self._launch.device, defines(self.dtype, maximum=self._maximum)
        return edges.narrowed(u, v, device.program(edges.SOURCE, **kind), self._launch)

    def mark(self, chunk: EdgeChunk) -> Marks:
        """Enqueue a search for the edges of a chunk that may be the best of their components.

        It settles the first word of their order. Only one search is under way at a time.
        """
        launch, m = self._launch, chunk.size
        stays = new_flags(m, launch.device)
        launch.fill(self._word.memory, NO_FAULT, 1)
        self._each(
            "offer", m, chunk.u, chunk.v, chunk.weights, self._labels, stays, self._word,
            self.n_vertices, m, *self._words,
        )  # fmt: skip
        positions, count = positions_of(stays, at_most=m, launch=launch)
        return Marks(positions=positions, count=count)

    def take(self, chunk: EdgeChunk, marks: Marks | None = None) -> None:
        """Find the best edge of each component among those of a chunk and the ones before; waits.

        Parameters
        ----------
        chunk : EdgeChunk
        marks : Marks, optional
            Of the chunk, if the search has been enqueued already.

        Raises
        ------
        FaultyEdgeError
            An end is no vertex, or a weight is NaN.
        """
        launch = self._launch
        marks = self.mark(chunk) if marks is None else marks
        fault = launch.read_word(self._word.memory)
        if fault != NO_FAULT:
            raise FaultyEdgeError(fault)
        found = launch.read_word(marks.count.memory)
        given = (marks.positions, chunk.u, chunk.v, chunk.weights, chunk.ids, self._labels)
        first_id = np.uint64(chunk.first_id)
        for word in range(_TRAILING if self.dtype.itemsize == 8 else _LOW, _ID_LOWER + 1):
            self._each("settle_word", found, *given, found, first_id, word, *self._words)
        self._each(
            "note_weights", found, *given, self._weights, found, first_id, *self._words
        )  # fmt: skip

    def end_pass(self) -> Iterator[Columns]:
        """Join components along their best edges; yield these, as arrays of the host.

        All of them must be taken before the next pass begins.

        Raises
        ------
        DeviceError
            There are fewer than there must be, or they make no trees, which shows that the device
            computes wrongly.
        """
        launch, n = self._launch, self.n_vertices
        targets = self._best["leading"]  # of which the pass has no use any more
        launch.fill(self._word.memory, 0, 1)
        self._each(
            "choose", n, self._labels, self._best["low"], self._best["high"], targets, self._word,
            n,
        )  # fmt: skip
        active, joined = launch.read_word(self._word.memory), 0
        for begin in range(0, n if active else 0, self._rows):
            columns = self._taken(targets, begin, min(self._rows, n - begin))
            joined += columns[0].size
            if columns[0].size:
                yield columns
        if 2 * joined < active:
            raise self._wrong(f"{active} components chose edges, and {joined} of these are new")
        self.n_forest += joined
        self.is_done = active - joined <= 1  # one component is left of those that edges left
        self._join(targets)
        self._begin_pass()

    def _taken(self, targets: DeviceArray, begin: int, count: int) -> Columns:
        """Return the new edges of the forest at some vertices."""
        launch, device, best = self._launch, self._launch.device, self._best
        flags = new_flags(count, device)
        self._each("flag_joined", count, targets, flags, begin, count)
        positions, found = positions_of(flags, at_most=count, launch=launch)
        k = launch.read_word(found.memory)
        dtypes = (_WORD, _WORD, _LONG, self.dtype)
        u, v, ids, weights = (DeviceArray.unchecked(k, dtype, device) for dtype in dtypes)
        self._each(
            "take_joined", k, positions, self._weights, best["low"], best["high"],
            best["id_upper"], best["id_lower"], u, v, ids, weights, begin, k,
        )  # fmt: skip
        return u.to_host(), v.to_host(), weights.to_host(), ids.to_host().view(np.int64)

    def _join(self, targets: DeviceArray) -> None:
        """Give all vertices the labels of the components that their roots' edges make."""
        launch, n = self._launch, self.n_vertices
        self._each("break_cycles", n, targets, n)
        for _ in range(_MOST_LAUNCHES):
            launch.fill(self._word.memory, 0, 1)
            self._each("jump_pointers", n, targets, self._word, n)
            if not launch.read_word(self._word.memory):
                break
        else:
            raise self._wrong("the edges that components chose make no trees")
        self._each("relabel", n, targets, self._labels, n)

    def _wrong(self, fact: str) -> DeviceError:
        device = self._launch.device.description
        return DeviceError(f"{fact} on {device}; its results cannot be relied on")

    def _begin_pass(self) -> None:
        for words in self._best.values():
            self._launch.fill(words.memory, _GREATEST, self.n_vertices)

    @property
    def _words(self) -> tuple[DeviceArray, ...]:
        """The arguments of kernels; a word that weights lack is one that is never read."""
        return tuple(self._best.get(name, self._word) for name in _BEST)

    def _each(self, name: str, n_items: int, *arguments: Any) -> None:
        self._launch.for_each(self._program, f"edge_stream_passes_{name}", n_items, *arguments)
