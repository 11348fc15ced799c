"""A forest by passes over a stream, where a device has no space for reductions.

A reduction takes more than a hundred bytes a vertex. Borůvka's algorithm by passes takes 28, and
reads the stream once for each of its rounds (``cl/algorithms/edge_stream/passes.cl``).
"""

from __future__ import annotations

import warnings
from time import perf_counter

from clmst.algorithms.edge_stream.canonical_order import in_canonical_order
from clmst.algorithms.edge_stream.family import EDGE_PASSES, require
from clmst.algorithms.edge_stream.passes import EdgePasses, bytes_of_row, bytes_of_vertex
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
    StreamedWarning,
)
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.scale.checkpoint import Checkpoint, Position
from clmst.scale.edge_part import EdgePart, joined
from clmst.scale.progress import StreamProgress
from clmst.scale.rereadable import RereadableStream, on_device
from clmst.scale.settings import StreamSettings

_LEAST_ROWS = 64  # at once; with fewer, nothing but launches would take time


class PassRun:
    """One forest by passes.

    Parameters
    ----------
    stream : RereadableStream
        Of one vertex at least.
    settings : StreamSettings
        The checkpoint is written after each pass.
    saved : Checkpoint or None
        Of an earlier run by passes.

    Raises
    ------
    OutOfDeviceMemoryError
        The limit does not hold the vertices.
    UnsupportedDeviceError
        The device fails the self-test of passes.
    """

    def __init__(
        self, stream: RereadableStream, settings: StreamSettings, *, saved: Checkpoint | None
    ) -> None:
        device = settings.device
        self._stream, self._device, self._limit = stream, device, settings.limit
        self._path, self._saved, self._maximum = settings.checkpoint, saved, settings.maximum
        self._on_progress = settings.on_progress
        self._rows = _rows(stream, settings.limit, device)
        require(device, stream.dtype, maximum=settings.maximum, family=EDGE_PASSES)
        self._launch = Launcher(device, device.queue)
        self._n_passes = self._n_before = saved.passes if saved else 0
        self._n_edges = stream.n_edges
        self._n_read, self._began = 0, perf_counter()

    def stats(self) -> dict[str, object]:
        """Return what the forest tells of the stream."""
        return {
            "algorithm": "stream",
            "device": self._device.description,
            "edges": self._n_edges,
            "resumed_at": self._n_before * (self._n_edges or 0),
            "reductions": 0,
            "edges_filtered": 0,
            "memory_limit": self._limit,
            "passes": self._n_passes,
        }

    def forest(self) -> EdgePart:
        """Return the edges of the forest, in canonical order."""
        found = joined(self._by_passes())
        with self._device.lock, Guard(self._device):
            self._device.release_memory()  # of the passes: the sort takes no more than they did
            columns = in_canonical_order(
                found.columns, n_vertices=self._stream.n_vertices, launch=self._launch
            )
        return EdgePart.of_columns(columns)

    def _by_passes(self) -> list[EdgePart]:
        """Return the edges of the forest in several parts, in the order in which they came."""
        stream, found = self._stream, [EdgePart.empty(self._stream.dtype)]
        with self._device.lock, Guard(self._device):
            passes = EdgePasses(
                n_vertices=stream.n_vertices, dtype=stream.dtype, launch=self._launch,
                rows=self._rows, maximum=self._maximum,
            )  # fmt: skip
        if self._saved is not None:
            found = [self._saved.forest]
            self._join(passes, self._saved.forest)
        while True:  # once at least: a checkpoint's edges say nothing of those that are to come
            self._n_passes += 1
            position = self._read(passes)
            with self._device.lock, Guard(self._device):
                found += [EdgePart.of_columns(columns) for columns in passes.end_pass()]
            if self._path is not None:
                found = [joined(found)]
                Checkpoint(
                    n_vertices=stream.n_vertices, maximum=self._maximum, position=position,
                    forest=found[0], passes=self._n_passes,
                ).write(self._path)  # fmt: skip
            if passes.is_done:
                return found

    def _join(self, passes: EdgePasses, forest: EdgePart) -> None:
        """Join the components that the edges of a forest join, by passes over these."""
        while not passes.is_done:
            for begin in range(0, forest.size, self._rows):
                some = forest.take(slice(begin, begin + self._rows))
                with self._device.lock, Guard(self._device):
                    chunk = on_device(some, self._device)
                    passes.take(chunk)
            with self._device.lock, Guard(self._device):
                for _ in passes.end_pass():  # the forest has them
                    pass

    def _read(self, passes: EdgePasses) -> Position:
        """Show all edges to a pass; return the position behind them."""
        position, before = Position(), self._n_read
        for position in self._stream.show(
            passes, self._device, self._rows, has_checksums=self._path is not None
        ):
            self._n_read = before + position.n_edges
            self._tell(position, passes)
        if self._n_edges not in (None, position.n_edges):
            raise InvalidGraphError(
                f"the stream has {position.n_edges} edges in pass {self._n_passes}, not "
                f"{self._n_edges}; it must bring all of them each time"
            )
        self._n_edges = position.n_edges
        self._check_saved(position)
        return position

    def _check_saved(self, position: Position) -> None:
        """Check after a whole pass that the checkpoint is of this stream."""
        if self._saved is not None and self._saved.position != position:
            raise InvalidArgumentError(
                f"the checkpoint {self._path} is of another stream: its {position.n_edges} edges "
                "have other checksums; delete it, or give the same stream"
            )

    def _tell(self, position: Position, passes: EdgePasses) -> None:
        if self._on_progress is not None:
            self._on_progress(
                StreamProgress(
                    edges=position.n_edges,
                    n_edges=self._n_edges,
                    edges_now=self._n_read,
                    seconds=perf_counter() - self._began,
                    forest_edges=passes.n_forest,
                    reductions=0,
                    passes=self._n_passes,
                )
            )


def warn_of_passes(reason: str, *, stacklevel: int) -> None:
    """Say that a stream is read several times, and why; to the caller so many calls up."""
    warnings.warn(
        f"the edges are read once for each round of Borůvka's algorithm, since {reason}",
        StreamedWarning, stacklevel=1 + stacklevel,
    )  # fmt: skip


def _rows(stream: RereadableStream, limit: int, device: Device) -> int:
    """Return how many edges are on a device at once, within a limit of bytes."""
    needed = stream.n_vertices * bytes_of_vertex(stream.dtype)
    a_row = stream.bytes_of_row + bytes_of_row(stream.dtype)  # as many of the forest leave at once
    rows = min(stream.most_rows(device), (limit - needed) // a_row)
    if rows < _LEAST_ROWS:
        raise OutOfDeviceMemoryError(
            f"{limit} bytes of {device.description} are too few for {stream.n_vertices} vertices: "
            f"passes over the stream, which take the least, need {needed} and space for a chunk of "
            "it; the memory limit must be greater, or the device larger"
        )
    return rows
