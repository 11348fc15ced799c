"""Streams that can be read several times, and what a device makes of their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeChunk
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.core.errors import InvalidGraphError
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher
from clmst.scale.checkpoint import Position
from clmst.scale.edge_part import EdgePart, check_same_dtype
from clmst.scale.rows import checked_parts, of_chunk, with_arrays
from clmst.scale.source import StreamSource


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPart:
    """Some consecutive edges of a stream.

    Attributes
    ----------
    first, size : int
        Position in the stream, and number of edges.
    edges : EdgePart, optional
        None where the device generates them.
    has_own_ids : bool
        Whether the caller gave the ids.
    """

    first: int
    size: int
    edges: EdgePart | None = None
    has_own_ids: bool = False


class RereadableStream(Protocol):
    """A stream that begins anew for each pass.

    Attributes
    ----------
    n_vertices : int
    dtype : numpy.dtype
        Of the weights.
    n_edges : int or None
        Of the whole stream, if known.
    """

    n_vertices: int
    dtype: np.dtype[Any]
    n_edges: int | None

    def parts(self, rows: int) -> Iterator[StreamPart]:
        """Yield all edges, so many at a time at most."""

    def on_device(self, part: StreamPart, launch: Launcher) -> tuple[EdgeChunk, DeviceArray | None]:
        """Return a part on a device, and its ids if they do not follow one another."""

    def fault(self, chunk: EdgeChunk, at: int, launch: Launcher) -> InvalidGraphError:
        """Return the error of an edge of a chunk that is none."""

    def behind(self, position: Position, part: StreamPart) -> Position:
        """Return the position behind a part, with what tells this stream from others."""


class GeneratedStream:
    """Generated edges as a stream that can be read several times."""

    def __init__(self, edges: GeneratedEdges) -> None:
        self._edges, self.n_vertices = edges, edges.n_vertices
        self.dtype = edges.weight_dtype
        self.n_edges: int | None = edges.n_edges

    def parts(self, rows: int) -> Iterator[StreamPart]:
        """Yield all edges, so many at a time at most."""
        for first in range(0, self._edges.n_edges, rows):
            yield StreamPart(first=first, size=min(rows, self._edges.n_edges - first))

    def on_device(self, part: StreamPart, launch: Launcher) -> tuple[EdgeChunk, None]:
        """Enqueue that the edges are generated; return where they will be."""
        chunk = self._edges.new_chunk(part.first, part.size, launch.device)
        self._edges.generate(chunk, launch)
        return chunk, None

    def fault(self, chunk: EdgeChunk, at: int, launch: Launcher) -> InvalidGraphError:
        """Return the error of a generated edge that is none."""
        return self._edges.fault_at(chunk, at, launch)

    def behind(self, position: Position, part: StreamPart) -> Position:
        """Return the position behind a part; what edges follow from tells them from others."""
        return Position(n_edges=part.first + part.size, checksums=self._edges.checksums)


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

    def parts(self, rows: int) -> Iterator[StreamPart]:
        """Yield all edges, checked, so many at a time at most."""
        first = 0
        for given in self._open_again().pieces:
            piece = with_arrays(given)
            own = piece.edge_ids is not None
            self.has_own_ids = self.has_own_ids or own
            for part in checked_parts(
                piece, lambda: rows, first_id=first, n_vertices=self.n_vertices
            ):
                of_chunk(piece.chunk, check_same_dtype, self.dtype, part.weights.dtype)
                yield StreamPart(first=first, size=part.size, edges=part, has_own_ids=own)
                first += part.size

    def on_device(self, part: StreamPart, launch: Launcher) -> tuple[EdgeChunk, DeviceArray | None]:
        """Copy a part to the device."""
        assert part.edges is not None, "rows are the caller's"
        return on_device(part.edges, launch.device, has_own_ids=part.has_own_ids)

    def fault(self, chunk: EdgeChunk, at: int, launch: Launcher) -> InvalidGraphError:
        """Rows are checked before they go to a device, so it finds no fault."""
        raise AssertionError(f"edge {chunk.first_id + at} was checked, and has a fault")

    def behind(self, position: Position, part: StreamPart) -> Position:
        """Return the position behind a part, with checksums of all rows so far."""
        assert part.edges is not None, "rows are the caller's"
        return position.after(part.edges)


def on_device(
    edges: EdgePart, device: Device, *, has_own_ids: bool = True
) -> tuple[EdgeChunk, DeviceArray | None]:
    """Return a copy of edges on a device, and of their ids unless they follow one another."""
    u, v, weights = (
        DeviceArray.from_host(column, device) for column in (edges.u, edges.v, edges.weights)
    )
    chunk = EdgeChunk(u=u, v=v, weights=weights, first_id=int(edges.edge_ids[0]))
    ids = edges.edge_ids.view(np.uint64)
    return chunk, DeviceArray.from_host(ids, device) if has_own_ids else None
