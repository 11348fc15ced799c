"""Edges of a stream on a device, chunk by chunk, and what kernels make of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from clmst.core.weight_keys import Array, WeightKind, weight_kind_or_none
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/edge_stream/edge_stream.cl"

NO_FAULT = 0xFFFFFFFF  # of edge_stream.cl

WORD, LONG = np.dtype(np.uint32), np.dtype(np.uint64)

# The marked edges of a chunk: their positions, and a word with how many there are.
Marks: TypeAlias = tuple[DeviceArray, DeviceArray]
Columns: TypeAlias = tuple[Array, Array, Array, Array]  # u, v, weights and ids on the host


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgeChunk:
    """Consecutive edges of a stream, with ends of uint32.

    Their ids follow `first_id`, unless there is an array of uint64 that has them.
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
        return replace(self, u=self.u[:end], v=self.v[:end], weights=self.weights[:end], ids=ids)


class FaultyEdgeError(Exception):
    """An invalid edge of a chunk, at a position `at`."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class EdgeKernels(ABC):
    """Kernels of a `source` that take the chunks of a stream; `dtype` is of the weights."""

    def __init__(
        self, *, n_vertices: int, dtype: np.dtype[Any], launch: Launcher, maximum: bool, source: str
    ) -> None:
        self.n_vertices, self.dtype, self._launch = n_vertices, dtype, launch
        self._defines = defines(dtype, maximum=maximum)
        self._program = launch.device.program(source, **self._defines)
        self._word = DeviceArray.unchecked(1, WORD, launch.device)

    @abstractmethod
    def mark(self, chunk: EdgeChunk) -> Marks:
        """Enqueue a search for the edges that count; only one is under way at a time."""

    @abstractmethod
    def take(self, chunk: EdgeChunk, marks: Marks | None = None) -> None:
        """Take the marked edges of a chunk, of a search that may be enqueued already; waits.

        Raises
        ------
        FaultyEdgeError
            An end is no vertex, or a weight is NaN; nothing of the chunk is taken.
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

    def _count(self, marks: Marks) -> int:
        """Return how many edges the last search has found, or raise as :meth:`take`; waits."""
        fault = self._launch.read_word(self._word.memory)
        if fault != NO_FAULT:
            raise FaultyEdgeError(fault)
        return self._launch.read_word(marks[1].memory)


def defines(dtype: np.dtype[Any], *, maximum: bool) -> dict[str, int]:
    """Return the macros of kernels for weights of a dtype."""
    kind: WeightKind | None = weight_kind_or_none(dtype)
    assert kind is not None, "dtypes are checked when a stream is made"
    return weight_defines(8 * dtype.itemsize, kind, maximum=maximum)
