"""Edges of a stream on a device; host side of ``cl/algorithms/edge_stream/edge_stream.cl``.

The forest of all edges so far comes first in the buffer, and the edges that wait for the next
reduction follow. As a rule ids rise from chunk to chunk, so a stable sort by ends leaves parallel
edges in the order of their ids. If ids do not rise, the device looks for parallel edges in another
order, and where there are any it sorts by ids first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms.proof.claim import Claim
from clmst.algorithms.proof.tree import TreeBuilder
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import new_flags
from clmst.core.errors import DeviceError
from clmst.core.weight_keys import WeightKind, weight_kind_or_none
from clmst.primitives.monoid import Monoid
from clmst.primitives.permute import number
from clmst.primitives.scan import inclusive_scan
from clmst.primitives.selection import positions_of
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.deferred_graph import graph_on_device
from clmst.runtime.device_graph import DeviceGraph, weight_defines
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program

SOURCE = "algorithms/edge_stream/edge_stream.cl"

NO_FAULT = 0xFFFFFFFF  # of edge_stream.cl

_WORD, _LONG = np.dtype(np.uint32), np.dtype(np.uint64)
_GREATEST = Monoid.maximum(np.uint32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgeChunk:
    """Consecutive edges of a stream.

    Attributes
    ----------
    u, v : DeviceArray of uint32, shape (m,)
    weights : DeviceArray of the weights' dtype, shape (m,)
    first_id : int
        The id of the first one; the others follow.
    ids : DeviceArray of uint64, shape (m,), optional
        The ids, if they do not follow one another.
    """

    u: DeviceArray
    v: DeviceArray
    weights: DeviceArray
    first_id: int
    ids: DeviceArray | None = None

    @property
    def size(self) -> int:
        """Number of edges."""
        return self.u.size

    def before(self, end: int) -> EdgeChunk:
        """Return the edges before a position."""
        ids = None if self.ids is None else self.ids[:end]
        return EdgeChunk(
            u=self.u[:end], v=self.v[:end], weights=self.weights[:end], first_id=self.first_id,
            ids=ids,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Marks:
    """Which edges of a chunk may enter the forest; the device may still be at it.

    Attributes
    ----------
    positions : DeviceArray of uint32, shape (m,)
    count : DeviceArray of uint32, shape (1,)
        How many positions there are.
    """

    positions: DeviceArray
    count: DeviceArray


class FaultyEdgeError(Exception):
    """A chunk has an invalid edge.

    Attributes
    ----------
    at : int
        Its position in the chunk.
    """

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SortedEdges:
    """The edges of a buffer as a graph.

    Attributes
    ----------
    graph : DeviceGraph
        Its slots are the edges in canonical order, parallel ones by their ids.
    numbers : DeviceArray of uint32, shape (m,)
        Which edge of the buffer is in each slot.
    """

    graph: DeviceGraph
    numbers: DeviceArray


class EdgeBuffer:
    """The forest of the edges so far, and the edges that wait, on a device.

    Parameters
    ----------
    n_vertices : int
    dtype : numpy.dtype
        Of the weights.
    capacity : int
        Edges of the forest and waiting ones, at most 2**32 - 1.
    launch : Launcher
    maximum : bool

    Attributes
    ----------
    u, v, weights, ids : DeviceArray, shape (capacity,)
    size : int
        Edges in the buffer.
    n_forest : int
        Edges of the forest among them.
    limits : DeviceArray of uint32, or of uint64 for weights of 64 bits, shape (n,), or None
        What the forest says of all other edges, once there is one.
    trees : DeviceArray of uint32, shape (n,), or None
        The tree of each vertex, if several trees have edges.
    next_id : int or None
        Greater than all ids so far; None if ids have not risen from chunk to chunk.
    """

    def __init__(
        self, *, n_vertices: int, dtype: np.dtype[Any], capacity: int, launch: Launcher,
        maximum: bool,
    ) -> None:  # fmt: skip
        device = launch.device
        self.n_vertices, self.capacity, self.launch = n_vertices, capacity, launch
        self.maximum, self.size, self.n_forest = maximum, 0, 0
        self.u, self.v, self.weights, self.ids = _columns(capacity, dtype, launch)
        self.limits: DeviceArray | None = None
        self.trees: DeviceArray | None = None
        self.next_id: int | None = 0
        self._fault = DeviceArray.unchecked(1, _WORD, device)
        self._program = device.program(SOURCE, **defines(dtype, maximum=maximum))

    @property
    def space(self) -> int:
        """How many edges the buffer can still take."""
        return self.capacity - self.size

    # ------------------------------------------------------------------- chunks

    def narrowed(self, u: DeviceArray, v: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Return ends as :func:`narrowed` does."""
        return narrowed(u, v, self._program, self.launch)

    def mark(self, chunk: EdgeChunk, begin: int = 0) -> Marks:
        """Enqueue a search for the edges of a chunk that may enter the forest.

        Edges before position `begin` are left out. Only one search is under way at a time.
        """
        launch, m = self.launch, chunk.size
        limits = chunk.u if self.limits is None else self.limits
        trees = chunk.u if self.trees is None else self.trees
        stays = new_flags(m, launch.device)
        launch.fill(self._fault.memory, NO_FAULT, 1)
        launch.for_each(
            self._program, "edge_stream_mark", m, chunk.u, chunk.v, chunk.weights,
            limits, trees, stays, self._fault, self.n_vertices, m,
            begin, int(self.limits is not None), int(self.trees is not None),
        )  # fmt: skip
        positions, count = positions_of(stays, at_most=m, launch=launch)
        return Marks(positions=positions, count=count)

    def read_count(self, marks: Marks) -> int:
        """Return how many edges the last search has found; waits.

        Raises
        ------
        FaultyEdgeError
            An end is no vertex, or a weight is NaN.
        """
        fault = self.launch.read_word(self._fault.memory)
        if fault != NO_FAULT:
            raise FaultyEdgeError(fault)
        return self.launch.read_word(marks.count.memory)

    def append(self, chunk: EdgeChunk, marks: Marks, count: int) -> None:
        """Enqueue that the first so many marked edges wait; there must be space for them."""
        self.launch.for_each(
            self._program, "edge_stream_append", count, marks.positions, chunk.u, chunk.v,
            chunk.weights, chunk.ids, self.u, self.v, self.weights, self.ids, self.size, count,
            np.uint64(chunk.first_id),
        )  # fmt: skip
        self.size += count
        self._note_order(chunk)

    def _note_order(self, chunk: EdgeChunk) -> None:
        """Note whether the ids of a chunk, of which some more may be appended, go on rising."""
        known, end = self.next_id, chunk.first_id + chunk.size
        if known is None or chunk.ids is not None or chunk.first_id < known != end:
            self.next_id = None
        else:
            self.next_id = end

    # ---------------------------------------------------------------- reduction

    def sorted(self) -> SortedEdges:
        """Return the edges as a graph; waits. O(size) space beside it, while it is made.

        Radix sort of ``2 log2(n)`` bits, unless the edges came in canonical order.
        """
        launch, n, m, device = self.launch, self.n_vertices, self.size, self.launch.device
        bits = bits_of(n)
        keys = DeviceArray.unchecked(m, _LONG, device)
        numbers = DeviceArray.unchecked(m, _WORD, device)
        self._sort_by_ends(keys, numbers, has_numbers=False)
        if self.next_id is None and self._is_disordered(keys, numbers):
            launch.copy(self.ids.memory, keys.memory, keys.nbytes)
            number(launch, numbers)
            sort_by_key(keys, numbers, keys_out=keys, values_out=numbers, launch=launch)
            self._sort_by_ends(keys, numbers, has_numbers=True)
        indices = DeviceArray.unchecked(m, _WORD, device)
        weights = DeviceArray.unchecked(m, self.weights.dtype, device)
        indptr = DeviceArray.unchecked(n + 1, _WORD, device)
        launch.fill(indptr.memory, 0, n + 1)
        launch.for_each(
            self._program, "edge_stream_list", m, keys, numbers, self.weights, indices, weights,
            indptr, m, bits,
        )  # fmt: skip
        inclusive_scan(indptr, monoid=_GREATEST, out=indptr, launch=launch)
        graph = graph_on_device(indptr, indices, weights, is_symmetric=False)
        return SortedEdges(graph=graph, numbers=numbers)

    def _sort_by_ends(self, keys: DeviceArray, numbers: DeviceArray, *, has_numbers: bool) -> None:
        """Sort the edges, or their numbers in an order that they have, stably; may wait."""
        bits, m = bits_of(self.n_vertices), self.size
        self.launch.for_each(
            self._program, "edge_stream_key", m, self.u, self.v, keys, numbers, m, bits,
            int(has_numbers),
        )  # fmt: skip
        if has_numbers or self._is_disordered(keys, numbers):
            sort_by_key(
                keys, numbers, key_bits=2 * bits, keys_out=keys, values_out=numbers,
                launch=self.launch,
            )  # fmt: skip

    def _is_disordered(self, keys: DeviceArray, numbers: DeviceArray) -> bool:
        """Return whether edges are out of canonical order, parallel ones by their ids; waits."""
        launch, m = self.launch, self.size
        launch.fill(self._fault.memory, 0, 1)
        launch.for_each(
            self._program, "edge_stream_find_disorder", m, keys, numbers, self.ids, self._fault, m
        )
        return launch.read_word(self._fault.memory) != 0

    def take(self, forest: DeviceForest, numbers: DeviceArray) -> None:
        """Replace the buffer by its forest; not waited for.

        Parameters
        ----------
        forest : DeviceForest
            Of the graph of :meth:`sorted`.
        numbers : DeviceArray
            Of :class:`SortedEdges`.
        """
        launch, k = self.launch, forest.n_edges
        taken = _columns(k, self.weights.dtype, launch)
        launch.for_each(
            self._program, "edge_stream_take", k, forest.slots, forest.edges, numbers,
            self.weights, self.ids, *taken, k,
        )  # fmt: skip
        for column, own in zip(taken, (self.u, self.v, self.weights, self.ids), strict=True):
            launch.copy(column.memory, own.memory, column.nbytes)
        self.size = self.n_forest = k

    def limit_by(self, forest: DeviceForest) -> None:
        """Compute the limits of all vertices from a forest of the buffer's edges; waits.

        Raises
        ------
        DeviceError
            The forest has a cycle, which shows that the device computes wrongly.
        """
        launch, n = self.launch, self.n_vertices
        self.limits = self.trees = None
        if forest.n_edges == 0:
            return
        claim = Claim(forest)
        tree = TreeBuilder(n, forest.n_edges, launch).build(claim.list_edges)
        if tree is None:
            raise DeviceError(
                f"{launch.device.description} made a forest of {forest.n_edges} edges that has a "
                "cycle; its results cannot be relied on"
            )
        wide = self.weights.dtype.itemsize == 8
        limits = DeviceArray.unchecked(n, _LONG if wide else _WORD, launch.device)
        trees = DeviceArray.unchecked(n if tree.has_trees else 1, _WORD, launch.device)
        launch.for_each(
            self._program, "edge_stream_limit", n, tree.reaches, tree.tops,
            claim.keys or tree.state, limits, trees, n, int(tree.has_trees),
        )  # fmt: skip
        self.limits, self.trees = limits, trees if tree.has_trees else None


