"""A forest of generated edges: all of the stream is on the device."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, perf_counter

from clmst.algorithms.edge_stream import family, generated
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.algorithms.edge_stream.stream import EdgeStream
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.scale.bounded_solve import solver_within
from clmst.scale.capacity import (
    NoSpaceForReductionError,
    most_edges_on_device,
    too_small,
)
from clmst.scale.checkpoint import Checkpoint, Position
from clmst.scale.edge_part import EdgePart
from clmst.scale.passes import PassRun, warn_of_passes
from clmst.scale.progress import StreamProgress
from clmst.scale.rereadable import GeneratedStream
from clmst.scale.result import forest_of_part
from clmst.scale.settings import StreamSettings

_CHUNK_SHARE = 32  # a chunk takes at most so small a share of the memory
_CHUNKS = 8  # a reduction has space for so many at least
_CHUNK_BYTES = 13  # ends, mark and position of an edge of a chunk
_LEAST_SHARE = 16  # a reduction brings at least a sixteenth of the forest
_SECONDS_BETWEEN = 10.0  # checkpoints


def generated_forest(edges: GeneratedEdges, settings: StreamSettings) -> Forest:
    """Return the forest of generated edges, as :func:`clmst.stream_minimum_spanning_forest`."""
    edges.check_for(settings.device)
    n, maximum, saved = edges.n_vertices, settings.maximum, None
    if settings.checkpoint is not None:
        saved = Checkpoint.read(settings.checkpoint, n_vertices=n, maximum=maximum)
        _check_saved(saved, settings.checkpoint, edges)
    run: _GeneratedRun | PassRun
    if saved and saved.passes:
        run = PassRun(GeneratedStream(edges), settings, saved=saved)
    else:
        try:
            run = _GeneratedRun(edges, settings, saved=saved)
        except NoSpaceForReductionError as error:
            run = PassRun(GeneratedStream(edges), settings, saved=None)
            warn_of_passes(error.fact, stacklevel=3)
    part = run.forest()
    return forest_of_part(part, n_vertices=n, maximum=maximum, stats=run.stats())


def _check_saved(saved: Checkpoint | None, path: Path, edges: GeneratedEdges) -> None:
    if saved and saved.position.checksums != edges.checksums:
        raise InvalidArgumentError(
            f"the checkpoint {path} is of another stream: these generated edges have other "
            "expressions, arguments or another number of edges; delete it, or give the same edges"
        )


class _GeneratedRun:
    """One call: what it may use, and how far it has come."""

    def __init__(
        self, edges: GeneratedEdges, settings: StreamSettings, *, saved: Checkpoint | None
    ) -> None:
        device = settings.device
        self._edges, self._device, self._limit = edges, device, settings.limit
        self._path, self._saved, self._maximum = settings.checkpoint, saved, settings.maximum
        self._on_progress = settings.on_progress
        self._chunk, self._capacity = _chunk_and_capacity(edges, settings.limit, device)
        self._launch = Launcher(device, device.queue)
        self._resumed_at = saved.position.n_edges if saved else 0
        self._saved_at = monotonic()
        self._stream: EdgeStream | None = None

    def stats(self) -> dict[str, object]:
        """Return what the forest tells of the stream."""
        stream = self._stream
        return {
            "algorithm": "stream",
            "device": self._device.description,
            "edges": self._edges.n_edges,
            "resumed_at": self._resumed_at,
            "reductions": stream.reductions if stream else 0,
            "edges_filtered": stream.n_filtered if stream else 0,
            "memory_limit": self._limit,
            "passes": 1,
        }

    def forest(self) -> EdgePart:
        """Return the edges of the forest."""
        family.require(self._device, self._edges.weight_dtype, maximum=self._maximum)
        with self._device.lock, Guard(self._device):
            return self._forest()

    def _forest(self) -> EdgePart:
        if self._edges.n_vertices == 0 or self._edges.n_edges == 0:
            self._check_not_of_no_vertices()
            return EdgePart.empty(self._edges.weight_dtype)
        stream = self._stream = self._opened()
        began = perf_counter()
        while stream.n_left:
            stream.step()
            if self._path is not None and monotonic() - self._saved_at > _SECONDS_BETWEEN:
                stream.reduce()
                self._write(stream)
            if self._on_progress is not None:
                self._on_progress(
                    StreamProgress(
                        edges=stream.position,
                        n_edges=self._edges.n_edges,
                        edges_now=stream.position - self._resumed_at,
                        seconds=perf_counter() - began,
                        forest_edges=stream.n_forest,
                        reductions=stream.reductions,
                    )
                )
        stream.reduce()
        if self._path is not None:
            self._write(stream)
        return EdgePart.of_columns(stream.columns())

    def _check_not_of_no_vertices(self) -> None:
        if self._edges.n_edges:
            raise InvalidArgumentError(
                f"there are {self._edges.n_edges} edges but no vertices; an edge needs its ends"
            )

    def _opened(self) -> EdgeStream:
        """Return the stream, at its beginning or where the checkpoint was written."""
        stream = EdgeStream(
            self._edges, self._launch, capacity=self._capacity, chunk=self._chunk,
            maximum=self._maximum,
            solve=solver_within(self._limit, self._launch, maximum=self._maximum),
        )  # fmt: skip
        if self._saved is not None:
            stream.go_on_from(self._saved.position.n_edges, self._saved.forest.columns)
            self._saved = None
        return stream

    def _write(self, stream: EdgeStream) -> None:
        """Write the checkpoint: nothing waits, so the forest is of all edges up to here."""
        assert self._path is not None
        Checkpoint(
            n_vertices=self._edges.n_vertices,
            maximum=self._maximum,
            position=Position(n_edges=stream.position, checksums=self._edges.checksums),
            forest=EdgePart.of_columns(stream.columns()),
        ).write(self._path)
        self._saved_at = monotonic()


def _chunk_and_capacity(edges: GeneratedEdges, limit: int, device: Device) -> tuple[int, int]:
    """Return how many edges are generated at once, and how many a reduction takes.

    Raises
    ------
    NoSpaceForReductionError
        The limit leaves nothing for chunks beside the forest.
    """
    n, m = edges.n_vertices, edges.n_edges
    if n == 0 or m == 0:
        return 0, 0
    an_edge = _CHUNK_BYTES + edges.weight_dtype.itemsize  # of a chunk
    chunk = min(generated.CHUNK[device.capabilities.kind], limit // (_CHUNK_SHARE * an_edge))
    chunk = max(1, min(chunk, m))
    most = most_edges_on_device(device, limit - chunk * an_edge, n, edges.weight_dtype)
    chunk = max(1, min(chunk, most // _CHUNKS))
    bound = min(n - 1, m)
    if most - bound < max(1, bound // _LEAST_SHARE, chunk):
        raise too_small(limit, n, bound, device)
    return chunk, min(most, bound + m)
