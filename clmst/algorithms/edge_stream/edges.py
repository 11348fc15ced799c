"""The edges of a stream, on the host or on a device, and the base class of code that takes them."""

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

NO_FAULT = 0xFFFFFFFF  # the macro NO_FAULT of edge_stream.cl
MOST_IDS = 2**63  # because edge ids are int64

WORD, LONG = np.dtype(np.uint32), np.dtype(np.uint64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgeChunk:
    """Consecutive edges of a stream on a device, with ends of uint32.

    The ids of the edges are consecutive from `first_id` on, unless `ids` is an array of uint64 with
    the id of each edge. A search finds the edges that may enter the forest. Before it, `marked` is
    None. After it, `marked` consists of an array with the positions of these edges, and an array of
    one word with their number.
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
        """Return a chunk with the edges before position `end`, without their search results."""
        ids = None if self.ids is None else self.ids[:end]
        return replace(
            self, u=self.u[:end], v=self.v[:end], weights=self.weights[:end], ids=ids, marked=None
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgePart:
    """Some edges of a graph on the host, in any order, with distinct ids of 64 bits.

    Of two edges with equal weights and the same ends, the edge with the lesser id comes first in
    the total order.
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
        """Return some of the edges. `at` is an array of positions, a slice, or a mask."""
        return EdgePart.of_columns(*(column[at] for column in self.columns))

    def owned(self) -> EdgePart:
        """Return the edges in arrays that own their memory. Arrays that are views are copied."""
        columns = (one if one.base is None else one.copy() for one in self.columns)
        return EdgePart.of_columns(*columns)

    @property
    def columns(self) -> tuple[Array, Array, Array, Array]:
        """The four arrays of the edges: the ends u, the ends v, the weights and the ids."""
        return self.u, self.v, self.weights, self.edge_ids

    @classmethod
    def of_columns(cls, u: Array, v: Array, weights: Array, edge_ids: Array) -> EdgePart:
        """Make a set of edges from arrays of ends, weights and ids, which are not checked."""
        return cls(u=u, v=v, weights=weights, edge_ids=edge_ids)

    def on_device(self, device: Device) -> EdgeChunk:
        """Copy the edges to a device, and return them there as a chunk."""
        u, v, weights, ids = (
            DeviceArray.from_host(column, device)
            for column in (self.u, self.v, self.weights, self.edge_ids.view(np.uint64))
        )
        return EdgeChunk(u=u, v=v, weights=weights, first_id=0, ids=ids)

    @classmethod
    def empty(cls, dtype: np.dtype[Any]) -> EdgePart:
        """Return an empty set of edges, whose weights have the given dtype."""
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
        """Check arrays of edges, and make an EdgePart, which is a set of edges, of them.

        Parameters
        ----------
        u, v : array_like of int
            The ends of the edges.
        weights : array_like or None
            None gives each edge a weight of 1, as uint8.
        edge_ids : array_like of int or int
            The ids, in ascending order, or the first of consecutive ids.
        n_vertices : int
            Number of vertices. All ends must be less than it.
        row : callable
            Returns a name for the edge at a position, such as a line of a file, for error messages.

        Raises
        ------
        InvalidGraphError
            The arrays do not fit one another, an end is not a vertex, a weight is NaN, or ids are
            invalid.
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
    """Raise InvalidGraphError unless `n_vertices` vertices can be numbered in 32 bits."""
    if n_vertices > MAX_VERTICES:
        raise InvalidGraphError(
            f"the graph has {n_vertices} vertices; there may be 0 to 2**32 - 2 = {MAX_VERTICES}, "
            "in a stream as well, since vertex numbers have 32 bits there"
        )


def joined(parts: Sequence[EdgePart]) -> EdgePart:
    """Concatenate one or more sets of edges into one.

    Raises InvalidGraphError if their weights have different dtypes.
    """
    first = parts[0]
    for part in parts[1:]:
        check_same_dtype(first.weights.dtype, part.weights.dtype)
    if len(parts) == 1:
        return first
    columns = zip(*(part.columns for part in parts), strict=True)
    return EdgePart.of_columns(*map(np.concatenate, columns))


def check_same_dtype(one: np.dtype[Any], other: np.dtype[Any]) -> None:
    """Raise InvalidGraphError unless the dtypes `one` and `other` are equal.

    Weights are not converted to a common dtype, because a conversion could round them.
    """
    if one != other:
        raise InvalidGraphError(
            f"weights have dtype {other} after {one}; all parts of a graph must have one dtype"
        )


class FaultyEdgeError(Exception):
    """Raised if the edge at position `at` of a chunk, a part of a stream, is invalid."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class EdgeKernels(ABC):
    """Base class of objects that compute the forest of a stream of edges, chunk by chunk.

    `source` is the file of the kernels, `dtype` the dtype of the weights, and `maximum` asks for
    the maximum forest. Attributes count the edges of the forest so far (`n_forest`), the solves
    (`reductions`), and the edges that were left out of all solves (`n_filtered`).
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
        """Enqueue a search for the edges of a chunk that may enter the forest.

        Returns a copy of the chunk whose `marked` will have the positions of these edges when the
        search has ended. Only one search may be under way at a time.
        """

    @abstractmethod
    def take(self, chunk: EdgeChunk) -> None:
        """Take the edges of a chunk that may enter the forest.

        The call waits for the device. If :meth:`mark` has not searched the chunk yet, this is done
        first.

        Raises
        ------
        FaultyEdgeError
            An end is not a vertex or a weight is NaN. Nothing has been taken then.
        """

    def narrowed(self, u: DeviceArray, v: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Enqueue the conversion of the ends `u` and `v` from 64 bits, signed or not, to 32 bits.

        Ends that do not fit into 32 bits become 2**32 - 1, which is not a vertex.
        """
        launch, m = self._launch, u.size
        narrow_u, narrow_v = (DeviceArray.unchecked(m, WORD, launch.device) for _ in range(2))
        program = launch.device.program(SOURCE, **self._defines)
        launch.for_each(program, "edge_stream_narrow", m, u, v, narrow_u, narrow_v, m)
        return narrow_u, narrow_v

    def _found(self, chunk: EdgeChunk) -> tuple[DeviceArray, int]:
        """Return the positions and the number of the edges that :meth:`mark` has found in a chunk.

        A chunk is some edges of the stream, on the device. The call waits for the device. Raises
        FaultyEdgeError if the search has found an invalid edge.
        """
        assert chunk.marked is not None, "a search is enqueued"
        positions, count = chunk.marked
        fault = self._launch.read_word(self._word.memory)
        if fault != NO_FAULT:
            raise FaultyEdgeError(fault)
        return positions, self._launch.read_count(count.memory, chunk.size)


def defines(dtype: np.dtype[Any], *, maximum: bool) -> dict[str, int]:
    """Return the macros with which kernels are compiled for weights of a dtype.

    `maximum` asks for the maximum forest, for which heavier edges come first.
    """
    kind: WeightKind | None = weight_kind_or_none(dtype)
    assert kind is not None, "dtypes are checked when a stream is made"
    return weight_defines(8 * dtype.itemsize, kind, maximum=maximum)
