"""Streams that can be read several times, and how each shows its edges to a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from clmst.algorithms.edge_stream import generated
from clmst.algorithms.edge_stream.edges import EdgeChunk, FaultyEdgeError
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.algorithms.edge_stream.passes import EdgePasses, bytes_of_row
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.scale import block_way
from clmst.scale.block_way import BlockWay
from clmst.scale.checkpoint import Position
from clmst.scale.edge_block import raw_rows
from clmst.scale.edge_part import EdgePart, check_same_dtype
from clmst.scale.rows import checked_parts, of_chunk, with_arrays
from clmst.scale.source import StreamPiece, StreamSource


class RereadableStream(Protocol):
    """A stream that begins anew for each pass.

    Attributes
    ----------
    n_vertices : int
    dtype : numpy.dtype
        Of the weights.
    n_edges : int or None
        Of the whole stream, if known.
    bytes_of_row : int
        What each edge takes of a device that is there at once.
    """

    n_vertices: int
    dtype: np.dtype[Any]
    n_edges: int | None
    bytes_of_row: int

    def most_rows(self, device: Device) -> int:
        """Return how many edges are shown at once at most."""

    def show(
        self, passes: EdgePasses, device: Device, rows: int, *, has_checksums: bool
    ) -> Iterator[Position]:
        """Show all edges to a pass, so many at a time; yield the position behind each time."""


class GeneratedStream:
    """Generated edges as a stream that can be read several times."""

    def __init__(self, edges: GeneratedEdges) -> None:
        self._edges, self.n_vertices = edges, edges.n_vertices
        self.dtype = edges.weight_dtype
        self.n_edges: int | None = edges.n_edges
        self.bytes_of_row = bytes_of_row(self.dtype)

    def most_rows(self, device: Device) -> int:
        """Return how many edges are generated together at most."""
        return generated.CHUNK[device.capabilities.kind]

    def show(
        self, passes: EdgePasses, device: Device, rows: int, *, has_checksums: bool
    ) -> Iterator[Position]:
        """Let the device generate all edges; what they follow from is their checksum."""
        edges, launch = self._edges, Launcher(device, device.queue)
        checksums = edges.checksums if has_checksums else Position().checksums
        for first in range(0, edges.n_edges, rows):
            size = min(rows, edges.n_edges - first)
            with device.lock, Guard(device):
                chunk = edges.new_chunk(first, size, device)
                edges.generate(chunk, launch)
                try:
                    passes.take(chunk)
                except FaultyEdgeError as error:
                    raise edges.fault_at(chunk, error.at, launch) from None
            yield Position(n_edges=first + size, checksums=checksums)


class RowStream:
    """Rows of a caller as a stream that can be read several times.

    Parameters
    ----------
    open_again : callable
        Returns the source, at its beginning.
    n_vertices : int
    dtype : numpy.dtype
        Of the weights.
    n_edges : int or None
        Of the whole stream, if known.

    Attributes
    ----------
    has_own_ids : bool
        Whether a chunk brought ids.
    """

    def __init__(
        self, open_again: Callable[[], StreamSource], *, n_vertices: int, dtype: np.dtype[Any],
        n_edges: int | None,
    ) -> None:  # fmt: skip
        self._open_again, self.n_vertices, self.dtype = open_again, n_vertices, dtype
        self.n_edges, self.has_own_ids = n_edges, False
        self.bytes_of_row = block_way.bytes_of_row(dtype)

    def most_rows(self, device: Device) -> int:
        """Return how many rows a block has at most."""
        return block_way.ROWS[device.capabilities.kind]

    def show(
        self, passes: EdgePasses, device: Device, rows: int, *, has_checksums: bool
    ) -> Iterator[Position]:
        """Send all rows as they are; the host checks those that bring their own ids."""
        position = Position()

        def behind(u: Array, v: Array, weights: Array) -> Position:
            if has_checksums:
                return position.after_rows(u, v, weights)
            return Position(n_edges=position.n_edges + u.size)

        way = BlockWay(
            n_vertices=self.n_vertices, dtype=self.dtype, device=device, rows=rows, sink=passes
        )
        try:
            for given in self._open_again().pieces:
                piece = with_arrays(given)
                if piece.edge_ids is None and piece.first_id in (None, position.n_edges):
                    for some in raw_rows(piece, lambda: way.space, dtype=self.dtype, behind=behind):
                        way.put(some)
                        position = some.after
                        yield position
                    way.wait()
                    continue
                self.has_own_ids = True
                way.flush()
                for part in self._checked(piece, position.n_edges, rows):
                    with device.lock, Guard(device):
                        chunk = on_device(part, device)
                        passes.take(chunk)
                    position = position.after(part) if has_checksums else position.counted(part)
                    yield position
                way.position = position
            way.flush()
        finally:
            way.close()

    def _checked(self, piece: StreamPiece, first: int, rows: int) -> Iterator[EdgePart]:
        for part in checked_parts(piece, lambda: rows, first_id=first, n_vertices=self.n_vertices):
            of_chunk(piece.chunk, check_same_dtype, self.dtype, part.weights.dtype)
            yield part


def on_device(edges: EdgePart, device: Device) -> EdgeChunk:
    """Return a copy of edges on a device."""
    u, v, weights, ids = (
        DeviceArray.from_host(column, device)
        for column in (edges.u, edges.v, edges.weights, edges.edge_ids.view(np.uint64))
    )
    return EdgeChunk(u=u, v=v, weights=weights, first_id=0, ids=ids)
