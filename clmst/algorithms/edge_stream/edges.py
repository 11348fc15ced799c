"""Edges of a stream, on the host and on a device, and the kernels that take them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core import csr
from clmst.core.arguments import as_array
from clmst.core.errors import InvalidGraphError
from clmst.core.graph_checks import MAX_VERTICES
from clmst.core.weight_keys import (
    Array,
    WeightKind,
    as_weights,
    first_nan,
    nan_error,
    weight_kind_or_none,
)
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/edge_stream/edge_stream.cl"

NO_FAULT = 0xFFFFFFFF  # of edge_stream.cl
MOST_IDS = 2**63  # edge ids are int64

WORD, LONG = np.dtype(np.uint32), np.dtype(np.uint64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgeChunk:
    """Consecutive edges of a stream, with ends of uint32.

    Their ids follow `first_id`, unless there is an array of uint64 that has them. After a search
    for those that count, `marked` has their positions, and a word with how many there are.
    """

    u: DeviceArray
    v: DeviceArray
    weights: DeviceArray
    first_id: int
    ids: DeviceArray | None = None
    marked: tuple[DeviceArray, DeviceArray] | None = None

    @property
    def size(self) -> int:
        """Number of edges."""
        return self.u.size

    def before(self, end: int) -> EdgeChunk:
        """Return the edges before a position; none is marked."""
        ids = None if self.ids is None else self.ids[:end]
        return replace(
            self, u=self.u[:end], v=self.v[:end], weights=self.weights[:end], ids=ids, marked=None
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgePart:
    """Some edges of a graph in any order, with distinct ids of 64 bits.

    Of edges with equal weights and the same ends the lesser id comes first.
    """

    u: npt.NDArray[np.uint32]
    v: npt.NDArray[np.uint32]
    weights: Array
    edge_ids: npt.NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of edges."""
        return self.u.size

    def take(self, at: Any) -> EdgePart:
        """Return the edges at some positions, of a slice, or where a mask is True."""
        return EdgePart.of_columns(*(column[at] for column in self.columns))

    def owned(self) -> EdgePart:
        """Return the same edges; arrays that are parts of others are copied."""
        columns = (one if one.base is None else one.copy() for one in self.columns)
        return EdgePart.of_columns(*columns)

    @property
    def columns(self) -> tuple[Array, Array, Array, Array]:
        """Ends, weights and ids."""
        return self.u, self.v, self.weights, self.edge_ids

    @classmethod
    def of_columns(cls, u: Array, v: Array, weights: Array, edge_ids: Array) -> EdgePart:
        """Return the part of such columns; nothing is checked."""
        return cls(u=u, v=v, weights=weights, edge_ids=edge_ids)

    def on_device(self, device: Device) -> EdgeChunk:
        """Return a copy of the edges on a device."""
        u, v, weights, ids = (
            DeviceArray.from_host(column, device)
            for column in (self.u, self.v, self.weights, self.edge_ids.view(np.uint64))
        )
        return EdgeChunk(u=u, v=v, weights=weights, first_id=0, ids=ids)

    @classmethod
    def empty(cls, dtype: np.dtype[Any]) -> EdgePart:
        """Return no edges, whose weights would have this dtype."""
        none = np.zeros(0, np.uint32)
        return cls(u=none, v=none, weights=np.zeros(0, dtype), edge_ids=np.zeros(0, np.int64))

    @classmethod
    def checked(
        cls,
        u: Any,
        v: Any,
        weights: Any,
        edge_ids: Any,
        *,
        n_vertices: int,
        row: Callable[[int], str],
    ) -> EdgePart:
        """Return arrays of edges as a part, or raise :class:`InvalidGraphError`.

        Weights that are None are 1, as uint8. Ids are given as an array, or as the first of
        consecutive ones. `row` names the row at a position, for messages.
        """
        u, v = csr.check_pairs(u, v)
        weights = np.ones(u.size, np.uint8) if weights is None else as_weights(weights)
        if weights.shape != u.shape:
            raise InvalidGraphError(
                f"u and v have {u.size} entries but the weights have shape {weights.shape}; there "
                "must be one weight an edge"
            )
        for name, ends in (("u", u), ("v", v)):
            _check_ends(name, ends, n_vertices, row)
        nan = first_nan(weights)
        if nan is not None:
            raise nan_error(f"{row(nan)} ({int(u[nan])}, {int(v[nan])})")
        return cls(
            u=u.astype(np.uint32, copy=False),
            v=v.astype(np.uint32, copy=False),
            weights=weights,
            edge_ids=_checked_ids(edge_ids, u.size),
        )


def _check_ends(name: str, ends: Array, n_vertices: int, row: Callable[[int], str]) -> None:
    if not ends.size or 0 <= int(ends.min()) <= int(ends.max()) < n_vertices:
        return
    first = int(np.argmax((ends < 0) | (ends >= n_vertices)))
    raise InvalidGraphError(
        f"{name} of {row(first)} is {int(ends[first])}; it must be from 0 to below {n_vertices}"
    )