def narrowed(
    u: DeviceArray, v: DeviceArray, program: Program, launch: Launcher
) -> tuple[DeviceArray, DeviceArray]:
    """Return ends of 64 bits, signed or not, as ends of 32; not waited for.

    What is no number of 32 bits becomes 2**32 - 1, which is no vertex. `program` is SOURCE for any
    weights.
    """
    m = u.size
    narrow_u, narrow_v = (DeviceArray.unchecked(m, _WORD, launch.device) for _ in range(2))
    launch.for_each(program, "edge_stream_narrow", m, u, v, narrow_u, narrow_v, m)
    return narrow_u, narrow_v


def defines(dtype: np.dtype[Any], *, maximum: bool) -> dict[str, int]:
    """Return the macros of SOURCE for weights of a dtype."""
    kind: WeightKind | None = weight_kind_or_none(dtype)
    assert kind is not None, "dtypes are checked when a stream is made"
    return weight_defines(8 * dtype.itemsize, kind, maximum=maximum)


def _columns(size: int, dtype: np.dtype[Any], launch: Launcher) -> tuple[DeviceArray, ...]:
    """Return arrays for u, v, weights and ids of so many edges, contents undefined."""
    dtypes = (_WORD, _WORD, dtype, _LONG)
    return tuple(DeviceArray.unchecked(size, one, launch.device) for one in dtypes)
