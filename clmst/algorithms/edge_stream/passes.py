"""Borůvka's algorithm by passes over a stream of edges.

The kernels are in ``cl/algorithms/edge_stream/passes.cl``. The device stores a label and the best
edge of every vertex, and one chunk of the stream. After each pass the new edges of the forest are
copied to the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream.edges import (
    LONG,
    NO_FAULT,
    WORD,
    EdgeChunk,
    EdgeKernels,
    EdgePart,
)
from clmst.algorithms.shared.solution import new_flags
from clmst.core.errors import DeviceError
from clmst.primitives.permute import number
from clmst.primitives.selection import positions_of
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/edge_stream/passes.cl"

# The best edge of a component is the lightest edge so far that leaves it. It is stored as several
# words (passes.cl), whose names are in _BEST. The first three constants are positions in _BEST: of
# the trailing word of the key, of the lesser end, and of the lower word of the id. _GREATEST is the
# value of all words before a pass.
_TRAILING, _LOW, _ID_LOWER = 1, 2, 5
_GREATEST = 0xFFFFFFFF
_MOST_LAUNCHES = 16  # each launch follows 33 times as many pointers, which is enough for any tree
_BEST = ("leading", "trailing", "low", "high", "id_upper", "id_lower")


def bytes_of_vertex(dtype: np.dtype[Any]) -> int:
    """Return the bytes of device memory for each vertex, with weights of this dtype.

    They hold the component of the vertex, the lightest edge that leaves the component, and the
    weight of this edge.
    """
    n_best = len(_BEST) if dtype.itemsize == 8 else len(_BEST) - 1
    return 4 * (1 + n_best) + dtype.itemsize


def bytes_of_row(dtype: np.dtype[Any]) -> int:
    """Return the bytes of device memory for each edge of a chunk, with weights of this dtype.

    A chunk is a part of the stream that the device processes at a time. The bytes hold the two
    ends, the id and the weight of the edge, a flag, and a position.
    """
    return 4 + 4 + 8 + dtype.itemsize + 1 + 4


class EdgePasses(EdgeKernels):
    """Borůvka's algorithm, in which each round is one pass over all edges of a stream.

    There must be at least one vertex. Up to `rows` edges of the forest are copied to the host
    together. `is_done` is True once the forest is complete.

    A pass at least halves the number of components that have an edge to another one, so there are
    at most log2(n) passes. Each takes O(m + n). The device memory is :func:`bytes_of_vertex` times
    n.
    """

    def __init__(self, *, rows: int, **given: Any) -> None:
        super().__init__(source=SOURCE, **given)
        self._rows, self.is_done = rows, False
        n, launch, device = self.n_vertices, self._launch, self._launch.device
        self._labels = DeviceArray.unchecked(n, WORD, device)
        self._weights = DeviceArray.unchecked(n, self.dtype, device)
        self._best = {
            name: DeviceArray.unchecked(n, WORD, device)
            for name in _BEST
            if name != "trailing" or self.dtype.itemsize == 8
        }
        number(launch, self._labels)
        self._begin_pass()

    def mark(self, chunk: EdgeChunk) -> EdgeChunk:
        """Enqueue a search for the edges of a chunk that may be the lightest of a component.

        Edges are compared by several 32-bit words, of which the first contain the weight, the next
        ones the ends, and the last ones the id. The search computes the minimum of the first word
        for each component, and finds the edges that have it. Returns a copy of the chunk whose
        `marked` will have the positions of these edges.
        """
        launch, m = self._launch, chunk.size
        stays = new_flags(m, launch.device)
        launch.fill(self._word.memory, NO_FAULT, 1)
        self._each(
            "offer", m, chunk.u, chunk.v, chunk.weights, self._labels, stays, self._word,
            self.n_vertices, m, *self._words,
        )  # fmt: skip
        return replace(chunk, marked=positions_of(stays, at_most=m, launch=launch))

    def take(self, chunk: EdgeChunk) -> None:
        """Compare the edges of a chunk with the lightest edge so far that leaves each component.

        A chunk is a part of the stream of edges. The lighter one is kept. The call waits for the
        device.
        """
        positions, found = self._found(self.mark(chunk) if chunk.marked is None else chunk)
        given = (positions, chunk.u, chunk.v, chunk.weights, chunk.ids, self._labels)
        first_id = np.uint64(chunk.first_id)
        for word in range(_TRAILING if self.dtype.itemsize == 8 else _LOW, _ID_LOWER + 1):
            self._each("settle_word", found, *given, found, first_id, word, *self._words)
        self._each(
            "note_weights", found, *given, self._weights, found, first_id, *self._words
        )  # fmt: skip

    def end_pass(self) -> Iterator[EdgePart]:
        """Join components along the lightest edge of each, and yield these edges in parts.

        The call waits for the device. The caller must exhaust the iterator before it begins the
        next pass.

        Raises
        ------
        DeviceError
            There are fewer lightest edges than there must be, or they form a cycle.
        """
        launch, n = self._launch, self.n_vertices
        targets = self._best["leading"]  # the pass does not need this array any more
        launch.fill(self._word.memory, 0, 1)
        self._each(
            "choose", n, self._labels, self._best["low"], self._best["high"], targets, self._word,
            n,
        )  # fmt: skip
        active, joined = launch.read_word(self._word.memory), 0
        for begin in range(0, n if active else 0, self._rows):
            part = self._taken(targets, begin, min(self._rows, n - begin))
            joined += part.size
            if part.size:
                yield part
        if 2 * joined < active:
            raise self._wrong(f"{active} components chose edges, and {joined} of these are new")
        self.n_forest += joined
        # `active` is the number of components that have an edge to another component. `joined` is
        # the number of edges by which they are joined now. If at most one component remains of
        # them, no edge joins two components any more.
        self.is_done = active - joined <= 1
        self._join(targets)
        self._begin_pass()

    def _taken(self, targets: DeviceArray, begin: int, count: int) -> EdgePart:
        """Read the new edges of the forest that `count` components from `begin` on have chosen.

        `targets` has the component to which each component is joined, and is indexed by the vertex
        that names the component. The call waits for the device.
        """
        launch, device, best = self._launch, self._launch.device, self._best
        flags = new_flags(count, device)
        self._each("flag_joined", count, targets, flags, begin, count)
        positions, found = positions_of(flags, at_most=count, launch=launch)
        k = launch.read_count(found.memory, count)
        dtypes = (WORD, WORD, LONG, self.dtype)
        u, v, ids, weights = (DeviceArray.unchecked(k, dtype, device) for dtype in dtypes)
        self._each(
            "take_joined", k, positions, self._weights, best["low"], best["high"],
            best["id_upper"], best["id_lower"], u, v, ids, weights, begin, k,
        )  # fmt: skip
        return EdgePart(
            u=u.to_host(), v=v.to_host(), weights=weights.to_host(),
            edge_ids=ids.to_host().view(np.int64),
        )  # fmt: skip

    def _join(self, targets: DeviceArray) -> None:
        """Give each vertex the label of the component to which the vertex now belongs.

        `targets` has the component to which each component is joined. These pointers are followed
        to their roots, which name the new components. The call waits for the device. Raises
        DeviceError if the pointers have a cycle.
        """
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
        """The arrays with the words of best edges, one array for each word, as kernel arguments.

        A best edge is the lightest edge so far that leaves a component. Only 64-bit weights have
        trailing words. For other weights, a dummy, which is never read, takes the place of that
        array.
        """
        return tuple(self._best.get(name, self._word) for name in _BEST)

    def _each(self, name: str, n_items: int, *arguments: Any) -> None:
        self._launch.for_each(self._program, f"edge_stream_passes_{name}", n_items, *arguments)


def in_canonical_order(part: EdgePart, *, n_vertices: int, launch: Launcher) -> EdgePart:
    """Sort the edges of a forest into canonical order.

    `part` has the edges, on the host, of a graph of `n_vertices` vertices. The lesser end of each
    edge must be in `u`. The device sorts by ``2 log2(n)`` bits (radix sort), and needs 24 bytes for
    each edge. The call waits for the device.
    """
    u, v = part.u, part.v
    if not u.size:
        return part
    bits = np.uint64(bits_of(n_vertices))
    pairs = u.astype(np.uint64)
    pairs <<= bits
    pairs |= v
    keys = DeviceArray.from_host(pairs, launch.device)
    positions = DeviceArray.unchecked(u.size, WORD, launch.device)
    number(launch, positions)
    sort_by_key(
        keys, positions, key_bits=2 * int(bits), keys_out=keys, values_out=positions, launch=launch
    )
    pairs, order = keys.to_host(), positions.to_host()
    v = (pairs & (np.uint64(1) << bits) - np.uint64(1)).astype(np.uint32)
    pairs >>= bits
    # All positions are in range. With "clip", NumPy does not check that, so it takes a third of the
    # time.
    weights, ids = (column.take(order, mode="clip") for column in (part.weights, part.edge_ids))
    return EdgePart(u=pairs.astype(np.uint32), v=v, weights=weights, edge_ids=ids)
