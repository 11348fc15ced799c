"""A forest by passes over a stream, where a device has no space for reductions.

A reduction takes more than a hundred bytes a vertex. Borůvka's algorithm by passes takes 28, and
reads the stream once for each of its rounds (``cl/algorithms/edge_stream/passes.cl``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.algorithms.edge_stream import passes
from clmst.algorithms.edge_stream.passes import EdgePasses, in_canonical_order
from clmst.algorithms.families import EDGE_PASSES
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.runtime.failures import Guard
from clmst.runtime.kernel_family import case_of
from clmst.scale.checkpoint import Position
from clmst.scale.edge_part import EdgePart, joined
from clmst.scale.stream_sink import StreamSink, bytes_of_row, most_rows

_LEAST_ROWS = 64  # at once; with fewer, nothing but launches would take time


class Passes(StreamSink):
    """A sink that finds the forest of a stream that is read several times.

    Earlier passes, `n_passes` of them, may have found edges of the forest, `known`. What is `given`
    is as of :class:`StreamSink`, of one vertex at least.

    Raises
    ------
    OutOfDeviceMemoryError
        The limit does not hold the vertices.
    UnsupportedDeviceError
        The device fails the self-test of passes.
    """

    reductions = n_filtered = 0

    def __init__(
        self, *, dtype: np.dtype[Any], is_generated: bool, known: EdgePart | None, n_passes: int,
        **given: Any,
    ) -> None:  # fmt: skip
        super().__init__(**given)
        rows = self._rows_of_chunk(dtype, is_generated=is_generated)
        self._device.trust.require(EDGE_PASSES, case_of(dtype, maximum=self._maximum))
        with self._device.lock, Guard(self._device):
            self._passes = EdgePasses(
                n_vertices=self._n_vertices, dtype=dtype, launch=self._launch, rows=rows,
                maximum=self._maximum,
            )  # fmt: skip
        self._open(self._passes, dtype, rows, is_generated=is_generated)
        self._found = [EdgePart.empty(dtype)]
        self.n_passes = n_passes + 1
        if known is not None:
            self._join(known)

    @property
    def n_forest(self) -> int:
        """Edges of the forest so far."""
        return sum(part.size for part in self._found)

    def _rows_of_chunk(self, dtype: np.dtype[Any], *, is_generated: bool) -> int:
        """Return how many edges are on the device at once, within the limit."""
        device, n, limit = self._device, self._n_vertices, self._limit
        needed = n * passes.bytes_of_vertex(dtype)
        a_row = bytes_of_row(dtype, is_generated=is_generated)
        a_row += passes.bytes_of_row(dtype)  # as many of the forest leave at once
        rows = min(most_rows(device, is_generated=is_generated), (limit - needed) // a_row)
        if rows < _LEAST_ROWS:
            raise OutOfDeviceMemoryError(
                f"{limit} bytes of {device.description} are too few for {n} vertices: passes over "
                f"the stream, which take the least, need {needed} and space for a chunk of it; the "
                "memory limit must be greater, or the device larger"
            )
        return rows

    def _join(self, forest: EdgePart) -> None:
        """Join the components that the edges of a forest join, by passes over these."""
        while not self._passes.is_done:
            for begin in range(0, forest.size, self._rows):
                some = forest.take(slice(begin, begin + self._rows))
                with self._device.lock, Guard(self._device):
                    self._passes.take(some.on_device(self._device))
            with self._device.lock, Guard(self._device):
                for _ in self._passes.end_pass():  # the forest has them
                    pass
        self._found = [forest]

    def end(self) -> bool:
        """End a reading of the stream; return whether the forest is found."""
        self.flush()
        with self._device.lock, Guard(self._device):
            self._found += [EdgePart.of_columns(columns) for columns in self._passes.end_pass()]
        return self._passes.is_done

    def begin_again(self) -> None:
        """Begin the next reading."""
        self.n_passes += 1
        self.begin_at(Position())

    def edges_so_far(self) -> EdgePart:
        """Return the edges of the forest that the passes have found, in the order of passes."""
        self._found = [joined(self._found)]
        return self._found[0]

    def forest(self) -> EdgePart:
        """Return the forest, in canonical order; after :meth:`close`, once it is found."""
        found = self.edges_so_far()
        del self._passes, self._kernels
        self._free.clear()
        self._chunk = None
        with self._device.lock, Guard(self._device):
            self._device.release_memory()  # of the passes: the sort takes no more than they did
            columns = in_canonical_order(
                found.columns, n_vertices=self._n_vertices, launch=self._launch
            )
        return EdgePart.of_columns(columns)