def _checked_ids(edge_ids: Any, m: int) -> npt.NDArray[np.int64]:
    if isinstance(edge_ids, int):
        if edge_ids + m > MOST_IDS:
            raise InvalidGraphError(
                f"edge ids go up to {edge_ids + m - 1}; they must be below 2**63"
            )
        return np.arange(edge_ids, edge_ids + m, dtype=np.int64)
    ids = as_array("edge ids", edge_ids, error=InvalidGraphError)
    if ids.size == 0:
        ids = ids.astype(np.int64)
    if ids.dtype.kind not in "iu" or ids.shape != (m,):
        raise InvalidGraphError(
            f"the edge ids have shape {ids.shape} and dtype {ids.dtype}; there must be one integer "
            f"for each of {m} edges"
        )
    if m and not 0 <= int(ids.min()) <= int(ids.max()) < MOST_IDS:
        raise InvalidGraphError(
            f"edge ids go from {int(ids.min())} to {int(ids.max())}; they must be from 0 to below "
            "2**63"
        )
    if (ids[1:] <= ids[:-1]).any():
        at = int(np.argmax(ids[1:] <= ids[:-1]))
        raise InvalidGraphError(
            f"edge id {int(ids[at])} comes before {int(ids[at + 1])}; ids must rise within a chunk"
        )
    return ids.astype(np.int64, copy=False)


def check_n_vertices(n_vertices: int) -> None:
    """Raise unless vertex numbers of 32 bits are enough."""
    if n_vertices > MAX_VERTICES:
        raise InvalidGraphError(
            f"the graph has {n_vertices} vertices; there may be 0 to 2**32 - 2 = {MAX_VERTICES}, "
            "in a stream as well, since vertex numbers have 32 bits there"
        )


def joined(parts: Sequence[EdgePart]) -> EdgePart:
    """Return all edges of some parts, one part after the other; raise for two dtypes of weights."""
    first = parts[0]
    for part in parts[1:]:
        check_same_dtype(first.weights.dtype, part.weights.dtype)
    if len(parts) == 1:
        return first
    columns = zip(*(part.columns for part in parts), strict=True)
    return EdgePart.of_columns(*map(np.concatenate, columns))


def check_same_dtype(one: np.dtype[Any], other: np.dtype[Any]) -> None:
    """Raise unless both are the same dtype; a conversion could round."""
    if one != other:
        raise InvalidGraphError(
            f"weights have dtype {other} after {one}; all parts of a graph must have one dtype"
        )


class FaultyEdgeError(Exception):
    """An invalid edge of a chunk, at a position `at`."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class EdgeKernels(ABC):
    """Kernels of a `source` that take the chunks of a stream; `dtype` is of the weights.

    They count the edges of the forest so far, solves, and edges that no solve had.
    """

    def __init__(
        self, *, n_vertices: int, dtype: np.dtype[Any], launch: Launcher, maximum: bool, source: str
    ) -> None:
        self.n_vertices, self.dtype, self._launch = n_vertices, dtype, launch
        self._defines = defines(dtype, maximum=maximum)
        self._program = launch.device.program(source, **self._defines)
        self._word = DeviceArray.unchecked(1, WORD, launch.device)
        self.n_forest = self.reductions = self.n_filtered = 0

    @abstractmethod
    def mark(self, chunk: EdgeChunk) -> EdgeChunk:
        """Enqueue a search for the edges that count, and return the chunk with these marked.

        Only one search is under way at a time.
        """

    @abstractmethod
    def take(self, chunk: EdgeChunk) -> None:
        """Take the marked edges of a chunk, and mark them first if they are not; waits.

        Raise :class:`FaultyEdgeError` if an end is no vertex or a weight is NaN; then nothing is
        taken.
        """

    def narrowed(self, u: DeviceArray, v: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Enqueue the narrowing of ends of 64 bits, signed or not, to 32 bits.

        Ends outside of 32 bits become 2**32 - 1, which is no vertex.
        """
        launch, m = self._launch, u.size
        narrow_u, narrow_v = (DeviceArray.unchecked(m, WORD, launch.device) for _ in range(2))
        program = launch.device.program(SOURCE, **self._defines)
        launch.for_each(program, "edge_stream_narrow", m, u, v, narrow_u, narrow_v, m)
        return narrow_u, narrow_v

    def _found(self, chunk: EdgeChunk) -> tuple[DeviceArray, int]:
        """Return the positions of marked edges, and how many there are, or raise; waits."""
        assert chunk.marked is not None, "a search is enqueued"
        positions, count = chunk.marked
        fault = self._launch.read_word(self._word.memory)
        if fault != NO_FAULT:
            raise FaultyEdgeError(fault)
        return positions, self._launch.read_word(count.memory)


def defines(dtype: np.dtype[Any], *, maximum: bool) -> dict[str, int]:
    """Return the macros of kernels for weights of a dtype."""
    kind: WeightKind | None = weight_kind_or_none(dtype)
    assert kind is not None, "dtypes are checked when a stream is made"
    return weight_defines(8 * dtype.itemsize, kind, maximum=maximum)
